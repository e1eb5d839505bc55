"""The scikit-learn face: classifier and regressor, by its conventions."""

from collections.abc import Callable
from typing import Any, NamedTuple, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    RegressorMixin,
)
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import (
    _check_sample_weight,
    check_array,
    check_is_fitted,
    validate_data,
)

from onkel.calibration import Calibration, calibrate, calibration, one_by_one, probabilities
from onkel.checks import difference
from onkel.folding import places
from onkel.kernels import needs_positive
from onkel.online import Online
from onkel.onnx_export import to_onnx
from onkel.recipes import Learner, auto
from onkel.recipes.common import positive
from onkel.relevance import relevance
from onkel.sklearn_maps import NUMBERS, seed_of
from onkel.snapshot import SnapshotError
from onkel.stored import load_model, save_model
from onkel.targets import decide, encode, outputs, task_of


class Singly(NamedTuple):
    """What a classifier needs for rows one by one: targets by label, labels by class, and what learns probabilities."""

    targets: dict[Any, float]
    labels: list[Any]
    calibrate: Callable[[float, Any], None]


class _KernelEstimator(BaseEstimator):
    """What the classifier and the regressor share. Subclasses say how labels become targets."""

    online_: Online
    n_features_in_: int

    def __init__(
        self, learner: Learner | None = None, *, dtype: str = "float32", epochs: int = 1, random_state: Any = 0
    ) -> None:
        self.learner = learner
        self.dtype = dtype
        self.epochs = epochs
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = _needs_positive(self.learner)
        return tags

    def _begin(self, task: str, n_outputs: int) -> None:
        learner = auto() if self.learner is None else self.learner
        if not isinstance(learner, Learner):
            raise TypeError(f"learner must be made by a recipe, such as onkel.auto(), not {type(learner).__name__}.")
        seed = seed_of(self.random_state)
        self.online_ = learner.start(self.n_features_in_, task, n_outputs, self.dtype, seed)

    def _rows(self, X: Any, reset: bool = False) -> Any:
        if not reset and _is_plain(self, X):
            return X
        return validate_data(self, X, reset=reset, accept_sparse="csr", dtype=NUMBERS)

    def _weights(self, sample_weight: Any, X: Any) -> Any:
        return None if sample_weight is None else _check_sample_weight(sample_weight, X, ensure_non_negative=True)

    def _check_fitted(self) -> None:
        check_is_fitted(self, "online_")

    def save(self, path: Any) -> None:
        """Write the model to a file (a zip of arrays and a JSON header, no pickle)."""
        self._check_fitted()
        save_model(path, self.online_, self._content())

    def to_onnx(self) -> bytes:
        """The model as an ONNX file, for runtimes without Python: docs/deployment.md says what it takes and gives."""
        self._check_fitted()
        return to_onnx(self.online_, self._content())

    def relevance(self) -> dict[str, float]:
        """The learned width of each feature by its name, for learners that learn widths; 0: it does not matter."""
        self._check_fitted()
        found = relevance(self.online_.model)
        if self.online_.folds:
            found = found[places(np.arange(self.n_features_in_))[0]]
        names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
        return dict(zip(map(str, names), found.tolist(), strict=True))

    def predict_spread(self, X: Any) -> NDArray[np.float64]:
        """How much the particles of a learner such as `bkm` disagree about the score of each row: (n,) or (n, classes).

        It is their standard deviation: large where rows are unlike all that were learned, or lie between the classes.
        """
        self._check_fitted()
        found = self.online_.spread(self._rows(X))
        return found[:, 0] if found.shape[1] == 1 else found

    def _content(self) -> dict[str, Any]:
        names = getattr(self, "feature_names_in_", None)
        return {"estimator": type(self).__name__, "feature_names": names, "epochs": self.epochs}

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
        if not (fits and model._restore(content)):
            raise SnapshotError(f"{path}: its header is damaged.")
        if names is not None:
            model.feature_names_in_ = np.asarray(names, object)
        return model

    def _restore(self, content: dict[str, Any]) -> bool:
        """Take over what else was saved; False where it does not fit."""
        return True


