"""The river face: a classifier and a regressor of dicts, with any of the recipes.

They are the estimators of the scikit-learn face with columns that grow, and classes that grow where a recipe knows
several. So a feature is found by its name; one that a row does not have is 0, or missing.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from river import base
from river.utils.pandas import import_pandas

from onkel.integrations.sklearn import estimators
from onkel.integrations.sklearn.rows import needs_positive_rows
from onkel.recipes import Learner, auto

if TYPE_CHECKING:
    import pandas as pd  # what learns dicts alone does without it


class _River(base.Estimator):
    """What the two share: an estimator that begins with the first row."""

    learner: Learner | None
    _model: Any

    @property
    def _planned(self) -> Learner:
        return estimators.KernelRegressor(self.learner)._planned()

    def _more_tags(self) -> set[str]:
        return {base.tags.POSITIVE_INPUT} if needs_positive_rows(self._planned) else set()

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"learner": auto(n_frequencies=6)}

    @property
    def _begun(self) -> bool:
        return hasattr(self._model, "online_")

    def _learn_table(self, X: "pd.DataFrame", y: Any) -> None:
        """All rows at once, which is much faster; one by one where names are not text, as scikit-learn wants them."""
        if all(isinstance(name, str) for name in X.columns):
            self._model.partial_fit(X, np.asarray(y))
        else:
            for x, target in zip(records(X), np.asarray(y).tolist(), strict=True):
                self._model.learn_one(x, target)


class KernelClassifier(_River, base.MiniBatchClassifier):
    """A classifier that learns dicts one by one, or tables, with any of the recipes.

    Features and classes may come in any row. A recipe that knows two classes only takes False and True, or 0 and 1;
    ``one_vs_rest`` makes several of it.

    Parameters
    ----------
    learner
        What a recipe returns; None stands for `auto()`, which needs no tuning.
    missing
        What a NaN stands for: "error" refuses it, "zero", or "mean" of the rows before, which then also stands for
        features that a row does not have; otherwise these are 0.
    class_weight
        None, "balanced" or a dict of weights by label.
    dtype
        "float32" or "float64", of the model.
    seed
        Of everything random.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from onkel.integrations.river import KernelClassifier
    >>> model = KernelClassifier()
    >>> accuracy = evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    >>> accuracy.get() > 0.88
    True
    """

    def __init__(
        self,
        learner: Learner | None = None,
        missing: str = "error",
        class_weight: Any = None,
        dtype: str = "float32",
        seed: int = 0,
    ) -> None:
        self.learner = learner
        self.missing = missing
        self.class_weight = class_weight
        self.dtype = dtype
        self.seed = seed
        self._model = estimators.KernelClassifier(
            learner, classes="grow" if self._multiclass else None, class_weight=class_weight, features="grow",
            missing=missing, dtype=dtype, random_state=seed,
        )  # fmt: skip

    @property
    def _multiclass(self) -> bool:
        return "multiclass" in self._planned.tasks

    def learn_one(self, x: Any, y: Any) -> None:
        """Learn one row."""
        if not (self._begun or self._multiclass):
            self._begin(x)
        self._model.learn_one(x, y)

    def _begin(self, x: Any) -> None:
        """Begin with the features of a row and with two classes."""
        self._model._begin_with(x)
        self._model._start(np.array([False, True]))

    def predict_one(self, x: Any, **kwargs: Any) -> Any:
        """The most likely label; before the first row None, or False where the recipe knows two classes only."""
        if not self._begun:
            return None if self._multiclass else False
        return self._model.predict_one(x)

    def predict_proba_one(self, x: Any, **kwargs: Any) -> dict[Any, float]:
        """The probability of each label known so far."""
        if not self._begun:
            return {} if self._multiclass else {False: 0.5, True: 0.5}
        return dict(zip(self._model.classes_.tolist(), self._model.predict_proba_one(x).tolist(), strict=True))

    def learn_many(self, X: "pd.DataFrame", y: "pd.Series") -> None:
        """Learn the rows of a table, one after the other."""
        if not (self._begun or self._multiclass):
            self._begin(dict.fromkeys(X.columns))
        self._learn_table(X, y)

    def predict_many(self, X: "pd.DataFrame") -> "pd.Series":
        """The most likely label of each row."""
        return import_pandas().Series([self.predict_one(x) for x in records(X)], index=X.index)

    def predict_proba_many(self, X: "pd.DataFrame") -> "pd.DataFrame":
        """The probabilities of the labels known so far, row by row."""
        return import_pandas().DataFrame([self.predict_proba_one(x) for x in records(X)], index=X.index)


class KernelRegressor(_River, base.MiniBatchRegressor):
    """A regressor that learns dicts one by one, or tables, with any of the recipes. Features may come in any row.

    Parameters
    ----------
    learner
        What a recipe returns; None stands for `auto()`, which needs no tuning.
    missing
        What a NaN stands for, as in `KernelClassifier`.
    dtype
        "float32" or "float64", of the model.
    seed
        Of everything random.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from onkel.integrations.river import KernelRegressor
    >>> model = KernelRegressor()
    >>> error = evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    >>> error.get() < 1.0
    True
    """

    def __init__(
        self, learner: Learner | None = None, missing: str = "error", dtype: str = "float32", seed: int = 0
    ) -> None:
        self.learner = learner
        self.missing = missing
        self.dtype = dtype
        self.seed = seed
        self._model = estimators.KernelRegressor(
            learner, features="grow", missing=missing, dtype=dtype, random_state=seed
        )

    def learn_one(self, x: Any, y: Any) -> None:
        """Learn one row."""
        self._model.learn_one(x, y)

    def predict_one(self, x: Any, **kwargs: Any) -> float:
        """The prediction; 0 before the first row."""
        return self._model.predict_one(x) if self._begun else 0.0

    def learn_many(self, X: "pd.DataFrame", y: "pd.Series") -> None:
        """Learn the rows of a table, one after the other."""
        self._learn_table(X, y)

    def predict_many(self, X: "pd.DataFrame") -> "pd.Series":
        """The prediction for each row."""
        return import_pandas().Series([self.predict_one(x) for x in records(X)], index=X.index)


def records(X: "pd.DataFrame") -> Iterator[dict[Any, Any]]:
    """The rows of a table as dicts."""
    names = list(X.columns)
    return (dict(zip(names, numbers, strict=True)) for numbers in X.to_numpy().tolist())
