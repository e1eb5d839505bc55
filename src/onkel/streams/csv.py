"""Streams from CSV text: numeric features and one label column, which may be text."""

import csv
import math
import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onkel.streams.block import Block, Labels, StreamError, Summary, at_line, summarise
from onkel.streams.opening import Source, name_of, open_bytes, read_once

DELIMITERS = ",;\t"
HEAD_ROWS = 100  # looked at to tell a header from a row, and text labels from numbers
LONGEST_LINE = 2**26  # bytes; without a bound, a binary file without line ends would fill the memory
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Record(NamedTuple):
    """The cells of one row, and the line where it starts."""

    line: int
    cells: list[str]


class Layout(NamedTuple):
    """What the columns of a file are."""

    columns: tuple[str, ...]  # how messages call them
    names: tuple[str, ...]  # of the features
    label: int
    text_labels: bool
    has_header: bool


class CsvFile:
    r"""Rows of a CSV file, in constant memory.

    Parameters
    ----------
    source
        Path, possibly ending in .gz, .bz2, .xz or .zst, or "-" for standard input, which can be read only once.
    label
        Column of the label: its position, counted from 0 or, if negative, from the end, or its name in the header.
        Labels are numbers if the first 100 are; otherwise they are text.
    header
        Whether the first line names the columns. "auto": it does if a cell outside the label column is no number, or
        if the label is none but all following ones are.
    delimiter
        Character between cells; by default the most frequent of comma, semicolon and tab in the first line.
    n_features
        Number of features, if the file shall be held against it.
    block_rows
        Rows per block; the last block may be shorter.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("age,height,answer\n31,1.75,yes\n42,1.62,no\n")
    >>> stream = CsvFile(path)
    >>> stream.feature_names
    ('age', 'height')
    >>> [(block.rows.tolist(), block.labels.tolist()) for block in stream]
    [([[31.0, 1.75], [42.0, 1.62]], ['yes', 'no'])]
    >>> stream.summary().labels
    ('no', 'yes')
    """

    def __init__(
        self,
        source: Source,
        label: int | str = -1,
        header: bool | Literal["auto"] = "auto",
        delimiter: str | None = None,
        n_features: int | None = None,
        block_rows: int = 4096,
    ) -> None:
        if block_rows < 1:
            raise StreamError(f"A block must hold at least one row, not {block_rows}.")
        self.source = source
        self.label = label
        self.header = header
        self.delimiter = delimiter
        self.n_features = n_features
        self.block_rows = block_rows
        self._summary: Summary | None = None
        self._opened: tuple[Layout, Iterator[Record]] | None = None
        self._gone = False

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the features in the header; x1, x2, ... where there is none."""
        opened = self._opened or self._open()
        if read_once(self.source):
            self._opened = opened  # what was read of it cannot be read again
        return opened[0].names

    def __iter__(self) -> Iterator[Block]:
        """Yield the rows, block by block."""
        layout, records = self._opened or self._open()
        self._opened = None
        name = name_of(self.source)
        empty = True
        while batch := list(islice(records, self.block_rows)):
            empty = False
            yield _block(batch, layout, name)
        if empty:
            raise StreamError(f"{name}: there are no rows in it.")

    def summary(self) -> Summary:
        """Read the whole file once, without keeping its rows; later calls repeat the answer."""
        if self._summary is None:
            if read_once(self.source):
                raise StreamError(f"{name_of(self.source)}: it can be read only once, so it has no summary.")
            self._summary = summarise(self)
        return self._summary

    def _open(self) -> tuple[Layout, Iterator[Record]]:
        """Layout of the file and its records without the header."""
        name = name_of(self.source)
        if self._gone:
            raise StreamError(f"{name}: it can be read only once.")
        self._gone = read_once(self.source)
        records = _records(self.source, self.delimiter)
        head = list(islice(records, HEAD_ROWS + 1))
        if not head:
            raise StreamError(f"{name}: there are no rows in it.")
        try:
            layout = _layout(head, self.label, self.header)
            if self.n_features not in (None, len(layout.names)):
                raise StreamError(f"{len(layout.names)} features where {self.n_features} were asked for.")
        except StreamError as error:
            raise at_line(name, head[0].line, str(error)) from None
        return layout, chain(head[1:] if layout.has_header else head, records)


def _records(source: Source, delimiter: str | None) -> Iterator[Record]:
    """Cells of all lines that are not blank."""
    name = name_of(source)
    with open_bytes(source) as file:
        lines = _lines(iter(lambda: file.readline(LONGEST_LINE), b""), name)
        start = _up_to_first_cell(lines)
        if not start:
            return
        delimiter = delimiter or max(DELIMITERS, key=start[-1].count)
        reader = csv.reader(chain(start, lines), delimiter=delimiter, skipinitialspace=True, strict=True)
        while True:
            line = reader.line_num + 1
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                raise at_line(name, line, f"this is not proper CSV ({error}).") from error
            if cells and cells != [""]:
                yield Record(line, cells)


def _lines(lines: Iterable[bytes], name: str) -> Iterator[str]:
    for number, line in enumerate(lines, start=1):
        if len(line) == LONGEST_LINE:
            raise at_line(name, number, f"the line is longer than {LONGEST_LINE} bytes.")
        try:
            yield (line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line).decode()
        except UnicodeDecodeError as error:
            raise at_line(name, number, "the text is not UTF-8.") from error


def _up_to_first_cell(lines: Iterator[str]) -> list[str]:
    """The blank lines at the start and the first other one; empty if there is none."""
    start = []
    for line in lines:
        start.append(line)
        if line.strip():
            return start
    return []


def _layout(head: list[Record], label: int | str, header: bool | Literal["auto"]) -> Layout:
    first = head[0].cells
    if len(first) < 2:
        raise StreamError("there is only one column; a label and at least one feature are needed.")
    position = _label_position(label, first)
    if header == "auto":
        named = isinstance(label, str) and first[position].strip() == label
        header = named or _looks_like_header(head, position)
    following = [record.cells[position] for record in head[header:] if position < len(record.cells)]
    names = tuple(cell.strip() for cell in first)
    columns = tuple(f"column {i + 1}" + (f" ({_shown(name)})" if header else "") for i, name in enumerate(names))
    features = names[:position] + names[position + 1 :]
    return Layout(
        columns=columns,
        names=features if header else tuple(f"x{i + 1}" for i in range(len(features))),
        label=position,
        text_labels=not all(map(_is_number, following)),
        has_header=header,
    )


def _label_position(label: int | str, first: list[str]) -> int:
    names = [cell.strip() for cell in first]
    if isinstance(label, str) and not re.fullmatch("-?[0-9]{1,9}", label):
        if label not in names:
            raise StreamError(f"there is no column {_shown(label)} among {_shown(', '.join(names))}.")
        return names.index(label)
    position = int(label)
    if not -len(first) <= position < len(first):
        raise StreamError(f"there is no column at position {position}, only {len(first)} columns.")
    return position % len(first)


def _looks_like_header(head: list[Record], label: int) -> bool:
    first = head[0].cells
    features = first[:label] + first[label + 1 :]
    if any(cell.strip() and not _is_number(cell) for cell in features):
        return True
    following = [record.cells[label] for record in head[1:] if label < len(record.cells)]
    return bool(following) and not _is_number(first[label]) and all(map(_is_number, following))


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell  # float() takes 1_000


def _block(records: list[Record], layout: Layout, name: str) -> Block:
    """Convert whole rows at once; only if that fails, look for the cell that is to blame."""
    n_columns, label = len(layout.columns), layout.label
    if all(len(record.cells) == n_columns for record in records):
        features = _floats([cell for _, cells in records for cell in cells[:label] + cells[label + 1 :]])
        labels = _labels([record.cells[label].strip() for record in records], layout.text_labels)
        if features is not None and labels is not None:
            return Block(features.reshape(len(records), n_columns - 1), labels, records[0].line)
    for record in records:
        fault = _fault(record.cells, layout)
        if fault:
            raise at_line(name, record.line, fault)
    raise AssertionError("rows without a fault were refused")


def _floats(cells: list[str]) -> NDArray[np.float64] | None:
    """The cells as finite numbers, or None if one of them is none."""
    try:
        values = np.fromiter(map(float, cells), dtype=np.float64, count=len(cells))
    except ValueError:
        return None
    return values if np.isfinite(values).all() and "_" not in "".join(cells) else None


def _labels(cells: list[str], text_labels: bool) -> Labels | None:
    if not text_labels:
        return _floats(cells)
    return np.array(cells, dtype=np.str_) if all(cells) else None


def _fault(cells: list[str], layout: Layout) -> str | None:
    """What is wrong with a row, or None."""
    if len(cells) != len(layout.columns):
        return f"{len(cells)} cells where the first line has {len(layout.columns)}."
    for position, (cell, column) in enumerate(zip(cells, layout.columns, strict=True)):
        if not cell.strip():
            return f"{column} is empty."
        if position == layout.label and layout.text_labels:
            continue
        if not _is_number(cell):
            also = ", as the labels before are" if position == layout.label else ""
            return f"{column} holds {_shown(cell)}, which is not a number{also}."
        if not math.isfinite(float(cell)):
            return f"{column} is {float(cell)}; only finite numbers are accepted."
    return None


def _shown(cell: str) -> str:
    return repr(cell if len(cell) <= 40 else cell[:37] + "...")
