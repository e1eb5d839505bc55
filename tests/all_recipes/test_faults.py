"""Whatever happens in the middle of learning, a model has learned a whole number of rows, and goes on from there."""

import copy

import numpy as np
import pytest

from onkel.core.trees import same
from onkel.core.verbs import CONFIG
from tests.all_recipes.common import each_cell
from tests.faults import FAULTS, each_fault
from tests.tables import laid_out, parameters, started, stream

BEFORE, CALL = 37, 30  # rows learned in peace, and rows of the call that fails
TRIES = 8  # moments of each call at which something happens
pytestmark = pytest.mark.skipif(CONFIG.DISABLE_JIT, reason="plain Python can be interrupted inside of a row")


def spread(count, tries=TRIES):
    """Moments from the first to the last."""
    return sorted({1 + round(k * (count - 1) / (tries - 1)) for k in range(tries)})


@each_fault
@pytest.mark.parametrize("layout", ["dense", "csr"])
@each_cell
def test_a_fault_at_any_moment_leaves_a_whole_number_of_rows(name, task, layout, fault):
    X, y = stream(task)
    rows = laid_out(X, layout)
    begun = started(name, task, parameters(name, task))
    begun.learn(rows[:BEFORE], y[:BEFORE])
    expected, trial, stop = copy.deepcopy(begun), copy.deepcopy(begun), BEFORE + CALL
    expected.learn(rows[BEFORE:], y[BEFORE:])
    events = fault.moments(lambda: trial.learn(rows[BEFORE:stop], y[BEFORE:stop]))
    for at in spread(events):
        online = copy.deepcopy(begun)
        came, error = fault.at(at, lambda online=online: online.learn(rows[BEFORE:stop], y[BEFORE:stop]))
        if not came:  # how rows are cut depends on how long they take
            continue
        assert isinstance(error, fault.kind), f"nothing came of moment {at} of {events}"
        learned = online.rows_learned
        assert BEFORE <= learned <= stop
        assert getattr(error, "rows_learned", learned - BEFORE) == learned - BEFORE
        online.learn(rows[learned:], y[learned:])
        assert same(online.model, expected.model), f"moment {at} of {events}, after {learned} rows"


GROWING = [
    ("perceptron", "binary"),
    ("ogd", "binary"),
    ("ogd", "multiclass"),
    ("omkl", "regression"),
    ("nogd", "binary"),
]


@pytest.mark.parametrize("layout", ["dense", "csr"])
@pytest.mark.parametrize(("name", "task"), GROWING)
def test_a_support_that_cannot_grow_is_whole(name, task, layout):
    rows, targets = 1500, np.random.default_rng(0)
    X, y = stream(task, rows)
    y = targets.permutation(y)  # so that nearly every row is kept
    begun, X = started(name, task, parameters(name, task)), laid_out(X, layout)
    begun.learn(X[:50], y[:50])
    begun.pace.rows = rows  # all at once
    expected, trial = copy.deepcopy(begun), copy.deepcopy(begun)
    expected.learn(X[50:], y[50:])
    fault = FAULTS["out of memory"]
    events, stops = fault.moments(lambda: trial.learn(X[50:], y[50:])), set()
    for at in range(1, events + 1, 1 + events // 60):
        online = copy.deepcopy(begun)
        fault.at(at, lambda online=online: online.learn(X[50:], y[50:]))
        learned = online.rows_learned
        stops.add(learned)
        if learned < rows:
            online.learn(X[learned:], y[learned:])
        assert same(online.model, expected.model), f"moment {at} of {events}, after {learned} rows"
    assert min(stops) < rows, "nothing failed"
