"""Readers: megabytes per CPU-second, against the readers of scikit-learn and pyarrow on the same files."""

from benchmarks.timing import interleaved, table  # isort: skip (sets the number of threads before NumPy is imported)

import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from onkel.streams import ArrowFile, CsvFile, LibsvmFile, read_ahead

WIDTH = 20
BLOCK_ROWS = 4096


def write(folder: Path, n: int) -> dict[str, Path]:
    """The same numbers in every format; those of the last file stand between quoted texts."""
    random = np.random.default_rng(1)
    X = random.standard_normal((n, WIDTH)).round(5)
    y = (X[:, 0] * X[:, 1] > 0.0).astype(np.int64)
    columns: dict[str, Any] = {f"x{j}": X[:, j] for j in range(WIDTH)}
    colors = random.choice(["red", "green", "blue"], n)
    paths = {name: folder / f"{name}.{name}" for name in ("libsvm", "csv", "parquet")} | {"text": folder / "text.csv"}
    dump_svmlight_file(X, y, str(paths["libsvm"]), zero_based=False)
    csv.write_csv(pa.table(columns | {"y": y}), paths["csv"])
    csv.write_csv(pa.table({"color": colors} | columns | {"y": y}), paths["text"])
    parquet.write_table(pa.table(columns | {"y": y}), paths["parquet"])
    return paths


def exhaust(stream: Callable[[], Iterable[Any]]) -> Callable[[], None]:
    """Read all blocks and keep none."""

    def run() -> None:
        for _ in stream():
            pass

    return run


def arrays(batches: Iterable[Any]) -> Iterator[Any]:
    """Record batches as arrays of rows; a column of text is left as codes."""
    for batch in batches:
        columns = [c.dictionary_encode().indices if pa.types.is_string(c.type) else c for c in batch.columns]
        yield np.column_stack([column.to_numpy(zero_copy_only=False) for column in columns])


def contests(paths: dict[str, Path]) -> list[tuple[str, Path, dict[str, Callable[[], object]]]]:
    """What is read, and by whom: ours first."""
    one_thread = csv.ReadOptions(use_threads=False)

    def batches() -> Iterable[Any]:
        return parquet.ParquetFile(paths["parquet"]).iter_batches(BLOCK_ROWS, use_threads=False)

    libsvm = {
        "onkel": exhaust(lambda: LibsvmFile(paths["libsvm"], n_features=WIDTH, dense=False)),
        "load_svmlight_file": lambda: load_svmlight_file(str(paths["libsvm"])),
    }
    plain = {
        "onkel": exhaust(lambda: CsvFile(paths["csv"])),
        "onkel, read ahead": exhaust(lambda: read_ahead(CsvFile(paths["csv"]))),
        "open_csv": exhaust(lambda: arrays(csv.open_csv(paths["csv"], one_thread))),
    }
    text = {
        "onkel": exhaust(lambda: CsvFile(paths["text"], categorical={"color": ["blue", "green", "red"]})),
        "open_csv": exhaust(lambda: arrays(csv.open_csv(paths["text"], one_thread))),
    }
    arrow = {"onkel": exhaust(lambda: ArrowFile(paths["parquet"])), "iter_batches": exhaust(lambda: arrays(batches()))}
    return [
        ("LIBSVM", paths["libsvm"], libsvm),
        ("CSV", paths["csv"], plain),
        ("CSV with a one-hot column", paths["text"], text),
        ("Parquet", paths["parquet"], arrow),
    ]


def main(quick: bool = False) -> None:
    """Print one table; the ratio is the CPU time of ours to that of the other."""
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        for title, path, contestants in contests(write(Path(folder), 20_000 if quick else 200_000)):
            time = interleaved(contestants, 5 if quick else 9)
            size = path.stat().st_size / 1e6
            for name, seconds in time.items():
                ratio = f"{time['onkel'] / seconds:.2f}"
                lines.append([f"{title}: {name}", f"{size / seconds:.0f}", ratio])
    title = f"Readers, {WIDTH} columns, one core"
    table(title, ["", "MB per CPU-second", "time of onkel / time of this"], lines)
