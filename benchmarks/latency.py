"""One row at a time from Python."""

from benchmarks.timing import interleaved, table  # isort: skip (sets the number of threads before NumPy is imported)

import numpy as np

from benchmarks.fogd import GAMMA, data
from onkel import KernelClassifier
from onkel.recipes import fogd


def main(quick: bool = False) -> None:
    D, n = 100, 2_000 if quick else 5_000
    X, y = data(n)
    online = fogd(n_frequencies=D, gamma=GAMMA).start(X.shape[1])
    model = KernelClassifier(fogd(n_frequencies=D, gamma=GAMMA)).partial_fit(X, y, classes=np.array([-1.0, 1.0]))
    rows, labels = list(X), y.tolist()

    def learn_one() -> None:
        for x, label in zip(rows, labels, strict=True):
            online.learn_one(x, label)

    def partial_fit() -> None:
        for i in range(n):
            model.partial_fit(X[i : i + 1], y[i : i + 1])

    def one_block() -> None:
        online.learn(X, y)

    contestants = {"learn_one": learn_one, "partial_fit, one row": partial_fit, "learn, one block": one_block}
    time = interleaved(contestants, 5 if quick else 15)
    lines = [[name, f"{time[name] / n * 1e6:.2f}"] for name in contestants]
    table("One row at a time, fogd, d = 22, D = 100, float32", ["", "microseconds per row"], lines)
