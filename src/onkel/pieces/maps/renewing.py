"""One partition in the place of another."""

from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from onkel.core.rows import aligned_zeros
from onkel.pieces.maps.isolation import Cells, SparseCells, Trees

NONE = np.iinfo(np.int64).max


@singledispatch
def cell_counts(partitions: Any) -> NDArray[np.int64]:
    """Number of cells of each partition."""
    return np.full(len(partitions.members), partitions.members.shape[1])


@cell_counts.register
def _(partitions: Trees) -> NDArray[np.int64]:
    leaves = partitions.child == np.arange(len(partitions.child))
    return np.add.reduceat(leaves.astype(np.int64), partitions.roots)


@singledispatch
def replaced(old: Any, i: int, new: Any) -> Any:
    """The partitions with number i replaced by the only one of `new`."""
    raise TypeError(f"{type(old).__name__} has no partitions to replace.")


@replaced.register
def _(old: Trees, i: int, new: Trees) -> Trees:
    parts = [new if k == i else tree(old, k) for k in range(len(old.roots))]
    asked = [asked_by(part) for part in parts]
    columns = np.unique(np.concatenate(asked))
    columns = columns[columns != NONE]
    nodes = np.array([len(part.child) for part in parts])
    cells = np.array([int(part.cell.max()) + 1 for part in parts])
    starts, firsts = np.cumsum(nodes) - nodes, np.cumsum(cells) - cells
    leaves = [part.child == np.arange(len(part.child)) for part in parts]
    return Trees(
        columns,
        np.searchsorted(columns, np.concatenate(asked)).astype(np.uint32),
        np.concatenate([part.threshold for part in parts]),
        np.concatenate([part.child + start for part, start in zip(parts, starts, strict=True)]).astype(np.uint32),
        np.concatenate(
            [np.where(leaf, part.cell + first, 0) for part, leaf, first in zip(parts, leaves, firsts, strict=True)]
        ).astype(np.int32),
        starts.astype(np.int32),
        np.concatenate([part.depths for part in parts]),
    )


def asked_by(part: Trees) -> NDArray[np.int64]:
    """The column that each node asks for, and one behind all others for leaves."""
    return np.append(part.columns, NONE)[part.feature]


def tree(partitions: Trees, k: int) -> Trees:
    """One of the trees, by itself."""
    ends = np.append(partitions.roots[1:], len(partitions.child))
    first, here = partitions.roots[k], slice(partitions.roots[k], ends[k])
    child, cell = partitions.child[here] - first, partitions.cell[here]
    leaf = child == np.arange(len(child))
    own = np.where(leaf, cell - cell[leaf].min(), 0)
    return Trees(
        partitions.columns, partitions.feature[here], partitions.threshold[here], child, own, np.zeros(1, np.int32),
        partitions.depths[k : k + 1],
    )  # fmt: skip


@replaced.register
def _(old: Cells, i: int, new: Cells) -> Cells:
    members, used = joined(old.members, i, new.members, len(old.sizes))
    own = aligned_zeros((len(old.points), len(used)), old.points.dtype)
    own[:] = np.concatenate([old.points, new.points], axis=1)[:, used]
    return Cells(old.metric, own, np.concatenate([old.sizes, new.sizes])[used], members)


@replaced.register
def _(old: SparseCells, i: int, new: SparseCells) -> SparseCells:
    members, used = joined(old.members, i, new.members, len(old.sizes))
    columns = np.union1d(old.columns, new.columns)
    points = sparse.vstack([spread(old, columns), spread(new, columns)], format="csr")[used]
    there = np.unique(points.indices)
    by_column = points[:, there].tocsc()
    by_column.sort_indices()
    return SparseCells(
        old.metric, columns[there], by_column.indptr.astype(np.int64), by_column.indices.astype(np.int32),
        by_column.data, np.concatenate([old.sizes, new.sizes])[used], members,
    )  # fmt: skip


def spread(cells: SparseCells, columns: Any) -> Any:
    """The points as rows over these columns."""
    shape = len(cells.sizes), len(cells.columns)
    rows = sparse.csc_matrix((cells.values, cells.owners, cells.starts), shape).tocsr()
    places = np.searchsorted(columns, cells.columns)
    return sparse.csr_matrix((rows.data, places[rows.indices], rows.indptr), (shape[0], len(columns)))


def joined(old: Any, i: int, new: Any, count: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Members with line i from `new`, whose points follow the `count` old ones; and which points are still used."""
    members = old.copy()
    members[i] = new[0] + count
    used, places = np.unique(members, return_inverse=True)
    return places.reshape(members.shape).astype(np.int32), used
