"""Options that several commands have, with the same words."""

import argparse
import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from onkel.apps.cli import column_choice
from onkel.apps.cli.writing import check_folder, check_target, put, target
from onkel.apps.report.page import page
from onkel.apps.report.pictures import Reports, figure, pictures
from onkel.apps.report.pictures import files as picture_files
from onkel.recipes.learner import DTYPES, TASKS
from onkel.streams.readers import READERS


def count(text: str) -> int:
    """A positive whole number."""
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive whole number")
    return int(text)


def whole(text: str) -> int:
    """A whole number of at least 0."""
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text} is not a whole number of at least 0")
    return int(text)


def grow_or(kind: Callable[[str], Any]) -> Callable[[str], Any]:
    """The word grow, or something else."""
    return lambda text: text if text == "grow" else kind(text)


def names(text: str) -> list[str]:
    """Names with commas between them."""
    return [name.strip() for name in text.split(",") if name.strip()]


def parse_settings(pairs: list[str]) -> dict[str, Any]:
    """Parameters from KEY=VALUE: numbers, true, false and none are read as such, anything else is text.

    >>> parse_settings(["sigma=8", "loss=hinge", "rank=none"])
    {'sigma': 8, 'loss': 'hinge', 'rank': None}
    """
    settings: dict[str, Any] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals:
            raise ValueError(f"--set takes KEY=VALUE, not {pair!r}.")
        settings[key.strip()] = value(text)
    return settings


def value(text: str) -> Any:
    """A number, true, false, none, or the text itself."""
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def add_command(commands: Any, name: str, summary: str, text: str | None, examples: str) -> Any:
    """A command whose help ends with examples."""
    kind = argparse.RawDescriptionHelpFormatter
    return commands.add_parser(name, help=summary, description=text, epilog=examples, formatter_class=kind)


def add_reading(command: Any, required: bool = False) -> None:
    """DATA, and how to read it."""
    add, more = command.add_argument, {} if required else {"nargs": "?"}
    add(
        "data",
        metavar="DATA",
        help="file, folder, '-', built-in stream or data set (default: drifting)",
        **more,
    )
    add("--format", default=None, choices=sorted(READERS), help="format of DATA (default: by its ending)")
    how = "; grow takes in new ones, as on standard input"
    add("--features", type=grow_or(count), metavar="N|grow", help=f"number of features of a LIBSVM stream{how}")
    add("--block", type=count, default=4096, metavar="N", help="rows read at a time (default 4096)")
    column_choice.add_options(add)


def add_json(command: Any, what: str, *more_names: str) -> None:
    """Where to write for programs."""
    how = f"{what} ('-' for standard output)"
    command.add_argument("--json", *more_names, dest="json", type=target, metavar="FILE", help=how)


def add_report(command: Any) -> None:
    """What to write for people."""
    command.add_argument("--report", type=target, metavar="FILE", help="write one HTML page with pictures and tables")
    command.add_argument("--plots", metavar="FOLDER", help="write the pictures, as PNG and SVG")


def check_report(options: argparse.Namespace) -> None:
    """Refuse, before anything is learned, what could not be written in the end."""
    if options.report:
        check_target(options.report)
    if options.plots:
        check_folder(options.plots)
    if options.report or options.plots:
        figure()  # needs matplotlib


def write_report(files: ExitStack, options: argparse.Namespace, reports: Reports, source: str) -> None:
    """Write the page and the pictures that are wanted, which take their names when `files` are closed."""
    if options.report:
        put(files, options.report, page(reports, source))
    if options.plots:
        Path(options.plots).mkdir(parents=True, exist_ok=True)
        for name, content in picture_files(pictures(reports)):
            put(files, os.path.join(options.plots, name), content)


def add_stream(command: Any) -> None:
    """DATA, how to read it, what its labels are, and which of its rows to take."""
    add_reading(command)
    add = command.add_argument
    add("--task", default="auto", choices=["auto", *TASKS], help="what the labels are (default: by looking at them)")
    how = "all labels that will come, or grow: new ones are taken in, as on standard input (default: those of DATA)"
    add("--classes", type=grow_or(names), metavar="A,B,...|grow", help=how)
    add("--limit", type=count, metavar="N", help="stop after N rows")
    add("--seed", type=whole, default=0, metavar="N", help="seed of everything random (default 0)")
    add("--dtype", default=None, choices=DTYPES, help="type of the model's numbers (default float32)")
