"""Experts of several memories: level k has steps for 2^k rows, and its weight begins anew after every 2^k rows.

At round t the levels 0, ..., floor(log2 t) are there. A level that comes new takes over all that the one below it
knows, and no level ever forgets what it knows; so the answer does not fall back to 0 when many intervals begin.
"""

from typing import Any, NamedTuple

import numpy as np

from onkel.core.borrowed import row
from onkel.core.ranges import COUNT, POSITIVE, contradiction, limits
from onkel.core.support import finite
from onkel.learners.ensembles.experts import Experts, Hedge, blend, by_logarithms, levels_after, reward, with_next_level
from onkel.learners.ensembles.levels_published import Ranked, RankedLevels
from onkel.pieces.losses import suffer


@limits(rates=POSITIVE, round=COUNT)
class Ensemble(NamedTuple):
    """f = sum_k h_k f_k / sum_k h_k; h_k = rate_k when an interval of level k begins, then log h_k -= rate_k (l_k - l).

    l_k is the loss of level k, l that of the answer.
    """

    loss: Any
    rate: float  # rate_k = min(1/2, rate / sqrt(2^k))
    rates: Any  # (levels,)
    log_weights: Any  # (levels,)
    round: Any  # (1,)


@contradiction.register
def _(combination: Ensemble) -> str:
    wanted = [rate_of(combination.rate, k) for k in range(len(combination.rates))]
    right = len(wanted) == len(combination.log_weights) and np.allclose(combination.rates, wanted)
    return "" if right else "its rates are not those of its levels"


def rate_of(rate: float, k: int) -> float:
    """min(1/2, rate / sqrt(2^k))."""
    return min(0.5, float(rate / np.sqrt(2.0**k)))


def ensemble(loss: Any, rate: float) -> Ensemble:
    """The weights of level 0 alone, before round 1."""
    rates = np.array([rate_of(rate, 0)])
    return Ensemble(loss, rate, rates, np.log(rates), np.zeros(1, np.int64))


blend.of(Ensemble)(by_logarithms)


@reward.of(Ensemble)
def _(
    combination: Ensemble, target: float, importance: float, own: Any, i: int, room: Any, scores: Any, slopes: Any
) -> None:
    loss = suffer(combination.loss, target, scores, slopes)
    combination.round[0] += 1
    following, length = combination.round[0] + 1, 1
    for k in range(combination.rates.shape[0]):
        rate = combination.rates[k]
        better = loss - suffer(combination.loss, target, row(row(own, k), i), slopes)
        combination.log_weights[k] = finite(combination.log_weights[k] + importance * rate * better)
        if following % length == 0:
            combination.log_weights[k] = np.log(rate)
        length *= 2


@levels_after.register
def _(combination: Ensemble, rows: int) -> int:
    return (rows + 1).bit_length()


@levels_after.register
def _(combination: RankedLevels, rows: int) -> int:
    return min(max(rows.bit_length(), 1), len(combination.rates))


@with_next_level.register
def _(combination: Ensemble, model: Experts) -> Experts:
    """A copy of the last level but for its steps."""
    rate, last = rate_of(combination.rate, len(model.parts)), model.parts[-1]
    rates, logs = np.append(combination.rates, rate), np.append(combination.log_weights, np.log(rate))
    hedge: Hedge = last.combination
    parts = tuple(paced(part, rate, part.weights.copy(), part.scale.copy()) for part in last.parts)
    level = Experts(parts, hedge._replace(rate=rate, log_weights=hedge.log_weights.copy()), last.clock.copy())
    return model._replace(parts=(*model.parts, level), combination=combination._replace(rates=rates, log_weights=logs))


@with_next_level.register
def _(combination: RankedLevels, model: Experts) -> Experts:
    """A level that knows nothing."""
    k, first = len(model.parts), model.parts[0]
    ratio = combination.rates[k] / combination.rates[0]
    ranked: Ranked = first.combination
    parts = tuple(paced(p, p.step.rate * ratio, np.zeros_like(p.weights), np.ones(1)) for p in first.parts)
    weights = np.full(len(parts), 1.0 / len(parts))
    return model._replace(parts=(*model.parts, Experts(parts, ranked._replace(weights=weights), first.clock.copy())))


def paced(part: Any, rate: float, weights: Any, scale: Any) -> Any:
    """A linear learner with another step and other weights; its map, which never changes, is the same."""
    step = part.step._replace(rate=float(rate))
    return part._replace(step=step, weights=weights, memory=part.memory.copy(), scale=scale, clock=part.clock.copy())
