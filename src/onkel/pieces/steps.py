"""Step rules: how far to go along the slope of a row, and how much to forget before.

A step is one named tuple with a code (a closed set, like the losses). Every rule leaves w <- shrink w - gain g, with g
the gradient of the row's loss; Adagrad divides each coordinate of g by its own scale, and a mini-batch adds g up first.
"""

from typing import Any, NamedTuple

import numpy as np

from onkel.core.rows import dot
from onkel.core.verbs import compiled, verb

CONSTANT, INVERSE_TIME, INVERSE_SQRT, ADAGRAD, MINIBATCH, PA, PA_1, PA_2 = range(8)


class Step(NamedTuple):
    """A step rule by its code.

    `rate` is eta (the cap C, or the gain of the first round), `lam` the weight of the penalty lam / 2 |f|^2.
    """

    code: int
    rate: float
    lam: float = 0.0
    size: int = 1


def constant(eta: float, lam: float = 0.0) -> Step:
    """gain = eta, shrink = 1 - eta lam."""
    return Step(CONSTANT, eta, lam)


def inverse_time(lam: float, first: float | None = None) -> Step:
    """gain = 1 / (lam t), shrink = 1 - 1 / t: the Pegasos schedule. `first` is another gain for the first round."""
    return Step(INVERSE_TIME, 1.0 / lam if first is None else first, lam)


def inverse_sqrt(eta: float, lam: float = 0.0) -> Step:
    """gain = eta / sqrt(t), shrink = 1 - gain lam."""
    return Step(INVERSE_SQRT, eta, lam)


def adagrad(eta: float, lam: float = 0.0) -> Step:
    """gain_j = eta / sqrt(sum of the squared slopes of coordinate j so far). For learners with explicit features."""
    return Step(ADAGRAD, eta, lam)


def minibatch(eta: float, size: int, lam: float = 0.0) -> Step:
    """Add up the gradients of `size` rows, then w <- (1 - eta lam) w - eta (their mean). For explicit features."""
    return Step(MINIBATCH, eta, lam, size)


def passive_aggressive(C: float = 1.0, variant: str = "PA-I") -> Step:
    """Just far enough to erase the loss l: gain = l / e (PA), min(C, l / e) (PA-I), l / (e + 1 / (2 C)) (PA-II).

    e is the squared norm of the slope, k(x, x) sum_k slope_k^2.
    """
    codes = {"PA": PA, "PA-I": PA_1, "PA-II": PA_2}
    if variant not in codes:
        raise ValueError(f"variant must be one of {', '.join(codes)}, not {variant!r}.")
    return Step(codes[variant], C)


@verb
def pace(step: Any, t: int, loss: float, slopes: Any, self_similarity: float) -> Any:
    """(shrink, gain) of round t = 1, 2, ..."""


@verb
def move(step: Any, gain: float, slope: float, features: Any, weights: Any, memory: Any) -> None:
    """weights -= gain * slope * features, in the manner of the rule; changes weights and memory."""


@verb
def has_memory(step: Any) -> bool:
    """Whether the rule keeps a number per weight, which takes explicit features."""


@pace.of(Step)
def _(step: Step, t: int, loss: float, slopes: Any, self_similarity: float) -> Any:
    shrink, gain = 1.0, step.rate
    if step.code >= PA:
        gain = aggressive(step, loss, self_similarity * dot(slopes, slopes, slopes.shape[0]))
    elif step.code == INVERSE_TIME:
        shrink = 1.0 - 1.0 / t
        gain = step.rate if t == 1 else 1.0 / (step.lam * t)
    elif step.code == MINIBATCH:
        due = t % step.size == 0
        shrink = 1.0 - step.rate * step.lam if due else 1.0
        gain = step.rate / step.size if due else 0.0
    else:
        if step.code == INVERSE_SQRT:
            gain = step.rate / np.sqrt(t)
        shrink = 1.0 - gain * step.lam
    return shrink, gain


@compiled
def aggressive(step: Any, loss: float, energy: float) -> float:
    if energy <= 0.0:
        return 0.0
    if step.code == PA_2:
        return loss / (energy + 0.5 / step.rate)
    return min(step.rate, loss / energy) if step.code == PA_1 else loss / energy


@move.of(Step)
def _(step: Step, gain: float, slope: float, features: Any, weights: Any, memory: Any) -> None:
    n = weights.shape[0]
    if step.code == MINIBATCH:
        gather(gain, slope, features, weights, memory, n)
    elif slope != 0.0:
        if step.code == ADAGRAD:
            move_scaled(gain, slope, features, weights, memory, n)
        else:
            c = weights.dtype.type(-gain * slope)
            for k in range(n):
                weights[k] += c * features[k]


@compiled
def move_scaled(gain: float, slope: float, features: Any, weights: Any, memory: Any, n: int) -> None:
    rate, c, tiny = weights.dtype.type(gain), weights.dtype.type(slope), weights.dtype.type(1e-30)
    for k in range(n):
        g = c * features[k]
        memory[k] += g * g
        weights[k] -= rate * g / np.sqrt(memory[k] + tiny)


@compiled
def stride(step: Any, gain: float, slope: float, memory: Any, j: int) -> float:
    """How far one parameter of a map moves against its slope, in the manner of the rule; changes memory[j].

    Of a mini-batch the slopes are added up first: nothing moves until `gain` says that it is full.
    """
    if slope == 0.0:
        return 0.0
    if step.code == MINIBATCH:
        memory[j] += slope
        return 0.0
    if step.code == ADAGRAD:
        memory[j] += slope * slope
        return gain * slope / np.sqrt(memory[j])
    return gain * slope


@compiled
def gather(gain: float, slope: float, features: Any, weights: Any, memory: Any, n: int) -> None:
    c = weights.dtype.type(slope)
    for k in range(n):
        memory[k] += c * features[k]
    if gain > 0.0:
        rate = weights.dtype.type(gain)
        for k in range(n):
            weights[k] -= rate * memory[k]
            memory[k] = 0


@has_memory.of(Step)
def _(step: Step) -> bool:
    return step.code == ADAGRAD or step.code == MINIBATCH
