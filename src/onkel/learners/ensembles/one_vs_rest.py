"""One model per class, each of which tells its class from all others."""

from typing import Any, NamedTuple

import numpy as np

from onkel.core.ranges import COUNT, limits
from onkel.core.verbs import known


@known
@limits(clock=COUNT)
class OneVsRest(NamedTuple):
    """Binary models, one per class; the score of a class is that of its model."""

    parts: tuple[Any, ...]
    clock: Any  # (1,): rows learned


def one_vs_rest(parts: tuple[Any, ...]) -> OneVsRest:
    """Models that know nothing yet, side by side."""
    return OneVsRest(parts, np.zeros(1, np.int64))


def signs(targets: Any, k: int) -> Any:
    """+1 for the rows of class k, -1 for all others."""
    return np.where(targets == k, 1.0, -1.0)
