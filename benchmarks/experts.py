"""Many kernels: Raker beside its single kernels and OMKL, regret where the best kernel changes, and speed.

``python -m benchmarks experts [--quick]``. twitter_buzz is not part of the project; without it that table is left out.
"""

from benchmarks.timing import interleaved, table  # isort: skip (sets the number of threads before NumPy is imported)

from collections.abc import Callable
from functools import partial
from time import process_time
from typing import Any

import numpy as np

from benchmarks.datasets import FOLDER, load
from onkel.pieces.kernels import gaussian
from onkel.recipes import ada_raker, fogd, omkl, raker
from onkel.recipes.experts import THREE

STEPS = (0.5, 0.25)


def followed(learner: Any, X: Any, y: Any) -> tuple[float, float, Any]:
    """Running mean squared error, CPU seconds, and the learner at work."""
    warm = learner.start(X.shape[1], "regression")
    warm.learn(X[:200], y[:200])
    online, clock = learner.start(X.shape[1], "regression"), process_time()
    scores = np.concatenate([online.learn(X[i : i + 1000], y[i : i + 1000]) for i in range(0, len(y), 1000)])
    return float(np.mean((scores[:, 0] - y) ** 2)), process_time() - clock, online


def real_stream(quick: bool) -> None:
    """Figure 1 of the paper, on the part of the data that its authors give."""
    if not (FOLDER / "twitter_buzz.libsvm.xz").exists():
        print("twitter_buzz is not there.")
        return
    task = load("twitter_buzz", FOLDER, 2_000 if quick else 100_000)
    X, y = task.rows, (task.targets - task.targets.min()) / np.ptp(task.targets)
    X = (X - X.min(axis=0)) / np.maximum(np.ptp(X, axis=0), 1e-12)
    alone = {f"one kernel, sigma^2 = {v}": (k,) for v, k in zip((0.1, 1, 10), THREE, strict=True)}
    lines, slow = [], {name: {"eta": 1.0 / np.sqrt(len(y)), "lam": 0.01} for name in alone}
    contestants: dict[str, Any] = {"raker": raker, "omkl": omkl}
    contestants |= {name: partial(raker, kernels=own) for name, own in alone.items()}
    found = {name: [followed(make(eta=eta, lam=0.01), X, y) for eta in STEPS] for name, make in contestants.items()}
    for name, runs in found.items():
        cells = [f"{1e3 * error:.3f}" for error, _, _ in runs]
        own = f"{1e3 * followed(contestants[name](**slow[name]), X, y)[0]:.3f}" if name in slow else ""
        lines.append([name, *cells, own, f"{runs[0][1] / found['raker'][0][1]:.1f}"])
    error, seconds, _ = followed(ada_raker(lam=0.01), X, y)
    lines.append(["ada_raker, steps of its own", f"{1e3 * error:.3f}", "", "", f"{seconds / found['raker'][0][1]:.1f}"])
    header = ["running MSE x 1000", *(f"eta = {eta}" for eta in STEPS), "eta = 1 / sqrt(rows)", "time / raker"]
    table(
        f"twitter_buzz, {len(y):,} rows, within [0, 1]; the paper's step is 0.5, and 1 / sqrt(rows) alone",
        header,
        lines,
    )


def changing(n: int) -> tuple[Any, Any]:
    """A target that asks for a wide kernel, then for a narrow one, in turns of 512 rows."""
    X = np.random.default_rng(0).uniform(size=(n, 1))
    narrow = np.arange(n) // 512 % 2 == 1
    return X, np.where(narrow, 0.5 + 0.4 * np.sin(40.0 * X[:, 0]), X[:, 0])


def regret(quick: bool) -> None:
    """Losses against those of the best single kernel in hindsight."""
    n = 4_096 if quick else 32_768
    X, y = changing(n)
    own = tuple(gaussian(sigma=sigma) for sigma in (0.02, 0.1, 1.0))
    rate = 1.0 / np.sqrt(n)  # the one for which the regret of raker is proved to grow no faster than sqrt(n)
    given = {"eta": rate, "hedge": rate, "lam": 0.0}
    start, alone = raker(kernels=own, **given).start(1, "regression"), []
    for k in range(len(own)):
        single = raker(kernels=own[k : k + 1], **given).start(1, "regression")
        single.model.parts[0].feature_map.frequencies[:] = start.model.parts[k].feature_map.frequencies
        alone.append(np.cumsum((single.learn(X, y)[:, 0] - y) ** 2))
    marks, lines = [2**k for k in range(9, n.bit_length()) if 2**k <= n], []
    for name, learner in (("raker", raker(kernels=own, **given)), ("ada_raker", ada_raker(kernels=own, lam=0.0))):
        lost = np.cumsum((learner.start(1, "regression").learn(X, y)[:, 0] - y) ** 2)
        ours = [lost[m - 1] - min(single[m - 1] for single in alone) for m in marks]
        lines.append([name, *(f"{value:.1f}" for value in ours), f"{ours[-1] / np.sqrt(n):.2f}"])
    header = ["regret after", *(f"{m:,}" for m in marks), "/ sqrt(rows)"]
    table("Regret against the best kernel in hindsight; the best kernel changes every 512 rows", header, lines)


def raker_ratio(quick: bool) -> float:
    """Time of three kernels over that of one."""
    rng, repeats = np.random.default_rng(0), 3 if quick else 9
    X, y = rng.uniform(size=(8_192, 22)).astype(np.float32), rng.uniform(size=8_192)

    def learning(learner: Any) -> Callable[[], object]:
        return lambda: learner.start(22, "regression").learn(X, y)

    one = fogd(n_frequencies=50, sigma=1.0, draw="orthogonal", epsilon=0.0)
    found = interleaved({"fogd": learning(one), "raker": learning(raker())}, repeats)
    return found["raker"] / found["fogd"]


def levels(quick: bool) -> None:
    """Time of `ada_raker` against the number of rows."""
    rng, lines, before = np.random.default_rng(0), [], {}
    ada_raker().start(22, "regression").learn(rng.uniform(size=(300, 22)), rng.uniform(size=300))  # compiled
    for k in range(8, 14 if quick else 18):
        online = ada_raker().start(22, "regression")
        X, y = rng.uniform(size=(2**k, 22)).astype(np.float32), rng.uniform(size=2**k)
        clock = process_time()
        online.learn(X, y)
        before[k] = (process_time() - clock) / 2**k
        lines.append([f"{2**k:,}", str(len(online.model.parts)), f"{before[k] / before[8]:.2f}"])
    table("ada_raker: time per row grows with log t", ["rows", "levels", "time per row / that of 256"], lines)


def main(quick: bool = False) -> None:
    table("Three kernels, D = 50, d = 22", ["", "ratio"], [["raker / fogd", f"{raker_ratio(quick):.2f}"]])
    levels(quick)
    regret(quick)
    real_stream(quick)
