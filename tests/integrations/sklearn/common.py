"""What the tests of the scikit-learn face share."""

import numpy as np
from scipy.sparse import csr_matrix

from onkel import KernelClassifier, KernelRegressor, fogd
from onkel.core.trees import same
from onkel.recipes import RECIPES

ESTIMATORS = (KernelClassifier, KernelRegressor)


DRAWS = ("iid", "orthogonal", "sorf", "fastfood", "nystroem")


EVERY_RECIPE = sorted(RECIPES)


def fits(learner, task):
    return task in learner.tasks


N_ROWS, N_FEATURES = 160, 3  # more rows than a width rule waits for


def rows(n=N_ROWS, seed=0):
    return np.random.default_rng(seed).standard_normal((n, N_FEATURES))


def circle(X):
    """Two classes that no line separates."""
    return (np.sum(X**2, axis=1) > N_FEATURES).astype(int)


def thirds(X):
    return np.digitize(np.sum(X**2, axis=1), [1.5, 3.5])


def wave(X):
    return np.sin(X[:, 0]) + 0.5 * X[:, 1]


X = rows()


TARGETS = {"binary": circle(X), "multiclass": thirds(X), "regression": wave(X)}


# what the tests of open worlds share: classes by name, one of which comes late, and rows with gaps
FOGD = fogd(gamma=0.5, n_frequencies=50)
Y = np.array(["low", "middle", "high"])[thirds(X)]
LATE = Y.copy()
LATE[:40][LATE[:40] == "high"] = "low"  # "high" comes at row 40 at the earliest
GAPS = np.where(np.random.default_rng(3).random(X.shape) < 0.2, np.nan, X)


IN_ORDER = {"shuffle": False, "epochs": 1}  # `fit` then learns rows as `partial_fit` does


def estimator_for(task, learner, **more):
    return (KernelRegressor if task == "regression" else KernelClassifier)(learner, **more)


def learned_in_pieces(model, y, cut, first):
    for start in range(0, len(y), cut):
        model.partial_fit(X[start : start + cut], y[start : start + cut], **(first if start == 0 else {}))
    return model


def assert_same_model(one, other):
    assert same(one.online_.model, other.online_.model)
    assert np.array_equal(one.predict(X), other.predict(X))
    if isinstance(one, KernelClassifier):
        assert same(one.calibration_, other.calibration_)
        assert np.array_equal(one.predict_proba(X), other.predict_proba(X))


EVERY_LEARNER = [(name, {}) for name in EVERY_RECIPE] + [
    (name, {"gamma": 0.5}) for name in ("fogd", "nogd", "ogd", "rks")
]


LABELS = {
    "text": ["no", "yes"],
    "long and short text": ["a", "a longer one", "ab"],
    "text objects": np.array(["no", "yes"], object),
    "booleans": [False, True],
    "negative numbers": [-7, -3],
    "three numbers": [-5, 0, 40],
    "small integers": np.array([1, 2, 3], np.int8),
    "bytes of integers": np.array([0, 255], np.uint8),
    "short integers": np.array([-300, 300], np.int16),
    "unsigned integers": np.array([0, 4_000_000_000], np.uint32),
    "whole floats": [0.0, 1.0],
    "single precision floats": np.array([-1.0, 1.0], np.float32),
}


def spoilt(value):
    bad = X.copy()
    bad[5, 1] = value
    return bad


FINITE_ROWS = {
    "NaN": (spoilt(np.nan), "NaN"),
    "infinity": (spoilt(np.inf), "infinity|NaN or too large"),
    "no rows": (np.ones((0, N_FEATURES)), "Found array with 0 sample"),
    "beyond float32": (spoilt(1e39), "within the range of float32"),
}


BAD_ROWS = {
    **FINITE_ROWS,
    "one dimension": (np.ones(N_FEATURES), "Expected 2D array, got 1D array instead"),
    "three dimensions": (np.ones((2, 2, 2)), "dim 3"),
    "text": (np.full((N_ROWS, N_FEATURES), "a"), "could not convert string to float|dtype"),
    "complex": (np.ones((N_ROWS, N_FEATURES), complex), "Complex data not supported"),
    "lists of other lengths": ([[1.0, 2.0, 3.0], [1.0]], "inhomogeneous"),
    **{f"{kind}, compressed": (csr_matrix(bad), sentence) for kind, (bad, sentence) in FINITE_ROWS.items()},
    **{f"{kind}, a list": (bad.tolist(), sentence) for kind, (bad, sentence) in FINITE_ROWS.items() if len(bad)},
}


OTHER_WIDTHS = {
    f"{layout} {width}": (make(np.ones((N_ROWS, width))), f"has {width} features?, but .* is expecting 3|of width 3")
    for layout, make in (("dense", np.asarray), ("compressed", csr_matrix), ("list", np.ndarray.tolist))
    for width in (1, 2, 4)
}
