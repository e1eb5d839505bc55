"""The first rows, while a width rule is not settled; what a learner at work refuses."""

import copy

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from onkel import fogd, nogd, ogd
from onkel.core.trees import same
from onkel.pieces.bandwidth import FIRST_ROWS, settle
from tests.evaluation.common import N_FEATURES, TASKS, started, stream

RULES = {"fogd": fogd, "ogd": ogd, "nogd": nogd}


@pytest.mark.parametrize("rule", ["scale", "median"])
@pytest.mark.parametrize("name", RULES)
def test_rows_held_for_a_width_are_learned_with_the_width_they_give(name, rule):
    rows, targets = stream("binary")
    online = RULES[name](gamma=rule).start(N_FEATURES)
    online.learn(rows[:FIRST_ROWS], targets[:FIRST_ROWS])
    width = settle(RULES[name](gamma=rule).plan("binary").kernel, rows[:FIRST_ROWS].astype(np.float32)).gamma
    given = RULES[name](gamma=width).start(N_FEATURES)
    given.learn(rows[:FIRST_ROWS], targets[:FIRST_ROWS])
    assert same(online.model, given.model)
    assert np.array_equal(online.learn(rows, targets), given.learn(rows, targets))


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("n", [1, 2, 3, 20, FIRST_ROWS - 1])
def test_predictions_from_rows_held_change_nothing(task, n):
    rows, targets = stream(task)
    asked, plain = started(fogd(), task), started(fogd(), task)
    asked.learn(rows[:n], targets[:n])
    before = copy.deepcopy(asked.model)
    scores = asked.score(rows[:7])
    assert same(asked.model, before)
    assert np.array_equal(asked.score(rows[:7]), scores)
    assert asked.rows_learned == n
    plain.learn(rows[:n], targets[:n])
    assert np.array_equal(asked.learn(rows[n:], targets[n:]), plain.learn(rows[n:], targets[n:]))


def test_before_the_first_row_all_scores_are_zero():
    rows, targets = stream("multiclass")
    online = started(fogd(), "multiclass")
    assert not online.score(rows).any()
    assert not online.learn(rows[:1], targets[:1]).any()


def test_rows_held_are_predicted_better_than_by_chance():
    rows = np.repeat([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]], 10, axis=0)
    targets = np.repeat([-1.0, 1.0], 10)
    online = fogd().start(N_FEATURES)
    online.learn(rows, targets)
    assert np.array_equal(np.sign(online.score(rows)[:, 0]), targets)


@pytest.mark.parametrize("gamma", ["scale", 0.5])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("how", ["learn", "learn_one"])
def test_the_caller_may_use_an_array_again_after_its_row_was_learned(gamma, dtype, how):
    rows, targets = stream("binary")
    careful, thrifty = (fogd(gamma=gamma).start(N_FEATURES, dtype=dtype) for _ in range(2))
    buffer = np.empty(N_FEATURES, dtype)
    for row, target in zip(rows, targets, strict=True):
        buffer[:] = row
        if how == "learn":
            careful.learn(row[None], [target])
            thrifty.learn(buffer[None], [target])
        else:
            careful.learn_one(row, target)
            thrifty.learn_one(buffer, target)
    assert same(careful.model, thrifty.model)


@pytest.mark.parametrize(
    ("task", "target"),
    [("multiclass", 4.0), ("multiclass", -1.0), ("multiclass", 0.5), ("binary", 0.0), ("binary", 2.0)],
)
@pytest.mark.parametrize("how", ["learn", "learn_one"])
def test_targets_that_stand_for_no_class_are_refused(task, target, how):
    rows, targets = stream(task)
    online = started(fogd(gamma=0.5), task)
    online.learn(rows, targets)
    before = copy.deepcopy(online.model)
    with pytest.raises(ValueError, match=r"[Tt]arget"):
        online.learn_one(rows[0], target) if how == "learn_one" else online.learn(rows[:1], [target])
    assert same(before, online.model)


@pytest.mark.parametrize(
    ("rows", "shape"),
    [
        ([[1.0, 2.0]], "(1, 2)"),
        ([1.0, 2.0, 3.0], "(3,)"),
        (np.ones((2, 4)), "(2, 4)"),
        (np.ones(3), "(3,)"),
        (1.0, "()"),
        (csr_matrix(np.ones((2, 4))), "(2, 4)"),
    ],
)
@pytest.mark.parametrize("how", ["learn", "score"])
def test_rows_of_another_width_are_refused(rows, shape, how):
    online = fogd(gamma=0.5).start(N_FEATURES)
    with pytest.raises(ValueError) as caught:  # noqa: PT011 (the sentence is compared below)
        getattr(online, how)(*((rows, [1.0]) if how == "learn" else (rows,)))
    assert str(caught.value) == f"Rows must be of width 3; the shape given is {shape}."


@pytest.mark.parametrize(
    ("targets", "importance"),
    [
        ([1.0], None),
        (1.0, None),
        ([[1.0], [1.0]], None),
        ([1.0, 1.0], [1.0]),
        ([1.0, np.nan], None),
        ([1.0, 1.0], [1.0, np.inf]),
        ([1.0, 1.0], [1.0, -1.0]),
    ],
)
def test_targets_and_weights_that_do_not_fit_are_refused(targets, importance):
    online = fogd(gamma=0.5).start(N_FEATURES)
    with pytest.raises(ValueError, match=r"[Tt]arget|[Ww]eight"):
        online.learn(np.ones((2, 3)), targets, importance)
    assert online.rows_learned == 0


def test_an_empty_block_teaches_nothing():
    for gamma in ("scale", 0.5):
        online = fogd(gamma=gamma).start(N_FEATURES)
        assert online.learn(np.ones((0, 3)), []).shape == (0, 1)
        assert online.score(np.ones((0, 3))).shape == (0, 1)
        assert online.rows_learned == 0
