"""Rows that no learner should have to see: it recovers from them, or says so; and it stays what it is in a file."""

import warnings

import numpy as np
import pytest

from benchmarks.shocks import FOR_GOOD, LONG, SHOCKS, after_shock
from onkel import KernelClassifier, auto, fogd, make_learner
from onkel.recipes import ogd
from tests.all_recipes.common import each_cell
from tests.tables import RECIPE_TABLE, parameters

ROWS = 2400  # afterwards
each_shock = pytest.mark.parametrize("shock", SHOCKS, ids=[shock.title for shock in SHOCKS])
each_task = pytest.mark.parametrize("task", RECIPE_TABLE["auto"].parameters)
DENSE = [("float32", "dense")]


@each_shock
@each_cell
def test_a_learner_recovers_from_a_shock_or_says_that_it_diverged(name, task, shock):
    assert after_shock(name, task, shock, LONG if name == "auto" else ROWS, DENSE) != "no"


@each_shock
@each_task
@pytest.mark.parametrize("cell", [("float32", "csr"), ("float64", "dense")], ids="-".join)
def test_auto_recovers_from_every_shock(task, shock, cell):
    assert not after_shock("auto", task, shock, LONG, [cell]).startswith("no")


@pytest.mark.parametrize("shock", FOR_GOOD, ids=[shock.title for shock in FOR_GOOD])
@each_task
@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_auto_follows_a_stream_that_changes_its_scale_for_good(task, shock, layout):
    assert not after_shock("auto", task, shock, LONG, [("float32", layout)]).startswith("no")


@pytest.mark.parametrize(
    ("rows", "targets", "weights"),
    [([[1e11]], [1.0], [1.0]), ([[1.0]], [1e20], [1.0]), ([[1.0]], [1.0], [1e20])],
    ids=["rows", "targets", "weights"],
)
def test_what_is_absurd_is_said_once(rows, targets, weights):
    online = fogd(gamma=1.0).start(1, "regression")
    with pytest.warns(RuntimeWarning, match="beyond"):
        online.learn(rows, targets, weights)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        online.learn(rows, targets, weights)


def test_scores_that_are_cut_off_are_said():
    online = ogd(kernel="linear", eta=1e15, loss="squared").start(1, "regression")
    with pytest.warns(RuntimeWarning, match="diverged"):
        online.learn(np.ones((30, 1)) * 1e3, np.ones(30))


@pytest.mark.parametrize("name", ["fogd", "ogd", "nogd", "raker"])
@pytest.mark.parametrize(("row", "target"), [([1e11], 1.0), ([1.0], 1e20)], ids=["row", "target"])
def test_what_is_absurd_is_said_once_of_rows_that_come_alone(name, row, target):
    online = make_learner(name, **parameters(name, "regression")).start(1, "regression")
    online.learn_one([1.0], 1.0)
    with pytest.warns(RuntimeWarning, match="beyond"):
        online.learn_one(row, target)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        online.learn_one(row, target)
    assert online.rows_learned == 3


def test_a_learner_of_single_rows_that_has_diverged_says_so():
    online = ogd(kernel="linear", eta=1e15, loss="squared").start(1, "regression")
    with pytest.warns(RuntimeWarning, match="diverged"):
        scores = [online.learn_one([1e3], 1.0)[0] for _ in range(30)]
    assert np.isfinite(scores).all()


def test_fit_forgets_a_model_that_diverged():
    X = np.random.default_rng(0).normal(size=(300, 2))
    y = (X[:, 0] > 0).astype(int)
    model = KernelClassifier(fogd(gamma=0.5))
    with pytest.warns(RuntimeWarning, match="beyond"):
        model.partial_fit(X, y, classes=[0, 1], sample_weight=np.full(300, 1e100))
    assert model.fit(X, y).score(X, y) > 0.8


def test_all_weights_may_be_large():
    X = np.random.default_rng(0).normal(size=(600, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    model = KernelClassifier(auto(n_frequencies=32)).fit(X, y, sample_weight=np.full(600, 1e10))
    assert model.score(X, y) > 0.8


@pytest.mark.parametrize("weight", [1e100, 1e308])
def test_how_sure_answers_are_stays_a_number(weight, tmp_path):
    X = np.random.default_rng(0).normal(size=(600, 2))
    y, weights = (X[:, 0] > 0).astype(int), np.where(np.arange(600) % 100 == 50, weight, 1.0)
    model = KernelClassifier(auto(n_frequencies=32))
    with pytest.warns(RuntimeWarning, match="beyond"):
        model.partial_fit(X, y, classes=[0, 1], sample_weight=weights)
    model.save(tmp_path / "model")
    loaded = KernelClassifier.load(tmp_path / "model")
    assert np.array_equal(loaded.predict_proba(X), model.predict_proba(X))
