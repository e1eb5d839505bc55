"""Cuts, layouts, interruptions; scores, seeds; unlimited streams."""

import copy
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from numba.core import event
from scipy import sparse

from onkel.core import trees
from onkel.pieces import kernels
from onkel.pieces.bandwidth import FIRST_ROWS, settle
from onkel.recipes import RECIPES
from tests.all_recipes.common import (
    close,
    continued,
    each_cell,
    each_recipe,
    learned,
    title,
)
from tests.tables import (
    CELLS,
    CONSTANT_MEMORY,
    LAYOUTS,
    RANDOM,
    RECIPE_TABLE,
    WITH_A_RULE,
    laid_out,
    parameters,
    prefixed,
    started,
    stream,
)

CUTS = (1, 7, 64)


ROWS_WITH_A_RULE = FIRST_ROWS + 30


each_recipe_with_a_rule = pytest.mark.parametrize("name", WITH_A_RULE)
each_layout = pytest.mark.parametrize("layout", LAYOUTS)


@lru_cache
def whole(name, task, layout, dtype):
    """Scores and model of a stream that arrives at once."""
    X, y = stream(task)
    online = started(name, task, parameters(name, task), dtype)
    return online.learn(laid_out(X, layout, dtype), y), online.model


@pytest.mark.parametrize("cut", CUTS)
@each_layout
@each_cell
def test_scores_do_not_depend_on_how_the_stream_is_cut(name, task, layout, cut):
    online = started(name, task, parameters(name, task))
    scores = learned(online, *stream(task), layout, cut)
    expected, model = whole(name, task, layout, "float64")
    assert trees.same(scores, expected)
    assert trees.same(online.model, model)


@each_cell
def test_learning_one_row_at_a_time_is_the_same(name, task):
    online = started(name, task, parameters(name, task))
    scores = learned(online, *stream(task), "dense", 0)
    expected, model = whole(name, task, "dense", "float64")
    assert trees.same(scores, expected)
    assert trees.same(online.model, model)


@each_cell
def test_scoring_one_row_at_a_time_is_the_same_and_changes_nothing(name, task):
    X, y = stream(task)
    online = started(name, task, parameters(name, task))
    online.learn(X, y)
    before = copy.deepcopy(online.model)
    singly = np.array([online.score_one(x).copy() for x in X])
    assert trees.same(singly, online.score(X))
    assert trees.same(online.model, before)
    assert trees.same(online.learn_one(X[0], y[0]), singly[0])


@pytest.mark.parametrize("cut", [0, 7])
@each_recipe
def test_scores_in_single_precision_do_not_depend_on_the_cut(name, cut):
    online = started(name, "binary", parameters(name, "binary"), "float32")
    scores = learned(online, *stream("binary"), "dense", cut)
    expected, model = whole(name, "binary", "dense", "float32")
    assert trees.same(scores, expected)
    assert trees.same(online.model, model)


def locked(array):
    array = array.copy()
    array.flags.writeable = False
    return array


@each_layout
@each_recipe
def test_rows_that_cannot_be_written_to_are_learned_by_the_same_machine_code(name, layout):
    X, y = stream("binary")
    expected, model = whole(name, "binary", layout, "float64")
    rows = laid_out(locked(X), layout)
    if layout == "csr":
        rows.data, rows.indices, rows.indptr = map(locked, (rows.data, rows.indices, rows.indptr))
    online = started(name, "binary", parameters(name, "binary"))
    with event.install_recorder("numba:compile") as seen:
        scores = online.learn(rows, locked(y), locked(np.ones(len(y))))
    assert not seen.buffer
    assert trees.same(scores, expected)
    assert trees.same(online.model, model)


def unscaled(name, task, layout):
    """Scores and model where rows are not standardised: compressed ones are never centred."""
    X, y = stream(task)
    online = started(name, task, {**parameters(name, task), "standardise": False})
    return online.learn(laid_out(X, layout), y), online.model


@pytest.mark.parametrize(("name", "task"), [cell for cell in CELLS if RECIPE_TABLE[cell[0]].same_bits])
def test_dense_and_compressed_rows_give_the_same_bits(name, task):
    dense, dense_model = unscaled(name, task, "dense")
    compressed, compressed_model = unscaled(name, task, "csr")
    assert trees.same(dense, compressed)
    assert trees.same(dense_model, compressed_model)


@pytest.mark.parametrize(("name", "task"), [cell for cell in CELLS if not RECIPE_TABLE[cell[0]].same_bits])
def test_dense_and_compressed_rows_give_the_same_scores_up_to_rounding(name, task):
    close(unscaled(name, task, "csr")[0], unscaled(name, task, "dense")[0], 1e-9)


@pytest.mark.parametrize("name", ["ogd", "fogd"])
def test_dense_and_compressed_rows_give_the_same_bits_in_single_precision(name):
    dense, dense_model = whole(name, "binary", "dense", "float32")
    compressed, compressed_model = whole(name, "binary", "csr", "float32")
    assert trees.same(dense, compressed)
    assert trees.same(dense_model, compressed_model)


