"""Blocks of rows, the unit in which every stream delivers its data, and the few functions that cut and join them."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

Rows: TypeAlias = "NDArray[np.float64] | csr_matrix[np.float64]"
Labels: TypeAlias = NDArray[np.float64] | NDArray[np.str_]

FEW_ZEROS = 0.15  # share of cells that are not zero beyond which rows are dense: centred where they are standardised
FEW_FEATURES = 64  # up to here, arrays are faster than CSR matrices even when most of their cells are zero
MOST_CLASSES = 1000  # a target with more distinct values than this is taken as continuous


class StreamError(ValueError):
    """What is wrong with a stream, in one sentence that names the file and, where there is one, the line."""


def at_line(name: str, line: int, what: str) -> StreamError:
    """The error that says what is wrong in a line of a file.

    Examples
    --------
    >>> print(at_line("data.libsvm", 17, "feature index 0 is below 1."))
    data.libsvm, line 17: feature index 0 is below 1.
    """
    return StreamError(f"{name}, line {line}: {what}")


class Block(NamedTuple):
    """Consecutive rows of a stream.

    Attributes
    ----------
    rows
        Features, one row each: a float64 array (n, d), or a CSR matrix with float64 data, int32 indices and int64
        indptr.
    labels
        Labels (n,): float64 numbers, or strings where the file has text classes.
    first_line
        Line of the file that holds the first row, 0 where there is no file.
    """

    rows: Rows
    labels: Labels
    first_line: int = 0


class Summary(NamedTuple):
    """What one pass over a stream shows.

    Attributes
    ----------
    rows
        Number of rows.
    n_features
        Number of features.
    labels
        Sorted distinct labels; empty for a continuous target, that is when some label is no integer or more than
        1000 differ.
    entries
        Stored entries; rows times features where the rows are dense.
    has_negative
        Whether any feature is below zero.
    """

    rows: int
    n_features: int
    labels: tuple[float, ...] | tuple[str, ...]
    entries: int
    has_negative: bool


class Stream(Protocol):
    """Anything that yields blocks and can be summarised."""

    def __iter__(self) -> Iterator[Block]:
        """Yield the rows, block by block."""

    def summary(self) -> Summary:
        """Look at all rows once."""


def csr(
    values: NDArray[np.float64], indices: NDArray[Any], starts: NDArray[Any], n_features: int
) -> "csr_matrix[np.float64]":
    """CSR matrix with int32 indices and int64 indptr.

    Examples
    --------
    >>> matrix = csr(np.array([0.5, 2.0]), np.array([2, 0]), np.array([0, 1, 2]), n_features=3)
    >>> matrix.toarray().tolist(), matrix.indices.dtype.name, matrix.indptr.dtype.name
    ([[0.0, 0.0, 0.5], [2.0, 0.0, 0.0]], 'int32', 'int64')
    """
    matrix = csr_matrix((len(starts) - 1, n_features), dtype=np.float64)
    # Set one by one, because SciPy's constructor narrows indptr to the type of the indices: compiled code
    # would then meet two types of matrices, and be compiled twice.
    matrix.data = np.asarray(values, dtype=np.float64)
    matrix.indices = np.asarray(indices, dtype=np.int32)
    matrix.indptr = np.asarray(starts, dtype=np.int64)
    return matrix


def stored(rows: Rows) -> NDArray[np.float64]:
    """The entries that are held in memory: all cells of an array, the stored ones of a CSR matrix."""
    return rows if isinstance(rows, np.ndarray) else rows.data


def dense(rows: Rows) -> NDArray[np.float64]:
    """All cells, zeros included."""
    return rows if isinstance(rows, np.ndarray) else rows.toarray()


def better_dense(entries: int, n_rows: int, n_features: int) -> bool:
    """Whether rows with that many entries are better kept as an array than as a CSR matrix.

    Examples
    --------
    >>> better_dense(5, 1, 64), better_dense(5, 1, 65), better_dense(50, 1, 65)
    (True, False, True)
    """
    return n_features <= FEW_FEATURES or entries > FEW_ZEROS * n_rows * n_features


def cut(block: Block, start: int, stop: int) -> Block:
    """Rows `start` to `stop` of a block."""
    if isinstance(block.rows, np.ndarray):
        rows: Rows = block.rows[start:stop]
    else:
        values, indices, starts = block.rows.data, block.rows.indices, block.rows.indptr[start : stop + 1]
        held = slice(int(starts[0]), int(starts[-1]))
        rows = csr(values[held], indices[held], starts - starts[0], block.rows.shape[1])
    return Block(rows, block.labels[start:stop], block.first_line + start if block.first_line else 0)


def select(block: Block, order: NDArray[np.intp]) -> Block:
    """Rows of a block in another order, or some of them; they no longer stand at a line.

    Examples
    --------
    >>> block = Block(np.array([[1.0], [2.0], [3.0]]), np.array([1.0, -1.0, 1.0]), 1)
    >>> select(block, np.array([2, 0])).rows.ravel().tolist()
    [3.0, 1.0]
    """
    rows: Rows = block.rows[order]
    if not isinstance(rows, np.ndarray):
        rows = csr(rows.data, rows.indices, rows.indptr, rows.shape[1])
    return Block(rows, block.labels[order], 0)


def concatenate(blocks: Iterable[Block]) -> Block:
    """All rows of a stream as one block in memory; a CSR matrix as soon as one of the blocks is one.

    Examples
    --------
    >>> parts = [Block(np.array([[1.0]]), np.array([1.0]), 1), Block(np.array([[2.0]]), np.array([-1.0]), 2)]
    >>> concatenate(parts).labels.tolist()
    [1.0, -1.0]
    """
    parts = list(blocks)
    if not parts:
        raise StreamError("There are no blocks to concatenate.")
    if len(parts) == 1:
        return parts[0]
    labels = np.concatenate([part.labels for part in parts])
    return Block(_stack([part.rows for part in parts]), labels, parts[0].first_line)


def _stack(parts: list[Rows]) -> Rows:
    """Rows of several blocks below each other."""
    arrays = [rows for rows in parts if isinstance(rows, np.ndarray)]
    if len(arrays) == len(parts):
        return np.concatenate(arrays)
    joined = vstack([csr_matrix(rows) for rows in parts], format="csr")
    return csr(joined.data, joined.indices, joined.indptr, joined.shape[1])


def packed(block: Block) -> dict[str, Any]:
    """A block as arrays and numbers, which a file can hold."""
    rows = block.rows
    if isinstance(rows, np.ndarray):
        return {"rows": rows, "labels": block.labels}
    parts = {"values": rows.data, "indices": rows.indices, "starts": rows.indptr, "n_features": rows.shape[1]}
    return {**parts, "labels": block.labels}


def unpacked(parts: dict[str, Any]) -> Block:
    """The block that was packed; a ValueError where its parts do not fit together.

    Examples
    --------
    >>> unpacked(packed(Block(csr([0.5], [1], [0, 0, 1], 3), np.ones(2)))).rows.toarray().tolist()
    [[0.0, 0.0, 0.0], [0.0, 0.5, 0.0]]
    """
    numbers = parts["rows"] if "rows" in parts else parts["values"]
    if not (
        isinstance(numbers, np.ndarray) and numbers.dtype == np.float64 and isinstance(parts["labels"], np.ndarray)
    ):
        raise ValueError("Its rows are no numbers.")
    if "rows" in parts:
        rows: Rows = parts["rows"]
    else:
        rows = csr(*(parts[name] for name in ("values", "indices", "starts", "n_features")))
        rows.check_format(full_check=True)
    labels: Labels = parts["labels"]
    if rows.ndim != 2 or labels.shape != (rows.shape[0],):
        raise ValueError("Rows and labels do not fit together.")
    return Block(rows, labels)


def take(blocks: Iterable[Block], limit: int) -> Iterator[Block]:
    """The first `limit` rows of a stream.

    Examples
    --------
    >>> block = Block(np.zeros((4, 1)), np.array([1.0, 2.0, 3.0, 4.0]), 1)
    >>> [part.labels.tolist() for part in take([block, block], limit=6)]
    [[1.0, 2.0, 3.0, 4.0], [1.0, 2.0]]
    """
    left = limit
    if left <= 0:
        return
    for block in blocks:
        if len(block.labels) >= left:
            yield cut(block, 0, left)
            return  # before the next block is asked for: it may have to be waited for
        left -= len(block.labels)
        yield block


def reblock(blocks: Iterable[Block], size: int) -> Iterator[Block]:
    """The same rows in blocks of exactly `size` rows; the last one may be shorter.

    A block that starts inside another one gets its line by counting on, as if no line between were blank.

    Examples
    --------
    >>> block = Block(np.zeros((4, 1)), np.array([1.0, 2.0, 3.0, 4.0]), 1)
    >>> [(part.labels.tolist(), part.first_line) for part in reblock([block], size=3)]
    [([1.0, 2.0, 3.0], 1), ([4.0], 4)]
    """
    if size < 1:
        raise StreamError(f"A block must hold at least one row, not {size}.")
    waiting: list[Block] = []
    held = 0
    for block in blocks:
        start, n_rows = 0, len(block.labels)
        while held + n_rows - start >= size:
            stop = start + size - held
            yield concatenate([*waiting, cut(block, start, stop)])
            waiting, held, start = [], 0, stop
        if start < n_rows:
            waiting.append(cut(block, start, n_rows))
            held += n_rows - start
    if waiting:
        yield concatenate(waiting)


def summarise(blocks: Iterable[Block]) -> Summary:
    """Count the rows, features, entries and classes of a stream without keeping its rows.

    Examples
    --------
    >>> summarise([Block(np.array([[0.0, 2.0]]), np.array([1.0])), Block(np.array([[-1.0, 0.0]]), np.array([0.0]))])
    Summary(rows=2, n_features=2, labels=(0.0, 1.0), entries=4, has_negative=True)
    """
    rows = n_features = entries = 0
    classes: set[Any] | None = set()
    has_negative = False
    for block in blocks:
        held = stored(block.rows)
        rows += len(block.labels)
        n_features = max(n_features, block.rows.shape[1])
        entries += held.size
        has_negative = has_negative or bool(np.any(held < 0.0))
        classes = _classes_with(classes, block.labels)
    return Summary(rows, n_features, tuple(sorted(classes or ())), entries, has_negative)


def _classes_with(classes: set[Any] | None, labels: Labels) -> set[Any] | None:
    """The classes seen so far and those of one block; None once the target is known to be continuous."""
    if classes is None or (labels.dtype.kind == "f" and bool(np.any(labels != np.floor(labels)))):
        return None
    seen = classes.union(np.unique(labels).tolist())
    return seen if len(seen) <= MOST_CLASSES else None
