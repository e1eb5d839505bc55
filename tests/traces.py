"""The traces of the authors' own code: that of german is in tests/golden, the others are data not all of us have."""

import csv
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

HERE = np.load(Path(__file__).parent / "golden" / "german.npz")  # tools/make_trace.py writes it
ELSEWHERE = Path(__file__).parents[2] / "shared" / "spec" / "golden"
COLUMNS = "run", "algorithm", "mistakes", "n_sv"

needs_all = pytest.mark.skipif(not ELSEWHERE.is_dir(), reason="the other traces are not here")


def skip_unless_there():
    if not ELSEWHERE.is_dir():
        pytest.skip("this trace is not here")


@lru_cache
def read(name):
    """The numbers of a file of a trace; a test that needs one which is not here is skipped."""
    if name in HERE:
        return HERE[name].astype(float)
    skip_unless_there()
    return np.loadtxt(ELSEWHERE / name, ndmin=1)


def lines(name):
    """The lines of a summary: one for each order of the rows and algorithm."""
    if name in HERE:
        return [dict(zip(COLUMNS, line, strict=True)) for line in HERE[name]]
    skip_unless_there()
    with open(ELSEWHERE / name) as file:
        return [*csv.DictReader(file)]


@lru_cache
def scaled_german():
    """The rows of german in the first order, each column from 0 to 1 as the toolbox reads them, and their labels."""
    table = read("german_data.txt")[read("german_perms.txt")[0].astype(int) - 1]
    X = table[:, 1:]
    low, high = X.min(axis=0), X.max(axis=0)
    return np.ascontiguousarray(np.round((X - low) / (high - low), 4)), table[:, 0]
