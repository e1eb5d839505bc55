"""The 23 tasks of the accuracy benchmark, from a folder of compressed LIBSVM files that is not part of the project."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

from onkel.streams import LibsvmFile

FOLDER = Path(__file__).parents[2] / "shared" / "data"
SHORT = ("housing", "german", "abalone", "dna")  # at most 5,000 rows
NAMES = (
    *("housing", "german", "abalone", "dna", "cpusmall", "letter", "elec2", "twitter_buzz", "susy_30k", "casp"),
    *("cod-rna", "a9a", "w7a", "usps", "reuters_moneyfx", "ijcnn1", "skin", "nycflights13", "nycflights13@bin"),
    *("connect-4", "covtype", "kddcup99_10pct", "mnist"),
)
REGRESSION = {"housing", "abalone", "cpusmall", "twitter_buzz", "casp", "nycflights13"}
IN_TIME = {"elec2", "nycflights13"}  # streams stay in their order
ABOVE = {"nycflights13@bin": 15.0, "kddcup99_10pct": 0.0}  # two classes: labels above this, and the others
SPARSE = {"a9a", "w7a", "reuters_moneyfx"}  # stay CSR matrices; a list, as no share of zeros parts them from kddcup99


class Task(NamedTuple):
    """Rows in the order of learning, with targets -1 and 1, class numbers from 0, or real numbers."""

    name: str
    kind: str
    rows: Any
    targets: NDArray[np.float64]
    n_outputs: int

    def losses(self, predictions: NDArray[np.float64]) -> NDArray[np.float64]:
        """What each of the first rows costs: 100 for a mistake, or 1e4 times the squared error on a range of 1."""
        targets = self.targets[: len(predictions)]
        if self.kind == "regression":
            return 1e4 * ((predictions - targets) / np.ptp(self.targets)) ** 2
        return 100.0 * (predictions != targets)

    def decide(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Predictions in the units of the targets, from scores (n, K)."""
        if self.kind == "multiclass":
            return scores.argmax(axis=1).astype(float)
        return scores[:, 0] if self.kind == "regression" else np.where(scores[:, 0] > 0.0, 1.0, -1.0)

    def unit(self) -> tuple["Task", Callable[[NDArray[np.float64]], NDArray[np.float64]]]:
        """The task with targets of regression scaled to [0, 1], and what turns predictions back."""
        if self.kind != "regression":
            return self, lambda predictions: predictions
        low, width = self.targets.min(), np.ptp(self.targets)
        return self._replace(targets=(self.targets - low) / width), lambda predictions: predictions * width + low

    def first(self, count: int) -> "Task":
        return self._replace(rows=self.rows[:count], targets=self.targets[:count])


def load(name: str, folder: Path, most: int) -> Task:
    """Train and test part below each other, shuffled once unless they are a stream, and cut off."""
    base = name.split("@")[0]
    parts = [path for end in ("", ".t") if (path := folder / f"{base}{end}.libsvm.xz").exists()]
    if not parts:
        raise FileNotFoundError(f"There is no {base}.libsvm.xz in the folder of data sets.")
    width = max(LibsvmFile(part).summary().n_features for part in parts)
    blocks = [block for part in parts for block in LibsvmFile(part, n_features=width, dense=False)]
    held: Any = vstack([csr_matrix(block.rows) for block in blocks], format="csr")
    labels = np.concatenate([block.labels for block in blocks])
    order = np.arange(len(labels)) if base in IN_TIME else np.random.default_rng(0).permutation(len(labels))
    order = order[:most]
    picked: Any = held[order] if base in SPARSE else held[order].toarray()
    return _task(name, picked, labels[order])


def _task(name: str, rows: Any, labels: NDArray[Any]) -> Task:
    """The labels as targets of the kind of task."""
    if name in REGRESSION:
        return Task(name, "regression", rows, labels.astype(float), 1)
    if name in ABOVE:
        labels = labels > ABOVE[name]
    classes, places = np.unique(labels, return_inverse=True)
    numbers = places.astype(np.float64)
    if len(classes) == 2:
        return Task(name, "binary", rows, 2.0 * numbers - 1.0, 1)
    return Task(name, "multiclass", rows, numbers, len(classes))
