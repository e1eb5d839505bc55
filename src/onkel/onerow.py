"""One row at a time, through a chain of machine code that is bound to arrays of its own: no type analysis per call."""

from collections.abc import Callable
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from onkel import scaling
from onkel.chaining import chain
from onkel.learners import driving
from onkel.rows import Dense, all_finite
from onkel.scaling import Standardised

NEGATIVE = "Negative values in data: the additive chi2 kernel needs features >= 0."
NOT_FINITE = "A row must consist of finite numbers; one is NaN or too large."
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
    """An array (1, d), and a function that puts a row there and refuses what is none, but for NaN and infinity."""
    width, positive = own.width, own.positive
    values = np.zeros((1, width), own.raw_dtype)
    row = values[0]

    def place(x: Any) -> None:
        if len(x) != width:  # or a single number would be spread over the row
            raise ValueError(f"A row must be of width {width}; this one has {len(x)} numbers.")
        row[:] = x
        if positive and row.min() < 0:
            raise ValueError(NEGATIVE)

    return values, place


def learning(
    model: Any, own: Frame, witnesses: tuple[tuple[Any, ...], ...], replace: Callable[[Any], None]
) -> Callable[[Any, float], Any]:
    """A function that learns one row and returns the scores from before; a model that outgrows itself is replaced.

    Witnesses, calls of compiled code, follow each row.
    """
    (values, place), target, scores = placing(own), own.target, own.scores[0]
    labels = frozenset({-1.0, 1.0} if own.task == "binary" else range(len(scores)))
    fine: Callable[[float], bool] = isfinite if own.task == "regression" else labels.__contains__
    seen, inner = Dense(values), model
    calls: list[tuple[Any, ...]] = [(all_finite, values[0])] if own.finite else []
    if isinstance(model, Standardised):
        raw, seen, inner = seen, Dense(np.zeros(values.shape, own.dtype)), model.model
        calls.append((scaling.learn, model.scaler, raw, own.importance, seen))
    row = inner, seen, 0, target, own.importance, own.scores
    calls += [(driving.LOOPS[type(inner)][0], *row), *witnesses]
    run, all_of_them = chain(*calls), len(calls)

    def stopped(done: int) -> None:
        if own.finite and done == 0:
            raise ValueError(NOT_FINITE)
        replace(driving.learn(*row))  # there was no room, which the slow path makes
        for entry, *arguments in witnesses:
            entry(*arguments)

    def learn(x: Any, y: float) -> Any:
        place(x)
        if not fine(y):
            raise ValueError(f"A target must be {TARGETS[own.task]}.")
        target[0] = y
        done = run()
        if done < all_of_them:
            stopped(done)
        return scores

    return learn


def scoring(model: Any, own: Frame) -> Callable[[Any], Any]:
    """A function that returns the scores of one row."""
    (values, place), scores = placing(own), np.zeros(own.scores.shape)
    seen, inner, out = Dense(values), model, scores[0]
    calls: list[tuple[Any, ...]] = [(all_finite, values[0])] if own.finite else []
    if isinstance(model, Standardised):
        raw, seen, inner = seen, Dense(np.zeros(values.shape, own.dtype)), model.model
        calls.append((scaling.apply, model.scaler, raw, seen))
    calls.append((driving.LOOPS[type(inner)][1], driving.answering(inner), seen, scores))
    run, all_of_them = chain(*calls), len(calls)

    def score(x: Any) -> Any:
        place(x)
        if run() < all_of_them:
            raise ValueError(NOT_FINITE)
        return out

    return score
