"""Streams of rows and labels: from files, from standard input, or made up."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from onkel.streams.ahead import read_ahead
from onkel.streams.arrow_files import ArrowFile
from onkel.streams.block import (
    Block,
    Stream,
    StreamError,
    Summary,
    concatenate,
    reblock,
    select,
    summarise,
    take,
)
from onkel.streams.csv import CsvFile
from onkel.streams.generators import STREAMS, GeneratedStream, blobs, drifting, friedman, rings
from onkel.streams.libsvm import LibsvmFile
from onkel.streams.memory import ArrayStream, DictStream
from onkel.streams.opening import COMPRESSIONS, Source, open_bytes

__all__ = [
    "STREAMS",
    "ArrayStream",
    "ArrowFile",
    "Block",
    "CsvFile",
    "DictStream",
    "FirstRows",
    "GeneratedStream",
    "LibsvmFile",
    "Stream",
    "StreamError",
    "Summary",
    "blobs",
    "concatenate",
    "drifting",
    "friedman",
    "open_bytes",
    "open_stream",
    "read_ahead",
    "reblock",
    "rings",
    "select",
    "summarise",
    "take",
]

Format = Literal["libsvm", "csv"]


@dataclass(frozen=True)
class FirstRows:
    """The first rows of another stream.

    Examples
    --------
    >>> FirstRows(rings(), rows=100).summary().rows
    100
    """

    stream: Stream
    rows: int

    def __iter__(self) -> Iterator[Block]:
        """Yield the rows, block by block."""
        return take(self.stream, self.rows)

    def summary(self) -> Summary:
        """Look at these rows once."""
        return summarise(self)


def open_stream(
    source: Source | None = None,
    *,
    block_rows: int = 4096,
    n_features: int | None = None,
    label: int | str = -1,
    format: Format | None = None,
    seed: int = 1,
    rows: int | None = None,
) -> Stream:
    """Open a file or a built-in stream by its name.

    Parameters
    ----------
    source
        None for the stream `drifting`, the name of a built-in stream, a path, or "-" for standard input.
    block_rows
        Rows per block; the last block may be shorter.
    n_features
        Number of features of a file.
    label
        Label column of a CSV file: position or name.
    format
        "libsvm" or "csv". By default .csv and .tsv files are CSV, everything else is LIBSVM text; an ending .gz, .bz2,
        .xz or .zst is not looked at.
    seed
        Seed of a built-in stream.
    rows
        Stop after that many rows; by default, at the end of the file or after 200,000 rows of a built-in stream.

    Examples
    --------
    >>> for block in open_stream("rings", rows=5000):
    ...     print(block.rows.shape, block.labels.shape)
    (4096, 2) (4096,)
    (904, 2) (904,)
    """
    if format not in (None, "libsvm", "csv"):
        raise StreamError(f"The format must be libsvm or csv, not {format!r}.")
    if rows is not None and rows < 1:
        raise StreamError(f"A stream must have at least one row, not {rows}.")
    name = "drifting" if source is None else os.fspath(source)
    if name in STREAMS:
        limit = {} if rows is None else {"rows": rows}
        return STREAMS[name](seed=seed, block_rows=block_rows, **limit)
    if name != "-" and not os.path.exists(name):
        raise StreamError(f"{name!r} is neither a file nor a built-in stream ({', '.join(STREAMS)}).")
    stream: Stream = LibsvmFile(name, n_features, block_rows)
    if (format or _format_of(name)) == "csv":
        stream = CsvFile(name, label, n_features=n_features, block_rows=block_rows)
    return stream if rows is None else FirstRows(stream, rows)


def _format_of(name: str) -> Format:
    path = Path(name)
    plain = path.with_suffix("") if path.suffix.lower() in COMPRESSIONS else path
    return "csv" if plain.suffix.lower() in (".csv", ".tsv") else "libsvm"
