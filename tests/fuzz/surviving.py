"""Work in a child process that may crash, hang or ask for all memory, whose parent survives it and goes on.

What the child is about to try stands on a board, memory of both processes, so that the parent knows what it died of.
"""

import ctypes
import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

ROOM = 1 << 24  # bytes of an input that fit on the board
START = 180.0  # seconds of work in which a child must begin: it may have to compile first
STANDSTILL = 10  # times as many seconds may pass as it may work: it can wait for a processor, but not for ever


class Lost(NamedTuple):
    """An input that the child did not survive."""

    number: int
    data: bytes
    how: str


class Board:
    """What a child is at: the number of an input, and its bytes."""

    def __init__(self, context: Any) -> None:
        self._numbers, self._bytes = context.RawArray("q", 2), context.RawArray("b", ROOM)

    def write(self, number: int, data: bytes) -> None:
        """Note an input before it is tried; one that does not fit is cut off."""
        size = min(len(data), ROOM)
        ctypes.memmove(self._bytes, data, size)
        self._numbers[1], self._numbers[0] = size, number

    @property
    def number(self) -> int:
        """The number of the input that is tried now, negative before the first that is new."""
        return int(self._numbers[0])

    @property
    def data(self) -> bytes:
        """Its bytes."""
        return bytes(memoryview(self._bytes).cast("B")[: self._numbers[1]])

    def clear(self) -> None:
        """Nothing is tried yet."""
        self._numbers[0], self._numbers[1] = -1, 0


Work = Callable[..., None]  # work(board, send, first, *given): tries inputs from number `first` on, and sends findings


def surviving(
    work: Work, given: Callable[[], tuple[Any, ...]], first: int = 0, *, patience: float = 15.0,
    memory: int | None = None,
) -> Iterator[Any]:  # fmt: skip
    """All that a child sends; where it dies or hangs, a `Lost`, and then what the next child sends.

    `given` makes the arguments of each child anew, so that they can hold what the ones before have found.
    """
    context = multiprocessing.get_context("spawn")
    board = Board(context)
    while True:
        board.clear()
        ours, theirs = context.Pipe(duplex=False)
        child = context.Process(target=_run, args=(work, board, theirs, memory, first, given()), daemon=True)
        child.start()
        theirs.close()
        over = False
        try:
            for message in _heard(child, ours, board, patience):
                over = over or message is None
                if message is not None:
                    yield message
        finally:
            if child.is_alive() and not over:
                child.kill()
            child.join()
        if over:
            return
        if board.number < first:
            raise RuntimeError(f"A child was lost before it tried anything new: {_how(child.exitcode)}.")
        yield Lost(board.number, board.data, _how(child.exitcode))
        first = board.number + 1


def _run(work: Work, board: Board, pipe: Any, memory: int | None, first: int, given: tuple[Any, ...]) -> None:
    """What a child does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    quiet = os.open(os.devnull, os.O_WRONLY)
    if not os.environ.get("ONKEL_FUZZ_LOUD"):
        os.dup2(quiet, 2)
    work(board, pipe.send, first, *given) if memory is None else _bounded(work, board, pipe, memory, first, given)
    pipe.send(None)


def _bounded(work: Work, board: Board, pipe: Any, memory: int, first: int, given: tuple[Any, ...]) -> None:
    """The same with at most that much memory beyond what a process that has imported everything has."""
    import resource

    with open("/proc/self/statm") as file:
        now = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + memory, now + memory))
    work(board, pipe.send, first, *given)


def _heard(child: Any, pipe: Any, board: Board, patience: float) -> Iterator[Any]:
    """What a child sends, up to its end; one that is at the same input for too long is ended."""
    at, since, spent = -1, time.monotonic(), 0.0
    while True:
        try:
            if pipe.poll(0.2):
                yield pipe.recv()
                continue
        except (EOFError, OSError):
            child.join(5.0)
            return
        now = time.monotonic()
        if board.number != at:
            at, since, spent = board.number, now, _processor_time(child.pid)
        limit = patience if at >= 0 else START
        if now - since > STANDSTILL * limit or _processor_time(child.pid) - spent > limit:
            os.kill(child.pid, signal.SIGXCPU)  # which nobody handles: it ends at once
            child.join(5.0)


def _processor_time(pid: int) -> float:
    """Seconds that a process has worked: on a busy machine it can wait for long. Without /proc, those of a clock."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return time.monotonic()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _how(code: int | None) -> str:
    if code == -signal.SIGXCPU:
        return "it hung"
    if code is not None and code < 0:
        return f"it died of {signal.Signals(-code).name}"
    return f"it ended with {code}"
