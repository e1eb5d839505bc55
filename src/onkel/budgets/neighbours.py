"""Similarities of a point of the support to the others."""

from typing import Any

import numpy as np

from onkel.borrow import borrowed, keep
from onkel.dispatch import compiled
from onkel.kernels import similarities
from onkel.rows import Dense


@compiled
def similar_to(kernel: Any, support: Any, slot: int, out: Any) -> None:
    """out[k] = k(x_slot, x_k) for all points of the support, the point itself included."""
    points = support.points
    own = np.empty((1, points.shape[0]), points.dtype)
    x = borrowed(own)
    for j in range(points.shape[0]):
        x[0, j] = points[j, slot]
    similarities(kernel, Dense(x), 0, np.float64(support.sizes[slot]), points, support.sizes, support.count[0], out)
    keep(own)
