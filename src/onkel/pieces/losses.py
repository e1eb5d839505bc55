"""Losses: what a score costs, and how the cost changes with it.

A loss is one named tuple with a code, because the set is closed and every further type would be compiled again. One
output (K = 1) means binary labels -1 and +1, or a number; several outputs mean one score per class and the label as
the number of its class. The margin losses see only the margin m = y f, or f_y - f_s with s the strongest rival of y.
"""

from typing import Any, NamedTuple

import numpy as np

from onkel.core.verbs import compiled, verb

STEEPEST = 1e15  # a loss, or a slope of one, counts as no more: beyond, a step would leave float32
PERCEPTRON, HINGE, CLOSED_HINGE, LOGISTIC, SOFTMAX, SQUARED, ABSOLUTE = range(7)


class Loss(NamedTuple):
    """A loss by its code.

    `epsilon` is the half-width of the zone around the target in which nothing is lost, or the margin that is wanted.
    """

    code: int
    epsilon: float = 0.0
    factor: float = 1.0


class AdaptiveMargin(NamedTuple):
    """Hinge whose margin moves so that a share `nu` of the rows falls short of it.

    max(0, rho - m) - nu rho, with rho <- rho + direction * rate * (nu - [m <= rho]); direction = +1 is the descent.
    """

    nu: float
    rate: float
    direction: float
    rho: Any  # (1,), changed by `adapt`


class AdaptiveTube(NamedTuple):
    """Absolute error outside a tube whose half-width moves so that a share `nu` of the rows falls outside.

    max(0, |f - y| - epsilon) + nu epsilon, with epsilon <- max(floor, epsilon + rate * ([|f - y| > epsilon] - nu)).
    """

    nu: float
    rate: float
    floor: float
    epsilon: Any  # (1,), changed by `adapt`


def perceptron() -> Loss:
    """max(0, -m), with a slope on every row that would be classified wrongly (ties go to +1, or the first class)."""
    return Loss(PERCEPTRON)


def hinge() -> Loss:
    """max(0, 1 - m)."""
    return Loss(HINGE)


def closed_hinge(wanted: float = 1.0) -> Loss:
    """max(0, wanted - m), with a slope at m = wanted too: a row that just reaches the margin still counts."""
    return Loss(CLOSED_HINGE, wanted)


def logistic() -> Loss:
    """log(1 + exp(-m))."""
    return Loss(LOGISTIC)


def softmax() -> Loss:
    """log sum_r exp(f_r) - f_y; with one output the same as `logistic`."""
    return Loss(SOFTMAX)


def squared(epsilon: float = 0.0, factor: float = 1.0) -> Loss:
    """factor / 2 (f - y)^2 where |f - y| > epsilon, else 0. Raker's (f - y)^2 is factor = 2."""
    return Loss(SQUARED, epsilon, factor)


def absolute() -> Loss:
    """|f - y|."""
    return Loss(ABSOLUTE)


def epsilon_insensitive(epsilon: float = 0.1) -> Loss:
    """max(0, |f - y| - epsilon)."""
    return Loss(ABSOLUTE, epsilon)


@verb
def suffer(loss: Any, target: float, scores: Any, slopes: Any) -> float:
    """The loss of the scores (K,); writes its derivative by each score into slopes (K,)."""


@verb
def adapt(loss: Any, importance: float, slopes: Any) -> None:
    """Change the state of a loss that has one, after a row of that weight has been learned."""


@compiled
def suffered(loss: Any, target: float, importance: float, scores: Any, slopes: Any) -> float:
    """The loss of a row and its slopes, times the weight of the row, none of them beyond what a model can take."""
    cost = min(min(suffer(loss, target, scores, slopes), STEEPEST) * importance, STEEPEST)
    for k in range(slopes.shape[0]):
        slopes[k] = bounded(slopes[k] * importance)
    return cost


@compiled
def bounded(slope: float) -> float:
    """The slope, or the steepest that counts."""
    return min(max(slope, -STEEPEST), STEEPEST)


@compiled
def margin(target: float, scores: Any) -> Any:
    """The margin of the label, its strongest rival (-1 with one output), and whether a tie counts as a mistake."""
    if scores.shape[0] == 1:
        return target * scores[0], -1, target < 0.0
    label, rival = np.int64(target), -1
    for r in range(scores.shape[0]):
        if r != label and (rival < 0 or scores[r] > scores[rival]):
            rival = r
    return scores[label] - scores[rival], rival, rival < label


@compiled
def mistaken(target: float, scores: Any) -> bool:
    """Whether the scores stand for another class; ties go to +1, or to the first class."""
    m, _, tie_lost = margin(target, scores)
    return m < 0.0 or (m == 0.0 and tie_lost)


