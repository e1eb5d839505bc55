"""Hand bytes to our readers, and note whatever is neither an answer nor one sentence."""

import bz2
import contextlib
import gzip
import io
import lzma
import re
from collections import deque
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import zstandard

from onkel.apps.cli.checkpoints import Place, unpacked_rows, whole
from onkel.apps.report.history import History
from onkel.evaluation.prequential import Tally
from onkel.files import snapshot
from onkel.files.model_file import restored
from onkel.files.snapshot import DAMAGE, SnapshotError
from onkel.streams import StreamError, open_stream
from onkel.streams.table import Known

OF_THE_WHOLE_FILE = (  # what is wrong with no line in particular
    "the file is empty", "the compressed file", "there are no rows in it", "no row has a feature", "no column",
    "column ", "there are no columns", "LIBSVM text has no columns",
    "this is no Parquet file that can be read", "this is no Arrow file that can be read", "there is only one column",
    "there is no column", "there are two columns", "a column is chosen twice", "its labels are",
)  # fmt: skip
TABLE: list[dict[str, Any]] = [  # how a table is read; the first byte of an input says which
    {}, {"missing": "mean"}, {"missing": "zero", "on_error": "skip"}, {"categorical": [0]}, {"label": 0},
    {"categorical": {1: "onehot"}, "missing": "mean"}, {"categorical": {0: "hash"}, "hash_columns": 4},
    {"label": "y", "drop": [0]}, {"on_error": "skip", "block_rows": 2}, {"label": None, "known": Known(labels=False)},
]  # fmt: skip
LIBSVM: list[dict[str, Any]] = [{}, {"on_error": "skip"}, {"grows": True, "block_rows": 2}, {"n_features": 5}]
COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "gz": lambda data: gzip.compress(data, 1, mtime=0),
    "bz2": lambda data: bz2.compress(data, 1),
    "xz": lambda data: lzma.compress(data, preset=0),
    "zst": zstandard.ZstdCompressor(1).compress,
}


class End:
    """Where the last input that was refused came to its end."""

    trace: TracebackType | None = None


last_end = End()


class Reader(NamedTuple):
    """How the bytes of an input are used."""

    format: str = ""
    options: tuple[dict[str, Any], ...] = ({},)
    ending: str = ""
    pyarrow: bool = True


READERS = {
    "models": Reader(),
    "libsvm": Reader("libsvm", (*LIBSVM,)),
    "csv": Reader("csv", (*TABLE,)),
    "csv-python": Reader("csv", (*TABLE,), pyarrow=False),
    "parquet": Reader("parquet", (*TABLE,)),
    "arrow": Reader("arrow", (*TABLE,)),
    **{ending: Reader("libsvm", (*LIBSVM,), f".{ending}") for ending in COMPRESS},
}


def load(data: bytes) -> str:
    """Load a model from bytes, score two rows and learn them, go on with its checkpoint; what came of it."""
    try:
        found = restored(snapshot.read_from(io.BytesIO(data)))
        if "progress" in found.extra:
            with whole("a file"):
                go_on(found)
    except MemoryError:
        raise
    except SnapshotError as error:
        last_end.trace = error.__traceback__
        return told(str(error))
    except DAMAGE as error:
        last_end.trace = error.__traceback__
        return "refused as damaged"
    online, answers = found.online, found.answers
    width = online.setting.n_features
    if width <= 64:
        rows, targets = np.linspace(0.0, 2.0, 2 * width).reshape(2, width), np.array([1.0, 1.0])
        scores = online.score(rows)
        assert np.isfinite(scores).all()
        if online.task == "regression":
            bounds = answers.intervals(scores)
            assert not np.isnan(bounds).any()
            assert (bounds[:, 0] <= bounds[:, 1]).all()
        else:
            assert np.abs(answers.probabilities(scores).sum(axis=1) - 1.0).max() < 1e-9
        assert np.isfinite(online.learn(rows, targets)).all()
        answers.follow(targets, None, scores)
        assert np.isfinite(online.score(rows)).all()
    return "loaded"


def go_on(found: Any) -> None:
    """What `onkel run --resume` does with a checkpoint before it reads rows."""
    progress = found.extra["progress"]
    Place(*progress["place"])
    Tally(found.answers).restore(progress["tally"])
    deque(unpacked_rows(progress["waiting"]))
    if progress["history"] is not None:
        History(found.online).restore(progress["history"])


def read(path: Path, reader: Reader, options: dict[str, Any]) -> str:
    """Read all rows of a file; what came of it."""
    try:
        rows, labelled = 0, "known" not in options
        for block in open_stream(path, format=reader.format, **options):
            numbers = block.rows.data if hasattr(block.rows, "indptr") else block.rows
            assert np.isfinite(numbers).all() or (not labelled and not np.isinf(numbers).any())
            rows += len(block.labels)
        assert rows > 0
        return "read"
    except StreamError as error:
        where, _, what = str(error).partition(": ")
        in_a_line = re.fullmatch(rf"{re.escape(str(path))}, (line|row) \d+", where)
        if not in_a_line and not (where == str(path) and what.startswith(OF_THE_WHOLE_FILE)):
            raise AssertionError(f"It does not say where: {error}") from None
        last_end.trace = error.__traceback__
        return told(str(error))


def told(sentence: str) -> str:
    """What a refusal is, if it is one sentence."""
    if "\n" in sentence or not sentence.endswith("."):
        raise AssertionError(f"This is no sentence: {sentence}")
    return "refused in a sentence"


@contextlib.contextmanager
def user(name: str, folder: Path) -> Iterator[Callable[[bytes], str]]:
    """What takes an input of a reader and says what came of it; raises where that is neither answer nor sentence."""
    reader = READERS[name]
    if name == "models":
        yield load
        return
    path = folder / f"fuzzed.{reader.format}{reader.ending}"

    def use(data: bytes) -> str:
        path.write_bytes(data[1:])
        return read(path, reader, reader.options[data[0] % len(reader.options)] if data else {})

    with mock.patch("onkel.streams.arrow.has_pyarrow", return_value=reader.pyarrow):
        yield use


@lru_cache
def scratch() -> Path | None:
    """A folder in memory, where there is one."""
    shared = Path("/dev/shm")
    return shared if shared.is_dir() else None
