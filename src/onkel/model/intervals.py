"""Prediction intervals from the errors of the last rows: what y - f was before each of them was learned.

An interval of coverage c around f reaches from f + e_(i) to f + e_(n + 1 - i), e_(1) <= ... <= e_(n) the errors in
order, i = floor((n + 1) (1 - c) / 2): of rows that come as those before came, a share of at least c is covered,
whatever the learner and the noise. A stream that changes is followed at the pace at which errors are replaced. Where n
is too small for c, an interval is infinite.

References: vovk2005
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onkel.core.ranges import COUNT, contradiction, limits
from onkel.core.verbs import compiled, entry_point, known

ROWS = 1000  # whose errors are kept
COVERAGE = 0.9  # of the intervals that are watched while a stream is learned


@known
@limits(count=COUNT)
class Errors(NamedTuple):
    """The last errors as they came (ROWS,), in order (ROWS,), and how many there were (1,)."""

    recent: Any
    ordered: Any
    count: Any


@contradiction.register
def _(state: Errors) -> str:
    n = min(int(state.count[0]), len(state.recent))
    right = np.array_equal(np.sort(state.recent[:n]), state.ordered[:n])
    return "" if right else "its last errors are not those that it has in order"


def no_errors() -> Errors:
    """Before the first row."""
    return Errors(np.zeros(ROWS), np.zeros(ROWS), np.zeros(1, np.int64))


@compiled
def ends(state: Any, coverage: float) -> tuple[float, float]:
    """The errors e_(i) and e_(j) that bound an interval; infinite where there are too few."""
    n = min(state.count[0], state.recent.shape[0])
    tail = int(np.floor((n + 1) * (1.0 - coverage) / 2.0 + 1e-9))  # 1e-9: 0.9 is not exactly nine tenths
    if tail < 1:
        return -np.inf, np.inf
    return state.ordered[tail - 1], state.ordered[n - tail]


@compiled
def place_of(ordered: Any, n: int, error: float) -> int:
    """The first of n ordered errors that is not below this one."""
    low, high = 0, n
    while low < high:
        middle = (low + high) // 2
        if ordered[middle] < error:
            low = middle + 1
        else:
            high = middle
    return low


@entry_point
def follow(state: Any, targets: Any, scores: Any, coverage: float, bounds: Any) -> None:
    """Take note of rows whose targets are known now; changes state.

    Writes bounds (n, 2) of the interval that each row had before.
    """
    recent, ordered, count = state
    size = recent.shape[0]
    for i in range(targets.shape[0]):
        n, f = min(count[0], size), scores[i, 0]
        low, high = ends(state, coverage)
        bounds[i, 0], bounds[i, 1] = f + low, f + high
        error, slot = targets[i] - f, count[0] % size
        free = place_of(ordered, n, recent[slot]) if n == size else n  # the place that the oldest error leaves
        at = place_of(ordered, n, error)
        for k in range(free, at - 1):
            ordered[k] = ordered[k + 1]
        for k in range(free, at, -1):
            ordered[k] = ordered[k - 1]
        ordered[at - 1 if at > free else at], recent[slot] = error, error
        count[0] += 1


def intervals(state: Errors, predictions: NDArray[np.float64], coverage: float) -> NDArray[np.float64]:
    """Lower and upper ends (n, 2) around predictions (n,).

    >>> state, room = no_errors(), np.empty((99, 2))
    >>> follow(state, np.linspace(-1.0, 1.0, 99), np.zeros((99, 1)), COVERAGE, room)
    >>> intervals(state, np.array([5.0]), 0.5).round(2).tolist()
    [[4.49, 5.51]]
    """
    if not (isinstance(coverage, float) and 0.0 < coverage < 1.0):
        raise ValueError(f"coverage must be a number between 0 and 1, not {coverage!r}.")
    found = np.zeros((len(predictions), 2))
    _around(state, np.ascontiguousarray(predictions), coverage, found)
    return found


@entry_point
def _around(state: Any, predictions: Any, coverage: float, bounds: Any) -> None:
    """The same, into an array."""
    low, high = ends(state, coverage)
    for i in range(predictions.shape[0]):
        bounds[i, 0], bounds[i, 1] = predictions[i] + low, predictions[i] + high
