"""Fuzz the readers of models and rows: `python tools/fuzz.py models rows --inputs 2000000 [--record FILE]`.

A child process does the work; what it does not survive is a failure, and another child goes on. Inputs that reach
lines, pairs of lines or ends that none before did are mutated further, and with --corpus kept in tests/fuzz/corpus/.
`rows` stands for all readers of rows, which share the inputs. With --record, runs add up in a file as long as the code
under test is the same. The code is that of tests/fuzz/.
"""

import argparse
import hashlib
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.fuzz import fuzzing, record
from tests.fuzz.corpus import corpus, write_corpus
from tests.fuzz.running import READERS
from tests.fuzz.surviving import Lost, surviving

ROWS = tuple(name for name in READERS if name != "models")
MEMORY = 3 << 30  # bytes beyond which a child may not go
BETWEEN = 20.0  # seconds after which figures are written down


class Run:
    """One reader: figures of this run, and what was found."""

    def __init__(self, name: str, inputs: int, seed: int, path: Path | None) -> None:
        self.name, self.inputs, self.seed, self.path = name, inputs, seed, path
        self.kept, self.failures = corpus(name), list[tuple[bytes, str]]()
        self.counts, self.slowest, self.peak, self.seconds = Counter[str](), 0.0, 0, 0.0
        self._written, self._at, self._since = Counter[str](), time.monotonic(), 0.0

    def __call__(self) -> None:
        """Try all inputs."""
        for found in surviving(fuzzing.fuzz, self._given, memory=MEMORY):
            if isinstance(found, fuzzing.Kept):
                self.kept.append(found.data)
            elif isinstance(found, fuzzing.Progress):
                self.counts.update(found.counts)
                self.seconds += found.seconds
                self.slowest, self.peak = max(self.slowest, found.slowest), max(self.peak, found.peak)
                self._write(time.monotonic() - self._at > BETWEEN)
            else:
                what = found.how if isinstance(found, Lost) else found.what
                self.counts["failed"] += isinstance(found, Lost)
                self.failures.append((found.data, what))
                print(f"{self.name}, input {found.number}: {what}", file=sys.stderr, flush=True)
        self._write(True)

    def _given(self) -> tuple[str, int, int, list[bytes]]:
        return self.name, self.inputs, self.seed, self.kept

    def _write(self, due: bool) -> None:
        if self.path is not None and due:
            new = self.counts - self._written
            record.add_to(self.path, self.name, new, self.slowest, self.peak, self.seconds - self._since)
            self._written, self._at, self._since = Counter(self.counts), time.monotonic(), self.seconds

    def smaller_corpus(self) -> int:
        """Write what reaches more than the seeds do; returns how many inputs these are."""
        found = surviving(fuzzing.minimised, lambda: (self.name, self.kept), memory=MEMORY)
        return write_corpus(self.name, [one.data for one in found if isinstance(one, fuzzing.Kept)])

    def line(self) -> str:
        """A line of the table."""
        counts, n = self.counts, max(1, sum(self.counts.values()))
        figures = f"{n:,} | {counts['answered']:,} | {counts['refused']:,} | {counts['failed']:,}"
        times = f"{1e3 * self.slowest:.0f} ms | {n / max(self.seconds, 1e-9):,.0f}"
        return f"| {self.name} | {figures} | {times} | {self.peak} MB | {len(self.kept)} |"


def shared_out(targets: list[str], inputs: int) -> Iterator[tuple[str, int]]:
    """Readers, and how many inputs each gets."""
    for target in targets:
        names = ROWS if target == "rows" else (target,)
        for k, name in enumerate(names):
            yield name, inputs // len(names) + (k < inputs % len(names))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="+", choices=["rows", *READERS])
    parser.add_argument("--inputs", type=int, default=200_000)
    parser.add_argument("--seed", type=int, help="by default the number of inputs that are recorded")
    parser.add_argument("--record", type=Path, help="file in which figures of several runs add up")
    parser.add_argument("--corpus", action="store_true", help="keep what reaches something new")
    parser.add_argument("--keep", type=Path, help="folder for inputs that failed")
    options = parser.parse_args()
    known, said = record.recorded(options.record)
    print(f"Code under test: {known['digest']}, {len(record.files_under_test())} files. {said}".rstrip())
    print("| reader | inputs | answered | refused | failed | slowest | inputs/s | peak memory | corpus |")
    print("|---" * 9 + "|", flush=True)
    failed = 0
    for name, inputs in shared_out(options.targets, options.inputs):
        before = known["readers"].get(name, {"inputs": 0})["inputs"]
        run = Run(name, inputs, before if options.seed is None else options.seed, options.record)
        run()
        print(run.line(), flush=True)
        if options.corpus:
            print(f"{name}: {run.smaller_corpus()} inputs are kept.", flush=True)
        failed += len(run.failures)
        for data, _ in run.failures if options.keep else []:
            options.keep.mkdir(parents=True, exist_ok=True)
            (options.keep / f"{name}-{hashlib.sha256(data).hexdigest()[:12]}").write_bytes(data)
    if options.record:
        total = record.recorded(options.record)[0]["readers"]
        for name, own in sorted(total.items()):
            print(f"{name}: {own['inputs']:,} inputs so far, {own['failed']:,} failed.")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
