"""The reader of LIBSVM lines that the compiled one leaves alone: hard numbers and all errors."""

import math
import re
from dataclasses import dataclass, field
from typing import NamedTuple

from onkel.streams.block import StreamError, at_line
from onkel.streams.lines import BYTE_ORDER_MARK, Faults

MOST_FEATURES = 2**31 - 1  # indices are kept in 32 bits
LONGEST_INDEX = len(str(MOST_FEATURES))

# Not simply what float() takes: that includes 1_000 and digits of other scripts.
NUMBER = re.compile(rb"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
NOT_FINITE = re.compile(rb"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)
INTEGER = re.compile(rb"[+-]?[0-9]+")


@dataclass
class Limits:
    """What a file's lines are held against; the width is None while no number of features is known."""

    name: str
    width: int | None
    beyond: str  # end of the sentence about an index beyond the width
    faults: Faults = field(default_factory=Faults)
    labels: bool = True  # whether each line must have one


class OddRow(NamedTuple):
    """Label and entries of one row, with indices from 0."""

    label: float
    indices: list[int]
    values: list[float]


def read_odd_line(text: bytes, line: int, limits: Limits) -> OddRow | None:
    r"""Read one line of LIBSVM text with Python's own numbers, or say what is wrong with it.

    Parameters
    ----------
    text
        The line, with or without its end.
    line
        Its number, for the message.
    limits
        Name of the file, number of features, and what becomes of bad lines.

    Returns
    -------
    OddRow or None
        None for a blank line, and for one that is left out.

    Examples
    --------
    >>> read_odd_line(b"1 2:1e-320 # tiny\n", 1, Limits("data.libsvm", None, ""))
    OddRow(label=1.0, indices=[1], values=[1e-320])
    """
    if line == 1:
        text = text.removeprefix(BYTE_ORDER_MARK)
    tokens = text.partition(b"#")[0].split()
    if not tokens:
        return None
    try:
        alone = not limits.labels and b":" in tokens[0]
        label = math.nan if alone else _label(tokens[0])
        indices: list[int] = []
        values: list[float] = []
        for token in tokens if alone else tokens[1:]:
            index, value = _entry(token, limits)
            if indices and index <= indices[-1] + 1:
                raise StreamError(f"feature index {index} follows {indices[-1] + 1}; indices must increase.")
            indices.append(index - 1)
            values.append(value)
    except StreamError as error:
        limits.faults.meet(at_line(limits.name, line, str(error)))
        return None
    return OddRow(label, indices, values)


def _label(token: bytes) -> float:
    if b":" in token:
        raise StreamError("the label is missing.")
    return _number(token, "the label", f"the label {_shown(token)} is not a number.")


def _entry(token: bytes, limits: Limits) -> tuple[int, float]:
    if token.startswith(b"qid:"):
        raise StreamError(f"query ids such as {_shown(token)} are not supported; remove them first.")
    before, _, after = token.partition(b":")
    malformed = f"{_shown(token)} is not of the form index:value."
    if not INTEGER.fullmatch(before):
        raise StreamError(malformed)
    index = _index(before, limits)
    return index, _number(after, f"the value of feature {index}", malformed)


def _index(token: bytes, limits: Limits) -> int:
    digits = token.lstrip(b"+-").lstrip(b"0")
    if token.startswith(b"-") or not digits:
        raise StreamError(f"feature index {_short(token)} is below 1.")
    if len(digits) > LONGEST_INDEX or int(digits) > MOST_FEATURES:
        raise StreamError(f"feature index {_short(token)} is beyond {MOST_FEATURES}, the largest possible.")
    index = int(digits)
    if limits.width is not None and index > limits.width:
        raise StreamError(f"feature index {index} is beyond {limits.beyond}")
    return index


def _number(token: bytes, what: str, malformed: str) -> float:
    if not NUMBER.fullmatch(token) and not NOT_FINITE.fullmatch(token):
        raise StreamError(malformed)
    value = float(token)
    if not math.isfinite(value):
        raise StreamError(f"{what} is {value}; only finite numbers are accepted.")
    return value


def _short(token: bytes) -> str:
    text = token.decode("utf-8", "replace")
    return text if len(text) <= 40 else text[:37] + "..."


def _shown(token: bytes) -> str:
    return repr(_short(token))
