"""Each trick of `onkel.core.numba_internals` beside the plain way that is taken where it alone is left out.

A ratio is how many times as long the plain way takes. Compile time and start-up are those of fresh processes, one with
the trick and one without it in turns; for learning, two processes live side by side and learn in turns.
"""

from benchmarks.timing import table  # isort: skip (sets the number of threads before NumPy is imported)

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

ENOUGH = 1.3  # a trick that gains less has to have another reason
COLLECTED = "collected"  # what ONKEL_PLAIN does not know: garbage is collected while compiling
TRICKS = {
    "pipeline": "pipeline: parts are compiled once",
    "borrowing": "borrowing: no reference counts",
    "code_files": "code_files: files of our own",
    "row_call": "row_call: a row is a call of C",
    COLLECTED: "no garbage collected while compiling",
    "1": "all of numba_internals",
}


def first(learner: str) -> float:
    """CPU seconds of this process until a block is learned."""
    _ready(learner, 5)
    return process_time()


def first_row(learner: str) -> float:
    """CPU seconds of a first row alone, once all else is there."""
    online, X, y = _ready(learner, 5)
    start = process_time()
    online.learn_one(X[0], y[0])
    return process_time() - start


def _ready(learner: str, d: int, **parameters: Any) -> tuple[Any, Any, Any]:
    """A learner that has learned some rows, and rows."""
    import numpy as np

    from onkel.recipes import make_learner

    X = np.random.default_rng(0).normal(size=(2_000, d)).astype(np.float32)
    y = np.where(X[:, 0] * X[:, 1] + 0.5 * X[:, 2] > 0, 1.0, -1.0)
    width = {} if learner == "auto" else {"gamma": 0.1}
    online = make_learner(learner, **width, **parameters).start(d)
    online.learn(X[:1000], y[:1000])
    return online, X, y


def blocks(learner: str, **parameters: Any) -> Callable[[], object]:
    online, X, y = _ready(learner, 22, **parameters)
    return lambda: online.learn(X, y)


def rows(learner: str, method: str, **parameters: Any) -> Callable[[], object]:
    online, X, y = _ready(learner, 22, **parameters)
    act = getattr(online, method)
    columns = (list(X), y.tolist()) if method == "learn_one" else (list(X),)
    return lambda: [act(*cells) for cells in zip(*columns, strict=True)]


RUNS: dict[str, Callable[[], Callable[[], object]]] = {
    "fogd, blocks": lambda: blocks("fogd", n_frequencies=400),
    "rbp, blocks": lambda: blocks("rbp", budget=100),
    "auto, blocks": lambda: blocks("auto"),
    "learn_one": lambda: rows("fogd", "learn_one", n_frequencies=100),
    "score_one": lambda: rows("fogd", "score_one", n_frequencies=100),
}


class Runner:
    """A process that learns when it is told to."""

    def __init__(self, name: str, plain: str, cache: str) -> None:
        command = [sys.executable, "-m", "benchmarks.tricks", "runs", name]
        self.process = subprocess.Popen(
            command,
            env=settings(plain, cache),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def seconds(self) -> float:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def end(self) -> None:
        self.process.communicate()


def settings(plain: str, cache: str) -> dict[str, str]:
    return {**os.environ, "ONKEL_PLAIN": plain, "ONKEL_CACHE": cache}


def once(what: str, learner: str, plain: str, cache: str) -> float:
    """What a fresh process measures."""
    command = [sys.executable, "-m", "benchmarks.tricks", what, learner]
    done = subprocess.run(command, env=settings(plain, cache), capture_output=True, text=True, check=True)
    return float(done.stdout)


def in_turns(trick: str, what: str, learner: str, repeats: int, compiled: bool) -> float:
    """The ratio for fresh processes, with code on disk or without."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for k in range(-1 if compiled else 0, repeats):  # the first of all only fills the cache
            times = [once(what, learner, plain, f"{folder}/{plain}{'' if compiled else k}") for plain in ("", trick)]
            found += [times[1] / times[0]] * (k >= 0)
    return median(found)


def side_by_side(trick: str, name: str, repeats: int, folder: Path) -> float:
    """The ratio for two processes that learn in turns."""
    pair = [Runner(name, plain, str(folder)) for plain in ("", trick)]
    for _ in range(2):
        for runner in pair:
            runner.seconds()  # compiled code, caches
    found = []
    for _ in range(repeats):
        usual, plain = (runner.seconds() for runner in pair)
        found.append(plain / usual)
    for runner in pair:
        runner.end()
    return median(found)


def ratios(trick: str, quick: bool, folder: Path) -> dict[str, float]:
    """All that a trick may gain."""
    repeats = 1 if quick else 3
    found = {"compile fogd": in_turns(trick, "first", "fogd", repeats, False)}
    if not quick:
        found["compile auto"] = in_turns(trick, "first", "auto", repeats, False)
    if trick == COLLECTED:
        return found
    found["start"] = in_turns(trick, "first", "fogd", 3 * repeats, True)
    found["first row"] = in_turns(trick, "first-row", "fogd", 3 * repeats, True)
    return {**found, **{name: side_by_side(trick, name, 7 * repeats, folder) for name in RUNS}}


def main(quick: bool = False) -> None:
    header = ["", "compile fogd", "compile auto", "start", "first row", *RUNS, "most"]
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        for trick, title in TRICKS.items():
            found = ratios(trick, quick, Path(folder))
            cells = [f"{found[name]:.2f}" if name in found else "" for name in header[1:-1]]
            lines.append([title, *cells, "" if max(found.values()) >= ENOUGH else f"below {ENOUGH}"])
    table("Tricks: times as long without one", header, lines)


def serve() -> None:
    """Be one of the processes."""
    what, name = sys.argv[1:]
    if COLLECTED in os.environ["ONKEL_PLAIN"]:
        from onkel.core import verbs

        verbs._uncollected = nullcontext
    if what == "runs":
        run = RUNS[name]()
        for _ in sys.stdin:
            start = process_time()
            run()
            print(process_time() - start, flush=True)
    else:
        print({"first": first, "first-row": first_row}[what](name))


if __name__ == "__main__":
    serve()
