"""One row at a time from Python."""

from benchmarks.timing import rounds, table  # isort: skip (sets the number of threads before NumPy is imported)

from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

from benchmarks.fogd import GAMMA, data
from onkel import KernelClassifier
from onkel.recipes import Learner, fogd


def main(quick: bool = False) -> None:
    D, n = 100, 2_000 if quick else 5_000
    X, y = data(n)
    online = fogd(n_frequencies=D, gamma=GAMMA).start(X.shape[1])
    model = KernelClassifier(fogd(n_frequencies=D, gamma=GAMMA)).partial_fit(X, y, classes=np.array([-1.0, 1.0]))
    rows, labels = list(X), y.tolist()
    names = [f"feature {j}" for j in range(X.shape[1])]
    dicts = [dict(zip(names, x, strict=True)) for x in X.tolist()]
    named = KernelClassifier(fogd(n_frequencies=D, gamma=GAMMA), classes="grow", features="grow")

    def each(act: Callable[..., object], *columns: Any) -> Callable[[], None]:
        def run() -> None:
            for cells in zip(*columns, strict=True):
                act(*cells)

        return run

    contestants = {
        "learn_one of an online model": each(online.learn_one, rows, labels),
        "score_one of an online model": each(online.score_one, rows),
        "learn_one of a classifier": each(model.learn_one, rows, labels),
        "predict_one of a classifier": each(model.predict_one, rows),
        "predict_proba_one of a classifier": each(model.predict_proba_one, rows),
        "learn_one of a classifier, dicts": each(named.learn_one, dicts, labels),
        "predict_one of a classifier, dicts": each(named.predict_one, dicts),
        **of_river(fogd(n_frequencies=D, gamma=GAMMA), each, dicts, labels),
        "partial_fit, one row": each(model.partial_fit, X[:, None], y[:, None]),
        "predict, one row": each(model.predict, X[:, None]),
        "learn, one block": lambda: online.learn(X, y),
    }
    times = rounds(contestants, 5 if quick else 15)
    lines = [[name, *(f"{of(own) / n * 1e6:.2f}" for of in (median, min))] for name, own in times.items()]
    header = ["", "microseconds per row, median", f"best of {5 if quick else 15}"]
    table("One row at a time, fogd, d = 22, D = 100, float32", header, lines)


def of_river(learner: Learner, each: Callable[..., Any], dicts: Any, labels: Any) -> dict[str, Callable[[], None]]:
    """The same through the river face, where river is installed."""
    try:
        from onkel.integrations import river
    except ImportError:
        return {}
    model = river.KernelClassifier(learner)
    return {
        "learn_one of the river face": each(model.learn_one, dicts, labels),
        "predict_one of the river face": each(model.predict_one, dicts),
    }
