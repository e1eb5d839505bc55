"""What the scores of experts stand for: classes, whose probabilities are mixed, or numbers on a scale of their own."""

from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from onkel.core.ranges import COUNT, NOT_NEGATIVE, between, contradiction, limits
from onkel.core.verbs import compiled, verb
from onkel.pieces.losses import sigmoid, soften

RAREST = 1e-30  # probability of which a logarithm is taken
UNLIKELY = 1e-6  # an expert is not punished beyond this
TRUSTED = 10.0  # numbers seen before any is clipped
FARTHEST = 20.0  # deviations to which a number is clipped
WORST = 100.0  # squared error that counts
SLOWEST = 0.001  # rate at which the mean squared error moves
HUGE = 1e100
SEEN = between(-1.01 * HUGE, 1.01 * HUGE)  # a mean of rounded sums may be a little beyond


class Labels(NamedTuple):
    """Classes: one output is the log-odds of the second of two, several are the logarithms of probabilities."""

    curvature: float = 0.25  # bound of the second derivative of the loss by a score


@limits(
    count=COUNT,
    mean=SEEN,
    moment=NOT_NEGATIVE,
    low=SEEN,
    high=SEEN,
    error=NOT_NEGATIVE,
)
class Numbers(NamedTuple):
    """Numbers, learned as (y - mean) / deviation of those seen so far; answers stay within their range."""

    curvature: float
    count: Any  # (1,), like all below
    mean: Any
    moment: Any
    low: Any
    high: Any
    error: Any  # running mean squared error of the mixture, on the scale of the experts


@contradiction.register
def _(outcome: Numbers) -> str:
    right = outcome.low[0] <= outcome.high[0] and (outcome.moment[0] == 0.0 or outcome.count[0] >= 2.0)
    return "" if right else "its targets have no range or no mean"


def numbers() -> Numbers:
    """No number seen yet."""
    count, mean, moment, low, high = (np.zeros(1) for _ in range(5))
    return Numbers(1.0, count, mean, moment, low, high, np.ones(1))


@verb
def answer(outcome: Any, shares: Any, scores: Any, likely: Any, out: Any) -> None:
    """Write the answer of the mixture (K,) and the probabilities of each expert (H, K) from its scores (H, K)."""


@verb
def judge(outcome: Any, target: float, shares: Any, scores: Any, likely: Any, slopes: Any, merits: Any) -> None:
    """Write slopes (H, K) of the losses of all experts and their log-likelihoods (H,); changes outcome."""


@answer.of(Labels)
def _(outcome: Labels, shares: Any, scores: Any, likely: Any, out: Any) -> None:
    experts, outputs = scores.shape
    if outputs == 1:
        second = first = 0.0
        for h in range(experts):
            likely[h, 0] = sigmoid(scores[h, 0])
            second += shares[h] * likely[h, 0]
            first += shares[h] * sigmoid(-scores[h, 0])
        out[0] = np.log(max(second, RAREST)) - np.log(max(first, RAREST))
    else:
        out[:] = 0.0
        for h in range(experts):
            soften(scores[h], likely[h])
            for k in range(outputs):
                out[k] += shares[h] * likely[h, k]
        for k in range(outputs):
            out[k] = np.log(max(out[k], RAREST))


@judge.of(Labels)
def _(outcome: Labels, target: float, shares: Any, scores: Any, likely: Any, slopes: Any, merits: Any) -> None:
    experts, outputs = scores.shape
    for h in range(experts):
        for k in range(outputs):
            slopes[h, k] = likely[h, k]
        if outputs == 1:
            slopes[h, 0] -= 1.0 if target > 0.0 else 0.0
            own = likely[h, 0] if target > 0.0 else sigmoid(-scores[h, 0])
        else:
            label = np.int64(target)
            slopes[h, label] -= 1.0
            own = likely[h, label]
        merits[h] = np.log(max(own, UNLIKELY))


