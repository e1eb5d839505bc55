"""What the classifier and the regressor of the scikit-learn face share."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _check_sample_weight, validate_data

from onkel.core.locks import in_turn
from onkel.files.model_file import load_model, save_model
from onkel.files.snapshot import SnapshotError
from onkel.integrations.onnx import to_onnx
from onkel.integrations.sklearn.rows import BLOCK, RowTaker, named, needs_positive_rows
from onkel.integrations.sklearn.transformers import NUMBERS
from onkel.model.relevance import relevance
from onkel.pieces.hashing import places


class KernelEstimator(RowTaker):
    """An estimator with answers, which subclasses make."""

    answers_: Any

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

    def _fit(self, X: Any, y: Any, weights: Any) -> None:
        """Learn rows in as many passes as are wanted; how sure answers are is learned in the first, from new rows."""
        for number, blocks in enumerate(self._passes(X.shape[0])):
            learn = self._learn_first if number == 0 else self._learn_again
            for part in blocks:
                learn(X[part], y[part], None if weights is None else weights[part])

    def _learn_first(self, X: Any, y: Any, weights: Any) -> NDArray[Any]:
        """Learn new rows; returns what was answered to each before."""
        if self._columns.means is None or X.shape[0] <= BLOCK:
            return np.concatenate(self._learn_part(X, y, weights))
        parts = [slice(first, first + BLOCK) for first in range(0, X.shape[0], BLOCK)]  # whose gaps are filled at once
        found = [self._learn_part(X[part], y[part], None if weights is None else weights[part]) for part in parts]
        return np.concatenate([answered for several in found for answered in several])

    def _learn_part(self, X: Any, y: Any, weights: Any) -> list[NDArray[Any]]:
        """Learn new rows; returns what was answered to each before, in parts."""
        online, answers = self.online_, self.answers_
        with self._columns.followed(X, lambda: online.rows_learned) as rows:
            found = []
            for part in answers.parts(online, y):
                own = None if weights is None else weights[part]
                found.append(answers.labels(answers.learn(online, rows[part], y[part], own)))
        return found

    def _learn_again(self, X: Any, y: Any, weights: Any) -> None:
        """Learn rows that were learned before."""
        self.answers_.learn_again(self.online_, self._columns.filled(X, learns=False), y, weights)

    @in_turn
    def save(self, path: Any) -> None:
        """Write the model to a file (a zip of arrays and a JSON header, no pickle)."""
        self._check_fitted()
        how = {"epochs": self.epochs, "shuffle": self.shuffle}
        try:
            save_model(path, self.online_, self.answers_, self._columns, {"fit": how})
        except ValueError as error:
            raise SnapshotError(str(error)) from None

    @in_turn
    def to_onnx(self) -> bytes:
        """The model as an ONNX file, for runtimes without Python: docs/deployment.md says what it takes and gives."""
        self._check_fitted()
        return to_onnx(self.online_, self.answers_, self._columns)

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
        found = self.answers_.spreads(self.online_.spread(self._seen(X)))
        return found[:, 0] if found.shape[1] == 1 else found

    @classmethod
    def load(cls, path: Any) -> Self:
        """The model in a file that `save`, or the command line, wrote."""
        online, answers, columns, extra = load_model(path)
        setting, how = online.setting, extra.get("fit", {})
        kind = "KernelRegressor" if online.task == "regression" else "KernelClassifier"
        if kind != cls.__name__:
            raise SnapshotError(f"{path}: this model is not a {cls.__name__} but a {kind}.")
        own = {"classes": "grow" if answers.grows else None, "class_weight": getattr(answers, "class_weight", None)}
        model = cls(online.learner, dtype=setting.dtype.name, random_state=setting.seed, missing=columns.missing)
        given = {
            "features": "grow" if columns.grows else None,
            **how,
            **(own if "classes" in model.get_params() else {}),
        }
        try:
            model.set_params(**given)
        except (ValueError, TypeError):
            raise SnapshotError(f"{path}: its header is damaged.") from None
        model.n_features_in_, model.online_, model.answers_, model._columns = (
            setting.n_features,
            online,
            answers,
            columns,
        )
        if columns.places is not None:
            model.feature_names_in_ = named(columns.places)
        return model
