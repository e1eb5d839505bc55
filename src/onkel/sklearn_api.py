"""The scikit-learn face: classifier and regressor, by its conventions."""

from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import _check_sample_weight, check_array, validate_data

from onkel.calibration import probabilities
from onkel.checks import difference
from onkel.folding import places
from onkel.intervals import COVERAGE, Errors, follow, intervals, no_errors
from onkel.onnx_export import to_onnx
from onkel.recipes import Learner
from onkel.recipes.common import positive
from onkel.relevance import relevance
from onkel.sklearn_labels import LabelTaker
from onkel.sklearn_maps import NUMBERS
from onkel.sklearn_rows import RowTaker, needs_positive_rows
from onkel.snapshot import SnapshotError
from onkel.stored import load_model, save_model
from onkel.turns import in_turn


class _KernelEstimator(RowTaker):
    """What the classifier and the regressor share. Subclasses say how labels become targets."""

    epochs: int

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing != "error"
        tags.input_tags.positive_only = needs_positive_rows(self.learner)
        return tags

    def _weights(self, sample_weight: Any, X: Any) -> Any:
        return None if sample_weight is None else _check_sample_weight(sample_weight, X, ensure_non_negative=True)

    def _pair(self, X: Any, y: Any, **rules: Any) -> tuple[Any, Any]:
        """Checked rows and targets to begin with."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=NUMBERS, ensure_all_finite=self._finite, **rules)
        return self._first(X), y

    @in_turn
    def save(self, path: Any) -> None:
        """Write the model to a file (a zip of arrays and a JSON header, no pickle)."""
        self._check_fitted()
        save_model(path, self.online_, self._content())

    @in_turn
    def to_onnx(self) -> bytes:
        """The model as an ONNX file, for runtimes without Python: docs/deployment.md says what it takes and gives."""
        self._check_fitted()
        return to_onnx(self.online_, self._content())

    @in_turn
    def relevance(self) -> dict[str, float]:
        """The learned width of each feature by its name, for learners that learn widths; 0: it does not matter."""
        self._check_fitted()
        found = relevance(self.online_.model)
        if self.online_.folds:
            found = found[places(np.arange(self.n_features_in_))[0]]
        names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
        return dict(zip(map(str, names), found.tolist(), strict=True))

    @in_turn
    def predict_spread(self, X: Any) -> NDArray[np.float64]:
        """How much the particles of a learner such as `bkm` disagree about the score of each row: (n,) or (n, classes).

        It is their standard deviation: large where rows are unlike all that were learned, or lie between the classes.
        """
        found = self._ordered(self.online_.spread(self._seen(X)))
        return found[:, 0] if found.shape[1] == 1 else found

    def _ordered(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        return scores

    def _content(self) -> dict[str, Any]:
        names = getattr(self, "feature_names_in_", None)
        if names is not None and not all(isinstance(name, str) for name in names):
            raise SnapshotError("Names of columns that are not text cannot be saved.")
        content = {"estimator": type(self).__name__, "feature_names": names, "epochs": self.epochs}
        opened = self._opened()
        return {**content, "open": opened} if opened else content

    def _opened(self) -> dict[str, Any]:
        """What a file needs to know where the model goes beyond scikit-learn's rules; empty where it does not."""
        closed = self.features is None and self.missing == "error"
        return {} if closed else self._row_content()

    @classmethod
    def load(cls, path: Any) -> Self:
        """The model in a file that `save` wrote."""
        online, content = load_model(path)
        if content.get("estimator") != cls.__name__:
            raise SnapshotError(f"{path}: this model is not a {cls.__name__} but a {content.get('estimator')}.")
        setting, names = online.setting, content.get("feature_names")
        model = cls(cast(Learner, online.learner), dtype=setting.dtype.name, random_state=setting.seed)
        model.epochs, model.n_features_in_, model.online_ = content.get("epochs"), setting.n_features, online  # type: ignore[assignment]
        fits = isinstance(model.epochs, int) and (names is None or np.shape(names) == (setting.n_features,))
        try:
            fits = fits and model._restore(content, content.get("open", {}))
        except (KeyError, TypeError, ValueError, AttributeError):
            fits = False
        if not fits:
            raise SnapshotError(f"{path}: its header is damaged.")
        if names is not None:
            model.feature_names_in_ = np.asarray(names, object)
        return model

    def _restore(self, content: dict[str, Any], opened: dict[str, Any]) -> bool:
        """Take over what else was saved; False where it does not fit."""
        names = content.get("feature_names")
        return self._restore_rows(opened, None if names is None else names.tolist())


