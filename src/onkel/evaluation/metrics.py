"""Sums that follow a stream: errors, log-loss, calibration, AUC in a window, recall per class, coverage of intervals.

All sums are float64 and added up row by row, so they do not depend on how the stream is cut either.
"""

from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from onkel.core.ranges import COUNT, FINITE, NOT_NEGATIVE, TOTAL, Range, between, refuse, violation
from onkel.core.verbs import entry_point
from onkel.model.answers import Answers, ClassAnswers, plain_answers
from onkel.model.calibration import calibrate
from onkel.model.intervals import COVERAGE, follow
from onkel.model.numbers import NumberAnswers

Numbers = NDArray[np.float64]
WINDOW = 1000
BINS = 15  # of what answers claim


class Metric(Protocol):
    """Something that follows targets (n,) and the scores (n, K) the rows had before they were learned."""

    ranges: ClassVar[dict[str, Range]]  # of what it has added up

    def update(self, targets: Numbers, scores: Numbers) -> None: ...
    def report(self) -> dict[str, Any]: ...


def add_up(total: float, values: Numbers) -> float:
    """The total and the values, added one after the other.

    >>> add_up(1.0, np.array([0.25, 0.5]))
    1.75
    """
    sums = np.concatenate([[total], values])
    return float(np.add.accumulate(sums, out=sums)[-1])


def errors(task: str, targets: Numbers, scores: Numbers, ties: str = "second") -> Numbers:
    """What each row adds to the error: 1 for a mistake, the squared error for a regression.

    A score of exactly 0 counts as the second class, as in the papers, unless told otherwise.
    """
    return plain_answers(task, scores.shape[1]).errors(targets, scores, ties)


class ConfusionMatrix:
    """How often each class (row) was taken for each class (column), and the recall of each."""

    ranges: ClassVar = {"counts": COUNT}

    def __init__(self, answers: ClassAnswers, ties: str) -> None:
        self._answers, self._ties = answers, ties
        self.counts = np.zeros((0, 0), np.int64)
        self._make_room()

    def _make_room(self) -> None:
        more = max(2, len(self._answers.classes)) - len(self.counts)
        self.counts = np.pad(self.counts, (0, more)) if more > 0 else self.counts

    def update(self, targets: Numbers, scores: Numbers) -> None:
        self._make_room()
        own, found = self._answers.numbers_of(targets), self._answers.answered(scores, self._ties)
        cells = own * len(self.counts) + found
        self.counts += np.bincount(cells, minlength=self.counts.size).reshape(self.counts.shape)

    def report(self) -> dict[str, Any]:
        order = self._answers.order
        counts = self.counts if order is None else self.counts[np.ix_(order, order)]  # classes as they are listed
        seen = counts.sum(axis=1)
        recall = [float(hit / n) if n else None for hit, n in zip(np.diag(counts), seen, strict=True)]
        return {"recall": recall, "confusion": counts.tolist()}


