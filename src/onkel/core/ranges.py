"""What the numbers of a piece can be, declared next to its type: model files are held against it before they are used.

``@limits(energy=POSITIVE, count=COUNT)`` above a named tuple gives the range of the numbers, or of all numbers of an
array, in these fields; others may be any that are finite. `contradiction` is for what several fields say together. A
range must hold everything that learning can make of a piece, so that every file that was saved can be loaded.
"""

from collections.abc import Callable, Mapping
from functools import singledispatch
from typing import Any, NamedTuple, TypeVar

import numpy as np

Kind = TypeVar("Kind", bound=type)


class Range(NamedTuple):
    """Numbers from `low` to `high`, `low` itself only if it is `closed`; whole ones alone, or infinite ones, too."""

    low: float
    high: float = np.inf
    closed: bool = True
    whole: bool = False
    infinite: bool = False

    def __str__(self) -> str:
        kind = "whole numbers" if self.whole else "numbers"
        above = f"from {self.low:g}" if self.closed else f"above {self.low:g}"
        return f"{kind} {above}{f' to {self.high:g}' if np.isfinite(self.high) else ''}"


MOST = 2.0**62  # rows of any stream: one more can always be counted
COUNT = Range(0.0, MOST, whole=True)
NOT_NEGATIVE = Range(0.0)
POSITIVE = Range(0.0, closed=False)
FINITE = Range(-np.inf, closed=False)
TOTAL = Range(0.0, infinite=True)  # of squares: those of huge numbers are infinite


def between(low: float, high: float) -> Range:
    """Both ends included."""
    return Range(low, high)


_ranges: dict[type, dict[str, Range]] = {}


def limits(**ranges: Range) -> Callable[[Kind], Kind]:
    """Declare the ranges of the fields of a piece.

    >>> @limits(energy=POSITIVE)
    ... class Slopes(NamedTuple):
    ...     energy: Any
    >>> out_of_range(Slopes(np.array([1.0, 0.0])))
    'the energy of Slopes must be numbers above 0, not 0.0'
    """

    def declare(kind: Kind) -> Kind:
        unknown = ranges.keys() - set(getattr(kind, "_fields", ()))
        if unknown:
            raise TypeError(f"{kind.__name__} has no field {', '.join(sorted(unknown))}.")
        _ranges[kind] = ranges
        return kind

    return declare


def out_of_range(piece: Any) -> str:
    """Which number of a piece is not in its range, or an empty string."""
    found = violation(piece._asdict(), _ranges.get(type(piece), {}))
    return found and found.format(type(piece).__name__)


def violation(fields: Mapping[str, Any], ranges: Mapping[str, Range]) -> str:
    """The first of these fields that is no number, or not in its range; "{}" stands for what they are fields of."""
    for name, wanted in ranges.items():
        wrong = first_outside(fields[name], wanted)
        if wrong is not None:
            return f"the {name.replace('_', ' ')} of {{}} must be {wanted}, not {wrong!r}"
    return ""


def first_outside(found: Any, wanted: Range) -> Any:
    """A number, or the first number of an array, that is not in a range; None where all are."""
    if not isinstance(found, np.ndarray | int | float) or (wanted.whole and isinstance(found, float)):
        return str(found)[:40]
    numbers = np.asarray(found).reshape(-1)
    if numbers.dtype.kind not in "iuf":
        return str(found)[:40]
    low, high = numbers >= wanted.low if wanted.closed else numbers > wanted.low, numbers <= wanted.high
    inside = low & high & (wanted.infinite | np.isfinite(numbers))
    inside = inside & (numbers == np.floor(numbers)) if wanted.whole and numbers.dtype.kind == "f" else inside
    return None if inside.all() else numbers[~inside][0].item()


def in_their_order(numbers: Any, rows: int) -> bool:
    """Whether these are numbers of rows of a stream, counted from 0, one after the other."""
    return bool((np.diff(numbers) > 0).all() and (numbers < rows).all())


@singledispatch
def contradiction(piece: Any) -> str:
    """What is wrong with several numbers of a piece, whose types and ranges are right; or an empty string.

    Learning must keep it an empty string, too.
    """
    return ""


def refuse(problem: str) -> None:
    """Raise a ValueError where there is a problem."""
    if problem:
        raise ValueError(f"{problem[0].upper()}{problem[1:]}.")


def wrong_number(tree: Any) -> str:
    """The first number anywhere in a tree of named tuples that its piece does not allow, or an empty string."""
    if not isinstance(tree, tuple):
        return ""
    own = out_of_range(tree) if hasattr(tree, "_fields") else ""
    return own or contradiction(tree) or next(filter(None, map(wrong_number, tree)), "")
