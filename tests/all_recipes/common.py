"""What the tests of all recipes share."""

from typing import Any

import numpy as np
import pytest

from onkel.core import trees
from onkel.files.model_file import load_model, save_model
from onkel.recipes import RECIPES
from tests.tables import (
    CELLS,
    RECIPE_TABLE,
    TASKS,
    laid_out,
)

each_cell = pytest.mark.parametrize(("name", "task"), CELLS)


each_recipe = pytest.mark.parametrize("name", RECIPE_TABLE)


def close(actual, expected, tolerance):
    """Equal up to a share of the largest expected number, which is taken to be at least 1."""
    size = max(1.0, np.max(np.abs(expected), initial=0.0))
    np.testing.assert_allclose(actual, expected, rtol=0.0, atol=tolerance * size)


def title(value: Any) -> str | None:
    """A readable name for a set of parameters in the list of tests."""
    return ",".join(f"{k}={v}" for k, v in value.items()) if isinstance(value, dict) else None


def without_penalty(name: str, given: dict[str, Any]) -> dict[str, Any]:
    """The same parameters with lam = 0 where that is possible."""
    known = RECIPES[name]().get_params()
    return {**given, "lam": 0.0} if "lam" in known and "eta" in known else given


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


def learned(online, X, y, layout, cut):
    """Scores of a stream that arrives in blocks of `cut` rows; 0: row by row through `learn_one`."""
    rows = laid_out(X, layout, online.setting.dtype)
    if cut:
        return np.concatenate([online.learn(rows[i : i + cut], y[i : i + cut]) for i in range(0, len(y), cut)])
    return np.array([online.learn_one(x, target).copy() for x, target in zip(rows, y, strict=True)])


def continued(online, X, y, layout, stop, path):
    """Scores of a stream whose learner is saved after `stop` rows and goes on from its file."""
    rows = laid_out(X, layout, online.setting.dtype)
    before = online.learn(rows[:stop], y[:stop])
    save_model(path, online, extra={"stop": stop})
    restored, _, _, extra = load_model(path)
    assert extra == {"stop": stop}
    assert trees.same(restored.model, online.model)
    return np.concatenate([before, restored.learn(rows[stop:], y[stop:])]), restored


each_recipe_with_a_rate = pytest.mark.parametrize(
    "name",
    [n for n, row in RECIPE_TABLE.items() if "eta" in RECIPES[n]().get_params() and "regression" in row.parameters],
)
