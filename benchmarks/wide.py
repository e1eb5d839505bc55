"""Very wide rows: learners on a stream with millions of columns, in memory of what is stored."""

from benchmarks.timing import table  # isort: skip (sets the number of threads before NumPy is imported)

import resource
from time import process_time
from typing import Any

import numpy as np
from scipy import sparse

from onkel.core import trees
from onkel.recipes import make_learner

COLUMNS, ENTRIES, BLOCK = 3_000_000, 100, 2_000
LEARNERS: dict[str, tuple[str, dict[str, Any]]] = {
    "ik_ogd, trees, psi = 64": ("ik_ogd", {"partition": "trees", "psi": 64, "sample": 1024}),
    "ik_ogd, cells, psi = 16": ("ik_ogd", {"partition": "cells", "psi": 16, "sample": 1024}),
    "fogd, D = 100": ("fogd", {"n_frequencies": 100}),
    "rbp, B = 100": ("rbp", {"budget": 100}),
    "nogd, B = 100": ("nogd", {"budget": 100}),
    "auto, folded": ("auto", {}),
}


def blocks(rows: int) -> Any:
    """Rows with 100 numbers each in random columns; ten columns of 40 tell the class."""
    rng = np.random.default_rng(0)
    for start in range(0, rows, BLOCK):
        n = min(BLOCK, rows - start)
        label = rng.choice([-1.0, 1.0], n)
        columns = rng.integers(40, COLUMNS, (n, ENTRIES))
        columns[:, :10] = rng.integers(0, 20, (n, 10)) + 20 * (label[:, None] > 0.0)
        values = rng.exponential(size=(n, ENTRIES)).astype(np.float32)
        starts = np.arange(0, n * ENTRIES + 1, ENTRIES)
        X = sparse.csr_matrix((values.ravel(), columns.ravel(), starts), (n, COLUMNS))
        X.sum_duplicates()
        yield X, label


def main(quick: bool = False) -> None:
    rows, lines = 20_000 if quick else 200_000, []
    for title, (name, given) in LEARNERS.items():
        online = make_learner(name, **given).start(COLUMNS)
        seconds, wrong = 0.0, 0
        for X, label in blocks(rows):
            start = process_time()
            scores = online.learn(X, label)[:, 0]
            seconds += process_time() - start
            wrong += int(np.sum((scores >= 0.0) != (label > 0.0)))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        model = trees.nbytes(online.model) / 2**20
        share = f"{100 * wrong / rows:.1f} %"
        lines.append([title, f"{rows / seconds:,.0f}", share, f"{model:.1f}", f"{peak:.2f}"])
    above = f"{rows:,} rows with {COLUMNS:,} columns and {ENTRIES} numbers each"
    table(above, ["", "rows/CPU-s", "mistakes", "model, MiB", "peak of the process so far, GiB"], lines)
