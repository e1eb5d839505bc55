"""Sums that follow a stream: errors, log-loss, calibration, AUC in a window, recall per class, coverage of intervals.

All sums are float64 and added up row by row, so they do not depend on how the stream is cut either.
"""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from onkel.calibration import calibrate, calibration
from onkel.dispatch import entry_point
from onkel.intervals import COVERAGE, follow, no_errors
from onkel.targets import decide

Numbers = NDArray[np.float64]
WINDOW = 1000
BINS = 15  # of what answers claim


class Metric(Protocol):
    """Something that follows targets (n,) and the scores (n, K) the rows had before they were learned."""

    def update(self, targets: Numbers, scores: Numbers) -> None: ...
    def report(self) -> dict[str, Any]: ...


def add_up(total: float, values: Numbers) -> float:
    """The total and the values, added one after the other.

    >>> add_up(1.0, np.array([0.25, 0.5]))
    1.75
    """
    sums = np.concatenate([[total], values])
    return float(np.add.accumulate(sums, out=sums)[-1])


def labels_of(targets: Numbers, outputs: int) -> NDArray[np.int64]:
    """Numbers of the classes behind targets."""
    return (targets > 0.0).astype(np.int64) if outputs == 1 else targets.astype(np.int64)


def errors(task: str, targets: Numbers, scores: Numbers) -> Numbers:
    """What each row adds to the error: 1 for a mistake, the squared error for a regression."""
    if task == "regression":
        return squares(scores[:, 0] - targets)
    return (decide(scores) != labels_of(targets, scores.shape[1])).astype(np.float64)


def squares(differences: Numbers) -> Numbers:
    """Squares, infinite where a target is too large to be squared."""
    with np.errstate(over="ignore"):
        return differences**2


class ConfusionMatrix:
    """How often each class (row) was taken for each class (column), and the recall of each."""

    def __init__(self, n_classes: int) -> None:
        self.counts = np.zeros((n_classes, n_classes), np.int64)

    def update(self, targets: Numbers, scores: Numbers) -> None:
        cells = labels_of(targets, scores.shape[1]) * len(self.counts) + decide(scores)
        self.counts += np.bincount(cells, minlength=self.counts.size).reshape(self.counts.shape)

    def report(self) -> dict[str, Any]:
        seen = self.counts.sum(axis=1)
        recall = [float(hit / n) if n else None for hit, n in zip(np.diag(self.counts), seen, strict=True)]
        return {"recall": recall, "confusion": self.counts.tolist()}


class Probabilities:
    """Mean of -log P(y), and how far answers are from being right as often as they claim to be.

    Probabilities are those learned on the rows before. Answers are sorted into bins by what they claim; the calibration
    error is the mean distance of claimed and true shares, each bin counting as its rows.
    """

    def __init__(self, probable: bool = False) -> None:
        self.state, self.total, self.rows = calibration(probable), 0.0, 0
        self.counts, self.claimed, self.right = (np.zeros(BINS) for _ in range(3))
        nothing = np.zeros(0)
        calibrate.bind(self.state, nothing, nothing, np.zeros((0, 1)), np.zeros((0, 2)))  # before any clock starts
        sort_out.bind(np.zeros((0, 2)), nothing > 0.0, self.total, self.counts, self.claimed, self.right)

    def update(self, targets: Numbers, scores: Numbers) -> None:
        claims, right = np.empty((len(targets), 2)), decide(scores, tie=0) == labels_of(targets, scores.shape[1])
        calibrate(self.state, targets, np.ones(len(targets)), np.ascontiguousarray(scores), claims)
        self.total = sort_out(claims, right, self.total, self.counts, self.claimed, self.right)
        self.rows += len(targets)

    def report(self) -> dict[str, Any]:
        error = float(np.abs(self.claimed - self.right).sum()) / max(self.rows, 1)
        sums = zip(self.claimed.tolist(), self.right.tolist(), self.counts.tolist(), strict=True)
        bins = [{"claimed": sure / n, "right": hits / n, "rows": int(n)} for sure, hits, n in sums if n]
        return {"log_loss": self.total / max(self.rows, 1), "calibration_error": error, "reliability": bins}


