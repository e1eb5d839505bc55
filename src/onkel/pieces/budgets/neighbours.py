"""Similarities of the points of a support to each other."""

from typing import Any

import numpy as np

from onkel.core.borrowed import borrowed, keep
from onkel.core.points import room_for_one, standing
from onkel.core.verbs import compiled
from onkel.pieces.kernels import similarities


@compiled
def similar_to(kernel: Any, support: Any, slot: int, out: Any) -> None:
    """out[k] = k(x_slot, x_k) for all points of the support, the point itself included."""
    points, sizes = support.points, support.sizes
    own = room_for_one(points)
    block, i = standing(points, slot, borrowed(own))
    similarities(kernel, block, i, np.float64(sizes[slot]), points, sizes, support.count[0], out)
    keep(own)


@compiled
def note(gram: Any, n: int, slot: int, similar: Any, alike: float) -> None:
    """Enter the point that is new in a slot into a table of the similarities of the first n; changes gram."""
    for j in range(n):
        if j != slot:
            gram[slot, j] = gram[j, slot] = float(similar[j])
    gram[slot, slot] = alike
