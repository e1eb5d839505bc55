"""Streams of rows and labels: from files, from standard input, or made up."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import Unpack

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
from onkel.streams.columns import ColumnChoice
from onkel.streams.csv import CsvFile
from onkel.streams.generated import GeneratedStream
from onkel.streams.generators import (
    STREAMS,
    abrupt,
    blobs,
    drifting,
    friedman,
    gradual,
    recurring,
    rings,
    sparse,
    spirals,
    waves,
)
from onkel.streams.libsvm import LibsvmFile
from onkel.streams.lines import OnError
from onkel.streams.memory import ArrayStream, DictStream
from onkel.streams.opening import Source, open_bytes
from onkel.streams.readers import Asked, Format, check_format, open_file
from onkel.streams.table import NOTHING_KNOWN, Known, Reading

__all__ = [
    "STREAMS",
    "ArrayStream",
    "ArrowFile",
    "Block",
    "CsvFile",
    "DictStream",
    "FirstRows",
    "Format",
    "GeneratedStream",
    "LibsvmFile",
    "Stream",
    "StreamError",
    "Summary",
    "abrupt",
    "blobs",
    "concatenate",
    "drifting",
    "friedman",
    "gradual",
    "open_bytes",
    "open_stream",
    "read_ahead",
    "reblock",
    "recurring",
    "rings",
    "select",
    "sparse",
    "spirals",
    "summarise",
    "take",
    "waves",
]

for _found in iter_modules(__path__):  # a reader that is put beside these is in the table of `readers`, too
    import_module(f"{__name__}.{_found.name}")


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
    format: Format | None = None,
    seed: int = 1,
    rows: int | None = None,
    on_error: OnError = "stop",
    known: Known = NOTHING_KNOWN,
    grows: bool = False,
    **choice: Unpack[ColumnChoice],
) -> Stream:
    """Open a file, a folder or a built-in stream by its name.

    Parameters
    ----------
    source
        None for the stream `drifting`, the name of a built-in stream, a path, or "-" for standard input.
    block_rows
        Rows per block; the last block may be shorter.
    n_features
        Number of features of a file.
    format
        A name in `onkel.streams.readers.READERS`: "libsvm", "csv", "parquet" or "arrow". By default after the ending:
        .csv and .tsv; .parquet and .pq; .arrow, .feather and .ipc; everything else is LIBSVM text. An ending .gz, .bz2,
        .xz or .zst of a text is not looked at. A folder is one stream of all Parquet and Arrow files in it.
    seed
        Seed of a built-in stream.
    rows
        Stop after that many rows; by default, at the end of the file or after 200,000 rows of a built-in stream.
    on_error
        Whether a bad line is an error ("stop") or is left out and counted ("skip").
    known
        What a model that is to see the rows knows of them.
    grows
        Whether later rows of LIBSVM text may be wider.
    label, columns, drop, categorical, missing, hash_columns, separator
        Of a table, which columns are read, and as what: see `onkel.streams.columns.Choice`.

    Examples
    --------
    >>> for block in open_stream("rings", rows=5000):
    ...     print(block.rows.shape, block.labels.shape)
    (4096, 2) (4096,)
    (904, 2) (904,)
    """
    check_format(format)
    if rows is not None and rows < 1:
        raise StreamError(f"A stream must have at least one row, not {rows}.")
    name = "drifting" if source is None else os.fspath(source)
    if name in STREAMS:
        limit = {} if rows is None else {"rows": rows}
        return STREAMS[name](seed=seed, block_rows=block_rows, **limit)
    if name != "-" and not os.path.exists(name):
        raise StreamError(f"{name!r} is neither a file nor a built-in stream ({', '.join(STREAMS)}).")
    stream = open_file(Asked(name, format, Reading(n_features, block_rows, on_error, known), choice, grows))
    return stream if rows is None else FirstRows(stream, rows)
