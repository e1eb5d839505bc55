"""Checkpoints: a model, its errors so far and its place in the stream, together in one file that is always whole.

Such a file is a model file as well. A run that goes on with it passes over the rows that are learned already, and ends
with the same bits as one that was never stopped.
"""

import signal
from collections.abc import Callable
from types import FrameType
from typing import Any, NamedTuple

from onkel.evaluate import Tally
from onkel.snapshot import SnapshotError


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


def place_of(progress: Any, stream: dict[str, Any], tally: Tally, path: str) -> Place:
    """Where to go on; restores the tally. Another stream than that of the checkpoint is an error."""
    try:
        other = [key for key, value in stream.items() if progress["stream"][key] != value]
        place = Place(*progress["place"])
        tally.restore(progress["tally"])
    except (KeyError, TypeError, ValueError, AttributeError):
        raise SnapshotError(f"{path}: its progress is damaged.") from None
    if other:
        raise ValueError(f"{path} is a checkpoint of another stream: {', '.join(other)} differ.")
    return place