class KernelClassifier(ClassifierMixin, LabelTaker, _KernelEstimator):
    """A classifier that learns row by row with any of the recipes.

    Parameters
    ----------
    learner : what a recipe returns, for example ``fogd(n_frequencies=100)``; None stands for ``auto()``,
        which needs no tuning.
    classes : None, for classes that are all known at the first call, as scikit-learn has it; or "grow": classes may
        come new in any row. Such a row is answered with a class known before it, the very first one with its own.
    class_weight : None, a dict of weights by label, or "balanced": rows so far / (classes so far * rows of its class so
        far), the row itself counted in; at most one more than the rows of its class, and at most 100.
    features : None, for rows of one width; or "grow": columns may come new, by name or as wider rows. What a row does
        not have is 0; `feature_names_in_` has the names in the order in which they came, not in that of a table.
    missing : what a NaN stands for: "error" refuses it; "zero"; or "mean", that of its column in the rows before.
    dtype : "float32" or "float64", of the model.
    epochs : passes of `fit` over its rows; `partial_fit` makes one.
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

    def __init__(
        self, learner: Learner | None = None, *, classes: str | None = None, class_weight: Any = None,
        features: str | None = None, missing: str = "error", dtype: str = "float32", epochs: int = 1,
        random_state: Any = 0,
    ) -> None:  # fmt: skip
        self.learner = learner
        self.classes = classes
        self.class_weight = class_weight
        self.features = features
        self.missing = missing
        self.dtype = dtype
        self.epochs = epochs
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = not isinstance(self.learner, Learner) or "multiclass" in self.learner.tasks
        return tags

    @in_turn
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything and learn these rows, `epochs` times."""
        X, y = self._pair(X, y)
        check_classification_targets(y)
        self._start(np.array([]) if self._growing else unique_labels(y))
        for _ in range(positive("epochs", self.epochs, integer=True)):
            self._learn(X, y, self._weights(sample_weight, X))
        return self

    @in_turn
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn these rows, one after the other. The first call needs all classes that will come, unless they grow."""
        self._step(X, y, classes, sample_weight)
        return self

    @in_turn
    def progress(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> NDArray[Any]:
        """Learn these rows; returns the label predicted for each row before it was learned."""
        return self._step(X, y, classes, sample_weight)

    def _step(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> NDArray[Any]:
        if not hasattr(self, "online_"):
            if classes is None and not self._growing:
                raise ValueError("classes must be given in the first call: all labels that will ever come.")
            X = self._rows(X, reset=True)
            self._start(np.array([]) if classes is None else unique_labels(classes))
        else:
            X = self._rows(X, learns=True)
            if classes is not None and self._growing:
                self._admit(unique_labels(classes))
            elif classes is not None and not np.array_equal(unique_labels(classes), self.classes_):
                raise ValueError("classes is not the same as in the first call.")
        labels = check_array(y, ensure_2d=False, dtype=None) if not isinstance(y, np.ndarray) else y
        return self._learn(X, labels, self._weights(sample_weight, X))

    def predict_one(self, x: Any) -> Any:
        """The most likely label of one row, a sequence or a dict by name, without scikit-learn's validation."""
        online = self.__dict__.get("online_") or self._fitted()
        with online.turn:
            labels, scores = (self._singly or self._one_by_one()).labels, self._score_one(x)
            return labels[scores.argmax() if len(scores) > 1 else scores.item() > 0.0]

    def predict_proba_one(self, x: Any) -> NDArray[np.float64]:
        """The probabilities (classes,) of one row, without scikit-learn's validation."""
        online = self.__dict__.get("online_") or self._fitted()
        with online.turn:
            return self._chances(self._score_one(x)[None])[0]

    def _score_one(self, x: Any) -> NDArray[np.float64]:
        if self._columns is not None or type(x) is dict:
            x = self._row(x, learns=False)
            if self.missing != "error":
                x = self._filled_row(x, learns=False)
        scores = self.online_.scored_one(x)
        return scores if self._order is None else scores.take(self._order)

    @in_turn
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Scores: (n,) for two classes, positive for the second; (n, classes) for more."""
        X = self._seen(X)
        scores = self._ordered(self.online_.score(X))
        if scores.shape[1] == 2:  # of classes that grow
            return scores[:, 1] - scores[:, 0]
        return scores[:, 0] if scores.shape[1] == 1 else scores

    @in_turn
    def predict(self, X: Any) -> NDArray[Any]:
        """The most likely label of each row."""
        X = self._seen(X)
        return self._labels(self._ordered(self.online_.score(X)))

    @in_turn
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities (n, classes): sigmoid or softmax of the scores, made as sure as the answers are right.

        How sure that is, is learned online from the scores that rows had before they were learned, for every loss
        (`onkel.calibration`); those of `auto` are logarithms of probabilities, of which only the largest is mended.
        """
        X = self._seen(X)
        return self._chances(self._ordered(self.online_.score(X)))

    def _chances(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.ones((len(scores), 1)) if len(self.classes_) == 1 else probabilities(self.calibration_, scores)

    def _content(self) -> dict[str, Any]:
        return {**super()._content(), "classes": self.classes_, "calibration": self.calibration_}

    def _opened(self) -> dict[str, Any]:
        closed = self.classes is None and self.class_weight is None and not super()._opened()
        return {} if closed else {**self._row_content(), **self._label_content()}

    def _restore(self, content: dict[str, Any], opened: dict[str, Any]) -> bool:
        return super()._restore(content, opened) and self._restore_labels(content, opened)


class KernelRegressor(RegressorMixin, _KernelEstimator):
    """A regressor that learns row by row with any of the recipes. Parameters as for `KernelClassifier`.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(size=(500, 1))
    >>> model = KernelRegressor().fit(X, X[:, 0] ** 2)
    >>> bool(abs(model.predict([[0.5]])[0] - 0.25) < 0.05)
    True
    """

    errors_: Errors

    _kind = "regression"

    def __init__(
        self, learner: Learner | None = None, *, features: str | None = None, missing: str = "error",
        dtype: str = "float32", epochs: int = 1, random_state: Any = 0,
    ) -> None:  # fmt: skip
        self.learner = learner
        self.features = features
        self.missing = missing
        self.dtype = dtype
        self.epochs = epochs
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # one pass with the papers' steps, which expect targets in [0, 1]
        return tags

    @in_turn
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything and learn these rows, `epochs` times."""
        X, y = self._pair(X, y, y_numeric=True)
        self._start()
        weights = self._weights(sample_weight, X)
        self._learn(X, y, weights)
        for _ in range(1, positive("epochs", self.epochs, integer=True)):  # errors of rows known before say nothing
            self.online_.learn(self._filled(X, learns=True), y, weights)
        return self

    @in_turn
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn these rows, one after the other."""
        self.progress(X, y, sample_weight)
        return self

    @in_turn
    def progress(self, X: Any, y: Any, sample_weight: Any = None) -> NDArray[np.float64]:
        """Learn these rows; returns the prediction for each row before it was learned."""
        first = not hasattr(self, "online_")
        X = self._rows(X, reset=first, learns=True)
        if first:
            self._start()
        return self._learn(X, y, self._weights(sample_weight, X))[:, 0]

    def _start(self) -> None:
        self._begin("regression", 1)
        self.errors_ = no_errors()

    def _learn(self, X: Any, y: Any, weights: Any) -> NDArray[np.float64]:
        targets = np.ascontiguousarray(y, np.float64)
        scores = self.online_.learn(self._filled(X, learns=True), targets, weights)
        follow(self.errors_, targets, scores, COVERAGE, np.empty((len(targets), 2)))
        return scores

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
            if self._columns is not None or type(x) is dict:
                x = self._filled_row(self._row(x, learns=True), learns=True)
            online = self.online_
            if not online.witnesses:
                online.watch(follow, self.errors_, online.frame.target, online.frame.scores, COVERAGE, np.zeros((1, 2)))
            return online.learned_one(x, float(y))

    def predict_one(self, x: Any) -> float:
        """The prediction for one row, a sequence or a dict by name, without scikit-learn's validation."""
        online = self.__dict__.get("online_") or self._fitted()
        with online.turn:
            if self._columns is not None or type(x) is dict:
                x = self._filled_row(self._row(x, learns=False), learns=False)
            found: float = self.online_.scored_one(x).item()  # `online` may be narrower: this had to wait
            return found

    @in_turn
    def predict(self, X: Any) -> NDArray[np.float64]:
        """The prediction for each row."""
        X = self._seen(X)
        return self.online_.score(X)[:, 0]

    @in_turn
    def predict_interval(self, X: Any, coverage: float = COVERAGE) -> NDArray[np.float64]:
        """Lower and upper ends (n, 2) of intervals that hold so large a share of the rows to come.

        They are as wide as the errors of the last 1,000 rows, each from before it was learned, say (`onkel.intervals`),
        and infinite before there are enough.
        """
        return intervals(self.errors_, self.predict(X), coverage)

    def _content(self) -> dict[str, Any]:
        return {**super()._content(), "errors": self.errors_}

    def _restore(self, content: dict[str, Any], opened: dict[str, Any]) -> bool:
        self.errors_ = cast(Errors, content.get("errors"))
        return super()._restore(content, opened) and difference(self.errors_, no_errors(), ruled=False) == ""
