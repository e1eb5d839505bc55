"""How sure answers are: calibration errors of probabilities, and the share of rows that lie in intervals.

``python -m benchmarks uncertainty [--quick]``. Both are progressive: a claim is made before its row is learned. The
data sets are not part of the project; missing ones are named.
"""

from benchmarks.timing import table  # isort: skip (sets the number of threads before NumPy is imported)

from typing import Any

import numpy as np

from benchmarks.datasets import FOLDER, load
from onkel.evaluation.prequential import prequential
from onkel.recipes import make_learner

CLASSES = ("ijcnn1", "letter", "a9a", "covtype")
NUMBERS = ("casp", "cpusmall", "nycflights13", "noise that changes")
LEARNERS = ("auto", "rrf", "fogd", "nogd", "ik_ogd")
BLOCK = 4096


def changing(rows: int) -> tuple[Any, Any]:
    """A curve under noise that is five times as large in every second tenth of the stream; the curve jumps half-way."""
    rng, time = np.random.default_rng(0), np.arange(rows)
    X = rng.uniform(-2.0, 2.0, size=(rows, 3))
    noise = 0.1 * rng.normal(size=rows) * np.where(10 * time // rows % 2, 5.0, 1.0)
    return X, np.where(2 * time < rows, np.sin(2.0 * X[:, 0]), np.cos(3.0 * X[:, 1])) + noise


def report(name: str, learner: str, rows: int) -> dict[str, Any] | None:
    """What a learner's progress on a data set looks like, if that is here."""
    if name == "noise that changes":
        (X, y), kind, outputs = changing(rows), "regression", 1
    elif not (FOLDER / f"{name}.libsvm.xz").exists():
        return None
    else:
        task = load(name, FOLDER, rows)
        scaled = task.unit()[0].targets if learner != "auto" else task.targets
        X, y, kind, outputs = task.rows, scaled, task.kind, task.n_outputs
    online = make_learner(learner).start(X.shape[1], kind, outputs)
    blocks = [(X[start : start + BLOCK], y[start : start + BLOCK]) for start in range(0, len(y), BLOCK)]
    return prequential(online, blocks, 2 if kind == "binary" else outputs)


def lines(names: tuple[str, ...], key: str, quick: bool) -> list[list[str]]:
    found = []
    for name in names:
        reports = [report(name, learner, 5_000 if quick else 100_000) for learner in LEARNERS]
        found.append([name, *("not there" if one is None else f"{one[key]:.4f}" for one in reports)])
    return found


def main(quick: bool = False) -> None:
    header = ["", *LEARNERS]
    table(
        "Calibration error of the answers, 15 bins (aim: below 0.03)",
        header,
        lines(CLASSES, "calibration_error", quick),
    )
    table("Share of rows in intervals of 90 % (aim: 0.88 to 0.92)", header, lines(NUMBERS, "coverage", quick))
