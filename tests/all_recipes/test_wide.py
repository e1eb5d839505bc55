"""Very wide rows: lists of points, frequencies drawn when they are needed, folded columns; nothing per column."""

import numpy as np
import pytest
from scipy import sparse

from onkel import KernelClassifier, auto, fogd, rbp
from onkel.core import points, trees
from onkel.core.points import WIDE, Listed
from onkel.core.rows import pack
from onkel.files.model_file import load_model, save_model
from onkel.pieces.hashing import folded, places
from onkel.pieces.kernels import cauchy, gaussian, laplacian
from onkel.pieces.maps.drawn import drawn
from onkel.pieces.maps.fourier import Fourier, fourier, iid
from onkel.pieces.maps.lifting import features_of
from onkel.recipes import RECIPES
from tests.all_recipes.common import close, continued, learned
from tests.tables import CELLS, RECIPE_TABLE, parameters, started, stream

MERGING = ("bsgd_m", "tvm")
COLUMNS = 3_000_000
MEBIBYTE = 2**20


def keeps_points(name):
    return name not in MERGING and any(word in RECIPES[name].__doc__ for word in ("budgets.", "Handover", "Hybrid"))


KEEPING = [(name, task) for name, task in CELLS if keeps_points(name)]
TRIED = [  # every variant is compiled, so these are one of each kind
    *((name, "binary", "csr") for name in ("perceptron", "rbp", "forgetron", "bpa_nn", "bsgd_p", "bogd", "dual_sgd")),
    *(("rbp", "multiclass", "csr"), ("nogd", "regression", "dense"), ("projectron", "multiclass", "dense")),
]
KERNELS = [gaussian(sigma=1.5), laplacian(sigma=2.0), cauchy(sigma=1.5)]


@pytest.fixture
def listed(monkeypatch):
    """Points are kept as lists, however narrow rows are."""
    monkeypatch.setattr(points, "WIDE", 1)


def support_of(model):
    part = getattr(model, "parts", (model,))[0]
    return part.feature_map if hasattr(part, "projection") or not hasattr(part, "support") else part.support


@pytest.mark.parametrize(("name", "task", "layout"), TRIED)
def test_lists_of_points_give_the_scores_of_an_array_of_points(name, task, layout, monkeypatch):
    X, y = stream(task)
    X = np.where(np.abs(X) < 0.3, 0.0, X)
    expected = learned(started(name, task, parameters(name, task)), X, y, layout, 40)
    monkeypatch.setattr(points, "WIDE", 1)
    online = started(name, task, parameters(name, task))
    assert trees.same(learned(online, X, y, layout, 40), expected)
    assert isinstance(support_of(online.model).points, Listed)


@pytest.mark.parametrize("kernel", ["laplacian", "cauchy", "polynomial", "linear", "additive_chi2"])
def test_lists_of_points_know_every_kernel(kernel, monkeypatch):
    X, y = stream("binary")
    X = np.where(np.abs(X) < 0.3, 0.0, np.abs(X))
    expected = RECIPES["rbp"](budget=12, kernel=kernel).start(X.shape[1]).learn(X, y)
    monkeypatch.setattr(points, "WIDE", 1)
    close(RECIPES["rbp"](budget=12, kernel=kernel).start(X.shape[1]).learn(X, y), expected, 1e-6)


@pytest.mark.parametrize("name", ["perceptron", "rbp", "nogd", "projectron", "dual_sgd"])
def test_lists_of_points_survive_saving(name, listed, tmp_path):
    X, y = stream("binary")
    expected = started(name, "binary", parameters(name, "binary")).learn(sparse.csr_matrix(X), y)
    online = started(name, "binary", parameters(name, "binary"))
    scores, _ = continued(online, X, y, "csr", 50, tmp_path / "model")
    assert trees.same(scores, expected)


def test_a_single_row_can_be_learned_into_lists(listed):
    X, y = stream("binary")
    expected = rbp(budget=12, gamma=0.5).start(X.shape[1]).learn(X, y)
    assert trees.same(learned(rbp(budget=12, gamma=0.5).start(X.shape[1]), X, y, "dense", 0), expected)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_drawn_frequencies_are_those_of_the_table(kernel, dtype):
    X, _ = stream("binary")
    table, free = fourier(iid(kernel, X.shape[1], 50, 3), dtype), Fourier(drawn(kernel, 50, 3))
    block = pack(sparse.csr_matrix(X), dtype)
    np.testing.assert_allclose(features_of(free, block), features_of(table, block), atol=20 * np.finfo(dtype).eps)


@pytest.mark.parametrize("name", ["fogd", "rks", "dual_sgd"])
def test_a_feature_that_comes_late_changes_nothing_before(name):
    X, y = stream("binary")
    narrow = sparse.csr_matrix(X)
    wide = sparse.csr_matrix((narrow.data, narrow.indices, narrow.indptr), (len(y), 2_000_000_000))
    given = {**parameters(name, "binary"), "gamma": 0.3, "sigma": None}
    few = RECIPES[name](**given).start(X.shape[1], dtype="float64")
    many = RECIPES[name](**given).start(wide.shape[1], dtype="float64")
    close(many.learn(wide, y), few.learn(narrow, y), 1e-9)
    late = sparse.csr_matrix(([2.0], ([0], [1_999_999_999])), (1, 2_000_000_000))
    assert np.isfinite(many.learn(late, [1.0])).all()


