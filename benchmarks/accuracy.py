"""Accuracy: progressive error and rows per CPU-second beside other programs, on 22 real data sets.

``python -m benchmarks.accuracy [--quick] [--only NAME,NAME] [--no-trees] [--keep FILE] [--data FOLDER]`` prints the
tables; a run over all tasks also writes them to docs/accuracy.md. The peers come with ``pip install -e '.[peers]'``;
CapyMOA, which brings much with it and needs Java, is taken where it is installed.
"""

from benchmarks.timing import table  # isort: skip  # first: it sets the number of threads before NumPy is imported

import argparse
import json
import math
import platform
import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np

from benchmarks.datasets import FOLDER, NAMES, SHORT, Task, load
from benchmarks.peers import HIDDEN, PEERS, SOME, Run, repeated
from onkel.recipes import RECIPES, make_learner

OURS = [name for name in ("auto", "rrf", "fogd", "nogd") if name in RECIPES]
REPORT = Path(__file__).parents[1] / "docs" / "accuracy.md"
BLOCK = 4096
SCOPES = {"Against peers on raw data": False, "Against these, and peers on scaled data": True}
MOST, FEW = 100_000, 3_000  # rows of a task, and of one with --quick
NOTES = """\
Error is progressive: every row is predicted before it is learned. Classification: mistakes in percent; regression:
mean squared error on a range of 1, times 10,000. Rows are shuffled once with a fixed seed, except `elec2` and
`nycflights13`, which are streams and stay in their order; at most the first 100,000 count; features are raw.

`auto` has one setting for all data, our other learners are as they come; in regression these, and RBFSampler + SGD,
learn targets scaled to [0, 1]. RBFSampler + SGD gets features that are standardised as far as they are known, because
the width of its kernel would mean nothing on raw ones.
A method that is too slow gets fewer rows. Then brackets hold their number and the error of `auto` on the same rows.
`auto / peer` is the largest ratio of the errors of `auto` and of a peer on the same rows: below 1, `auto` is best.

Vowpal Wabbit reads text, and its time includes that; what it needs for an empty file is taken off. It and the trees get
raw features and targets; on some of these, river's regressors diverge. "Scaled" is more than a stream could give them:
features standardised and targets of regression scaled to [0, 1] by a look at all rows beforehand; for Vowpal Wabbit
where the data are not sparse, and for trees in regression."""


