"""A counter-based generator of random numbers whose whole state is one number in an array of the model.

Number n of seed s is a hash of (s, n) (splitmix64), so a stream of numbers is the same in Python and in compiled code,
survives saving, and a table of numbers indexed by (row, column) needs no order in which it is drawn.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from onkel.core.verbs import compiled

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST = np.uint64(0xBF58476D1CE4E5B9)
SECOND = np.uint64(0x94D049BB133111EB)
S27, S30, S31, S11 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(11)
UNIT = 2.0**-53


def generator(seed: int) -> NDArray[np.uint64]:
    """The state of a generator; keep it in the model.

    >>> state = generator(7)
    >>> 0.0 < float(uniform_table(7, 1, 1)[0, 0]) < 1.0
    True
    """
    return _hash(np.array([seed % 2**64], np.uint64))


@compiled
def draw(state: Any) -> Any:
    """The next 64 random bits; changes state."""
    state[0] = state[0] + GOLDEN
    z = state[0]
    z = (z ^ (z >> S30)) * FIRST
    z = (z ^ (z >> S27)) * SECOND
    return z ^ (z >> S31)


@compiled
def uniform(state: Any) -> Any:
    """A number in [0, 1); changes state."""
    return np.float64(draw(state) >> S11) * UNIT


@compiled
def normal(state: Any) -> Any:
    """A standard normal number (Box and Muller); changes state."""
    radius = np.sqrt(-2.0 * np.log(1.0 - uniform(state)))
    return radius * np.cos(2.0 * np.pi * uniform(state))


@compiled
def key_of(state: Any, number: int) -> Any:
    """Random bits of a number, a function of the state of a generator and the number alone."""
    return scrambled(state[0] + GOLDEN * np.uint64(number + 1))


@compiled
def scrambled(z: Any) -> Any:
    z = z + GOLDEN
    z = (z ^ (z >> S30)) * FIRST
    z = (z ^ (z >> S27)) * SECOND
    return z ^ (z >> S31)


@compiled
def cell_of(key: Any, column: int) -> float:
    """The number in a column of `uniform_table`, in the row whose key that is."""
    bits = scrambled(key + GOLDEN * np.uint64(column + 1))
    return (np.float64(bits >> S11) + 0.5) * UNIT


@compiled
def choice(state: Any, n: int) -> Any:
    """A whole number from 0 to n - 1; changes state."""
    return min(np.int64(uniform(state) * n), n - 1)


def uniform_table(seed: int, rows: int, columns: int) -> NDArray[np.float64]:
    """Numbers in (0, 1), each a function of (seed, row, column) alone: more rows leave the first ones as they are."""
    keys = _hash(generator(seed) + GOLDEN * np.arange(1, rows + 1, dtype=np.uint64))
    bits = _hash(keys[:, None] + GOLDEN * np.arange(1, columns + 1, dtype=np.uint64)[None, :])
    return ((bits >> S11).astype(np.float64) + 0.5) * UNIT


def normal_table(seed: int, rows: int, columns: int) -> NDArray[np.float64]:
    """Standard normal numbers, each a function of (seed, row, column) alone."""
    table: NDArray[np.float64] = special.ndtri(uniform_table(seed, rows, columns))
    return table


def keys(seed: int, numbers: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Random bits, each a function of (seed, number) alone."""
    return _hash(generator(seed) + GOLDEN * (numbers.astype(np.uint64) + np.uint64(1)))


def reservoir(seed: int, numbers: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Which of the numbered rows a reservoir keeps, in their order: each with the same chance, for every cut.

    >>> reservoir(0, np.arange(5), 2).shape
    (2,)
    """
    return np.sort(np.argsort(keys(seed, numbers), kind="stable")[:size])


def derive(seed: int, purpose: int) -> int:
    """A seed of its own for one of several purposes."""
    return int(_hash(generator(seed) + GOLDEN * np.array([purpose + 1], np.uint64))[0])


def _hash(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    z = z + GOLDEN
    z = (z ^ (z >> S30)) * FIRST
    z = (z ^ (z >> S27)) * SECOND
    return z ^ (z >> S31)
