"""The machine's own limits: loops that do one thing only, as fast as a core can do it."""

from benchmarks.timing import interleaved, table  # isort: skip (sets the number of threads before NumPy is imported)

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numba
import numpy as np

from onkel.core.vecmath import decay, sincospi
from onkel.core.verbs import SUM, entry_point

DEGREE = 32
LENGTH = 2048  # numbers, so that they stay in the first-level cache
ROUNDS = 400


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


@entry_point
def turns(x, out, rounds):
    """Sine and cosine of each number."""
    for _ in range(rounds):
        for k in range(x.shape[0]):
            sine, cosine = sincospi(x[k])
            out[k] = sine + cosine


@entry_point
def powers(x, out, rounds):
    """Two to the power of each number, for numbers <= 0, as kernels take them."""
    for _ in range(rounds):
        for k in range(x.shape[0]):
            out[k] = decay(x[k])


@entry_point
def quotients(x, out, rounds):
    """One by each number."""
    for _ in range(rounds):
        for k in range(x.shape[0]):
            out[k] = x.dtype.type(1) / x[k]


@numba.njit(fastmath=SUM)  # and not `compiled`: a helper that is not the package's would have all else compiled anew
def total(x):
    found = x.dtype.type(0)
    for k in range(x.shape[0]):
        found += x[k]
    return found


@entry_point
def sums(x, out, rounds):
    """Read each number."""
    for r in range(rounds):
        out[r % out.shape[0]] += total(x)


def fma_loop(dtype: object, rounds: int) -> tuple[Callable[[], object], int]:
    """A function that runs the loop, and the number of multiply-adds it makes."""
    x = np.full(LENGTH, 0.1, dtype)

    def run() -> None:
        x[:] = 0.1
        polynomial(x, rounds)

    return run, LENGTH * DEGREE * rounds


class Limits(NamedTuple):
    """Seconds for a multiply-add, sine with cosine, power of two, quotient, and number read from some array."""

    fma: float
    turn: float
    power: float
    quotient: float
    read: float


def limit_loops(dtype: Any, held: int) -> tuple[dict[str, Callable[[], object]], dict[str, int]]:
    """Contestants for `interleaved`, and how often each does its one thing; `held` numbers are read again and again."""
    x, out = np.full(LENGTH, -0.3, dtype), np.zeros(LENGTH, dtype)
    stored, again = np.ones(held, dtype), max(1, LENGTH * ROUNDS // held)
    fma, count = fma_loop(dtype, ROUNDS)
    loops: dict[str, Callable[[], object]] = {
        "fma": fma,
        "turn": lambda: turns(x, out, ROUNDS),
        "power": lambda: powers(x, out, ROUNDS),
        "quotient": lambda: quotients(x, out, ROUNDS),
        "read": lambda: sums(stored, out, again),
    }
    return loops, {**dict.fromkeys(loops, LENGTH * ROUNDS), "fma": count, "read": held * again}


def beside_limits(
    contestants: dict[str, Callable[[], object]], dtype: Any, held: int, repeats: int
) -> tuple[dict[str, float], Limits]:
    """Median seconds of the contestants, and the limits of the machine in the same minutes."""
    loops, counts = limit_loops(dtype, held)
    found = interleaved(contestants | loops, repeats)
    return found, Limits(*(found[name] / counts[name] for name in Limits._fields))


SIZES = {"16 KB": 2**14, "256 KB": 2**18, "8 MB": 2**23, "128 MB": 2**27}  # bytes that are read again and again


def main(quick: bool = False) -> None:
    """What one core can do at most, in both precisions."""
    columns, repeats = [], 20 if quick else 100  # of a millisecond each
    for dtype in (np.dtype(np.float32), np.dtype(np.float64)):
        _, limits = beside_limits({}, dtype, 2048, repeats)
        rates = [1e-9 / limits.fma, 1e-9 / limits.turn, 1e-9 / limits.power, 1e-9 / limits.quotient]
        loops = {name: (np.ones(size // dtype.itemsize, dtype), max(1, 2**27 // size)) for name, size in SIZES.items()}
        out = np.zeros(8, dtype)
        runs = {name: partial(sums, own, out, again) for name, (own, again) in loops.items()}
        times = interleaved(runs, 5 if quick else 15)
        columns.append(rates + [1e-9 * own.nbytes * again / times[name] for name, (own, again) in loops.items()])
    done = ["multiply-adds", "sines with cosines", "powers of two", "quotients"]
    titles = [f"{name}, 1e9 per second" for name in done] + [f"reading {name}, GB per second" for name in SIZES]
    lines = [[title, *(f"{value:.3g}" for value in found)] for title, *found in zip(titles, *columns, strict=True)]
    table("Limits of one core", ["", "float32", "float64"], lines)
