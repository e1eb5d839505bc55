"""No budget: every row is kept, in arrays that grow."""

from typing import Any, NamedTuple

from onkel.core.support import append
from onkel.pieces.budgets.verbs import admit


class Unbounded(NamedTuple):
    """Keep every candidate; the arrays grow by a factor when they are full."""

    growth: int


@admit.of(Unbounded)
def _(budget: Unbounded, kernel: Any, support: Any, block: Any, candidate: Any) -> bool:
    return append(support, block, candidate)
