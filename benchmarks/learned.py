"""Learned widths: beside Tables 1 and 2 of Nguyen et al. (2017), and against a NumPy row loop and fixed widths."""

from benchmarks.timing import interleaved, table  # isort: skip (sets the number of threads before NumPy is imported)

from collections.abc import Callable
from statistics import mean, stdev
from typing import Any

import numpy as np

from benchmarks.fogd import D_IN, GAMMA, data
from benchmarks.table5 import SHARED
from onkel.core.rows import pack
from onkel.learners import verbs
from onkel.recipes import make_learner, rrf
from onkel.streams import LibsvmFile

D = 100
PRINTED = {"step": "constant", "eta": 0.3, "eta_widths": 0.003, "start": 1.0, "standardise": False}  # Alg. 1, eta .003
CLASSES = {"hinge": 3.68, "logistic": 4.16}
NUMBERS = {"squared": 0.241, "absolute": 0.250, "epsilon_insensitive": 0.246}


def rows_of(name: str) -> tuple[Any, Any]:
    """All rows of a data set, its test part included."""
    parts = [path for part in ("", ".t") if (path := SHARED / "data" / f"{name}{part}.libsvm.xz").exists()]
    blocks = [block for path in parts for block in LibsvmFile(path, dense=True)]
    return np.concatenate([block.rows for block in blocks]), np.concatenate([block.labels for block in blocks])


def unit(values: Any) -> Any:
    """Numbers brought to [0, 1], column by column."""
    low = values.min(axis=0)
    return (values - low) / np.maximum(values.max(axis=0) - low, 1e-300)


def scores_over(learner: Any, task: str, X: Any, y: Any, orders: int) -> list[tuple[Any, Any]]:
    """(targets, scores) of one pass for each order of the rows."""
    found = []
    for seed in range(orders):
        order = np.random.default_rng(seed).permutation(len(y))
        found.append((y[order], learner.start(X.shape[1], task, seed=seed).learn(X[order], y[order])[:, 0]))
    return found


def beside_the_paper(quick: bool) -> None:
    orders, lines = 3 if quick else 10, []
    X, y = rows_of("ijcnn1")
    for loss, paper in CLASSES.items():
        for name, given in (("as printed, eta = 0.003", PRINTED), ("default", {})):
            runs = scores_over(rrf(n_frequencies=D, loss=loss, **given), "binary", X, y, orders)
            rates = [100.0 * float(np.mean((f >= 0.0) != (t > 0.0))) for t, f in runs]
            lines.append([f"ijcnn1, {loss}, {name}", f"{mean(rates):.2f} +- {stdev(rates):.2f} %", f"{paper} %"])
    X, y = map(unit, rows_of("casp"))
    for loss, figure in NUMBERS.items():
        runs = scores_over(rrf(n_frequencies=D, loss=loss), "regression", X, y, orders)
        errors = [float(np.sqrt(np.mean((f - t) ** 2))) for t, f in runs]
        lines.append([f"casp in [0, 1], {loss}, default", f"{mean(errors):.4f} +- {stdev(errors):.4f}", f"{figure}"])
    title = f"rrf, D = {D}, {orders} orders: mistakes and RMSE of one pass, beside Nguyen et al. (2017)"
    table(title, ["", "onkel", "paper"], lines)


def ours(name: str, n: int, **given: Any) -> Callable[[], object]:
    """A run over n rows with a model that has seen them once."""
    X, y = data(n)
    online = make_learner(name, n_frequencies=D, **given).start(D_IN)
    online.learn(X, y)
    model, block = online.model, pack(X, np.dtype(np.float32))
    importance, out = np.ones(n), np.zeros((n, 1))
    run = verbs.LOOPS[type(model)][0].bind(model, block, 0, y, importance, out)
    return lambda: run(model, block, 0, y, importance, out)


def numpy_rows(n: int) -> Callable[[], object]:
    """The printed algorithm as a plain NumPy loop over rows."""
    X, y = data(n)
    E = np.random.default_rng(1).normal(size=(D_IN, D)).astype(np.float32)
    w, g = np.zeros(2 * D, np.float32), np.full(D_IN, np.log(np.sqrt(2 * GAMMA)), np.float32)
    eta = np.float32(0.003)

    def run() -> None:
        for x, label in zip(X, y.astype(np.float32), strict=True):
            u = np.exp(g) * x
            a = u @ E
            cosine, sine = np.cos(a), np.sin(a)
            if label * (w[:D] @ cosine + w[D:] @ sine) < 1.0:
                pull = -label * (w[D:] * cosine - w[:D] * sine)
                g[:] -= eta * u * (E @ pull)
                w[:D] += eta * label * cosine
                w[D:] += eta * label * sine

    return run


def against_the_clock(quick: bool) -> None:
    n, slow = 8_000, 1_000
    start = float(np.sqrt(2 * GAMMA))
    contest = {
        "fogd, fixed widths": ours("fogd", n, gamma=GAMMA),
        "rrf as printed": ours("rrf", n, **{**PRINTED, "start": start}),
        "rrf, Adagrad": ours("rrf", n, start=start, standardise=False),
        "NumPy, row by row": numpy_rows(slow),
    }
    time = interleaved(contest, 5 if quick else 21)
    per_row = {name: time[name] / (slow if name.startswith("NumPy") else n) * 1e9 for name in contest}
    least = per_row["fogd, fixed widths"]
    lines = [
        [name, f"{t:,.0f}", f"{t / least:.2f}", f"{per_row['NumPy, row by row'] / t:.1f}"]
        for name, t in per_row.items()
    ]
    header = ["", "ns/row", "times fogd", "times as fast as NumPy"]
    table(f"Learned widths, d = {D_IN}, D = {D}, float32, one core", header, lines)


def main(quick: bool = False) -> None:
    against_the_clock(quick)
    if (SHARED / "data").exists():
        beside_the_paper(quick)
    else:
        print(f"The paper's figures need the data sets in {SHARED.name}/data next to the project.")
