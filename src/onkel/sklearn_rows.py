"""How estimators take rows in: by scikit-learn's rules, or with columns that come new and numbers that are missing."""

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _get_feature_names, check_array, check_is_fitted, validate_data

from onkel.growing import grown
from onkel.kernels import needs_positive
from onkel.naming import Columns
from onkel.online import Online
from onkel.recipes import Learner, auto
from onkel.recipes.common import one_of
from onkel.sklearn_maps import NUMBERS, seed_of
from onkel.snapshot import writable


class RowTaker(BaseEstimator):
    """An estimator with a learner at work, and the columns of its rows where they need more than scikit-learn's rules.

    `_columns` is None where rows are arrays of one width without names and without gaps; `_kind` is a task.
    """

    learner: Any
    dtype: str
    random_state: Any
    features: Any
    missing: str
    online_: Online
    n_features_in_: int
    feature_names_in_: Any
    _columns: Columns | None = None
    _kind: str

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(writable(state))

    def _begin(self, task: str, n_outputs: int) -> None:
        learner = self._planned()
        missing = "mean" if self.missing == "mean" and learner.plan(task).standardise else "error"
        seed = seed_of(self.random_state)
        before = self.__dict__.get("online_")
        self.online_ = learner.start(self.n_features_in_, task, n_outputs, self.dtype, seed, missing)
        self.online_.turn = self.online_.turn if before is None else before.turn

    def _planned(self) -> Learner:
        learner = auto() if self.learner is None else self.learner
        if not isinstance(learner, Learner):
            raise TypeError(f"learner must be made by a recipe, such as onkel.auto(), not {type(learner).__name__}.")
        return learner

    def _check_fitted(self) -> None:
        if "online_" not in self.__dict__:  # all of what scikit-learn would ask is a sixth of predicting a row
            check_is_fitted(self, "online_")

    def _fitted(self) -> Online:
        """The learner at work; refuses where there is none yet."""
        self._check_fitted()
        return self.online_

    @property
    def _open(self) -> bool:
        """Whether new columns may come."""
        return self.features is not None and one_of("features", self.features, ("grow",)) == "grow"

    def _rows(self, X: Any, reset: bool = False, learns: bool = False) -> Any:
        """Checked rows in the columns of the model; with `reset`, they are the first."""
        if not reset and self._columns is None and _is_plain(self, X):
            return X
        if reset or not self._open:
            X = validate_data(self, X, reset=reset, accept_sparse="csr", dtype=NUMBERS, ensure_all_finite=self._finite)
            return self._first(X) if reset else X
        names = _get_feature_names(X)
        X = check_array(
            X, accept_sparse="csr", dtype=NUMBERS, ensure_all_finite=self._finite, estimator=self, input_name="X"
        )
        assert self._columns is not None
        if learns:
            self._widen(names, X.shape[1])
        return self._columns.laid_out(X, names)

    def _first(self, X: Any) -> Any:
        """Begin with the columns of these rows, which scikit-learn has looked at; returns the rows in their order."""
        names = getattr(self, "feature_names_in_", None)
        if not self._open:
            self._name(names, X.shape[1])
            return X
        self.__dict__.pop("online_", None)  # what was learned before is not to grow with them
        self._name(None if names is None else (), X.shape[1])
        self._widen(names, X.shape[1])
        return cast(Columns, self._columns).laid_out(X, names)

    @property
    def _finite(self) -> Any:
        return True if self.missing == "error" else "allow-nan"

    def _name(self, names: Any, width: int) -> None:
        """Begin with these columns."""
        own_means = self.missing == "mean" and not self._planned().plan(self._kind).standardise
        columns = Columns(self._open, self.missing, names, width, own_means)
        self._columns = None if names is None and not self._open and self.missing == "error" else columns

    def _widen(self, names: Any, width: int) -> None:
        """Take in columns that come new."""
        columns = self._columns
        assert columns is not None
        if (names is None) != (columns.places is None):
            return  # `laid_out` says what is wrong
        begun = hasattr(self, "online_")
        if not columns.take_in(names, width) and begun:
            return
        self.n_features_in_ = columns.width
        if columns.places is not None:
            self.feature_names_in_ = _objects(columns.places)
        if begun and self.online_.setting.n_features < columns.width:
            self.online_ = grown(self.online_, columns.width, self.online_.setting.n_outputs)

    def _row(self, x: Any, learns: bool) -> Any:
        """The numbers of one row, which may be a dict, in the order of the columns."""
        columns = self._columns
        if columns is None:
            if isinstance(x, Mapping):
                raise ValueError("A row as a dict needs names of columns: learn rows with names first.")
            return x
        if type(x) is dict and (found := columns.picked(x)) is not None:
            return found
        if learns and columns.grows:
            self._widen(x if isinstance(x, Mapping) else None, len(x))
        return columns.row(x)

    def _begin_with(self, x: Any) -> None:
        """Begin with the columns of one row."""
        named = isinstance(x, Mapping)
        self._name(() if named else None, 0 if named else len(x))
        self._widen(x if named else None, len(x))

    def _filled(self, X: Any, learns: bool) -> Any:
        return X if self._columns is None else self._columns.filled(X, learns)

    def _filled_row(self, x: Any, learns: bool) -> Any:
        return x if self._columns is None or self.missing == "error" else self._columns.filled_row(x, learns)

    def _seen(self, X: Any) -> Any:
        """Rows to be answered, nothing of which is remembered."""
        self._check_fitted()
        return self._filled(self._rows(X), learns=False)

    def _row_content(self) -> dict[str, Any]:
        """What a file needs to know of the columns."""
        means = None if self._columns is None else self._columns.means
        kept = None if means is None else (means.sums, means.counts)
        return {"features": self.features, "missing": self.missing, "means": kept}

    def _restore_rows(self, content: dict[str, Any], names: Any) -> bool:
        """Take over what a file says of the columns; False where it does not fit."""
        self.features, self.missing = content.get("features"), content.get("missing", "error")
        kept = content.get("means")
        self._name(names, self.n_features_in_)
        means = None if self._columns is None else self._columns.means
        if means is None or kept is None:
            return means is None and kept is None
        fits = all(part.dtype == np.float64 and part.shape == means.sums.shape for part in kept)
        means.sums, means.counts = kept
        return fits


def _objects(names: Any) -> Any:
    found = np.empty(len(names), object)
    found[:] = list(names)
    return found


def _is_plain(estimator: Any, X: Any) -> bool:
    """Whether rows are so plain that validation would find nothing; it costs more than learning a row."""
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.dtype in NUMBERS
        and X.shape[0] > 0
        and X.shape[1] == getattr(estimator, "n_features_in_", -1)
    )  # `Online` itself refuses numbers that are not finite


def needs_positive_rows(learner: Any) -> bool:
    """Whether a learner takes no numbers below 0."""
    params = learner.get_params() if isinstance(learner, Learner) else {}
    kernel = params.get("kernel", params.get("learner__kernel"))
    return kernel == "additive_chi2" or needs_positive(kernel)
