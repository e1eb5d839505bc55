"""Rows that are standardised as they come: the statistics, and recipes that wear them."""

import itertools

import numpy as np
import pytest
from scipy import sparse

from onkel.core import trees
from onkel.core.rows import Dense, pack
from onkel.pieces import scaler as scaling
from onkel.pieces.scaler import Standardised, scaler
from onkel.recipes import RECIPES, auto, fogd, ogd
from tests.all_recipes.common import close, continued, each_cell, each_recipe, learned
from tests.naive.scaling import standardised
from tests.tables import LAYOUTS, N_FEATURES, laid_out, parameters, rows_for, started, stream


def unkind(n=700, seed=5):
    """Columns of several sizes, a constant one, one with few numbers, heavy tails, an absurd start, a drift."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 8)) * [1.0, 1e6, 1e-6, 1.0, 1.0, 1.0, 1.0, 1.0] + [0.0, 1e7, 0.0, 3.0, 0.0, 0.0, 5.0, 0.0]
    X[:, 3] = 3.0
    X[:, 4] = np.where(rng.random(n) < 0.03, X[:, 4], 0.0)
    X[:, 5] = rng.standard_cauchy(n)
    X[1, 6] = 1e30
    X[n // 2 :, 7] = 100.0 + 50.0 * X[n // 2 :, 7]
    return X


def full(block, shape):
    """All numbers of a block."""
    if isinstance(block, Dense):
        return block.values
    return sparse.csr_matrix((block.data, block.indices, block.indptr), shape).toarray()


def compiled(X, layout, cuts=(0, None)):
    """The rows by the library, block by block, and the statistics that are left."""
    state, parts = scaler(X.shape[1]), []
    for first, last in itertools.pairwise(cuts):
        block = pack(laid_out(X[first:last], layout), np.dtype(np.float64))
        out = scaling.standardised(state, block, np.ones(len(X[first:last])), np.float64)
        parts.append(full(out, X[first:last].shape))
    return np.concatenate(parts), state


@pytest.mark.parametrize("layout", LAYOUTS)
def test_rows_are_standardised_as_the_slow_twin_does_it(layout):
    X = unkind()
    found, _ = compiled(X, layout)
    np.testing.assert_allclose(found, standardised(X, layout), rtol=1e-9, atol=1e-9)
    assert np.abs(found).max() <= scaling.FARTHEST


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_new_scale_is_followed_as_the_slow_twin_does_it(layout):
    X = unkind()
    X[len(X) // 4 : len(X) // 2] *= 1e6
    X[len(X) // 2 :, 0] = X[len(X) // 2 :, 0] * 1e-6 + 1e12
    found, state = compiled(X, layout, (0, len(X) // 3, len(X)))
    np.testing.assert_allclose(found, standardised(X, layout), rtol=1e-9, atol=1e-9)
    assert state.mean[0] > 1e11 or layout == "csr"


def test_missing_and_infinite_numbers_are_followed_too():
    X = unkind(300)
    X[np.random.default_rng(1).random(X.shape) < 0.1] = np.nan
    X[40, 0], X[60, 1], X[0, 2] = np.inf, -np.inf, np.inf
    found, _ = compiled(X, "dense")
    np.testing.assert_allclose(found, standardised(X, "dense"), rtol=1e-9, atol=1e-9)
    assert np.isfinite(found).all()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_statistics_do_not_depend_on_the_cut(layout):
    X = unkind(200)
    whole, state = compiled(X, layout)
    parts, same_state = compiled(X, layout, (0, 1, 2, 17, 18, 100, 200))
    assert trees.same(whole, parts)
    assert trees.same(state, same_state)


def test_a_constant_column_gives_nothing_and_an_absurd_number_is_forgotten():
    found, _ = compiled(unkind(), "dense")
    assert not found[:, 3].any()
    assert 0.5 < found[100:, 6].std() < 2.0


def test_what_large_offsets_leave_is_exact():
    X = np.random.default_rng(0).normal(size=(400, 2))
    plain, _ = compiled(X, "dense")
    shifted, _ = compiled(X + 1e9, "dense")
    np.testing.assert_allclose(shifted[50:], plain[50:], atol=1e-5)


@pytest.mark.parametrize("layout", LAYOUTS)
@each_recipe
def test_a_recipe_that_wears_it_learns_standardised_rows(name, layout):
    X, y = stream("binary")
    given = parameters(name, "binary")
    X = rows_for(given, X)
    worn, bare = (started(name, "binary", {**given, "standardise": worn}) for worn in (True, False))
    seen, _ = compiled(X, layout)
    assert isinstance(worn.model, Standardised)
    expected = bare.learn(laid_out(seen, layout), y)
    close(worn.learn(laid_out(X, layout), y), expected, 1e-9)
    close(worn.score(laid_out(X[-1:], layout)), bare.score(laid_out(after(worn, X[-1:], layout), layout)), 1e-9)


def after(online, rows, layout):
    """Rows by the statistics of all rows learned."""
    block = pack(laid_out(rows, layout), np.dtype(np.float64))
    return full(scaling.as_it_stands(online.model.scaler, block, np.float64), rows.shape)


@pytest.mark.parametrize("cut", [0, 7])
@each_cell
def test_a_recipe_that_wears_it_does_not_depend_on_the_cut(name, task, cut):
    X, y = stream(task)
    given = {**parameters(name, task), "standardise": True}
    at_once, in_parts = started(name, task, given), started(name, task, given)
    assert trees.same(at_once.learn(X, y), learned(in_parts, X, y, "dense", cut))
    assert trees.same(at_once.model, in_parts.model)


@each_recipe
def test_every_recipe_has_the_parameter(name):
    assert RECIPES[name]().get_params()["standardise"] in (True, False)
    with pytest.raises(ValueError, match="standardise must be True or False"):
        RECIPES[name](standardise="yes").start(2)


def test_a_kernel_for_features_that_are_not_negative_cannot_wear_it():
    with pytest.raises(ValueError, match="makes features negative"):
        ogd(kernel="additive_chi2", standardise=True).start(2)


def test_missing_numbers_are_refused_unless_they_stand_for_the_mean():
    rows = np.array([[1.0, np.nan], [2.0, 1.0]])
    with pytest.raises(ValueError, match="NaN"):
        auto().start(2).learn(rows, [1.0, -1.0])
    assert np.isfinite(auto(n_frequencies=4).start(2, missing="mean").learn(rows, [1.0, -1.0])).all()
    with pytest.raises(ValueError, match="standardise=True"):
        fogd().start(2, missing="mean")
    with pytest.raises(ValueError, match="missing must be error or mean"):
        auto().start(2, missing="zero")


def test_a_learner_that_was_saved_still_takes_missing_numbers_for_the_mean(tmp_path):
    X, y = stream("binary")
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    saved, unstopped = (auto(n_frequencies=4).start(N_FEATURES, dtype="float64", missing="mean") for _ in range(2))
    scores, restored = continued(saved, X, y, "dense", 50, tmp_path / "model")
    assert restored.setting.missing == "mean"
    assert trees.same(scores, unstopped.learn(X, y))


def test_one_row_at_a_time_may_miss_numbers_too():
    X, y = stream("binary")
    X = X.copy()
    X[5, 2], X[9, 0] = np.nan, np.inf
    whole, single = (auto(n_frequencies=4).start(N_FEATURES, dtype="float64", missing="mean") for _ in range(2))
    expected = whole.learn(X, y)
    scores = [single.learn_one(x, target).copy() for x, target in zip(X, y, strict=True)]
    assert trees.same(np.array(scores), expected)


def test_numbers_close_to_one_that_most_rows_share_are_told_apart_from_it():
    rng = np.random.default_rng(0)
    other = rng.random(4000) < 0.2
    X = np.where(other, 1.0 - rng.uniform(0.001, 0.5, 4000), 1.0)[:, None]
    state = scaler(1)
    scaling.standardised(state, pack(X, np.float64), np.ones(4000), np.float64)
    found = scaling.as_it_stands(state, pack(np.append(X, [[0.999]], axis=0), np.float64), np.float64).values[:, 0]
    assert abs(found[:-1].mean()) < 0.05
    assert abs(found[:-1].std() - 1.0) < 0.1
    assert found[np.argmin(other)] - found[-1] > 1.0  # 1 and 0.999, of deviation 0.1
    assert state.common[0] == 1.0


def test_columns_without_a_number_of_most_rows_and_columns_of_two_numbers_are_as_ever():
    rng = np.random.default_rng(0)
    X = np.c_[rng.normal(size=500), rng.random(500) < 0.1, rng.integers(0, 3, 500)].astype(float)
    state = scaler(3)
    scaling.standardised(state, pack(X, np.float64), np.ones(500), np.float64)
    found = scaling.as_it_stands(state, pack(X, np.float64), np.float64).values
    plain = (X - state.mean) / np.sqrt(state.moment / state.count)
    bulk = np.abs(plain) < 1.9
    np.testing.assert_allclose(found[:, [0, 2]][bulk[:, [0, 2]]], plain[:, [0, 2]][bulk[:, [0, 2]]])
    zero = X[:, 1] == 0.0
    assert abs(found[zero, 1][0] - plain[zero, 1][0]) < 0.1
