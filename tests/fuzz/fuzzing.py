"""Mutate what is known of a reader, keep what reaches something new, and note what is neither answer nor sentence.

One call of `fuzz` is what a child process does; `tools/fuzz.py` starts children and survives them.
"""

import resource
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np

from tests.fuzz import running
from tests.fuzz.covering import Seen
from tests.fuzz.mutations import mutated, mutated_model, places
from tests.fuzz.packing import Parts, parts_of
from tests.fuzz.seeds import TOKENS, seeds_of

SHARE = 16  # one of so many inputs is traced
OFTEN = 1.0  # seconds between two reports
LARGEST = 1 << 17  # bytes of an input that is kept to be mutated again
DECOMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "gz": __import__("gzip").decompress,
    "bz2": __import__("bz2").decompress,
    "xz": __import__("lzma").decompress,
    "zst": lambda data: running.zstandard.ZstdDecompressor().decompress(data, 1 << 20),
}


class Progress(NamedTuple):
    """What came of the inputs since the last report."""

    counts: dict[str, int]
    slowest: float  # seconds
    peak: int  # MB that the process had at most
    seconds: float


class Failure(NamedTuple):
    """An input that is neither answered nor refused."""

    number: int
    data: bytes
    what: str


class Kept(NamedTuple):
    """An input that reached something new."""

    data: bytes


class Maker:
    """Makes inputs of a reader from those that are known."""

    def __init__(self, name: str, known: list[bytes], seed: int) -> None:
        self.name, self.known, self.random = name, list[bytes](), Random(seed)
        self.first = len(known)
        self._parts, self._paths = list[Parts | None](), list[list[tuple[Any, ...]]]()
        for data in known:
            self.add(data)

    def add(self, data: bytes) -> None:
        """Mutate this one, too, from now on."""
        self.known.append(data)
        parts = taken_apart(data) if self.name == "models" else None
        self._parts.append(parts)
        self._paths.append([] if parts is None else [*places(parts.header)])

    def __call__(self) -> bytes:
        random = self.random
        k = random.randrange(len(self.known) if random.randrange(2) else self.first)
        data = self.known[k]
        if self.name == "models":
            return mutated_model(random, data, self._parts[k], self._paths[k], self.known)
        way = data[:1] if random.randrange(8) else random.randbytes(1)
        format = running.READERS[self.name].format
        if self.name in running.COMPRESS:
            return way + self._compressed(data[1:], TOKENS[format])
        return way + mutated(random, data[1:], self.known, TOKENS.get(format, ()))

    def _compressed(self, data: bytes, tokens: list[bytes]) -> bytes:
        """Text that is mutated and then compressed, or mutated as it stands."""
        if self.random.randrange(2):
            try:
                text = DECOMPRESS[self.name](data)
            except Exception:  # whatever it is, these bytes were mutated before
                text = b""
            if text:
                return running.COMPRESS[self.name](mutated(self.random, text, [text], tokens))
        return mutated(self.random, data, self.known)


def taken_apart(data: bytes) -> Parts | None:
    """The parts of a model file; None where it is damaged, or its header is."""
    try:
        parts = parts_of(data)
    except Exception:  # whatever it is, these bytes were mutated before
        return None
    return parts if isinstance(parts.header, dict) and parts.header else None


def fuzz(board: Any, send: Any, first: int, name: str, inputs: int, seed: int, kept: list[bytes]) -> None:
    """Try inputs up to number `inputs`, beginning with seeds and others; sends progress, failures, inputs to keep."""
    known = [*seeds_of(name), *kept]
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    seen, make = Seen(), Maker(name, known, seed * 1_000_003 + first)
    with tempfile.TemporaryDirectory(dir=running.scratch()) as folder, running.user(name, Path(folder)) as use:
        for data in known:
            board.write(-2, data)
            attempt(seen, use, data, True)
        counts, slowest, since = Counter[str](), 0.0, time.perf_counter()
        for number in range(first, inputs):
            data = make()
            board.write(number, data)
            start = time.perf_counter()
            what, new = attempt(seen, use, data, number % SHARE == 0)
            now = time.perf_counter()
            counts[what if what in WHAT else "failed"] += 1
            slowest = max(slowest, now - start)
            if what not in WHAT:
                send(Failure(number, data, what))
            if new and len(data) <= LARGEST:
                make.add(data)
                send(Kept(data))
            if now - since > OFTEN or number == inputs - 1:
                peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
                send(Progress(dict(counts), slowest, peak, now - since))
                counts, since = Counter[str](), now


def replay(board: Any, send: Any, first: int, known: list[tuple[str, bytes]]) -> None:
    """Try inputs of readers from number `first` on; sends failures, then how many were answered and refused."""
    warnings.simplefilter("ignore")
    seen, counts = Seen(), Counter[str]()
    with tempfile.TemporaryDirectory(dir=running.scratch()) as folder:
        for number in range(first, len(known)):
            name, data = known[number]
            board.write(number, data)
            with running.user(name, Path(folder)) as use:
                what, _ = attempt(seen, use, data, False)
            counts[what if what in WHAT else "failed"] += 1
            if what not in WHAT:
                send(Failure(number, data, what))
    send(Progress(dict(counts), 0.0, 0, 0.0))


def minimised(board: Any, send: Any, first: int, name: str, known: list[bytes]) -> None:
    """Sends those inputs that together reach all that the seeds do not, small ones first."""
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    seen = Seen()
    with tempfile.TemporaryDirectory(dir=running.scratch()) as folder, running.user(name, Path(folder)) as use:
        for data in seeds_of(name):
            board.write(-2, data)
            attempt(seen, use, data, True)
        for number, data in enumerate(sorted(set(known), key=lambda data: (len(data), data))):
            if number >= first:
                board.write(number, data)
                if attempt(seen, use, data, True)[1]:
                    send(Kept(data))


WHAT = ("answered", "refused")


def attempt(seen: Seen, use: Callable[[bytes], str], data: bytes, traced: bool) -> tuple[str, bool]:
    """What came of an input, and whether it reached something new."""
    try:
        what, new = seen.traced(use, data) if traced else (use(data), False)
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:300], False
    end = running.last_end.trace if what.startswith("refused") else None
    new = (end is not None and seen.new_end(end)) or new
    running.last_end.trace = None
    return ("refused" if what.startswith("refused") else "answered"), new
