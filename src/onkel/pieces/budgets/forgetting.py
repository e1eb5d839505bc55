"""A budget that lets all points fade so far that the oldest can be dropped without harm."""

from typing import Any, NamedTuple

import numpy as np

from onkel.core.borrowed import borrowed, keep, row
from onkel.core.ranges import COUNT, limits
from onkel.core.rows import dot
from onkel.core.support import append, place
from onkel.core.verbs import compiled
from onkel.pieces.budgets.choices import Oldest
from onkel.pieces.budgets.neighbours import similar_to
from onkel.pieces.budgets.verbs import admit, choose
from onkel.pieces.losses import mistaken

SHARE = 15.0 / 32.0  # of the mistakes that the damage by removals may reach


@limits(mistakes=COUNT)
class Fade(NamedTuple):
    """When full, all coefficients are multiplied by phi in (0, 1] and the oldest point r is dropped.

    phi is the largest factor with Q + (delta phi)^2 + 2 delta phi (1 - phi mu) <= 15/32 M: delta = |a_r|,
    mu = y_r f(x_r), Q the damage done so far, M the number of mistakes; for regression `unsigned`, mu = |f(x_r)|.
    `largest` is 1; the authors' code has no such bound and takes the larger of two roots, which is what an infinite
    `largest` gives.
    """

    rule: Oldest
    unsigned: bool
    largest: float
    damage: Any  # (1,): Q
    mistakes: Any  # (1,): M


@admit.of(Fade)
def _(budget: Fade, kernel: Any, support: Any, block: Any, candidate: Any) -> bool:
    budget.mistakes[0] += 1 if budget.unsigned or mistaken(candidate.target, candidate.scores) else 0
    if not append(support, block, candidate):
        slot = choose(budget.rule, kernel, support, candidate)
        delta, mu = standing(kernel, support, slot, candidate)
        mu = abs(mu) if budget.unsigned else mu
        slack = SHARE * budget.mistakes[0] - budget.damage[0]
        phi = fading(delta, mu, slack, budget.largest)
        budget.damage[0] += (delta * phi) ** 2 + 2.0 * delta * phi * (1.0 - phi * mu)
        place(support, slot, block, candidate)
        support.scale[0] *= phi
    return True


@compiled
def standing(kernel: Any, support: Any, slot: int, candidate: Any) -> Any:
    """|a_r| and y_r f(x_r) of the point in a slot, f including it and the candidate; the label is a's largest entry."""
    n, label = support.count[0], 0
    for k in range(support.coef.shape[0]):
        label = k if support.coef[k, slot] > support.coef[label, slot] else label
    own = np.empty(n, support.sizes.dtype)
    similar = borrowed(own)
    similar_to(kernel, support, slot, similar)
    a = float(support.coef[label, slot]) * support.scale[0]
    f = dot(row(support.coef, label), similar, n) * support.scale[0]
    f += candidate.coef[label] * candidate.scale * candidate.similar[slot]
    keep(own)
    return abs(a), f if a > 0.0 else -f


@compiled
def fading(delta: float, mu: float, slack: float, largest: float) -> float:
    """The largest phi with (delta^2 - 2 delta mu) phi^2 + 2 delta phi <= slack, or the published root."""
    a, b = delta * delta - 2.0 * delta * mu, 2.0 * delta
    if a + b <= slack or delta == 0.0:
        return 1.0
    if a == 0.0:
        return min(max(slack / b, 0.0), 1.0)
    root = np.sqrt(max(b * b + 4.0 * a * slack, 0.0))
    sign = -1.0 if a < 0.0 and largest > 1.0 else 1.0
    return min(max((-b + sign * root) / (2.0 * a), 0.0), largest)
