"""The machine's own limit: multiply-adds per second of a loop that does nothing else."""

from collections.abc import Callable

import numpy as np

from onkel.dispatch import entry_point

DEGREE = 32
LENGTH = 2048  # numbers, so that they stay in the first-level cache


@entry_point
def polynomial(x, rounds):
    """DEGREE multiply-adds per load and store, independent from number to number: as many as the core can do."""
    for _ in range(rounds):
        for k in range(x.shape[0]):
            v = x[k]
            p = v
            for _ in range(DEGREE):
                p = p * v + v
            x[k] = p


def fma_loop(dtype: object, rounds: int) -> tuple[Callable[[], object], int]:
    """A function that runs the loop, and the number of multiply-adds it makes."""
    x = np.full(LENGTH, 0.1, dtype)

    def run() -> None:
        x[:] = 0.1
        polynomial(x, rounds)

    return run, LENGTH * DEGREE * rounds
