"""What every recipe promises, for every task. The tables are in tests/tables.py."""

from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from onkel import kernels, losses, snapshot, steps
from onkel.learners.linear import linear
from onkel.maps.fourier import fourier
from onkel.online import Online, Setting
from onkel.recipes import RECIPES, make_learner
from onkel.recipes.common import FIRST_CAPACITY
from onkel.recipes.learner import TASKS as KNOWN_TASKS
from onkel.stored import load_model, save_model
from onkel.widths import FIRST_ROWS, settle
from tests.naive.common import slopes
from tests.naive.worked import CASES, U, consequences
from tests.tables import (
    CELLS,
    CONSTANT_MEMORY,
    LAYOUTS,
    N_FEATURES,
    RANDOM,
    RECIPE_TABLE,
    TASKS,
    VARIATIONS,
    explicit,
    laid_out,
    parameters,
    rows_for,
    started,
    state_of,
    stream,
    twin_kernel,
    twin_of,
)

PRECISION = {np.float64: 1e-9, np.float32: 1e-4}  # of scores, relative to the largest one
CUTS = (1, 7, 64)
ROWS_WITH_A_RULE = FIRST_ROWS + 30

each_cell = pytest.mark.parametrize(("name", "task"), CELLS)
each_recipe = pytest.mark.parametrize("name", RECIPE_TABLE)
each_layout = pytest.mark.parametrize("layout", LAYOUTS)


def close(actual, expected, tolerance):
    """Equal up to a share of the largest expected number, which is taken to be at least 1."""
    size = max(1.0, np.max(np.abs(expected), initial=0.0))
    np.testing.assert_allclose(actual, expected, rtol=0.0, atol=tolerance * size)


def title(value: Any) -> str | None:
    """A readable name for a set of parameters in the list of tests."""
    return ",".join(f"{k}={v}" for k, v in value.items()) if isinstance(value, dict) else None


def without_penalty(name: str, given: dict[str, Any]) -> dict[str, Any]:
    """The same parameters with lam = 0 where there is one."""
    return {**given, "lam": 0.0} if "lam" in RECIPES[name]().get_params() else given


# ---- the table ----


def test_every_recipe_has_a_row_in_the_table():
    ours = {name for name, make in RECIPES.items() if make.__module__.startswith("onkel.")}
    missing, extra = sorted(ours - set(RECIPE_TABLE)), sorted(set(RECIPE_TABLE) - ours)
    assert not missing, f"Give {', '.join(missing)} a naive twin in tests/naive and a row in tests/tables.py."
    assert not extra, f"tests/tables.py has rows for {', '.join(extra)}, which are not recipes."


def test_every_task_is_in_the_table():
    assert set(TASKS) == set(KNOWN_TASKS)


@each_recipe
def test_the_docstring_says_whether_memory_is_constant(name):
    said = "Constant memory." in RECIPES[name].__doc__
    assert said == RECIPE_TABLE[name].constant_memory


@each_recipe
def test_the_docstring_names_its_pieces_its_tasks_and_its_deviations(name):
    for heading in ("Pieces:", "Tasks:", "Differs from the paper:", "References:"):
        assert heading in RECIPES[name].__doc__, f"{name} does not say: {heading}"


# ---- the papers ----


def follow(name, task, layout, dtype, given):
    """Scores and state of a recipe, and the trace of its twin on the very numbers that the recipe sees."""
    X, y = stream(task)
    X = rows_for(given, X).astype(dtype)
    online = started(name, task, given, dtype)
    trace = twin_of(name, task, online, X.astype(np.float64), y)
    scores = online.learn(laid_out(X, layout, dtype), y)
    return scores, state_of(online.model), trace


def agree(scores, state, trace, precision):
    assert np.any(trace.scores != 0.0)
    close(scores, trace.scores, precision)
    for entry in state.keys() & trace.state.keys():
        if trace.state[entry] is not None:
            close(state[entry], trace.state[entry], precision)


@each_cell
def test_follows_the_paper_row_by_row(name, task):
    scores, state, trace = follow(name, task, "dense", np.float64, parameters(name, task))
    agree(scores, state, trace, PRECISION[np.float64])
    assert state.keys() & trace.state.keys(), "nothing of the model itself was compared"


@each_recipe
def test_follows_the_paper_row_by_row_on_compressed_rows(name):
    agree(*follow(name, "binary", "csr", np.float64, parameters(name, "binary")), PRECISION[np.float64])


