"""Run the tests that belong to some files: `python tools/check.py FILE ...`; `./run check FILE ...` lints them, too.

To a file of tests belongs itself. To src/onkel/A/b.py belong its doctests, and in tests/A the files that are called
test_b*.py or import it. Where there are none, and to all other files, belongs the fast choice of all tests.
"""

import ast
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE, TESTS = ROOT / "src", ROOT / "tests"
FAST = ["--fast", "tests"]


def wanted_for(path: Path) -> list[str]:
    """What pytest is asked for, for the sake of one file."""
    path = path.resolve()
    if path.suffix == ".py" and path.is_relative_to(TESTS):
        own = [path] if path.name.startswith("test_") else []
        return [*map(str, own or users(path, path.parent))] or FAST
    if path.suffix != ".py" or not path.is_relative_to(SOURCE):
        return FAST
    folder = TESTS.joinpath(*dotted(path).split(".")[1:-1])
    found = {*folder.glob(f"test_{path.stem}*.py"), *users(path, folder)}
    return [str(path), *(map(str, sorted(found)) if found else FAST)]


def users(path: Path, folder: Path) -> list[Path]:
    """The files of tests below a folder that import a file, by themselves or through what they share."""
    return (
        [] if folder == TESTS else sorted(test for test in folder.rglob("test_*.py") if dotted(path) in imported(test))
    )


@cache
def imported(path: Path) -> frozenset[str]:
    """The modules that a file imports; what modules of tests import counts, too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    shared = (ROOT.joinpath(*name.split(".")).with_suffix(".py") for name in found if name.startswith("tests."))
    return frozenset(found.union(*(imported(file) for file in shared if file.is_file() and file != path)))


def dotted(path: Path) -> str:
    """The name by which a file is imported."""
    inside = path.relative_to(SOURCE if path.is_relative_to(SOURCE) else ROOT).with_suffix("")
    return ".".join(inside.parts[:-1] if inside.name == "__init__" else inside.parts)


if __name__ == "__main__":
    wanted = dict.fromkeys(argument for file in sys.argv[1:] for argument in wanted_for(Path(file)))
    raise SystemExit(pytest.main(["-q", *wanted]))
