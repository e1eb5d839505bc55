"""Partitions from a sample of rows: trees that isolate each row, or the cells of the nearest row."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from onkel.core.borrowed import borrowed, keep, row
from onkel.core.randomness import choice, derive, generator, uniform, uniform_table
from onkel.core.rows import aligned_zeros, entry, extent, is_sparse, pack
from onkel.core.verbs import compiled, entry_point
from onkel.pieces.maps.isolation import Cells, SparseCells, Trees

FEW_FEATURES = 4096  # up to here, points of compressed rows are kept as an array


def chosen_rows(n: int, t: int, psi: int, seed: int) -> NDArray[np.int64]:
    """psi different rows of n (all of them, if there are fewer) for each of t partitions."""
    tables = uniform_table(seed, t, n)
    return np.argsort(tables, axis=1)[:, : min(psi, n)].astype(np.int64)


def trees(rows: Any, t: int, psi: int, max_depth: int | None, dtype: Any, seed: int) -> Trees:
    """t trees over psi rows each; no deeper than `max_depth`, if that is given."""
    chosen = chosen_rows(rows.shape[0], t, psi, derive(seed, 0))
    stored = np.unique(rows.indices) if is_sparse(rows) else np.arange(rows.shape[1])
    columns = stored if len(stored) else np.zeros(1, np.int64)  # rows without any number have no feature to split on
    block = pack(rows[:, columns], dtype)
    room = t * (2 * chosen.shape[1] - 1)
    feature, child = np.zeros(room, np.uint32), np.zeros(room, np.uint32)
    cell = np.zeros(room, np.int32)
    threshold, roots, depths = np.zeros(room, dtype), np.zeros(t, np.int32), np.zeros(t, np.int32)
    sizes = np.zeros(2, np.int64)
    limit = np.iinfo(np.int64).max if max_depth is None else max_depth
    made = feature, threshold, child, cell, roots, depths
    grow(block, chosen, len(columns), limit, generator(derive(seed, 1)), *made, sizes)
    nodes = int(sizes[0])
    inner = child[:nodes] != np.arange(nodes)
    asked = np.unique(feature[:nodes][inner])
    places = np.where(inner, np.searchsorted(asked, feature[:nodes]), len(asked))
    return Trees(
        columns[asked].astype(np.int64), places.astype(np.uint32), threshold[:nodes].copy(), child[:nodes].copy(),
        cell[:nodes].copy(), roots, depths,
    )  # fmt: skip


def cells(rows: Any, t: int, psi: int, metric: int, dtype: Any, seed: int) -> Cells | SparseCells:
    """t partitions into the cells of psi rows each, by Euclidean (2) or city-block (1) distance."""
    chosen = chosen_rows(rows.shape[0], t, psi, derive(seed, 0))
    used, members = np.unique(chosen, return_inverse=True)
    places = members.reshape(chosen.shape).astype(np.int32)
    points = rows[used]
    if is_sparse(rows) and rows.shape[1] > FEW_FEATURES:
        return _sparse_cells(sparse.csr_matrix(points), places, metric, dtype)
    full = np.asarray(points.todense() if is_sparse(points) else points, dtype)
    own = aligned_zeros((full.shape[1], len(full)), dtype)
    own[:] = full.T
    exact = np.asarray(full, np.float64)
    sizes = np.abs(exact).sum(axis=1) if metric == 1 else 0.5 * np.square(exact).sum(axis=1)
    return Cells(metric, own, _typed(sizes, dtype), places)


def _typed(sizes: Any, dtype: Any) -> Any:
    """Sizes of points, |x|^2 of a row of 1e30 being the largest number."""
    return np.minimum(sizes, np.finfo(dtype).max).astype(dtype)


def _sparse_cells(points: Any, members: Any, metric: int, dtype: Any) -> SparseCells:
    columns, places = np.unique(points.indices, return_inverse=True)
    # Not points[:, columns], for which SciPy makes an array as long as the rows are wide.
    shape = (points.shape[0], len(columns))
    by_column = sparse.csr_matrix((points.data, places.ravel(), points.indptr), shape).tocsc()
    by_column.sort_indices()
    exact = abs(points.astype(np.float64)) if metric == 1 else points.astype(np.float64).power(2)
    sizes = np.asarray(exact.sum(axis=1)).ravel() * (1.0 if metric == 1 else 0.5)
    return SparseCells(
        metric, columns.astype(np.int64), by_column.indptr.astype(np.int64), by_column.indices.astype(np.int32),
        by_column.data.astype(dtype), _typed(sizes, dtype), members,
    )  # fmt: skip


@entry_point
def grow(
    block: Any, chosen: Any, width: int, limit: int, state: Any, feature: Any, threshold: Any, child: Any, cell: Any,
    roots: Any, depths: Any, sizes: Any,
) -> None:  # fmt: skip
    """Grow a tree over each line of `chosen`; writes its nodes, and the numbers of nodes and cells into sizes."""
    block, chosen = borrowed(block), borrowed(chosen)
    psi = chosen.shape[1]
    own = np.empty((2, width), threshold.dtype), np.zeros((3, width), np.int64), np.empty((psi + 1, 4), np.int64)
    extremes, notes, stack = borrowed(own)
    for i in range(roots.shape[0]):
        roots[i], top = sizes[0], 1
        stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = sizes[0], 0, psi, 0
        sizes[0] += 1
        order = row(chosen, i)
        while top > 0:
            top -= 1
            node, first, last, depth = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3]
            depths[i] = max(depths[i], depth)
            middle = first
            if last - first > 1 and depth < limit:
                middle = split(block, order, first, last, state, node, feature, threshold, extremes, notes)
            if middle == first:
                child[node], cell[node], feature[node] = node, sizes[1], 0
                sizes[1] += 1
            else:
                child[node] = sizes[0]
                stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] = sizes[0], first, middle, depth + 1
                stack[top + 1, 0], stack[top + 1, 1] = sizes[0] + 1, middle
                stack[top + 1, 2], stack[top + 1, 3] = last, depth + 1
                top += 2
                sizes[0] += 2
    keep(own)


@compiled
def split(
    block: Any, order: Any, first: int, last: int, state: Any, node: int, feature: Any, threshold: Any, extremes: Any,
    notes: Any,
) -> int:  # fmt: skip
    """Part the rows of a node in two; returns where the second part begins, `first` where all rows are equal."""
    varying = look(block, order, first, last, extremes, notes)
    if varying == 0:
        return first
    j = notes[2, choice(state, varying)]
    low, high = extremes[0, j], extremes[1, j]
    place = low + threshold.dtype.type(uniform(state)) * (high - low)
    feature[node] = j
    threshold[node] = place if low < place <= high else high  # so that neither side is empty
    middle = first
    for p in range(first, last):
        if value(block, order[p], j) < threshold[node]:
            order[p], order[middle] = order[middle], order[p]
            middle += 1
    return middle


@compiled
def look(block: Any, order: Any, first: int, last: int, extremes: Any, notes: Any) -> int:
    """Find the extremes of every feature among some rows; writes those that vary into notes[2], returns their number.

    notes[0] counts the rows in which a feature is stored, notes[1] lists the features that are.
    """
    found = varying = 0
    for p in range(first, last):
        begin, end = extent(block, order[p])
        for q in range(begin, end):
            j, x = entry(block, order[p], q)
            if notes[0, j] == 0:
                notes[1, found] = j
                extremes[0, j] = extremes[1, j] = x
                found += 1
            notes[0, j] += 1
            extremes[0, j], extremes[1, j] = min(extremes[0, j], x), max(extremes[1, j], x)
    for k in range(found):
        j, zero = notes[1, k], extremes.dtype.type(0)
        if notes[0, j] < last - first:  # in the other rows it is 0
            extremes[0, j], extremes[1, j] = min(extremes[0, j], zero), max(extremes[1, j], zero)
        notes[0, j] = 0
        if extremes[1, j] > extremes[0, j]:
            notes[2, varying] = j
            varying += 1
    return varying


@compiled
def value(block: Any, i: int, j: int) -> Any:
    """Feature j of row i."""
    first, last = extent(block, i)
    for p in range(first, last):
        k, x = entry(block, i, p)
        if k == j:
            return np.float64(x)
    return 0.0
