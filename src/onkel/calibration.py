"""Probabilities from scores: one temperature, learned online from the scores that rows had before they were learned.

P(y) = sigmoid(s f) for one output, softmax(s f) for several, s = exp(g) > 0: the order of the classes stays that of the
scores, whatever the loss. g follows the slope of the log-loss with Adagrad steps; rows are seen one after the other, so
the cut of the stream does not matter.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from onkel.dispatch import entry_point, known
from onkel.losses import sigmoid

RATE = 0.1
SETTLED = 1e300  # a sum of squared slopes beside which all further ones are nothing
LIMIT = 10.0  # of |g|: a stream that is never wrong would send the temperature to infinity


@known
class Calibration(NamedTuple):
    """log_slope g (1,) and the sum of its squared slopes (1,)."""

    log_slope: Any
    energy: Any


def calibration(probable: bool = False) -> Calibration:
    """Scores taken as they are; for ever, if they are logarithms of probabilities, for then no slope moves g."""
    return Calibration(np.zeros(1), np.full(1, SETTLED if probable else 1e-6))


@entry_point
def calibrate(state: Any, targets: Any, importance: Any, scores: Any, likelihood: Any) -> None:
    """Learn from the scores (n, K) of rows whose targets are known now; changes state.

    Writes the probability that each label had before its row was learned.
    """
    n, outputs = scores.shape
    for i in range(n):
        s = np.exp(state.log_slope[0])
        if outputs == 1:
            f = scores[i, 0] if targets[i] > 0.0 else -scores[i, 0]
            likelihood[i] = sigmoid(s * f)
            slope = (likelihood[i] - 1.0) * f
        else:
            label, highest = np.int64(targets[i]), scores[i].max()
            mean, total = 0.0, 0.0
            for k in range(outputs):
                p = np.exp(s * (scores[i, k] - highest))
                total += p
                mean += p * scores[i, k]
            likelihood[i] = np.exp(s * (scores[i, label] - highest)) / total
            slope = mean / total - scores[i, label]
        slope *= s * importance[i]
        if np.isfinite(slope) and slope != 0.0:
            state.energy[0] += slope * slope
            g = state.log_slope[0] - RATE * slope / np.sqrt(state.energy[0])
            state.log_slope[0] = min(max(g, -LIMIT), LIMIT)


def one_by_one(state: Calibration, n_outputs: int) -> Callable[[float, Any], None]:
    """A function that learns from the scores (K,) of one row, through machine code bound to arrays of its own."""
    target, importance, likelihood, scores = np.zeros(1), np.ones(1), np.zeros(1), np.zeros((1, n_outputs))
    run, own = calibrate.bind(state, target, importance, scores, likelihood), scores[0]

    def learn(wanted: float, found: Any) -> None:
        target[0], own[:] = wanted, found
        run(state, target, importance, scores, likelihood)

    return learn


def probabilities(state: Calibration, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities (n, classes); one output stands for two classes."""
    scaled = np.exp(state.log_slope[0]) * scores
    if scores.shape[1] == 1:
        second = special.expit(scaled[:, 0])
        return np.column_stack([1.0 - second, second])
    result: NDArray[np.float64] = special.softmax(scaled, axis=1)
    return result
