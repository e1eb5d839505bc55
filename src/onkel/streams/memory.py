"""Streams from what Python holds: arrays, and rows as dicts."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeAlias

import numpy as np
from scipy.sparse import csr_matrix

from onkel.streams.block import (
    Block,
    Labels,
    Rows,
    StreamError,
    Summary,
    better_dense,
    csr,
    dense,
    stored,
    summarise,
)
from onkel.streams.columns import hashed

Row: TypeAlias = Mapping[str, float | str | None]


class ArrayStream:
    """Rows of a NumPy array or a SciPy sparse matrix, cut into blocks; float64 arrays are not copied.

    Parameters
    ----------
    X
        Rows (n, d): anything that NumPy takes for a table of numbers (a file by `numpy.load(path, mmap_mode="r")` is
        read as it is asked for), or a sparse matrix.
    y
        Labels (n,): numbers or text.
    block_rows
        Rows per block; the last block may be shorter.

    Examples
    --------
    >>> stream = ArrayStream(np.eye(3), ["a", "b", "a"], block_rows=2)
    >>> [(block.rows.shape, block.labels.tolist()) for block in stream]
    [((2, 3), ['a', 'b']), ((1, 3), ['a'])]
    """

    def __init__(self, X: Any, y: Any, block_rows: int = 4096) -> None:
        self._rows: Any = X.tocsr() if hasattr(X, "tocsr") else np.asanyarray(X)
        self._labels = np.asarray(y)
        self.block_rows = _at_least_one(block_rows)
        if self._rows.ndim != 2 or self._labels.ndim != 1 or self._rows.shape[0] != len(self._labels):
            shapes = f"{self._rows.shape} and {self._labels.shape}"
            raise StreamError(f"Rows (n, d) and labels (n,) are needed, not arrays of shapes {shapes}.")

    def __iter__(self) -> Iterator[Block]:
        """Yield the rows, block by block."""
        for start in range(0, len(self._labels), self.block_rows):
            here = slice(start, start + self.block_rows)
            block = Block(_as_rows(self._rows[here]), _as_labels(self._labels[here]))
            _check(block, start)
            yield block

    def summary(self) -> Summary:
        """Look at all rows once."""
        return summarise(self)


class DictStream:
    """Rows that come as dicts, with their labels: features are known by name.

    A number is the value of the feature of its name, a text stands for the feature "name=text" with the value 1, None
    and names that are not there are 0. A model has as many columns as it had when it was made, so columns cannot be
    added on the way: either names are hashed to a fixed number of columns, or all are listed beforehand.

    Parameters
    ----------
    pairs
        Pairs (dict, label). An iterator can be gone through only once.
    features
        Names of the features in the order of their columns, texts as "name=text"; other ones are left out. By default,
        names are hashed, the same in every run; what falls on one column adds up.
    hash_columns
        Number of columns to which names are hashed.
    block_rows
        Rows per block; the last block may be shorter.

    Examples
    --------
    >>> pairs = [({"age": 31, "city": "Rome"}, "yes"), ({"age": 42, "city": "Oslo", "new": 1}, "no")]
    >>> [block.rows.tolist() for block in DictStream(pairs, features=["age", "city=Rome"])]
    [[[31.0, 1.0], [42.0, 0.0]]]
    >>> DictStream(pairs).summary()
    Summary(rows=2, n_features=1024, labels=('no', 'yes'), entries=5, has_negative=False)
    """

    def __init__(
        self,
        pairs: Iterable[tuple[Row, float | str]],
        features: Sequence[str] | None = None,
        hash_columns: int = 1024,
        block_rows: int = 4096,
    ) -> None:
        self._pairs = pairs
        self._places = None if features is None else {name: place for place, name in enumerate(features)}
        self.n_features = hash_columns if features is None else len(features)
        self.block_rows = _at_least_one(block_rows)
        self._gone = False
        if self.n_features < 1:
            raise StreamError("Rows must have at least one feature.")

    def __iter__(self) -> Iterator[Block]:
        """Yield the rows, block by block."""
        if self._gone:
            raise StreamError("The pairs can be gone through only once.")
        pairs = iter(self._pairs)
        self._gone = pairs is self._pairs
        return self._blocks(pairs)

    def summary(self) -> Summary:
        """Look at all rows once."""
        if iter(self._pairs) is self._pairs:
            raise StreamError("The pairs can be gone through only once, so they have no summary.")
        return summarise(self)

    def _blocks(self, pairs: Iterator[tuple[Row, float | str]]) -> Iterator[Block]:
        start, as_array = 0, None
        while batch := list(islice(pairs, self.block_rows)):
            rows = self._matrix([row for row, _ in batch], start)
            if as_array is None:
                as_array = better_dense(stored(rows).size, *rows.shape)
            block = Block(dense(rows) if as_array else rows, _as_labels(np.array([label for _, label in batch])))
            _check(block, start)
            yield block
            start += len(batch)

    def _matrix(self, rows: list[Row], start: int) -> Rows:
        values, columns, starts = [], [], [0]
        for number, row in enumerate(rows, start):
            for name, value in row.items():
                place = self._place(f"{name}={value}" if isinstance(value, str) else name)
                if place is not None and value is not None:
                    columns.append(place)
                    values.append(1.0 if isinstance(value, str) else _number(value, name, number))
            starts.append(len(values))
        matrix = csr_matrix((np.array(values, float), columns, starts), shape=(len(rows), self.n_features))
        matrix.sum_duplicates()
        return csr(matrix.data, matrix.indices, matrix.indptr, self.n_features)

    def _place(self, feature: str) -> int | None:
        return hashed(feature, self.n_features) if self._places is None else self._places.get(feature)


def _at_least_one(block_rows: int) -> int:
    if block_rows < 1:
        raise StreamError(f"A block must hold at least one row, not {block_rows}.")
    return block_rows


def _number(value: Any, name: str, row: int) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise StreamError(f"Row {row}: feature {name!r} is {value!r}, neither a number nor text.") from None


def _as_rows(rows: Any) -> Rows:
    """Rows as all streams deliver them."""
    try:
        if isinstance(rows, np.ndarray):
            return np.ascontiguousarray(rows, dtype=np.float64)
        rows.sum_duplicates()
        return csr(rows.data, rows.indices, rows.indptr, rows.shape[1])
    except (TypeError, ValueError):
        raise StreamError(f"Rows must hold numbers, not {rows.dtype}.") from None


def _as_labels(labels: Any) -> Labels:
    """Labels as all streams deliver them: text, or numbers."""
    if labels.dtype.kind == "O" and all(isinstance(label, str) for label in labels):
        labels = labels.astype(np.str_)
    if labels.dtype.kind == "U":
        return labels
    try:
        return np.asarray(labels, dtype=np.float64)
    except (TypeError, ValueError):
        raise StreamError("Labels must be numbers or text, and not both.") from None


def _check(block: Block, start: int) -> None:
    """Whether all numbers are finite; rows are counted from 0."""
    finite = np.isfinite(stored(block.rows)).all()
    if finite and (block.labels.dtype.kind == "U" or np.isfinite(block.labels).all()):
        return
    bad = ~np.isfinite(dense(block.rows)).all(axis=1)
    if block.labels.dtype.kind != "U":
        bad = bad | ~np.isfinite(block.labels)
    raise StreamError(f"Row {start + int(np.argmax(bad))}: only finite numbers are accepted.")
