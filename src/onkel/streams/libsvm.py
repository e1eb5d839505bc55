"""Streams from LIBSVM text: `label index:value index:value ...`, one row per line."""

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onkel.streams.block import Block, StreamError, Summary, better_dense, csr, dense, stored, summarise
from onkel.streams.lines import Faults, OnError, whole_lines
from onkel.streams.opening import Source, name_of, open_bytes, read_once
from onkel.streams.readers import Asked, reader
from onkel.streams.scan import ODD_LINE, TEXT_DONE, Columns, Progress, scan
from onkel.streams.slow_parser import MOST_FEATURES, Limits, read_odd_line

SHORTEST_ENTRY = 4  # bytes, as in " 1:1"


class LibsvmFile:
    r"""Rows of a LIBSVM file, in constant memory.

    Parameters
    ----------
    source
        Path, possibly ending in .gz, .bz2, .xz or .zst, or "-" for standard input, which can be read only once.
    n_features
        Number of features; a larger index is an error. By default a path is read once to find out; of standard
        input, the largest index of the first block counts.
    block_rows
        Rows per block; the last block may be shorter.
    dense
        Whether the rows come as an array rather than as a CSR matrix. By default they do when there are at most 64
        features, or when the first block holds more than 15 % of its cells.
    on_error
        Whether a bad line is an error ("stop") or is left out ("skip"); `faults` then counts them and has the first.
    labels
        Whether each line must have a label. If not, one that begins with an entry has the label NaN, and rows from a
        pipe come as soon as they are there, in blocks of any size.
    grows
        Whether the rows of a block may be wider than those before, and than `n_features`; whether they come as an
        array is then decided for each block.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "three.libsvm"
    >>> _ = path.write_text("1 1:0.5 3:2\n-1 2:1e-3\n1 # nothing but zeros\n")
    >>> stream = LibsvmFile(path, block_rows=2)
    >>> [block.rows.tolist() for block in stream]
    [[[0.5, 0.0, 2.0], [0.0, 0.001, 0.0]], [[0.0, 0.0, 0.0]]]
    >>> stream.summary()
    Summary(rows=3, n_features=3, labels=(-1.0, 1.0), entries=3, has_negative=False)
    """

    def __init__(
        self,
        source: Source,
        n_features: int | None = None,
        block_rows: int = 4096,
        dense: bool | None = None,
        on_error: OnError = "stop",
        labels: bool = True,
        grows: bool = False,
    ) -> None:
        if n_features is not None and not 1 <= n_features <= MOST_FEATURES:
            raise StreamError(f"The number of features must be from 1 to {MOST_FEATURES}, not {n_features}.")
        if block_rows < 1:
            raise StreamError(f"A block must hold at least one row, not {block_rows}.")
        self.source = source
        self.n_features = n_features
        self.block_rows = block_rows
        self.dense = dense
        self.on_error = on_error
        self.labels = labels
        self.grows = grows
        self.faults = Faults(on_error)
        self._summary: Summary | None = None
        self._gone = False

    def __iter__(self) -> Iterator[Block]:
        """Yield the rows, block by block."""
        limits = self._limits()
        as_array = self.dense
        for block in self._blocks(limits):
            if limits.width is None and not self.grows:
                limits.width = _some_features(block.rows.shape[1], limits.name)
                limits.beyond = f"{limits.width}, the largest of the first block; give their number (--features)."
            if self.grows:
                block = block._replace(rows=_as_wide(block.rows, self.n_features or 1))
            if as_array is None or (self.grows and self.dense is None):
                as_array = better_dense(stored(block.rows).size, *block.rows.shape)
            yield block._replace(rows=dense(block.rows)) if as_array else block

    def summary(self) -> Summary:
        """Read the whole file once, without keeping its rows; later calls repeat the answer."""
        if self._summary is None:
            if read_once(self.source):
                raise StreamError(f"{name_of(self.source)}: it can be read only once, so it has no summary.")
            self._summary = summarise(self._blocks(self._given_limits()))
        return self._summary

    def _given_limits(self) -> Limits:
        self.faults = Faults(self.on_error)
        beyond = f"the {self.n_features} features asked for."
        return Limits(name_of(self.source), None if self.grows else self.n_features, beyond, self.faults, self.labels)

    def _limits(self) -> Limits:
        found = None if self.n_features or self.grows or read_once(self.source) else self.summary().n_features
        limits = self._given_limits()
        if found is not None:
            limits.width = _some_features(found, limits.name)
            limits.beyond = f"the {found} features that the file had before; it has changed."
        return limits

    def _blocks(self, limits: Limits) -> Iterator[Block]:
        if self._gone:
            raise StreamError(f"{limits.name}: it can be read only once.")
        self._gone = read_once(self.source)
        empty = True
        with open_bytes(self.source) as file:
            # From a pipe, take what has arrived: a row should not wait for the next megabyte.
            read = file.read1 if self._gone else file.read
            prompt = self._gone and not self.labels
            for block in _csr_blocks(whole_lines(read, limits.name), limits, self.block_rows, prompt):
                empty = False
                yield block
        if empty:
            raise StreamError(f"{limits.name}: there are no rows in it.")


