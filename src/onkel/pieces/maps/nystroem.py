"""Nystroem features: the similarities to B landmarks, projected on the k strongest directions of their Gram matrix.

K = V diag(e) V^T over the landmarks; M = diag(e_1..e_k)^(-1/2) V_k^T; z(x) = M k(landmarks, x).
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onkel.core.borrowed import row
from onkel.core.checking import disagreement, free
from onkel.core.interrupts import patiently
from onkel.core.points import fits
from onkel.core.ranges import NOT_NEGATIVE, limits
from onkel.core.rows import Dense, dot, project, row_count
from onkel.core.trees import unchanging
from onkel.core.verbs import entry_point
from onkel.pieces.kernels import measure, similarities
from onkel.pieces.maps.verbs import factor, feature_norm, lift, tile_rows, width, work_width

LARGE = 512  # landmarks, whose directions take longer than Ctrl-C may wait


@unchanging
@limits(sizes=NOT_NEGATIVE)
@free("projection")
class Nystroem(NamedTuple):
    """Landmarks with their kernel, and the projection M^T."""

    kernel: Any
    points: Any  # (d, B), or lists
    sizes: Any  # (B,)
    projection: Any  # (B, k)


@lift.of(Nystroem)
def _(feature_map: Nystroem, block: Any, first: int, count: int, work: Any, features: Any) -> None:
    kernel, points, sizes, projection = feature_map
    for r in range(count):
        size = measure(kernel, block, first + r)
        similarities(kernel, block, first + r, size, points, sizes, sizes.shape[0], row(work, r))
    project(Dense(work), 0, count, projection, features)


@width.of(Nystroem)
def _(feature_map: Nystroem) -> int:
    return feature_map.projection.shape[1]


@work_width.of(Nystroem)
def _(feature_map: Nystroem) -> int:
    return feature_map.projection.shape[0]


@tile_rows.of(Nystroem)
def _(feature_map: Nystroem) -> int:
    return 3 * max(1, min(16, 4096 // max(feature_map.sizes.shape[0], 1)))


@factor.of(Nystroem)
def _(feature_map: Nystroem) -> float:
    return 1.0


@feature_norm.of(Nystroem)
def _(feature_map: Nystroem, features: Any) -> float:
    return np.float64(dot(features, features, features.shape[0]))


def nystroem(
    kernel: Any, points: Any, sizes: NDArray[Any], K: NDArray[np.float64], rank: int, cut: float
) -> tuple[Nystroem, NDArray[np.float64]]:
    """The map of landmarks with their Gram matrix K, and pinv(M) (B, k) = V_k diag(e)^(1/2).

    Directions whose eigenvalue is below e_1 times `cut`, or times B roundings of the points' type, are left out:
    duplicated landmarks give zeros.
    """
    dtype = sizes.dtype
    solve = partial(np.linalg.eigh, K)  # seconds, where there are thousands of landmarks
    values, vectors = patiently(solve) if len(K) >= LARGE else solve()
    values, vectors = values[::-1][:rank], vectors[:, ::-1][:, :rank]
    strong = values > max(cut, len(K) * np.finfo(dtype).eps) * max(values[0], 0.0)
    if not strong.any():  # landmarks that are all zero under this kernel: one direction of weight 0
        values, vectors, strong = np.ones(1), np.zeros((len(K), 1)), np.ones(1, bool)
    root, V = np.sqrt(values[strong]), vectors[:, strong]
    made = Nystroem(kernel, points, np.ascontiguousarray(sizes), np.ascontiguousarray(V / root, dtype))
    return made, V * root


@entry_point
def measure_all(kernel: Any, block: Any, out: Any) -> None:
    """out[i] = `measure` of row i."""
    for i in range(row_count(block)):
        out[i] = measure(kernel, block, i)


def measures(kernel: Any, block: Any) -> NDArray[np.float64]:
    """What the kernel remembers of each row besides the row."""
    out = np.empty(int(row_count(block)))
    measure_all(kernel, block, out)
    return out


@disagreement.register
def _(feature_map: Nystroem) -> str:
    return "" if fits(feature_map.points, len(feature_map.sizes)) else "its landmarks are of several sizes"