@pytest.mark.parametrize("given", [{}, {"kernel": "laplacian"}, {"kernel": "cauchy"}], ids=str)
@pytest.mark.parametrize("name", ["fogd", "rks", "dual_sgd"])
def test_drawn_frequencies_whose_width_a_rule_has_settled_survive_saving(name, given, tmp_path):
    X, y = rows(100)
    online = RECIPES[name](n_frequencies=5, **given).start(COLUMNS)
    online.learn(X, y)
    save_model(tmp_path / "model", online)
    assert trees.same(load_model(tmp_path / "model")[0].learn(X, y), online.learn(X, y))


def rows(n, seed=0):
    """Rows of 30 numbers in three million columns."""
    rng = np.random.default_rng(seed)
    label = rng.choice([-1.0, 1.0], n)
    columns = rng.integers(40, COLUMNS, (n, 30))
    columns[:, :10] = rng.integers(0, 20, (n, 10)) + 20 * (label[:, None] > 0.0)
    X = sparse.csr_matrix((np.ones(30 * n), columns.ravel(), np.arange(0, 30 * n + 1, 30)), (n, COLUMNS))
    X.sum_duplicates()
    return X, label


@pytest.mark.parametrize(
    "name", ["fogd", "rbp", "nogd", "dual_sgd", "ik_ogd", "rrf", "auto", "bpa_nn", "raker", "omkl"]
)
def test_three_million_columns_need_no_more_than_what_is_stored(name):
    X, y = rows(600)
    online = RECIPES[name]().start(COLUMNS)
    scores = np.concatenate([online.learn(X[i : i + 100], y[i : i + 100])[:, 0] for i in range(0, 600, 100)])
    assert trees.nbytes(online.model) < 64 * MEBIBYTE
    assert np.isfinite(scores).all()
    assert np.mean((scores[300:] > 0.0) == (y[300:] > 0.0)) > 0.6
    again, _ = rows(50, seed=1)
    assert np.isfinite(online.score(again)).all()


@pytest.mark.parametrize("name", MERGING)
def test_learners_that_merge_points_refuse_very_wide_rows(name):
    X, y = rows(5)
    with pytest.raises(ValueError, match=f"{name} merges points, which fills them up: it takes at most {WIDE} columns"):
        RECIPES[name]().start(COLUMNS).learn(X, y)


@pytest.mark.parametrize("given", [{"draw": "orthogonal"}, {"draw": "sorf"}, {"kernel": "additive_chi2"}])
def test_maps_with_a_number_per_column_refuse_very_wide_rows(given):
    with pytest.raises(ValueError, match=f"takes at most {WIDE} columns"):
        fogd(**{"gamma": None if "kernel" in given else 1.0, **given}).start(COLUMNS).learn(*rows(1))


def test_folded_rows_have_the_same_products_on_average():
    X, _ = rows(200)
    found = folded(pack(X, np.float64))
    narrow = sparse.csr_matrix((found.data, found.indices, found.indptr), (200, WIDE))
    error = (narrow @ narrow.T - X @ X.T).toarray()
    assert abs(error.mean()) < 0.05  # of 5 on average, in which 20 columns take part in most rows
    assert np.abs(error).mean() < 0.1


def test_folding_depends_on_the_column_alone_and_uses_all_places():
    slots, flipped = places(np.arange(COLUMNS))
    assert trees.same(places(np.array([5, 77]))[0], slots[[5, 77]])
    assert np.bincount(slots, minlength=WIDE).max() < 2 * COLUMNS / WIDE
    assert abs(flipped.mean() - 0.5) < 0.002


def test_a_folded_model_survives_saving_and_does_not_depend_on_the_cut(tmp_path):
    X, y = rows(120)
    expected = auto(n_frequencies=16).start(COLUMNS).learn(X, y)
    online = auto(n_frequencies=16).start(COLUMNS)
    parts = np.concatenate([online.learn(X[i : i + 7], y[i : i + 7]) for i in range(0, 120, 7)])
    assert trees.same(parts, expected)
    model = KernelClassifier(auto(n_frequencies=16)).fit(X, y)
    model.save(tmp_path / "model")
    again = KernelClassifier.load(tmp_path / "model")
    assert trees.same(again.predict_proba(X), model.predict_proba(X))
    assert len(model.relevance()) == COLUMNS


def test_every_recipe_is_either_tried_on_wide_rows_or_refuses_them():
    folds = {name for name in RECIPES if RECIPES[name]().plan("binary").folds}
    keeps = {name for name, _ in KEEPING}
    others = {"fogd", "rks", "ik_ogd", "one_vs_rest", "raker", "ada_raker", "omkc", "omkl", "omkr", *MERGING}
    assert folds | keeps | others == set(RECIPE_TABLE)
