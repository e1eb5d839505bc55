"""Budgets that project points on the span of the others instead of dropping them."""

from typing import Any, NamedTuple

import numpy as np

from onkel.core.borrowed import borrowed, keep, row
from onkel.core.support import append, place
from onkel.core.verbs import compiled, verb
from onkel.pieces.budgets.choices import Smallest, square_of
from onkel.pieces.budgets.span import Span, column, crowded, exchange, extend, projected, refined, renew
from onkel.pieces.budgets.verbs import admit, choose
from onkel.pieces.losses import margin, mistaken


class Project(NamedTuple):
    """Candidates are kept until the budget is full; from then on they are projected on the span of the points.

    So is any candidate whose squared distance from the span is at most `threshold`.
    """

    threshold: float
    span: Span


class ProjectMargin(NamedTuple):
    """Like `Project` for mistakes; rows classified correctly with a margin below 1 take a smaller projected step.

    With loss l, projection of squared length P and distance delta: tau = min(l / P, 1), if
    tau (2 l - tau P - 2 U delta) >= 0.
    """

    threshold: float
    caution: float  # U
    span: Span


class Exchange(NamedTuple):
    """When full, a rule says which point goes, the candidate included; its weight goes to the others by projection."""

    rule: Any
    span: Span


class LeastResidual(NamedTuple):
    """The point whose weight |a_r|^2 times its squared distance from the span of all others is smallest."""


@verb
def leaver(rule: Any, kernel: Any, support: Any, candidate: Any, span: Any, projection: Any) -> int:
    """The slot whose point has to go when the support is full; the number of points stands for the candidate."""


@leaver.of(Smallest)
def _(rule: Smallest, kernel: Any, support: Any, candidate: Any, span: Any, projection: Any) -> int:
    return choose(rule, kernel, support, candidate)


@leaver.of(LeastResidual)
def _(rule: LeastResidual, kernel: Any, support: Any, candidate: Any, span: Any, projection: Any) -> int:
    d, best, slot = projection.direction, np.inf, 0
    for r in range(support.count[0]):
        loss = square_of(support, r) / (span.inverse[r, r] + d[r] * d[r] / projection.distance)
        if loss < best:
            best, slot = loss, r
    return slot


@admit.of(Project)
def _(budget: Project, kernel: Any, support: Any, block: Any, candidate: Any) -> bool:
    own = np.empty(support.sizes.shape[0])
    projection = projected(budget.span.inverse, support.count[0], candidate, borrowed(own))
    keep_or_project(budget, support, block, candidate, projection)
    keep(own)
    return True


@admit.of(ProjectMargin)
def _(budget: ProjectMargin, kernel: Any, support: Any, block: Any, candidate: Any) -> bool:
    own = np.empty(support.sizes.shape[0])
    projection = projected(budget.span.inverse, support.count[0], candidate, borrowed(own))
    if mistaken(candidate.target, candidate.scores):
        keep_or_project(budget, support, block, candidate, projection)
    elif projection.inside > 0.0:
        m, _, _ = margin(candidate.target, candidate.scores)
        loss, delta = 1.0 - m, np.sqrt(projection.distance)
        tau = min(loss / projection.inside, 1.0)
        if 2.0 * loss - tau * projection.inside - 2.0 * budget.caution * delta >= 0.0:
            share(support, candidate.coef, tau, projection.direction)
    keep(own)
    return True


@admit.of(Exchange)
def _(budget: Exchange, kernel: Any, support: Any, block: Any, candidate: Any) -> bool:
    span, n, own = budget.span, support.count[0], np.empty((3, support.sizes.shape[0]))
    work = borrowed(own)
    direction, x, unit = row(work, 0), row(work, 1), row(work, 2)
    projection = refined(span, n, candidate, projected(span.inverse, n, candidate, direction))
    near = crowded(span, n, candidate.self_similarity, projection)
    if not near and append(support, block, candidate):
        extend(span, n, candidate, projection)
        renew(span, n + 1, unit, x)
    else:
        slot = n if near else leaver(budget.rule, kernel, support, candidate, span, projection)
        if slot == n or not column(span, n, slot, unit, x):
            share(support, candidate.coef, 1.0, direction)
        else:
            replace(span, support, slot, block, candidate, projection, x)
            renew(span, n, unit, x)
    keep(own)
    return True


@compiled
def keep_or_project(budget: Any, support: Any, block: Any, candidate: Any, projection: Any) -> None:
    """Append a candidate that is far from the span, if there is room, else project it; changes support and budget."""
    n, span = support.count[0], budget.span
    far = n < support.sizes.shape[0] and projection.distance > budget.threshold
    if far:
        projection = refined(span, n, candidate, projection)
    if far and not crowded(span, n, candidate.self_similarity, projection):
        append(support, block, candidate)
        extend(span, n, candidate, projection)
    else:
        share(support, candidate.coef, 1.0, projection.direction)


@compiled
def share(support: Any, coef: Any, factor: float, direction: Any) -> None:
    """Add the weight of a point to the others: a_j += factor coef direction_j; changes support."""
    for k in range(coef.shape[0]):
        a, c = row(support.coef, k), factor * coef[k]
        if c != 0.0:
            for j in range(support.count[0]):
                a[j] += c * direction[j]


@compiled
def replace(span: Any, support: Any, slot: int, block: Any, candidate: Any, projection: Any, column: Any) -> None:
    """Put a candidate in the place of a point whose weight goes to all others; changes support and span."""
    own = np.empty(support.coef.shape[0])
    weight = borrowed(own)
    for k in range(weight.shape[0]):
        weight[k] = support.coef[k, slot]
    entry = exchange(span, support.count[0], slot, candidate, projection, column)
    place(support, slot, block, candidate)
    share(support, weight, -1.0 / entry, column)
    keep(own)
