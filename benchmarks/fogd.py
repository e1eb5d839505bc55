"""Fourier online gradient descent: against the FMA bound, a NumPy row loop, and scikit-learn."""

from benchmarks.timing import interleaved, table  # isort: skip (sets the number of threads before NumPy is imported)

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import SGDClassifier

from benchmarks.machine import fma_loop
from onkel.core.rows import pack
from onkel.learners import verbs
from onkel.recipes import fogd

D_IN, GAMMA = 22, 1.0 / 22
SINCOS = 11  # multiply-adds of the two polynomials


def data(n: int) -> tuple[Any, Any]:
    """Rows with a curved boundary that a kernel learner gets mostly right."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, D_IN)).astype(np.float32)
    return X, np.where(X[:, 0] * X[:, 1] + 0.5 * X[:, 2] > 0, 1.0, -1.0)


def ours(X: Any, y: Any, D: int, dtype: str) -> tuple[Callable[[], object], float]:
    """A run over the rows with a model that has seen them once, and its share of rows with an update."""
    online = fogd(n_frequencies=D, gamma=GAMMA).start(D_IN, dtype=dtype)
    scores = online.learn(X, y)[:, 0]
    block, importance, out = pack(X, np.dtype(dtype)), np.ones(len(y)), np.zeros((len(y), 1))
    run = verbs.LOOPS[type(online.model)][0].bind(online.model, block, 0, y, importance, out)
    scores = online.learn(X, y)[:, 0]
    return lambda: run(online.model, block, 0, y, importance, out), float(np.mean(scores * y < 1.0))


def numpy_rows(X: Any, y: Any, D: int) -> Callable[[], object]:
    """The same algorithm as a plain NumPy loop over rows."""
    rng = np.random.default_rng(1)
    U = (np.sqrt(2 * GAMMA) * rng.normal(size=(D_IN, D))).astype(np.float32)
    w, eta = np.zeros(2 * D, np.float32), np.float32(0.8 / D)

    def run() -> None:
        for x, label in zip(X, y, strict=True):
            a = x @ U
            z = np.concatenate([np.cos(a), np.sin(a)])
            if label * (w @ z) < 1.0:
                w[:] += (eta * np.float32(label)) * z

    return run


def scikit_learn(X: Any, y: Any, D: int, batch: int) -> Callable[[], object]:
    """RBFSampler + SGDClassifier fed with batches of rows, predicted before they are learned."""
    sampler = RBFSampler(gamma=GAMMA, n_components=2 * D, random_state=1).fit(X[:1])
    model = SGDClassifier(learning_rate="constant", eta0=0.8, alpha=1e-12)
    model.partial_fit(sampler.transform(X[:1]), y[:1], classes=[-1.0, 1.0])

    def run() -> None:
        for start in range(0, len(y), batch):
            Z = sampler.transform(X[start : start + batch])
            model.decision_function(Z)
            model.partial_fit(Z, y[start : start + batch])

    return run


def against_the_machine(quick: bool) -> None:
    lines = []
    for dtype in ("float32", "float64"):
        for D in (100, 400, 4000):
            n = (200_000 if quick else 800_000) // D
            X, y = data(n)
            run, share = ours(X, y, D, dtype)
            limit, count = fma_loop(np.dtype(dtype), 400)
            time = interleaved({"ours": run, "limit": limit}, 7 if quick else 21)
            bound = D * (D_IN + SINCOS + 2 + 2 * share) * time["limit"] / count * 1e9
            row = time["ours"] / n * 1e9
            lines.append([f"{dtype} D={D}", f"{row:.0f}", f"{bound:.0f}", f"{100 * bound / row:.0f} %"])
    table("FOGD, d = 22, one core: time per row against the FMA bound", ["", "ns/row", "bound", "of the bound"], lines)


def against_peers(quick: bool) -> None:
    D, lines = 400, []
    sizes = {"onkel": 20_000, "NumPy, row by row": 2_000, "batch 1000": 20_000, "batch 100": 10_000, "batch 1": 300}
    runs: dict[str, Callable[[], object]] = {}
    for name, n in sizes.items():
        X, y = data(n)
        if name == "onkel":
            runs[name] = ours(X, y, D, "float32")[0]
        elif name.startswith("NumPy"):
            runs[name] = numpy_rows(X, y, D)
        else:
            runs[name] = scikit_learn(X, y, D, int(name.split()[1]))
    time = interleaved(runs, 3 if quick else 9)
    per_row = {name: time[name] / sizes[name] for name in runs}
    for name in runs:
        label = f"scikit-learn RBFSampler + SGD, {name}" if name.startswith("batch") else name
        ratio = per_row[name] / per_row["onkel"]
        lines.append([label, f"{1 / per_row[name]:,.0f}", f"{ratio:,.1f}"])
    header = ["", "rows/CPU-s", "times the time of onkel"]
    table("FOGD, d = 22, D = 400, float32, one core: against peers", header, lines)


def main(quick: bool = False) -> None:
    against_the_machine(quick)
    against_peers(quick)
