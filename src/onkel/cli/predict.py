"""Predict rows with a saved model; nothing is learned."""

import argparse
import sys
from contextlib import nullcontext
from typing import Any

import numpy as np

from onkel.calibration import Calibration, calibration, probabilities
from onkel.cli.feeding import means_of, open_data
from onkel.cli.options import add_command, add_reading, count
from onkel.cli.writing import WholeFile, check_target
from onkel.online import Online
from onkel.stored import load_model
from onkel.streams import take
from onkel.targets import decide

EXAMPLES = """examples:
  onkel predict model.onkel new.libsvm.gz > labels.txt
  onkel predict model.onkel new.csv --output probabilities --to chances.txt
  zcat rows.gz | onkel predict model.onkel -"""
OUTPUTS = ("labels", "probabilities", "scores", "spread")


def add_to(commands: Any) -> None:
    """Add the command and its options."""
    command = add_command(commands, "predict", "predict rows with a saved model", __doc__, EXAMPLES)
    command.add_argument("model", metavar="MODEL", help="file that --save or --checkpoint wrote")
    add_reading(command, required=True)
    command.add_argument("--output", default="labels", choices=OUTPUTS, help="what to write (default labels)")
    command.add_argument("--limit", type=count, metavar="N", help="stop after N rows")
    command.add_argument("--to", metavar="FILE", help="write there, not to standard output")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Carry out the command: one line per row."""
    if options.to:
        check_target(options.to)
    online, extra = load_model(options.model)
    if online.task == "regression" and options.output == "probabilities":
        raise ValueError(f"{options.model} is a regression: it has no probabilities.")
    stream = open_data(options.data, options, online.setting.n_features, extra.get("values", {}))
    means = means_of(stream, options, extra)
    if means is not None and extra.get("means") is None:
        raise ValueError(f"{options.model} knows no means: it has not learned with --missing mean.")
    with WholeFile(options.to) if options.to else nullcontext(sys.stdout) as file:
        for block in take(stream, options.limit) if options.limit else stream:
            rows = block.rows if means is None else means.fill(block.rows)
            for line in lines(options.output, online, extra, rows):
                print(line, file=file)


def lines(output: str, online: Online, extra: dict[str, Any], rows: Any) -> list[str]:
    """What is written of each row: a label, or numbers with spaces between them."""
    if output == "labels" and online.task != "regression":
        classes = extra.get("classes")
        found = decide(online.score(rows))
        return [str(label) for label in (found if classes is None else classes[found]).tolist()]
    numbers = online.spread(rows) if output == "spread" else online.score(rows)
    if output == "probabilities":
        state = extra.get("calibration")
        numbers = probabilities(state if isinstance(state, Calibration) else calibration(online.probable), numbers)
    return [" ".join(map(repr, row)) for row in np.asarray(numbers).tolist()]