class Probabilities:
    """Mean of -log P(y), and how far answers are from being right as often as they claim to be.

    Probabilities are those learned on the rows before. Answers are sorted into bins by what they claim; the calibration
    error is the mean distance of claimed and true shares, each bin counting as its rows.
    """

    ranges: ClassVar = {"total": TOTAL, "rows": COUNT, "counts": COUNT, "claimed": NOT_NEGATIVE, "right": COUNT}

    def __init__(self, answers: ClassAnswers) -> None:
        self._answers, self.total, self.rows = answers, 0.0, 0
        self.counts, self.claimed, self.right = (np.zeros(BINS) for _ in range(3))
        nothing = np.zeros(0)
        calibrate.bind(answers.calibration, nothing, nothing, np.zeros((0, 1)), np.zeros((0, 2)))  # before clocks start
        sort_out.bind(np.zeros((0, 2)), nothing > 0.0, self.total, self.counts, self.claimed, self.right)

    def update(self, targets: Numbers, scores: Numbers) -> None:
        claims, right = self._answers.follow(targets, None, scores), self._answers.errors(targets, scores) == 0.0
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

    ranges: ClassVar = {"window": COUNT, "targets": between(-1.0, 1.0), "scores": FINITE}

    def __init__(self, answers: ClassAnswers, window: int = WINDOW) -> None:
        self._answers, self.window, self.targets, self.scores = answers, window, np.zeros(0), np.zeros(0)

    def update(self, targets: Numbers, scores: Numbers) -> None:
        if self._answers.task != "binary":  # of two classes that have become several
            return
        self.targets = np.concatenate([self.targets, targets])[-self.window :]
        self.scores = np.concatenate([self.scores, scores[:, 0]])[-self.window :]

    def report(self) -> dict[str, Any]:
        return {"auc_window": auc(self.targets > 0.0, self.scores)} if self._answers.task == "binary" else {}


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

    ranges: ClassVar = {"squares": TOTAL, "sizes": TOTAL, "rows": COUNT}

    def __init__(self) -> None:
        self.squares, self.sizes, self.rows = 0.0, 0.0, 0

    def update(self, targets: Numbers, scores: Numbers) -> None:
        difference = scores[:, 0] - targets
        with np.errstate(over="ignore"):  # infinite where a target is too large to be squared
            self.squares = add_up(self.squares, difference**2)
        self.sizes = add_up(self.sizes, np.abs(difference))
        self.rows += len(targets)

    def report(self) -> dict[str, Any]:
        n = max(self.rows, 1)
        return {"mse": self.squares / n, "rmse": float(np.sqrt(self.squares / n)), "mae": self.sizes / n}


class Intervals:
    """How many rows lie in the interval around their prediction, and how wide these are."""

    ranges: ClassVar = {"rows": COUNT, "inside": COUNT, "width": TOTAL}

    def __init__(self, answers: NumberAnswers) -> None:
        self._answers, self.rows, self.inside, self.width = answers, 0, 0, 0.0
        follow.bind(
            answers.recent, np.zeros(0), np.zeros((0, 1)), COVERAGE, np.zeros((0, 2))
        )  # before any clock starts

    def update(self, targets: Numbers, scores: Numbers) -> None:
        bounds = self._answers.follow(targets, None, scores)
        finite = np.isfinite(bounds).all(axis=1)  # the first rows have no interval
        low, high = bounds[finite].T
        self.rows += int(finite.sum())
        self.inside += int(((low <= targets[finite]) & (targets[finite] <= high)).sum())
        self.width = add_up(self.width, high - low)

    def report(self) -> dict[str, Any]:
        n = max(self.rows, 1)
        return {"coverage": self.inside / n, "interval_width": self.width / n} if self.rows else {}


def metrics_for(answers: Answers, window: int = WINDOW, ties: str = "second") -> list[Metric]:
    """All metrics that make sense for answers, which learn from them how sure they are."""
    if isinstance(answers, NumberAnswers):
        return [RegressionErrors(), Intervals(answers)]
    both: list[Metric] = [Probabilities(answers), ConfusionMatrix(answers, ties)]
    of_two = answers.task == "binary" or answers.grows  # where classes grow, a checkpoint may be of two still
    return [*both, WindowAUC(answers, window)] if of_two else both


def state_of(metric: Metric) -> dict[str, Any]:
    """All that a metric has added up."""
    return {name: value for name, value in vars(metric).items() if not name.startswith("_")}


def restore(metric: Metric, own: dict[str, Any]) -> None:
    """Go on where another metric of the same kind was; a ValueError where these cannot be its sums."""
    known = state_of(metric)
    if known.keys() != own.keys() or not all(_alike(known[key], own[key]) for key in own):
        raise ValueError("These are the errors of another task.")
    refuse(violation(own, metric.ranges).format("its errors"))
    lengths = {len(own[key]) for key, value in known.items() if isinstance(value, np.ndarray) and not value.size}
    if len(lengths) > 1 or own.get("window") != known.get("window") or max(lengths, default=0) > own.get("window", 0):
        raise ValueError("Its last rows are more than a window holds.")
    vars(metric).update(own)


def _alike(empty: Any, found: Any) -> bool:
    """Whether a value can stand where an empty one is."""
    if not isinstance(empty, np.ndarray):
        return type(empty) is type(found)
    same = isinstance(found, np.ndarray) and empty.dtype == found.dtype and empty.ndim == found.ndim
    return same and (not empty.size or empty.shape == found.shape)
