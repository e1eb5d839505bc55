"""Parts of a model that do not know of each other, side by side in threads; compiled code holds no lock.

``ONKEL_THREADS`` says how many; without it all processors that this process may use. Results do not depend on it.
"""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import lru_cache
from queue import Empty, PriorityQueue
from time import thread_time
from typing import Any, TypeVar

from onkel.core.interrupts import LONGEST, Pace

T = TypeVar("T")
MANY = 4096  # rows, below which nobody asks whether it is worth while to wake threads
WORTH = 0.003  # CPU seconds, for which it is
TRIAL = 256  # rows that show how long the others take; fewer would show how long a call takes
CHUNKS = 8  # in which parts take their turns
_inside = threading.local()


def workers() -> int:
    """How many threads are wanted."""
    given = os.environ.get("ONKEL_THREADS", "")
    if given.isdigit() and int(given) > 0:
        return int(given)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def free() -> int:
    """How many threads there are for what comes next: one within a thread."""
    return 1 if getattr(_inside, "worker", False) else workers()


@lru_cache
def _pool(count: int, process: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(count, "onkel")


def each(work: Callable[..., T], *arguments: Iterable[Any]) -> list[T]:
    """What `work` makes of each set of arguments, in their order; in threads unless this is one already.

    This thread takes part. If it only waited, the others would often be woken on one and the same processor.

    >>> each(lambda a, b: a + b, [1, 2], [10, 20])
    [11, 22]
    """
    sets = list(zip(*arguments, strict=True))
    count = min(free(), len(sets)) if len(sets) > 1 else 1
    if count < 2:
        return [work(*one) for one in sets]
    waiting, found = deque(enumerate(sets)), dict[int, T]()

    def take_part() -> None:
        _inside.worker = True
        try:
            while (one := _next(waiting)) is not None:
                found[one[0]] = work(*one[1])
        finally:
            _inside.worker = False

    helpers = [_pool(count - 1, os.getpid()).submit(take_part) for _ in range(count - 1)]
    try:
        take_part()
    finally:
        waiting.clear()  # whatever went wrong, nothing more is begun
        begun = [helper for helper in helpers if not helper.cancel()]
        wait(begun)
    for helper in begun:
        helper.result()
    return [found[k] for k in range(len(sets))]


def over_rows(work: Callable[[slice], object], n: int, trial: int = TRIAL) -> None:
    """``work(rows)`` for all rows from 0 to n - 1, which must not depend on their cut: as one slice for each thread.

    How long the first take, no more than `trial`, says whether it is worth while to wake other threads for many rows,
    and how many can be done at once if Ctrl-C is not to wait long.

    >>> over_rows(print, 10)
    slice(0, 10, None)
    """
    first, count, at_once, over = 0, free() if n >= MANY else 1, n, threading.Event()
    if n > min(trial, TRIAL):
        first, clock = min(trial, TRIAL), thread_time()
        work(slice(0, first))
        took = (thread_time() - clock) / first
        count = count if took * (n - first) >= WORTH else 1
        at_once = int(min(n, 1 + LONGEST / max(took, 1e-9)))
    cuts = [first + (n - first) * k // count for k in range(count + 1)]

    def share(begin: int, end: int) -> None:
        parts = [slice(0, end - begin)] if end - begin <= at_once else Pace(at_once).slices(end - begin)
        try:
            for part in parts:
                if not over.is_set():
                    work(slice(begin + part.start, begin + part.stop))
        except BaseException:
            over.set()  # other threads do not go on to their ends
            raise

    try:
        each(share, cuts[:-1], cuts[1:])
    finally:
        over.set()


def _next(waiting: deque[T]) -> T | None:
    """The one that has waited longest; None where another thread was faster."""
    try:
        return waiting.popleft()
    except IndexError:
        return None


def in_turns(work: Callable[[int, T, slice], T], parts: Iterable[T], first: int, n: int) -> list[T]:
    """What becomes of each part k when it is ``work(k, part, rows)`` for all rows from `first` to n - 1, some at once.

    A thread takes the part that is farthest behind, does its next rows, and lets it wait again: three parts keep two
    threads busy to the end. How long the first rows take says whether it is worth while to wake other threads.

    >>> in_turns(lambda k, part, rows: part + [(rows.start, rows.stop)], [[], []], 1, 3)
    [[(1, 3)], [(1, 3)]]
    """
    waiting, done, rows = PriorityQueue[tuple[int, int, T]](), dict[int, T](), n - first
    for k, part in enumerate(parts):
        waiting.put((first, k, part))
    many = waiting.qsize()

    def take_turns(size: int, most: int = -1) -> None:
        while most and (one := _farthest_behind(waiting)) is not None:
            begin, k, part = one
            last = min(n, begin + size)
            part = work(k, part, slice(begin, last))
            if last < n:
                waiting.put((last, k, part))
            else:
                done[k] = part
            most -= 1

    count = min(free(), many)
    if count > 1:
        clock = thread_time()
        take_turns(TRIAL, most=1)
        count = count if (thread_time() - clock) * rows * many >= WORTH * min(TRIAL, rows) else 1
    size = max(-(-rows // CHUNKS), TRIAL) if count > 1 else rows
    each(take_turns, [size] * count)
    return [done[k] for k in sorted(done)]


def _farthest_behind(waiting: PriorityQueue[Any]) -> Any:
    """The part with the fewest rows done; None where no part waits."""
    try:
        return waiting.get_nowait()
    except Empty:
        return None


def trailing(work: Callable[[slice], object], parts: int) -> Callable[[int, int], None]:
    """A function to be told (k, n) when part k is done with the rows before n; ``work(rows)`` follows the slowest part.

    It is done for all rows in their order, by one thread at a time, as soon as every part is past them; nobody waits.

    >>> passed = trailing(print, 2)
    >>> passed(0, 8)
    >>> passed(1, 5)
    slice(0, 5, None)
    """
    reached, done, alone = [0] * parts, 0, threading.Lock()

    def passed(k: int, n: int) -> None:
        nonlocal done
        reached[k] = n
        while done < min(reached) and alone.acquire(blocking=False):  # or who is at it sees it afterwards
            try:
                last = min(reached)
                work(slice(done, last))
                done = last
            finally:
                alone.release()

    return passed
