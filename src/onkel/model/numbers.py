"""Answers that are numbers, and intervals around them."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onkel.core.trees import writable
from onkel.core.undo import Undo
from onkel.model.intervals import COVERAGE, follow, intervals, no_errors
from onkel.model.online import Online

Scores = NDArray[np.float64]


class NumberAnswers:
    """Answers that are numbers."""

    task = "regression"
    n_outputs = 1
    grows = False
    classes = None

    def __init__(self) -> None:
        self.recent, self._undo = no_errors(), Undo()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(writable(state))

    def targets(self, labels: Any) -> Scores:
        """The labels as numbers."""
        labels = np.asarray(labels)
        if labels.dtype.kind in "US":
            raise ValueError("the labels of a regression must be numbers; text is for classes, at most 1,000 of them.")
        return np.ascontiguousarray(labels, np.float64)

    def fresh(self) -> "NumberAnswers":
        """The same answers before the first row."""
        return NumberAnswers()

    def take_scores_of(self, online: Online) -> None:
        """Predictions are what they are."""

    def weighed(self, labels: Any) -> tuple[Scores, list[Scores]]:
        """The labels as numbers; there are no classes that could have weights."""
        return self.targets(labels), []

    def labels(self, scores: Scores) -> Scores:
        """The number that is answered for each row."""
        return scores[:, 0]

    def errors(self, targets: Scores, scores: Scores, ties: str = "first") -> Scores:
        """The squared error of each row, infinite where a target is too large to be squared."""
        with np.errstate(over="ignore"):
            return (scores[:, 0] - targets) ** 2

    def wrong(self, labels: NDArray[Any], scores: Scores) -> Scores:
        """The squared error of each row."""
        return self.errors(self.targets(labels), scores)

    def ordered(self, scores: Scores) -> Scores:
        """Scores as they are."""
        return scores

    def intervals(self, scores: Scores, coverage: float = COVERAGE) -> Scores:
        """Lower and upper ends (n, 2) of intervals that hold so large a share of the rows to come."""
        return intervals(self.recent, scores[:, 0], coverage)

    def follow(self, targets: Scores, weights: Any, scores: Scores) -> Scores:
        """Take note of how wrong answers were; returns the ends of the intervals from before."""
        bounds = np.empty((len(targets), 2))
        follow(self.recent, targets, np.ascontiguousarray(scores), COVERAGE, bounds)
        return bounds

    def watch(self, online: Online) -> None:
        """Have rows that are learned one by one followed."""
        row = online.frame
        online.watch(follow, self.recent, row.target, row.scores, COVERAGE, np.zeros((1, 2)))

    def learn(self, online: Online, rows: Any, labels: Any, weights: Any = None) -> Scores:
        """Learn rows; returns the model's scores from before."""
        targets = self.targets(labels)

        def then(part: slice, scores: Scores) -> None:
            self._undo.surely(self.recent, lambda: self.follow(targets[part], None, scores))

        return online.learn(rows, targets, weights, then)

    def learn_again(self, online: Online, rows: Any, labels: Any, weights: Any = None) -> None:
        """Learn rows that were learned before, whose errors say nothing about those to come."""
        online.learn(rows, self.targets(labels), weights)

    def spreads(self, found: Scores) -> Scores:
        """How much particles disagree."""
        return found

    def parts(self, online: Online, labels: NDArray[Any], at_once: bool = False) -> Iterator[slice]:
        """All rows at once: numbers are never new."""
        yield slice(0, len(labels))

    def before(self, scores: Scores) -> Scores:
        """Scores as they are."""
        return scores

    def content(self) -> dict[str, Any]:
        """What a file holds of them."""
        return {"errors": self.recent}
