"""Similarities of the points of a support to each other."""

from typing import Any

import numpy as np

from onkel.borrow import borrowed, keep
from onkel.dispatch import compiled
from onkel.kernels import similarities
from onkel.rows import Dense


@compiled
def gather(support: Any, slot: int, x: Any) -> None:
    """Write the point in a slot into the one row of x."""
    for j in range(support.points.shape[0]):
        x[0, j] = support.points[j, slot]


@compiled
def similar_to(kernel: Any, support: Any, slot: int, out: Any) -> None:
    """out[k] = k(x_slot, x_k) for all points of the support, the point itself included."""
    points, sizes = support.points, support.sizes
    own = np.empty((1, points.shape[0]), points.dtype)
    x = borrowed(own)
    gather(support, slot, x)
    similarities(kernel, Dense(x), 0, np.float64(sizes[slot]), points, sizes, support.count[0], out)
    keep(own)


@compiled
def note(gram: Any, n: int, slot: int, similar: Any, alike: float) -> None:
    """Enter the point that is new in a slot into a table of the similarities of the first n; changes gram."""
    for j in range(n):
        if j != slot:
            gram[slot, j] = gram[j, slot] = float(similar[j])
    gram[slot, slot] = alike