class KernelClassifier(ClassifierMixin, _KernelEstimator):
    """A classifier that learns row by row with any of the recipes.

    Parameters
    ----------
    learner : what a recipe returns, for example ``fogd(n_frequencies=100)``; None stands for ``auto()``,
        which needs no tuning.
    dtype : "float32" or "float64", of the model.
    epochs : passes of `fit` over its rows; `partial_fit` makes one.
    random_state : seed of everything random; the same seed gives the same model.

    >>> import numpy as np
    >>> X, y = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]] * 50), np.array([0, 0, 1, 1] * 50)
    >>> model = KernelClassifier().fit(X, y)
    >>> model.predict([[0.1, 0.0], [0.9, 0.1]]).tolist()
    [0, 1]
    """

    classes_: NDArray[Any]
    calibration_: Calibration

    _singly: Singly | None = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = not isinstance(self.learner, Learner) or "multiclass" in self.learner.tasks
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything and learn these rows, `epochs` times."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=NUMBERS)
        check_classification_targets(y)
        self._open(unique_labels(y))
        for _ in range(positive("epochs", self.epochs, integer=True)):
            self._learn(X, y, self._weights(sample_weight, X))
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn these rows, one after the other. The first call needs all classes that will ever come."""
        self._step(X, y, classes, sample_weight)
        return self

    def progress(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> NDArray[Any]:
        """Learn these rows; returns the label predicted for each row before it was learned."""
        return self._labels(self._step(X, y, classes, sample_weight))

    def _step(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> NDArray[np.float64]:
        if not hasattr(self, "online_"):
            if classes is None:
                raise ValueError("classes must be given in the first call: all labels that will ever come.")
            X = self._rows(X, reset=True)
            self._open(unique_labels(classes))
        else:
            X = self._rows(X)
            if classes is not None and not np.array_equal(unique_labels(classes), self.classes_):
                raise ValueError("classes is not the same as in the first call.")
        labels = check_array(y, ensure_2d=False, dtype=None) if not isinstance(y, np.ndarray) else y
        return self._learn(X, labels, self._weights(sample_weight, X))

    def _open(self, classes: NDArray[Any]) -> None:
        self._begin(task_of(classes), outputs(classes))
        self.classes_, self.calibration_, self._singly = classes, calibration(self.online_.probable), None

    def _learn(self, X: Any, y: Any, weights: Any) -> NDArray[np.float64]:
        targets = encode(np.asarray(y), self.classes_)
        scores = self.online_.learn(X, targets, weights)
        self._calibrate(targets, np.ones(len(targets)) if weights is None else weights, scores)
        return scores

    def _calibrate(self, targets: Any, weights: Any, scores: Any) -> None:
        calibrate(self.calibration_, targets, weights, scores, np.empty(len(targets)))

    def learn_one(self, x: Any, y: Any) -> NDArray[np.float64]:
        """Learn one row without scikit-learn's validation; returns its scores (K,) from before it was learned."""
        singly = self._singly or self._one_by_one()
        try:
            target = singly.targets[y]
        except (KeyError, TypeError):
            target = float(encode(np.asarray([y]), self.classes_)[0])  # which says what is wrong
        scores = self.online_.learn_one(x, target)
        singly.calibrate(target, scores)
        return scores

    def predict_one(self, x: Any) -> Any:
        """The most likely label of one row, without scikit-learn's validation."""
        labels, scores = (self._singly or self._one_by_one()).labels, self.online_.score_one(x)
        return labels[scores.argmax() if len(scores) > 1 else int(scores[0] > 0.0)]

    def _one_by_one(self) -> Singly:
        self._check_fitted()
        labels = self.classes_.tolist() * (2 if len(self.classes_) == 1 else 1)
        targets = dict(zip(self.classes_.tolist(), encode(self.classes_, self.classes_).tolist(), strict=True))
        self._singly = Singly(targets, labels, one_by_one(self.calibration_, outputs(self.classes_)))
        return self._singly

    def __getstate__(self) -> Any:
        return {**super().__getstate__(), "_singly": None}  # bound machine code stays in its process

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Scores: (n,) for two classes, positive for the second; (n, classes) for more."""
        self._check_fitted()
        scores = self.online_.score(self._rows(X))
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """The most likely label of each row."""
        self._check_fitted()
        return self._labels(self.online_.score(self._rows(X)))

    def _labels(self, scores: NDArray[np.float64]) -> NDArray[Any]:
        """Labels by scikit-learn's rule for ties; a single class is always the answer."""
        return self.classes_[np.minimum(decide(scores, tie=0), len(self.classes_) - 1)]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities (n, classes): sigmoid or softmax of the scores times a slope.

        The slope is learned online from the scores that rows had before they were learned, for every loss; it is 1
        where scores are logarithms of probabilities as they come, as those of `auto` are.
        """
        self._check_fitted()
        scores = self.online_.score(self._rows(X))
        if len(self.classes_) == 1:
            return np.ones((len(scores), 1))
        return probabilities(self.calibration_, scores)

    def _content(self) -> dict[str, Any]:
        return {**super()._content(), "classes": self.classes_, "calibration": self.calibration_}

    def _restore(self, content: dict[str, Any]) -> bool:
        classes, state = content.get("classes"), content.get("calibration")
        self.classes_, self.calibration_, self._singly = np.asarray(classes), cast(Calibration, state), None
        setting = self.online_.setting
        fits = self.classes_.ndim == 1 and len(self.classes_) > 0 and outputs(self.classes_) == setting.n_outputs
        return fits and difference(state, calibration(), ruled=False) == "" and isinstance(classes, np.ndarray)


class KernelRegressor(RegressorMixin, _KernelEstimator):
    """A regressor that learns row by row with any of the recipes. Parameters as for `KernelClassifier`.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(size=(500, 1))
    >>> model = KernelRegressor().fit(X, X[:, 0] ** 2)
    >>> bool(abs(model.predict([[0.5]])[0] - 0.25) < 0.05)
    True
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # one pass with the papers' steps, which expect targets in [0, 1]
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything and learn these rows, `epochs` times."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=NUMBERS, y_numeric=True)
        self._begin("regression", 1)
        for _ in range(positive("epochs", self.epochs, integer=True)):
            self.online_.learn(X, y, self._weights(sample_weight, X))
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn these rows, one after the other."""
        self.progress(X, y, sample_weight)
        return self

    def progress(self, X: Any, y: Any, sample_weight: Any = None) -> NDArray[np.float64]:
        """Learn these rows; returns the prediction for each row before it was learned."""
        first = not hasattr(self, "online_")
        X = self._rows(X, reset=first)
        if first:
            self._begin("regression", 1)
        return self.online_.learn(X, np.asarray(y, np.float64), self._weights(sample_weight, X))[:, 0]

    def learn_one(self, x: Any, y: Any) -> NDArray[np.float64]:
        """Learn one row without scikit-learn's validation; returns its scores (K,) from before it was learned."""
        if not hasattr(self, "online_"):
            self._check_fitted()
        return self.online_.learn_one(x, float(y))

    def predict_one(self, x: Any) -> float:
        """The prediction for one row, without scikit-learn's validation."""
        if not hasattr(self, "online_"):
            self._check_fitted()
        return float(self.online_.score_one(x)[0])

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The prediction for each row."""
        self._check_fitted()
        return self.online_.score(self._rows(X))[:, 0]


def _needs_positive(learner: Learner | None) -> bool:
    params = learner.get_params() if isinstance(learner, Learner) else {}
    kernel = params.get("kernel", params.get("learner__kernel"))
    return kernel == "additive_chi2" or needs_positive(kernel)


def _is_plain(estimator: Any, X: Any) -> bool:
    """Whether rows are so plain that validation would find nothing; it costs more than learning a row."""
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.dtype in NUMBERS
        and X.shape[0] > 0
        and X.shape[1] == getattr(estimator, "n_features_in_", -1)
        and not hasattr(estimator, "feature_names_in_")
    )  # `Online` itself refuses numbers that are not finite
