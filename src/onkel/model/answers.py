"""What the scores of a model mean: labels, ties, probabilities and intervals.

The model numbers its classes; `ClassAnswers` knows their labels. Where classes come new, the model numbers them in the
order of their appearance, and `order` has the number of each of the sorted classes.

A tie is a score of exactly 0 for two classes, or several largest scores: the first of the sorted classes is answered,
as scikit-learn has it, so a label never disagrees with scores and probabilities. Papers count a score of 0 as the
second class: `ties="second"` counts mistakes their way.
"""

from collections.abc import Iterator
from itertools import pairwise
from math import log
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onkel.core.growing import margin
from onkel.core.ranges import COUNT, refuse, violation, wrong_number
from onkel.core.trees import writable
from onkel.core.undo import Undo
from onkel.model.calibration import Calibration, calibrate, calibration, probabilities
from onkel.model.class_weights import ClassWeight, balanced, checked_weight, given
from onkel.model.growth import grow, refuse_too_many
from onkel.model.intervals import Errors
from onkel.model.numbers import NumberAnswers
from onkel.model.online import Online
from onkel.model.targets import decide, newcomers, numbered, sought, task_of
from onkel.model.waiting import bare

Scores = NDArray[np.float64]
TIES = ("first", "second")  # which of two classes a score of exactly 0 stands for


class Singly(NamedTuple):
    """What rows one by one need: targets by label, and labels by class."""

    targets: dict[Any, float]
    labels: list[Any]


def targets_of(task: str, numbers: NDArray[np.int64]) -> Scores:
    """Targets for a model from the numbers of classes."""
    targets: Scores = numbers.astype(np.float64)
    return 2.0 * targets - 1.0 if task == "binary" else targets


def one_by_one(task: str, classes: NDArray[Any], order: Any) -> Singly:
    """What rows one by one need of these classes."""
    numbers = np.arange(len(classes)) if order is None else order
    labels = classes.tolist()
    targets = dict(zip(labels, targets_of(task, numbers).tolist(), strict=True))
    return Singly(targets, labels * (2 if len(labels) == 1 else 1))


