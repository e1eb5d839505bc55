"""Gradient descent with an isolation kernel, all t psi products of a score written out: slow, to be compared with."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onkel.core.rows import pack
from onkel.pieces.maps.growing import trees
from onkel.pieces.maps.indexing import index_map
from onkel.pieces.maps.isolation import cell_count


class Naive(NamedTuple):
    """`ik_ogd` with trees and the hinge loss, in NumPy: its features are an array of t psi numbers, most of them 0."""

    t: int
    psi: int
    eta: float
    sample: int

    def start(self, n_features: int, seed: int = 0, task: str = "binary", n_outputs: int = 1) -> "Learning":
        assert (task, n_outputs) == ("binary", 1)
        return Learning(self, seed)


class Learning:
    """One at work; the trees come from the first rows it is shown."""

    task = "binary"

    def __init__(self, how: Naive, seed: int) -> None:
        self.how, self.seed = how, seed
        self.partitions: Any = None

    def prepare(self, rows: Any) -> None:
        """Compile what finds cells."""
        Learning(self.how, 0).learn(rows[:2], np.ones(2))

    def learn(self, rows: Any, targets: Any) -> NDArray[np.float64]:
        """Scores of the rows before each was learned."""
        if self.partitions is None:
            first = rows[: self.how.sample]
            self.partitions = trees(first, self.how.t, self.how.psi, None, np.dtype(np.float32), self.seed)
            self.weights = np.zeros(cell_count(self.partitions), np.float32)
        scores = np.empty((len(targets), 1))
        for i, features in enumerate(self._features(rows)):
            scores[i, 0] = score = float(self.weights @ features)
            if targets[i] * score < 1.0:
                self.weights += np.float32(self.how.eta * targets[i]) * features
        return scores

    def score(self, rows: Any) -> NDArray[np.float64]:
        """Scores, nothing learned."""
        return np.array([[float(self.weights @ features)] for features in self._features(rows)])

    def _features(self, rows: Any) -> Any:
        for cells in index_map(self.partitions, pack(rows, np.dtype(np.float32))):
            features = np.zeros_like(self.weights)
            features[cells] = self.how.t**-0.5
            yield features
