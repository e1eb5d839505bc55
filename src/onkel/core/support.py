"""The support: the rows a kernel expansion keeps, and what it keeps of them."""

from typing import Any, NamedTuple

import numpy as np

from onkel.core.checking import disagreement, free
from onkel.core.growing import KEPT, Change, by_field, changed
from onkel.core.points import copy_point, empty_points, fits, put, resized
from onkel.core.ranges import COUNT, NOT_NEGATIVE, between, limits
from onkel.core.rows import aligned_zeros
from onkel.core.verbs import compiled, known

DAMAGED = "The model is damaged: its support holds more rows than it has room for, or fewer than none."
LARGEST_SCORE = 1e30
SMALLEST_SCALE, LARGEST_SCALE = 1e-6, 1e6  # beyond, the common scale is multiplied into the coefficients
SCALE = between(SMALLEST_SCALE, LARGEST_SCALE)


@known
@limits(sizes=NOT_NEGATIVE, born=COUNT, count=COUNT, scale=SCALE)
@free("points", "sizes", "coef", "born")
class Support(NamedTuple):
    """f = scale * sum_k coef[:, k] k(point k, .) over the first `count` points."""

    points: Any  # (d, capacity), or lists
    sizes: Any  # (capacity,): `measure` of each point
    coef: Any  # (K, capacity)
    born: Any  # (capacity,): the round in which a point came in
    count: Any  # (1,)
    scale: Any  # (1,): common factor of all coefficients, so that forgetting costs one multiplication


class Candidate(NamedTuple):
    """A row that asks to be kept."""

    i: int
    size: Any
    self_similarity: float
    similar: Any  # (capacity,): its similarities to the support
    coef: Any  # (K,): its coefficients, already divided by `scale`
    scale: float  # the common factor that all coefficients will have when the row is learned
    target: float
    scores: Any  # (K,): from before it is learned
    clock: int


def empty_support(n_features: int, n_outputs: int, capacity: int, dtype: Any) -> Support:
    """A support with room for `capacity` rows."""
    return Support(
        empty_points(n_features, capacity, dtype),
        aligned_zeros((capacity,), dtype),
        aligned_zeros((n_outputs, capacity), dtype),
        np.zeros(capacity, np.int64),
        np.zeros(1, np.int64),
        np.ones(1),
    )


def enlarged(support: Support, capacity: int) -> Support:
    """The same support in arrays with more room; it shares none with the old one."""

    def wider(a: Any) -> Any:
        room = aligned_zeros((*a.shape[:-1], capacity), a.dtype)
        room[..., : a.shape[-1]] = a
        return room

    points, sizes, coef, born, count, scale = support
    return Support(resized(points, capacity), wider(sizes), wider(coef), wider(born), count.copy(), scale.copy())


@compiled
def trust(support: Any) -> None:
    """Refuse a number of rows that would let compiled code read beyond its arrays."""
    if not 0 <= support.count[0] <= support.sizes.shape[0]:
        raise ValueError(DAMAGED)


@compiled
def place(support: Any, slot: int, block: Any, candidate: Any) -> None:
    """Put a candidate into a slot; changes support."""
    put(support.points, slot, block, candidate.i)
    support.sizes[slot] = min(candidate.size, np.finfo(support.sizes.dtype).max)  # |x|^2 of a row of 1e30
    support.born[slot] = candidate.clock
    for k in range(support.coef.shape[0]):
        support.coef[k, slot] = candidate.coef[k]


@compiled
def append(support: Any, block: Any, candidate: Any) -> bool:
    """Put a candidate into the next free slot; changes support. False, and nothing changed, when there is none."""
    slot = support.count[0]
    if slot == support.sizes.shape[0]:
        return False
    place(support, slot, block, candidate)
    support.count[0] = slot + 1
    return True


@compiled
def take_over(support: Any, slot: int, last: int) -> None:
    """Let the point in the last slot take over another; changes support."""
    if slot != last:
        copy_point(support.points, slot, last)
        for k in range(support.coef.shape[0]):
            support.coef[k, slot] = support.coef[k, last]
        support.sizes[slot], support.born[slot] = support.sizes[last], support.born[last]


@compiled
def forget(scale: Any, shrink: float, weights: Any, n: int) -> None:
    """Multiply weights[:, :n] by `shrink` through their common scale; changes scale and, rarely, weights."""
    scale[0] *= shrink
    if scale[0] < SMALLEST_SCALE or scale[0] > LARGEST_SCALE:
        factor = weights.dtype.type(scale[0])
        for k in range(weights.shape[0]):
            for j in range(n):
                weights[k, j] *= factor
        scale[0] = 1.0


@compiled
def finite(score: float) -> float:
    """A score that is a number: clamped, and 0 where a diverged or overflowing model has none."""
    if score > LARGEST_SCORE:
        return LARGEST_SCORE
    if score < -LARGEST_SCORE:
        return -LARGEST_SCORE
    return score if score == score else 0.0


@disagreement.register
def _(support: Support) -> str:
    """Whether the arrays of a support are of several sizes, or too small for its points."""
    capacity = len(support.sizes)
    if not (fits(support.points, capacity) and support.coef.shape[1] == len(support.born) == capacity):
        return "its support is of several sizes"
    count = support.count[0]
    return "" if 0 <= count <= capacity else f"{count} rows are kept in room for {capacity}"


def other_size(support: Support, expected: Support) -> str:
    """Whether a support has another size than its budget, which only an unbounded one may have."""
    same = support.sizes.shape == expected.sizes.shape
    return "" if same else "its support has another size than its budget"


@changed.register
def _(fresh: Support, old: Any, change: Change) -> Any:
    return by_field(old, old, KEPT, coef=change.signed(old.coef, 0))
