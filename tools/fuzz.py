"""Fuzz the readers of models and rows: `python tools/fuzz.py models libsvm csv ... --inputs 200000 [--seed 0]`.

Prints a table: what came of all inputs, how long the slowest took, and the peak of the memory. Whatever is neither an
answer nor one sentence is a failure; its bytes are kept in --keep FOLDER. The code is that of tests/fuzz/.
"""

import argparse
import hashlib
import resource
import sys
import tempfile
import time
import warnings
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.fuzz import running, seeds

READERS = {
    "libsvm": ("libsvm", lambda: seeds.LIBSVM),
    "csv": ("csv", lambda: seeds.CSV),
    "csv-python": ("csv", lambda: seeds.CSV),  # without pyarrow
    "parquet": ("parquet", seeds.parquet_files),
    "arrow": ("arrow", seeds.arrow_files),
}


def found_in(target: str, inputs: int, seed: int) -> running.Found:
    """Fuzz one reader, after a few inputs that compile what it needs."""
    if target == "models":
        files = seeds.model_files()
        assert {running.load(data) for data in files} == {"loaded"}
        return running.fuzz_models(files, inputs, seed, keep_going=True)
    format, make = READERS[target]
    without = mock.patch("onkel.streams.arrow.has_pyarrow", return_value=target == "csv")
    with tempfile.TemporaryDirectory() as folder, without:
        running.fuzz_reader(folder, format, make(), 50, seed + 1, keep_going=True)
        return running.fuzz_reader(folder, format, make(), inputs, seed, keep_going=True)


def line(target: str, inputs: int, found: running.Found, seconds: float) -> str:
    """A line of the table."""
    counts, peak = found.counts, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    refused = counts["refused in a sentence"] + counts["refused as damaged"]
    figures = f"{inputs:,} | {counts['loaded'] + counts['read']:,} | {refused:,} | {counts['FAILED']}"
    return f"| {target} | {figures} | {1e3 * found.slowest:.0f} ms | {1e3 * seconds / inputs:.1f} ms | {peak} MB |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="+", choices=["models", *READERS])
    parser.add_argument("--inputs", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="folder for inputs that failed")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    failed = 0
    print("| reader | inputs | answered | refused | failed | slowest | each | peak memory |")
    print("|---" * 8 + "|")
    for target in options.targets:
        start = time.perf_counter()
        found = found_in(target, options.inputs, options.seed)
        print(line(target, options.inputs, found, time.perf_counter() - start), flush=True)
        failed += len(found.failures)
        for data, what in found.failures:
            print(f"{target}: {what}", file=sys.stderr)
            if options.keep:
                (options.keep / f"{target}-{hashlib.sha256(data).hexdigest()[:12]}").write_bytes(data)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
