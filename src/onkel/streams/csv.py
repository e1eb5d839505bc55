"""Streams from CSV text: numbers, categories and one label column, which may be text."""

from collections.abc import Iterator
from itertools import chain, groupby, islice
from typing import Literal, NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from onkel.streams.arrow import PlainCsv
from onkel.streams.block import Labels, StreamError, at_line
from onkel.streams.columns import Choice, ColumnChoice, Plan, cleaned, is_position, not_too_wide, shown
from onkel.streams.encoding import Cells, Text, faulty_rows
from onkel.streams.lines import BYTE_ORDER_MARK, Faults, OnError, whole_lines
from onkel.streams.matching import another_separator, wanted
from onkel.streams.opening import Source, name_of, open_bytes, read_once
from onkel.streams.readers import Asked, reader
from onkel.streams.records import Lines, Record, records
from onkel.streams.table import NOTHING_KNOWN, Known, Opened, Reading, TableStream

DELIMITERS = ",;\t"
HEAD_ROWS = 100  # looked at to tell a header from a row, and text labels from numbers


class Layout(NamedTuple):
    """What the columns of a file are."""

    plan: Plan
    columns: tuple[str, ...]  # how messages call them
    text_labels: bool
    has_header: bool
    labels_needed: bool


class CsvFile(TableStream):
    r"""Rows of a CSV file, in constant memory; several times as fast where pyarrow is installed.

    Parameters
    ----------
    source
        Path, possibly ending in .gz, .bz2, .xz or .zst, or "-" for standard input, which can be read only once.
    header
        Whether the first line names the columns. "auto": it does if a cell of a numeric column is no number, if the
        label is none but all following ones are, or if it holds a name that is asked for.
    delimiter
        Character between cells; by default the most frequent of comma, semicolon and tab in the first line.
    n_features
        Number of features, if the file shall be held against it.
    block_rows
        Rows per block; the last block may be shorter, and from a pipe a block is what has come.
    known
        What a model that is to see the rows knows of them.
    label, columns, drop, categorical, missing, hash_columns, separator
        Which columns are read, and as what: see `onkel.streams.columns.Choice`. Labels are numbers if all are that the
        first 100 rows have; otherwise they are text.
    on_error
        Whether a bad line is an error ("stop") or is left out ("skip"); `faults` then counts them and has the first.

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
    >>> stream = CsvFile(path, label="age", categorical={"answer": "onehot"})
    >>> stream.feature_names
    ('height', 'answer=no', 'answer=yes')
    """

    def __init__(
        self,
        source: Source,
        header: bool | Literal["auto"] = "auto",
        delimiter: str | None = None,
        n_features: int | None = None,
        block_rows: int = 4096,
        on_error: OnError = "stop",
        known: Known = NOTHING_KNOWN,
        **choice: Unpack[ColumnChoice],
    ) -> None:
        super().__init__(source, choice, Reading(n_features, block_rows, on_error, known))
        self.header = header
        self.delimiter = delimiter or self.choice.separator

    def open(self, faults: Faults) -> Opened:
        """Find out what the columns are, and open the rows after the header."""
        name = name_of(self.source)
        remembered = self.known.plan.separator if self.known.plan else ""
        if remembered and self.delimiter not in (None, remembered):
            raise StreamError(f"{name}: {another_separator(remembered)}")
        delimiter, texts = _delimited(self.delimiter, remembered, name, _texts(self.source))
        head, texts = _looked_at(texts, delimiter, 1 if self.prompt else HEAD_ROWS + 1)
        if head and head[0].fault and self.on_error == "stop":
            raise at_line(name, head[0].line, head[0].fault)
        head = [record for record in head if not record.fault]
        if not head:
            raise StreamError(f"{name}: there are no rows in it.")
        try:
            layout = _layout(head, self)
        except StreamError as error:
            raise at_line(name, head[0].line, str(error)) from None
        layout = layout._replace(plan=layout.plan._replace(separator=delimiter))
        return Opened(layout.plan, _pieces(texts, layout, delimiter, _Reader(name, faults)), head[0].line)


@reader("csv", ".csv", ".tsv", text=True)
def _(asked: Asked) -> CsvFile:
    return CsvFile(asked.name, **asked.reading._asdict(), **asked.choice)


class _Reader(NamedTuple):
    """The file's name, and what becomes of its bad lines."""

    name: str
    faults: Faults

    def accepts(self, record: Record, layout: Layout) -> bool:
        """Whether a row is sound; if not, that is an error or counted."""
        fault = record.fault or _fault(record.cells, layout)
        if fault:
            self.faults.meet(at_line(self.name, record.line, fault))
        return not fault


