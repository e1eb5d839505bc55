"""Extreme numbers."""

import numpy as np
import pytest

from onkel.core import trees
from onkel.pieces import kernels
from tests.all_recipes.common import continued, each_recipe, each_recipe_with_a_rate, without_penalty
from tests.tables import (
    N_FEATURES,
    RECIPE_TABLE,
    parameters,
    prefixed,
    started,
    stream,
)

EXTREME = {
    "huge": [1e30, -1e30, 1e30, 1e29, 1.0],
    "alternating": [1e30, 1e-30, -1e30, -1e-30, 0.0],
    "tiny": [1e-30, -1e-30, 1e-30, 1e-30, 1e-30],
    "zero": [0.0] * N_FEATURES,
    "constant": [3.0] * N_FEATURES,
    "huge squares": [1e19, 0.0, 0.0, 0.0, 0.0],  # 1e38 is still a float32, twice that is none
}


def extreme_rows():
    """Ordinary rows with extreme ones in between, each of them several times."""
    X, y = stream("binary")
    odd = np.array(list(EXTREME.values()))
    mixed = np.concatenate([np.stack([X[i], odd[i % len(odd)]]) for i in range(60)])
    return mixed, np.repeat(y[:60], 2) * np.tile([1.0, -1.0], 60)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@each_recipe
def test_extreme_rows_never_give_a_score_that_is_no_number(name, dtype):
    X, y = extreme_rows()
    online = started(name, "binary", parameters(name, "binary"), dtype)
    assert np.isfinite(online.learn(X.astype(dtype), y)).all()
    assert np.isfinite(online.score(X.astype(dtype))).all()


@pytest.mark.parametrize("kernel", ["laplacian", "cauchy", "polynomial", "linear", "additive_chi2"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", [n for n, row in RECIPE_TABLE.items() if row.any_kernel and not row.draws])
def test_extreme_rows_never_give_a_score_that_is_no_number_under_any_kernel(name, dtype, kernel):
    X, y = extreme_rows()
    given = {key: value for key, value in parameters(name, "binary").items() if not key.endswith("sigma")}
    width = {"sigma": 1.0} if kernel in kernels.WITH_WIDTH else {}
    online = started(name, "binary", {**given, **prefixed(name, {"kernel": kernel, **width})}, dtype)
    rows = (np.abs(X) if kernel == "additive_chi2" else X).astype(dtype)
    assert np.isfinite(online.learn(rows, y)).all()
    assert np.isfinite(online.score(rows)).all()


@pytest.mark.parametrize("rule", kernels.RULES)
@pytest.mark.parametrize("kernel", kernels.WITH_WIDTH)
@pytest.mark.parametrize("rows", [*EXTREME, "all kinds"])
def test_a_width_rule_survives_extreme_rows(rows, kernel, rule):
    X = extreme_rows()[0] if rows == "all kinds" else np.tile(EXTREME[rows], (N_FEATURES * 24, 1))
    y = stream("binary")[1][: len(X)]
    online = started("ogd", "binary", {"kernel": kernel, "gamma": rule})
    with np.errstate(over="ignore", invalid="ignore"):  # NumPy says so when the variance of 1e30 overflows
        scores = online.learn(X, y)
    assert np.isfinite(scores).all()
    assert 0.0 < online.model.kernel.gamma < np.inf


def diverging(name, dtype):
    """A learner of regression whose steps are far too long."""
    return started(name, "regression", {**without_penalty(name, parameters(name, "regression")), "eta": 1e6}, dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@each_recipe_with_a_rate
def test_a_model_that_diverges_never_gives_a_score_that_is_no_number(name, dtype):
    X, y = stream("regression")
    rows, targets = np.tile(X, (5, 1)).astype(dtype), np.tile(y, 5)
    online = diverging(name, dtype)
    assert np.isfinite(online.learn(rows, targets)).all()
    assert np.isfinite(online.score(rows)).all()


@each_recipe
def test_a_model_that_has_seen_extreme_rows_can_be_saved(name, tmp_path):
    X, y = extreme_rows()
    X, given = X.astype(np.float32), parameters(name, "binary")
    online, unstopped = started(name, "binary", given, "float32"), started(name, "binary", given, "float32")
    expected = unstopped.learn(X, y)
    scores, _ = continued(online, X, y, "dense", 70, tmp_path / "model")
    assert trees.same(scores, expected)


@each_recipe_with_a_rate
def test_a_model_with_enormous_weights_can_be_saved(name, tmp_path):
    X, y = stream("regression")
    X = X.astype(np.float32)
    online, unstopped = diverging(name, "float32"), diverging(name, "float32")
    expected = unstopped.learn(X, y)
    scores, _ = continued(online, X, y, "dense", 110, tmp_path / "model")
    assert trees.same(scores, expected)
