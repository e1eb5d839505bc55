"""Predict rows with a saved model; nothing is learned."""

import argparse
import os
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import numpy as np

from onkel.apps.cli.feeding import open_data, told_of
from onkel.apps.cli.options import add_command, add_json, add_reading, count
from onkel.apps.cli.writing import (
    JsonList,
    WholeFile,
    check_one_output,
    check_target,
    flush_standard_output,
    target,
)
from onkel.core.terminal import complain, printable
from onkel.evaluation.metrics import add_up
from onkel.files.model_file import Stored, load_model
from onkel.model.answers import Answers
from onkel.model.columns import resized
from onkel.model.intervals import COVERAGE
from onkel.streams import take
from onkel.streams.encoding import without_labels

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
    command.add_argument("--to", type=target, metavar="FILE", help="write there, not to standard output")
    add_json(command, "write the predictions as JSON")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Carry out the command: one line per row."""
    targets = {"--to": options.to, "--json": options.json}
    for path in targets.values():
        if path is not None:
            check_target(path)
    check_one_output(targets)
    work = load_model(options.model)
    if work.online.task == "regression" and options.output == "probabilities":
        raise ValueError(f"{options.model} is a regression: it has no probabilities.")
    if work.online.task != "regression" and options.output == "intervals":
        raise ValueError(f"{options.model} is no regression: only numbers have intervals.")
    stream = open_data(options.data, options, work, labels=False)
    judge = Judge(work.answers)
    with ExitStack() as files:
        writers, flush = _writers(options, work, files, judge)
        for block in take(stream, options.limit) if options.limit else stream:
            rows = work.columns.filled(resized(block.rows, work.columns.width, 0.0), learns=False)
            scores = work.online.score(rows)
            judge.update(block.labels, scores)
            for found in predicted(options, work, rows, scores):
                for write in writers:
                    write(found)
            if stream_is_slow(options):
                flush()
        flush()  # before JSON takes its name
        judge.finish()
    for sentence in (*told_of(options.data, stream), *judge.sentences()):
        complain(sentence)


def stream_is_slow(options: argparse.Namespace) -> bool:
    """Whether somebody may wait for the answer to each row."""
    return options.data == "-" or not os.path.isfile(options.data)


class Judge:
    """Counts how wrong answers are, where rows have labels."""

    def __init__(self, answers: Answers) -> None:
        self.answers, self.rows, self.total, self.figures = answers, 0, 0.0, dict[str, Any]()

    def update(self, labels: Any, scores: Any) -> None:
        """Take note of rows, those without a label aside."""
        held = ~without_labels(labels)
        if not held.any():
            return
        self.rows += int(held.sum())
        self.total = add_up(self.total, self.answers.wrong(labels[held], scores[held]))

    def finish(self) -> None:
        """Make figures of what was counted."""
        if not self.rows:
            return
        if self.answers.task == "regression":
            error = {"mse": self.total / self.rows, "rmse": float(np.sqrt(self.total / self.rows))}
        else:
            error = {"mistakes": round(self.total), "mistake_rate": self.total / self.rows}
        self.figures |= {"rows_with_labels": self.rows, **error}

    def sentences(self) -> list[str]:
        """The error, in words."""
        if not self.rows:
            return []
        mean, of = self.total / self.rows, f"{self.rows:,} rows with labels"
        if self.answers.task == "regression":
            return [f"{of}: MSE {mean:.6g}, RMSE {np.sqrt(mean):.6g}."]
        return [f"{of}: {round(self.total):,} mistakes, {100 * mean:.2f} %."]


def _writers(
    options: argparse.Namespace, work: Stored, files: ExitStack, judge: Judge
) -> tuple[list[Callable[[Any], None]], Callable[[], None]]:  # fmt: skip
    """What each prediction is handed to: a text of lines, and JSON if that is wanted; and how lines get out at once."""
    writers, flush = list[Callable[[Any], None]](), flush_standard_output
    if options.to or options.json != "-":
        lines = files.enter_context(WholeFile(options.to or "-"))
        shown: Callable[[str], str] = printable if lines.isatty() else str
        writers.append(lambda found: print(shown(as_line(found)), file=lines))
        flush = lines.flush if options.to else flush_standard_output
    if options.json:
        head = {"model": options.model, "data": options.data, "task": work.online.task, "output": options.output}
        written = JsonList(options.json, head, "predictions")
        written.tail = judge.figures
        writers.append(files.enter_context(written).append)
    return writers, flush


def as_line(found: Any) -> str:
    """A prediction as text: a label, or numbers with spaces between them.

    >>> as_line("yes"), as_line([0.25, 0.75])
    ('yes', '0.25 0.75')
    """
    return " ".join(map(repr, found)) if isinstance(found, list) else str(found)


def predicted(options: argparse.Namespace, work: Stored, rows: Any, scores: Any) -> list[Any]:
    """Of each row a label, or a list of numbers."""
    answers: Any = work.answers
    makers: dict[str, Callable[[], Any]] = {
        "labels": lambda: answers.labels(scores),
        "probabilities": lambda: answers.probabilities(scores),
        "intervals": lambda: answers.intervals(scores, options.coverage),
        "scores": lambda: answers.ordered(scores),
        "spread": lambda: answers.spreads(work.online.spread(rows)),
    }
    return list(np.asarray(makers[options.output]()).tolist())
