"""CPU seconds of learning alone, without what happens by chance while the clock runs."""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import process_time

from threadpoolctl import threadpool_limits


@contextmanager
def undisturbed() -> Iterator[None]:
    """No threads of LAPACK, and no collection of garbage, which is a lot of work after much has been compiled.

    On a busy machine two threads that wait for each other took 270 times as long as one for the eigenvectors of `nogd`:
    0.13 s, a hundred times what a thousand rows take. They go on waiting for a while after their work is done.
    """
    collected = gc.isenabled()
    gc.disable()
    try:
        with threadpool_limits(1):
            yield
    finally:
        if collected:
            gc.enable()


@contextmanager
def clock() -> Iterator[Callable[[], float]]:
    """A function that says how many CPU seconds have passed since the block began.

    >>> with clock() as seconds:
    ...     seconds() >= 0.0
    True
    """
    with undisturbed():
        begin = process_time()
        yield lambda: process_time() - begin
