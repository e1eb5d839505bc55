"""Make a table of a paper anew: its protocol, our figures beside its own, and how far both are apart."""

import argparse
import json
import sys
from typing import Any

from onkel.cli.options import add_command, count
from onkel.cli.writing import WholeFile, check_target, write_json

EXAMPLES = """examples:
  onkel reproduce                                  the experiments
  onkel reproduce lsokl-table5 --datasets german,a9a --runs 5
  onkel reproduce lsokl-table9 --quick
  onkel reproduce ik-table5 --datasets ijcnn1 --json figures.json --page ik-table5.md

Data sets are looked for in the folder that ONKEL_DATA names and in the cache (`onkel data fetch`)."""


def add_to(commands: Any) -> None:
    """Add the command and its options."""
    command = add_command(commands, "reproduce", "a table of a paper, made anew", __doc__, EXAMPLES)
    add = command.add_argument
    add("name", nargs="?", metavar="NAME", help="which table (default: list them)")
    add("--datasets", metavar="A,B", help="only these data sets of the table (default: all that are here)")
    add("--runs", type=count, metavar="N", help="permutations (default: the paper's number)")
    add("--quick", action="store_true", help="1,000 rows and 2 runs, to see that it works")
    add("--limit", type=count, metavar="N", help="at most N rows of each data set, drawn at random")
    add("--json", metavar="FILE", help="write the figures ('-' for standard output)")
    add("--page", metavar="FILE", help="write a Markdown page")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Carry out the command."""
    from onkel.reproduce import EXPERIMENTS, reproduce  # not before: `onkel --help` needs none of it
    from onkel.reproduce.pages import as_json, page

    if options.name is None:
        write_json(options.json, [{"name": n, "title": e.title, "paper": e.paper} for n, e in EXPERIMENTS.items()])
        for name, made in EXPERIMENTS.items() if options.json != "-" else ():
            print(f"{name:14s} {made.title} ({made.paper})")
        return
    for target in (options.page, options.json if options.json != "-" else None):
        if target:
            check_target(target)
    names = options.datasets.split(",") if options.datasets else None
    result = reproduce(options.name, names, options.runs, quick=options.quick, limit=options.limit, watch=say)
    if options.page:
        with WholeFile(options.page) as file:
            file.write(page(result))
    text = json.dumps(as_json(result), indent=1) + "\n"
    if options.json == "-":
        print(text, end="")
        return
    if options.json:
        with WholeFile(options.json) as file:
            file.write(text)
    show(result)


def say(dataset: str, algorithm: str) -> None:
    """Tell a person who waits what is being learned."""
    if sys.stderr.isatty():
        print(f"\r\033[K{dataset}: {algorithm} ...", end="\r", file=sys.stderr, flush=True)


def show(result: Any) -> None:
    """The result as a person reads it."""
    from onkel.reproduce.experiments import EXPERIMENTS
    from onkel.reproduce.pages import HEADINGS, cells, extent, summary

    experiment = EXPERIMENTS[result.experiment]
    print(f"{experiment.title}: {experiment.metric.name}. {extent(result)}")
    if result.lines:
        print(columns([list(HEADINGS), *(cells(result, line) for line in result.lines)]))
        print(summary(result))
    for name, how in result.absent.items():
        print(f"{name}: {how}")


def columns(rows: list[list[str]]) -> str:
    """Text in columns: names to the left, numbers to the right, the last one as long as it is.

    >>> print(columns([["a", "b", "1", "why"], ["longer", "b", "10", ""]]))
    a       b   1  why
    longer  b  10
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    *widths, _ = widths
    lines = []
    for *row, last in rows:
        sides = "<<" + ">" * len(row)
        placed = [f"{text:{side}{width}}" for text, side, width in zip(row, sides, widths, strict=False)]
        lines.append("  ".join([*placed, last]).rstrip())
    return "\n".join(lines)