class ClassAnswers:
    """Answers that are classes.

    >>> answers = ClassAnswers(np.array(["no", "yes"]))
    >>> answers.targets(np.array(["yes", "no"])).tolist(), answers.labels(np.array([[0.5], [0.0]])).tolist()
    ([1.0, -1.0], ['yes', 'no'])
    """

    def __init__(
        self, classes: NDArray[Any], task: str | None = None, *, grows: bool = False, order: Any = None,
        probable: bool = False, class_weight: ClassWeight = None,
    ) -> None:  # fmt: skip
        self.classes, self.grows, self.order = classes, grows, order
        self.task = task_of(classes) if task is None else task
        self.calibration = calibration(probable)
        self.class_weight = checked_weight(class_weight)
        self.counts = np.zeros(max(2, len(classes)))
        self.singly = one_by_one(self.task, classes, order)
        self._undo = Undo()
        self._unaware = (0, 0)  # how many classes were known, and for how many rows, before the last ones came new

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(writable(state))

    @property
    def n_outputs(self) -> int:
        """Number of scores of a row."""
        return 1 if self.task == "binary" else max(2, len(self.classes))

    def numbers(self, labels: Any) -> NDArray[np.int64]:
        """The model's numbers of these labels; a label that is not among the classes is an error."""
        places = numbered(labels, self.classes)
        return places if self.order is None else self.order[places]

    def targets(self, labels: Any) -> Scores:
        """Targets for the model: -1 and 1, or the numbers of classes."""
        return self.targets_of(self.numbers(labels))

    def targets_of(self, numbers: NDArray[np.int64]) -> Scores:
        """The same from the numbers of classes."""
        return targets_of(self.task, numbers)

    def numbers_of(self, targets: Scores) -> NDArray[np.int64]:
        """The numbers of classes behind targets."""
        return (targets > 0.0).astype(np.int64) if self.task == "binary" else targets.astype(np.int64)

    def ordered(self, scores: Scores) -> Scores:
        """Scores in the order of `classes`."""
        if self.order is None:
            return scores
        if self.task == "binary":
            return -scores if self.order[0] else scores
        return scores[:, self.order]

    def places(self, scores: Scores, ties: str = "first") -> NDArray[np.int64]:
        """Which of the sorted classes scores of the model stand for."""
        found = decide(self.ordered(scores), tie=TIES.index(ties))
        return np.minimum(found, len(self.classes) - 1) if len(self.classes) == 1 else found

    def labels(self, scores: Scores) -> NDArray[Any]:
        """The label that is answered for each row."""
        return self.classes[self.places(scores)]

    def answered(self, scores: Scores, ties: str = "first") -> NDArray[np.int64]:
        """The same as the model's numbers of classes."""
        places = self.places(scores, ties)
        return places if self.order is None else self.order[places]

    def errors(self, targets: Scores, scores: Scores, ties: str = "first") -> Scores:
        """1 for each row that is answered with another class than its own."""
        return (self.answered(scores, ties) != self.numbers_of(targets)).astype(np.float64)

    def wrong(self, labels: NDArray[Any], scores: Scores) -> Scores:
        """1 for each row that is answered with another label than its own, which need not be one that is known."""
        places, known = sought(labels, self.classes)
        return (~known | (self.places(scores) != places)).astype(np.float64)

    def decision(self, scores: Scores) -> Scores:
        """Scores as scikit-learn has them: (n,) for two classes, positive for the second; (n, classes) for more."""
        scores = self.ordered(scores)
        if scores.shape[1] == 2:  # of classes that grow
            return scores[:, 1] - scores[:, 0]
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def probabilities(self, scores: Scores) -> Scores:
        """The probability of each of the sorted classes."""
        return self.probabilities_of(self.ordered(scores))

    def probabilities_of(self, ordered: Scores) -> Scores:
        """The same from scores in the order of `classes`."""
        if len(self.classes) == 1:
            return np.ones((len(ordered), 1))
        return probabilities(self.calibration, ordered)

    def spreads(self, found: Scores) -> Scores:
        """How much particles disagree, in the order of `classes`; no sign is turned."""
        return found if self.order is None or self.task == "binary" else found[:, self.order]

    def take_scores_of(self, online: Online) -> None:
        """Begin with what is known of the scores of a learner: whether they are logarithms of probabilities."""
        self.calibration = calibration(online.probable)

    def follow(self, targets: Scores, weights: Any, scores: Scores) -> Scores:
        """Learn from rows whose labels are known now how sure answers are.

        Returns what was claimed before (n, 2): the probability of its label, and that of the answer.
        """
        claims = np.ones((len(targets), 2))
        if len(self.classes) > 1:
            weights = np.ones(len(targets)) if weights is None else weights
            calibrate(self.calibration, targets, weights, np.ascontiguousarray(scores), claims)
        return claims

    def watch(self, online: Online) -> None:
        """Have rows that are learned one by one followed, once there is something to distinguish."""
        if len(self.classes) > 1:
            row = online.frame
            online.watch(calibrate, self.calibration, row.target, row.importance, row.scores, np.zeros((1, 2)))

    def weigh(self, numbers: NDArray[np.int64], weights: Any) -> Any:
        """The weights of rows times those of their classes."""
        if self.class_weight is None:
            return weights
        if isinstance(self.class_weight, str):
            own = balanced(self.counts, numbers)
        else:
            places = numbers if self.order is None else np.argsort(self.order)[numbers]
            own = given(self.class_weight, self.classes.tolist())[places]
        return own if weights is None else own * weights

    def count(self, numbers: NDArray[np.int64]) -> None:
        """Count rows of these classes in, where their weights depend on how many there were."""
        if isinstance(self.class_weight, str):
            self.counts += np.bincount(numbers, minlength=len(self.counts))

    def fresh(self) -> "ClassAnswers":
        """The same answers before the first row."""
        return ClassAnswers(
            self.classes, self.task, grows=self.grows, order=self.order, class_weight=self.class_weight
        )  # fmt: skip

    def weighed(self, labels: Any) -> tuple[Scores, list[Scores]]:
        """Targets of labels, and the weights of rows where classes have some; the rows count from now on."""
        numbers = self.numbers(labels)
        weights = self.weigh(numbers, None)
        self.count(numbers)
        return self.targets_of(numbers), [] if weights is None else [weights]

    def learn(self, online: Online, rows: Any, labels: Any, weights: Any = None) -> Scores:
        """Learn rows of known classes; returns the model's scores from before."""
        numbers = self.numbers(labels)
        weights, targets = self.weigh(numbers, weights), self.targets_of(numbers)
        answered = np.zeros((len(targets), online.setting.n_outputs))

        def follow(part: slice, scores: Scores) -> None:
            answered[part] = self.unaware(scores)
            self.follow(targets[part], None if weights is None else weights[part], answered[part])
            self.count(numbers[part])

        def then(part: slice, scores: Scores) -> None:
            try:
                self._undo.surely(self.calibration, lambda: follow(part, scores))
            finally:
                self._unaware = (0, 0)

        online.learn(rows, targets, weights, then)
        return answered

    def learn_again(self, online: Online, rows: Any, labels: Any, weights: Any = None) -> None:
        """Learn rows that were learned before, which say nothing about how sure answers are."""
        numbers = self.numbers(labels)
        weights = self.weigh(numbers, weights)
        online.learn(rows, self.targets_of(numbers), weights, lambda part, _: self.count(numbers[part]))

    def parts(self, online: Online, labels: NDArray[Any], at_once: bool = False) -> Iterator[slice]:
        """Cut rows where a class comes new, which is taken in just before the part that begins with it.

        Rows that are predicted `at_once`, before any of them is learned, are one part.
        """
        new = self.new(labels)
        if new:  # before a thousand of them are learned in vain
            refuse_too_many(len(self.classes) + len(new))
        cuts = {0, len(labels)} if at_once else {0, *new, len(labels)}
        for first, last in pairwise(sorted(cuts)):
            known, unaware = len(self.classes), last if at_once else first + 1
            self.admit(online, labels[first:unaware])
            if known < len(self.classes):
                self._unaware = known, unaware - first
            yield slice(first, last)

    def before(self, scores: Scores) -> Scores:
        """Scores from before rows were learned, the first since a class came new."""
        scores, self._unaware = self.unaware(scores), (0, 0)
        return scores

    def unaware(self, scores: Scores) -> Scores:
        """The same: a class that came new in the first of these rows could not be the answer."""
        known, rows = self._unaware
        if not known:
            return scores
        scores = scores.copy()
        least = np.minimum(scores[:rows, 0], 0.0) if self.task == "binary" else scores[:rows, :known].min(axis=1)
        scores[:rows, min(known, scores.shape[1] - 1) :] = np.nextafter(least, -np.inf)[:, None]
        return scores

    def new(self, labels: NDArray[Any]) -> list[int]:
        """The rows whose labels are not among the classes, the first of each label; none where classes do not grow."""
        return newcomers(labels, self.classes) if self.grows else []

    def admit(self, online: Online, labels: NDArray[Any]) -> None:
        """Take in classes that come new; changes the learner at work."""
        if not self.new(labels):
            return
        known, labels = self.classes, np.asarray(labels)
        if known.dtype.kind == "i" and labels.dtype.kind == "f" and np.array_equal(labels, np.trunc(labels)):
            labels = labels.astype(known.dtype)  # whole numbers stay whole
        classes = np.union1d(known, labels) if len(known) else np.unique(labels)
        new, places = ~np.isin(classes, known), np.zeros(len(classes), np.int64)
        places[~new] = np.arange(len(known)) if self.order is None else self.order
        places[new] = len(known) + np.arange(new.sum())
        setting, n_outputs = online.setting, 1 if self.task == "binary" and len(classes) < 3 else max(2, len(classes))
        counts = np.pad(self.counts, (0, max(0, len(classes) - len(self.counts))))
        singly = one_by_one("binary" if n_outputs == 1 else "multiclass", classes, places)
        if n_outputs > setting.n_outputs:  # last of all that may fail: answers and model know the same classes
            grow(online, setting.n_features, n_outputs)
        if online.task != self.task:  # scores of the two old classes may be farther apart than their one score was long
            self.calibration.moves[0] -= log(margin(bare(online.model)))
        self.task, self.classes, self.order, self.counts, self.singly = online.task, classes, places, counts, singly

    def content(self) -> dict[str, Any]:
        """What a file holds of them."""
        weight: Any = self.class_weight
        if isinstance(weight, dict):
            weight = (np.asarray(list(weight)), np.asarray(list(weight.values()), np.float64))
        return {
            "classes": self.classes, "grows": self.grows, "order": self.order, "class_weight": weight,
            "counts": self.counts, "calibration": self.calibration,
        }  # fmt: skip