@pytest.mark.parametrize(
    ("name", "layout"), [(name, "dense") for name in RECIPE_TABLE] + [(name, "csr") for name in ("ogd", "fogd")]
)
def test_follows_the_paper_row_by_row_in_single_precision(name, layout):
    scores, _, trace = follow(name, "binary", layout, np.float32, parameters(name, "binary"))
    close(scores, trace.scores, PRECISION[np.float32])


@pytest.mark.parametrize(("name", "task", "given"), VARIATIONS, ids=title)
def test_follows_the_paper_with_other_parameters(name, task, given):
    agree(*follow(name, task, "dense", np.float64, given), PRECISION[np.float64])


@pytest.mark.parametrize("cut", [0, 64])
def test_follows_the_paper_when_the_arrays_must_grow(cut):
    X, y = stream("binary", 300)
    online = started("ogd", "binary", {"sigma": 0.2})
    trace = twin_of("ogd", "binary", online, X, y)
    scores = learned(online, X, y, "dense", cut)
    assert online.model.support.count[0] > FIRST_CAPACITY
    agree(scores, state_of(online.model), trace, PRECISION[np.float64])


# ---- step rules ----

STEP_RULES = [  # (name, parameters); eta_t of round t = 1, 2, ... is in `slow_descent`
    ("constant", {"eta": 0.4, "lam": 0.1}),
    ("inverse_sqrt", {"eta": 0.8, "lam": 0.1}),
    ("inverse_time", {"lam": 0.05}),
    ("adagrad", {"eta": 0.3, "lam": 0.1}),
]
STEPPED = [
    (name, task, rule, given)
    for name in ("ogd", "fogd")
    for task in TASKS
    for rule, given in STEP_RULES
    if (name, rule) != ("ogd", "adagrad")
]


def slow_descent(Z, y, task, rule, eta, lam):
    """f = W z; W <- (1 - eta_t lam) W - eta_t g z^T, with Adagrad's g over the root of the sum of its squares."""
    W, G, scores = np.zeros((TASKS[task], Z.shape[1])), np.zeros((TASKS[task], Z.shape[1])), []
    for t, z in enumerate(Z, start=1):
        scores.append(W @ z)
        gradient = np.outer(slopes("squared" if task == "regression" else "hinge", task, y[t - 1], scores[-1], 0.1), z)
        eta_t = {"inverse_sqrt": eta / np.sqrt(t), "inverse_time": 1.0 / (lam * t)}.get(rule, eta)
        G = G + gradient**2
        if rule == "adagrad":
            gradient = np.divide(gradient, np.sqrt(G), out=np.zeros_like(G), where=G > 0.0)
        W = (1.0 - eta_t * lam) * W - eta_t * gradient
    return np.array(scores)


def features_of_all(X, online):
    """Explicit features of the rows: those of the map, or, for an expansion, the root of the rows' Gram matrix."""
    if hasattr(online.model, "feature_map"):
        return np.array([explicit(online.model.feature_map)(x) for x in X])
    kernel = twin_kernel("gaussian", None, online.learner.get_params()["sigma"])
    values, vectors = np.linalg.eigh([[kernel(a, b) for b in X] for a in X])
    return vectors * np.sqrt(np.maximum(values, 0.0))


@pytest.mark.parametrize(("name", "task", "rule", "given"), STEPPED, ids=title)
def test_steps_follow_their_rule_row_by_row(name, task, rule, given):
    X, y = stream(task)
    online = started(name, task, {**parameters(name, task), "step": rule, **given})
    expected = slow_descent(features_of_all(X, online), y, task, rule, given.get("eta", 0.0), given["lam"])
    close(online.learn(X, y), expected, PRECISION[np.float64])


# ---- worked numbers ----


def unlearned(case):
    """The library's model for a worked case. Fourier cases give the frequencies instead of a seed."""
    if case.twin != "fogd":
        learner = make_learner(case.twin, gamma=case.kernel[1], **case.parameters)
        return learner.start(2, case.task, case.outputs, dtype="float64")
    loss = losses.squared(case.parameters["epsilon"]) if case.task == "regression" else losses.hinge()
    step = steps.constant(case.parameters["eta"], case.parameters["lam"])
    model = linear(fourier(U, np.float64), loss, step, case.outputs, np.float64)
    return Online(make_learner("fogd"), case.task, Setting(2, case.outputs, np.dtype(np.float64)), model)


