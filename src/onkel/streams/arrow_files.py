"""Streams from Parquet and Arrow files, and from folders of them."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias, Unpack, cast

import numpy as np

from onkel.streams.arrow import Picked, cells_of, has_pyarrow, is_number, is_text
from onkel.streams.block import StreamError
from onkel.streams.columns import MOST_COLUMNS, ColumnChoice, Plan, not_too_wide, shown
from onkel.streams.encoding import Cells, faulty_rows, kept
from onkel.streams.lines import Faults, OnError
from onkel.streams.opening import Source
from onkel.streams.partitions import Keys, keys_of
from onkel.streams.readers import Asked, reader
from onkel.streams.table import NOTHING_KNOWN, Known, Opened, Reading, TableStream

ArrowFormat: TypeAlias = Literal["parquet", "arrow"]

PARQUET, ARROW = (".parquet", ".pq"), (".arrow", ".feather", ".ipc")
ENDINGS: dict[str, ArrowFormat] = {**dict.fromkeys(PARQUET, "parquet"), **dict.fromkeys(ARROW, "arrow")}

BATCH_CELLS = 2**19  # unpacked at once where blocks are smaller
BUFFER_BYTES = 2**18  # for each column
NESTED = 3  # elements of the schema of a Parquet file that a column may be
VERSION_AND_SCHEMA = re.compile(rb"\x15[\x80-\xff]{0,4}[\x00-\x7f]\x19\xfc([\x80-\xff]{0,4}[\x00-\x7f])", re.DOTALL)


class ArrowFile(TableStream):
    """Rows of a Parquet or Arrow file, or of all such files in a folder in the order of their names.

    Memory does not grow with the file, nor with the row groups of a Parquet file; of an Arrow file, the chosen columns
    of one record batch are held at a time. Names of folders inside, such as year=2024, are columns too, before those of
    the files. It needs pyarrow.

    Parameters
    ----------
    source
        Path of a file or a folder.
    format
        "parquet" or "arrow" (Arrow's own format, file or stream, also called Feather or IPC); by default, after the
        ending.
    n_features
        Number of features, if the file shall be held against it.
    block_rows
        Rows per block; the last block may be shorter.
    known
        What a model that is to see the rows knows of them.
    label, columns, drop, categorical, missing, hash_columns
        Which columns are read, and as what: see `onkel.streams.columns.Choice`. Nulls and NaN are missing.
    on_error
        Whether a bad row is an error ("stop") or is left out ("skip"); `faults` then counts them and has the first.
    mapped
        Whether Arrow files are mapped into memory, which spares a copy where record batches are large. Only for files
        that nobody changes meanwhile: the system ends a process that looks at what was cut off.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pyarrow, pyarrow.parquet
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "people.parquet"
    >>> table = pyarrow.table({"age": [31, None], "city": ["Rome", "Oslo"], "answer": ["yes", "no"]})
    >>> pyarrow.parquet.write_table(table, path)
    >>> stream = ArrowFile(path, missing="mean", categorical={"city": "onehot"})
    >>> [(block.rows.tolist(), block.labels.tolist()) for block in stream]
    [([[31.0, 0.0, 1.0], [31.0, 1.0, 0.0]], ['yes', 'no'])]
    """

    unit = "row"

    def __init__(
        self,
        source: Source,
        format: ArrowFormat | None = None,
        n_features: int | None = None,
        block_rows: int = 4096,
        on_error: OnError = "stop",
        known: Known = NOTHING_KNOWN,
        mapped: bool = False,
        **choice: Unpack[ColumnChoice],
    ) -> None:
        if choice.get("separator"):
            raise StreamError(f"{source}: only text has a separator.")
        super().__init__(source, choice, Reading(n_features, block_rows, on_error, known))
        self.format, self.mapped = format, mapped

    def open(self, faults: Faults) -> Opened:
        """Find out what the columns of the first file are, and open all of them."""
        paths = files_of(Path(self.source))
        if not has_pyarrow():
            raise StreamError(f"{paths[0]}: reading it needs another package (pip install pyarrow).")
        folders = keys_of(path.relative_to(self.source) for path in paths)
        formats = [self.format or ENDINGS.get(path.suffix.lower(), "parquet") for path in paths]
        files = [_File(*about, self.mapped) for about in zip(paths, formats, folders, strict=True)]
        schema = files[0].schema()
        not_too_wide(len(schema.names), paths[0])
        try:
            plan = self.plan_for(schema.names, named=True)
        except StreamError as error:
            raise StreamError(f"{paths[0]}: {error}") from None
        names, label, said = schema.names, plan.label, self.known.text_labels
        picked = Picked(
            numbers=tuple(names[position] for position in plan.numeric),
            texts=tuple(names[category.position] for category in plan.categories),
            label=None if label is None else names[label],
            text_labels=bool(said) if label is None else is_text(schema.field(label).type),
        )
        _check(files[0], schema, picked)
        return Opened(plan, self._cells(files, plan, picked, faults))

    def _cells(self, files: "list[_File]", plan: Plan, picked: Picked, faults: Faults) -> Iterator[Cells]:
        for number, file in enumerate(files):
            if number:
                _check(file, file.schema(), picked)
            yield from self._cells_of(file, plan, picked, faults)

    def _cells_of(self, file: "_File", plan: Plan, picked: Picked, faults: Faults) -> Iterator[Cells]:
        columns = [*picked.numbers, *picked.texts, *([] if picked.label is None else [picked.label])]
        blocks_at_once = max(1, BATCH_CELLS // (len(columns) * self.block_rows))
        row = 1
        for batch in file.batches(columns, blocks_at_once * self.block_rows):
            with _sentences(file):
                cells = cells_of(batch, picked)
            faulty = faulty_rows(cells, plan, self.known.labels)
            if faulty.any():
                for bad in np.flatnonzero(faulty).tolist():
                    faults.meet(StreamError(f"{file.path}, row {row + bad}: {_fault(cells, bad, picked)}"))
                cells = kept(cells, ~faulty)
            if len(cells.labels):
                yield cells
            row += len(faulty)


@reader("parquet", *PARQUET, folders=True)
@reader("arrow", *ARROW)
def _(asked: Asked) -> ArrowFile:
    format = cast(ArrowFormat | None, asked.format)
    return ArrowFile(asked.name, format=format, **asked.reading._asdict(), **asked.choice)


def files_of(source: Path) -> list[Path]:
    """The file itself, or the Parquet and Arrow files below a folder; hidden ones (. or _) do not count."""
    if str(source) == "-":
        raise StreamError("standard input: Parquet and Arrow files can be read from a path only.")
    if not source.exists():
        raise StreamError(f"{source}: there is no such file.")
    if not source.is_dir():
        return [source]
    inside = sorted(path for path in source.rglob("*") if path.suffix.lower() in ENDINGS and path.is_file())
    found = [path for path in inside if not any(part[0] in "._" for part in path.relative_to(source).parts)]
    if not found:
        raise StreamError(f"{source}: there is no Parquet or Arrow file in this folder.")
    return found


class _File(NamedTuple):
    """One file, and the columns that its folders stand for; its damages are sentences."""

    path: Path
    format: ArrowFormat
    folders: Keys
    mapped: bool

    def schema(self) -> Any:
        """Names and types of its columns."""
        import pyarrow as pa

        with _sentences(self), self._open() as file:
            own = self._own(file)
            names = own.names  # names that are no text fail here
            if len(set(names)) < len(names):
                doubled = next(name for name in names if names.count(name) > 1)
                raise StreamError(f"{self.path}: there are two columns {shown(doubled)}; give them different names.")
            more = {name: pa.scalar(key).type for name, key in self.folders.items() if name not in names}
            return pa.schema([*more.items(), *own])

    def batches(self, columns: list[str], rows: int) -> Iterator[Any]:
        """Record batches of at most that many rows."""
        with _sentences(self), self._open() as file:
            names = self._own(file).names
            held = [name for name in columns if name in names]
            for batch in self._held(file, held, rows):
                yield _with_constants(batch, {name: self.folders[name] for name in columns if name not in names})

    def _own(self, file: Any) -> Any:
        return file.schema_arrow if self.format == "parquet" else file.schema

    def _held(self, file: Any, columns: list[str], rows: int) -> Iterator[Any]:
        if self.format == "parquet":
            yield from file.iter_batches(batch_size=rows, columns=columns, use_threads=False)
            return
        with self._open([file.schema.names.index(name) for name in columns]) as file:
            whole = file if hasattr(file, "__iter__") else map(file.get_batch, range(file.num_record_batches))
            for batch in whole:
                batch.validate(full=True)  # what points outside in a damaged file would end the process
                for start in range(0, batch.num_rows, rows):
                    yield batch.select(columns).slice(start, rows)

    def _open(self, places: list[int] | None = None) -> Any:
        import pyarrow as pa
        from pyarrow import parquet

        if self.format == "parquet":
            claimed = parquet_columns(self.path)
            not_too_wide(claimed if claimed > NESTED * MOST_COLUMNS else 0, self.path)
            # With a buffer columns are read bit by bit; without one, those of a whole row group at once.
            return parquet.ParquetFile(self.path, buffer_size=BUFFER_BYTES, pre_buffer=False)
        source = pa.memory_map(str(self.path)) if self.mapped else pa.OSFile(str(self.path))
        options = pa.ipc.IpcReadOptions(included_fields=places)
        try:
            return pa.ipc.open_file(source, options=options)
        except pa.ArrowInvalid:
            source.seek(0)
            return pa.ipc.open_stream(source, options=options)


def parquet_columns(path: Path) -> int:
    """How many elements the schema of a Parquet file claims in its footer, itself aside; 0 where that is not found.

    To parse the footer of a million columns takes seconds and gigabytes. It begins with the version (field 1, a number)
    and the schema (field 2, a list of structures, whose length comes first), in Thrift's compact encoding.
    """
    with open(path, "rb") as file:
        length = file.seek(0, os.SEEK_END)
        file.seek(max(0, length - 8))
        tail = file.read(8)
        file.seek(max(0, length - 8 - int.from_bytes(tail[:4], "little")))
        head = file.read(16)
    found = VERSION_AND_SCHEMA.match(head) if tail[4:] == b"PAR1" else None
    return 0 if found is None else sum((byte & 0x7F) << (7 * place) for place, byte in enumerate(found[1])) - 1


def _with_constants(batch: Any, constants: Keys) -> Any:
    """A record batch with columns of one value each."""
    import pyarrow as pa

    for name, value in constants.items():
        batch = batch.append_column(name, pa.repeat(pa.scalar(value), batch.num_rows))
    return batch


@contextmanager
def _sentences(file: _File) -> Iterator[None]:
    """Errors of pyarrow inside become one sentence about the file."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        kind, what = file.format.capitalize(), " ".join(str(error).split())
        raise StreamError(f"{file.path}: this is no {kind} file that can be read ({what}).") from None


def _check(file: _File, schema: Any, picked: Picked) -> None:
    """Whether a file has the columns, and of which types."""
    for name in (*picked.numbers, *picked.texts, *([] if picked.label is None else [picked.label])):
        if name not in schema.names:
            raise StreamError(f"{file.path}: there is no column {shown(name)}, which the first file has.")
        kind, number = schema.field(name).type, name in picked.numbers
        if name == picked.label and is_text(kind) != picked.text_labels:
            raise StreamError(f"{file.path}: its labels are {kind}, those of the first file are not.")
        if number and is_text(kind):
            raise StreamError(f"{file.path}: column {shown(name)} holds text; drop it, or make it categorical.")
        if not is_number(kind) and not is_text(kind):
            raise StreamError(f"{file.path}: column {shown(name)} is of type {kind}, neither numbers nor text.")


def _fault(cells: Cells, row: int, picked: Picked) -> str:
    """What is wrong with a row."""
    for name, number in zip(picked.numbers, cells.numbers[row].tolist(), strict=True):
        if not np.isfinite(number):
            return _about(name, number)
    for name, text in zip(picked.texts, cells.texts, strict=True):
        if not text.values[text.codes[row]]:
            return f"column {shown(name)} is empty."
    label, name = cells.labels[row], str(picked.label)
    return f"column {shown(name)} is empty." if picked.text_labels else _about(name, float(label))


def _about(name: str, number: float) -> str:
    if np.isnan(number):
        return f"column {shown(name)} is empty."
    return f"column {shown(name)} is {number}; only finite numbers are accepted."
