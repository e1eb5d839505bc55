"""Isolation kernels: k(x, y) = the share of t random partitions in which x and y fall into the same cell.

Each partition comes from psi rows of a sample. *Trees* split on a random feature at a random place between its extremes
among the rows of the node, until every row, or group of equal rows, is alone. *Cells* are those of the nearest row. The
map is exact and sparse: the numbers of t cells, one per partition.
"""

from typing import Any, NamedTuple

import numpy as np

from onkel.core.borrowed import borrowed, keep, row
from onkel.core.checking import asks_inside, disagreement, free, within
from onkel.core.rows import ROWS, Csr, Dense, entry, extent, project
from onkel.core.trees import unchanging
from onkel.core.verbs import compiled, verb
from onkel.pieces.kernels import LAPLACIAN, add_terms

SIDE_BY_SIDE = 8  # rows that walk down a tree together: one waits for memory while the others go on
TOGETHER = 64  # rows for which a tree is fetched once


@unchanging
@free("columns", "feature", "threshold", "child", "cell")
class Trees(NamedTuple):
    """Partition i is the tree whose root is node roots[i]; the children of node n are child[n] and child[n] + 1.

    A leaf is its own child, and asks for a feature beyond the last, which is less than any threshold: all rows can take
    the same number of steps, without a question.
    """

    columns: Any  # (m,): the features that any node asks for, in order
    feature: Any  # (nodes,), uint32: position of the feature in `columns`; their number for leaves
    threshold: Any  # (nodes,)
    child: Any  # (nodes,), uint32
    cell: Any  # (nodes,): number of the cell, for leaves
    roots: Any  # (t,)
    depths: Any  # (t,)


@unchanging
@free("points", "sizes", "members")
class Cells(NamedTuple):
    """Partition i has a cell around each of the points members[i]; `metric` is 1 or 2, of the distance."""

    metric: int
    points: Any  # (d, m)
    sizes: Any  # (m,): |c|^2 / 2, or |c|_1
    members: Any  # (t, psi)


@unchanging
@free("columns", "starts", "owners", "values", "sizes", "members")
class SparseCells(NamedTuple):
    """The same with points whose features are mostly zero: column by column, only what is not zero."""

    metric: int
    columns: Any  # (k,): the features that any point has, in order
    starts: Any  # (k + 1,): where the numbers of a column begin
    owners: Any  # the point of each number
    values: Any
    sizes: Any  # (m,)
    members: Any  # (t, psi)


@verb
def locate(partitions: Any, block: Any, first: int, count: int, cells: Any) -> None:
    """cells[r] = the cell of row first + r in each partition, cells of all partitions numbered in one sequence."""


@verb
def partition_count(partitions: Any) -> int:
    """Number of partitions t."""


@partition_count.of(Trees)
def _(partitions: Trees) -> int:
    return partitions.roots.shape[0]


@partition_count.of(Cells, SparseCells)
def _(partitions: Any) -> int:
    return partitions.members.shape[0]


def cell_count(partitions: Any) -> int:
    """Number of cells of all partitions together."""
    return int(partitions.cell.max()) + 1 if isinstance(partitions, Trees) else int(partitions.members.size)


@compiled
def position(columns: Any, j: int) -> int:
    """Where feature j stands in `columns`; -1 where it does not."""
    low, high = 0, columns.shape[0]
    while low < high:
        middle = (low + high) // 2
        if columns[middle] < j:
            low = middle + 1
        else:
            high = middle
    return low if low < columns.shape[0] and columns[low] == j else -1


