"""Budgets that drop a point when they are full."""

from typing import Any, NamedTuple

import numpy as np

from onkel.core.randomness import uniform
from onkel.core.support import append, place
from onkel.core.verbs import compiled
from onkel.pieces.budgets.choices import square_of
from onkel.pieces.budgets.verbs import admit, choose
from onkel.pieces.kernels import self_similarity


class Remove(NamedTuple):
    """When full, the candidate takes the slot of the point that a rule chooses, unless that is the candidate itself."""

    rule: Any


class Unbiased(NamedTuple):
    """When full, a random point goes, and the B - 1 others grow by B / (B - 1): the expected f stays as it was.

    Then all coefficients shrink by a common factor, if need be, so that none is larger than `limit`.
    """

    rule: Any
    limit: float


class Proportional(NamedTuple):
    """Like `Unbiased`, but a point with a large term is less likely to go.

    p_i = (1 - |a_i| sqrt(k_ii) / sum_j |a_j| sqrt(k_jj)) / (B - 1), and those that stay are divided by 1 - p_i.
    """

    limit: float
    state: Any  # (1,): of the generator


@admit.of(Remove)
def _(budget: Remove, kernel: Any, support: Any, block: Any, candidate: Any) -> bool:
    if not append(support, block, candidate):
        slot = choose(budget.rule, kernel, support, candidate)
        if slot < support.count[0]:
            place(support, slot, block, candidate)
    return True


@admit.of(Unbiased)
def _(budget: Unbiased, kernel: Any, support: Any, block: Any, candidate: Any) -> bool:
    if not append(support, block, candidate):
        slot, n = choose(budget.rule, kernel, support, candidate), support.count[0]
        factor = n / (n - 1.0) if n > 1 else 1.0
        support.scale[0] *= factor
        for k in range(candidate.coef.shape[0]):
            candidate.coef[k] /= factor
        place(support, slot, block, candidate)
        clip(support, candidate.scale * factor, budget.limit)
    return True


@admit.of(Proportional)
def _(budget: Proportional, kernel: Any, support: Any, block: Any, candidate: Any) -> bool:
    if not append(support, block, candidate):
        n, total, u = support.count[0], 0.0, uniform(budget.state)
        for j in range(n):
            total += length(kernel, support, j)
        slot, below = n - 1, 0.0
        for j in range(n):
            p = chance(length(kernel, support, j), total, n)
            if below <= u < below + p:
                slot = j
            below += p
            if n > 1:
                for k in range(support.coef.shape[0]):
                    support.coef[k, j] /= 1.0 - p
        place(support, slot, block, candidate)
        clip(support, candidate.scale, budget.limit)
    return True


@compiled
def length(kernel: Any, support: Any, j: int) -> float:
    """|a_j| sqrt(k_jj), without the common scale."""
    return np.sqrt(square_of(support, j) * self_similarity(kernel, support.sizes[j]))


@compiled
def chance(own: float, total: float, n: int) -> float:
    """With which probability a point goes."""
    if n == 1 or total <= 0.0:
        return 1.0 / n
    return (1.0 - own / total) / (n - 1.0)


@compiled
def clip(support: Any, scale: float, limit: float) -> None:
    """Shrink all coefficients so that none is larger than the limit, `scale` being their common factor."""
    largest = 0.0
    for k in range(support.coef.shape[0]):
        for j in range(support.count[0]):
            largest = max(largest, abs(float(support.coef[k, j])))
    if largest * scale > limit:
        support.scale[0] *= limit / (largest * scale)
