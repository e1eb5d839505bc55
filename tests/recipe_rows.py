"""What a row of the table of recipes says."""

from typing import Any, NamedTuple

TASKS = {"binary": 1, "multiclass": 3, "regression": 1}  # with their numbers of outputs
N_ROWS = 120


def by_task(binary: Any, multiclass: Any = None, regression: Any = None) -> dict[str, Any]:
    """One value per task; a recipe that is not made for a task has none."""
    values = zip(TASKS, (binary, multiclass, regression), strict=True)
    return {task: value for task, value in values if value is not None}


class Row(NamedTuple):
    """What the tests know of a recipe.

    defaults[name][task] is the value that its docstring states for a parameter that is None; variations are
    (task, parameters). Where it draws a feature map, the twin learns on the map that the started model drew; where it
    removes points at random, the twin takes the same random numbers.
    """

    parameters: dict[str, dict[str, Any]]
    defaults: dict[str, dict[str, Any]]
    variations: list[tuple[str, dict[str, Any]]]
    constant_memory: bool = False
    draws: bool = False
    removes_at_random: bool = False
    any_kernel: bool = True
    same_bits: bool = True  # for dense and compressed rows, where nothing is standardised


LOSSES = [
    ("binary", "hinge"),
    ("binary", "logistic"),
    ("binary", "softmax"),
    ("multiclass", "hinge"),
    ("multiclass", "logistic"),
    ("multiclass", "softmax"),
    ("regression", "squared"),
    ("regression", "absolute"),
    ("regression", "epsilon_insensitive"),
]
