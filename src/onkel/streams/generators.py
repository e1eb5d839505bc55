"""Streams that are made up, without a file: dense and sparse, classes and numbers, with drift and without."""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from onkel.streams.block import StreamError, csr
from onkel.streams.drifts import abrupt, gradual, recurring, waves
from onkel.streams.generated import CHUNK_ROWS, DEFAULT_ROWS, Chunk, GeneratedStream, random_of

__all__ = [
    "STREAMS", "abrupt", "blobs", "drifting", "friedman", "gradual", "recurring", "rings", "sparse", "spirals", "waves",
]  # fmt: skip


def drifting(rows: int | None = DEFAULT_ROWS, seed: int = 1, block_rows: int = 4096) -> GeneratedStream:
    """Two classes, -1 and 1, in 10 standard normal features, whose border moves.

    The label is the sign of a sum of 20 radial bumps, half of them negative. The bumps wander, once round in about
    200,000 rows; at row 100,352 they all jump to other places; 5 % of the labels are flipped.

    Parameters
    ----------
    rows
        Number of rows; None for an endless stream.
    seed
        Not negative.
    block_rows
        Rows per block.

    Examples
    --------
    >>> drifting(rows=5000).summary()
    Summary(rows=5000, n_features=10, labels=(-1.0, 1.0), entries=50000, has_negative=True)
    """
    return GeneratedStream(_drifting_chunk, rows, seed, block_rows)


DRIFTING_FEATURES, FLIPPED = 10, 0.05
BUMPS, SQUARE_WIDTH, DISTANCE = 20, 2.0, 3.0
CHUNKS_PER_ROUND, CHUNK_OF_JUMP = 196, 98


def _bump_centres(seed: int, number: int) -> NDArray[np.float64]:
    """Centres of the bumps while a chunk is drawn."""
    both_concepts = random_of(seed, None).standard_normal((2, 2, BUMPS, DRIFTING_FEATURES))
    start, quarter_round_later = both_concepts[int(number >= CHUNK_OF_JUMP)]
    angle = 2.0 * np.pi * number / CHUNKS_PER_ROUND
    centres: NDArray[np.float64] = np.cos(angle) * start + np.sin(angle) * quarter_round_later
    # All at one distance from the origin: each bump then covers as much of the data as any other, and the two
    # classes stay about equally frequent.
    lengths: NDArray[np.float64] = np.linalg.norm(centres, axis=1, keepdims=True)
    return DISTANCE * centres / lengths


def _drifting_chunk(seed: int, number: int) -> Chunk:
    random = random_of(seed, number)
    rows = random.standard_normal((CHUNK_ROWS, DRIFTING_FEATURES))
    square_norms = np.einsum("ij,ij->i", rows, rows)[:, None]
    square_distances = square_norms + DISTANCE**2 - 2.0 * rows @ _bump_centres(seed, number).T
    bumps = np.exp(square_distances / (-2.0 * SQUARE_WIDTH))
    sides = bumps[:, ::2].sum(axis=1) - bumps[:, 1::2].sum(axis=1)
    flips = np.where(random.random(CHUNK_ROWS) < FLIPPED, -1.0, 1.0)
    return rows, np.where(sides >= 0.0, 1.0, -1.0) * flips


def rings(rows: int | None = DEFAULT_ROWS, seed: int = 1, block_rows: int = 4096) -> GeneratedStream:
    """Two classes in the plane: -1 on a ring of radius 2, 1 on those of radius 1 and 3, each blurred by 0.2.

    Parameters
    ----------
    rows
        Number of rows; None for an endless stream.
    seed
        Not negative.
    block_rows
        Rows per block.

    Examples
    --------
    >>> rings(rows=3000).summary()
    Summary(rows=3000, n_features=2, labels=(-1.0, 1.0), entries=6000, has_negative=True)
    """
    return GeneratedStream(_rings_chunk, rows, seed, block_rows)


