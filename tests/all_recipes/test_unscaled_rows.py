"""Rows as they come from tables, some columns in the thousands: most similarities are tiny, a third are exactly 0."""

import numpy as np
import pytest

from onkel.model.targets import decide
from onkel.recipes import make_learner
from tests.all_recipes.common import close
from tests.tables import twin_of

ROWS, SIGMA, BUDGET = 400, 100.0, 40
SMALLEST_NORMAL = 2.0**-1022
KERNEL = {"kernel": "gaussian", "sigma": SIGMA}
LEARNERS = {
    "perceptron": {},
    "ogd": {"eta": 0.5, "lam": 0.01},
    "forgetron": {"budget": BUDGET},
    "rbp": {"budget": BUDGET},
    "projectron": {"budget": BUDGET},
    # room for all points that stand alone: their eigenvalue is 1, and a cut among them would be made by rounding
    "nogd": {"budget": BUDGET, "rank": 30, "eta": 0.5, "lam": 0.01},
}


def unscaled():
    """Four amounts up to 10,000, three of which most rows do not have, and four columns of counts; noisy labels."""
    rng = np.random.default_rng(30)  # no score is so near to the end of the numbers that rounding may make it 0
    amounts = rng.uniform(0.0, 4_000.0, (ROWS, 4))
    rare = rng.random(ROWS) < 0.15
    amounts[~rare, 1:], amounts[rare] = 0.0, rng.uniform(0.0, 1e4, (rare.sum(), 4))
    counts = [rng.integers(0, top, ROWS) for top in (2, 5, 12, 75)]
    X = np.column_stack([np.round(amounts), *counts]).astype(np.float64)
    likely = np.where(np.sin(X[:, 0] / 400.0) + X[:, 4] > 0.5, 0.85, 0.15)
    return X, np.where(rng.random(ROWS) < likely, 1.0, -1.0)


def gram(X):
    square = np.sum((X[:, None] - X[None]) ** 2, axis=2)
    return np.exp(-square / (2.0 * SIGMA**2))


def mistakes(scores, y):
    return np.flatnonzero(2.0 * decide(scores) - 1.0 != y)


def test_a_third_of_the_similarities_underflow():
    K = gram(unscaled()[0])
    assert 0.3 < np.mean(K == 0.0) < 0.4
    assert np.any((K > 0.0) & (K < SMALLEST_NORMAL))  # and some are subnormal


@pytest.mark.parametrize("name", LEARNERS)
def test_mistakes_are_made_at_the_rows_of_the_slow_twin(name):
    X, y = unscaled()
    online = make_learner(name, **KERNEL, **LEARNERS[name]).start(X.shape[1], dtype="float64")
    trace = twin_of(name, "binary", online, X, y)
    scores = online.learn(X, y)
    np.testing.assert_array_equal(mistakes(scores, y), mistakes(trace.scores, y))
    np.testing.assert_array_equal(scores == 0.0, trace.scores == 0.0)
    close(scores, trace.scores, 1e-9)