def observed(case, online, scores, path):
    """What a worked case may print: the state of the model, or of the expansion before it became linear."""
    state = {**state_of(online.model), **consequences(case, scores), "path": path}
    if case.twin == "nogd":
        first = unlearned(case)
        budget = case.parameters["budget"]
        first.learn(case.X[:budget], case.y[:budget])
        kept = state_of(first.model)
        np.testing.assert_array_equal(online.model.feature_map.points.T, case.X[kept["rows"]])
        state = {**state, "rows": kept["rows"], "coefficients": kept["coefficients"]}
    return state


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_prints_the_worked_numbers(case):
    online = unlearned(case)
    scores, path = [], []
    for x, y in zip(case.X, case.y, strict=True):
        scores.append(online.learn_one(x, y).copy())
        path.append(state_of(online.model).get("threshold"))
    state = observed(case, online, np.array(scores), path)
    if case.scores is not None:
        np.testing.assert_allclose(scores, case.scores, rtol=0.0, atol=1e-7)
    for entry, expected in case.state.items():
        assert np.shape(state[entry]) == np.shape(expected), entry
        np.testing.assert_allclose(state[entry], expected, rtol=0.0, atol=1e-7, err_msg=entry)


# ---- importance ----


@pytest.mark.parametrize("name", [n for n in RECIPE_TABLE if "loss" in RECIPE_TABLE[n].defaults])
def test_a_weight_of_two_doubles_the_slope(name):
    X, y = stream("regression")
    given = parameters(name, "regression")
    weighted = started(name, "regression", {**given, "loss": losses.squared(factor=1.0)})
    doubled = started(name, "regression", {**given, "loss": losses.squared(factor=2.0)})
    close(weighted.learn(X, y, np.full(len(y), 2.0)), doubled.learn(X, y), 1e-12)


@each_cell
def test_a_row_of_weight_zero_teaches_nothing(name, task):
    X, y = stream(task)
    given = without_penalty(name, parameters(name, task))
    online, twin = started(name, task, given), started(name, task, given)
    for model in (online, twin):
        model.learn(X[:50], y[:50])
    online.learn(X[50:53], y[50:53], np.zeros(3))
    assert online.rows_learned == 53
    assert snapshot.same(online.model._replace(clock=twin.model.clock), twin.model)


def test_a_weight_scales_the_step_of_its_row_alone():
    X, y = stream("binary")
    given = {**parameters("ogd", "binary"), "loss": "logistic"}
    plain, weighted = started("ogd", "binary", given), started("ogd", "binary", given)
    plain.learn(X[:3], y[:3])
    weighted.learn(X[:3], y[:3], [1.0, 1.0, 3.0])
    np.testing.assert_allclose(weighted.model.support.coef[0, :3], plain.model.support.coef[0, :3] * [1, 1, 3], 1e-15)


# ---- cuts, layouts, interruptions ----


def learned(online, X, y, layout, cut):
    """Scores of a stream that arrives in blocks of `cut` rows; 0: row by row through `learn_one`."""
    rows = laid_out(X, layout, online.setting.dtype)
    if cut:
        return np.concatenate([online.learn(rows[i : i + cut], y[i : i + cut]) for i in range(0, len(y), cut)])
    return np.array([online.learn_one(x, target).copy() for x, target in zip(rows, y, strict=True)])


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
    assert snapshot.same(scores, expected)
    assert snapshot.same(online.model, model)


@each_cell
def test_learning_one_row_at_a_time_is_the_same(name, task):
    online = started(name, task, parameters(name, task))
    scores = learned(online, *stream(task), "dense", 0)
    expected, model = whole(name, task, "dense", "float64")
    assert snapshot.same(scores, expected)
    assert snapshot.same(online.model, model)


@pytest.mark.parametrize("cut", [0, 7])
@each_recipe
def test_scores_in_single_precision_do_not_depend_on_the_cut(name, cut):
    online = started(name, "binary", parameters(name, "binary"), "float32")
    scores = learned(online, *stream("binary"), "dense", cut)
    expected, model = whole(name, "binary", "dense", "float32")
    assert snapshot.same(scores, expected)
    assert snapshot.same(online.model, model)


@each_cell
def test_dense_and_compressed_rows_give_the_same_bits(name, task):
    dense, dense_model = whole(name, task, "dense", "float64")
    compressed, compressed_model = whole(name, task, "csr", "float64")
    assert snapshot.same(dense, compressed)
    assert snapshot.same(dense_model, compressed_model)


