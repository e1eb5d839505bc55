"""How all tests are run."""

import gc

from tests import fast

BACKWARDS = ("test_cuts_layouts_interruptions.py", "test_standardisation.py")
FIRST = (  # minutes each, the longest first: at the end, the other worker would wait for them
    "test_conventions.py", "test_cuts_layouts_interruptions.py", "test_twins_and_worked_numbers.py", "test_checks.py",
    "test_checkpoints.py", "test_wide.py", "test_reproducible.py", "test_extending.py", "test_process.py",
)  # fmt: skip


def pytest_addoption(parser):
    parser.addoption("--fast", action="store_true", help="one recipe for each loop, and no slow test (tests/fast.py)")


def pytest_collection_modifyitems(config, items):
    """Leave the tests that are wanted, in the order that takes the least time."""
    if config.getoption("--fast"):
        left_out = [item for item in items if not fast.chosen(item)]
        items[:] = [item for item in items if fast.chosen(item)]
        config.hook.pytest_deselected(items=left_out)
    put_in_order(items)


def put_in_order(items):
    """Let the longest tests come first, and some files go through the recipes from the last to the first.

    Two workers that go through them in the same order would compile everything twice; these meet in the middle, where
    each finds what the other has compiled.
    """
    files = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    for path, own in files.items():
        if path.name in BACKWARDS:
            own.reverse()
    order = sorted(files, key=lambda path: FIRST.index(path.name) if path.name in FIRST else len(FIRST))
    items[:] = [item for path in order for item in files[path]]


def pytest_collection_finish():
    """Let Python's garbage collector, which river's checks call many times, pass over 15,000 tests and all modules."""
    gc.collect()
    gc.freeze()
