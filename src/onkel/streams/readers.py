"""The formats of files: each module that reads one puts itself into this table.

A file of this package is found by itself (see `onkel.streams`), so a new format is one new file.
"""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeAlias

from onkel.streams.block import Stream, StreamError
from onkel.streams.columns import ColumnChoice
from onkel.streams.opening import COMPRESSIONS
from onkel.streams.table import Reading

Format: TypeAlias = str
OTHERWISE: Format = "libsvm"  # of files whose ending no format claims


class Asked(NamedTuple):
    """What a reader is asked for."""

    name: str  # of the file, or "-"
    format: Format | None  # None: the ending says it
    reading: Reading
    choice: ColumnChoice  # of columns; only the words that were given
    grows: bool  # whether later rows may be wider


Opening: TypeAlias = Callable[[Asked], Stream]


class Reader(NamedTuple):
    """How files of one format end, and how one is opened."""

    endings: tuple[str, ...]
    open: Opening
    text: bool  # whether an ending of `COMPRESSIONS` may follow
    folders: bool


READERS: dict[Format, Reader] = {}


def reader(format: Format, *endings: str, text: bool = False, folders: bool = False) -> Callable[[Opening], Opening]:
    """Put a function that opens a file into the table; `folders` says that it opens folders, too."""

    def put(opened: Opening) -> Opening:
        READERS[format] = Reader(endings, opened, text, folders)
        return opened

    return put


def check_format(format: Format | None) -> None:
    """Refuse a format that nothing reads."""
    if format not in (None, *READERS):
        *most, last = sorted(READERS)
        raise StreamError(f"The format must be {', '.join(most)} or {last}, not {format!r}.")


def open_file(asked: Asked) -> Stream:
    """Open a file by the format that is asked for, or that it seems to have."""
    return READERS[asked.format or format_of(asked.name)].open(asked)


def format_of(name: str) -> Format:
    """The format that a file or folder seems to have."""
    path = Path(name)
    if path.is_dir():
        return next(format for format, reader in READERS.items() if reader.folders)
    ending = path.suffix.lower()
    inner = path.with_suffix("").suffix.lower() if ending in COMPRESSIONS else ending
    found = (format for format, reader in READERS.items() if (inner if reader.text else ending) in reader.endings)
    return next(found, OTHERWISE)
