"""A stream that is made up as it is read: the same seed gives the same rows, whatever the block size."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from onkel.streams.block import Block, Rows, StreamError, Summary, reblock, summarise, take

CHUNK_ROWS = 1024  # drawn at once, each chunk from a generator of its own, so that blocks can be cut anywhere
DEFAULT_ROWS = 200_000

Chunk: TypeAlias = tuple[Rows, NDArray[np.float64]]


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
        return first._replace(rows=self.rows, entries=self.rows * first.entries // first.rows)


def random_of(seed: int, chunk: int | None) -> np.random.Generator:
    """Generator of a chunk, or of the concept behind all chunks."""
    return np.random.default_rng((seed, 0 if chunk is None else chunk + 1))


def row_numbers(chunk: int) -> NDArray[np.float64]:
    """Numbers of the rows of a chunk, counted from 0 at the start of the stream.

    Examples
    --------
    >>> row_numbers(2)[:2].tolist()
    [2048.0, 2049.0]
    """
    return np.arange(chunk * CHUNK_ROWS, (chunk + 1) * CHUNK_ROWS, dtype=np.float64)
