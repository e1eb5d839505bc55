"""How the tests of this folder are run."""

import gc

import pytest


@pytest.fixture(scope="package", autouse=True)
def _what_is_there_stays():
    """Half of the time of river's checks is spent on collecting garbage among all that other tests have left."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()