def _rings_chunk(seed: int, number: int) -> Chunk:
    random = random_of(seed, number)
    labels = random.choice([-1.0, 1.0], CHUNK_ROWS)
    radii = np.where(labels < 0.0, 2.0, random.choice([1.0, 3.0], CHUNK_ROWS))
    angles = random.uniform(0.0, 2.0 * np.pi, CHUNK_ROWS)
    circles = radii[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return circles + 0.2 * random.standard_normal((CHUNK_ROWS, 2)), labels


CLASSES, CLUSTERS_PER_CLASS, BLOB_FEATURES = 5, 4, 8


def blobs(rows: int | None = DEFAULT_ROWS, seed: int = 1, block_rows: int = 4096) -> GeneratedStream:
    """Five classes, 0 to 4, in 8 features; each class is made of 4 overlapping Gaussian clusters.

    Parameters
    ----------
    rows
        Number of rows; None for an endless stream.
    seed
        Not negative.
    block_rows
        Rows per block.

    Examples
    --------
    >>> blobs(rows=3000).summary().labels
    (0.0, 1.0, 2.0, 3.0, 4.0)
    """
    return GeneratedStream(_blobs_chunk, rows, seed, block_rows)


def _blobs_chunk(seed: int, number: int) -> Chunk:
    centres = 1.5 * random_of(seed, None).standard_normal((CLASSES * CLUSTERS_PER_CLASS, BLOB_FEATURES))
    random = random_of(seed, number)
    clusters = random.integers(len(centres), size=CHUNK_ROWS)
    rows = centres[clusters] + random.standard_normal((CHUNK_ROWS, BLOB_FEATURES))
    return rows, (clusters % CLASSES).astype(np.float64)


def friedman(rows: int | None = DEFAULT_ROWS, seed: int = 1, block_rows: int = 4096) -> GeneratedStream:
    """Regression on 10 features from [0, 1), of which 5 count; the noise is standard normal.

    y = 10 sin(pi x1 x2) + 20 (x3 - 1/2)^2 + 10 x4 + 5 x5 + noise, widely known as Friedman's first function.

    Parameters
    ----------
    rows
        Number of rows; None for an endless stream.
    seed
        Not negative.
    block_rows
        Rows per block.

    Examples
    --------
    >>> friedman(rows=3000).summary()
    Summary(rows=3000, n_features=10, labels=(), entries=30000, has_negative=False)
    """
    return GeneratedStream(_friedman_chunk, rows, seed, block_rows)


def _friedman_chunk(seed: int, number: int) -> Chunk:
    random = random_of(seed, number)
    rows = random.random((CHUNK_ROWS, 10))
    signal = 10.0 * np.sin(np.pi * rows[:, 0] * rows[:, 1]) + 20.0 * (rows[:, 2] - 0.5) ** 2
    signal += 10.0 * rows[:, 3] + 5.0 * rows[:, 4]
    return rows, signal + random.standard_normal(CHUNK_ROWS)


def spirals(
    rows: int | None = DEFAULT_ROWS, seed: int = 1, block_rows: int = 4096, *, turns: float = 2.0
) -> GeneratedStream:
    """Two classes in the plane, -1 and 1, each on an arm of a double spiral.

    A row of class c is x = 3 r (cos a, sin a) + noise, with r^2 uniform in [0, 1), a = 2 pi turns r for class 1 and
    half a turn further for class -1, and normal noise of deviation 0.1. The more turns, the closer the arms: they are
    3 / (2 turns) apart.

    Parameters
    ----------
    rows
        Number of rows; None for an endless stream.
    seed
        Not negative.
    block_rows
        Rows per block.
    turns
        How often an arm goes round.

    Examples
    --------
    >>> spirals(rows=3000).summary()
    Summary(rows=3000, n_features=2, labels=(-1.0, 1.0), entries=6000, has_negative=True)
    """
    if turns <= 0.0:
        raise StreamError(f"The number of turns must be positive, not {turns}.")
    return GeneratedStream(partial(_spirals_chunk, turns), rows, seed, block_rows)


def _spirals_chunk(turns: float, seed: int, number: int) -> Chunk:
    random = random_of(seed, number)
    labels = random.choice([-1.0, 1.0], CHUNK_ROWS)
    radii = np.sqrt(random.random(CHUNK_ROWS))
    angles = 2.0 * np.pi * turns * radii + np.where(labels < 0.0, np.pi, 0.0)
    arms = 3.0 * radii[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return arms + 0.1 * random.standard_normal((CHUNK_ROWS, 2)), labels


def sparse(
    rows: int | None = DEFAULT_ROWS,
    seed: int = 1,
    block_rows: int = 4096,
    *,
    n_features: int = 100_000,
    per_row: int = 50,
) -> GeneratedStream:
    """Two classes, -1 and 1, in CSR rows like those of texts: few columns are frequent, most are rare.

    Stored number i = 0 ... m - 1 of a row stands in a column drawn uniformly from those between d (i/m)^6 and
    d ((i+1)/m)^6, at least one; its value is exponential with mean 1. The label is the sign of w · x with standard
    normal weights w; 5 % of the labels are flipped.

    Parameters
    ----------
    rows
        Number of rows; None for an endless stream.
    seed
        Not negative.
    block_rows
        Rows per block.
    n_features
        Number of columns d.
    per_row
        Stored numbers m of each row, at most `n_features`.

    Examples
    --------
    >>> sparse(rows=3000).summary()
    Summary(rows=3000, n_features=100000, labels=(-1.0, 1.0), entries=150000, has_negative=False)
    """
    if not 1 <= per_row <= n_features:
        raise StreamError(f"A row must store from 1 to {n_features} numbers, not {per_row}.")
    return GeneratedStream(partial(_sparse_chunk, n_features, per_row), rows, seed, block_rows)


FREQUENT = 6  # the larger, the fewer columns are frequent


def _column_edges(n_features: int, per_row: int) -> NDArray[np.int64]:
    """Where the range of columns of each stored number begins; each holds at least one column."""
    position = np.arange(per_row + 1)
    wanted = np.floor(n_features * (position / per_row) ** FREQUENT).astype(np.int64)
    return np.minimum(np.maximum(wanted, position), n_features - per_row + position)


def _sparse_chunk(n_features: int, per_row: int, seed: int, number: int) -> Chunk:
    weights = random_of(seed, None).standard_normal(n_features)
    random = random_of(seed, number)
    edges = _column_edges(n_features, per_row)
    columns = edges[:-1] + np.floor(random.random((CHUNK_ROWS, per_row)) * np.diff(edges)).astype(np.int64)
    values = random.exponential(size=(CHUNK_ROWS, per_row))
    sides = (weights[columns] * values).sum(axis=1)
    flips = np.where(random.random(CHUNK_ROWS) < FLIPPED, -1.0, 1.0)
    starts = np.arange(CHUNK_ROWS + 1) * per_row
    return csr(values.ravel(), columns.ravel(), starts, n_features), np.where(sides >= 0.0, 1.0, -1.0) * flips


STREAMS: dict[str, Callable[..., GeneratedStream]] = {
    "abrupt": abrupt,
    "blobs": blobs,
    "drifting": drifting,
    "friedman": friedman,
    "gradual": gradual,
    "recurring": recurring,
    "rings": rings,
    "sparse": sparse,
    "spirals": spirals,
    "waves": waves,
}
