"""Learn a stream row by row and report the error of the predictions made before each row was learned."""

import argparse
import json
import sys
from contextlib import ExitStack
from itertools import chain
from typing import Any, cast, get_args

import numpy as np

from onkel.cli import choosing
from onkel.cli.display import Display
from onkel.cli.feeding import Feed, open_feed
from onkel.cli.writing import WholeFile, check_target
from onkel.evaluate import Tally, prequential
from onkel.metrics import LogLoss
from onkel.online import Online
from onkel.recipes import RECIPES, Learner, make_learner
from onkel.recipes.learner import DTYPES, TASKS
from onkel.snapshot import nbytes
from onkel.stored import load_model, save_model
from onkel.streams import Format, StreamError

EXAMPLES = """examples:
  onkel run                                        the built-in drifting stream of 200,000 rows
  onkel run a9a.libsvm.xz --learner nogd --set budget=200 --set sigma=4
  onkel run data.csv --task regression --set eta=0.3 --json report.json --save model.onkel
  zcat clicks.gz | onkel run - --resume model.onkel --save model.onkel"""


def add_to(commands: Any) -> None:
    """Add the command and its options."""
    command = commands.add_parser(
        "run", help="learn a stream and report its progressive error", description=__doc__, epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    add = command.add_argument
    add("data", nargs="?", metavar="DATA", help="a file, a folder, '-', a built-in stream, or nothing")
    add("--learner", default=None, metavar="NAME", help=f"one of {', '.join(sorted(RECIPES))} (default auto)")
    add("--set", action="append", default=[], metavar="KEY=VALUE", help="a parameter of the learner; repeatable")
    add("--task", default="auto", choices=["auto", *TASKS], help="what the labels are (default: by looking at them)")
    add("--order", metavar="FILE", help="file of 0-based row numbers: the order in which to learn the rows")
    add("--permutation", type=_whole, metavar="N", help="learn the rows in the N-th random order")
    add("--seed", type=_whole, default=0, metavar="N", help="seed of everything random (default 0)")
    add("--dtype", default=None, choices=DTYPES, help="type of the model's numbers (default float32)")
    add("--epochs", type=_count, default=1, metavar="N", help="passes over the data; errors are those of the first")
    add("--limit", type=_count, metavar="N", help="stop after N rows")
    add("--block", type=_count, default=4096, metavar="N", help="rows read at a time (default 4096)")
    add("--evaluate", default="rows", choices=["rows", "blocks", "delayed"], help="when rows are learned")
    add("--delay", type=_whole, default=0, metavar="N", help="with --evaluate delayed: rows until a label arrives")
    add("--features", type=_count, metavar="N", help="number of features of a LIBSVM stream")
    add("--format", default=None, choices=get_args(Format), help="format of DATA (default: by its ending)")
    choosing.add_to(add)
    add("--test", metavar="FILE", help="predict these rows too, when all is learned")
    add("--scores", metavar="FILE", help="write the scores each row had before it was learned, one line per row")
    add("--json", metavar="FILE", help="write the report ('-' for standard output)")
    add("--save", metavar="FILE", help="write the model when all is learned")
    add("--resume", metavar="FILE", help="go on with a saved model")
    add("--quiet", action="store_true", help="no progress line and no table")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Carry out the command: nothing it writes takes its name before everything went well."""
    for path in (options.save, options.scores, None if options.json == "-" else options.json):
        if path is not None:
            check_target(path)
    online, saved = _resumed(options)
    feed = open_feed(options, online, saved)
    online = online or _start(options, feed)
    with ExitStack() as files:
        scores = files.enter_context(WholeFile(options.scores)) if options.scores else None
        report, state = _learn(options, feed, online, scores)
        if options.on_error == "skip":
            report["rows_skipped"] = feed.n_skipped
        text = json.dumps(report, indent=1) + "\n"
        if options.json and options.json != "-":
            files.enter_context(WholeFile(options.json)).write(text)
        if options.save:
            save_model(options.save, online, {**_as_estimator(online, feed.classes, state), "values": feed.values})
    for sentence in feed.skipped():
        print(f"onkel: {sentence}", file=sys.stderr)
    if options.json == "-":
        print(text, end="")
    elif not options.quiet:
        Display.table(report, feed.classes)


def _count(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive whole number")
    return int(text)


def _whole(text: str) -> int:
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text} is not a whole number of at least 0")
    return int(text)


def parse_settings(pairs: list[str]) -> dict[str, Any]:
    """Parameters from KEY=VALUE: numbers, true, false and none are read as such, anything else is text.

    >>> parse_settings(["sigma=8", "loss=hinge", "rank=none"])
    {'sigma': 8, 'loss': 'hinge', 'rank': None}
    """
    words = {"true": True, "false": False, "none": None}
    settings: dict[str, Any] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals:
            raise ValueError(f"--set takes KEY=VALUE, not {pair!r}.")
        settings[key.strip()] = words[text.lower()] if text.lower() in words else _number(text)
    return settings


def _number(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _resumed(options: argparse.Namespace) -> tuple[Online | None, dict[str, Any]]:
    """The saved learner and what was saved with it, if one is to go on."""
    if not options.resume:
        return None, {}
    given = {"--learner": options.learner, "--set": options.set, "--dtype": options.dtype}
    given |= {"--features": options.features, "--task": None if options.task == "auto" else options.task}
    if any(given.values()):
        named = ", ".join(name for name, value in given.items() if value)
        raise ValueError(f"--resume brings its own learner and task: leave out {named}.")
    return load_model(options.resume)


def _start(options: argparse.Namespace, feed: Feed) -> Online:
    learner: Learner = make_learner(options.learner or "auto", **parse_settings(options.set))
    return learner.start(feed.n_features, feed.task, feed.n_outputs, options.dtype or "float32", options.seed)


def _learn(options: argparse.Namespace, feed: Feed, online: Online, scores_file: Any) -> tuple[dict[str, Any], Any]:
    """Learn all rows, then predict the test file: the report, and the calibration that was learned on the way."""
    learner = cast(Learner, online.learner)
    last: list[Tally] = []
    with Display(feed.rows, options.quiet or options.json == "-") as display:

        def watch(tally: Tally, targets: Any, scores: Any) -> None:
            last[:] = [tally]
            display.update(tally)
            if scores_file is not None:
                np.savetxt(scores_file, scores, fmt="%.17g")

        try:
            pairs = feed.pairs()
            first = next(pairs)
            online.prepare(first[0])  # before the clock starts
            mode, blocks = options.evaluate, chain([first], pairs)
            report = prequential(online, blocks, feed.n_classes, mode=mode, delay=options.delay, watch=watch)
            for _ in range(options.epochs - 1):
                for rows, targets in feed.pairs():
                    online.learn(rows, targets)
        except StreamError:
            raise
        except ValueError as error:
            raise StreamError(f"{feed.source}: {error}") from None
    report = {"learner": learner.name, "parameters": _plain(learner.get_params()), **report}
    report |= {"task": online.task, "model_bytes": nbytes(online.model), "rows_learned": online.rows_learned}
    if feed.test is not None:
        report["test"] = _test(feed, online)
    state = next((metric.state for metric in last[0].metrics if isinstance(metric, LogLoss)), None)
    return _finite(report), state


def _test(feed: Feed, online: Online) -> dict[str, Any]:
    """Errors of the frozen model on other rows."""
    tally = Tally(online.task, feed.n_classes)
    for rows, targets in feed.test_pairs():
        tally.update(targets, online.score(rows))
    return {key: value for key, value in tally.report().items() if key not in ("curve", "log_loss")}


def _as_estimator(online: Online, classes: Any, state: Any) -> dict[str, Any]:
    """What `KernelClassifier.load` or `KernelRegressor.load` needs besides the model."""
    name = "KernelRegressor" if online.task == "regression" else "KernelClassifier"
    return {"estimator": name, "feature_names": None, "epochs": 1, "classes": classes, "calibration": state}


def _finite(value: Any) -> Any:
    """JSON knows no infinite numbers: they become null."""
    if isinstance(value, dict):
        return {key: _finite(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _plain(params: dict[str, Any]) -> dict[str, Any]:
    return {k: v if v is None or isinstance(v, bool | int | float | str) else repr(v) for k, v in params.items()}