@locate.of(Trees)
def _(partitions: Trees, block: Any, first: int, count: int, cells: Any) -> None:
    room = min(TOGETHER, -(-count // SIDE_BY_SIDE) * SIDE_BY_SIDE)
    own = np.full((room, partitions.columns.shape[0] + 1), -np.inf, partitions.threshold.dtype)
    seen = borrowed(own)
    for start in range(0, count, TOGETHER):
        here = min(TOGETHER, count - start)
        for r in range(here):
            pick(block, first + start + r, partitions.columns, row(seen, r))
        walk(partitions.feature, partitions.threshold, partitions.child, partitions.cell, partitions.roots,
             partitions.depths, seen, cells[start : start + here])  # fmt: skip
    keep(own)


@verb
def pick(block: Any, i: int, columns: Any, out: Any) -> None:
    """out[k] = feature columns[k] of row i; leaves what is behind the last."""


@pick.of(Dense)
def _(block: Dense, i: int, columns: Any, out: Any) -> None:
    for k in range(columns.shape[0]):
        out[k] = block.values[i, columns[k]]


@pick.of(Csr)
def _(block: Csr, i: int, columns: Any, out: Any) -> None:
    for k in range(columns.shape[0]):
        out[k] = 0
    first, last = extent(block, i)
    for p in range(first, last):
        j, x = entry(block, i, p)
        k = position(columns, j)
        if k >= 0:
            out[k] = x


@compiled(heavy=True)
def walk(feature: Any, threshold: Any, child: Any, cell: Any, roots: Any, depths: Any, seen: Any, cells: Any) -> None:
    """Let all rows go down each tree, some at a time, step by step together."""
    nodes = np.empty(SIDE_BY_SIDE, np.uint32)  # without a sign, or each use of one as a position would ask for it
    for i in range(roots.shape[0]):
        for g in range(0, cells.shape[0], SIDE_BY_SIDE):
            for r in range(SIDE_BY_SIDE):
                nodes[r] = roots[i]
            for _ in range(depths[i]):
                moved = np.uint32(0)
                for r in range(SIDE_BY_SIDE):
                    n = nodes[r]
                    nodes[r] = child[n] + np.uint32(seen[g + r, feature[n]] >= threshold[n])
                    moved |= nodes[r] ^ n
                if moved == 0:  # all have come to a leaf
                    break
            for r in range(min(SIDE_BY_SIDE, cells.shape[0] - g)):
                cells[g + r, i] = cell[nodes[r]]


@locate.of(Cells)
def _(partitions: Cells, block: Any, first: int, count: int, cells: Any) -> None:
    metric, points, sizes, members = partitions
    n = sizes.shape[0]
    own = np.empty((min(ROWS, count), n), points.dtype)
    distances = borrowed(own)
    for start in range(0, count, ROWS):
        here = min(ROWS, count - start)
        if metric == 2:
            project(block, first + start, here, points, distances)
        for r in range(here):
            far = row(distances, r)
            if metric == 2:
                for k in range(n):
                    far[k] = sizes[k] - far[k]
            else:
                add_terms(points, LAPLACIAN, 1.0, block, first + start + r, sizes, n, far)
            nearest(far, members, row(cells, start + r))
    keep(own)


@compiled
def nearest(far: Any, members: Any, cells: Any) -> None:
    """The nearest member of each partition; of equally near ones the first."""
    t, psi = members.shape
    for i in range(t):
        best, least, own = 0, far[members[i, 0]], row(members, i)
        for c in range(1, psi):
            distance = far[np.uint64(own[c])]  # without a sign, or it would be asked for
            if distance < least:
                best, least = c, distance
        cells[i] = i * psi + best


@locate.of(SparseCells)
def _(partitions: SparseCells, block: Any, first: int, count: int, cells: Any) -> None:
    metric, columns, starts, owners, values, sizes, members = partitions
    own = np.empty(sizes.shape[0], sizes.dtype)
    far = borrowed(own)
    for r in range(count):
        for c in range(sizes.shape[0]):
            far[c] = sizes[c]
        begin, end = extent(block, first + r)
        for p in range(begin, end):
            j, x = entry(block, first + r, p)
            k = position(columns, j)
            if k >= 0:
                for q in range(starts[k], starts[k + 1]):
                    c = values[q]
                    far[np.uint64(owners[q])] += -x * c if metric == 2 else abs(x - c) - abs(x) - abs(c)
        nearest(far, members, row(cells, r))
    keep(own)


# ---- partitions from files ----

OUTSIDE = "its partitions point outside"


@disagreement.register
def _(trees: Trees) -> str:
    """Whether the arrays of trees fit together and point inside."""
    columns, feature, threshold, child, cell, roots, depths = trees
    nodes = len(child)
    if not len(feature) == len(threshold) == len(cell) == nodes or not within(depths, nodes):
        return OUTSIDE
    leaf = child == np.arange(nodes)  # its own child, and there is no second one
    asked = (feature[leaf] == len(columns)).all() and (feature[~leaf] < len(columns)).all()
    both = (child + ~leaf < nodes).all()
    inside = both and asked and within(child, nodes) and within(roots, nodes) and min(feature.min(), cell.min()) >= 0
    return "" if inside and apart(trees, leaf) else OUTSIDE


def apart(trees: Trees, leaf: Any) -> bool:
    """Whether trees follow each other, none leads into another one, and the cells of each are one after the other."""
    roots, child = trees.roots, trees.child.astype(np.int64)
    if roots[0] != 0 or (np.diff(roots) <= 0).any():
        return False
    own = np.searchsorted(roots, np.arange(len(child)), side="right")  # the tree of each node
    if (own[child] != own).any() or (own[child + ~leaf] != own).any():
        return False
    order = np.argsort(trees.cell[leaf], kind="stable")
    numbered = np.array_equal(trees.cell[leaf][order], np.arange(leaf.sum()))
    return numbered and bool((np.diff(own[leaf][order]) >= 0).all())


@asks_inside.register
def _(trees: Trees, n_features: int) -> bool:
    columns = trees.columns
    return bool(isinstance(columns, np.ndarray) and (columns.size == 0 or within(columns, n_features)))


@disagreement.register
def _(cells: Cells) -> str:
    m = len(cells.sizes)
    return "" if within(cells.members, m) and cells.points.shape[1] == m else OUTSIDE


@disagreement.register
def _(cells: SparseCells) -> str:
    _, columns, starts, owners, values, sizes, members = cells
    m = len(sizes)
    ordered = len(starts) == len(columns) + 1 and starts[0] == 0 and (np.diff(starts) >= 0).all()
    inside = len(owners) == len(values) and (len(owners) == 0 or within(owners, m))
    return "" if within(members, m) and ordered and inside and starts[-1] == len(values) else OUTSIDE
