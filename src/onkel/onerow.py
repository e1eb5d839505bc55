"""One row at a time, through machine code that is bound to arrays of its own: no type analysis per call."""

from collections.abc import Callable
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from onkel import scaling
from onkel.learners import driving
from onkel.rows import Dense, all_finite
from onkel.scaling import Standardised

NEGATIVE = "Negative values in data: the additive chi2 kernel needs features >= 0."
TARGETS = {
    "binary": "-1 or 1",
    "multiclass": "numbers of classes: 0, 1, ...",
    "regression": "finite numbers",
}


class Frame(NamedTuple):
    """The row at hand, as arrays that bound code reads and writes, and what rows and targets must be."""

    target: Any  # (1,)
    importance: Any  # (1,)
    scores: Any  # (1, K), from before the row was learned
    width: int
    raw_dtype: Any  # of the rows that come
    dtype: Any  # of the rows that the model sees
    task: str
    finite: bool
    positive: bool


def frame(setting: Any, task: str, raw_dtype: Any, positive: bool) -> Frame:
    """Arrays for rows of a stream."""
    target, importance, scores = np.zeros(1), np.ones(1), np.zeros((1, setting.n_outputs))
    kind = setting.n_features, raw_dtype, setting.dtype
    return Frame(target, importance, scores, *kind, task, setting.missing == "error", positive)


def bindable(model: Any) -> bool:
    """Whether a model is learned and scored by one loop."""
    return type(model.model if isinstance(model, Standardised) else model) in driving.LOOPS


def placing(own: Frame) -> tuple[Any, Callable[[Any], None]]:
    """An array (1, d), and a function that puts a row there and refuses what is none."""
    width, positive = own.width, own.positive
    values = np.zeros((1, width), own.raw_dtype)
    row = values[0]
    usable: Callable[[Any], bool] = all_finite.bind(row) if own.finite else lambda _: True

    def place(x: Any) -> None:
        if len(x) != width:  # or a single number would be spread over the row
            raise ValueError(f"A row must be of width {width}; this one has {len(x)} numbers.")
        row[:] = x
        if not usable(row):
            raise ValueError("A row must consist of finite numbers; one is NaN or too large.")
        if positive and row.min() < 0:
            raise ValueError(NEGATIVE)

    return values, place


def learning(model: Any, own: Frame, replace: Callable[[Any], None]) -> Callable[[Any, float], Any]:
    """A function that learns one row and returns the scores from before; a model that outgrows itself is replaced."""
    values, place = placing(own)
    run, target, scores = _step(model, own, values, replace), own.target, own.scores[0]
    labels = frozenset({-1.0, 1.0} if own.task == "binary" else range(len(scores)))
    fine: Callable[[float], bool] = isfinite if own.task == "regression" else labels.__contains__

    def learn(x: Any, y: float) -> Any:
        place(x)
        if not fine(y):
            raise ValueError(f"A target must be {TARGETS[own.task]}.")
        target[0] = y
        run()
        return scores

    return learn


def _step(model: Any, own: Frame, values: Any, replace: Callable[[Any], None]) -> Callable[[], None]:
    """A function that learns the row that stands there."""
    block, target, importance, scores = Dense(values), own.target, own.importance, own.scores
    if isinstance(model, Standardised):
        seen = Dense(np.zeros(values.shape, own.dtype))
        move = scaling.learn.bind(model.scaler, block, importance, seen)
        inner = _step(model.model, own, seen.values, replace)

        def both() -> None:
            move(model.scaler, block, importance, seen)
            inner()

        return both
    run = driving.LOOPS[type(model)][0].bind(model, block, 0, target, importance, scores)

    def step() -> None:
        if not run(model, block, 0, target, importance, scores):  # no room: the slow path makes some
            replace(driving.learn(model, block, 0, target, importance, scores))

    return step


def scoring(model: Any, own: Frame) -> Callable[[Any], Any]:
    """A function that returns the scores of one row."""
    (values, place), scores, state = placing(own), np.zeros(own.scores.shape), None
    block, out = Dense(values), scores[0]
    if isinstance(model, Standardised):
        seen, state, model = Dense(np.zeros(values.shape, own.dtype)), model.scaler, model.model
        move = scaling.apply.bind(state, block, seen)
    else:
        seen = block
    known = driving.answering(model)
    run = driving.LOOPS[type(model)][1].bind(known, seen, scores)

    def score(x: Any) -> Any:
        place(x)
        if state is not None:
            move(state, block, seen)
        run(known, seen, scores)
        return out

    return score