def untidy(X):
    """The rows as compressed ones with zeros stored, columns in reverse, and each number in two equal halves."""
    n, d = X.shape
    indices = np.tile(np.repeat(np.arange(d)[::-1], 2), n)
    data = np.repeat(X[:, ::-1] / 2.0, 2)
    return sparse.csr_matrix((data, indices, np.arange(0, 2 * n * d + 1, 2 * d)), shape=X.shape)


@pytest.mark.parametrize(
    "make",
    [untidy, sparse.csr_array, sparse.csc_matrix, sparse.coo_array, sparse.lil_matrix],
    ids=lambda make: make.__name__,
)
@pytest.mark.parametrize("name", ["ogd", "fogd"])
def test_every_way_to_write_a_sparse_matrix_gives_the_same_bits(name, make):
    X, y = stream("binary")
    online = started(name, "binary", parameters(name, "binary"))
    expected, model = whole(name, "binary", "csr", "float64")
    assert trees.same(online.learn(make(X), y), expected)
    assert trees.same(online.model, model)


def ruled(name, rule):
    """A recipe whose kernel has this rule, or number, for its width."""
    given = {key: value for key, value in parameters(name, "binary").items() if not key.endswith("sigma")}
    return started(name, "binary", {**given, **prefixed(name, {"gamma": rule})})


@pytest.mark.parametrize("rule", kernels.RULES)
@each_recipe_with_a_rule
def test_a_width_rule_is_renewed_at_powers_of_two_until_it_is_kept(name, rule):
    X, y = stream("binary", ROWS_WITH_A_RULE)
    scores = ruled(name, rule).learn(X, y)
    assert not scores[0].any()
    seen = 1
    while seen <= FIRST_ROWS:  # rows `seen` to `last` are scored with the width of the first `seen` rows
        last = 2 * seen if seen < FIRST_ROWS else len(y)
        width = settle(kernels.gaussian(gamma=rule), X[:seen]).gamma
        expected = ruled(name, width).learn(X[:last], y[:last])
        assert trees.same(scores[seen:last], expected[seen:])
        seen *= 2


@pytest.mark.parametrize("rule", kernels.RULES)
@each_recipe_with_a_rule
def test_a_width_rule_does_not_depend_on_the_cut(name, rule):
    X, y = stream("binary", ROWS_WITH_A_RULE)
    at_once, in_parts, one_by_one = (ruled(name, rule) for _ in range(3))
    expected = at_once.learn(X, y)
    for online, cut in [(in_parts, 7), (one_by_one, 0)]:
        assert trees.same(learned(online, X, y, "dense", cut), expected)
        assert trees.same(online.model, at_once.model)


@pytest.mark.parametrize("rule", kernels.RULES)
@each_recipe_with_a_rule
def test_a_width_rule_gives_the_same_bits_for_dense_and_compressed_rows(name, rule):
    X, y = stream("binary", ROWS_WITH_A_RULE)
    dense, compressed = ruled(name, rule), ruled(name, rule)
    expected = dense.learn(X, y)
    scores = learned(compressed, X, y, "csr", 7)
    assert trees.same(scores, expected)
    assert trees.same(compressed.model, dense.model)


@pytest.mark.parametrize("layouts", [("dense", "csr"), ("csr", "dense")])
@pytest.mark.parametrize("given", [{"sigma": 1.5}, {"gamma": "scale"}], ids=title)
def test_a_stream_may_change_its_layout_on_the_way(given, layouts):
    X, y = stream("binary", ROWS_WITH_A_RULE)
    expected = started("ogd", "binary", given).learn(X, y)
    online = started("ogd", "binary", given)
    middle = FIRST_ROWS // 2 + 3
    first = online.learn(laid_out(X[:middle], layouts[0]), y[:middle])
    second = online.learn(laid_out(X[middle:], layouts[1]), y[middle:])
    close(np.concatenate([first, second]), expected, 1e-12)


@pytest.mark.parametrize("stop", [0, 1, 17, 60, 119])  # nogd changes its kind of model between 17 and 60
@each_cell
def test_a_learner_that_was_saved_goes_on_as_if_never_stopped(name, task, stop, tmp_path):
    online = started(name, task, parameters(name, task))
    scores, restored = continued(online, *stream(task), "dense", stop, tmp_path / "model")
    expected, model = whole(name, task, "dense", "float64")
    assert trees.same(scores, expected)
    assert trees.same(restored.model, model)


