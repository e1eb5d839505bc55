"""How the classifier takes labels in: classes that are all known, or that come new; and the weights of classes."""

from itertools import pairwise
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets

from onkel.calibration import Calibration, calibrate, calibration
from onkel.checks import difference
from onkel.growing import grown
from onkel.recipes.common import one_of
from onkel.sklearn_rows import RowTaker
from onkel.targets import decide, newcomers, numbered, outputs, task_of
from onkel.weighing import balanced, given

Scores = NDArray[np.float64]


class Singly(NamedTuple):
    """What a classifier needs for rows one by one: targets by label, and labels by class."""

    targets: dict[Any, float]
    labels: list[Any]


class LabelTaker(RowTaker):
    """A classifier's labels.

    The model numbers classes that come new in the order of their appearance; `_order` has the number of each of the
    sorted `classes_`, or is None where all classes were known and both are the same. Models of such classes have at
    least two outputs, so that nothing but their sizes changes when the next class comes.
    """

    classes: Any
    class_weight: Any
    classes_: NDArray[Any]
    calibration_: Calibration
    _order: NDArray[np.int64] | None
    _counts: Scores
    _singly: Singly | None = None
    _kind = "binary"

    @property
    def _growing(self) -> bool:
        """Whether new classes may come."""
        return self.classes is not None and one_of("classes", self.classes, ("grow",)) == "grow"

    def _start(self, classes: NDArray[Any]) -> None:
        """Begin with these classes."""
        self._order, n_outputs = None, outputs(classes)
        if self._growing:
            name, tasks = self._planned().name, self._planned().tasks
            if "multiclass" not in tasks:
                raise ValueError(f"classes='grow' needs a learner of several classes: one_vs_rest({name}()) is one.")
            self._order, n_outputs = np.arange(len(classes)), max(2, len(classes))
        self._begin("multiclass" if self._growing else task_of(classes), n_outputs)
        self.classes_, self.calibration_, self._singly = classes, calibration(self.online_.probable), None
        self._counts = np.zeros(max(2, len(classes)))

    def _admit(self, labels: NDArray[Any]) -> None:
        """Take in classes that come new."""
        if not newcomers(labels, self.classes_):
            return
        known, order = self.classes_, cast(Any, self._order)
        classes = np.union1d(known, labels) if len(known) else np.unique(labels)
        new = ~np.isin(classes, known)
        places = np.zeros(len(classes), np.int64)
        places[~new], places[new] = order, len(known) + np.arange(new.sum())
        self.classes_, self._order, self._singly = classes, places, None
        more = max(2, len(classes)) - self.online_.setting.n_outputs
        if more > 0:
            self._counts = np.pad(self._counts, (0, more))
            setting = self.online_.setting
            self.online_ = grown(self.online_, setting.n_features, setting.n_outputs + more)

    def _learn(self, X: Any, y: Any, weights: Any) -> NDArray[Any]:
        """Learn checked rows; returns the label that was predicted for each before."""
        y = np.asarray(y)
        if not self._growing:
            numbers = numbered(y, self.classes_)
            return self._labels(self._learn_known(self._filled(X, learns=True), numbers, weights))
        firsts = newcomers(y, self.classes_)
        if firsts:
            check_classification_targets(y[firsts])
        X, cuts = self._filled(X, learns=True), sorted({0, *firsts, len(y)})
        parts = ((X[a:b], y[a:b], None if weights is None else weights[a:b]) for a, b in pairwise(cuts))
        return np.concatenate([self._learn_part(*part) for part in parts])

    def _learn_part(self, X: Any, y: NDArray[Any], weights: Any) -> NDArray[Any]:
        """The same for rows of which the first alone may be of a new class; its answer is a class known so far."""
        before = y[:0]
        if newcomers(y[:1], self.classes_):
            known = len(self.classes_) > 0
            before = self._labels(self._ordered(self.online_.score(X[:1]))) if known else y[:1]
        self._admit(y[:1])
        numbers = cast(Any, self._order)[numbered(y, self.classes_)]
        scores = self._learn_known(X, numbers, weights, len(before))
        return np.concatenate([before, self._labels(scores[len(before) :])])

    def _learn_known(self, X: Any, numbers: NDArray[np.int64], weights: Any, new: int = 0) -> Scores:
        """Learn rows of these numbers of classes; the first `new` of them had no score for their class before."""
        targets = numbers.astype(np.float64)
        targets = 2.0 * targets - 1.0 if self.online_.task == "binary" else targets
        weights, counts = self._weighed(numbers, weights)
        scores = self.online_.learn(X, targets, weights)
        self._counts = counts
        if self._order is None or len(self.classes_) > 1:
            weights = np.ones(len(targets)) if weights is None else weights
            calibrate(self.calibration_, targets[new:], weights[new:], scores[new:], np.empty((len(targets) - new, 2)))
        return self._ordered(scores)

    def _weighed(self, numbers: NDArray[np.int64], weights: Any) -> tuple[Any, Scores]:
        """The weights of rows times those of their classes, and the rows of each class after them."""
        if self.class_weight is None:
            return weights, self._counts
        if isinstance(self.class_weight, str):
            one_of("class_weight", self.class_weight, ("balanced",))
            own, counts = balanced(self._counts, numbers)
        else:
            by_label = given(self.class_weight, self.classes_.tolist())
            own, counts = by_label[numbers if self._order is None else np.argsort(self._order)[numbers]], self._counts
        return own if weights is None else own * weights, counts

    def _ordered(self, scores: Scores) -> Scores:
        """Scores in the order of `classes_`."""
        return scores if self._order is None else scores[:, self._order]

    def _labels(self, scores: Scores) -> NDArray[Any]:
        """Labels by scikit-learn's rule for ties; a single class is always the answer."""
        return self.classes_[np.minimum(decide(scores, tie=0), len(self.classes_) - 1)]

    def learn_one(self, x: Any, y: Any) -> Scores:
        """Learn one row, numbers or a dict by name, without scikit-learn's validation; returns its scores from before.

        Where both classes and features grow, it can be the first call.
        """
        if "online_" not in self.__dict__:
            self._begin_with_one(x)
        with self.online_.turn:  # not `in_turn`, which would cost as much as learning
            singly = self._singly or self._one_by_one()
            if self._columns is not None or type(x) is dict:
                x = self._row(x, learns=True)
            try:
                target = singly.targets[y]
            except (KeyError, TypeError):
                return self._learn_stranger(x, np.asarray([y]))
            if self.missing != "error":
                x = self._filled_row(x, learns=True)
            if self.class_weight is not None:
                number = int(target > 0.0) if self.online_.task == "binary" else int(target)
                return self._learn_known(np.asarray(x)[None], np.array([number]), None)[0]
            online = self.online_  # which columns that came new may have replaced
            if not online.witnesses:
                self._let_calibrate()
            scores = online.learned_one(x, target)
            return scores if self._order is None else scores.take(self._order)

    def _begin_with_one(self, x: Any) -> None:
        """Begin with the columns of one row, and no class yet."""
        if not (self._growing and self._open):
            self._check_fitted()
        self._begin_with(x)
        self._start(np.array([]))

    def _learn_stranger(self, x: Any, y: NDArray[Any]) -> Scores:
        """The same for a label that was not among the classes when they were looked at last."""
        if not self._growing:
            numbered(y, self.classes_)  # which says what is wrong
        row = np.asarray(x, np.float64)[None]
        before = self._ordered(self.online_.score(self._filled(row, learns=False)))[0]
        self._learn(row, y, None)
        return before

    def _one_by_one(self) -> Singly:
        self._check_fitted()
        labels = self.classes_.tolist()
        numbers = np.arange(len(labels)) if self._order is None else self._order
        targets = 2.0 * numbers - 1.0 if self.online_.task == "binary" else 1.0 * numbers
        by_label = dict(zip(labels, targets.tolist(), strict=True))
        self._singly = Singly(by_label, labels * (2 if len(labels) == 1 else 1))
        return self._singly

    def _let_calibrate(self) -> None:
        """Let probabilities follow rows that are learned one by one, once there is something to tell apart."""
        if self._order is None or len(self.classes_) > 1:
            row = self.online_.frame
            self.online_.watch(calibrate, self.calibration_, row.target, row.importance, row.scores, np.zeros((1, 2)))

    def _label_content(self) -> dict[str, Any]:
        """What a file needs to know of classes that come new and of their weights."""
        weight = self.class_weight
        if isinstance(weight, dict):
            weight = (np.asarray(list(weight)), np.asarray(list(weight.values()), np.float64))
        return {"classes": self.classes, "order": self._order, "class_weight": weight, "counts": self._counts}

    def _restore_labels(self, content: dict[str, Any], opened: dict[str, Any]) -> bool:
        """Take over what a file says of the labels; False where it does not fit."""
        classes, state = content.get("classes"), content.get("calibration")
        if not (
            isinstance(classes, np.ndarray) and classes.ndim == 1 and difference(state, calibration(), False) == ""
        ):
            return False
        self.classes_, self.calibration_, self._singly = classes, cast(Calibration, state), None
        weight = opened.get("class_weight")
        self.class_weight = (
            dict(zip(*(a.tolist() for a in weight), strict=True)) if isinstance(weight, tuple) else weight
        )
        self.classes, self._order = opened.get("classes"), opened.get("order")
        width = max(2, len(classes))
        self._counts = opened.get("counts", np.zeros(width))
        n_outputs = width if self._growing else outputs(classes)
        numbers = np.arange(len(classes)) if self._order is None else np.sort(self._order)
        known = len(classes) > 0 and numbers.dtype == np.int64 and numbers.tolist() == list(range(len(classes)))
        fits = self._growing == (self._order is not None) and self._counts.shape == (width,)
        self._weighed(np.zeros(0, np.int64), None)  # refuses weights that are none
        return known and fits and n_outputs == self.online_.setting.n_outputs
