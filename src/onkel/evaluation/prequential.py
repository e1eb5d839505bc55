"""Prequential evaluation: every row is predicted first and learned after, in one of three orders."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onkel.core.randomness import keys
from onkel.core.ranges import COUNT, MOST, NOT_NEGATIVE, TOTAL, Range, refuse, violation
from onkel.core.threads import each
from onkel.core.verbs import SUM, compiled, entry_point
from onkel.evaluation.metrics import WINDOW, errors, metrics_for, restore, state_of
from onkel.model.answers import Answers, plain_answers
from onkel.model.columns import resized
from onkel.model.online import Online
from onkel.recipes import Learner

Numbers = NDArray[np.float64]
Pairs = Iterable[tuple[Any, ...]]  # rows and targets, and weights of the rows where they have some
BLOCK = 4096  # rows
POINTS = 200  # of a learning curve; its spacing doubles when there are more


class Point(NamedTuple):
    """A point of a learning curve: the error over all rows so far, and over the last window of rows."""

    rows: int
    error: float
    window_error: float


OF_TALLY = {"rows": COUNT, "total": TOTAL, "spacing": Range(1.0, MOST, whole=True), "seconds": NOT_NEGATIVE}


def points(kind: Callable[..., Any], found: Any, rows: float) -> list[Any]:
    """The points of a curve from a file: rows so far, at most all, and numbers that are not negative."""
    at = np.array([point[0] for point in found], np.float64)
    if any(type(point[0]) is not int for point in found) or (np.diff(at, prepend=0.0) <= 0.0).any():
        raise ValueError("Its curve goes back.")
    refuse(violation({"rows": at}, {"rows": Range(1.0, rows, whole=True)}).format("its curve"))
    for _, number, *more in found:
        numbers = np.array([number, *more[0]] if more and isinstance(more[0], tuple) else [number, *more], np.float64)
        refuse(violation({"errors": numbers}, {"errors": TOTAL}).format("its curve"))
    return [kind(*point) for point in found]


class Tally:
    """Errors, metrics and the learning curve of a stream, row by row.

    `ties` says which class a score of exactly 0 counts for: the "second", as in the papers, or the "first", which is
    what a model answers.
    """

    def __init__(self, answers: Answers, window: int = WINDOW, ties: str = "second") -> None:
        self.answers, self.window, self.ties = answers, window, ties
        self.metrics = metrics_for(answers, window, ties)
        self.rows, self.total, self.spacing, self.seconds = 0, 0.0, 100, 0.0
        self.curve: list[Point] = []
        self._recent = np.zeros(0)
        mark.bind(self._recent, 0, 0, self.total, self.spacing, window, np.zeros((0, 3)))  # before any clock starts

    @property
    def error(self) -> float:
        """Mistake rate or mean squared error over all rows."""
        return self.total / max(self.rows, 1)

    @property
    def window_error(self) -> float:
        """The same over the last rows."""
        return float(self._recent.sum()) / max(len(self._recent), 1)

    def update(self, targets: Numbers, scores: Numbers) -> None:
        """Follow rows with the scores they had before they were learned."""
        for metric in self.metrics:
            metric.update(targets, scores)
        found = self.answers.errors(targets, scores, self.ties)
        known, first = np.concatenate([self._recent, found]), len(self._recent)
        before, self.rows = self.rows, self.rows + len(targets)
        while self.rows // self.spacing > POINTS:
            self.curve = self.curve[1::2]
            self.spacing *= 2
        marks = np.empty((self.rows // self.spacing - before // self.spacing, 3))
        self.total = mark(known, first, before, self.total, self.spacing, self.window, marks)
        self.curve += [Point(int(rows), error, recent) for rows, error, recent in marks.tolist()]
        self._recent = known[-self.window :].copy()

    def state(self) -> dict[str, Any]:
        """All it knows, to be restored by another one of the same task."""
        own = {"rows": self.rows, "total": self.total, "spacing": self.spacing, "seconds": self.seconds}
        lists = {"recent": tuple(self._recent.tolist()), "curve": tuple(map(tuple, self.curve))}
        return {**own, **lists, "metrics": tuple(map(state_of, self.metrics))}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on where another one was."""
        self.rows, self.total, self.spacing, self.seconds = (
            state[key] for key in ("rows", "total", "spacing", "seconds")
        )
        mistakes = {} if self.answers.task == "regression" else {"total": NOT_NEGATIVE}
        refuse(violation(state, OF_TALLY | mistakes).format("its errors"))
        self.curve, self._recent = points(Point, state["curve"], self.rows), np.array(state["recent"], np.float64)
        if self._recent.ndim != 1 or len(self._recent) > self.window:
            raise ValueError("Its last errors are more than a window holds.")
        refuse(violation({"recent": self._recent}, {"recent": TOTAL}).format("its errors"))
        for metric, own in zip(self.metrics, state["metrics"], strict=True):
            restore(metric, own)

    def report(self) -> dict[str, Any]:
        """Everything as plain numbers, by name."""
        found: dict[str, Any] = {"rows": self.rows}
        if self.answers.task != "regression":
            found |= {"mistakes": round(self.total), "mistake_rate": self.error, "ties": f"{self.ties} class"}
        for metric in self.metrics:
            found |= metric.report()
        curve = [*self.curve]
        if self.rows and (not curve or curve[-1].rows != self.rows):
            curve.append(Point(self.rows, self.error, self.window_error))
        return {**found, "curve": [point._asdict() for point in curve]}


