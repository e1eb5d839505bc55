"""Models that learn the same rows side by side and answer together."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onkel.core.ranges import COUNT, limits
from onkel.core.verbs import known


@known
@limits(clock=COUNT)
class Committee(NamedTuple):
    """Models of the same task; their answer is the mean of their scores, or the result of a vote."""

    parts: tuple[Any, ...]
    votes: bool
    clock: Any  # (1,): rows learned


def committee(parts: tuple[Any, ...], votes: bool) -> Committee:
    """Models that know nothing yet, side by side."""
    return Committee(parts, votes, np.zeros(1, np.int64))


def combined(votes: bool, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """The answer (n, K) to the scores (R, n, K) of all models.

    >>> combined(True, np.array([[[2.0]], [[-1.0]], [[0.5]]])).round(3).tolist()
    [[0.333]]
    """
    if not votes:
        mean: NDArray[np.float64] = scores.mean(axis=0)
        return mean
    if scores.shape[2] == 1:
        share: NDArray[np.float64] = np.where(scores >= 0.0, 1.0, -1.0).mean(axis=0)
        return share
    chosen = scores.argmax(axis=2)
    counts: NDArray[np.float64] = (chosen[:, :, None] == np.arange(scores.shape[2])).mean(axis=0)
    return counts
