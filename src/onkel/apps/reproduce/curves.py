"""The papers' figures made anew: a letter takes several values, or a stream is watched while it is learned."""

from math import ceil
from typing import Any

import numpy as np

from onkel.apps.reproduce.figures import FIGURES
from onkel.apps.reproduce.loading import Task
from onkel.apps.reproduce.naive import Naive
from onkel.apps.reproduce.protocols import (
    SAMPLE,
    Figures,
    Watch,
    by_folds,
    by_mistakes,
    extent,
    held_out,
    known,
    letters_of,
    permutation,
    present,
    progressive,
    rehearse,
    searched,
)  # fmt: skip
from onkel.apps.reproduce.results import Drawn, Point, Series
from onkel.apps.reproduce.spec import ROWS, Entry, Figure, Panel
from onkel.apps.reproduce.timing import clock
from onkel.evaluation.metrics import errors
from onkel.evaluation.prequential import by_blocks, by_rows, spread
from onkel.recipes import RECIPES, make_learner

MARKS = 24  # of a line along the rows; each is a call, which takes time of its own
BLOCK = 1_000  # rows that are predicted before they are learned, where they come in blocks

Mark = tuple[int, float, float]  # rows, mean error so far, CPU seconds so far


def redraw(
    name: str, datasets: list[str] | None = None, runs: int | None = None, *, quick: bool = False,
    limit: int | None = None, watch: Watch = lambda dataset, algorithm: None,
) -> Drawn:  # fmt: skip
    """Make a figure anew, on the data sets that are here: the name is one of `FIGURES`, the rest as in `reproduce`."""
    figure = FIGURES[known(name, FIGURES)]
    result = Drawn(name, [], [], {}, *extent(figure, runs, limit, quick), quick)
    for dataset, task in present(figure, datasets, result):
        letters = letters_of(figure, figure.sources[dataset], task)
        for panel in figure.panels:
            for algorithm, made in panel.algorithms.items():
                if isinstance(made, str):
                    result.lines.append(Series(dataset, panel.across, algorithm, "", [], made))
                    continue
                watch(dataset, algorithm)
                found = line(figure, panel, made, letters, task, result)
                result.lines.append(Series(dataset, panel.across, algorithm, made.recipe, found))
    return result


def line(figure: Figure, panel: Panel, made: Entry, letters: dict[str, Any], task: Task, result: Drawn) -> list[Point]:
    """The points of an algorithm."""
    if panel.across == ROWS:
        given, found = watched(figure.protocol, made, letters, task, result.runs)
        moments = zip(*found, strict=True)
        return [point(figure, marks[0][0], [mark[1:] for mark in marks], given) for marks in moments]
    points = []
    for x in few(panel.values) if result.quick else panel.values:
        done = MEASURES[figure.protocol](made, {**letters, panel.across: x}, task, result.runs)
        points.append(point(figure, x, done.runs, done.given))
    return points


def few(values: tuple[float, ...]) -> tuple[float, ...]:
    """The ends and the middle.

    >>> few((1, 2, 3, 10, 20))
    (1, 3, 20)
    """
    return values if len(values) < 4 else (values[0], values[len(values) // 2], values[-1])


def point(figure: Figure, x: float, runs: list[tuple[float, float]], given: dict[str, Any]) -> Point:
    """The mean over runs of (error, CPU seconds)."""
    ours = spread([figure.metric.figure(error) for error, _ in runs])
    return Point(x, ours, float(np.mean([seconds for _, seconds in runs])), given)


def watched(
    protocol: str, entry: Entry, letters: dict[str, Any], task: Task, runs: int
) -> tuple[dict[str, Any], list[list[Mark]]]:
    """Parameters, and the marks of each run of a stream; of rows in blocks the first part is learned beforehand."""
    n, initial = len(task.block.labels), 0
    if protocol == "blocks":
        initial = min(round(n * letters["initial"]), n - 1)
        letters = {**letters, "n": min(initial, SAMPLE)}
    size = min(BLOCK, ceil((n - initial) / 20)) if initial else ceil(n / MARKS)
    if entry.recipe in RECIPES:
        given, _ = searched(by_folds if initial else by_mistakes, entry, letters, task)
        learner: Any = make_learner(entry.recipe, **given)
    else:
        given = entry.candidates(letters)[0]
        learner = Naive(**given)
        rehearse(learner, task)
    return given, [along(learner, task, seed, initial, size) for seed in range(runs)]


def along(learner: Any, task: Task, seed: int, initial: int, size: int) -> list[Mark]:
    """Learn a stream, with a mark after every `size` rows: row by row, or by blocks after the initial rows."""
    X, y = task.part(permutation(seed, task))
    online = learner.start(task.n_features, seed=seed, **task.start)
    online.prepare(X)
    if initial:
        online.learn(X[:initial], y[:initial])
    total, seen, marks = 0.0, 0, list[Mark]()
    blocks = ((X[i : i + size], y[i : i + size]) for i in range(initial, len(y), size))
    with clock() as seconds:
        for targets, scores in (by_blocks if initial else by_rows)(online, blocks):
            total, seen = total + float(np.sum(errors(online.task, targets, scores))), seen + len(targets)
            marks.append((seen, total / seen, seconds()))
    return marks


def in_blocks(entry: Entry, letters: dict[str, Any], task: Task, runs: int) -> Figures:
    """The error over a whole stream of blocks."""
    given, found = watched("blocks", entry, letters, task, runs)
    return Figures(given, [marks[-1][1:] for marks in found], 0.0, len(task.block.labels))


MEASURES = {"progressive": progressive, "held out": held_out, "blocks": in_blocks}
