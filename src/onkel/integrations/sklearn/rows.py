"""How estimators take rows in: by scikit-learn's rules and by name, with new columns and missing numbers if wanted."""

import copy
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _get_feature_names, check_array, check_is_fitted, validate_data

from onkel.core.interrupts import uninterrupted
from onkel.core.locks import first_turn
from onkel.core.parameters import one_of, positive
from onkel.core.trees import writable
from onkel.core.undo import Undo
from onkel.integrations.sklearn.transformers import NUMBERS, seed_of
from onkel.model.columns import Columns
from onkel.model.growth import grow
from onkel.model.online import Online
from onkel.pieces.kernels import needs_positive
from onkel.recipes import RECIPES, Learner, auto, make_learner

BLOCK = 4096  # rows that `fit` copies at a time
FEW, PASSES = 500, 3  # rows up to which `fit` makes so many passes unless told otherwise; with more it makes one


class RowTaker(BaseEstimator):
    """An estimator with a learner at work and its columns; `_kind` is a task."""

    learner: Any
    dtype: str
    random_state: Any
    features: Any
    missing: str
    shuffle: bool
    epochs: Any
    online_: Online
    n_features_in_: int
    feature_names_in_: Any
    _columns: Columns = Columns()  # of no estimator: each makes its own when it begins
    _kind: str

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        if "online_" not in self.__dict__:
            return state
        with self.online_.turn:  # model, answers and columns of the same moment, whatever other threads learn
            parts: dict[str, Any] = {name: state[name] for name in ("online_", "answers_", "_columns") if name in state}
            return {**state, **copy.deepcopy(parts)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(writable(state))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name; those of the learner as ``learner__name``, also where it is the default or a name."""
        params: dict[str, Any] = super().get_params(deep)
        if deep and (self.learner is None or (isinstance(self.learner, str) and self.learner in RECIPES)):
            params |= {f"learner__{key}": value for key, value in self._planned().get_params().items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Change parameters; with one of the learner, the default or a name becomes a learner of its own."""
        learner = params.get("learner", self.learner)
        if any(key.startswith("learner__") for key in params) and (learner is None or isinstance(learner, str)):
            params = {**params, "learner": planned(learner)}
        super().set_params(**params)
        return self

    def _begun(self, task: str, n_outputs: int) -> Online:
        """A learner at work that knows nothing yet, under the lock of the one before."""
        learner = self._planned()
        missing = "mean" if self.missing == "mean" and learner.plan(task).standardise else "error"
        seed = seed_of(self.random_state)
        before = self.__dict__.get("online_")
        online = learner.start(self.n_features_in_, task, n_outputs, self.dtype, seed, missing)
        online.turn = first_turn(self) if before is None else before.turn
        return online

    def _planned(self) -> Learner:
        return planned(self.learner)

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

    def _passes(self, n: int) -> Iterator[Iterator[Any]]:
        """The passes of `fit` over n rows, each as the positions of its rows in blocks."""
        if isinstance(self.epochs, str):
            one_of("epochs", self.epochs, ("auto",))
            passes = PASSES if n <= FEW else 1
        else:
            passes = int(positive("epochs", self.epochs, integer=True))
        random = np.random.default_rng([self.online_.setting.seed, 1])
        for _ in range(passes):
            order = random.permutation(n) if self.shuffle else None
            starts = range(0, n, BLOCK)
            yield (slice(a, a + BLOCK) if order is None else order[a : a + BLOCK] for a in starts)

    def _rows(self, X: Any, reset: bool = False, learns: bool = False) -> Any:
        """Checked rows in the columns of the model; with `reset`, they are the first."""
        if reset:
            X = validate_data(self, X, reset=True, accept_sparse="csr", dtype=NUMBERS, ensure_all_finite=self._finite)
            return self._first(X)
        if self._columns.plain and _is_plain(self, X):
            return X
        names = _get_feature_names(X)
        if not self._open and (names is None or self._columns.places is None):
            return validate_data(
                self, X, reset=False, accept_sparse="csr", dtype=NUMBERS, ensure_all_finite=self._finite
            )
        X = check_array(
            X, accept_sparse="csr", dtype=NUMBERS, ensure_all_finite=self._finite, estimator=self, input_name="X"
        )
        if learns and self._open:
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
        return self._columns.laid_out(X, names)

    @property
    def _finite(self) -> Any:
        return True if self.missing == "error" else "allow-nan"

    def _name(self, names: Any, width: int) -> None:
        """Begin with these columns."""
        own_means = self.missing == "mean" and not self._planned().plan(self._kind).standardise
        self._columns = Columns(self._open, self.missing, names, width, own_means)

    def _widen(self, names: Any, width: int) -> None:
        """Take in columns that come new."""
        columns = self._columns
        if (names is None) != (columns.places is None):
            return  # `laid_out` says what is wrong
        begun, before = hasattr(self, "online_"), columns.state()
        with uninterrupted():
            try:
                if not columns.take_in(names, width) and begun:
                    return
                own = {} if columns.places is None else {"feature_names_in_": named(columns.places)}
                if begun and self.online_.setting.n_features < columns.width:
                    grow(self.online_, columns.width, self.online_.setting.n_outputs)
            except BaseException:
                columns.restore(before)
                raise
            self.__dict__.update(own, n_features_in_=columns.width)

    def _row(self, x: Any, learns: bool) -> Any:
        """The numbers of one row, which may be a dict, in the order of the columns."""
        columns = self._columns
        if type(x) is dict and (found := columns.picked(x)) is not None:
            return found
        if isinstance(x, Mapping) and columns.places is None:
            raise ValueError("A row as a dict needs names of columns: learn rows with names first.")
        if learns and columns.grows:
            self._widen(x if isinstance(x, Mapping) else None, len(x))
        return columns.row(x)

    def _filled_row(self, x: Any) -> Any:
        """The same with something in place of what is missing."""
        return x if self.missing == "error" else self._columns.filled_row(x)

    def _learn_row(self, x: Any, learn: Callable[[Any], Any]) -> Any:
        """What `learn` makes of the numbers of one row, which are counted in once it is learned."""
        row, columns = self._row(x, learns=True), self._columns
        if columns.means is None:
            return learn(self._filled_row(row))
        with uninterrupted():
            found = learn(self._filled_row(row))
            Undo().surely((), lambda: columns.count_row(row))
        return found

    def _begin_with(self, x: Any) -> None:
        """Begin with the columns of one row."""
        named = isinstance(x, Mapping)
        self._name(() if named else None, 0 if named else len(x))
        self._widen(x if named else None, len(x))

    def _seen(self, X: Any) -> Any:
        """Rows to be answered, nothing of which is remembered."""
        self._check_fitted()
        return self._columns.filled(self._rows(X), learns=False)


def planned(learner: Any) -> Learner:
    """A learner from what an estimator was given: what a recipe returns, the name of a recipe, or None for `auto`."""
    if isinstance(learner, str):
        return make_learner(learner)
    learner = auto() if learner is None else learner
    if not isinstance(learner, Learner):
        raise TypeError(f"learner must be made by a recipe, such as onkel.auto(), not {type(learner).__name__}.")
    return learner


def named(names: Any) -> Any:
    """Names as scikit-learn keeps them."""
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
