"""What pyarrow does for us: cells of record batches, and plain CSV text."""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onkel.streams.block import Labels
from onkel.streams.columns import MISSING, Plan, cleaned
from onkel.streams.encoding import Cells, Text

QUOTE, RETURN, NEWLINE = b'"\r\n'


@lru_cache
def has_pyarrow() -> bool:
    """Whether pyarrow can be imported."""
    try:
        import pyarrow.csv  # noqa: F401
    except ImportError:
        return False
    return True


def is_number(kind: Any) -> bool:
    """Whether an Arrow type is a number for us."""
    from pyarrow import types

    tests = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null)
    return any(test(kind) for test in tests)


def is_text(kind: Any) -> bool:
    """Whether an Arrow type is text for us."""
    from pyarrow import types

    if types.is_dictionary(kind):
        return is_text(kind.value_type)
    return types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)


class Picked(NamedTuple):
    """Names of the columns in a record batch."""

    numbers: tuple[str, ...]
    texts: tuple[str, ...]
    label: str | None
    text_labels: bool


def cells_of(batch: Any, picked: Picked, first_line: int = 0) -> Cells:
    """The cells of a record batch."""
    numbers = np.empty((batch.num_rows, len(picked.numbers)))
    for place, name in enumerate(picked.numbers):
        numbers[:, place] = _numbers(batch.column(name))
    texts = [_text(batch.column(name)) for name in picked.texts]
    return Cells(numbers, texts, _labels(batch, picked), first_line)


def _labels(batch: Any, picked: Picked) -> Labels:
    """The labels of a record batch; where there are none, what stands for none."""
    if picked.label is None:
        return np.full(batch.num_rows, "") if picked.text_labels else np.full(batch.num_rows, np.nan)
    label = batch.column(picked.label)
    return _text_labels(label) if picked.text_labels else _numbers(label)


def _numbers(column: Any) -> NDArray[np.float64]:
    """A column as float64, NaN where it holds nothing."""
    import pyarrow as pa

    if column.type != pa.float64():
        column = column.cast(pa.float64(), safe=False)
    numbers: NDArray[np.float64] = column.to_numpy(zero_copy_only=False)
    return numbers


def _coded(column: Any) -> tuple[NDArray[np.int64], list[str | None]]:
    """Which of its distinct values each row of a text column has."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    coded = column.cast(pa.string()).dictionary_encode(null_encoding="encode")
    return coded.indices.to_numpy().astype(np.int64), coded.dictionary.to_pylist()


def _text(column: Any) -> Text:
    codes, values = _coded(column)
    return Text(codes, [cleaned(value) for value in values])


def _text_labels(column: Any) -> NDArray[np.str_]:
    codes, values = _coded(column)
    return np.array([(value or "").strip() for value in values] or [""], dtype=np.str_)[codes]


class PlainCsv:
    r"""Reads texts of whole CSV lines with pyarrow; declines, by None, whatever it might take for something else.

    What it declines is read by Python's parser, which also writes all messages: there is one meaning of CSV. It takes
    one row per line, with every quote around a whole cell, and what pyarrow takes for numbers or missing.

    Examples
    --------
    >>> from onkel.streams.columns import Choice, checked, planned
    >>> read = PlainCsv(planned(checked(Choice()), ["age", "answer"]), text_labels=True, delimiter=",")
    >>> read(b"31,yes\n42,no\n", first_line=1).labels.tolist() if has_pyarrow() else ["yes", "no"]
    ['yes', 'no']
    >>> read(b"31,yes\n\n42,no\n", first_line=1)
    """

    def __init__(self, plan: Plan, text_labels: bool, delimiter: str) -> None:
        self._delimiter = delimiter
        self._numbers = tuple(map(str, plan.numeric))
        self._texts = tuple(str(category.position) for category in plan.categories)
        label = None if plan.label is None else str(plan.label)
        self._picked = Picked(self._numbers, self._texts, label, text_labels)
        self._usable = delimiter != " " and len(delimiter.encode()) == 1 and has_pyarrow()
        if self._usable:
            self._prepare(len(plan.names))

    def _prepare(self, n_columns: int) -> None:
        import pyarrow as pa
        from pyarrow import csv

        picked = self._picked
        kinds = dict.fromkeys(picked.numbers, pa.float64()) | dict.fromkeys(picked.texts, pa.string())
        if picked.label is not None:
            kinds[picked.label] = pa.string() if picked.text_labels else pa.float64()
        self._columns = [str(position) for position in range(n_columns)]
        self._parsing = csv.ParseOptions(delimiter=self._delimiter)
        self._converting = csv.ConvertOptions(
            column_types=kinds, include_columns=list(kinds), null_values=list(MISSING), strings_can_be_null=False
        )

    def __call__(self, text: bytes, first_line: int) -> Cells | None:
        """The cells of all lines, or None."""
        if not self._usable or not _is_plain(text, ord(self._delimiter)):
            return None
        import pyarrow as pa
        from pyarrow import csv

        reading = csv.ReadOptions(column_names=self._columns, use_threads=False, block_size=len(text) + 1)
        try:
            table = csv.read_csv(pa.py_buffer(text), reading, self._parsing, self._converting)
        except pa.ArrowInvalid:
            return None
        if table.num_rows != text.count(b"\n"):
            return None  # blank lines, or a row that goes on in the next line
        (batch,) = table.combine_chunks().to_batches()
        return cells_of(batch, self._picked, first_line)


def _is_plain(text: bytes, delimiter: int) -> bool:
    """Whether all is UTF-8, lines end in the usual ways, and quotes stand around whole cells only."""
    if b"\r" in text and text.count(b"\r") != text.count(b"\r\n"):
        return False
    if not text.isascii():
        try:
            text.decode()
        except UnicodeDecodeError:
            return False
    return b'"' not in text or _well_quoted(np.frombuffer(text, dtype=np.uint8), delimiter)


def _well_quoted(text: NDArray[np.uint8], delimiter: int) -> bool:
    at = np.flatnonzero(text == QUOTE)
    before = np.isin(text[at - 1], [delimiter, NEWLINE])  # of the first byte: the last one, which is a line end
    after = np.isin(text[at + 1], [delimiter, NEWLINE, RETURN])
    opens = np.arange(len(at)) % 2 == 0
    closed = len(at) % 2 == 0
    return bool(closed and np.array_equal(before, opens) and np.array_equal(after, ~opens))