@reader("libsvm")  # all files whose ending no other reader claims
def _(asked: Asked) -> LibsvmFile:
    more = ", ".join(key for key in asked.choice if key != "label")
    if more:
        raise StreamError(f"{name_of(asked.name)}: LIBSVM text has no columns to choose ({more}).")
    n_features, block_rows, on_error, known = asked.reading
    return LibsvmFile(asked.name, n_features, block_rows, None, on_error, known.labels, asked.grows)


def _as_wide(rows: Any, n_features: int) -> Any:
    """Compressed rows of at least so many features."""
    return csr(rows.data, rows.indices, rows.indptr, max(n_features, rows.shape[1]))


def _some_features(n_features: int, name: str) -> int:
    if n_features == 0:
        raise StreamError(f"{name}: no row has a feature, so their number must be given (--features).")
    return n_features


def _csr_blocks(texts: Iterator[bytes], limits: Limits, block_rows: int, prompt: bool) -> Iterator[Block]:
    """Parse texts of whole lines into blocks of `block_rows` rows; if prompt, what a text has is not held back."""
    columns = _columns(block_rows)
    progress = Progress(at=0, line=0, rows=0, entries=0)
    read_plain_lines = _plain_reader()
    for text in texts:
        buffer = np.frombuffer(text, dtype=np.uint8)
        progress = progress._replace(at=0)
        status = ODD_LINE
        while status != TEXT_DONE:
            columns = _with_room(columns, progress.entries, (len(text) - progress.at) // SHORTEST_ENTRY)
            status, progress = read_plain_lines(buffer, progress, columns, limits.width or MOST_FEATURES, limits.labels)
            if status == ODD_LINE:
                progress = _take_odd_line(text, progress, columns, limits)
            if progress.rows == block_rows or (prompt and status == TEXT_DONE and progress.rows):
                yield _block(columns, progress, limits.width)
                progress = progress._replace(rows=0, entries=0)
    if progress.rows:
        yield _block(columns, progress, limits.width)


@lru_cache
def _plain_reader() -> Callable[..., Any]:
    """The compiled reader, bound once: to look at types for each block costs more than to read a small one."""
    return scan.bind(np.frombuffer(b"\n", dtype=np.uint8), Progress(0, 0, 0, 0), _columns(1), MOST_FEATURES, True)


def _columns(block_rows: int) -> Columns:
    return Columns(
        labels=np.empty(block_rows),
        lines=np.empty(block_rows, dtype=np.int64),
        starts=np.zeros(block_rows + 1, dtype=np.int64),
        indices=np.empty(0, dtype=np.int32),
        values=np.empty(0),
    )


def _with_room(columns: Columns, held: int, more: int) -> Columns:
    """The same columns with room for more entries than those held."""
    room = len(columns.values)
    if held + more <= room:
        return columns
    room = max(held + more, 2 * room)
    indices, values = np.empty(room, dtype=np.int32), np.empty(room)
    indices[:held], values[:held] = columns.indices[:held], columns.values[:held]
    return columns._replace(indices=indices, values=values)


def _take_odd_line(text: bytes, progress: Progress, columns: Columns, limits: Limits) -> Progress:
    """Read the line at which the compiled reader stopped. Changes `columns`."""
    at, line, rows, entries = progress
    end = text.index(b"\n", at)
    odd = read_odd_line(text[at:end], line + 1, limits)
    if odd is not None:
        more = entries + len(odd.values)
        columns.labels[rows] = odd.label
        columns.lines[rows] = line + 1
        columns.indices[entries:more] = odd.indices
        columns.values[entries:more] = odd.values
        rows, entries = rows + 1, more
        columns.starts[rows] = entries
    return Progress(end + 1, line + 1, rows, entries)


def _block(columns: Columns, progress: Progress, width: int | None) -> Block:
    """Copy of what was collected; of no known width, it is as wide as its largest index."""
    indices: NDArray[np.int32] = columns.indices[: progress.entries].copy()
    values = columns.values[: progress.entries].copy()
    if width is None:
        width = int(indices.max(initial=-1)) + 1
    rows = csr(values, indices, columns.starts[: progress.rows + 1].copy(), width)
    return Block(rows, columns.labels[: progress.rows].copy(), int(columns.lines[0]))