@answer.of(Numbers)
def _(outcome: Numbers, shares: Any, scores: Any, likely: Any, out: Any) -> None:
    mixed = mean_of(shares, scores)
    out[0] = min(max(outcome.mean[0] + deviation(outcome) * mixed, outcome.low[0]), outcome.high[0])


@compiled
def mean_of(shares: Any, scores: Any) -> float:
    total = 0.0
    for h in range(shares.shape[0]):
        total += shares[h] * scores[h, 0]
    return total


@compiled
def deviation(outcome: Any) -> float:
    """Standard deviation of the numbers seen; 1 while there is none."""
    spread = outcome.moment[0] > 0.0
    return np.sqrt(outcome.moment[0] / outcome.count[0]) if spread else 1.0


@compiled
def within_reason(outcome: Any, target: float) -> float:
    """A target clipped to many deviations, once there is something to compare it with."""
    y = min(max(target, -HUGE), HUGE)
    if outcome.count[0] > TRUSTED and outcome.moment[0] > 0.0:
        reach = FARTHEST * deviation(outcome)
        y = min(max(y, outcome.mean[0] - reach), outcome.mean[0] + reach)
    return y


@compiled
def take_in(outcome: Any, y: float) -> None:
    """Count a number in: range, and Welford's update; changes outcome."""
    first = outcome.count[0] == 0.0
    outcome.low[0] = y if first else min(outcome.low[0], y)
    outcome.high[0] = y if first else max(outcome.high[0], y)
    outcome.count[0] += 1.0
    apart = y - outcome.mean[0]
    outcome.mean[0] += apart / outcome.count[0]
    outcome.moment[0] += apart * (y - outcome.mean[0])


@judge.of(Numbers)
def _(outcome: Numbers, target: float, shares: Any, scores: Any, likely: Any, slopes: Any, merits: Any) -> None:
    number = within_reason(outcome, target)
    take_in(outcome, number)
    y = (number - outcome.mean[0]) / deviation(outcome)
    doubt = 2.0 * max(outcome.error[0], 1e-6)
    for h in range(shares.shape[0]):
        slopes[h, 0] = scores[h, 0] - y
        merits[h] = -min(slopes[h, 0] * slopes[h, 0], WORST) / doubt
    missed = mean_of(shares, scores) - y
    rate = max(SLOWEST, 1.0 / (outcome.count[0] + 1.0))
    outcome.error[0] += rate * (min(missed * missed, WORST) - outcome.error[0])


# ---- ONNX ----


@singledispatch
def graph_answer(outcome: Any, g: Any, own: str, shares: Any, outputs: int) -> str:
    """What the mixture of readouts (n, H, K) says, as nodes of an ONNX graph."""
    raise ValueError(f"An outcome of the type {type(outcome).__name__} has no form in ONNX and is not exported.")


def mixed(g: Any, own: str, shares: Any) -> str:
    """Sum over the readouts of share * what each says."""
    return str(g("ReduceSum", g("Mul", own, shares[:, None]), np.array([1]), keepdims=0))


@graph_answer.register
def _(outcome: Labels, g: Any, own: str, shares: Any, outputs: int) -> str:
    def log_mixed(likely: str) -> str:
        return str(g("Log", g("Max", mixed(g, likely, shares), np.float64(RAREST))))

    if outputs > 1:
        return log_mixed(g("Softmax", own, axis=2))
    return str(g("Sub", log_mixed(g.sigmoid(own)), log_mixed(g.sigmoid(g("Neg", own)))))


@graph_answer.register
def _(outcome: Numbers, g: Any, own: str, shares: Any, outputs: int) -> str:
    deviation = np.sqrt(outcome.moment[0] / outcome.count[0]) if outcome.moment[0] > 0.0 else 1.0
    number = g("Add", g("Mul", mixed(g, own, shares), np.float64(deviation)), np.float64(outcome.mean[0]))
    return str(g("Clip", number, np.float64(outcome.low[0]), np.float64(outcome.high[0])))
