"""All or nothing: a call that learns ends after a whole number of rows, whatever goes wrong in its middle.

Ctrl-C waits until the rows at hand are learned by all parts of a model; rows are cut so that this takes a tenth of a
second. What fails by itself, for want of memory say, gives back what it has changed.
"""

import _signal  # type: ignore[import-not-found]  # `signal` makes enums: 8 microseconds, where a row alone takes 15
import os
import sys
import threading
from _thread import interrupt_main
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from signal import SIGINT
from time import perf_counter
from typing import Any, Concatenate, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
FIRST = 16  # rows that are learned at once, until it is known how long one takes ...
ORDINARY = 1000.0  # ... if they have no more numbers than this
LONGEST = 0.08  # seconds between two looks at Ctrl-C
MORE = 4  # times as many rows, at most
SOON = 0.01  # seconds until Ctrl-C comes again


class _CtrlC:
    """Whether it has to wait, what it came with, and who is told in the end."""

    waits = False
    thread = 0  # in which it waits
    came: tuple[Any, ...] = ()
    handler: Any = None


def _note(*signalled: Any) -> None:
    _CtrlC.came = signalled


def _pass_on() -> None:
    signalled, _CtrlC.came = _CtrlC.came, ()
    if signalled:
        _CtrlC.handler(*signalled)


def _in_main_thread() -> bool:
    """Whether signals are handled in this thread."""
    return threading.current_thread() is threading.main_thread()


class uninterrupted:  # noqa: N801  (a verb, like the other context managers)
    """Ctrl-C waits for the end of what is inside, or for a `safe_point` in it."""

    def __enter__(self) -> None:
        before = _signal.getsignal(SIGINT)
        self.outermost = not _CtrlC.waits and callable(before) and _in_main_thread()
        if self.outermost:
            _CtrlC.handler, _CtrlC.came = before, ()
            _signal.signal(SIGINT, _note)
            _CtrlC.waits, _CtrlC.thread = True, threading.get_ident()

    def __exit__(self, *_: object) -> None:
        if self.outermost:
            _CtrlC.waits = False
            _signal.signal(SIGINT, _CtrlC.handler)
            _pass_on()


def _in_child() -> None:
    """A child that another thread made has nothing that Ctrl-C could wait for."""
    if _CtrlC.waits and _CtrlC.thread != threading.get_ident():
        _CtrlC.waits, _CtrlC.came = False, ()
        _signal.signal(SIGINT, _CtrlC.handler)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)


@contextmanager
def never_lost() -> Iterator[None]:
    """Ctrl-C comes again where it came in a function that Python calls by itself, such as that of a weak reference.

    What is raised there is printed and forgotten. It comes a little later, when that function is over.
    """
    before = sys.unraisablehook

    def again(unraisable: Any) -> None:
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            threading.Timer(SOON, interrupt_main).start()
        else:
            before(unraisable)

    sys.unraisablehook = again
    try:
        yield
    finally:
        sys.unraisablehook = before


def safe_point() -> None:
    """Let Ctrl-C through here, if it came inside of `uninterrupted`."""
    if _CtrlC.came and _CtrlC.waits and _in_main_thread():
        _pass_on()


def patiently(work: Callable[[], R]) -> R:
    """What `work` gives. Where Ctrl-C waits, another thread does it, and Ctrl-C is let through meanwhile.

    For a call of a library that takes long, cannot be cut and changes nothing: what it would have given is dropped.
    """
    if not (_CtrlC.waits and _in_main_thread()):
        return work()
    found, errors = list[R](), list[BaseException]()

    def run() -> None:
        try:
            found.append(work())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(LONGEST / 2)
        safe_point()
    for error in errors:
        raise error
    return found[0]


def whole(method: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], R]:
    """A method that learns rows: Ctrl-C waits for a `safe_point`, and what is raised tells how many rows were learned.

    It has their number as `rows_learned`, and a note that says so.
    """

    @wraps(method)
    def call(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
        if _CtrlC.waits and _in_main_thread():  # part of a call that takes care of it
            return method(self, *args, **kwargs)
        model = self.__dict__.get("online_", self)
        before = getattr(model, "rows_learned", 0)
        try:
            with uninterrupted():
                return method(self, *args, **kwargs)
        except BaseException as error:
            now = self.__dict__.get("online_", self)
            _tell(error, getattr(now, "rows_learned", 0) - (before if now is model else 0))
            raise

    return call


def _tell(error: Any, rows: int) -> None:
    if not hasattr(error, "rows_learned") and (rows or isinstance(error, KeyboardInterrupt)):
        error.add_note(f"{rows:,} rows of this call were learned; the model is as it is after them.")
    error.rows_learned = rows


class Pace:
    """Cuts rows so that what is done with each part of them takes no longer than Ctrl-C may wait.

    >>> [(part.start, part.stop) for part in Pace().slices(20)]
    [(0, 16), (16, 20)]
    """

    def __init__(self, rows: int = FIRST) -> None:
        self.rows, self.width = rows, ORDINARY

    def slices(self, n: int, width: float = 0.0) -> Iterator[slice]:
        """Parts of n rows, with so many numbers in each as a mean; Ctrl-C is let through after each."""
        if width > self.width:  # what the rows before took says little about these
            self.rows = max(1, int(self.rows * self.width / width))
        self.width, done = max(width, 1.0) if n else self.width, 0
        while done < n:
            last, start = min(n, done + self.rows), perf_counter()
            yield slice(done, last)
            self._adapt(last - done, perf_counter() - start)
            done = last
            safe_point()

    def _adapt(self, rows: int, seconds: float) -> None:
        """How many rows come next: at the pace of these, but not suddenly so many more, or fewer."""
        possible = rows * LONGEST / max(seconds, 1e-9)
        if rows == self.rows or possible < self.rows:
            self.rows = max(1, int(min(max(possible, self.rows / MORE), self.rows * MORE)))