@entry_point
def sort_out(claims: Any, right: Any, total: float, counts: Any, claimed: Any, hits: Any) -> float:
    """Count each answer in the bin of what it claims, row by row; changes the sums of the bins (BINS,).

    Returns the total with -log P(y) of all rows added to it.
    """
    for i in range(claims.shape[0]):
        total -= np.log(max(claims[i, 0], 1e-15))
        sure = claims[i, 1]
        at = int(min(BINS * sure, BINS - 1.0)) if sure > 0.0 else 0
        counts[at] += 1.0
        claimed[at] += sure
        hits[at] += 1.0 if right[i] else 0.0
    return total


class WindowAUC:
    """Area under the ROC curve over the last rows: how often a positive row scores above a negative one."""

    def __init__(self, window: int = WINDOW) -> None:
        self.window, self.targets, self.scores = window, np.zeros(0), np.zeros(0)

    def update(self, targets: Numbers, scores: Numbers) -> None:
        self.targets = np.concatenate([self.targets, targets])[-self.window :]
        self.scores = np.concatenate([self.scores, scores[:, 0]])[-self.window :]

    def report(self) -> dict[str, Any]:
        return {"auc_window": auc(self.targets > 0.0, self.scores)}


def auc(positive: NDArray[np.bool_], scores: Numbers) -> float | None:
    """Area under the ROC curve by ranks; None while there is one class only.

    >>> auc(np.array([True, False, True]), np.array([0.9, 0.1, 0.4]))
    1.0
    """
    n, m = int(positive.sum()), int((~positive).sum())
    if not n or not m:
        return None
    ordered, found = np.sort(scores[~positive]), scores[positive]
    below, up_to = np.searchsorted(ordered, found, "left"), np.searchsorted(ordered, found, "right")
    return float((below + up_to).sum() / (2 * n * m))  # a tie counts one half


class RegressionErrors:
    """Mean squared error, its root, and mean absolute error."""

    def __init__(self) -> None:
        self.squares, self.sizes, self.rows = 0.0, 0.0, 0

    def update(self, targets: Numbers, scores: Numbers) -> None:
        difference = scores[:, 0] - targets
        self.squares = add_up(self.squares, squares(difference))
        self.sizes = add_up(self.sizes, np.abs(difference))
        self.rows += len(targets)

    def report(self) -> dict[str, Any]:
        n = max(self.rows, 1)
        return {"mse": self.squares / n, "rmse": float(np.sqrt(self.squares / n)), "mae": self.sizes / n}


class Intervals:
    """How many rows lie in the interval around their prediction, and how wide these are."""

    def __init__(self) -> None:
        self.state, self.rows, self.inside, self.width = no_errors(), 0, 0, 0.0
        follow.bind(self.state, np.zeros(0), np.zeros((0, 1)), COVERAGE, np.zeros((0, 2)))  # before any clock starts

    def update(self, targets: Numbers, scores: Numbers) -> None:
        bounds = np.empty((len(targets), 2))
        follow(self.state, targets, np.ascontiguousarray(scores), COVERAGE, bounds)
        finite = np.isfinite(bounds).all(axis=1)  # the first rows have no interval
        low, high = bounds[finite].T
        self.rows += int(finite.sum())
        self.inside += int(((low <= targets[finite]) & (targets[finite] <= high)).sum())
        self.width = add_up(self.width, high - low)

    def report(self) -> dict[str, Any]:
        n = max(self.rows, 1)
        return {"coverage": self.inside / n, "interval_width": self.width / n} if self.rows else {}


def metrics_for(task: str, n_classes: int, window: int = WINDOW, probable: bool = False) -> list[Metric]:
    """All metrics that make sense for a task; `probable` says that scores are logarithms of probabilities."""
    if task == "regression":
        return [RegressionErrors(), Intervals()]
    both: list[Metric] = [Probabilities(probable), ConfusionMatrix(n_classes)]
    return [*both, WindowAUC(window)] if n_classes == 2 else both
