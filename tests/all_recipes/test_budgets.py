"""Budgets on unkind streams: finite, never exceeded, and the same each time; inverses that stay true; merged points."""

from typing import Any

import numpy as np
import pytest

from onkel.core import trees
from onkel.core.verbs import entry_point
from onkel.pieces.budgets.forgetting import fading
from onkel.pieces.budgets.merge_table import KAPPAS, SHARES, merge_table
from onkel.recipes import RECIPES
from tests.tables import N_FEATURES, RECIPE_TABLE, started, stream

BUDGETED = [name for name in RECIPE_TABLE if "budget" in RECIPES[name]().get_params()]
N = 400


def unkind_streams():
    rng = np.random.default_rng(0)
    X, y = stream("binary", N)
    few = rng.normal(size=(6, N_FEATURES))[rng.integers(6, size=N)]
    return {
        "equal rows": (np.ones((N, N_FEATURES)), y),
        "few rows, many times": (few, y),
        "nearly equal rows": (few + 1e-9 * rng.normal(size=X.shape), y),
        "rows so far apart that kernels underflow": (1e4 * X, y),
        "one label": (X, np.ones(N)),
        "labels by chance": (X, np.where(rng.random(N) < 0.5, -1.0, 1.0)),
        "rows of zeros": (np.zeros((N, N_FEATURES)), y),
    }


UNKIND = unkind_streams()


def kept(online):
    """How many points the model keeps; nogd has made features of its own."""
    return online.model.support.count[0] if hasattr(online.model, "support") else 0


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("budget", [1, 2, 7, N + 1])
@pytest.mark.parametrize("rows", UNKIND)
@pytest.mark.parametrize("name", BUDGETED)
def test_unkind_streams_stay_finite_within_the_budget_and_the_same(name, rows, budget, dtype):
    X, y = UNKIND[rows]
    results = []
    for cut in (N, 50):
        online = started(name, "binary", {"budget": budget, "sigma": 1.0}, dtype)
        scores = []
        for start in range(0, N, cut):
            scores.append(online.learn(X[start : start + cut].astype(dtype), y[start : start + cut]))
            assert kept(online) <= budget
        results.append((np.concatenate(scores), online.model))
    assert np.isfinite(results[0][0]).all()
    assert trees.same(*(scores for scores, _ in results))
    assert trees.same(*(model for _, model in results))


INVERTING = [name for name in BUDGETED if "guard" in RECIPES[name]().get_params()]


def crowd(rng, n):
    """Rows on a coarse grid, half of them a little beside it, with labels that are never learned."""
    grid = 0.25 * np.round(4.0 * rng.normal(size=(n, N_FEATURES)))
    beside = 1e-3 * rng.normal(size=grid.shape) * (rng.random((n, 1)) < 0.5)
    return grid + beside, np.where(rng.random(n) < 0.3, -1.0, 1.0) * np.where(grid[:, 0] * grid[:, 1] > 0.0, 1.0, -1.0)


@pytest.mark.parametrize("name", INVERTING)
def test_the_inverse_that_is_kept_up_to_date_stays_true_over_a_million_rows(name):
    rng = np.random.default_rng(0)
    online = started(name, "binary", {"budget": 20, "sigma": 1.5})
    for _ in range(25):
        online.learn(*crowd(rng, 40_000))
        span, n = online.model.budget.span, kept(online)
        fresh = np.linalg.inv(span.gram[:n, :n])
        assert np.abs(span.inverse[:n, :n] - fresh).max() < 1e-6 * np.abs(fresh).max()
        assert np.abs(online.score(np.zeros((1, N_FEATURES)))).max() < 1e4
    assert online.rows_learned == 1_000_000


def test_the_gram_matrix_that_is_kept_is_that_of_the_points():
    for name in INVERTING:
        online = started(name, "binary", {"budget": 20, "sigma": 1.5})
        online.learn(*crowd(np.random.default_rng(0), 2_000))
        points = online.model.support.points[:, : kept(online)]
        square = np.sum((points[:, :, None] - points[:, None, :]) ** 2, axis=0)
        n = kept(online)
        np.testing.assert_allclose(online.model.budget.span.gram[:n, :n], np.exp(-square / 4.5), atol=1e-12)


@entry_point
def fade_all(cases: Any, phi: Any) -> None:
    for i in range(len(phi)):
        phi[i] = fading(cases[i, 0], cases[i, 1], cases[i, 2], 1.0)


def test_what_fades_never_grows_and_does_no_more_damage_than_it_may():
    rng = np.random.default_rng(0)
    cases = np.column_stack([rng.exponential(size=500), rng.normal(size=500), rng.exponential(size=500)])
    factors = np.empty(len(cases))
    fade_all(cases, factors)
    for (delta, mu, slack), phi in zip(cases, factors, strict=True):
        assert 0.0 <= phi <= 1.0
        damage = (delta * phi) ** 2 + 2.0 * delta * phi * (1.0 - phi * mu)
        assert damage <= slack + 1e-9
        more = min(1.0, phi * (1.0 + 1e-6))
        beyond = (delta * more) ** 2 + 2.0 * delta * more * (1.0 - more * mu)
        assert phi == 1.0 or beyond > slack - 1e-4


@pytest.mark.parametrize("kappa", [1, 5, 54, 55, 100, 200, 399, 400])  # e^-2 is between 54 and 55
def test_the_table_of_merges_holds_the_best_of_all_places(kappa):
    assert merge_table("float64").shape == (SHARES, KAPPAS)
    fine = np.linspace(0.0, 1.0, 20_001)
    for i in range(0, SHARES, 10):
        share, k = i / 400, kappa / 400
        values = share * k ** ((1.0 - fine) ** 2) + (1.0 - share) * k ** (fine**2)
        h = merge_table("float64")[i, kappa]
        assert 0.0 <= h <= 0.5
        assert share * k ** ((1.0 - h) ** 2) + (1.0 - share) * k ** (h**2) >= values.max() - 1e-12
