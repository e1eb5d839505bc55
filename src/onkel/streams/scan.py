"""The compiled reader of plain LIBSVM lines.

It takes only what needs no thought: `label index:value ...` with finite numbers whose rounding it can prove. At every
other line, be it an error or a number with too many digits, it stops, and `slow_parser` reads that line in Python. So
all error messages are written in one place, and none of them costs a branch here.

Every text ends with a line end, and a line end ends every loop below: none needs to ask for the end of the text.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onkel.core.borrowed import borrowed
from onkel.core.verbs import compiled, entry_point

TEXT_DONE, ROWS_FULL, ODD_LINE = 0, 1, 2

SPACE, TAB, NEWLINE, RETURN, HASH, COLON = 32, 9, 10, 13, 35, 58
PLUS, MINUS, POINT, DIGIT_0, DIGIT_9, SMALL_E, LARGE_E = 43, 45, 46, 48, 57, 101, 69

ODD = -1  # in place of the position where a token ends
UNDECIDED = -1.0  # in place of a magnitude

U0, U1, U10, U11, U32, U63, U64 = (np.uint64(n) for n in (0, 1, 10, 11, 32, 63, 64))
LOW_HALF = np.uint64(2**32 - 1)
TOP_BIT = np.uint64(2**63)
EIGHTEEN_DIGITS = np.uint64(10**18)  # one more digit still fits 64 bits
EXACT_INTEGERS = np.uint64(2**53)
EXACT_POWER = 22  # 10**22 is the largest power of ten that is a float64
TENS = np.array([10.0**n for n in range(EXACT_POWER + 1)])
WIDE_POWER = 64


class Columns(NamedTuple):
    """Where a block is collected: label and line of each row, and its entries from `starts[i]` to `starts[i + 1]`."""

    labels: NDArray[np.float64]
    lines: NDArray[np.int64]
    starts: NDArray[np.int64]
    indices: NDArray[np.int32]
    values: NDArray[np.float64]


class Progress(NamedTuple):
    """How far the reader has come: byte of the text, lines before it, rows and entries in the block."""

    at: int
    line: int
    rows: int
    entries: int


def _top_bits(power: int) -> tuple[int, int]:
    """Integer of 64 bits and binary exponent with `integer <= 10**power / 2**exponent < integer + 1`."""
    if power < 0:
        divisor = 10**-power
        exponent = 63 + divisor.bit_length()
        return 2**exponent // divisor, -exponent
    exact = 10**power
    exponent = exact.bit_length() - 64
    return (exact >> exponent, exponent) if exponent > 0 else (exact << -exponent, exponent)


_WIDE_TENS = [_top_bits(power) for power in range(-WIDE_POWER, WIDE_POWER + 1)]
WIDE_TENS = np.array([bits for bits, _ in _WIDE_TENS], dtype=np.uint64)
WIDE_EXPONENTS = np.array([exponent for _, exponent in _WIDE_TENS])


@compiled
def skip_blanks(text: Any, at: int) -> int:
    """First position that holds no blank; a carriage return counts as one, so that CRLF ends a line."""
    while text[at] in (SPACE, TAB, RETURN):
        at += 1
    return at


@compiled
def ends_token(byte: int) -> bool:
    """Whether a token is over before this byte."""
    return byte in (SPACE, NEWLINE, TAB, RETURN, HASH)


@compiled
def read_digits(text: Any, at: Any, mantissa: Any) -> Any:
    """Append decimal digits to the mantissa; ODD when they no longer fit."""
    while True:
        byte = np.int64(text[at])
        if byte < DIGIT_0 or byte > DIGIT_9:
            return mantissa, at
        if mantissa >= EIGHTEEN_DIGITS:
            return mantissa, ODD
        mantissa = mantissa * U10 + np.uint64(byte - DIGIT_0)
        at += 1


@compiled
def read_exponent(text: Any, at: int) -> Any:
    """Exponent after the letter e, and where it ends."""
    negative = text[at] == MINUS
    if negative or text[at] == PLUS:
        at += 1
    size, end = read_digits(text, at, U0)
    if end <= at or end > at + 3:
        return 0, ODD
    exponent = np.int64(size)
    return -exponent if negative else exponent, end


@compiled(heavy=True)
def high_and_low(a: Any, b: Any) -> Any:
    """Both halves of the 128 bits of a * b."""
    a_high, a_low, b_high, b_low = a >> U32, a & LOW_HALF, b >> U32, b & LOW_HALF
    low, cross, other = a_low * b_low, a_high * b_low, a_low * b_high
    middle = (low >> U32) + (cross & LOW_HALF) + (other & LOW_HALF)
    high = a_high * b_high + (cross >> U32) + (other >> U32) + (middle >> U32)
    return high, (middle << U32) | (low & LOW_HALF)


@compiled(heavy=True)
def scale_wide(mantissa: Any, power: int) -> float:
    """The number mantissa * 10**power, correctly rounded, or UNDECIDED where 64 bits of the power are too few.

    With the mantissa m shifted to 64 bits and T <= 10**power < T + 1 (both times a power of two), m * 10**power lies
    in [m T, m T + 2**64): its upper half is at most one too small. Of that half the first 53 bits are kept; the bits
    that are dropped decide about the rounding unless they are next to one half.
    """
    if power < -WIDE_POWER or power > WIDE_POWER:
        return UNDECIDED
    exponent = WIDE_EXPONENTS[power + WIDE_POWER] + 64
    while mantissa < TOP_BIT:
        mantissa = mantissa << U1
        exponent -= 1
    high, low = high_and_low(mantissa, WIDE_TENS[power + WIDE_POWER])
    shift = U11 if high >= TOP_BIT else U10
    kept, dropped, half = high >> shift, high & ((U1 << shift) - U1), U1 << (shift - U1)
    if dropped > half or (dropped == half and low > U0):
        kept += U1
    elif dropped + U1 >= half:
        return UNDECIDED
    return math.ldexp(np.float64(kept), int(exponent + np.int64(shift)))


@compiled
def scale(mantissa: Any, power: int) -> Any:
    """The number mantissa * 10**power, correctly rounded, or UNDECIDED."""
    if mantissa <= EXACT_INTEGERS and -EXACT_POWER <= power <= EXACT_POWER:
        exact = np.float64(mantissa)  # one operation on two exact numbers is correctly rounded
        return exact * TENS[power] if power >= 0 else exact / TENS[-power]
    return 0.0 if mantissa == U0 else scale_wide(mantissa, power)


@compiled
def read_number(text: Any, at: Any) -> Any:
    """Value of the number that starts here, and where it ends; ODD when it is none or needs Python."""
    negative = text[at] == MINUS
    if negative or text[at] == PLUS:
        at += 1
    mantissa, end = read_digits(text, at, U0)
    n_digits, power = end - at, 0
    if end != ODD and text[end] == POINT:
        at = end + 1
        mantissa, end = read_digits(text, at, mantissa)
        n_digits, power = n_digits + end - at, at - end
    if end != ODD and (text[end] == SMALL_E or text[end] == LARGE_E):
        exponent, end = read_exponent(text, end + 1)
        power += exponent
    if end == ODD or n_digits == 0 or not ends_token(text[end]):
        return 0.0, ODD
    size = scale(mantissa, power)
    return -size if negative else size, end if size >= 0.0 else ODD


@compiled
def read_entries(text: Any, at: int, width: int, columns: Any, entries: int) -> Any:
    """Read `index:value` pairs up to the end of the line; the number of entries and the position of that end."""
    last = np.int64(0)
    while True:
        at = skip_blanks(text, at)
        if text[at] == NEWLINE or text[at] == HASH:
            return entries, at
        digits, end = read_digits(text, at, U0)
        index = np.int64(digits)
        if end == ODD or text[end] != COLON or index <= last or index > width:
            return entries, ODD
        value, at = read_number(text, end + 1)
        if at == ODD:
            return entries, ODD
        columns.indices[entries] = index - 1
        columns.values[entries] = value
        entries += 1
        last = index


@compiled
def read_label(text: Any, at: int, needed: bool) -> Any:
    """The label that starts here and where it ends; where none is needed, NaN before an entry."""
    label, end = read_number(text, at)
    if end == ODD and not needed:
        _, last = read_digits(text, at, U0)
        if last > at and text[last] == COLON:
            return np.nan, at
    return label, end


@compiled
def read_line(text: Any, at: int, width: int, needed: bool, columns: Any, rows: int, entries: int) -> Any:
    """Read one line into row `rows`: rows and entries then held, and the position of the line's end."""
    at = skip_blanks(text, at)
    if text[at] != NEWLINE and text[at] != HASH:
        columns.labels[rows], at = read_label(text, at, needed)
        if at != ODD:
            entries, at = read_entries(text, at, width, columns, entries)
        rows += 1
        columns.starts[rows] = entries
    while at != ODD and text[at] != NEWLINE:
        at += 1  # through a comment
    return rows, entries, at


@entry_point
def scan(text: Any, progress: Any, columns: Any, width: int, labels: bool) -> Any:
    """Read whole lines from `progress.at` on, until the text ends, the block is full or a line is odd.

    `labels` says whether each line must have one.

    Changes `columns`, which must have room for another row and for a quarter as many entries as the text has bytes
    left: an entry takes at least four, blank included.
    """
    text, columns = borrowed(text), borrowed(columns)
    at, line, rows, entries = progress
    while at < len(text):
        n_rows, n_entries, end = read_line(text, at, width, labels, columns, rows, entries)
        if end == ODD:
            return ODD_LINE, Progress(at, line, rows, entries)
        columns.lines[rows] = line + 1  # of a blank line: overwritten by the next
        at, line, rows, entries = end + 1, line + 1, n_rows, n_entries
        if rows == len(columns.labels):
            return ROWS_FULL, Progress(at, line, rows, entries)
    return TEXT_DONE, Progress(at, line, rows, entries)