@entry_point
def mark(known: Any, first: int, rows: int, total: float, spacing: int, window: int, marks: Any) -> float:
    """Add up the errors from `first` on, one after the other; returns the total.

    Where the number of rows is a multiple of the spacing, writes it, the mean over all rows, and over the last ones.
    """
    found = 0
    for i in range(first, known.shape[0]):
        rows, total = rows + 1, total + known[i]
        if rows % spacing == 0:
            marks[found, 0], marks[found, 1] = rows, total / rows
            marks[found, 2] = mean(known[max(i + 1 - window, 0) : i + 1])
            found += 1
    return total


@compiled(flags=SUM, heavy=True)
def mean(numbers: Any) -> float:
    """Their mean; the compiler may choose the order of the sum, which depends on their number alone."""
    total, n = 0.0, numbers.shape[0]
    for k in range(n):
        total += numbers[k]
    return total / n


def by_rows(online: Online, blocks: Pairs) -> Iterator[tuple[Numbers, Numbers]]:
    """(targets, scores) with each row predicted by a model that has learned all rows before it."""
    for rows, targets, *weights in blocks:
        yield targets, online.learn(rows, targets, *weights)


def by_blocks(online: Online, blocks: Pairs) -> Iterator[tuple[Numbers, Numbers]]:
    """(targets, scores) with whole blocks predicted by a frozen model, then learned."""
    for rows, targets, *weights in blocks:
        scores = online.score(rows)
        online.learn(rows, targets, *weights)
        yield targets, scores


def delayed(
    online: Online, blocks: Pairs, delay: int, waiting: deque[tuple[Any, ...]]
) -> Iterator[tuple[Numbers, Numbers]]:
    """(targets, scores) where the label of a row arrives `delay` rows later: its model knows the rows before those.

    Rows whose labels are awaited are in `waiting`, the oldest first; it may hold some already.
    """
    for whole in blocks:
        rows, targets = whole[:2]
        scores = np.empty((len(targets), online.setting.n_outputs))
        for i in range(len(targets)):
            if len(waiting) > delay:
                online.learn(*awaited(waiting.popleft(), online))
            scores[i] = online.score(rows[i : i + 1])[0]
            waiting.append(tuple(part[i : i + 1] for part in whole))
        yield targets, scores
    while waiting:
        online.learn(*awaited(waiting.popleft(), online))


def awaited(row: tuple[Any, ...], online: Online) -> tuple[Any, ...]:
    """A row that waited for its label, with the columns that came meanwhile.

    If two classes have become several since, its target is the number of one.
    """
    rows, targets, *weights = row
    rows = resized(rows, online.setting.n_features, 0.0)
    return rows, np.maximum(targets, 0.0) if online.task == "multiclass" else targets, *weights


