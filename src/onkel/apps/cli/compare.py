"""Compare learners on the same rows: errors, time, size of the models."""

import argparse
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from onkel.apps.cli.display import Display, error_text
from onkel.apps.cli.feeding import Feed, open_feed
from onkel.apps.cli.layout import joined
from onkel.apps.cli.options import (
    add_command,
    add_json,
    add_report,
    add_stream,
    check_report,
    parse_settings,
    whole,
    write_report,
)
from onkel.apps.cli.session import plain, spoken
from onkel.apps.cli.writing import as_json, check_json, check_one_output, put
from onkel.apps.report.history import History
from onkel.core.support import Support
from onkel.core.terminal import complain, printable
from onkel.core.trees import nbytes
from onkel.evaluation.prequential import Tally, prequential, spread
from onkel.recipes import Learner, make_learner
from onkel.streams.block import select
from onkel.streams.opening import read_once

EXAMPLES = """examples:
  onkel compare a9a.libsvm.xz --learners auto,fogd,nogd --permutations 5
  onkel compare data.csv --learners fogd:eta=0.1,fogd:eta=1 --json figures.json"""


def add_to(commands: Any) -> None:
    """Add the command and its options."""
    command = add_command(commands, "compare", "several learners on the same rows", __doc__, EXAMPLES)
    add_stream(command)
    add = command.add_argument
    add("--learners", required=True, metavar="A,B,C", help="names, with parameters if wanted: fogd:eta=0.1:sigma=2")
    add(
        "--permutations",
        type=whole,
        default=0,
        metavar="N",
        help="mean over N random orders (default: DATA as it is)",
    )
    add_json(command, "write the figures as JSON")
    add_report(command)
    add("--quiet", action="store_true", help="no progress line and no table")
    command.set_defaults(run=run, order=None, permutation=None, epochs=1, test=None, evaluate="rows")


class Run(NamedTuple):
    """One learner on one order of the rows."""

    error: float
    seconds: float
    rows: int
    support: int
    bytes: int
    report: dict[str, Any]


def run(options: argparse.Namespace) -> None:
    """Carry out the command: every learner sees the same orders."""
    check_json(options.json)
    check_report(options)
    quiet = check_one_output({"--json": options.json, "--report": options.report}) or options.quiet
    learners = {text: parsed(text) for text in options.learners.split(",")}
    feed = open_feed(options)
    if feed.guessed:
        complain(feed.guessed)
    for learner in learners.values():
        learner.plan(feed.task)  # one that does not fit is found before the first is run
    runs: dict[str, list[Run]] = {text: [] for text in learners}
    kept = len(learners) > 1 and bool(options.data) and read_once(options.data)
    for pairs in orders(feed, options.permutations, kept):
        for text, learner in learners.items():
            with spoken(feed.source):
                runs[text].append(one(learner, feed, pairs, options, quiet))
    report = {
        "task": next(iter(runs.values()))[0].report["task"], "ties": "second class", "data": feed.source,
        "permutations": options.permutations,
        "learners": [figures(text, learner, runs[text]) for text, learner in learners.items()],
    }  # fmt: skip
    with ExitStack() as files:
        write_report(files, options, {text: one[0].report for text, one in runs.items()}, feed.source)
        put(files, options.json, as_json(report))
    if not quiet:
        Console(highlight=False).print(table(report))


def parsed(text: str) -> Learner:
    """A learner from its name and settings, with colons between them.

    >>> parsed("fogd:eta=0.1:sigma=2")
    fogd(eta=0.1, sigma=2)
    """
    name, *pairs = text.strip().split(":")
    return make_learner(name, **parse_settings(pairs))


def orders(feed: Feed, permutations: int, kept: bool) -> Iterator[Any]:
    """Functions that give the rows for a learner: as they come, or all in memory in each of several orders.

    Rows that come only once are `kept`, for all learners.
    """
    if not permutations:
        blocks = [*feed.blocks()] if kept else []
        yield partial(feed.paired, blocks=blocks) if kept else feed.pairs
        return
    whole = joined(feed.blocks())
    for number in range(permutations):
        order = np.random.default_rng(number).permutation(len(whole.labels))
        block = select(whole, order)
        yield partial(feed.paired, blocks=[block])


def one(learner: Learner, feed: Feed, opened: Any, options: argparse.Namespace, quiet: bool) -> Run:
    """One learner on one order."""
    work = feed.start(learner, options)
    pairs, online = opened(work), work.online
    history, first = History(online), next(pairs)
    online.prepare(first[0])
    with Display(feed.rows, quiet, learner.name) as display:

        def watch(tally: Tally, targets: Any, scores: Any) -> None:
            display.update(tally)
            if options.report or options.plots:
                history.update(tally, targets, scores)

        report = prequential(online, history.seen(chain([first], pairs)), watch=watch, tally=Tally(work.answers))
    report |= {"task": online.task, "parameters": plain(learner.get_params()), "model_bytes": nbytes(online.model)}
    report |= history.report()
    classes = work.answers.classes
    report |= {} if classes is None else {"classes": classes.tolist()}
    report |= {} if work.columns.names is None else {"feature_names": work.columns.names}
    error = report["mse"] if feed.task == "regression" else report["mistake_rate"]
    return Run(error, report["seconds"], report["rows"], support_size(online.model), nbytes(online.model), report)


def support_size(model: Any) -> int:
    """How many points a model keeps, all parts together; 0 for a model of another kind."""
    if isinstance(model, Support):
        return int(model.count[0])
    return sum(map(support_size, model)) if isinstance(model, tuple) else 0


def figures(text: str, learner: Learner, runs: list[Run]) -> dict[str, Any]:
    """Means over the runs; a standard deviation where there are several."""
    error, seconds = spread([run.error for run in runs]), spread([run.seconds for run in runs])
    return {
        "learner": text, "parameters": plain(learner.get_params()), "error": error.mean, "error_std": error.std,
        "seconds": seconds.mean, "rows_per_second": runs[0].rows / max(seconds.mean, 1e-9),
        "support": round(spread([run.support for run in runs]).mean), "model_bytes": max(run.bytes for run in runs),
    }  # fmt: skip


def table(report: dict[str, Any]) -> Table:
    """The figures as a person reads them, the best error marked."""
    made = Table(box=None, padding=(0, 2, 0, 0), title=None)
    name = "MSE" if report["task"] == "regression" else "mistake rate"
    for heading in ("learner", name, "seconds", "rows/s", "support", "model"):
        made.add_column(heading, justify="left" if heading == "learner" else "right")
    least = min(line["error"] for line in report["learners"])
    for line in report["learners"]:
        error = error_text(report["task"], line["error"])
        if report["permutations"] > 1:
            error += f" +- {error_text(report['task'], line['error_std'])}"
        cells = [f"{line['seconds']:.2f}", f"{line['rows_per_second']:,.0f}", f"{line['support'] or '-'}"]
        best = "bold" if line["error"] == least else None
        made.add_row(
            Text(printable(line["learner"])), error, *cells, f"{line['model_bytes'] / 1024:,.0f} KiB", style=best
        )
    return made
