"""Every recipe on an endless, unkind stream: does memory stay flat, does no NaN come out, does nothing slow down?

``python -m benchmarks soak [--minutes N]`` (default 30; ``--quick``: 2). The stream drifts and jumps, one row in 500 is
an outlier of up to a million times its size, one in five stands there twice, a column is constant, one is a copy of
another, one is 0 for the first 100,000 rows. The minutes are shared out among the recipes and their tasks; each learns
in blocks of 64 to 4096 rows as long as its time lasts. What keeps every row it corrects grows by its nature.
"""

from benchmarks.timing import table  # isort: skip (sets the number of threads before NumPy is imported)

import gc
import resource
import sys
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np

from onkel.core.trees import nbytes
from onkel.recipes import RECIPES, make_learner

FEATURES = 8
PARTS = 4  # of the time of a recipe, which are compared
BLOCKS = (64, 256, 1024, 4096)
GROWS = {"perceptron", "passive_aggressive", "ogd", "norma", "omkc", "omkl", "omkr"}  # keep every row they correct
LOGARITHMIC = {"ada_raker"}  # one more level for twice the rows
SETTINGS: dict[str, dict[str, Any]] = {"bkm": {"n_particles": 20, "n_frequencies": 50}, "ik_ogd": {"refresh": 1000}}


class Part(NamedTuple):
    """One part of the time of a recipe."""

    rows: int
    per_row: float  # CPU seconds, median over blocks
    bytes: int  # of the model
    resident: float  # MB of the process


def stream_rows(first: int, n: int) -> tuple[Any, Any]:
    """Rows `first` to `first + n` of the stream, a function of their numbers and of the cut."""
    rng, time = np.random.default_rng([7, first]), np.arange(first, first + n)
    X = rng.normal(size=(n, FEATURES))
    turn, jump = 2.0 * np.pi * time / 200_000, np.where(time // 50_000 % 2, 1.0, -1.0)
    signal = np.sin(2.0 * (np.cos(turn) * X[:, 0] + np.sin(turn) * X[:, 1])) + jump * X[:, 2] * X[:, 3]
    X[:, 4], X[:, 5] = 3.0, X[:, 0]
    X[time < 100_000, 6] = 0.0
    wild = rng.random(n) < 0.002
    X[wild] *= 10.0 ** rng.uniform(1.0, 6.0, size=(int(wild.sum()), 1))
    twice = rng.random(n) < 0.2
    twice[0] = False
    X[twice], signal[twice] = X[np.flatnonzero(twice) - 1], signal[np.flatnonzero(twice) - 1]
    return X, signal + 0.2 * rng.normal(size=n)


def resident() -> float:
    """Memory of this process now, in MB; the largest so far where the system does not tell."""
    status = Path("/proc/self/statm")
    if status.exists():
        return int(status.read_text().split()[1]) * resource.getpagesize() / 2**20
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform != "darwin" else 1024**2)


def targets_of(task: str, signal: Any) -> Any:
    if task == "regression":
        return signal
    return np.where(signal > 0.0, 1.0, -1.0) if task == "binary" else np.digitize(signal, [-0.5, 0.5]).astype(float)


def soaked(name: str, task: str, seconds: float) -> tuple[list[Part], bool]:
    """Parts of a run, and whether every score was finite."""
    learner = make_learner(name, **{"standardise": True, **SETTINGS.get(name, {})})
    online = learner.start(FEATURES, task, 3 if task == "multiclass" else 1)
    X, signal = stream_rows(0, 4096)
    online.learn(X, targets_of(task, signal))  # compiled, and supports are full
    online.score(X)
    start, at, finite, parts = perf_counter(), 4096, True, list[Part]()
    for part in range(PARTS):
        first, times, k = at, list[float](), 0
        while perf_counter() - start < seconds * (part + 1) / PARTS or k < len(BLOCKS):
            X, signal = stream_rows(at, BLOCKS[k % len(BLOCKS)])
            y, clock = targets_of(task, signal), process_time()
            scores = online.learn(X, y)
            times.append((process_time() - clock) / len(y))
            finite &= bool(np.isfinite(scores).all() and np.isfinite(online.score(X)).all())
            at, k = at + len(y), k + 1
        gc.collect()
        parts.append(Part(at - first, median(times), nbytes(online.model), resident()))
    return parts, finite


def main(quick: bool = False, minutes: float = 30.0) -> None:
    jobs = [(name, task) for name in RECIPES for task in make_learner(name).tasks]
    each = 60.0 * (2.0 if quick else minutes) / len(jobs)
    lines = []
    for name, task in jobs:
        parts, finite = soaked(name, task, each)
        time, held, used = ([part[k] for part in parts] for k in (1, 2, 3))
        kind = "grows" if name in GROWS else "log t" if name in LOGARITHMIC else "flat"
        cells = [f"{sum(part.rows for part in parts):,}", " ".join(f"{t / time[0]:.2f}" for t in time)]
        cells += [" ".join(f"{b / held[0]:.2f}" for b in held), f"{used[-1] - used[0]:+.1f}", kind]
        lines.append([f"{name}, {task}", *cells, "none" if finite else "NaN"])
    header = ["", "rows", "time per row, four parts", "model, four parts", "process, MB", "promised", "not finite"]
    table(f"Soak: {each:.1f} s for each of {len(jobs)} learners, ratios to the first part", header, lines)