def prequential(
    online: Online, blocks: Pairs, n_classes: int = 2, *, mode: str = "rows", delay: int = 0, window: int = WINDOW,
    watch: Callable[[Tally, Numbers, Numbers], None] | None = None, tally: Tally | None = None,
    waiting: deque[tuple[Any, ...]] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Predict and learn a stream of (rows, targets); returns metrics, the learning curve and the time it took.

    `mode` is "rows", "blocks" (the blocks as they come) or "delayed" (labels arrive `delay` rows later). `watch` is
    called after each block with the tally, the targets and the scores. A `tally` of earlier rows goes on; so do rows
    that are `waiting` for their labels, each with its target.

    >>> from onkel.recipes import perceptron
    >>> online = perceptron(gamma=1.0).start(n_features=1)
    >>> report = prequential(online, [(np.array([[0.0], [0.0]]), np.array([-1.0, -1.0]))])
    >>> report["mistakes"], report["mistake_rate"]
    (1, 0.5)
    """
    orders: dict[str, Callable[[Online, Pairs], Iterator[tuple[Numbers, Numbers]]]] = {
        "rows": by_rows,
        "blocks": by_blocks,
        "delayed": partial(delayed, delay=delay, waiting=deque() if waiting is None else waiting),
    }
    if mode not in orders:
        raise ValueError(f"mode must be one of {', '.join(orders)}, not {mode!r}.")
    if delay < 0:
        raise ValueError(f"delay must be at least 0, not {delay}.")
    tally = Tally(plain_answers(online.task, n_classes, online.probable), window) if tally is None else tally
    start = perf_counter() - tally.seconds
    for targets, raw in orders[mode](online, blocks):
        scores = tally.answers.before(raw)
        tally.update(targets, scores)
        tally.seconds = max(tally.seconds, perf_counter() - start)  # whatever the clock does
        if watch is not None:
            watch(tally, targets, scores)
    return {**tally.report(), "seconds": tally.seconds, "rows_per_second": tally.rows / max(tally.seconds, 1e-9)}


class Spread(NamedTuple):
    """Mean and sample standard deviation (n - 1) over runs."""

    mean: float
    std: float


def spread(values: Sequence[float]) -> Spread:
    """Mean and sample standard deviation.

    >>> spread([1.0, 2.0, 3.0])
    Spread(mean=2.0, std=1.0)
    """
    return Spread(float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else 0.0)


def in_order(rows: Any, targets: Numbers, order: NDArray[np.int64]) -> Iterator[tuple[Any, Numbers]]:
    """Blocks of rows and targets in an order, small enough to stay where the processor is fast."""
    for first in range(0, len(order), BLOCK):
        part = order[first : first + BLOCK]
        yield rows.take(part, axis=0) if isinstance(rows, np.ndarray) else rows[part], targets[part]


def over_permutations(
    learner: Learner, rows: Any, targets: Numbers, orders: Iterable[Any], n_classes: int = 2, **start: Any
) -> dict[str, Spread]:
    """One fresh run per order of the rows; mean and sample standard deviation of each metric that is a number.

    Runs are side by side in threads.
    """

    def run(order: Any) -> dict[str, Any]:
        online = learner.start(rows.shape[1], **start)
        return prequential(online, in_order(rows, np.asarray(targets), np.asarray(order)), n_classes)

    reports = each(run, orders)
    numbers = [key for key in reports[0] if all(isinstance(report[key], int | float) for report in reports)]
    return {key: spread([report[key] for report in reports]) for key in numbers}


def cross_validated(
    learner: Learner, rows: Any, targets: Numbers, folds: int = 5, *, seed: int = 0, **start: Any
) -> Spread:
    """The error on each fold of the rows after one pass over the others; mean and sample standard deviation.

    Folds are drawn from the seed alone, so that learners are compared on the same ones.
    """
    targets = np.asarray(targets, np.float64)
    if not 2 <= folds <= len(targets):
        raise ValueError(f"folds must be from 2 to the number of rows, {len(targets)}, not {folds!r}.")
    fold = np.argsort(keys(seed, np.arange(len(targets))), kind="stable") % folds

    def error(k: int) -> float:
        online = learner.start(rows.shape[1], **start)
        online.learn(rows[fold != k], targets[fold != k])
        return float(np.mean(errors(online.task, targets[fold == k], online.score(rows[fold == k]))))

    return spread(each(error, range(folds)))


def chosen(
    learners: Sequence[Learner], rows: Any, targets: Numbers, folds: int = 5, *, seed: int = 0, **start: Any
) -> Learner:
    """The learner with the smallest error in cross-validation; of equal ones the first.

    With the first part of a stream, this is how kernels are chosen before the rest comes:

    >>> from onkel.recipes import ik_ogd
    >>> X, y = np.arange(40.0)[:, None], np.where(np.arange(40) % 20 < 10, 1.0, -1.0)
    >>> best = chosen([ik_ogd(psi=psi) for psi in (1, 16)], X, y)
    >>> best.get_params()["psi"]
    16
    """
    found = [cross_validated(learner, rows, targets, folds, seed=seed, **start).mean for learner in learners]
    return learners[int(np.argmin(found))]