@compiled
def spread(by_margin: float, target: float, rival: int, slopes: Any) -> None:
    """Turn the derivative by the margin into one by each score."""
    if rival < 0:
        slopes[0] = target * by_margin
    else:
        for k in range(slopes.shape[0]):
            slopes[k] = 0.0
        slopes[np.int64(target)] = by_margin
        slopes[rival] = -by_margin


@compiled
def softplus(x: float) -> float:
    """log(1 + exp(x)) without overflow."""
    return max(x, 0.0) + np.log1p(np.exp(-abs(x)))


@compiled
def sigmoid(x: float) -> float:
    """1 / (1 + exp(-x)) without overflow."""
    e = np.exp(-abs(x))
    return 1.0 / (1.0 + e) if x >= 0.0 else e / (1.0 + e)


@compiled
def margin_loss(loss: Any, target: float, scores: Any, slopes: Any) -> float:
    m, rival, tie_lost = margin(target, scores)
    if loss.code == HINGE:
        value, by_margin = (1.0 - m, -1.0) if m < 1.0 else (0.0, 0.0)
    elif loss.code == CLOSED_HINGE:
        value, by_margin = (loss.epsilon - m, -1.0) if m <= loss.epsilon else (0.0, 0.0)
    elif loss.code == PERCEPTRON:
        wrong = m < 0.0 or (m == 0.0 and tie_lost)
        value, by_margin = (-m, -1.0) if wrong else (0.0, 0.0)
    else:
        value, by_margin = softplus(-m), -sigmoid(-m)
    spread(by_margin, target, rival, slopes)
    return value


@compiled
def soften(scores: Any, shares: Any) -> float:
    """Write softmax(scores), which adds up to 1; returns log sum_r exp(scores_r)."""
    highest, total = scores[0], 0.0
    for r in range(scores.shape[0]):
        highest = max(highest, scores[r])
    for r in range(scores.shape[0]):
        shares[r] = np.exp(scores[r] - highest)
        total += shares[r]
    for r in range(scores.shape[0]):
        shares[r] /= total
    return np.log(total) + highest


@compiled
def softmax_loss(target: float, scores: Any, slopes: Any) -> float:
    label, all_together = np.int64(target), soften(scores, slopes)
    slopes[label] -= 1.0
    return all_together - scores[label]


@compiled
def residual_loss(loss: Any, target: float, scores: Any, slopes: Any) -> float:
    residual = scores[0] - target
    size = abs(residual)
    if size <= loss.epsilon:
        slopes[0] = 0.0
        return 0.0
    if loss.code == SQUARED:
        slopes[0] = loss.factor * residual
        return 0.5 * loss.factor * residual * residual
    slopes[0] = np.sign(residual)
    return size - loss.epsilon


@suffer.of(Loss)
def _(loss: Loss, target: float, scores: Any, slopes: Any) -> float:
    if loss.code >= SQUARED:
        return residual_loss(loss, target, scores, slopes)
    if loss.code == SOFTMAX and scores.shape[0] > 1:
        return softmax_loss(target, scores, slopes)
    return margin_loss(loss, target, scores, slopes)


@adapt.of(Loss)
def _(loss: Loss, importance: float, slopes: Any) -> None:
    pass


@suffer.of(AdaptiveMargin)
def _(loss: AdaptiveMargin, target: float, scores: Any, slopes: Any) -> float:
    m, rival, _ = margin(target, scores)
    short = m <= loss.rho[0]
    spread(-1.0 if short else 0.0, target, rival, slopes)
    return loss.rho[0] - m if short else 0.0


@adapt.of(AdaptiveMargin)
def _(loss: AdaptiveMargin, importance: float, slopes: Any) -> None:
    short = 0.0
    for k in range(slopes.shape[0]):
        short = 1.0 if slopes[k] != 0.0 else short
    loss.rho[0] += importance * loss.direction * loss.rate * (loss.nu - short)


@suffer.of(AdaptiveTube)
def _(loss: AdaptiveTube, target: float, scores: Any, slopes: Any) -> float:
    return residual_loss(Loss(ABSOLUTE, loss.epsilon[0], 1.0), target, scores, slopes)


@adapt.of(AdaptiveTube)
def _(loss: AdaptiveTube, importance: float, slopes: Any) -> None:
    outside = 1.0 if slopes[0] != 0.0 else 0.0
    loss.epsilon[0] = max(loss.floor, loss.epsilon[0] + importance * loss.rate * (outside - loss.nu))
