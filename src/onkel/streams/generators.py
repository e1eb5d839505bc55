"""Streams that are made up as they are read: the same seed gives the same rows, whatever the block size."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from onkel.streams.block import Block, StreamError, Summary, reblock, summarise, take

CHUNK_ROWS = 1024  # drawn at once, each chunk from a generator of its own, so that blocks can be cut anywhere
DEFAULT_ROWS = 200_000

Chunk: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64]]


@dataclass(frozen=True)
class GeneratedStream:
    """Rows made up from a seed.

    Attributes
    ----------
    make_chunk
        Function of the seed and a chunk number that makes the features and labels of 1024 rows.
    rows
        Number of rows; None for an endless stream.
    seed
        Not negative; other seeds give other rows of another concept.
    block_rows
        Rows per block; the last block may be shorter.
    """

    make_chunk: Callable[[int, int], Chunk]
    rows: int | None
    seed: int
    block_rows: int

    def __post_init__(self) -> None:
        if self.seed < 0:
            raise StreamError(f"The seed must not be negative, but is {self.seed}.")
        if self.rows is not None and self.rows < 1:
            raise StreamError(f"A stream must have at least one row, not {self.rows}.")
        if self.block_rows < 1:
            raise StreamError(f"A block must hold at least one row, not {self.block_rows}.")

    def __iter__(self) -> Iterator[Block]:
        """Yield the rows, block by block."""
        chunks: Iterator[Block] = (Block(*self.make_chunk(self.seed, number)) for number in count())
        return reblock(chunks if self.rows is None else take(chunks, self.rows), self.block_rows)

    def summary(self) -> Summary:
        """What is in the stream, from its first chunk: every chunk has all classes."""
        if self.rows is None:
            raise StreamError("An endless stream has no summary; give the number of rows.")
        first = summarise(take(iter(self), CHUNK_ROWS))
        return first._replace(rows=self.rows, entries=self.rows * first.n_features)


def _random(seed: int, chunk: int | None) -> np.random.Generator:
    """Generator of a chunk, or of the concept behind all chunks."""
    return np.random.default_rng((seed, 0 if chunk is None else chunk + 1))


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
    both_concepts = _random(seed, None).standard_normal((2, 2, BUMPS, DRIFTING_FEATURES))
    start, quarter_round_later = both_concepts[int(number >= CHUNK_OF_JUMP)]
    angle = 2.0 * np.pi * number / CHUNKS_PER_ROUND
    centres: NDArray[np.float64] = np.cos(angle) * start + np.sin(angle) * quarter_round_later
    # All at one distance from the origin: each bump then covers as much of the data as any other, and the two
    # classes stay about equally frequent.
    lengths: NDArray[np.float64] = np.linalg.norm(centres, axis=1, keepdims=True)
    return DISTANCE * centres / lengths


def _drifting_chunk(seed: int, number: int) -> Chunk:
    random = _random(seed, number)
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
    random = _random(seed, number)
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
    centres = 1.5 * _random(seed, None).standard_normal((CLASSES * CLUSTERS_PER_CLASS, BLOB_FEATURES))
    random = _random(seed, number)
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
    random = _random(seed, number)
    rows = random.random((CHUNK_ROWS, 10))
    signal = 10.0 * np.sin(np.pi * rows[:, 0] * rows[:, 1]) + 20.0 * (rows[:, 2] - 0.5) ** 2
    signal += 10.0 * rows[:, 3] + 5.0 * rows[:, 4]
    return rows, signal + random.standard_normal(CHUNK_ROWS)


STREAMS: dict[str, Callable[..., GeneratedStream]] = {
    "blobs": blobs,
    "drifting": drifting,
    "friedman": friedman,
    "rings": rings,
}
