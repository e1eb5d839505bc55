"""How time per row and memory grow: with each size that a learner has, and with the rows that it has seen.

``python -m benchmarks scaling [--quick]``. Exponents are fitted to the larger half of the sizes: 1 is proportional, 0
is flat. What is constant per row makes them smaller than promised, never larger.
"""

from benchmarks.timing import interleaved, table  # isort: skip (sets the number of threads before NumPy is imported)

import resource
import sys
from collections.abc import Callable
from statistics import median
from time import process_time
from typing import Any, NamedTuple

import numpy as np

from onkel.recipes import make_learner

D_IN = 22
ROWS_SEEN = ("auto", "fogd", "rrf", "nogd", "rbp", "projectron", "bsgd_m", "dual_sgd", "ik_ogd", "raker", "ada_raker")
CHUNK = 4096


class Growth(NamedTuple):
    """A size that varies: its values, the learner for each, the shape of its rows, and the exponent promised."""

    name: str
    sizes: tuple[int, ...]
    make: Callable[[int], Any]
    features: Callable[[int], int] = lambda _: D_IN
    classes: Callable[[int], int] = lambda _: 2
    promised: float = 1.0


def isolated(partition: str, t: int, psi: int) -> Any:
    return make_learner("ik_ogd", partition=partition, t=t, psi=psi, sample=2048)


GROWTHS = (
    Growth("fogd: D", (100, 200, 400, 800, 1600, 3200), lambda D: make_learner("fogd", n_frequencies=D, gamma=0.05)),
    Growth("fogd: d", (16, 32, 64, 128, 256, 512), lambda d: make_learner("fogd", gamma=1.0 / d), features=lambda d: d),
    Growth("rrf: D", (100, 200, 400, 800, 1600), lambda D: make_learner("rrf", n_frequencies=D)),
    Growth("rbp: B", (100, 200, 400, 800, 1600), lambda B: make_learner("rbp", budget=B, gamma=0.05)),
    Growth("nogd: B", (50, 100, 200, 400), lambda B: make_learner("nogd", budget=B, rank=B // 5, gamma=0.05)),
    Growth(
        "projectron: B", (50, 100, 200, 400), lambda B: make_learner("projectron", budget=B, gamma=0.05, guard=0.0),
        promised=2.0,
    ),
    Growth("ik_ogd, trees: t", (25, 50, 100, 200, 400), lambda t: isolated("trees", t, 64)),
    Growth("ik_ogd, trees: psi", (16, 64, 256, 1024), lambda psi: isolated("trees", 100, psi), promised=0.5),
    Growth("ik_ogd, cells: psi", (16, 64, 256, 1024), lambda psi: isolated("cells", 100, psi)),
    Growth(
        "bkm: S", (10, 20, 40, 80), lambda S: make_learner("bkm", n_particles=S, n_frequencies=100, batch=50),
        promised=2.0,  # once per batch each particle looks at each other
    ),
    Growth(
        "fogd: classes", (3, 6, 12, 24, 48), lambda _: make_learner("fogd", n_frequencies=400, gamma=0.05),
        classes=lambda K: K,
    ),
)  # fmt: skip


def rows(n: int, d: int, K: int, seed: int = 0) -> tuple[Any, Any]:
    """Rows and targets; a fifth of the labels is noise, so that there is always something to learn."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).astype(np.float32)
    kinds = (np.floor(2.0 * np.abs(X[:, 0] * X[:, 1] + X[:, 2])) % K).astype(np.int64)
    kinds = np.where(rng.random(n) < 0.2, rng.integers(K, size=n), kinds)
    return X, kinds.astype(float) if K > 2 else 2.0 * kinds - 1.0


def at_work(growth: Growth, size: int, n: int) -> Callable[[], object]:
    """A run over n rows with a learner that has seen enough to be as large as it gets."""
    d, K = growth.features(size), growth.classes(size)
    X, y = rows(8_000, d, K)
    online = growth.make(size).start(d, "multiclass" if K > 2 else "binary", K if K > 2 else 1)
    online.learn(X, y)
    Z, z = rows(n, d, K, seed=1)
    return lambda: online.learn(Z, z)


def exponent(sizes: Any, times: Any) -> float:
    """Slope of the logarithms over the larger half of the sizes."""
    last = len(sizes) // 2 + 1
    return float(np.polyfit(np.log(sizes[-last:]), np.log(times[-last:]), 1)[0])


def with_size(quick: bool) -> None:
    lines = []
    for growth in GROWTHS:
        sizes = growth.sizes[:3] if quick else growth.sizes
        n = 500 if quick else 1_000
        runs = {str(size): at_work(growth, size, n) for size in sizes}
        found = interleaved(runs, 3 if quick else 7)
        times = [found[str(size)] / n for size in sizes]
        grown = " ".join(f"{1e6 * time:.3g}" for time in times)
        fitted, promised = f"{exponent(sizes, times):.2f}", f"{growth.promised:g}"
        lines.append([growth.name, ", ".join(map(str, sizes)), grown, fitted, promised])
    header = ["", "sizes", "microseconds per row", "exponent", "at most"]
    table("Time per row against the sizes of a learner, float32, one core", header, lines)


def with_rows(quick: bool) -> None:
    """Time per row and memory in the course of a long stream, as ratios to the first of four parts of it."""
    total, lines = 100_000 if quick else 1_000_000, []
    parts = total // 4
    for name in ROWS_SEEN:
        online = make_learner(name).start(D_IN)
        online.learn(*rows(CHUNK, D_IN, 2, seed=999))
        times: list[list[float]] = [[] for _ in range(4)]
        held = []
        for part in range(4):
            for start in range(0, parts, CHUNK):
                X, y = rows(CHUNK, D_IN, 2, seed=1000 + part * parts + start)
                clock = process_time()
                online.learn(X, y)
                times[part].append(process_time() - clock)
            held.append(numbers_of(online.model))
        per_row = [median(part) / CHUNK for part in times]
        relative = " ".join(f"{time / per_row[0]:.2f}" for time in per_row)
        memory = " ".join(f"{size / held[0]:.2f}" for size in held)
        lines.append([name, f"{1e6 * per_row[0]:.3g}", relative, memory, f"{held[-1] / 1e6:.2f}"])
    header = ["", "microseconds per row", "time, four parts", "memory, four parts", "MB of the model"]
    table(f"Time and memory against rows seen, {total:,} rows, d = {D_IN}", header, lines)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform != "darwin" else 1024**2)
    print(f"Largest memory of the whole process: {peak:,.0f} MB.")


def numbers_of(model: Any) -> int:
    """Bytes of all arrays of a model, each once."""
    found: dict[int, int] = {}

    def visit(part: Any) -> None:
        if isinstance(part, np.ndarray):
            found[id(part)] = part.nbytes
        elif isinstance(part, tuple | list):
            for inner in part:
                visit(inner)

    visit(model)
    return sum(found.values())


def main(quick: bool = False) -> None:
    with_size(quick)
    with_rows(quick)
