"""The points that a learner keeps: as an array (d, capacity), or, where rows are very wide, as lists of what they hold.

Both give the same bits: a feature that a list leaves out is a 0, which adds nothing.
"""

from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from onkel.core.borrowed import row
from onkel.core.checking import free, within
from onkel.core.growing import placed
from onkel.core.rows import Csr, Dense, aligned_zeros, entry, extent, is_sparse, pack, project, project_row, row_count
from onkel.core.verbs import compiled, verb

WIDE = 1 << 15  # columns; with more, nothing is kept that has a number per column and point, or column and frequency
FIRST_ROOM = 16  # numbers per list in the beginning


@free("columns", "values", "lengths", axes=2)
class Listed(NamedTuple):
    """The numbers of each point that are not 0, with their columns in order. It is a block too: its rows are points."""

    columns: Any  # (capacity, room), int32
    values: Any  # (capacity, room)
    lengths: Any  # (capacity,)
    width: int


def empty_points(n_features: int, capacity: int, dtype: Any) -> Any:
    """Room for that many points."""
    if n_features <= WIDE:
        return aligned_zeros((n_features, capacity), dtype)
    columns, values = np.zeros((capacity, FIRST_ROOM), np.int32), np.zeros((capacity, FIRST_ROOM), dtype)
    return Listed(columns, values, np.zeros(capacity, np.int64), n_features)


def points_of(rows: Any, dtype: Any) -> Any:
    """The points that are rows of an array or a SciPy matrix."""
    if rows.shape[1] <= WIDE:
        full = rows.toarray() if is_sparse(rows) else rows
        return np.ascontiguousarray(np.asarray(full).T, dtype)
    block = pack(sparse.csr_matrix(rows), dtype)
    points = with_room(empty_points(rows.shape[1], rows.shape[0], dtype), block)
    for i in range(rows.shape[0]):
        put(points, i, block, i)
    return points


def longest_row(block: Any) -> int:
    """The most numbers that any row of a block has."""
    if isinstance(block, Csr):
        return int(np.diff(block.indptr).max(initial=0))
    return int(block.values.shape[1])


def with_room(points: Any, block: Any) -> Any:
    """The same points with room for each row of a block; where there was too little, in arrays of their own."""
    if not isinstance(points, Listed) or longest_row(block) <= points.values.shape[1]:
        return points
    more = longest_row(block) - points.values.shape[1]
    columns, values = (np.pad(a, ((0, 0), (0, more))) for a in (points.columns, points.values))
    return points._replace(columns=columns, values=values, lengths=points.lengths.copy())


def resized(points: Any, capacity: int) -> Any:
    """The first points, or all of them with room for more."""
    if isinstance(points, Listed):
        more = max(0, capacity - len(points.lengths))
        columns, values = (np.pad(a[:capacity], ((0, more), (0, 0))) for a in (points.columns, points.values))
        return Listed(columns, values, np.pad(points.lengths[:capacity], (0, more)), points.width)
    kept = points[:, :capacity]
    out = aligned_zeros((len(points), capacity), points.dtype)
    out[:, : kept.shape[1]] = kept
    return out


def as_rows(points: Any, layout: Any) -> Any:
    """The points as rows: an array, or a SciPy matrix where `layout` is a block of compressed rows."""
    if isinstance(points, Listed):
        here = np.arange(points.values.shape[1]) < points.lengths[:, None]
        starts = np.concatenate([[0], np.cumsum(points.lengths)])
        shape = len(points.lengths), points.width
        found = sparse.csr_matrix((points.values[here], points.columns[here], starts), shape)
        return found if isinstance(layout, Csr) else found.toarray()
    rows = np.ascontiguousarray(points.T)
    return sparse.csr_matrix(rows) if isinstance(layout, Csr) else rows


@verb
def put(points: Any, slot: int, block: Any, i: int) -> None:
    """Put row i into a slot; changes points."""


@verb
def copy_point(points: Any, slot: int, source: int) -> None:
    """Put the point of one slot into another; changes points."""


@verb
def products(points: Any, block: Any, i: int, n: int, out: Any) -> None:
    """out[k] = x_i . s_k for the first n points s_k."""


