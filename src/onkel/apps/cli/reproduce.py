"""Make a table or a figure of a paper anew: its protocol, our figures beside its own, and how far both are apart."""

import argparse
import json
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from onkel.apps.cli.options import add_command, add_json, count
from onkel.apps.cli.writing import check_folder, check_target, put, write_json
from onkel.core.terminal import printable, show

EXAMPLES = """examples:
  onkel reproduce                                  the experiments
  onkel reproduce lsokl-table5 --datasets german,a9a --runs 5
  onkel reproduce lsokl-table9 --quick
  onkel reproduce ik-table5 --datasets ijcnn1 --json figures.json --page ik-table5.md
  onkel reproduce rrf-figure2 --runs 2 --limit 20000 --page rrf-figure2.md

Data sets are looked for in the folder that ONKEL_DATA names and in the cache (`onkel data fetch`)."""


def add_to(commands: Any) -> None:
    """Add the command and its options."""
    command = add_command(commands, "reproduce", "a table or figure of a paper, made anew", __doc__, EXAMPLES)
    add = command.add_argument
    add("name", nargs="?", metavar="NAME", help="which table or figure (default: list them)")
    add("--datasets", metavar="A,B", help="only these data sets of the paper (default: all that are here)")
    add("--runs", type=count, metavar="N", help="permutations (default: the paper's number)")
    add("--quick", action="store_true", help="1,000 rows, 2 runs, one pass, few values across: to see that it works")
    add("--limit", type=count, metavar="N", help="at most N rows of each data set, drawn at random")
    add_json(command, "write the figures")
    add("--page", metavar="FILE", help="write a Markdown page; of a figure also its pictures, in pictures/ beside it")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Carry out the command."""
    from onkel.apps.reproduce import (  # not before: `onkel --help` needs none of it
        EXPERIMENTS,
        FIGURES,
        redraw,
        reproduce,
    )

    if options.name is None:
        every: dict[str, Any] = {**EXPERIMENTS, **FIGURES}
        write_json(options.json, [{"name": n, "title": e.title, "paper": e.paper} for n, e in every.items()])
        for name, made in every.items() if options.json != "-" else ():
            print(f"{name:14s} {made.title} ({made.paper})")
        return
    drawn = options.name in FIGURES
    check_targets(options, drawn)
    names = options.datasets.split(",") if options.datasets else None
    make: Any = redraw if drawn else reproduce
    result = make(options.name, names, options.runs, quick=options.quick, limit=options.limit, watch=say)
    write(result, options, drawn)


def check_targets(options: argparse.Namespace, drawn: bool) -> None:
    """Refuse, before anything is learned, what cannot be written."""
    for target in (options.page, options.json if options.json != "-" else None):
        if target:
            check_target(target)
    if options.page and drawn:
        from onkel.apps.report.pictures import figure

        figure()  # says so if matplotlib is not here
        check_folder(str(folder_of(options.page)))


def folder_of(page: str) -> Path:
    """Where the pictures of a page are."""
    return Path(page).parent / "pictures"


def write(result: Any, options: argparse.Namespace, drawn: bool) -> None:
    """The page, the numbers, and what a person reads."""
    from onkel.apps.reproduce import figure_pages, pages

    written: Any = figure_pages if drawn else pages
    with ExitStack() as files:
        if options.page:
            put(files, options.page, written.page(result))
            if drawn:
                put_pictures(files, result, folder_of(options.page))
        if options.json:
            put(files, options.json, json.dumps(written.as_json(result), indent=1) + "\n")
    if "-" not in (options.json, options.page):
        (show_figure if drawn else show_table)(result)


def put_pictures(files: ExitStack, result: Any, folder: Path) -> None:
    """Each picture as a file."""
    from onkel.apps.reproduce.drawing import draw, pictures
    from onkel.apps.reproduce.figures import FIGURES

    folder.mkdir(exist_ok=True)
    for picture in pictures(result):
        put(files, str(folder / f"{picture.name}.svg"), draw(picture, FIGURES[result.experiment].metric.name))


def say(dataset: str, algorithm: str) -> None:
    """Tell a person who waits what is being learned."""
    if sys.stderr.isatty():
        print(f"\r\033[K{printable(dataset)}: {algorithm} ...", end="\r", file=sys.stderr, flush=True)


def show_table(result: Any) -> None:
    """The result as a person reads it."""
    from onkel.apps.reproduce.experiments import EXPERIMENTS
    from onkel.apps.reproduce.pages import HEADINGS, cells, extent, summary

    experiment = EXPERIMENTS[result.experiment]
    show(f"{experiment.title}: {experiment.metric.name}. {extent(result)}")
    if result.lines:
        show(columns([list(HEADINGS), *(cells(result, line) for line in result.lines)]))
        show(summary(result))
    for name, how in result.absent.items():
        show(f"{name}: {how}")


def show_figure(result: Any) -> None:
    """A figure as a person reads it."""
    from onkel.apps.reproduce.drawing import pictures
    from onkel.apps.reproduce.figure_pages import cells, findings, verdict
    from onkel.apps.reproduce.figures import FIGURES
    from onkel.apps.reproduce.pages import extent

    figure = FIGURES[result.experiment]
    show(f"{figure.title}: {figure.metric.name}, CPU seconds. {extent(result)}")
    for picture in pictures(result):
        show(f"\n{picture.title}")
        show(columns([[*row, ""] for row in cells(picture, figure.metric, result.runs)], names=1))
    show("")
    for claim, dataset, holds, said in findings(result):
        show(f"{dataset}: {claim.text} {verdict(claim, holds)} ({said})")
    for across, why in dict.fromkeys((line.across, line.note) for line in result.lines if line.note):
        show(f"{across}: {why}")
    for name, how in result.absent.items():
        show(f"{name}: {how}")


def columns(rows: list[list[str]], names: int = 2) -> str:
    """Text in columns: names to the left, numbers to the right, the last one as long as it is.

    >>> print(columns([["a", "b", "1", "why"], ["longer", "b", "10", ""]]))
    a       b   1  why
    longer  b  10
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    *widths, _ = widths
    lines = []
    for *row, last in rows:
        sides = "<" * names + ">" * len(row)
        placed = [f"{text:{side}{width}}" for text, side, width in zip(row, sides, widths, strict=False)]
        lines.append("  ".join([*placed, last]).rstrip())
    return "\n".join(lines)