def _texts(source: Source) -> Iterator[bytes]:
    """The file in pieces of whole lines, without the mark at its start."""
    with open_bytes(source) as file:
        # From a pipe, take what has arrived: a row should not wait for the next megabyte.
        texts = whole_lines(file.read1 if read_once(source) else file.read, name_of(source))
        for text in texts:
            yield text.removeprefix(BYTE_ORDER_MARK)
            break
        yield from texts


def _delimited(
    delimiter: str | None, remembered: str, name: str, texts: Iterator[bytes]
) -> tuple[str, Iterator[bytes]]:
    """The delimiter, if need be from the first line that is not blank, and all texts."""
    taken: list[bytes] = []
    for text in texts:
        taken.append(text)
        if text.strip():
            first = next(filter(bytes.strip, text.split(b"\n"))).decode("latin-1")
            likely = remembered if remembered and remembered in first else max(DELIMITERS, key=first.count)
            found = delimiter or likely
            not_too_wide(first.count(found) + 1, name)
            return found, chain(taken, texts)
    return delimiter or ",", iter(taken)


def _looked_at(texts: Iterator[bytes], delimiter: str, rows: int) -> tuple[list[Record], Iterator[bytes]]:
    """The first rows, and all texts."""
    taken: list[bytes] = []

    def noted() -> Iterator[bytes]:
        for text in texts:
            taken.append(text)
            yield text

    head = list(islice(_all_records(noted(), delimiter), rows))
    return head, chain(taken, texts)


def _all_records(texts: Iterator[bytes], delimiter: str) -> Iterator[Record]:
    before = 0
    for text in texts:
        lines = Lines(text, texts, before)
        yield from records(lines, delimiter)
        before = lines.before


def _pieces(texts: Iterator[bytes], layout: Layout, delimiter: str, reader: _Reader) -> Iterator[Cells]:
    """The cells of all texts: by pyarrow where a text is plain, row by row where not."""
    read_plain = PlainCsv(layout.plan, layout.text_labels, delimiter)
    texts, before = _after_header(texts, layout, delimiter, reader) if layout.has_header else (texts, 0)
    for text in texts:
        cells = read_plain(text, before + 1)
        if cells is not None and not faulty_rows(cells, layout.plan, layout.labels_needed).any():
            before += len(cells.labels)
            yield cells
        else:
            lines = Lines(text, texts, before)
            rows = list(records(lines, delimiter))
            before = lines.before
            yield from _cells_of(rows, layout, reader)


def _after_header(
    texts: Iterator[bytes], layout: Layout, delimiter: str, reader: _Reader
) -> tuple[Iterator[bytes], int]:
    """What follows the header, and the lines up to there."""
    before = 0
    for text in texts:
        lines = Lines(text, texts, before)
        for record in records(lines, delimiter):
            if not record.fault:
                return chain([b"".join(lines.waiting)], texts), lines.before
            reader.accepts(record, layout)
        before = lines.before
    return texts, before


def _layout(head: list[Record], file: CsvFile) -> Layout:
    first, known = head[0].cells, file.known
    least = 2 if known.labels else 1
    if len(first) < least:
        raise StreamError("there is only one column; a label and at least one feature are needed.")
    names = [cell.strip() for cell in first]
    header = _has_header(head, names, file) if file.header == "auto" else file.header
    plan = file.plan_for(names, header)
    columns = tuple(f"column {i + 1}" + (f" ({shown(name)})" if header else "") for i, name in enumerate(names))
    text = not all(map(_is_number, _labels_of(head[header:], plan)))
    return Layout(plan, columns, text or bool(known.text_labels), header, known.labels)


def _has_header(head: list[Record], names: list[str], file: CsvFile) -> bool:
    """Whether the first row holds names: those that are asked for, those that a model knows, or what is no number."""
    known = file.known.plan
    if (known is not None and _knows(known, names)) or _asks_for_a_name(file.choice, names):
        return True
    cells = [f"x{n + 1}" if is_position(name) else name for n, name in enumerate(names)]  # a number is no name as yet
    plan = file.plan_for(cells, named=known is None)
    if any(cleaned(names[position]) and not _is_number(names[position]) for position in plan.numeric):
        return True
    own, following = _labels_of(head[:1], plan), _labels_of(head[1:], plan)
    if all(map(_is_number, own)) and (own or not file.known.labels):
        return False
    numbers = all(map(_is_number, following)) if following else file.known.text_labels is False
    return numbers and bool(following or own)


