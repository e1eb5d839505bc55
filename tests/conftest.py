"""How all tests are run."""

BACKWARDS = ("test_cuts_layouts_interruptions.py", "test_standardisation.py")


def pytest_collection_modifyitems(items):
    """Let some files go through the recipes from the last to the first.

    Two workers that go through them in the same order would compile everything twice; these meet in the middle, where
    each finds what the other has compiled.
    """
    files = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    for path, own in files.items():
        if path.name in BACKWARDS:
            own.reverse()
    items[:] = [item for own in files.values() for item in own]
