"""Probabilities from scores, learned online from the scores that rows had before they were learned.

P(y) = sigmoid(s f) for one output, softmax(s f) for several, s = exp(g). One temperature makes them likely as a whole,
but not the answer as likely as it is right; so p = max P becomes q, logit q = exp(a) logit p + b, and the other classes
share 1 - q as they shared 1 - p. g follows the slope of the log-loss, a and b that of the log-loss of "the answer is
right", all with Adagrad steps. The order of the classes stays that of the scores, whatever the loss. Rows are seen one
after the other, so the cut of the stream does not matter.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onkel.core.borrowed import row
from onkel.core.ranges import POSITIVE, between, limits
from onkel.core.verbs import compiled, entry_point, known
from onkel.pieces.losses import bounded, sigmoid

RATE = 0.1
SETTLED = 1e300  # a sum of squared slopes beside which all further ones are nothing
LIMIT = 10.0  # of |g|, |a|, |b|: a stream that is never wrong would send them to infinity
FARTHEST = 700.0  # that an exponent is from 0
RISE = 1e-3  # least growth of q with p: what is surer stays surer
AHEAD = 1e-15  # by which an answer is at least more likely than a class before it, relative


@known
@limits(moves=between(-LIMIT, LIMIT), energy=POSITIVE)
class Calibration(NamedTuple):
    """moves (3,): g, a, b, and the sums of their squared slopes (3,)."""

    moves: Any
    energy: Any


def calibration(probable: bool = False) -> Calibration:
    """Scores taken as they are; if they are logarithms of probabilities, their temperature is right for ever."""
    return Calibration(np.zeros(3), np.array([SETTLED if probable else 1e-6, 1e-6, 1e-6]))


@compiled
def chances(scores: Any, s: float, out: Any) -> int:
    """Probabilities (classes,) of one row by temperature; returns the most likely class."""
    if scores.shape[0] == 1:
        out[1] = sigmoid(s * scores[0])
        out[0] = sigmoid(-s * scores[0])
        return 1 if scores[0] > 0.0 else 0
    best, total = np.argmax(scores), 0.0
    for k in range(out.shape[0]):
        out[k] = np.exp(max(s * (scores[k] - scores[best]), -FARTHEST))
        total += out[k]
    for k in range(out.shape[0]):
        out[k] /= total
    return int(best)


@compiled
def put_right(moves: Any, best: int, out: Any) -> tuple[float, float]:
    """Make the answer as likely as it is right; changes out. Returns logit p, and q before it is held back."""
    p, second, rest = out[best], 0.0, 0.0
    for k in range(out.shape[0]):
        if k != best:
            second = max(second, out[k])
            rest += out[k]
    distance = np.log(p) - np.log(max(rest, 1e-300))
    free = sigmoid(np.exp(moves[1]) * distance + moves[2])
    overtaken = second / (rest + second) if second > 0.0 else 0.0  # the q at which the second class would be as likely
    q = max(free, overtaken + RISE * (p - overtaken))
    if best > 0 or out.shape[0] > 2:  # scores may differ by less than probabilities show: the answer stays the largest
        q = max(q, overtaken * (1.0 + AHEAD))
    for k in range(out.shape[0]):
        out[k] = q if k == best else (1.0 - q) * (out[k] / rest if rest > 0.0 else 1.0 / (out.shape[0] - 1))
    return distance, free


@entry_point
def calibrate(state: Any, targets: Any, importance: Any, scores: Any, claims: Any) -> None:
    """Learn from the scores (n, K) of rows whose targets are known now; changes state.

    Writes claims (n, 2) made before each row was learned: the probability of its label, and that of the answer given.
    """
    n, outputs = scores.shape
    out, slopes = np.empty(max(outputs, 2)), np.empty(3)
    for i in range(n):
        s, label = np.exp(state.moves[0]), np.int64(targets[i] > 0.0 if outputs == 1 else targets[i])
        best = chances(row(scores, i), s, out)
        slopes[0] = 0.0
        for k in range(outputs):
            own = out[1] - label if outputs == 1 else out[k] - (1.0 if k == label else 0.0)
            slopes[0] += s * own * scores[i, k]
        distance, sure = put_right(state.moves, best, out)
        claims[i, 0], claims[i, 1] = out[label], out[best]
        slopes[2] = sure - (1.0 if best == label else 0.0)
        slopes[1] = slopes[2] * np.exp(state.moves[1]) * distance
        for m in range(3):
            slope = bounded(slopes[m] * importance[i])
            if np.isfinite(slope) and slope != 0.0:
                state.energy[m] += slope * slope
                moved = state.moves[m] - RATE * slope / np.sqrt(state.energy[m])
                state.moves[m] = min(max(moved, -LIMIT), LIMIT)


def probabilities(state: Calibration, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities (n, classes); one output stands for two classes.

    >>> probabilities(calibration(), np.array([[0.0], [2.0]])).round(3).tolist()
    [[0.5, 0.5], [0.119, 0.881]]
    """
    found = np.empty((len(scores), max(scores.shape[1], 2)))
    _probabilities(state, np.ascontiguousarray(scores), found)
    return found


@entry_point
def _probabilities(state: Any, scores: Any, out: Any) -> None:
    """The same, into an array."""
    for i in range(scores.shape[0]):
        best = chances(row(scores, i), np.exp(state.moves[0]), row(out, i))
        put_right(state.moves, best, row(out, i))
