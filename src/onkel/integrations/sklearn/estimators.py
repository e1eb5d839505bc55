"""The scikit-learn face: classifier and regressor, by its conventions."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import check_array, check_consistent_length

from onkel.core.interrupts import uninterrupted, whole
from onkel.core.locks import in_turn
from onkel.core.parameters import one_of
from onkel.integrations.sklearn.base import KernelEstimator
from onkel.integrations.sklearn.rows import planned
from onkel.model.answers import ClassAnswers
from onkel.model.calibration import Calibration
from onkel.model.intervals import COVERAGE, Errors
from onkel.model.numbers import NumberAnswers
from onkel.model.targets import numbered
from onkel.recipes import Learner


class KernelClassifier(ClassifierMixin, KernelEstimator):
    """A classifier that learns row by row with any of the recipes.

    Columns of data frames are found by their names: they may stand in another order than those learned first, which
    scikit-learn's own estimators refuse, and columns that were not learned are left out, with one warning.

    Parameters
    ----------
    learner : what a recipe returns, for example ``fogd(n_frequencies=100)``, or its name; None stands for ``auto()``,
        which needs no tuning.
    classes : None, for classes that are all known at the first call, as scikit-learn has it; or "grow": classes may
        come new in any row. Such a row is answered with a class known before it, the very first one with its own.
    class_weight : None, a dict of weights by label, or "balanced": rows so far / (classes so far * rows of its class so
        far), the row itself counted in; at most one more than the rows of its class, and at most 100.
    features : None, for rows of one width; or "grow": columns may come new, by name or as wider rows. What a row does
        not have is 0; `feature_names_in_` has the names in the order in which they came, not in that of a table.
    missing : what a NaN stands for: "error" refuses it; "zero"; or "mean", that of its column in the rows before.
    dtype : "float32" or "float64", of the model.
    epochs : passes of `fit` over its rows; "auto" makes three over at most 500 rows, and one over more. `partial_fit`
        makes one.
    shuffle : whether each pass of `fit` takes the rows in a random order of its own, drawn from `random_state`;
        `partial_fit`, `progress` and `learn_one` take them as they come. Rows that are sorted by class need it.
    random_state : seed of everything random; the same seed gives the same model.

    >>> import numpy as np
    >>> X, y = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]] * 50), np.array([0, 0, 1, 1] * 50)
    >>> model = KernelClassifier().fit(X, y)
    >>> model.predict([[0.1, 0.0], [0.9, 0.1]]).tolist()
    [0, 1]
    >>> model = KernelClassifier(classes="grow", features="grow")
    >>> _ = model.learn_one({"height": 1.7}, "adult"), model.learn_one({"height": 0.9, "age": 4}, "child")
    >>> model.classes_.tolist(), model.feature_names_in_.tolist()
    (['adult', 'child'], ['height', 'age'])
    """

    answers_: ClassAnswers

    _kind = "binary"

    def __init__(
        self, learner: Learner | str | None = None, *, classes: str | None = None, class_weight: Any = None,
        features: str | None = None, missing: str = "error", dtype: str = "float32", epochs: int | str = "auto",
        shuffle: bool = True, random_state: Any = 0,
    ) -> None:  # fmt: skip
        self.learner = learner
        self.classes = classes
        self.class_weight = class_weight
        self.features = features
        self.missing = missing
        self.dtype = dtype
        self.epochs = epochs
        self.shuffle = shuffle
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        known = self.learner is None or isinstance(self.learner, Learner | str)
        tags.classifier_tags.multi_class = not known or "multiclass" in planned(self.learner).tasks
        return tags

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels known so far, sorted."""
        return self.answers_.classes

    @property
    def calibration_(self) -> Calibration:
        """How sure answers are."""
        return self.answers_.calibration

    @property
    def _growing(self) -> bool:
        """Whether new classes may come."""
        return self.classes is not None and one_of("classes", self.classes, ("grow",)) == "grow"

    def _start(self, classes: NDArray[Any]) -> None:
        """Begin with these classes; a model of classes that come new has an output for each of them from the start."""
        learner, own = self._planned(), dict[str, Any]()
        if self._growing:
            if "multiclass" not in learner.tasks:
                sentence = f"classes='grow' needs a learner of several classes: one_vs_rest({learner.name}()) is one."
                raise ValueError(sentence)
            own = {"task": "multiclass", "grows": True, "order": np.arange(len(classes))}
        answers = ClassAnswers(classes, class_weight=self.class_weight, **own)
        online = self._begun(answers.task, answers.n_outputs)
        answers.take_scores_of(online)
        self.online_, self.answers_ = online, answers

    @in_turn
    @whole
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything and learn these rows, in random order and `epochs` times."""
        X, y = self._pair(X, y)
        check_classification_targets(y)
        self._start(np.array([]) if self._growing else unique_labels(y))
        self._fit(X, y, self._weights(sample_weight, X))
        return self

    @in_turn
    @whole
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn these rows, one after the other. The first call needs all classes that will come, unless they grow."""
        self.progress(X, y, classes, sample_weight)
        return self

    @in_turn
    @whole
    def progress(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> NDArray[Any]:
        """Learn these rows; returns the label predicted for each row before it was learned."""
        if not hasattr(self, "online_"):
            if classes is None and not self._growing:
                raise ValueError("classes must be given in the first call: all labels that will ever come.")
            X = self._rows(X, reset=True)
            self._start(np.array([]) if classes is None else unique_labels(classes))
        else:
            X = self._rows(X, learns=True)
            if classes is not None and self._growing:
                self.answers_.admit(self.online_, unique_labels(classes))
            elif classes is not None and not np.array_equal(unique_labels(classes), self.classes_):
                raise ValueError("classes is not the same as in the first call.")
        labels = check_array(y, ensure_2d=False, dtype=None) if not isinstance(y, np.ndarray) else y
        return self._learn(X, np.asarray(labels), self._weights(sample_weight, X))

    def _learn(self, X: Any, y: NDArray[Any], weights: Any) -> NDArray[Any]:
        """Learn checked rows; returns the label that was predicted for each before."""
        check_consistent_length(X, y)
        answers = self.answers_
        firsts = answers.new(y)
        if firsts:
            check_classification_targets(y[firsts])
        elif not self._growing:
            answers.numbers(y)  # which refuses labels before anything is remembered
        return self._learn_first(X, y, weights)

    def learn_one(self, x: Any, y: Any) -> NDArray[np.float64]:
        """Learn one row, numbers or a dict by name, without scikit-learn's validation; returns its scores from before.

        Where both classes and features grow, it can be the first call.
        """
        if "online_" not in self.__dict__:
            self._begin_with_one(x)
        with self.online_.turn:  # not `in_turn`, which would cost as much as learning
            answers = self.answers_
            try:
                target = answers.singly.targets[y]
            except (KeyError, TypeError):
                return self._learn_unknown(x, np.asarray([y]))
            if self._columns.plain and type(x) is not dict:
                scores = self._learned_one(x, y, target)
            else:
                scores = self._learn_row(x, lambda row: self._learned_one(row, y, target))
            return scores if answers.order is None else answers.ordered(scores[None])[0]

    def _learned_one(self, x: Any, y: Any, target: float) -> NDArray[np.float64]:
        """The scores of the model from before it learned a row of a known class."""
        online, answers = self.online_, self.answers_
        if answers.class_weight is not None:
            return answers.learn(online, np.asarray(x)[None], np.asarray([y]))[0]
        if not online.witnesses:
            answers.watch(online)
        return online.learned_one(x, target)

    def _begin_with_one(self, x: Any) -> None:
        """Begin with the columns of one row, and no class yet."""
        if not (self._growing and self._open):
            self._check_fitted()
        self._begin_with(x)
        self._start(np.array([]))

    def _learn_unknown(self, x: Any, y: NDArray[Any]) -> NDArray[np.float64]:
        """The same for a label that is not among the classes known so far."""
        if not self._growing:
            numbered(y, self.classes_)  # which says what is wrong

        def learn(x: Any) -> NDArray[np.float64]:
            row = np.asarray(x, np.float64)[None]
            before = self.answers_.ordered(self.online_.score(row))[0]
            for _ in self.answers_.parts(self.online_, y):
                self.answers_.learn(self.online_, row, y)
            return before

        with uninterrupted():  # a class that comes new is taken in with its first row
            return self._learn_row(x, learn)

    def predict_one(self, x: Any) -> Any:
        """The most likely label of one row, a sequence or a dict by name, without scikit-learn's validation."""
        online = self.__dict__.get("online_") or self._fitted()
        with online.turn:
            scores = self._score_one(x)
            return self.answers_.singly.labels[scores.argmax() if len(scores) > 1 else scores.item() > 0.0]

    def predict_proba_one(self, x: Any) -> NDArray[np.float64]:
        """The probabilities (classes,) of one row, without scikit-learn's validation."""
        online = self.__dict__.get("online_") or self._fitted()
        with online.turn:
            return self.answers_.probabilities_of(self._score_one(x)[None])[0]

    def _score_one(self, x: Any) -> NDArray[np.float64]:
        """The scores of one row in the order of `classes_`."""
        if not self._columns.plain or type(x) is dict:
            x = self._filled_row(self._row(x, learns=False))
        scores, answers = self.online_.scored_one(x), self.answers_
        return scores if answers.order is None else answers.ordered(scores[None])[0]

    @in_turn
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Scores: (n,) for two classes, positive for the second; (n, classes) for more."""
        X = self._seen(X)
        return self.answers_.decision(self.online_.score(X))

    @in_turn
    def predict(self, X: Any) -> NDArray[Any]:
        """The most likely label of each row."""
        X = self._seen(X)
        return self.answers_.labels(self.online_.score(X))

    @in_turn
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities (n, classes): sigmoid or softmax of the scores, made as sure as the answers are right.

        How sure that is, is learned online from the scores that rows had before they were learned, for every loss
        (`onkel.model.calibration`); those of `auto` are logarithms of probabilities, of which only the largest is
        corrected.
        """
        X = self._seen(X)
        return self.answers_.probabilities(self.online_.score(X))


class KernelRegressor(RegressorMixin, KernelEstimator):
    """A regressor that learns row by row with any of the recipes. Parameters as for `KernelClassifier`.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(size=(500, 1))
    >>> model = KernelRegressor().fit(X, X[:, 0] ** 2)
    >>> bool(abs(model.predict([[0.5]])[0] - 0.25) < 0.05)
    True
    """

    answers_: NumberAnswers

    _kind = "regression"

    def __init__(
        self, learner: Learner | str | None = None, *, features: str | None = None, missing: str = "error",
        dtype: str = "float32", epochs: int | str = "auto", shuffle: bool = True, random_state: Any = 0,
    ) -> None:  # fmt: skip
        self.learner = learner
        self.features = features
        self.missing = missing
        self.dtype = dtype
        self.epochs = epochs
        self.shuffle = shuffle
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # one pass with the papers' steps, which expect targets in [0, 1]
        return tags

    @in_turn
    @whole
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything and learn these rows, in random order and `epochs` times."""
        X, y = self._pair(X, y, y_numeric=True)
        self._start()
        self._fit(X, y, self._weights(sample_weight, X))
        return self

    @in_turn
    @whole
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn these rows, one after the other."""
        self.progress(X, y, sample_weight)
        return self

    @in_turn
    @whole
    def progress(self, X: Any, y: Any, sample_weight: Any = None) -> NDArray[np.float64]:
        """Learn these rows; returns the prediction for each row before it was learned."""
        first = not hasattr(self, "online_")
        X = self._rows(X, reset=first, learns=True)
        if first:
            self._start()
        check_consistent_length(X, y)
        return self._learn_first(X, np.asarray(y), self._weights(sample_weight, X))

    @property
    def errors_(self) -> Errors:
        """How wrong the answers to the last rows were."""
        return self.answers_.recent

    def _start(self) -> None:
        self.online_, self.answers_ = self._begun("regression", 1), NumberAnswers()

    def learn_one(self, x: Any, y: Any) -> NDArray[np.float64]:
        """Learn one row, numbers or a dict by name, without scikit-learn's validation; returns its scores from before.

        Where features grow, it can be the first call.
        """
        if "online_" not in self.__dict__:
            if not self._open:
                self._check_fitted()
            self._begin_with(x)
            self._start()
        with self.online_.turn:
            if self._columns.plain and type(x) is not dict:
                return self._learned_one(x, float(y))
            return self._learn_row(x, lambda row: self._learned_one(row, float(y)))

    def _learned_one(self, x: Any, y: float) -> NDArray[np.float64]:
        """The scores of the model from before it learned a row."""
        if not self.online_.witnesses:  # none of a model that has just grown
            self.answers_.watch(self.online_)
        return self.online_.learned_one(x, y)

    def predict_one(self, x: Any) -> float:
        """The prediction for one row, a sequence or a dict by name, without scikit-learn's validation."""
        online = self.__dict__.get("online_") or self._fitted()
        with online.turn:
            if not self._columns.plain or type(x) is dict:
                x = self._filled_row(self._row(x, learns=False))
            found: float = self.online_.scored_one(x).item()
            return found

    @in_turn
    def predict(self, X: Any) -> NDArray[np.float64]:
        """The prediction for each row."""
        X = self._seen(X)
        return self.answers_.labels(self.online_.score(X))

    @in_turn
    def predict_interval(self, X: Any, coverage: float = COVERAGE) -> NDArray[np.float64]:
        """Lower and upper ends (n, 2) of intervals that hold so large a share of the rows to come.

        They are as wide as the errors of the last 1,000 rows, each from before it was learned, say
        (`onkel.model.intervals`), and infinite before there are enough.
        """
        X = self._seen(X)
        return self.answers_.intervals(self.online_.score(X), coverage)
