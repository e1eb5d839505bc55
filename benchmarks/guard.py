"""A guard against losing speed: hot loops as ratios to a loop of nothing but multiply-adds, with wide margins.

``python -m benchmarks guard`` takes less than two minutes, and fails where a loop takes more than MARGIN times as long
as it should. Each time is divided by that of the loop of multiply-adds right before and after it, the median counts,
and what looks slow is measured again, up to ROUNDS times, before it is called so: a busy machine is no reason. What is
guarded against is what happened before: a loop that lost its vector instructions, or a call that looks its types up
anew.
"""

from benchmarks.timing import table  # isort: skip (sets the number of threads before NumPy is imported)

import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import process_time

import numpy as np

from benchmarks import budgets, fogd, learned
from benchmarks.fogd import GAMMA
from benchmarks.kernels import at_work
from benchmarks.machine import fma_loop
from onkel.core.rows import pack
from onkel.pieces import scaler
from onkel.pieces.maps.growing import cells, trees
from onkel.pieces.maps.indexing import index_map
from onkel.recipes import make_learner
from onkel.streams import LibsvmFile

MARGIN = 3.0
REPEATS, ROUNDS = 7, 4
EXPECTED = {  # multiply-adds, float32, in whose time a row is done, as seen on an AVX2 machine
    "fogd, D = 400": 16_000,
    "fogd, D = 400, float64": 35_000,
    "fogd, D = 4000": 160_000,
    "rrf, D = 100": 8_500,
    "auto, D = 256": 110_000,
    "standardising, d = 128": 45_000,
    "rbp, B = 100": 6_500,
    "rbp, B = 1000": 39_000,
    "bsgd_m, B = 100": 25_000,
    "trees, t = 100, psi = 256": 70_000,
    "cells, t = 100, psi = 64": 255_000,
    "LIBSVM, 20 numbers": 48_000,
    "learn_one, D = 100": 70_000,
}


def contestants(folder: Path) -> dict[str, tuple[Callable[[], object], int]]:
    """What is timed, and the number of rows that one call does."""
    X, y = fogd.data(2_000)
    rng = np.random.default_rng(0)
    sample, few = (rng.normal(size=(n, 22)).astype(np.float32) for n in (4096, 1024))
    block, walks = pack(few, np.float32), trees(sample, 100, 256, None, np.float32, 0)
    near = cells(sample, 100, 64, 2, np.float32, 0)
    path = folder / "rows.libsvm"
    numbers = rng.normal(size=(5_000, 20)).round(5)
    lines = [" ".join(f"{j + 1}:{v}" for j, v in enumerate(x)) for x in numbers.tolist()]
    path.write_text("".join(f"1 {line}\n" for line in lines))
    online = make_learner("fogd", n_frequencies=100, gamma=GAMMA).start(22)
    wide, weights, state = pack(rng.normal(size=(500, 128)), np.float64), np.ones(500), scaler.scaler(128)
    rows, labels = list(X), y.tolist()
    return {
        "fogd, D = 400": (at_work("fogd", X, y, "float32", n_frequencies=400, gamma=GAMMA)[0], len(y)),
        "fogd, D = 400, float64": (at_work("fogd", X, y, "float64", n_frequencies=400, gamma=GAMMA)[0], len(y)),
        "fogd, D = 4000": (at_work("fogd", X[:200], y[:200], "float32", n_frequencies=4000, gamma=GAMMA)[0], 200),
        "rrf, D = 100": (learned.ours("rrf", 2_000, standardise=False, start=0.3), 2_000),
        "auto, D = 256": (at_work("auto", *budgets.noisy(500), "float32", standardise=False)[0], 500),
        "standardising, d = 128": (lambda: scaler.standardised(state, wide, weights, np.float32), 500),
        "rbp, B = 100": (budgets.ours("rbp", 100, 2_000, fogd.data), 2_000),
        "rbp, B = 1000": (budgets.ours("rbp", 1000, 1_000, fogd.data), 1_000),
        "bsgd_m, B = 100": (budgets.ours("bsgd_m", 100, 1_000, fogd.data), 1_000),
        "trees, t = 100, psi = 256": (lambda: index_map(walks, block), len(few)),
        "cells, t = 100, psi = 64": (lambda: index_map(near, block), len(few)),
        "LIBSVM, 20 numbers": (lambda: [*LibsvmFile(path, n_features=20, dense=True)], len(numbers)),
        "learn_one, D = 100": (lambda: [online.learn_one(x, t) for x, t in zip(rows, labels, strict=True)], len(y)),
    }


def seconds(run: Callable[[], object]) -> float:
    start = process_time()
    run()
    return process_time() - start


def ratio(run: Callable[[], object], limit: Callable[[], object], repeats: int) -> float:
    """Median time of a run in units of the loop of multiply-adds around it."""
    found, before = [], seconds(limit)
    for _ in range(repeats):
        own, after = seconds(run), seconds(limit)
        found.append(2.0 * own / (before + after))
        before = after
    return median(found)


def main(quick: bool = False) -> None:
    limit, count = fma_loop(np.dtype(np.float32), 400)
    with tempfile.TemporaryDirectory() as folder:
        runs = contestants(Path(folder))
        for run, _ in runs.values():
            run()  # compiled code, caches
        found, slow = dict.fromkeys(runs, np.inf), list(runs)
        for _ in range(ROUNDS):
            for name in slow:
                run, rows = runs[name]
                found[name] = min(found[name], ratio(run, limit, 3 if quick else REPEATS) * count / rows)
            slow = [name for name in slow if found[name] > MARGIN * EXPECTED[name]]
    lines = [
        [name, f"{own:,.0f}", f"{EXPECTED[name]:,}", "slow" if name in slow else ""] for name, own in found.items()
    ]
    table("Time per row in multiply-adds of one core", ["", "found", "expected", ""], lines)
    if slow:
        raise SystemExit(f"{', '.join(slow)}: more than {MARGIN} times as slow as expected.")