@pytest.mark.parametrize("name", ["ogd", "fogd"])
def test_dense_and_compressed_rows_give_the_same_bits_in_single_precision(name):
    dense, dense_model = whole(name, "binary", "dense", "float32")
    compressed, compressed_model = whole(name, "binary", "csr", "float32")
    assert snapshot.same(dense, compressed)
    assert snapshot.same(dense_model, compressed_model)


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
    assert snapshot.same(online.learn(make(X), y), expected)
    assert snapshot.same(online.model, model)


def ruled(name, rule):
    """A recipe whose kernel has this rule, or number, for its width."""
    given = {key: value for key, value in parameters(name, "binary").items() if key != "sigma"}
    return started(name, "binary", {**given, "gamma": rule})


@pytest.mark.parametrize("rule", kernels.RULES)
@each_recipe
def test_a_width_rule_is_renewed_at_powers_of_two_until_it_is_kept(name, rule):
    X, y = stream("binary", ROWS_WITH_A_RULE)
    scores = ruled(name, rule).learn(X, y)
    assert not scores[0].any()
    seen = 1
    while seen <= FIRST_ROWS:  # rows `seen` to `last` are scored with the width of the first `seen` rows
        last = 2 * seen if seen < FIRST_ROWS else len(y)
        width = settle(kernels.gaussian(gamma=rule), X[:seen]).gamma
        expected = ruled(name, width).learn(X[:last], y[:last])
        assert snapshot.same(scores[seen:last], expected[seen:])
        seen *= 2


@pytest.mark.parametrize("rule", kernels.RULES)
@each_recipe
def test_a_width_rule_does_not_depend_on_the_cut(name, rule):
    X, y = stream("binary", ROWS_WITH_A_RULE)
    at_once, in_parts, one_by_one = (ruled(name, rule) for _ in range(3))
    expected = at_once.learn(X, y)
    for online, cut in [(in_parts, 7), (one_by_one, 0)]:
        assert snapshot.same(learned(online, X, y, "dense", cut), expected)
        assert snapshot.same(online.model, at_once.model)


@pytest.mark.parametrize("rule", kernels.RULES)
@each_recipe
def test_a_width_rule_gives_the_same_bits_for_dense_and_compressed_rows(name, rule):
    X, y = stream("binary", ROWS_WITH_A_RULE)
    dense, compressed = ruled(name, rule), ruled(name, rule)
    expected = dense.learn(X, y)
    scores = learned(compressed, X, y, "csr", 7)
    assert snapshot.same(scores, expected)
    assert snapshot.same(compressed.model, dense.model)


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


def continued(online, X, y, layout, stop, path):
    """Scores of a stream whose learner is saved after `stop` rows and goes on from its file."""
    rows = laid_out(X, layout, online.setting.dtype)
    before = online.learn(rows[:stop], y[:stop])
    save_model(path, online, {"stop": stop})
    restored, extra = load_model(path)
    assert extra == {"stop": stop}
    assert snapshot.same(restored.model, online.model)
    return np.concatenate([before, restored.learn(rows[stop:], y[stop:])]), restored


@pytest.mark.parametrize("stop", [0, 1, 17, 60, 119])  # nogd changes its kind of model between 17 and 60
@each_cell
def test_a_learner_that_was_saved_goes_on_as_if_never_stopped(name, task, stop, tmp_path):
    online = started(name, task, parameters(name, task))
    scores, restored = continued(online, *stream(task), "dense", stop, tmp_path / "model")
    expected, model = whole(name, task, "dense", "float64")
    assert snapshot.same(scores, expected)
    assert snapshot.same(restored.model, model)


