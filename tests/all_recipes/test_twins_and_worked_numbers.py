"""The table; the papers; step rules; worked numbers; importance."""

import numpy as np
import pytest

from onkel.core import trees
from onkel.learners.linear import linear
from onkel.model.online import Online, Setting
from onkel.pieces import losses, steps
from onkel.pieces.maps.fourier import fourier
from onkel.pieces.scaler import Standardised
from onkel.recipes import RECIPES, make_learner
from onkel.recipes.common import FIRST_CAPACITY
from onkel.recipes.learner import TASKS as KNOWN_TASKS
from tests.all_recipes.common import STEPPED, close, each_cell, each_recipe, learned, title, without_penalty
from tests.naive.common import slopes
from tests.naive.worked import CASES, U, by_rows, consequences
from tests.replay import replay
from tests.tables import (
    CELLS,
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


def follow(name, task, layout, dtype, given):
    """Scores and state of a recipe, and the trace of its twin on the very numbers that the recipe sees."""
    X, y = stream(task)
    X = rows_for(given, X).astype(dtype)
    online = started(name, task, given, dtype)
    trace = twin_of(name, task, online, X.astype(np.float64), y, layout)
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


def unlearned(case):
    """The library's model for a worked case. Fourier cases give the frequencies instead of a seed."""
    if case.twin != "fogd":
        given = {key: value for key, value in case.parameters.items() if key != "uniforms"}
        learner = make_learner(case.twin, gamma=case.kernel[1], **given)
        online = learner.start(2, case.task, case.outputs, dtype="float64")
        return replay(online, case.parameters["uniforms"]) if "uniforms" in case.parameters else online
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
    state, printed = observed(case, online, np.array(scores), path), case.state
    if case.scores is not None:
        np.testing.assert_allclose(scores, case.scores, rtol=0.0, atol=1e-7)
    if "rows" in printed:
        state, printed = by_rows(state), by_rows(printed)
    for entry, expected in printed.items():
        assert np.shape(state[entry]) == np.shape(expected), entry
        np.testing.assert_allclose(state[entry], expected, rtol=0.0, atol=1e-7, err_msg=entry)


@pytest.mark.parametrize("name", [n for n in RECIPE_TABLE if "loss" in RECIPE_TABLE[n].defaults])
def test_a_weight_of_two_doubles_the_slope(name):
    X, y = stream("regression")
    given = parameters(name, "regression")
    weighted = started(name, "regression", {**given, "loss": losses.squared(factor=1.0)})
    doubled = started(name, "regression", {**given, "loss": losses.squared(factor=2.0)})
    close(weighted.learn(X, y, np.full(len(y), 2.0)), doubled.learn(X, y), 1e-12)


def timeless(model, by_time):
    """A model without what depends on the number of rows alone."""
    if isinstance(model, Standardised):
        return model._replace(model=timeless(model.model, by_time))
    if hasattr(model, "parts"):
        return model._replace(clock=None, parts=tuple(timeless(part, by_time) for part in model.parts))
    scales = {"support": model.support._replace(scale=None)} if by_time else {}
    scales |= {"scale": None} if by_time and hasattr(model, "scale") else {}
    return model._replace(clock=None, **scales)


@pytest.mark.parametrize(("name", "task"), [cell for cell in CELLS if cell[0] != "ada_raker"])  # its levels follow time
def test_a_row_of_weight_zero_teaches_nothing(name, task):
    X, y = stream(task)
    given = without_penalty(name, parameters(name, task))
    online, twin = started(name, task, given), started(name, task, given)
    for model in (online, twin):
        model.learn(X[:50], y[:50])
    online.learn(X[50:53], y[50:53], np.zeros(3))
    assert online.rows_learned == 53
    by_time = "first" in RECIPES[name]().get_params() or name == "dual_sgd"  # f shrinks with every row
    assert trees.same(timeless(online.model, by_time), timeless(twin.model, by_time))


def test_a_weight_scales_the_step_of_its_row_alone():
    X, y = stream("binary")
    given = {**parameters("ogd", "binary"), "loss": "logistic"}
    plain, weighted = started("ogd", "binary", given), started("ogd", "binary", given)
    plain.learn(X[:3], y[:3])
    weighted.learn(X[:3], y[:3], [1.0, 1.0, 3.0])
    np.testing.assert_allclose(weighted.model.support.coef[0, :3], plain.model.support.coef[0, :3] * [1, 1, 3], 1e-15)
