"""Budgets that keep every row until their arrays are full; what happens then is up to the caller."""

from typing import Any, NamedTuple

from onkel.core.support import append
from onkel.pieces.budgets.verbs import admit


class Unbounded(NamedTuple):
    """Keep every candidate; the arrays grow by a factor when they are full."""

    growth: int


class Handover(NamedTuple):
    """Keep every candidate; when the arrays are full, the expansion becomes a linear model of that rank."""

    rank: int
    cut: float


@admit.of(Unbounded, Handover)
def _(budget: Any, kernel: Any, support: Any, block: Any, candidate: Any) -> bool:
    return append(support, block, candidate)
