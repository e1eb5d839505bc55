"""A budget of prototypes, each of which stands for some positive and some negative rows, with the SVM that fits them.

f minimises 1/2 |f|^2 + C sum_j [s+_j max(0, 1 - f(x_j)) + s-_j max(0, 1 + f(x_j))]: a = alpha+ - alpha- with
0 <= alpha <= C s, found by coordinate descent in the dual that starts from the last solution.
"""

from typing import Any, NamedTuple

import numpy as np

from onkel.core.borrowed import row
from onkel.core.growing import Change, by_field, changed
from onkel.core.ranges import NOT_NEGATIVE, limits
from onkel.core.support import append, take_over
from onkel.core.verbs import compiled
from onkel.pieces.budgets.neighbours import note, similar_to
from onkel.pieces.budgets.verbs import admit
from onkel.pieces.kernels import self_similarity

ACCURACY = 1e-3  # of the optimality conditions


@limits(weights=NOT_NEGATIVE, duals=NOT_NEGATIVE)
class Prototypes(NamedTuple):
    """A candidate becomes a prototype. One too many: the farthest beyond `far` goes, or the closest two are merged.

    The support has a slot to spare. Row 0 of `weights` and `duals` is the positive class, row 1 the negative one.
    """

    C: float
    far: float
    sweeps: int
    weights: Any  # (2, B + 1): s+ and s-
    duals: Any  # (2, B + 1): alpha+ and alpha-
    values: Any  # (B + 1,): f at the prototypes
    gram: Any  # (B + 1, B + 1)


@admit.of(Prototypes)
def _(budget: Prototypes, kernel: Any, support: Any, block: Any, candidate: Any) -> bool:
    slot, weight = support.count[0], candidate.coef[0]
    value = 0.0
    for j in range(slot):
        value += support.coef[0, j] * float(candidate.similar[j])
    append(support, block, candidate)
    note(budget.gram, slot, slot, candidate.similar, candidate.self_similarity)
    budget.values[slot] = value
    budget.weights[0, slot], budget.weights[1, slot] = max(weight, 0.0), max(-weight, 0.0)
    budget.duals[0, slot] = budget.duals[1, slot] = 0.0
    if support.count[0] == support.sizes.shape[0]:
        make_room(budget, kernel, support)
    descend(budget, support.count[0])
    for j in range(support.count[0]):
        support.coef[0, j] = budget.duals[0, j] - budget.duals[1, j]
    return True


@compiled
def make_room(budget: Any, kernel: Any, support: Any) -> None:
    """Drop the farthest prototype if it is far outside, else merge the closest two; changes budget and support."""
    n, farthest = support.count[0], 0
    for j in range(n):
        farthest = j if abs(budget.values[j]) > abs(budget.values[farthest]) else farthest
    if abs(budget.values[farthest]) > budget.far:
        free = farthest
    else:
        low, free = closest(budget.gram, n)
        unite(budget, kernel, support, low, free)
    move(budget, free, n - 1)
    take_over(support, free, n - 1)
    support.count[0] = n - 1
    for i in range(n - 1):
        budget.values[i] = at(budget, n - 1, i)


@compiled
def closest(gram: Any, n: int) -> Any:
    """The two slots whose images are nearest to each other."""
    best, low, high = np.inf, 0, 1
    for p in range(n):
        for q in range(p + 1, n):
            distance = gram[p, p] + gram[q, q] - 2.0 * gram[p, q]
            if distance < best:
                best, low, high = distance, p, q
    return low, high


@compiled
def unite(budget: Any, kernel: Any, support: Any, p: int, q: int) -> None:
    """Put the weighted mean of two prototypes, with all that they stand for, into slot p; changes both."""
    points, weights, duals = support.points, budget.weights, budget.duals
    first, second = weights[0, p] + weights[1, p], weights[0, q] + weights[1, q]
    share = first / (first + second)
    size = 0.0
    for k in range(points.shape[0]):
        points[k, p] = share * points[k, p] + (1.0 - share) * points[k, q]
        size += float(points[k, p]) * float(points[k, p])
    for c in range(2):
        weights[c, p] += weights[c, q]
        duals[c, p] += duals[c, q]
    support.sizes[p] = min(size, np.finfo(points.dtype).max)
    similar = np.empty(support.count[0], points.dtype)
    similar_to(kernel, support, p, similar)
    note(budget.gram, support.count[0], p, similar, self_similarity(kernel, support.sizes[p]))


@compiled
def move(budget: Any, slot: int, last: int) -> None:
    """Let the last prototype take over a slot in the arrays of the budget; changes budget."""
    if slot != last:
        for c in range(2):
            budget.weights[c, slot], budget.duals[c, slot] = budget.weights[c, last], budget.duals[c, last]
        alike = budget.gram[last, last]
        for j in range(last):
            budget.gram[slot, j] = budget.gram[j, slot] = budget.gram[last, j]
        budget.gram[slot, slot] = alike


@compiled
def at(budget: Any, n: int, i: int) -> float:
    """f at prototype i."""
    total = 0.0
    for j in range(n):
        total += (budget.duals[0, j] - budget.duals[1, j]) * budget.gram[i, j]
    return total


@compiled
def descend(budget: Any, n: int) -> None:
    """Coordinate descent in the dual, until the optimality conditions hold or the sweeps are over; changes budget."""
    for _ in range(budget.sweeps):
        worst = 0.0
        for j in range(n):
            for c in range(2):
                worst = max(worst, improve(budget, n, c, j))
        if worst < ACCURACY:
            break


@compiled
def improve(budget: Any, n: int, c: int, j: int) -> float:
    """Solve for one dual variable; returns by how much its optimality condition was violated. Changes budget."""
    alike, top = budget.gram[j, j], budget.C * budget.weights[c, j]
    if top <= 0.0 or alike <= 0.0:
        return 0.0
    sign, alpha = 1.0 - 2.0 * c, budget.duals[c, j]
    slope = sign * budget.values[j] - 1.0
    if (alpha <= 0.0 and slope >= 0.0) or (alpha >= top and slope <= 0.0) or slope == 0.0:
        return 0.0
    better = min(max(alpha - slope / alike, 0.0), top)
    budget.duals[c, j] = better
    change, similar = sign * (better - alpha), row(budget.gram, j)
    for i in range(n):
        budget.values[i] += change * similar[i]
    return abs(slope)


@changed.register
def _(fresh: Prototypes, old: Any, change: Change) -> Any:
    weights, duals, values = change.sides(old.weights), change.sides(old.duals), change.signed(old.values, 0)
    return by_field(fresh, old, change, weights=weights, duals=duals, values=values)
