"""Budgets that move the weight of a dropped point to the candidate, or to the candidate and a neighbour.

A point r may go with the loss |a_r|^2 rho_r, rho_r being the squared distance of its image from those that take over
its weight; the point with the smallest loss goes, and the candidate takes its slot.
"""

from typing import Any, NamedTuple

import numpy as np

from onkel.core.checking import inside
from onkel.core.ranges import COUNT, limits
from onkel.core.support import append, place
from onkel.core.verbs import compiled
from onkel.pieces.budgets.choices import square_of
from onkel.pieces.budgets.neighbours import note
from onkel.pieces.budgets.verbs import admit
from onkel.pieces.kernels import self_similarity

INDEPENDENT = 1e-6  # of k_tt k_nn: a smaller determinant counts as none


class ToCandidate(NamedTuple):
    """The candidate takes over: rho_r = k_rr - k_rt^2 / k_tt, and it gets a_r k_rt / k_tt. O(B) per row."""


@limits(nearest=COUNT)
class ToNeighbour(NamedTuple):
    """The candidate and the nearest neighbour of r take over, by the least squares of their two images.

    The similarities of all points and the nearest neighbour of each are kept: O(B) per row, apart from neighbours that
    must be found anew.
    """

    gram: Any  # (B, B)
    nearest: Any  # (B,): slots; a point that is alone is its own neighbour


@admit.of(ToCandidate)
def _(budget: ToCandidate, kernel: Any, support: Any, block: Any, candidate: Any) -> bool:
    if not append(support, block, candidate):
        similar, alike = candidate.similar, candidate.self_similarity
        best, slot = np.inf, 0
        for r in range(support.count[0]):
            own = float(similar[r])
            loss = square_of(support, r) * (self_similarity(kernel, support.sizes[r]) - own * own / alike)
            if loss < best:
                best, slot = loss, r
        for k in range(candidate.coef.shape[0]):
            candidate.coef[k] += support.coef[k, slot] * (float(similar[slot]) / alike)
        place(support, slot, block, candidate)
    return True


@admit.of(ToNeighbour)
def _(budget: ToNeighbour, kernel: Any, support: Any, block: Any, candidate: Any) -> bool:
    slot = support.count[0]
    if not append(support, block, candidate):
        slot, to_candidate, to_neighbour = cheapest(budget, support, candidate)
        neighbour = budget.nearest[slot]
        for k in range(candidate.coef.shape[0]):
            a = float(support.coef[k, slot])
            candidate.coef[k] += a * to_candidate
            support.coef[k, neighbour] += a * to_neighbour
        place(support, slot, block, candidate)
    meet(budget, support.count[0], slot, candidate)
    return True


@compiled
def cheapest(budget: Any, support: Any, candidate: Any) -> Any:
    """The slot that may go at the smallest loss, and the shares of its weight that candidate and neighbour get."""
    best, slot, to_candidate, to_neighbour = np.inf, 0, 0.0, 0.0
    for r in range(support.count[0]):
        p, q, rho = shares(budget.gram, r, budget.nearest[r], candidate.similar, candidate.self_similarity)
        loss = square_of(support, r) * rho
        if loss < best:
            best, slot, to_candidate, to_neighbour = loss, r, p, q
    return slot, to_candidate, to_neighbour


@compiled
def shares(gram: Any, r: int, s: int, similar: Any, alike: float) -> Any:
    """Projection of point r on the candidate t and point s: both coefficients and the squared distance left."""
    with_t, with_s, s_t = float(similar[r]), gram[r, s], float(similar[s])
    determinant = alike * gram[s, s] - s_t * s_t
    if r == s or determinant <= INDEPENDENT * alike * gram[s, s]:
        p, q = with_t / alike, 0.0
    else:
        p = (gram[s, s] * with_t - s_t * with_s) / determinant
        q = (alike * with_s - s_t * with_t) / determinant
    return p, q, gram[r, r] - p * with_t - q * with_s


@compiled
def meet(budget: Any, n: int, slot: int, candidate: Any) -> None:
    """Enter the point that is new in a slot into the table of similarities and the neighbourhoods; changes budget."""
    gram, nearest = budget.gram, budget.nearest
    note(gram, n, slot, candidate.similar, candidate.self_similarity)
    for i in range(n):
        if i == slot or nearest[i] == slot or nearest[i] == i:
            nearest[i] = find_nearest(gram, n, i)
        elif closer(gram, i, slot, nearest[i]):
            nearest[i] = slot


@compiled
def closer(gram: Any, i: int, a: int, b: int) -> bool:
    """Whether the image of a is nearer to that of i than the image of b; of equals the first slot."""
    to_a, to_b = gram[a, a] - 2.0 * gram[i, a], gram[b, b] - 2.0 * gram[i, b]
    return to_a < to_b or (to_a == to_b and a < b)


@compiled
def find_nearest(gram: Any, n: int, i: int) -> int:
    best = i
    for j in range(n):
        if j != i and (best == i or closer(gram, i, j, best)):
            best = j
    return best


@inside.register
def _(budget: ToNeighbour, capacity: int) -> bool:
    return bool((budget.nearest >= 0).all() and (budget.nearest < capacity).all())
