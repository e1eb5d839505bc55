"""Two cores: how many times as fast threads are, in wall-clock time, on a machine that does nothing else.

``python -m benchmarks cores [--quick]``. ``ONKEL_THREADS`` says how many threads are used; results do not depend on it.
"""

from benchmarks.timing import table  # isort: skip (sets the number of threads before NumPy is imported)

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from statistics import median
from time import perf_counter

import numpy as np

from benchmarks.machine import fma_loop
from benchmarks.scaling import rows
from onkel import FeatureMapTransformer, KernelClassifier
from onkel.core.rows import pack
from onkel.core.threads import workers
from onkel.evaluation.prequential import over_permutations
from onkel.pieces.maps.growing import trees
from onkel.pieces.maps.indexing import index_map
from onkel.recipes import fogd, make_learner, raker, rbp


def contest(n: int) -> dict[str, Callable[[], object]]:
    """What runs in threads, on n rows."""
    X, y = rows(n, 22, 2)
    sampler = FeatureMapTransformer(n_frequencies=400, gamma=0.05).fit(X[:10])
    block, made = pack(X, np.float32), trees(X[:4096], 100, 256, None, np.float32, 0)
    fitted = {name: KernelClassifier(make_learner(name)).fit(X[:4096], y[:4096]) for name in ("auto", "nogd", "rbp")}
    experts, orders = (
        raker(n_frequencies=100).start(22, "regression"),
        [np.random.default_rng(k).permutation(n) for k in (0, 1)],
    )
    small = fogd(n_frequencies=100, gamma=0.05).start(22)
    small.learn(X, y)
    few, more = X[:1024], X[:4096]
    return {
        "block map, Fourier D = 400": lambda: sampler.transform(X),
        "block map, trees t = 100": lambda: index_map(made, block),
        **{f"predict, {name}": lambda model=model: model.predict(X) for name, model in fitted.items()},
        "raker, three experts": lambda: experts.learn(X, y),
        "raker, scores": lambda: experts.score(X),
        "permutations, rbp": lambda: over_permutations(rbp(budget=200, gamma=0.05), X, y, orders),
        "score, fogd D = 100, 1,024 rows": lambda: small.score(few),
        "score, fogd D = 100, 4,096 rows": lambda: small.score(more),
    }  # fmt: skip


def wall(run: Callable[[], object], threads: int) -> float:
    os.environ["ONKEL_THREADS"] = str(threads)
    run()  # or the first in line, one thread, would also pay for what the loop of multiply-adds left in the caches
    start = perf_counter()
    run()
    return perf_counter() - start


def machine(threads: int) -> Callable[[int], float]:
    """What the machine itself does: wall-clock time of a loop of multiply-adds in each of so many threads."""
    loops = [fma_loop(np.dtype(np.float32), 5_000)[0] for _ in range(threads)]
    pool = ThreadPoolExecutor(threads)

    def seconds(count: int) -> float:
        start = perf_counter()
        helpers = [pool.submit(loop) for loop in loops[1:count]]
        loops[0]()  # this thread takes part, as it does in `onkel.core.threads`
        wait(helpers)
        return perf_counter() - start

    return seconds


def main(quick: bool = False) -> None:
    os.environ.pop("ONKEL_THREADS", None)
    many, lines = workers(), list[list[str]]()
    limit = machine(many)
    for name, run in contest(5_000 if quick else 40_000).items():
        limit(1), limit(many)  # compiled code, threads
        times = [(wall(run, 1), wall(run, many), limit(1), limit(many)) for _ in range(4 if quick else 25)]
        one, several, *_ = (median(column) for column in zip(*times, strict=True))
        faster = median(own / shared for own, shared, *_ in times)  # of neighbours, on a machine that changes its pace
        most = median(many * alone / together for *_, alone, together in times)
        lines.append([name, f"{1e3 * one:.2f}", f"{1e3 * several:.2f}", f"{faster:.2f}", f"{most:.2f}"])
    os.environ.pop("ONKEL_THREADS", None)
    header = ["", "ms, one", f"ms, {many}", "times as fast", "multiply-adds in the same seconds"]
    table(f"{many} threads against one, wall-clock", header, lines)
