"""Calls of compiled code one after the other, for a row that changes and arguments that stay the same.

Where the tricks of `numba_internals` work, a chain is one function of C (`row_call`), else one of Python.
"""

from collections.abc import Callable, Sequence
from math import fsum
from typing import Any

import numpy as np

from onkel.core.interrupts import uninterrupted
from onkel.core.numba_internals.selftest import row_calls_work
from onkel.core.numba_internals.tricks import trick
from onkel.core.verbs import CONFIG, EntryPoint, cache_folder, entry_point

NOT_PLAIN = -1
PLAIN = np.dtype(np.float32), np.dtype(np.float64)
Calls = Sequence[tuple[Any, ...]]
Step = Callable[..., Any]


def chain(row: Any, target: Any, calls: Calls, answer: Callable[[], Any], otherwise: Callable[..., Any]) -> Step:
    """A function that puts a row and its target into these arrays, makes the calls, and returns ``answer()``.

    A call is an entry point with its arguments; one that gives 0 or False, or fails, is the last, and with k calls
    before it ``otherwise(k, x, y)`` is returned. Where the row is not plain, an array of PLAIN numbers or a tuple, as
    wide as the other, or the target no number, k is NOT_PLAIN and no call is made. With None for the target, the
    function takes a row alone. Arrays are used where they are now, and are kept.

    >>> from onkel.core.rows import all_finite
    >>> row, target, other = np.zeros(2), np.zeros(1), np.ones(2, np.float32)
    >>> calls = [(all_finite, row), (all_finite, other)]
    >>> step = chain(row, target, calls, answer=lambda: "fine", otherwise=lambda k, x, y: k)
    >>> step(np.array([3.0, 4.0]), 0.5), row.tolist(), target.tolist()
    ('fine', [3.0, 4.0], [0.5])
    >>> step((3, np.nan), 0.5), step(np.array([1, 2]), 0.5) == NOT_PLAIN
    (0, True)
    """
    if CONFIG.DISABLE_JIT or trick("row_call") is None:
        return _in_python(row, target, calls, answer, otherwise)
    copies = [_ready(copy, np.zeros((2, 2), kind)[:, 0], row) for kind in PLAIN]
    if not row_calls_work(cache_folder(), copies):
        return _in_python(row, target, calls, answer, otherwise)
    return trick("row_call").one_call(row, target, copies, [_ready(*one) for one in calls], answer, otherwise)


@entry_point
def copy(x: Any, row: Any) -> None:
    """Copy the numbers of a row."""
    for j in range(row.shape[0]):
        row[j] = x[j]


def _ready(entry: EntryPoint[..., Any], *args: Any) -> tuple[Any, ...]:
    """A call whose code is there, of Numba's dispatcher itself."""
    entry.bind(*args)
    return entry.dispatcher, *args


def _in_python(row: Any, target: Any, calls: Calls, answer: Callable[[], Any], otherwise: Callable[..., Any]) -> Step:
    def done(x: Any, *y: Any) -> int:
        """The number of calls that went well."""
        if not _is_plain(x, row):
            return NOT_PLAIN
        try:
            numbers = [fsum((number,)) for number in y]  # `float` would read text
            with np.errstate(all="ignore"):  # what is too large for the row is seen by a call
                row[:] = x if type(x) is np.ndarray else [fsum((number,)) for number in x]
        except (TypeError, ValueError, OverflowError):
            return NOT_PLAIN
        if y:
            target[:] = numbers
        for k, (entry, *args) in enumerate(calls):
            try:
                given = entry(*args)
            except Exception:  # whoever does it otherwise meets it again
                return k
            if given is not None and not given:
                return k
        return len(calls)

    def step(*given: Any) -> Any:
        if len(given) != (1 if target is None else 2):
            raise TypeError("This function takes a row, and its target if it learns.")
        with uninterrupted():
            k = done(*given)
        return answer() if k == len(calls) else otherwise(k, *given)

    return step


def _is_plain(x: Any, row: Any) -> bool:
    if type(x) is tuple:
        return len(x) == len(row)
    return type(x) is np.ndarray and x.dtype in PLAIN and x.shape == row.shape and x.flags.aligned
