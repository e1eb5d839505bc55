"""Write tests/golden/german.npz: the numbers of the authors' runs on german, out of the folder that has all traces.

python tools/make_trace.py ../shared/spec/golden
"""

import csv
import sys
from pathlib import Path

import numpy as np

TARGET = Path(__file__).parents[1] / "tests" / "golden" / "german.npz"
NORMALS, UNIFORMS = 24 * 400, 1000  # as many as the largest run takes of the streams of random numbers
WHOLE = np.int8, np.uint8, np.int16


def main() -> None:
    """Read the text files, keep what german needs, each array in the smallest type that holds it exactly."""
    source = Path(sys.argv[1])
    names = [path.name for path in sorted(source.glob("binary_german_*_run1_*.txt"))]
    numbers = {name: np.loadtxt(source / name, ndmin=1) for name in [*names, "german_data.txt", "german_perms.txt"]}
    for kind, count in (("normal", NORMALS), ("uniform", UNIFORMS)):
        numbers[f"german_{kind}.txt"] = np.loadtxt(source / f"stream_{kind}.txt", max_rows=count)
    for path in sorted(source.glob("binary_german_*.csv")):
        with open(path) as file:
            lines = [[line[key] for key in ("run", "algorithm", "mistakes", "n_sv")] for line in csv.DictReader(file)]
        numbers[path.name] = np.array(lines)
    np.savez_compressed(TARGET, **{name: smallest(array) for name, array in numbers.items()})  # type: ignore[arg-type]


def smallest(array: np.ndarray) -> np.ndarray:
    """The same numbers in fewer bytes, where they are whole."""
    if array.dtype.kind != "f":
        return array
    return next((array.astype(kind) for kind in WHOLE if np.array_equal(array.astype(kind), array)), array)


if __name__ == "__main__":
    main()