class Result(NamedTuple):
    """What a method did on a task: `sums` holds the losses so far after every 100 rows and at the end."""

    rows: int
    seconds: float
    sums: list[float]

    def error(self, rows: int) -> float:
        """Mean loss of the first rows: all of them or a multiple of 100."""
        return (self.sums[-1] if rows == self.rows else self.sums[rows // SOME - 1]) / rows

    @property
    def rate(self) -> float:
        return self.rows / self.seconds


class Line(NamedTuple):
    """The results of all methods on one task."""

    task: str
    results: dict[str, Result]

    def ratio(self, scaled: bool) -> tuple[float, str]:
        """The largest ratio of our error and a peer's on the peer's rows, and which peer that is."""
        auto = self.results["auto"]
        peers = {name: found for name, found in self.results.items() if name in PEERS and PEERS[name].scaled <= scaled}
        return max(((auto.error(r.rows) / r.error(r.rows), name) for name, r in peers.items()), default=(0.0, "none"))

    def faster_than(self, peer: str) -> bool:
        return peer in self.results and self.results["auto"].rate > self.results[peer].rate

    def cell(self, method: str) -> str:
        """The error of a method, with ours on the same rows where these are fewer."""
        if method not in self.results:
            return "-"
        found, auto = self.results[method], self.results["auto"]
        error = short(found.error(found.rows))
        return error if found.rows == auto.rows else f"{error} ({short(auto.error(found.rows))}, {found.rows})"


def short(number: float) -> str:
    return f"{number:.4g}" if number < 1e4 else f"{number:.1e}"


def ours(name: str) -> Callable[[Task], Run]:
    """One of our learners on blocks of rows; compiled before the clock runs."""

    def run(task: Task) -> Run:
        scores = np.zeros((len(task.targets), task.n_outputs))
        given, back = task.unit()
        targets = task.targets if name == "auto" else given.targets
        make_learner(name).start(task.rows.shape[1], task.kind, task.n_outputs).prepare(task.rows)

        def seconds() -> float:
            online = make_learner(name).start(task.rows.shape[1], task.kind, task.n_outputs)
            clock = process_time()
            for start in range(0, len(targets), BLOCK):
                part = slice(start, start + BLOCK)
                scores[part] = online.learn(task.rows[part], targets[part])
            return process_time() - clock

        time = repeated(seconds)
        predictions = task.decide(scores)
        return predictions if name == "auto" else back(predictions), time

    return run


def measured(task: Task, run: Callable[[Task], Run | None]) -> Result | None:
    """A run with its losses summed up; none if the method is not for such a task."""
    done = run(task)
    if done is None:
        return None
    predictions, seconds = done
    losses = np.nan_to_num(task.losses(predictions), nan=np.inf)
    ends = [*range(SOME, len(losses), SOME), len(losses)]
    return Result(len(losses), seconds, np.cumsum(losses)[np.array(ends) - 1].tolist())


class Options(NamedTuple):
    names: list[str]
    most: int
    trees: bool
    keep: Path | None
    data: Path


def methods(trees: bool) -> dict[str, Callable[[Task], Run | None]]:
    """What is compared; says which peers are left out."""
    found: dict[str, Callable[[Task], Run | None]] = {name: ours(name) for name in OURS}
    for name, peer in PEERS.items():
        if peer.slow and not trees:
            continue
        if peer.missing:
            print(f"{name} is left out: {peer.package} is not installed here, or Java where it needs it.")
        else:
            found[name] = peer.run
    return found


def measure(options: Options) -> list[Line]:
    """Every method on every task; results that are kept in a file are not computed again."""
    kept: dict[str, Any] = json.loads(options.keep.read_text()) if options.keep and options.keep.exists() else {}
    contestants, lines = methods(options.trees), []
    for name in options.names:
        keys = {method: f"{name}, first {options.most}, {method}" for method in contestants}
        task = None
        for method, run in contestants.items():
            if keys[method] in kept:
                continue
            task = task or load(name, options.data, options.most)
            result = measured(task, run)
            kept[keys[method]] = result
            if result:
                print(f"{name}: {method} {short(result.error(result.rows))} {result.rate:,.0f} rows/s", file=sys.stderr)
            if options.keep:
                options.keep.write_text(json.dumps(kept))
        lines.append(Line(name, {method: Result(*kept[key]) for method, key in keys.items() if kept[key]}))
    return lines


def columns(lines: list[Line]) -> list[str]:
    return [name for name in (*OURS, *PEERS) if any(name in line.results for line in lines)]


def errors(lines: list[Line]) -> list[list[str]]:
    cells = [["task", "rows", *columns(lines), "auto / peer", "that peer", "with scaled", "that peer"]]
    for line in lines:
        (ratio, peer), (other, other_peer) = line.ratio(scaled=False), line.ratio(scaled=True)
        found = [line.cell(name) for name in columns(lines)]
        cells.append([line.task, f"{line.results['auto'].rows}", *found, f"{ratio:.3f}", peer])
        cells[-1] += [f"{other:.3f}", other_peer]
    return cells


def rates(lines: list[Line]) -> list[list[str]]:
    names = columns(lines)
    cells = [[f"{line.results[name].rate:,.0f}" if name in line.results else "-" for name in names] for line in lines]
    return [["task", *names], *([line.task, *found] for line, found in zip(lines, cells, strict=True))]


def summary(lines: list[Line]) -> list[str]:
    """The figures that the targets are about."""
    found = [f"{words}: {_compared(lines, scaled)}" for words, scaled in SCOPES.items()]
    for peer in (f"VW --nn {HIDDEN}", "VW -q ::"):
        there = [line for line in lines if peer in line.results]
        count = sum(line.faster_than(peer) for line in there)
        found.append(f"More rows per CPU-second than {peer} on {count} of {len(there)} tasks.")
    return found


def _compared(lines: list[Line], scaled: bool) -> str:
    ratios = {line.task: line.ratio(scaled)[0] for line in lines}
    worst = max(ratios, key=lambda name: ratios[name])
    mean = math.exp(sum(math.log(max(ratio, 1e-9)) for ratio in ratios.values()) / len(ratios))
    wins = sum(ratio < 1.0 for ratio in ratios.values())
    return (
        f"auto has the lowest error on {wins} of {len(ratios)} tasks; auto / peer is at most {ratios[worst]:.3f} "
        f"({worst}), its geometric mean {mean:.3f}."
    )


def processor() -> str:
    """What the machine calls its processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else platform.processor() or platform.machine()


def markdown(lines: list[Line]) -> str:
    """The report as a page of the documentation."""
    used = {PEERS[name].version: None for name in columns(lines) if name in PEERS}
    page = ["# Accuracy beside other programs", "Written by `python -m benchmarks.accuracy`."]
    page += ["\n".join(f"- {sentence}" for sentence in summary(lines)), "## Progressive error", grid(errors(lines))]
    page += [NOTES, "## Rows per CPU-second", grid(rates(lines))]
    page += [f"One core of {processor()}, Python {platform.python_version()}; {', '.join(used)}."]
    absent = [f"{name} was left out." for name in PEERS if name not in columns(lines)]
    return "\n\n".join([*page, *absent]) + "\n"


def grid(cells: list[list[str]]) -> str:
    rows = [f"| {' | '.join(line)} |" for line in cells]
    return "\n".join([rows[0], "|" + "---|" * len(cells[0]), *rows[1:]])


def report(options: Options) -> None:
    if not options.data.is_dir():
        print("The accuracy benchmark needs the folder of data sets: give it with --data FOLDER.")
        return
    lines = measure(options)
    table("Progressive error (in brackets: that of auto on the same rows, and their number)", *split(errors(lines)))
    table("Rows per CPU-second", *split(rates(lines)))
    print("", *summary(lines), sep="\n")
    if options.names == list(NAMES):
        REPORT.write_text(markdown(lines))


def split(cells: list[list[str]]) -> tuple[list[str], list[list[str]]]:
    return cells[0], cells[1:]


def main(quick: bool = False) -> None:
    report(Options(list(SHORT if quick else NAMES), FEW if quick else MOST, not quick, None, FOLDER))


def command() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.accuracy", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="four short sets, no trees")
    parser.add_argument("--only", help="names of sets, separated by commas", metavar="NAME,NAME")
    parser.add_argument("--no-trees", action="store_true", help="leave the slow peers out")
    parser.add_argument("--keep", type=Path, help="results so far, to go on from; remove it when a learner has changed")
    parser.add_argument("--data", type=Path, default=FOLDER, help="folder of the data sets")
    given = parser.parse_args()
    names = given.only.split(",") if given.only else list(SHORT if given.quick else NAMES)
    if unknown := set(names) - set(NAMES):
        parser.error(f"There is no set {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}.")
    trees = not (given.quick or given.no_trees)
    report(Options(names, FEW if given.quick else MOST, trees, given.keep, given.data))


if __name__ == "__main__":
    command()