Answers = ClassAnswers | NumberAnswers


def plain_answers(task: str, n_classes: int = 2, probable: bool = False) -> Answers:
    """Answers of a model whose labels are its own numbers of classes, or numbers."""
    if task == "regression":
        return NumberAnswers()
    return ClassAnswers(np.arange(max(2, n_classes)), task, probable=probable)


def answers_from(content: dict[str, Any], online: Online) -> Answers:
    """The answers in a file, held against the learner that they belong to; a ValueError where they do not fit."""
    if online.task == "regression":
        found = NumberAnswers()
        found.recent = fitting(content["errors"], found.recent)
        return found
    return _classes_from(content, online)


def _classes_from(content: dict[str, Any], online: Online) -> ClassAnswers:
    classes, grows, order, counts = (content[key] for key in ("classes", "grows", "order", "counts"))
    if not (isinstance(classes, np.ndarray) and classes.ndim == 1 and len(classes) and type(grows) is bool):
        raise ValueError("There are no classes.")
    if classes.dtype.kind not in "iufUb" or not np.array_equal(np.unique(classes), classes):
        raise ValueError("Its classes are not in order.")
    weight = content["class_weight"]
    weight = dict(zip(*(part.tolist() for part in weight), strict=True)) if isinstance(weight, tuple) else weight
    found = ClassAnswers(classes, online.task, grows=grows, order=order, class_weight=weight)
    numbers = np.arange(len(classes)) if order is None else np.sort(order)
    known = numbers.dtype == np.int64 and numbers.tolist() == list(range(len(classes)))
    fits = isinstance(counts, np.ndarray) and counts.shape == found.counts.shape and counts.dtype == np.float64
    if not (known and fits and found.n_outputs == online.setting.n_outputs):
        raise ValueError("Its classes do not fit its outputs.")
    refuse(violation(content, {"counts": COUNT}).format("its classes"))
    if online.task == "binary" and len(classes) > 2:
        raise ValueError("There are more than two classes.")
    found.calibration, found.counts = fitting(content["calibration"], found.calibration), counts
    return found


def fitting(found: Any, fresh: Calibration | Errors) -> Any:
    """A piece of a file, if it is as a fresh one."""
    if type(found) is not type(fresh) or [(a.shape, a.dtype) for a in found] != [(a.shape, a.dtype) for a in fresh]:
        raise ValueError("Numbers about how sure answers are do not fit.")
    refuse(wrong_number(found))
    return found
