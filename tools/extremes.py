"""Put extremes into every array and number of a model file of every recipe: `python tools/extremes.py [NAME ...]`.

All cases, in a child process that may crash; `tests/files/test_extremes.py` tries an evenly spread part of them.
Prints what failed, and a line of totals.
"""

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.files import extreme_files, extremes
from tests.fuzz.surviving import Lost, surviving


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="parts of the names of files; by default all files")
    parser.add_argument("--every", type=int, default=1, help="try every so many-th case")
    options = parser.parse_args()
    wanted = [name for name in extreme_files.names() if not options.names or any(w in name for w in options.names)]
    start, counts, failures = time.perf_counter(), Counter[str](), 0
    for found in surviving(extremes.try_all, lambda: (wanted, options.every), patience=20.0, memory=2 << 30):
        if isinstance(found, dict):
            counts.update(found)
        else:
            failures += 1
            place, what = (found.data.decode(), found.how) if isinstance(found, Lost) else found
            print(f"{place}: {what}", flush=True)
    total = sum(counts.values()) + failures - counts["FAILED"]
    figures = (
        f"{counts['works']:,} work, {counts['diverges']:,} diverge, {counts['refused']:,} refused, {failures:,} failed"
    )
    print(f"{len(wanted)} files, {total:,} cases: {figures}; {time.perf_counter() - start:.0f} s.")
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
