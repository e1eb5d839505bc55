"""The schedule of AdaRaker's own code: levels that are never started anew, and weights by the rank of the losses.

Of all levels that the stream will ever have, those that are not there yet say 0, with a weight. r maps the losses of a
round to [-1, 1], from the best to the worst; where all are equal it is 1.
"""

from typing import Any, NamedTuple

import numpy as np

from onkel.core.borrowed import row
from onkel.core.ranges import COUNT, NOT_NEGATIVE, POSITIVE, limits
from onkel.core.verbs import compiled
from onkel.learners.ensembles.experts import blend, reward, weighted
from onkel.pieces.losses import suffer

LEAST, LEAST_OF_LEVELS, MOST = 1e-12, 1e-10, 1e10  # added to each weight; sum beyond which weights are divided by it


@limits(weights=NOT_NEGATIVE)
class Ranked(NamedTuple):
    """f = sum_p w_p f_p / sum_p w_p, w_p <- w_p base^r_p + 1e-12."""

    loss: Any
    base: float
    weights: Any  # (P,)


@limits(rates=POSITIVE, weights=NOT_NEGATIVE, round=COUNT)
class RankedLevels(NamedTuple):
    """f = sum_k h_k f_k / sum_k h_k over all levels, h_k <- h_k rate^r_k + 1e-10 over those that are there.

    `rate` is that of the last level there; h_k = rate_k where a round t + 1 begins with t a multiple of 2^k.
    """

    loss: Any
    rates: Any  # (levels,)
    weights: Any  # (levels,)
    round: Any  # (1,)


@compiled
def judge(loss: Any, target: float, own: Any, i: int, room: Any, slopes: Any) -> None:
    """Write r of each expert."""
    low, high = np.inf, -np.inf
    for p in range(own.shape[0]):
        room[p] = suffer(loss, target, row(row(own, p), i), slopes)
        low, high = min(low, room[p]), max(high, room[p])
    for p in range(own.shape[0]):
        room[p] = 2.0 * (room[p] - low) / (high - low) - 1.0 if high > low else 1.0


@compiled
def total_of(weights: Any) -> float:
    total = 0.0
    for p in range(weights.shape[0]):
        total += weights[p]
    return total


@blend.of(Ranked, RankedLevels)
def _(combination: Any, own: Any, i: int, room: Any, scores: Any) -> None:
    total = total_of(combination.weights)
    for p in range(room.shape[0]):
        room[p] = combination.weights[p] / total
    weighted(room, own, i, scores)


@reward.of(Ranked)
def _(
    combination: Ranked, target: float, importance: float, own: Any, i: int, room: Any, scores: Any, slopes: Any
) -> None:
    weights = combination.weights
    judge(combination.loss, target, own, i, room, slopes)
    for p in range(weights.shape[0]):
        weights[p] = weights[p] * combination.base ** (importance * room[p]) + LEAST
    total = total_of(weights)
    if total > MOST:
        for p in range(weights.shape[0]):
            weights[p] /= total


@reward.of(RankedLevels)
def _(
    combination: RankedLevels, target: float, importance: float, own: Any, i: int, room: Any, scores: Any, slopes: Any
) -> None:
    weights, there = combination.weights, own.shape[0]
    judge(combination.loss, target, own, i, room, slopes)
    for k in range(there):
        weights[k] = weights[k] * combination.rates[there - 1] ** (importance * room[k]) + LEAST_OF_LEVELS
    total = total_of(weights)
    combination.round[0] += 1
    length = 1
    for k in range(weights.shape[0]):
        weights[k] /= total
        if combination.round[0] % length == 0 and (k == 0 or combination.round[0] >= length):
            weights[k] = combination.rates[k]
        length *= 2