@verb
def room_for_one(points: Any) -> Any:
    """Space in which `standing` can lay out a point."""


@verb
def standing(points: Any, slot: int, room: Any) -> Any:
    """A block, and the number of its row that is the point in a slot; may write room."""


@put.of(np.float32, np.float64)
def _(points: Any, slot: int, block: Any, i: int) -> None:
    first, last = extent(block, i)
    points[:, slot] = 0
    for p in range(first, last):
        j, x = entry(block, i, p)
        points[j, slot] = x


@put.of(Listed)
def _(points: Listed, slot: int, block: Any, i: int) -> None:
    first, last = extent(block, i)
    n = 0
    for p in range(first, last):
        j, x = entry(block, i, p)
        if x != 0:
            points.columns[slot, n], points.values[slot, n] = j, x
            n += 1
    points.lengths[slot] = n


@copy_point.of(np.float32, np.float64)
def _(points: Any, slot: int, source: int) -> None:
    for j in range(points.shape[0]):
        points[j, slot] = points[j, source]


@copy_point.of(Listed)
def _(points: Listed, slot: int, source: int) -> None:
    for p in range(points.lengths[source]):
        points.columns[slot, p], points.values[slot, p] = points.columns[source, p], points.values[source, p]
    points.lengths[slot] = points.lengths[source]


@products.of(np.float32, np.float64)
def _(points: Any, block: Any, i: int, n: int, out: Any) -> None:
    project_row(block, i, points, n, out)


@products.of(Listed)
def _(points: Listed, block: Any, i: int, n: int, out: Any) -> None:
    first, last = extent(block, i)
    for k in range(n):
        total, q = out.dtype.type(0), 0
        columns, values = row(points.columns, k), row(points.values, k)
        for p in range(first, last):
            j, x = entry(block, i, p)
            q = reach(columns, q, points.lengths[k], j)
            if q < points.lengths[k] and columns[q] == j:
                total += x * values[q]
        out[k] = total


@compiled
def reach(columns: Any, q: int, length: int, j: int) -> int:
    """The first place from q on whose column is not before j."""
    while q < length and columns[q] < j:
        q += 1
    return q


@room_for_one.of(np.float32, np.float64)
def _(points: Any) -> Any:
    return np.empty((1, points.shape[0]), points.dtype)


@standing.of(np.float32, np.float64)
def _(points: Any, slot: int, room: Any) -> Any:
    for j in range(points.shape[0]):
        room[0, j] = points[j, slot]
    return Dense(room), 0


@room_for_one.of(Listed)
def _(points: Listed) -> Any:
    return np.empty((1, 0), points.values.dtype)


@standing.of(Listed)
def _(points: Listed, slot: int, room: Any) -> Any:
    return points, slot


@row_count.of(Listed)
def _(block: Listed) -> int:
    return block.lengths.shape[0]


@extent.of(Listed)
def _(block: Listed, i: int) -> Any:
    return 0, block.lengths[i]


@entry.of(Listed)
def _(block: Listed, i: int, p: int) -> Any:
    return np.int64(block.columns[i, p]), block.values[i, p]


@project.of(Listed)
def _(block: Listed, first: int, count: int, matrix: Any, out: Any) -> None:
    for r in range(count):
        project_row(block, first + r, matrix, matrix.shape[1], row(out, r))


@placed.register
def _(old: Listed, fresh: Any, width: int) -> Listed:
    return old._replace(width=width)


@singledispatch
def fits(points: Any, capacity: int) -> bool:
    """Whether points from a file are as many as they should be; lists of them must fit together and point inside."""
    return bool(points.shape[1] == capacity)


@fits.register
def _(points: Listed, capacity: int) -> bool:
    columns, values, lengths, width = points
    if columns.shape != values.shape or len(columns) != capacity or len(lengths) != capacity:
        return False
    room = columns.shape[1]
    here = np.arange(room) < lengths[:, None]
    ordered = (np.diff(columns, axis=1) > 0) | ~here[:, 1:]
    found = columns[here]
    return bool(within(lengths, room + 1) and ordered.all() and (found.size == 0 or within(found, width)))
