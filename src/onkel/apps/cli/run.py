"""Learn a stream row by row and report the error of the predictions made before each row was learned."""

import argparse
import json
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import Any

from onkel.apps.cli.checkpoints import Stopped
from onkel.apps.cli.display import Display
from onkel.apps.cli.feeding import Feed, open_feed
from onkel.apps.cli.options import (
    add_command,
    add_json,
    add_report,
    add_stream,
    check_report,
    count,
    parse_settings,
    whole,
    write_report,
)
from onkel.apps.cli.session import Session
from onkel.apps.cli.writing import (
    WholeFile,
    as_json,
    check_json,
    check_one_output,
    check_target,
    finite,
    growing,
    is_special,
    put,
    target,
)
from onkel.core.terminal import complain
from onkel.files.model_file import Stored, load_model
from onkel.recipes import RECIPES, make_learner

EXAMPLES = """examples:
  onkel run                                        the built-in drifting stream of 200,000 rows
  onkel run a9a.libsvm.xz --learner nogd --set budget=200 --set sigma=4
  onkel run data.csv --task regression --set eta=0.3 --json report.json --save model.onkel
  zcat clicks.gz | onkel run - --resume model.onkel --save model.onkel"""


def add_to(commands: Any) -> None:
    """Add the command and its options."""
    command = add_command(commands, "run", "learn a stream and report its progressive error", __doc__, EXAMPLES)
    add = command.add_argument
    add_stream(command)
    add("--learner", default=None, metavar="NAME", help=f"one of {', '.join(sorted(RECIPES))} (default auto)")
    add("--tuned", metavar="FILE", help="learner and parameters that `onkel tune` found")
    add("--set", action="append", default=[], metavar="KEY=VALUE", help="a parameter of the learner; repeatable")
    add("--order", metavar="FILE", help="file of 0-based row numbers: the order in which to learn the rows")
    add("--permutation", type=whole, metavar="N", help="learn the rows in the N-th random order")
    add("--epochs", type=count, default=1, metavar="N", help="passes over the data; errors are those of the first")
    add("--evaluate", default="rows", choices=["rows", "blocks", "delayed"], help="when rows are learned")
    add("--delay", type=whole, default=0, metavar="N", help="with --evaluate delayed: rows until a label arrives")
    add("--test", metavar="FILE", help="predict these rows too, when all is learned (NAME.t: those of a data set)")
    how = "write the scores each row had before it was learned, one line per row"
    add("--scores", type=target, metavar="FILE", help=how)
    add_json(command, "write the report as JSON")
    add("--save", type=target, metavar="FILE", help="write the model when all is learned")
    how = "write model and place in the stream as it goes; Ctrl-C leaves one too"
    add("--checkpoint", type=target, metavar="FILE", help=how)
    add("--every", type=count, default=100_000, metavar="N", help="rows between checkpoints (default 100,000)")
    add("--resume", metavar="FILE", help="go on with a saved model, or from a checkpoint of the same DATA")
    add("--force", action="store_true", help="with --resume: go on although the stream is another one, and say how")
    add_report(command)
    add("--quiet", action="store_true", help="no progress line and no table")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Carry out the command: but for checkpoints, nothing it writes takes its name before everything went well."""
    checked(options)
    saved = _resumed(options)
    feed = open_feed(options, saved)
    work = saved or _start(options, feed)
    session = Session(options, feed, work)
    if feed.guessed:
        complain(feed.guessed)
    with ExitStack() as files:
        scores = _scores_file(options, "progress" in work.extra, session.scores_size)
        try:
            session.learn(files.enter_context(scores))
        except Stopped as stopped:
            raise _left_behind(options, session, stopped) from None
        report = finite(session.report())
        if options.on_error == "skip":
            report["rows_skipped"] = feed.n_skipped
        write_report(files, options, {report["learner"]: report}, feed.source)
        put(files, options.json, as_json(report))
        session.save(options.save)
    for sentence in (*session.notes, *feed.notes()):
        complain(sentence)
    if not (options.quiet or options.to_standard_output):
        Display.table(report, session.classes)


def checked(options: argparse.Namespace) -> None:
    """Refuse, before anything is learned, what could not be written in the end, and options that contradict."""
    for path in (options.save, options.scores, options.checkpoint):
        if path is not None:
            check_target(path, in_place=path == options.scores and bool(options.checkpoint or options.resume))
    check_json(options.json)
    check_report(options)
    if options.checkpoint and is_special(options.checkpoint):
        raise ValueError("--checkpoint needs a file, which is written again and again.")
    targets = {"--json": options.json, "--save": options.save, "--scores": options.scores, "--report": options.report}
    options.to_standard_output = check_one_output(targets)
    if options.tuned and options.learner:
        raise ValueError("--tuned brings its own learner: leave out --learner.")
    if options.force and not options.resume:
        raise ValueError("--force needs --resume.")
    if options.delay and options.evaluate != "delayed":
        raise ValueError("--delay needs --evaluate delayed.")


def _left_behind(options: argparse.Namespace, session: Session, stopped: Stopped) -> Stopped:
    """Save what was learned before the run was asked to stop, if that is wanted, and say so."""
    if not options.save or options.checkpoint:
        return stopped
    session.save(options.save)
    return Stopped(f"stopped; what was learned from {session.online.rows_learned:,} rows is in {options.save}.")


def _resumed(options: argparse.Namespace) -> Stored | None:
    """The saved learner and what was saved with it, if one is to go on."""
    if not options.resume:
        return None
    given = {"--learner": options.learner, "--tuned": options.tuned, "--set": options.set, "--dtype": options.dtype}
    given |= {"--features": options.features, "--classes": options.classes}
    given |= {"--task": None if options.task == "auto" else options.task}
    if any(given.values()):
        named = ", ".join(name for name, value in given.items() if value)
        raise ValueError(f"--resume brings its own learner and task: leave out {named}.")
    return load_model(options.resume)


def _scores_file(options: argparse.Namespace, going_on: bool, size: int | None) -> Any:
    """Where scores go: a file that appears whole in the end or, with checkpoints, one that grows with the run."""
    if not options.scores:
        return nullcontext()
    again = (options.checkpoint or going_on) and not is_special(options.scores)
    return growing(options.scores, size or 0) if again else WholeFile(options.scores)


def tuned(path: str) -> tuple[str, dict[str, Any]]:
    """The learner and the parameters in a file of `onkel tune`."""
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
        return str(found["learner"]), dict(found["parameters"])
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{path}: this is not what `onkel tune` writes.") from None


def _start(options: argparse.Namespace, feed: Feed) -> Stored:
    name, found = tuned(options.tuned) if options.tuned else (options.learner or "auto", {})
    return feed.start(make_learner(name, **found, **parse_settings(options.set)), options)
