"""Predict rows with a saved model; nothing is learned."""

import argparse
import sys
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import numpy as np

from onkel.calibration import Calibration, calibration, probabilities
from onkel.cli.feeding import means_of, open_data, told_of
from onkel.cli.options import add_command, add_json, add_reading, count
from onkel.cli.writing import JsonList, WholeFile, check_json, check_target
from onkel.intervals import COVERAGE, Errors, intervals
from onkel.online import Online
from onkel.stored import load_closed
from onkel.streams import take
from onkel.targets import decide

EXAMPLES = """examples:
  onkel predict model.onkel new.libsvm.gz > labels.txt
  onkel predict model.onkel new.csv --output probabilities --to chances.txt
  onkel predict delays.onkel new.csv --output intervals --coverage 0.95
  zcat rows.gz | onkel predict model.onkel -"""
OUTPUTS = ("labels", "probabilities", "intervals", "scores", "spread")


def add_to(commands: Any) -> None:
    """Add the command and its options."""
    command = add_command(commands, "predict", "predict rows with a saved model", __doc__, EXAMPLES)
    command.add_argument("model", metavar="MODEL", help="file that --save or --checkpoint wrote")
    add_reading(command, required=True)
    command.add_argument("--output", default="labels", choices=OUTPUTS, help="what to write (default labels)")
    command.add_argument(
        "--coverage", type=float, default=COVERAGE, metavar="C", help=f"of intervals, from 0 to 1 (default {COVERAGE})"
    )
    command.add_argument("--limit", type=count, metavar="N", help="stop after N rows")
    command.add_argument("--to", metavar="FILE", help="write there, not to standard output")
    add_json(command, "write the predictions as JSON")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Carry out the command: one line per row."""
    if options.to:
        check_target(options.to)
    check_json(options.json)
    online, extra = load_closed(options.model)
    if online.task == "regression" and options.output == "probabilities":
        raise ValueError(f"{options.model} is a regression: it has no probabilities.")
    if options.output == "intervals" and not isinstance(extra.get("errors"), Errors):
        raise ValueError(f"{options.model} is no regression: only numbers have intervals.")
    stream = open_data(options.data, options, online.setting.n_features, extra.get("values", {}))
    means = means_of(stream, options, extra)
    if means is not None and extra.get("means") is None:
        raise ValueError(f"{options.model} knows no means: it has not learned with --missing mean.")
    with ExitStack() as files:
        writers = _writers(options, online, files)
        for block in take(stream, options.limit) if options.limit else stream:
            rows = block.rows if means is None else means.fill(block.rows)
            for found in predicted(options, online, extra, rows):
                for write in writers:
                    write(found)
    for sentence in told_of(options.data, stream):
        print(f"onkel: {sentence}", file=sys.stderr)


def _writers(options: argparse.Namespace, online: Online, files: ExitStack) -> list[Callable[[Any], None]]:
    """What each prediction is handed to: a text of lines, and JSON if that is wanted."""
    writers: list[Callable[[Any], None]] = []
    if options.to or options.json != "-":
        lines = files.enter_context(WholeFile(options.to)) if options.to else sys.stdout
        writers.append(lambda found: print(as_line(found), file=lines))
    if options.json:
        target = sys.stdout if options.json == "-" else files.enter_context(WholeFile(options.json))
        head = {"model": options.model, "data": options.data, "task": online.task, "output": options.output}
        writers.append(files.enter_context(JsonList(target, head, "predictions")).append)
    return writers


def as_line(found: Any) -> str:
    """A prediction as text: a label, or numbers with spaces between them.

    >>> as_line("yes"), as_line([0.25, 0.75])
    ('yes', '0.25 0.75')
    """
    return " ".join(map(repr, found)) if isinstance(found, list) else str(found)


def predicted(options: argparse.Namespace, online: Online, extra: dict[str, Any], rows: Any) -> list[Any]:
    """Of each row a label, or a list of numbers."""
    output = options.output
    if output == "labels" and online.task != "regression":
        classes = extra.get("classes")
        found = decide(online.score(rows))
        return list((found if classes is None else classes[found]).tolist())
    numbers = online.spread(rows) if output == "spread" else online.score(rows)
    if output == "probabilities":
        state = extra.get("calibration")
        numbers = probabilities(state if isinstance(state, Calibration) else calibration(online.probable), numbers)
    if output == "intervals":
        numbers = intervals(extra["errors"], numbers[:, 0], options.coverage)
    found = np.asarray(numbers)
    return list((found[:, 0] if output == "labels" else found).tolist())
