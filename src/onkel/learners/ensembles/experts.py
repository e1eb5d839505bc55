"""Learners whose scores are combined by how well each of them has done.

Experts know nothing of each other: each learns the rows and leaves its scores; a combination follows the slowest of
them, row by row. So experts can run in threads, and nothing depends on that.
"""

from typing import Any, NamedTuple

import numpy as np

from onkel.core.borrowed import borrowed, keep, row
from onkel.core.ranges import COUNT, limits
from onkel.core.support import finite
from onkel.core.verbs import compiled, entry_point, known, verb
from onkel.pieces.losses import soften, suffer


@known
@limits(clock=COUNT)
class Experts(NamedTuple):
    """Models of the same task, and what makes one answer of theirs."""

    parts: tuple[Any, ...]
    combination: Any
    clock: Any  # (1,): rows learned


class Hedge(NamedTuple):
    """f = sum_p w_p f_p, with weights that fall exponentially with the losses: log w_p -= rate l_p."""

    loss: Any
    rate: float
    log_weights: Any  # (P,)


class Descent(NamedTuple):
    """f = sum_p w_p f_p, with weights that follow the slope of the squared error: w_p -= rate 2 (f - y) f_p."""

    rate: float
    weights: Any  # (P,)


@verb
def blend(combination: Any, own: Any, i: int, room: Any, scores: Any) -> None:
    """The answer to row i from the scores own (P, n, K) of the experts; writes room and scores, changes nothing."""


@verb
def reward(
    combination: Any, target: float, importance: float, own: Any, i: int, room: Any, scores: Any, slopes: Any
) -> None:
    """Count in how good the scores for row i were, `scores` being the answer; changes combination."""


def experts(parts: tuple[Any, ...], combination: Any) -> Experts:
    """Models that know nothing yet, side by side."""
    return Experts(parts, combination, np.zeros(1, np.int64))


@entry_point
def follow(combination: Any, own: Any, first: int, last: int, targets: Any, importance: Any, scores: Any) -> None:
    """Answer and count in the rows from `first` to before `last`, one after the other."""
    combination, own = borrowed(combination), borrowed(own)
    targets, importance, scores = borrowed(targets), borrowed(importance), borrowed(scores)
    mine = np.empty(own.shape[0]), np.empty(own.shape[2])
    room, slopes = borrowed(mine)
    for i in range(first, last):
        blend(combination, own, i, room, row(scores, i))
        reward(combination, targets[i], importance[i], own, i, room, row(scores, i), slopes)
    keep(mine)


@entry_point
def answer(combination: Any, own: Any, first: int, last: int, scores: Any) -> None:
    """The answers to the rows from `first` to before `last`; changes nothing else."""
    combination, own, scores = borrowed(combination), borrowed(own), borrowed(scores)
    mine = np.empty(own.shape[0])
    room = borrowed(mine)
    for i in range(first, last):
        blend(combination, own, i, room, row(scores, i))
    keep(mine)


@compiled
def weighted(weights: Any, own: Any, i: int, scores: Any) -> None:
    """scores = sum_p weights_p own[p, i]."""
    for k in range(scores.shape[0]):
        total = 0.0
        for p in range(weights.shape[0]):
            total += weights[p] * own[p, i, k]
        scores[k] = finite(total)


@blend.of(Hedge)
def by_logarithms(combination: Any, own: Any, i: int, room: Any, scores: Any) -> None:
    """sum_p w_p f_p / sum_p w_p, from log w."""
    soften(combination.log_weights, room)
    weighted(room, own, i, scores)


@reward.of(Hedge)
def _(
    combination: Hedge, target: float, importance: float, own: Any, i: int, room: Any, scores: Any, slopes: Any
) -> None:
    highest, logs = -np.inf, combination.log_weights
    for p in range(logs.shape[0]):
        loss = suffer(combination.loss, target, row(row(own, p), i), slopes)
        logs[p] = finite(logs[p] - importance * combination.rate * loss)
        highest = max(highest, logs[p])
    for p in range(logs.shape[0]):
        logs[p] -= highest


@blend.of(Descent)
def _(combination: Descent, own: Any, i: int, room: Any, scores: Any) -> None:
    weighted(combination.weights, own, i, scores)


@reward.of(Descent)
def _(
    combination: Descent, target: float, importance: float, own: Any, i: int, room: Any, scores: Any, slopes: Any
) -> None:
    step = 2.0 * combination.rate * importance * (scores[0] - target)
    for p in range(combination.weights.shape[0]):
        combination.weights[p] = finite(combination.weights[p] - step * own[p, i, 0])
