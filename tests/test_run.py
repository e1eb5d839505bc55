"""`./run`: which tests belong to a file, which are fast, and what the oldest versions are."""

import re
import tomllib
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import pytest

from onkel.recipes import RECIPES
from tests import fast
from tools.check import FAST, wanted_for

ROOT = Path(__file__).parents[1]
USED = "arrow", "zstd", "completion", "plots", "onnx", "tune"


def loaded():
    loader = SourceFileLoader("run", str(ROOT / "run"))
    module = module_from_spec(spec_from_loader("run", loader))
    loader.exec_module(module)
    return module


def belonging(file):
    return [str(Path(name).relative_to(ROOT)) if Path(name).is_absolute() else name for name in wanted_for(ROOT / file)]


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("tests/streams/test_csv.py", ["tests/streams/test_csv.py"]),
        ("src/onkel/core/locks.py", ["src/onkel/core/locks.py", "tests/core/test_locks.py"]),
        ("src/onkel/core/undo.py", ["src/onkel/core/undo.py", *FAST]),
        ("tests/tables.py", FAST),
        ("pyproject.toml", FAST),
        ("run", FAST),
    ],
)
def test_a_file_is_checked_by_its_own_tests_or_the_fast_choice(file, expected):
    assert belonging(file) == expected


def test_tests_that_import_a_file_are_its_own_also_through_what_they_share():
    assert belonging("src/onkel/streams/csv.py")[1:] == [
        "tests/streams/test_arrow_files.py",  # imports it
        "tests/streams/test_csv.py",  # is called after it
        "tests/streams/test_csv_columns.py",
    ]
    through_common = belonging("src/onkel/apps/cli/main.py")
    assert "tests/apps/cli/test_outputs.py" in through_common
    assert "tests/test_processes.py" not in through_common


@pytest.mark.parametrize("path", sorted((ROOT / "src").rglob("*.py")), ids=lambda path: path.stem)
def test_every_file_of_the_package_has_tests_that_are_there(path):
    first, *others = belonging(path)
    assert (ROOT / first).samefile(path)
    assert others
    assert all(name == "--fast" or (ROOT / name).exists() for name in others)


def test_the_fast_choice_has_one_recipe_of_every_loop():
    assert set(fast.ONE_PER_LOOP.values()) <= RECIPES.keys()
    loops = {path.stem for path in (ROOT / "src" / "onkel" / "learners").iterdir() if not path.stem.startswith("__")}
    assert fast.ONE_PER_LOOP.keys() == loops - {"verbs", "handover"}  # which drive the loops


def test_the_oldest_versions_are_the_lower_bounds_of_all_that_users_install():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *(one for name in USED for one in extras[name])]
    assert all(re.fullmatch(r"[\w-]+>=[\d.]+(,<[\d.]+)?", one) for one in wanted)
    assert {one.partition(",")[0].replace(">=", "==") for one in wanted} <= set(loaded().oldest())


def test_nothing_is_old_that_only_looks_at_text():
    assert not {"ruff", "mypy", "river"} & {re.split("[=]", one)[0] for one in loaded().oldest()}


def test_files_that_the_fast_choice_leaves_out_are_there():
    assert [name for name in fast.SLOW_FILES if not (ROOT / "tests" / name).is_file()] == []
