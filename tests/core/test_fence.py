"""The insides of Numba, LLVM and CPython are known in one package."""

import re
from pathlib import Path

import onkel

PACKAGE = Path(onkel.__file__).parent
INTERNALS = PACKAGE / "core" / "numba_internals"
INSIDES = re.compile(r"numba\.(core|np|_dynfunc|misc|cpython)\b|from numba import _|llvmlite|ctypes")


def test_no_other_file_mentions_insides():
    found = {
        f"{path.relative_to(PACKAGE)}: {line.strip()}"
        for path in PACKAGE.rglob("*.py")
        if INTERNALS not in path.parents
        for line in path.read_text(encoding="utf-8").splitlines()
        if INSIDES.search(line)
    }
    assert found == set()


def test_every_module_of_that_package_says_what_it_knows():
    """One that knows no insides belongs elsewhere, but for those that choose and try."""
    knowing = {path.stem for path in INTERNALS.glob("*.py") if INSIDES.search(path.read_text(encoding="utf-8"))}
    assert {path.stem for path in INTERNALS.glob("*.py")} - knowing <= {"__init__", "tricks", "selftest"}
