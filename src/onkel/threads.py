"""Parts of a model that do not know of each other, side by side in threads; compiled code holds no lock.

``ONKEL_THREADS`` says how many; without it all processors that this process may use. Results do not depend on it.
"""

import os
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any, TypeVar

T = TypeVar("T")
_inside = threading.local()


def workers() -> int:
    """How many threads are wanted."""
    given = os.environ.get("ONKEL_THREADS", "")
    if given.isdigit() and int(given) > 0:
        return int(given)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@lru_cache
def _pool(count: int, process: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(count, "onkel")


def each(work: Callable[..., T], *arguments: Iterable[Any], at_once: bool = True) -> list[T]:
    """What `work` makes of each set of arguments, in their order; in threads unless this is one already.

    >>> each(lambda a, b: a + b, [1, 2], [10, 20])
    [11, 22]
    """
    count, sets = workers(), list(zip(*arguments, strict=True))
    if not at_once or count < 2 or len(sets) < 2 or getattr(_inside, "worker", False):
        return [work(*one) for one in sets]

    def inside(one: tuple[Any, ...]) -> T:
        _inside.worker = True
        return work(*one)

    return list(_pool(count, os.getpid()).map(inside, sets))
