"""Checkpoints: a model, its errors so far, rows that wait for their labels, and its place in the stream, in one file.

Such a file is always whole, and a model file as well. A run that goes on with it passes over the rows that are learned
already, and ends with the same bits as one that was never stopped.
"""

import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

from onkel.apps.cli.layout import joined
from onkel.files.snapshot import SnapshotError
from onkel.streams.block import Block, packed, unpacked


class Place(NamedTuple):
    """How far a stream is learned: whole passes over it, and rows of the next."""

    passes: int = 0
    rows: int = 0


class Stopped(KeyboardInterrupt):
    """A run that was asked to stop, and left a checkpoint."""


class Interrupts:
    """Ctrl-C, or a request to terminate, waits until what is under way is finished; a second one does not.

    Inside `idle`, nothing is under way: there it does not wait.
    """

    SIGNALS: tuple[signal.Signals, ...] = (signal.SIGINT, signal.SIGTERM)

    def __init__(self) -> None:
        self.asked, self._idle = False, False

    def __enter__(self) -> "Interrupts":
        self._before = [signal.signal(number, self._ask) for number in self.SIGNALS]
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in zip(self.SIGNALS, self._before, strict=True):
            signal.signal(number, handler)

    @contextmanager
    def idle(self) -> Iterator[None]:
        """While rows are waited for."""
        self._idle = True
        try:
            yield
        finally:
            self._idle = False

    def _ask(self, number: int, frame: FrameType | None) -> None:
        if self.asked and not self._idle:
            raise KeyboardInterrupt
        self.asked = True
        if self._idle:
            self._idle = False
            raise Stopped


class NoInterrupts(Interrupts):
    """Ctrl-C ends a run at once, where nothing is to be left behind."""

    SIGNALS = ()


class Checkpoint:
    """Stops a run that is asked to stop, and has a file written then and after every so many rows, if there is one."""

    def __init__(
        self, path: str | None, every: int, save: Callable[[str, Place], None], interrupts: Interrupts
    ) -> None:  # fmt: skip
        self.path, self.every, self._save, self._interrupts = path, every, save, interrupts
        self._since = 0

    def passed(self, rows: int, place: Place) -> None:
        """Take note of rows just learned."""
        self._since += rows
        if self.path and self._since >= self.every:
            self._since = 0
            self._save(self.path, place)
        if self._interrupts.asked:
            self.stop(place)

    def leave(self, place: Place) -> None:
        """Have a file written, if there is one."""
        if self.path is not None:
            self._save(self.path, place)

    def stop(self, place: Place) -> None:
        """End the run here."""
        if self.path is None:
            raise Stopped(f"stopped after {place.rows:,} rows.")
        self.leave(place)
        raise Stopped(f"stopped after {place.rows:,} rows; --resume {self.path} goes on from there.")


@contextmanager
def whole(path: str) -> Iterator[None]:
    """What fails inside is missing in a checkpoint, or is not what it should be."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError):
        raise SnapshotError(f"{path}: its progress is damaged.") from None


def packed_rows(waiting: Iterable[tuple[Any, ...]]) -> dict[str, Any] | None:
    """Rows that wait for their labels, and these, as a file can hold them."""
    rows = list(waiting)
    if not rows:
        return None
    weights = {"weights": np.concatenate([row[2] for row in rows])} if len(rows[0]) > 2 else {}
    return {**packed(joined(Block(*row[:2]) for row in rows)), **weights}


def unpacked_rows(parts: dict[str, Any] | None) -> Iterator[tuple[Any, ...]]:
    """The rows that were packed, one by one, each with its target and its weight, if rows have some."""
    if parts is not None:
        block = unpacked(parts)
        columns = [block.rows, block.labels, *([parts["weights"]] if "weights" in parts else [])]
        for i in range(len(block.labels)):
            yield tuple(column[i : i + 1] for column in columns)
