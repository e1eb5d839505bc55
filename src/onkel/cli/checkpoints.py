"""Checkpoints: a model, its errors so far, rows that wait for their labels, and its place in the stream, in one file.

Such a file is always whole, and a model file as well. A run that goes on with it passes over the rows that are learned
already, and ends with the same bits as one that was never stopped.
"""

import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NamedTuple

from onkel.snapshot import SnapshotError
from onkel.streams.block import Block, concatenate, packed, unpacked


class Place(NamedTuple):
    """How far a stream is learned: whole passes over it, and rows of the next."""

    passes: int = 0
    rows: int = 0


class Stopped(KeyboardInterrupt):
    """A run that was asked to stop, and left a checkpoint."""


class Interrupts:
    """Ctrl-C, or a request to terminate, waits until what is under way is finished; a second one does not."""

    SIGNALS = (signal.SIGINT, signal.SIGTERM)

    def __init__(self) -> None:
        self.asked = False

    def __enter__(self) -> "Interrupts":
        self._before = [signal.signal(number, self._ask) for number in self.SIGNALS]
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in zip(self.SIGNALS, self._before, strict=True):
            signal.signal(number, handler)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True


class Checkpoint:
    """Has a file written after every so many rows, and when the run is asked to stop."""

    def __init__(self, path: str, every: int, save: Callable[[str, Place], None], interrupts: Interrupts) -> None:
        self.path, self.every, self._save, self._interrupts = path, every, save, interrupts
        self._since = 0

    def passed(self, rows: int, place: Place) -> None:
        """Take note of rows just learned."""
        self._since += rows
        if self._since >= self.every or self._interrupts.asked:
            self._since = 0
            self._save(self.path, place)
        if self._interrupts.asked:
            raise Stopped(f"stopped after {place.rows:,} rows; --resume {self.path} goes on from there.")


@contextmanager
def whole(path: str) -> Iterator[None]:
    """What fails inside is missing in a checkpoint, or is not what it should be."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        raise SnapshotError(f"{path}: its progress is damaged.") from None


def packed_rows(waiting: Iterable[tuple[Any, Any]]) -> dict[str, Any] | None:
    """Rows that wait for their labels, and these, as a file can hold them."""
    parts = [Block(row, target) for row, target in waiting]
    return packed(concatenate(parts)) if parts else None


def unpacked_rows(parts: dict[str, Any] | None) -> Iterator[tuple[Any, Any]]:
    """The rows that were packed, one by one, each with its target."""
    if parts is not None:
        block = unpacked(parts)
        for i in range(len(block.labels)):
            yield block.rows[i : i + 1], block.labels[i : i + 1]
