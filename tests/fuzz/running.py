"""Hand mutated bytes to our readers, and note whatever is neither an answer nor one sentence."""

import io
import re
import signal
import time
import warnings
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from onkel import snapshot
from onkel.snapshot import DAMAGE, SnapshotError
from onkel.stored import restored
from onkel.streams import StreamError, open_stream
from tests.fuzz.mutations import mutated, mutated_model

LONGEST = 10  # seconds for one input
TOKENS = {
    "libsvm": [
        b" ", b"\n", b"1:", b":", b"-1 ", b"+1 ", b"#", b"qid:1 ", b"1e999", b"nan", b"0x1p3", b"9" * 40, b"\r\n", b"-",
        b"4294967296:1 ", b"2147483647:1 ", b"0:1 ", b"\t", b"\xef\xbb\xbf", b"\0", b"1:1:1", b"1_0", b".",
    ],
    "csv": [
        b",", b"\n", b'"', b'""', b"\r\n", b"\r", b"nan", b"inf", b"1e999", b";", b"\xff", b"\xef\xbb\xbf", b" ", b"\t",
        b"x", b'"\n"', b",,", b"0x10", b"1_0", b"\0", b"-", b"\xe2\x88\x921", b"'",
    ],
    "parquet": [],
    "arrow": [],
}  # fmt: skip
OF_THE_WHOLE_FILE = (  # what is wrong with no line in particular
    "the file is empty", "the compressed file", "there are no rows in it", "no row has a feature", "no column",
    "column ",
    "this is no Parquet file that can be read", "this is no Arrow file that can be read", "there is only one column",
    "there is no column", "there are two columns", "a column is chosen twice", "its labels are",
)  # fmt: skip


class Found(NamedTuple):
    """What came of all inputs."""

    counts: Counter[str]
    failures: list[tuple[bytes, str]]
    slowest: float  # seconds


@contextmanager
def at_most(seconds):
    """Break off what takes longer, as an error that nobody expects."""

    def late(*_: Any):
        raise TimeoutError(f"more than {seconds} seconds")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def load(data):
    """Load a model from bytes, score two rows and learn them; what came of it."""
    try:
        online, *_ = restored(snapshot.read_from(io.BytesIO(data)))
    except MemoryError:
        raise
    except SnapshotError as error:
        return told(str(error))
    except DAMAGE:
        return "refused as damaged"
    width = online.setting.n_features
    if width <= 64:
        rows, targets = np.linspace(0.0, 2.0, 2 * width).reshape(2, width), np.array([1.0, 1.0])
        assert np.isfinite(online.score(rows)).all()
        assert np.isfinite(online.learn(rows, targets)).all()
        assert np.isfinite(online.score(rows)).all()
    return "loaded"


def read(path, format):
    """Read all rows of a file; what came of it."""
    try:
        rows = 0
        for block in open_stream(path, format=format):
            numbers = block.rows.data if hasattr(block.rows, "indptr") else block.rows
            assert np.isfinite(numbers).all()
            rows += len(block.labels)
        assert rows > 0
        return "read"
    except StreamError as error:
        place, _, what = str(error).partition(": ")
        in_a_line = re.fullmatch(rf"{re.escape(str(path))}, (line|row) \d+", place)
        if not in_a_line and not (place == str(path) and what.startswith(OF_THE_WHOLE_FILE)):
            raise AssertionError(f"It does not say where: {error}") from None
        return told(str(error))


def told(sentence):
    """What a refusal is, if it is one sentence."""
    if "\n" in sentence or not sentence.endswith("."):
        raise AssertionError(f"This is no sentence: {sentence}")
    return "refused in a sentence"


def fuzz(make, use, inputs, seed=0, keep_going=False):
    """Use inputs that `make` makes of random numbers; an unexpected error is kept with its input, or raised."""
    random, found, slowest = np.random.default_rng(seed), Counter[str](), 0.0
    failures = list[tuple[bytes, str]]()
    for _ in range(inputs):
        data = make(random)
        start = time.perf_counter()
        try:
            with at_most(LONGEST), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found[use(data)] += 1
        except Exception as error:
            if not keep_going:
                raise
            found["FAILED"] += 1
            failures.append((data, repr(error)))
        slowest = max(slowest, time.perf_counter() - start)
    return Found(found, failures, slowest)


def fuzz_models(seeds, inputs, seed=0, keep_going=False):
    """Mutated model files."""

    def make(random):
        return mutated_model(random, seeds[int(random.integers(len(seeds)))], seeds)

    return fuzz(make, load, inputs, seed, keep_going)


def fuzz_reader(folder, format, seeds, inputs, seed=0, keep_going=False):
    """Mutated files of one format."""
    path = Path(folder) / f"fuzzed.{format}"

    def make(random):
        return mutated(random, seeds[int(random.integers(len(seeds)))], seeds, TOKENS[format])

    def use(data):
        path.write_bytes(data)
        return read(path, format)

    return fuzz(make, use, inputs, seed, keep_going)
