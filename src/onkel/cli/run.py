"""``onkel run``: learn a stream row by row and report the error of the predictions made before each row was learned."""

import argparse
import json
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from onkel.cli.display import Display
from onkel.cli.feeding import Feed, open_feed
from onkel.evaluate import Tally, prequential
from onkel.online import Online
from onkel.recipes import RECIPES, Learner, make_learner
from onkel.recipes.learner import DTYPES, TASKS
from onkel.snapshot import nbytes
from onkel.stored import load_model, save_model

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
    add("data", nargs="?", metavar="DATA", help="LIBSVM or CSV file, '-', a built-in stream, or nothing")
    add("--learner", default=None, metavar="NAME", help=f"one of {', '.join(sorted(RECIPES))} (default fogd)")
    add("--set", action="append", default=[], metavar="KEY=VALUE", help="a parameter of the learner; repeatable")
    add("--task", default="auto", choices=["auto", *TASKS], help="what the labels are (default: by looking at them)")
    add("--order", metavar="FILE", help="file of 0-based row numbers: the order in which to learn the rows")
    add("--permutation", type=int, metavar="N", help="learn the rows in the N-th random order")
    add("--seed", type=int, default=0, metavar="N", help="seed of everything random (default 0)")
    add("--dtype", default=None, choices=DTYPES, help="type of the model's numbers (default float32)")
    add("--limit", type=_count, metavar="N", help="stop after N rows")
    add("--block", type=_count, default=4096, metavar="N", help="rows read at a time (default 4096)")
    add("--evaluate", default="rows", choices=["rows", "blocks", "delayed"], help="when rows are learned")
    add("--delay", type=int, default=0, metavar="N", help="with --evaluate delayed: rows until a label arrives")
    add("--features", type=_count, metavar="N", help="number of features of a LIBSVM stream")
    add("--label", default=None, metavar="COLUMN", help="label column of a CSV file, name or position (default: last)")
    add("--format", default=None, choices=["libsvm", "csv"], help="format of DATA (default: by its ending)")
    add("--test", metavar="FILE", help="predict these rows too, when all is learned")
    add("--scores", metavar="FILE", help="write the scores each row had before it was learned, one line per row")
    add("--json", metavar="FILE", help="write the report ('-' for standard output)")
    add("--save", metavar="FILE", help="write the model when all is learned")
    add("--resume", metavar="FILE", help="go on with a saved model")
    add("--quiet", action="store_true", help="no progress line and no table")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Carry out the command."""
    resumed = load_model(options.resume) if options.resume else None
    online_or_none, classes = _known(options, resumed)
    feed = open_feed(options, online_or_none, classes)
    online = online_or_none or _start(options, feed)
    report = _learn(options, feed, online)
    report = {"learner": online.learner.name, "parameters": _plain(online.learner.get_params()), **report}  # type: ignore[attr-defined]
    report |= {"task": online.task, "model_bytes": nbytes(online.model), "rows_learned": online.rows_learned}
    if options.test:
        report["test"] = _test(options, feed, online)
    if options.save:
        save_model(options.save, online, {"estimator": "run", "classes": feed.classes})
    if options.json:
        text = json.dumps(report, indent=1, allow_nan=False) + "\n"
        _write(options.json, text)
    if not options.quiet and options.json != "-":
        Display.table(report, feed.classes)


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive whole number")
    return value


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


def _known(options: argparse.Namespace, resumed: Any) -> tuple[Online | None, Any]:
    if resumed is None:
        return None, None
    if options.learner or options.set or options.dtype:
        raise ValueError(
            "--resume brings its own learner, parameters and type; leave out --learner, --set and --dtype."
        )
    online, extra = resumed
    return online, extra.get("classes")


def _start(options: argparse.Namespace, feed: Feed) -> Online:
    learner: Learner = make_learner(options.learner or "fogd", **parse_settings(options.set))
    dtype = options.dtype or "float32"
    return learner.start(feed.n_features, feed.task, feed.n_outputs, dtype, options.seed)


def _learn(options: argparse.Namespace, feed: Feed, online: Online) -> dict[str, Any]:
    with ExitStack() as stack:
        display = stack.enter_context(Display(feed.rows, options.quiet or options.json == "-"))
        scores_file = stack.enter_context(_WholeFile(options.scores)) if options.scores else None

        def watch(tally: Tally, targets: Any, scores: Any) -> None:
            display.update(tally)
            if scores_file is not None:
                np.savetxt(scores_file, scores, fmt="%.17g")

        pairs = feed.pairs()
        first = next(pairs)
        online.prepare(first[0])  # before the clock starts
        return prequential(
            online, chain([first], pairs), feed.n_classes, mode=options.evaluate, delay=options.delay, watch=watch
        )


def _test(options: argparse.Namespace, feed: Feed, online: Online) -> dict[str, Any]:
    """Errors of the frozen model on other rows."""
    tally = Tally(online.task, feed.n_classes)
    for rows, targets in feed.other(options.test, options):
        tally.update(targets, online.score(rows))
    return {key: value for key, value in tally.report().items() if key not in ("curve", "log_loss")}


class _WholeFile:
    """A text file that appears whole or not at all."""

    def __init__(self, path: str) -> None:
        self.path = Path(path)
        self.part = self.path.with_name(f".{self.path.name}.part")

    def __enter__(self) -> Any:
        self.file = open(self.part, "w", encoding="utf-8")
        return self.file

    def __exit__(self, kind: Any, *_: Any) -> None:
        self.file.close()
        if kind is None:
            self.part.replace(self.path)
        else:
            self.part.unlink(missing_ok=True)


def _write(path: str, text: str) -> None:
    if path == "-":
        print(text, end="")
        return
    with _WholeFile(path) as file:
        file.write(text)


def _plain(params: dict[str, Any]) -> dict[str, Any]:
    return {k: v if v is None or isinstance(v, bool | int | float | str) else repr(v) for k, v in params.items()}