@each_layout
@pytest.mark.parametrize(
    "stop", [0, 1, FIRST_ROWS // 2 - 1, FIRST_ROWS // 2, FIRST_ROWS - 1, FIRST_ROWS, FIRST_ROWS + 1]
)
@each_recipe
def test_a_learner_that_waits_for_its_width_can_be_saved(name, stop, layout, tmp_path):
    X, y = stream("binary", ROWS_WITH_A_RULE)
    online, unstopped = ruled(name, "scale"), ruled(name, "scale")
    expected = unstopped.learn(laid_out(X, layout), y)
    scores, restored = continued(online, X, y, layout, stop, tmp_path / "model")
    assert snapshot.same(scores, expected)
    assert snapshot.same(restored.model, unstopped.model)


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
    assert snapshot.same(learned(in_parts, X, y, "csr", 7), expected)
    assert snapshot.same(in_parts.model, at_once.model)
    scores, restored = continued(saved, X, y, "dense", 60, tmp_path / "model")
    assert snapshot.same(scores, expected)
    assert snapshot.same(restored.model, at_once.model)


@pytest.mark.parametrize("name", [name for name in RECIPE_TABLE if "published" in RECIPES[name]().get_params()])
def test_printed_forms_can_be_saved(name, tmp_path):
    X, y = stream("regression")
    given = {**parameters(name, "regression"), "published": True}
    online, unstopped = started(name, "regression", given), started(name, "regression", given)
    scores, _ = continued(online, X, y, "dense", 60, tmp_path / "model")
    assert snapshot.same(scores, unstopped.learn(X, y))


# ---- scores, seeds ----


def copied(tree: Any) -> Any:
    if isinstance(tree, np.ndarray):
        return tree.copy()
    return type(tree)(*map(copied, tree)) if isinstance(tree, tuple) else tree


@pytest.mark.parametrize("learned_rows", [0, 10, 80])
@each_cell
def test_scoring_changes_nothing(name, task, learned_rows):
    X, y = stream(task)
    online = started(name, task, parameters(name, task))
    online.learn(X[:learned_rows], y[:learned_rows])
    before = copied(online.model)
    first, second = online.score(X), online.score(X)
    assert snapshot.same(first, second)
    assert snapshot.same(online.model, before)


@each_recipe
def test_scoring_while_the_width_is_awaited_changes_nothing(name):
    X, y = stream("binary", ROWS_WITH_A_RULE)
    online, unasked = ruled(name, "scale"), ruled(name, "scale")
    held = FIRST_ROWS - 3
    online.learn(X[:held], y[:held])
    assert online.score(X[held:]).any()
    assert online.rows_learned == held
    unasked.learn(X[:held], y[:held])
    assert snapshot.same(online.learn(X[held:], y[held:]), unasked.learn(X[held:], y[held:]))
    assert snapshot.same(online.model, unasked.model)


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
    assert snapshot.same(again, whole(name, task, "dense", "float64")[0])


@each_recipe
def test_another_seed_gives_another_result_where_something_is_drawn(name):
    other = started(name, "binary", parameters(name, "binary"), seed=1).learn(*stream("binary"))
    unchanged = snapshot.same(other, whole(name, "binary", "dense", "float64")[0])
    assert unchanged == (name not in RANDOM)


# ---- unlimited streams ----


@pytest.mark.parametrize("name", CONSTANT_MEMORY)
def test_memory_after_a_thousand_rows_is_memory_after_a_million(name):
    small = {"n_frequencies": 4, "batch": 10, "budget": 5, "rank": 2, "sigma": 1.0}
    known = RECIPES[name]().get_params()
    online = started(name, "binary", {key: value for key, value in small.items() if key in known})
    X, y = stream("binary", 1000)
    online.learn(X, y)
    early = snapshot.nbytes(online.model)
    rows, targets = np.tile(X, (37, 1)), np.tile(y, 37)
    for _ in range(27):
        online.learn(rows, targets)
    assert online.rows_learned == 1_000_000
    assert snapshot.nbytes(online.model) == early
    assert np.isfinite(online.score(X)).all()


# ---- extreme numbers ----

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
@pytest.mark.parametrize("name", [n for n in RECIPE_TABLE if n not in RANDOM])
def test_extreme_rows_never_give_a_score_that_is_no_number_under_any_kernel(name, dtype, kernel):
    X, y = extreme_rows()
    given = {key: value for key, value in parameters(name, "binary").items() if key != "sigma"}
    width = {"sigma": 1.0} if kernel in kernels.WITH_WIDTH else {}
    online = started(name, "binary", {**given, "kernel": kernel, **width}, dtype)
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


each_recipe_with_a_rate = pytest.mark.parametrize(
    "name", [n for n in RECIPE_TABLE if "eta" in RECIPES[n]().get_params()]
)


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
    given = parameters(name, "binary")
    online, unstopped = started(name, "binary", given, "float32"), started(name, "binary", given, "float32")
    expected = unstopped.learn(X, y)
    scores, _ = continued(online, X, y, "dense", 70, tmp_path / "model")
    assert snapshot.same(scores, expected)


@each_recipe_with_a_rate
def test_a_model_with_enormous_weights_can_be_saved(name, tmp_path):
    X, y = stream("regression")
    online, unstopped = diverging(name, "float32"), diverging(name, "float32")
    expected = unstopped.learn(X, y)
    scores, _ = continued(online, X, y, "dense", 110, tmp_path / "model")
    assert snapshot.same(scores, expected)