@each_layout
@pytest.mark.parametrize(
    "stop", [0, 1, FIRST_ROWS // 2 - 1, FIRST_ROWS // 2, FIRST_ROWS - 1, FIRST_ROWS, FIRST_ROWS + 1]
)
@each_recipe_with_a_rule
def test_a_learner_that_waits_for_its_width_can_be_saved(name, stop, layout, tmp_path):
    X, y = stream("binary", ROWS_WITH_A_RULE)
    online, unstopped = ruled(name, "scale"), ruled(name, "scale")
    expected = unstopped.learn(laid_out(X, layout), y)
    scores, restored = continued(online, X, y, layout, stop, tmp_path / "model")
    assert trees.same(scores, expected)
    assert trees.same(restored.model, unstopped.model)


def test_nogd_is_saved_before_and_after_it_becomes_linear():
    kinds = []
    for stop in (17, 60):
        online = started("nogd", "binary", parameters("nogd", "binary"))
        online.learn(*(part[:stop] for part in stream("binary")))
        kinds.append(type(online.model).__name__)
    assert kinds == ["Expansion", "Linear"]


OTHER_KINDS = [  # of maps and steps, whose models hold other arrays
    ("fogd", {"n_frequencies": 21, "draw": "sorf", "sigma": 1.5}),
    ("fogd", {"n_frequencies": 21, "draw": "fastfood", "sigma": 1.5}),
    ("fogd", {"kernel": "additive_chi2"}),
    ("fogd", {"n_frequencies": 21, "step": "adagrad", "sigma": 1.5}),
    ("ogd", {"step": "inverse_time", "lam": 0.1, "sigma": 1.5}),
]


@pytest.mark.parametrize(("name", "given"), OTHER_KINDS, ids=title)
def test_other_kinds_of_maps_and_steps_survive_cuts_layouts_and_files(name, given, tmp_path):
    X, y = stream("binary")
    X = np.abs(X)  # the map of the chi2 kernel takes no negative numbers
    at_once, in_parts, saved = (started(name, "binary", given) for _ in range(3))
    expected = at_once.learn(X, y)
    assert trees.same(learned(in_parts, X, y, "csr", 7), expected)
    assert trees.same(in_parts.model, at_once.model)
    scores, restored = continued(saved, X, y, "dense", 60, tmp_path / "model")
    assert trees.same(scores, expected)
    assert trees.same(restored.model, at_once.model)


@pytest.mark.parametrize("name", [name for name in RECIPE_TABLE if "published" in RECIPES[name]().get_params()])
def test_printed_forms_can_be_saved(name, tmp_path):
    X, y = stream("regression")
    given = {**parameters(name, "regression"), "published": True}
    online, unstopped = started(name, "regression", given), started(name, "regression", given)
    scores, _ = continued(online, X, y, "dense", 60, tmp_path / "model")
    assert trees.same(scores, unstopped.learn(X, y))


def copied(tree: Any) -> Any:
    if isinstance(tree, np.ndarray):
        return tree.copy()
    if hasattr(tree, "_fields"):
        return type(tree)(*map(copied, tree))
    return tuple(map(copied, tree)) if isinstance(tree, tuple) else tree


@pytest.mark.parametrize("learned_rows", [0, 10, 80])
@each_cell
def test_scoring_changes_nothing(name, task, learned_rows):
    X, y = stream(task)
    online = started(name, task, parameters(name, task))
    online.learn(X[:learned_rows], y[:learned_rows])
    before = copied(online.model)
    first, second = online.score(X), online.score(X)
    assert trees.same(first, second)
    assert trees.same(online.model, before)


@each_recipe_with_a_rule
def test_scoring_while_the_width_is_awaited_changes_nothing(name):
    X, y = stream("binary", ROWS_WITH_A_RULE)
    online, unasked = ruled(name, "scale"), ruled(name, "scale")
    held = FIRST_ROWS - 3
    online.learn(X[:held], y[:held])
    assert online.score(X[held:]).any()
    assert online.rows_learned == held
    unasked.learn(X[:held], y[:held])
    assert trees.same(online.learn(X[held:], y[held:]), unasked.learn(X[held:], y[held:]))
    assert trees.same(online.model, unasked.model)


@each_cell
def test_learning_returns_the_scores_of_the_model_before(name, task):
    X, y = stream(task)
    online = started(name, task, parameters(name, task))
    for x, target in zip(X[:60, None], y[:60], strict=True):
        before = online.score(x)
        close(online.learn(x, [target]), before, 1e-6)


@each_cell
def test_the_same_seed_gives_the_same_result(name, task):
    again = started(name, task, parameters(name, task)).learn(*stream(task))
    assert trees.same(again, whole(name, task, "dense", "float64")[0])


@each_recipe
def test_another_seed_gives_another_result_where_something_is_drawn(name):
    other = started(name, "binary", parameters(name, "binary"), seed=1).learn(*stream("binary"))
    unchanged = trees.same(other, whole(name, "binary", "dense", "float64")[0])
    assert unchanged == (name not in RANDOM)


@pytest.mark.parametrize("name", CONSTANT_MEMORY)
def test_memory_after_a_thousand_rows_is_memory_after_a_million(name):
    small = {
        "n_frequencies": 4,
        "batch": 10,
        "budget": 5,
        "rank": 2,
        "sigma": 1.0,
        "t": 3,
        "sample": 64,
        "n_particles": 3,
    }
    known = RECIPES[name]().get_params()
    online = started(name, "binary", {key: value for key, value in small.items() if key in known})
    X, y = stream("binary", 1000)
    online.learn(X, y)
    early = trees.nbytes(online.model)
    rows, targets = np.tile(X, (37, 1)), np.tile(y, 37)
    for _ in range(27):
        online.learn(rows, targets)
    assert online.rows_learned == 1_000_000
    assert trees.nbytes(online.model) == early
    assert np.isfinite(online.score(X)).all()
