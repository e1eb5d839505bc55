"""The eight points of the worked numbers, what a case is, and short names for the cases of each task."""

from typing import NamedTuple

import numpy as np

from tests.naive import maps
from tests.naive.common import predict

X8 = np.array([[1, 0], [0, 1], [1, 1], [-1, 0.5], [0.5, -1], [-0.5, -0.5], [0.8, 0.2], [0.1, 0.9]], dtype=float)
Y8 = np.array([1, -1, -1, 1, 1, -1, 1, -1], dtype=float)
C8 = np.array([0, 1, 2, 1, 0, 2, 0, 1], dtype=float)
R8 = np.array([0.3, 0.8, 0.9, 0.1, 0.5, 0.2, 0.4, 0.7])
U = np.array([[0.5, -1, 0.25], [1, 0.5, -0.75]])
D = 3
GAUSSIAN = ("gaussian", 0.5)
FOURIER = ("fourier", U)


class Case(NamedTuple):
    """One run: twin(X, y, task, outputs, build(kernel), **parameters) has these scores (if printed) and this state.

    state may also hold what follows from the scores alone: "mistakes", "mean_square_loss", "last_scores".
    """

    name: str
    twin: str
    task: str
    outputs: int
    X: np.ndarray
    y: np.ndarray
    kernel: tuple
    parameters: dict
    scores: np.ndarray | None
    state: dict


def build(spec):
    """("gaussian", 0.5) -> maps.gaussian(0.5)."""
    name, *arguments = spec
    return getattr(maps, name)(*arguments)


def consequences(case, scores):
    """What follows from the scores of a case alone."""
    wrong = [predict(case.task, f) != y for f, y in zip(scores, case.y, strict=True)]
    errors = scores[:, 0] - case.y
    return {"mistakes": sum(wrong), "mean_square_loss": np.mean(errors * errors), "last_scores": scores[-1]}


def column(*numbers):
    return np.array(numbers, dtype=float).reshape(-1, 1)


def binary(name, twin, kernel, parameters, scores, **state):
    return Case(f"binary {name}", twin, "binary", 1, X8, Y8, kernel, parameters, scores, state)


def multiclass(name, twin, kernel, parameters, **state):
    return Case(f"multiclass {name}", twin, "multiclass", 3, X8, C8, kernel, parameters, None, state)


def regression(name, twin, kernel, parameters, scores, **state):
    return Case(f"regression {name}", twin, "regression", 1, X8, R8, kernel, parameters, scores, state)


def by_age(uniforms):
    """choose(rows): the slot of the floor(u B)-th oldest of the B rows, u the next of the uniforms."""
    left = iter(uniforms)
    return lambda rows: rows.index(sorted(rows)[int(next(left) * len(rows))])


def by_rows(state):
    """The stored points in the order of their rows: the specification prints them partly by age, partly by slot."""
    order = np.argsort(state["rows"])
    stored = {entry: np.asarray(state[entry])[order] for entry in ("rows", "coefficients", "points") if entry in state}
    return {**state, **stored}
