"""Made-up streams whose concept changes where one knows it: at once, little by little, again and again, always."""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from onkel.streams.block import StreamError
from onkel.streams.generated import CHUNK_ROWS, DEFAULT_ROWS, Chunk, GeneratedStream, random_of, row_numbers

FEATURES, COSINES, FLIPPED = 5, 10, 0.05


def abrupt(
    rows: int | None = DEFAULT_ROWS, seed: int = 1, block_rows: int = 4096, *, at: int = 100_000
) -> GeneratedStream:
    """Two classes, -1 and 1, in 5 standard normal features; at one row another concept takes over.

    Concept c says sign(sum_k cos(w_ck · x + b_ck)), k = 1 ... 10, with normal w of deviation 0.7 and b uniform on a
    circle. Concept 0 holds before row `at` (counted from 0), concept 1 from there on, which has nothing to do with it:
    about half of all labels change. 5 % of the labels are flipped.

    Parameters
    ----------
    rows
        Number of rows; None for an endless stream.
    seed
        Not negative.
    block_rows
        Rows per block.
    at
        First row of the second concept.

    Examples
    --------
    >>> abrupt(rows=5000).summary()
    Summary(rows=5000, n_features=5, labels=(-1.0, 1.0), entries=25000, has_negative=True)
    """
    _check_place(at)
    return GeneratedStream(partial(_gradual_chunk, at, 0), rows, seed, block_rows)


def gradual(
    rows: int | None = DEFAULT_ROWS, seed: int = 1, block_rows: int = 4096, *, at: int = 50_000, length: int = 100_000
) -> GeneratedStream:
    """The concepts of `abrupt`, of which the second takes over little by little.

    Row t follows concept 1 with probability (t - at) / length, limited to [0, 1], else concept 0.

    Parameters
    ----------
    rows
        Number of rows; None for an endless stream.
    seed
        Not negative.
    block_rows
        Rows per block.
    at
        Row where the change begins.
    length
        Rows until it is complete.

    Examples
    --------
    >>> gradual(rows=5000).summary().labels
    (-1.0, 1.0)
    """
    _check_place(at)
    _check_length(length)
    return GeneratedStream(partial(_gradual_chunk, at, length), rows, seed, block_rows)


def recurring(
    rows: int | None = DEFAULT_ROWS, seed: int = 1, block_rows: int = 4096, *, length: int = 25_000, concepts: int = 3
) -> GeneratedStream:
    """Concepts as those of `abrupt` that follow each other and come back.

    Row t follows concept floor(t / length) modulo `concepts`.

    Parameters
    ----------
    rows
        Number of rows; None for an endless stream.
    seed
        Not negative.
    block_rows
        Rows per block.
    length
        Rows that a concept holds for.
    concepts
        Number of concepts, at least 2.

    Examples
    --------
    >>> recurring(rows=5000, length=1000).summary().labels
    (-1.0, 1.0)
    """
    _check_length(length)
    if concepts < 2:
        raise StreamError(f"There must be at least 2 concepts, not {concepts}.")
    return GeneratedStream(partial(_recurring_chunk, length, concepts), rows, seed, block_rows)


def waves(
    rows: int | None = DEFAULT_ROWS, seed: int = 1, block_rows: int = 4096, *, period: float = 100_000
) -> GeneratedStream:
    """Regression on 5 features from [0, 1): waves that travel.

    At row t, y = sum_k sin(w_k · x + b_k + 2 pi t / period) + noise, k = 1 ... 4, with normal w of deviation 3, b
    uniform on a circle and normal noise of deviation 0.1. Half a period later the function has the opposite sign, a
    whole period later it is back.

    Parameters
    ----------
    rows
        Number of rows; None for an endless stream.
    seed
        Not negative.
    block_rows
        Rows per block.
    period
        Rows until the waves are where they were; infinite for waves that stand still.

    Examples
    --------
    >>> waves(rows=3000).summary()
    Summary(rows=3000, n_features=5, labels=(), entries=15000, has_negative=False)
    """
    if not period > 0.0:
        raise StreamError(f"The period must be a positive number of rows, not {period}.")
    return GeneratedStream(partial(_waves_chunk, period), rows, seed, block_rows)


def _check_place(at: int) -> None:
    if at < 0:
        raise StreamError(f"The row of the change must not be negative, but is {at}.")


def _check_length(length: int) -> None:
    if length < 1:
        raise StreamError(f"A length must be at least one row, not {length}.")


def _gradual_chunk(at: int, length: int, seed: int, number: int) -> Chunk:
    random = random_of(seed, number)
    # Drawn for a change at once too, where it decides nothing: `abrupt` and `gradual` have the same rows.
    later = row_numbers(number) - at >= length * random.random(CHUNK_ROWS)
    return _labelled(random, seed, np.where(later, 1, 0), concepts=2)


def _recurring_chunk(length: int, concepts: int, seed: int, number: int) -> Chunk:
    which = (row_numbers(number) // length % concepts).astype(np.intp)
    return _labelled(random_of(seed, number), seed, which, concepts)


def _labelled(random: np.random.Generator, seed: int, which: NDArray[np.intp], concepts: int) -> Chunk:
    """Rows, and what the concept of each says of it, but for the flipped ones."""
    rows = random.standard_normal((CHUNK_ROWS, FEATURES))
    sides = np.empty(CHUNK_ROWS)
    concept = random_of(seed, None)
    for c in range(concepts):
        frequencies = 0.7 * concept.standard_normal((FEATURES, COSINES))
        phases = concept.uniform(0.0, 2.0 * np.pi, COSINES)
        mine = which == c
        sides[mine] = np.cos(rows[mine] @ frequencies + phases).sum(axis=1)
    flips = np.where(random.random(CHUNK_ROWS) < FLIPPED, -1.0, 1.0)
    return rows, np.where(sides >= 0.0, 1.0, -1.0) * flips


def _waves_chunk(period: float, seed: int, number: int) -> Chunk:
    concept = random_of(seed, None)
    frequencies = 3.0 * concept.standard_normal((FEATURES, 4))
    phases = concept.uniform(0.0, 2.0 * np.pi, 4)
    random = random_of(seed, number)
    rows = random.random((CHUNK_ROWS, FEATURES))
    travelled = 2.0 * np.pi * row_numbers(number) / period
    heights = np.sin(rows @ frequencies + phases + travelled[:, None]).sum(axis=1)
    return rows, heights + 0.1 * random.standard_normal(CHUNK_ROWS)
