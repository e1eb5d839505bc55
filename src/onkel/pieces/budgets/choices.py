"""Rules that say which point has to go."""

from typing import Any, NamedTuple

from onkel.core.checking import inside
from onkel.core.randomness import choice
from onkel.core.ranges import COUNT, limits
from onkel.core.verbs import compiled
from onkel.pieces.budgets.verbs import choose
from onkel.pieces.kernels import self_similarity

TIE = 1e-6  # relative: coefficients that are equal in exact arithmetic differ by rounding


@limits(next=COUNT)
class Oldest(NamedTuple):
    """The point that came first. Points are replaced in the order of their slots."""

    next: Any  # (1,): its slot


class Random(NamedTuple):
    """Any point of the support, with equal probability; never the candidate."""

    state: Any  # (1,): of the generator


class Smallest(NamedTuple):
    """The point, or the candidate, whose term |a_i|^2 k(x_i, x_i) is smallest; the oldest of those that are tied."""


@choose.of(Oldest)
def _(rule: Oldest, kernel: Any, support: Any, candidate: Any) -> int:
    slot = rule.next[0]
    rule.next[0] = (slot + 1) % support.sizes.shape[0]
    return slot


@choose.of(Random)
def _(rule: Random, kernel: Any, support: Any, candidate: Any) -> int:
    return choice(rule.state, support.count[0])


@choose.of(Smallest)
def _(rule: Smallest, kernel: Any, support: Any, candidate: Any) -> int:
    n = support.count[0]
    own = candidate.self_similarity * square(candidate.coef)
    least = own
    for j in range(n):
        least = min(least, energy(kernel, support, j))
    limit, slot = least * (1.0 + TIE), n
    for j in range(n):
        if energy(kernel, support, j) <= limit and (slot == n or support.born[j] < support.born[slot]):
            slot = j
    return slot


@compiled
def square(coef: Any) -> float:
    total = 0.0
    for k in range(coef.shape[0]):
        total += coef[k] * coef[k]
    return total


@compiled
def square_of(support: Any, j: int) -> float:
    """|a_j|^2, without the common scale."""
    total = 0.0
    for k in range(support.coef.shape[0]):
        total += float(support.coef[k, j]) * float(support.coef[k, j])
    return total


@compiled
def energy(kernel: Any, support: Any, j: int) -> float:
    """|a_j|^2 k(x_j, x_j), without the common scale."""
    return square_of(support, j) * self_similarity(kernel, support.sizes[j])


@inside.register
def _(rule: Oldest, capacity: int) -> bool:
    return bool(0 <= rule.next[0] < capacity)