def _knows(plan: Plan, names: list[str]) -> bool:
    """Whether these are names that a model knows; those that are numbers could be cells, unless all are there."""
    common = {*names}.intersection(plan.names)
    every = common.issuperset(plan.names[position] for position in wanted(plan))
    return plan.named and (every or not all(map(_is_number, common)))


def _asks_for_a_name(choice: Choice, names: list[str]) -> bool:
    asked = [choice.label, *(choice.columns or ()), *choice.drop, *choice.categorical]
    return any(isinstance(column, str) and column in names and not is_position(column) for column in asked)


def _labels_of(rows: list[Record], plan: Plan) -> list[str]:
    """The labels of those rows that have as many cells as they should, and one for the label."""
    complete = (record.cells for record in rows if len(record.cells) == len(plan.names))
    label = plan.label
    return [] if label is None else [cells[label] for cells in complete if cleaned(cells[label])]


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell  # float() takes 1_000


def _cells_of(rows: list[Record], layout: Layout, reader: _Reader) -> Iterator[Cells]:
    """Convert rows of neighbouring lines at once; only if that fails, look for those that are to blame."""
    for run in _runs(rows):
        cells = _converted(run, layout)
        if cells is not None:
            yield cells
            continue
        sound = [record for record in run if reader.accepts(record, layout)]
        assert len(sound) < len(run), "rows without a fault were refused"
        yield from _cells_of(sound, layout, reader)


def _runs(rows: list[Record]) -> Iterator[list[Record]]:
    """Rows whose lines follow each other."""
    for _, run in groupby(enumerate(rows), lambda numbered: numbered[1].line - numbered[0]):
        yield [record for _, record in run]


def _converted(rows: list[Record], layout: Layout) -> Cells | None:
    """The cells of rows, or None if something is wrong with them."""
    plan, table = layout.plan, [record.cells for record in rows]
    if any(len(cells) != len(layout.columns) for cells in table):
        return None
    numbers = _floats([cells[position] for cells in table for position in plan.numeric])
    labels = _labels([cells[plan.label] if plan.label is not None else "" for cells in table], layout.text_labels)
    if numbers is None or labels is None:
        return None
    texts = [_text([cells[category.position] for cells in table]) for category in plan.categories]
    cells = Cells(numbers.reshape(len(rows), len(plan.numeric)), texts, labels, rows[0].line)
    return None if faulty_rows(cells, plan, layout.labels_needed).any() else cells


def _floats(cells: list[str]) -> NDArray[np.float64] | None:
    """The cells as numbers, NaN where they are missing, or None if one of them is no number."""
    try:
        values = np.fromiter(map(_float, cells), dtype=np.float64, count=len(cells))
    except ValueError:
        return None
    return values if "_" not in "".join(cells) else None


def _float(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        if cleaned(cell):
            raise
        return np.nan


def _labels(cells: list[str], text_labels: bool) -> Labels | None:
    return np.array([cell.strip() for cell in cells], dtype=np.str_) if text_labels else _floats(cells)


def _text(cells: list[str]) -> Text:
    values = {cell: code for code, cell in enumerate(dict.fromkeys(cells))}
    return Text(np.array([values[cell] for cell in cells], dtype=np.int64), [cleaned(cell) for cell in values])


def _fault(cells: list[str], layout: Layout) -> str | None:
    """What is wrong with a row, or None."""
    plan = layout.plan
    if len(cells) != len(layout.columns):
        return f"{len(cells)} cells where the first line has {len(layout.columns)}."
    own = set() if plan.label is None else {plan.label}
    text = {category.position for category in plan.categories} | (own if layout.text_labels else set())
    for position in sorted({*plan.numeric, *text, *own}):
        cell, column, is_label = cells[position], layout.columns[position], position == plan.label
        if is_label and not layout.labels_needed and not cleaned(cell):
            continue
        if is_label or plan.missing == "error":
            if not (cell.strip().rstrip("\0") if is_label else cell.strip()):  # NumPy drops zero bytes at the end
                return f"{column} is empty."
        elif not cleaned(cell):
            continue
        if position in text:
            if not is_label and not cleaned(cell):
                return f"{column} holds {shown(cell)}, a missing value."
        elif not _is_number(cell):
            return f"{column} holds {shown(cell)}, which is not a number{', as the labels before are' * is_label}."
        elif not np.isfinite(float(cell)):
            return f"{column} is {float(cell)}; only finite numbers are accepted."
    return None
