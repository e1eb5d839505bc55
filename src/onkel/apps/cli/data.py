"""The papers' data sets: which there are, what is known of them, and how they get here."""

import argparse
from contextlib import nullcontext
from typing import Any

from rich.console import Console

from onkel import datasets
from onkel.apps.cli.options import add_json
from onkel.apps.cli.writing import check_json, write_json
from onkel.core.terminal import printable, show
from onkel.datasets import DataSet, File

EXAMPLES = """examples:
  onkel data list
  onkel data info a9a
  onkel data fetch a9a && onkel run a9a --test a9a.t

ONKEL_DATA names a folder that has data sets already: a9a.libsvm, a9a.t.libsvm.xz, ... It is looked at first."""


def add_to(commands: Any) -> None:
    """Add the command and what it can do."""
    layout: Any = {"formatter_class": argparse.RawDescriptionHelpFormatter, "epilog": EXAMPLES}
    command = commands.add_parser("data", help="list, describe and fetch data sets", description=__doc__, **layout)
    actions = command.add_subparsers(dest="action", required=True, metavar="ACTION")
    every = actions.add_parser("list", help="name all data sets")
    one = actions.add_parser("info", help="what is known of a data set")
    get = actions.add_parser("fetch", help="get a data set here, or go on where it stopped")
    for action in (one, get):
        action.add_argument("name", metavar="NAME", help="name of a data set")
    add_json(every, "write all that is known as JSON")
    add_json(one, "write all that is known as JSON")
    add_json(get, "write where the files are as JSON")
    get.add_argument("--to", metavar="FOLDER", help="where to put it (default: the cache)")
    get.add_argument("--quiet", action="store_true", help="no progress bar, and no word when all went well")
    for action, run in ((every, list_sets), (one, show_info), (get, fetch_set)):
        action.set_defaults(run=run)


def list_sets(options: argparse.Namespace) -> None:
    """All data sets, one line each."""
    sets = [datasets.info(name) for name in datasets.names()]
    write_json(options.json, [as_json(data_set) for data_set in sets])
    if options.json == "-":
        return
    print(_line("name", "task", "rows", "test rows", "features", "classes", "here", "papers"))
    for one in sets:
        here = "yes" if datasets.find(one.name) else "" if one.files else "by hand"
        numbers = (one.rows, one.test_rows, one.features, one.classes)
        show(_line(one.name, one.task, *(f"{number:,}" if number else "" for number in numbers), here, *one.papers))


def _line(name: str, task: str, rows: str, test_rows: str, features: str, classes: str, here: str, *rest: str) -> str:
    numbers = f"{rows:>10} {test_rows:>10} {features:>10} {classes:>8}"
    return f"{name:<16} {task:<11} {numbers}  {here:<7} {', '.join(rest)}".rstrip()


def show_info(options: argparse.Namespace) -> None:
    """Everything that is known of one."""
    data_set = datasets.info(options.name)
    write_json(options.json, as_json(data_set))
    if options.json == "-":
        return
    for name, value in described(data_set):
        show(f"{name:<10} {value}")


def described(data_set: DataSet) -> list[tuple[str, str]]:
    """Names and values of what is shown of a data set."""
    test = f" to learn, {data_set.test_rows:,} to test" if data_set.test_rows else ""
    kind = f"{data_set.task}, {data_set.classes} classes" if data_set.classes else data_set.task
    lines = [("name", data_set.name), ("task", kind), ("rows", f"{data_set.rows:,}{test}")]
    lines += [("features", f"{data_set.features:,}"), ("numbers", data_set.scaling), ("split", data_set.split)]
    lines += [("papers", ", ".join(data_set.papers)), ("source", data_set.source)]
    lines += [(part, _file_line(file)) for part, file in data_set.files.items()]
    files = datasets.find(data_set.name)
    if files is None:
        lines.append(("here", f"no{datasets.how_to_get(data_set)}"))
    else:
        lines.append(("here", ", ".join(str(path) for path in files if path is not None)))
    return [(name, value) for name, value in lines if value]


def _file_line(file: File) -> str:
    size = "" if file.megabytes is None else f", about {file.megabytes:g} MB"
    return f"{file.address}{size}" + ("" if file.sha256 is None else f", SHA-256 {file.sha256}")


def as_json(data_set: DataSet) -> dict[str, Any]:
    """All that is known of a data set, as JSON takes it."""
    files = datasets.find(data_set.name)
    found = None if files is None else places(files)
    remote = {part: None if file is None else file._asdict() for part, file in _both(data_set)}
    return {**data_set._asdict(), **remote, "here": found}


def places(files: Any) -> dict[str, str | None]:
    """The paths of a data set's files, by part."""
    return {part: path and str(path) for part, path in files._asdict().items()}


def _both(data_set: DataSet) -> list[tuple[str, File | None]]:
    return [("train", data_set.train), ("test", data_set.test)]


def fetch_set(options: argparse.Namespace) -> None:
    """Fetch one, with a progress bar for each file where there is a terminal."""
    check_json(options.json)
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    hidden = options.quiet or options.json == "-" or not console.is_terminal
    progress = Progress(*columns, console=console, transient=True, disable=hidden)
    with nullcontext() if hidden else progress:  # Rich 13 ends a hidden one with an empty line
        bars: dict[str, Any] = {}

        def watch(name: str, done: int, total: int | None) -> None:
            if name not in bars:
                bars[name] = progress.add_task(printable(name), total=total)
            progress.update(bars[name], completed=done, total=total)

        files = datasets.fetch(options.name, options.to, watch)
    write_json(options.json, {"name": options.name, "here": places(files)})
    if options.json != "-" and not options.quiet:
        for path in files:
            if path is not None:
                show(path)
