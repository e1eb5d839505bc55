"""Trials of the tricks with the Numba, LLVM and Python that are installed, each at its first use.

A trial compiles functions of a few lines with all that a trick takes from Numba's insides and looks at what they
answer. What went well is written down as an empty file beside the compiled code, named after all versions, so that
the next process looks for that file alone. What fails is left out, and a sentence says so. What a trial cannot see is
machine code that ends the process: `ONKEL_PLAIN=1` leaves out all tricks without a trial.
"""

import hashlib
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import RLock
from typing import Any

import numba
import numpy as np

from onkel.core.interrupts import uninterrupted
from onkel.core.numba_internals.tricks import ALL, give_up, trick, used

_found: dict[str, bool] = {}
TRYING = RLock()  # whoever forks waits for it, too


def tried(folder: Path | None) -> Path | None:
    """The folder of compiled code, once it is known which tricks may be used to make it."""
    _passes("compiler", folder, _compile, ALL)
    return folder


def row_calls_work(folder: Path | None, copies: Any) -> bool:
    """Whether one row may be a call of C; `copies` are those of `row_call.one_call`."""
    return used("row_call") and _passes("row_call", folder, lambda: _call(copies), ("row_call",))


def _passes(name: str, folder: Path | None, trial: Callable[[], None], tricks: tuple[str, ...]) -> bool:
    """Whether a trial goes well, in this process or an earlier one; if not, these tricks are left out."""
    if not any(map(used, tricks)):
        return False
    if name not in _found:
        with TRYING:  # a thread that comes meanwhile waits
            if name not in _found:
                mark = None if folder is None else folder / _mark(name)
                _found[name] = (mark is not None and mark.exists()) or _try(trial, mark, tricks)
    return _found[name]


def _try(trial: Callable[[], None], mark: Path | None, tricks: tuple[str, ...]) -> bool:
    try:
        with uninterrupted():  # LLVM calls Python, and what Ctrl-C raises there gets no further
            trial()
    except Exception as error:
        give_up(error, tricks)
        return False
    with suppress(OSError):  # then the next process tries again
        if mark is not None:
            mark.touch(0o600)
    return True


def _mark(name: str) -> str:
    """The name of a file that says that a trial went well: of these tricks with these versions."""
    versions = numba.__version__, np.__version__, *map(_version, ("llvmlite",)), sys.version, *filter(used, ALL)
    return f"{name}-{hashlib.sha256(repr(versions).encode()).hexdigest()[:16]}.works"


def _version(package: str) -> str:
    return str(getattr(sys.modules.get(package), "__version__", ""))


def _check(fine: object, what: str) -> None:
    if not fine:
        raise AssertionError(what)


def _worker(pipeline: Any, borrowing: Any) -> Any:
    """The dispatcher of an entry point with a heavy helper and a light one."""
    heavy, light, entry = (pipeline.HEAVY, pipeline.LIGHT, pipeline.ENTRY) if pipeline else ({}, {}, {})

    def lent(value: Any) -> Any:
        return value

    if borrowing:
        borrowing.lend(lent)
    else:
        numba.extending.register_jitable(lent)

    @numba.njit(**heavy)
    def double(numbers: Any) -> None:
        for k in range(numbers.shape[0]):
            numbers[k] *= 2.0

    @numba.njit(**light)
    def last(rows: Any) -> Any:
        return lent(rows[rows.shape[0] - 1])

    @numba.njit(nogil=True, **entry)
    def work(pair: Any) -> Any:
        double(last(lent(pair)[0]))
        return pair[0][1, 1] + pair[1]

    return work


def _compile() -> None:
    """Compiled functions, their answers, and whether their code can be kept and found again."""
    pipeline, borrowing, files = map(trick, ("pipeline", "borrowing", "code_files"))
    work = _worker(pipeline, borrowing)
    if files:
        _check(hasattr(work, "_cache"), "dispatchers have no cache")
        files.keep(work, None)
    table = np.array([[1.0, 2.0], [3.0, 4.0]])
    held = sys.getrefcount(table)
    _check(work((table, 0.5)) == 8.5, "a compiled function gives a wrong answer")
    _check(table.tolist() == [[1.0, 2.0], [6.0, 8.0]], "a compiled helper does something else")
    _check(sys.getrefcount(table) == held, "an array that was lent is kept or lost")
    ((kinds, made),) = work.overloads.items()
    _check(not pipeline or isinstance(made.library, pipeline.Whole), "another pipeline was used")
    if files:
        somewhere = files.CodeFiles(work.py_func, Path("folder"))
        _check(somewhere.path(kinds, made.target_context), "compiled code has no name")
        again = files.rebuilt(kinds, files.content(kinds, made), made.target_context)
        _check(again.entry_point((table, 0.5)) == 16.5, "compiled code that was kept gives a wrong answer")


def _call(copies: Any) -> None:
    """A row as an array and as a tuple, and what is no row."""
    dispatcher, _, row = copies[1]
    row, other, target = np.zeros(2, row.dtype), np.zeros(2, row.dtype), np.zeros(1)
    column = np.array([[3.0, 0.0], [4.0, 0.0]])[:, 0]
    copies = [(own, x, row) for own, x, _ in copies]
    calls = [(dispatcher, column, other)]
    step = trick("row_call").one_call(row, target, copies, calls, lambda: "fine", lambda k, *_: k)
    x, y = np.array([1.0, 2.0], np.float32), 0.123
    held = sys.getrefcount(x), sys.getrefcount(y)
    _check(step(x, y) == "fine", "a chain of calls stops")
    _check((row.tolist(), target[0], other.tolist()) == ([1.0, 2.0], y, [3.0, 4.0]), "a row is not copied")
    _check((sys.getrefcount(x), sys.getrefcount(y)) == held, "a row is kept or lost")
    _check(step((5, 6.0), 7) == "fine" and row.tolist() == [5.0, 6.0], "a tuple is not copied")
    _check([step(odd, y) for odd in ([1.0, 2.0], (1.0, "two"), x[:1])] == [-1] * 3, "what is no row is taken")
