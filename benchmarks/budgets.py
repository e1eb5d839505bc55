"""Learners on a budget: against the same algorithms in NumPy, and against the size of the budget."""

from benchmarks.timing import interleaved, table  # isort: skip (sets the number of threads before NumPy is imported)

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.fogd import D_IN, GAMMA, data
from onkel.core.rows import pack
from onkel.learners import verbs
from onkel.recipes import make_learner

SIZES = (50, 100, 200, 500, 1000, 2000)
PROMISES = {  # recipe: the power of B by which the time of a row with an update should grow
    "rbp": 1, "forgetron": 1, "budget_perceptron": 1, "bpa_s": 1, "bpa_nn": 1, "bogd": 1, "bogd_pp": 1, "bsgd_r": 1,
    "bsgd_m": 1, "dual_sgd": 1, "projectron": 2, "projectron_pp": 2, "bpa_p": 2, "bsgd_p": 2,
}  # fmt: skip


def noisy(n: int) -> tuple[Any, Any]:
    """Rows whose labels are half noise, so that there is always something to correct and supports fill up."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, D_IN)).astype(np.float32)
    return X, np.where(rng.random(n) < 0.5, -1.0, 1.0)


def ours(name: str, B: int, n: int, rows: Any = noisy, **given: Any) -> Callable[[], object]:
    """A run over n rows with a model whose support is full."""
    X, y = rows(max(n, 4 * B))
    online = make_learner(name, budget=B, gamma=GAMMA, **given).start(D_IN)
    for start in range(0, len(y), 100):  # full, or nearly so: what is too near to the others is never kept
        online.learn(X[start : start + 100], y[start : start + 100])
        if online.model.support.count[0] >= B:
            break
    block, importance, out, labels = pack(X[:n], np.dtype(np.float32)), np.ones(n), np.zeros((n, 1)), y[:n].copy()
    learn = verbs.LOOPS[type(online.model)][0].bind(online.model, block, 0, labels, importance, out)

    def run() -> None:
        if rows is noisy:
            labels[:] = -labels  # or they would be learned by heart, and nothing left to correct
        learn(online.model, block, 0, labels, importance, out)

    return run


def numpy_rows(B: int, n: int) -> Callable[[], object]:
    """The random budget perceptron as a plain NumPy loop over rows."""
    X, y = data(max(n, B))
    rng = np.random.default_rng(1)
    points, coef = X[:B].copy(), y[:B].astype(np.float32)
    sizes = np.einsum("ij,ij->i", points, points)
    gamma = np.float32(GAMMA)

    def run() -> None:
        for x, label in zip(X[:n], y[:n], strict=True):
            similar = np.exp(-gamma * np.maximum(sizes + x @ x - 2.0 * (points @ x), 0.0))
            if label * (coef @ similar) <= 0.0:
                slot = int(rng.integers(B))
                points[slot], sizes[slot], coef[slot] = x, x @ x, label

    return run


def numpy_projectron(B: int, n: int) -> Callable[[], object]:
    """The Projectron with a full support as a plain NumPy loop over rows."""
    X, y = data(max(n, 2 * B))
    points = X[:B].copy()
    coef = np.zeros(B)
    sizes = np.einsum("ij,ij->i", points, points)
    square = sizes[:, None] + sizes[None] - 2.0 * points @ points.T
    inverse = np.linalg.inv(np.exp(-GAMMA * np.maximum(square, 0.0)).astype(np.float64) + 1e-9 * np.eye(B))
    gamma = np.float32(GAMMA)

    def run() -> None:
        for x, label in zip(X[:n], y[:n], strict=True):
            similar = np.exp(-gamma * np.maximum(sizes + x @ x - 2.0 * (points @ x), 0.0))
            if label * (coef @ similar) <= 0.0:
                coef[:] += label * (inverse @ similar)

    return run


def against_numpy(quick: bool) -> None:
    lines = []
    contests: list[tuple[str, str, int, Callable[[int, int], Callable[[], object]]]] = [
        ("rbp", "rbp, B = 100", 100, numpy_rows),
        ("rbp", "rbp, B = 1000", 1000, numpy_rows),
        ("projectron", "projectron, B = 200", 200, numpy_projectron),
    ]
    for name, title, B, peer in contests:
        n, slow = 4_000, 400
        time = interleaved({"ours": ours(name, B, n, data), "NumPy": peer(B, slow)}, 5 if quick else 21)
        row, other = time["ours"] / n * 1e9, time["NumPy"] / slow * 1e9
        lines.append([title, f"{row:.0f}", f"{other:,.0f}", f"{other / row:.1f}"])
    table("Budgets, d = 22, float32, one core: the same algorithm in NumPy", ["", "ns/row", "NumPy", "times"], lines)


def against_the_size(quick: bool) -> None:
    sizes, lines = SIZES[:4] if quick else SIZES, []
    for name, power in PROMISES.items():
        per_row = []
        for B in sizes:
            n = max(40, min(4_000, 4_000_000 // (B * (B if power == 2 else 50))))
            given = {"guard": 0.0} if power == 2 else {}  # the support is to be full
            time = interleaved({"ours": ours(name, B, n, **given)}, 3 if quick else 7)
            per_row.append(time["ours"] / n * 1e6)
        exponent = float(np.polyfit(np.log(sizes[-4:]), np.log(per_row[-4:]), 1)[0])
        lines.append([name, *(f"{t:.2f}" for t in per_row), f"{exponent:.2f}", str(power)])
    header = ["microseconds per row, B =", *map(str, sizes), "exponent", "at most"]
    table("Budgets, d = 22, float32: time per row against the budget (exponent of the last four)", header, lines)


def main(quick: bool = False) -> None:
    against_numpy(quick)
    against_the_size(quick)
