"""``onkel``: parse the command line, run the command, turn every expected error into one sentence and exit code 2."""

import argparse
import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import onkel
from onkel.apps import cli
from onkel.apps.cli.writing import flush_standard_output
from onkel.core.interrupts import never_lost
from onkel.core.terminal import complain
from onkel.core.whole_files import WRITING

# in the help; then the others
FIRST = ("run", "compare", "tune", "predict", "export", "describe", "data", "reproduce", "warm")


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one sentence."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._negative_number_matcher = re.compile(r"-[0-9.].*")  # "-1,1" is a list of classes, not an option

    def error(self, message: str) -> None:  # type: ignore[override]
        raise UsageError(message[:1].upper() + message[1:].rstrip(".") + f". See `{self.prog} --help`.")


class UsageError(ValueError):
    """A command line that cannot be understood."""


def parser(wanted: str = "") -> argparse.ArgumentParser:
    """The parser of the command that is wanted, if there is one in the file of that name; else of all commands."""
    top = Parser(prog="onkel", description="Online kernel learning from streams, row by row, in constant memory.")
    top.add_argument("--version", action="version", version=f"onkel {onkel.__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=Parser)
    for command in found(wanted) or found():
        command.add_to(commands)
    return top if not wanted or wanted in commands.choices else parser()


def found(wanted: str = "") -> list[Any]:
    """The commands: all files of this package, or the one that is wanted, that have the function `add_to`."""
    names = sorted(module.name for module in iter_modules(cli.__path__) if wanted in ("", module.name))
    names.sort(key=lambda name: FIRST.index(name) if name in FIRST else len(FIRST))
    modules = [import_module(f"{cli.__name__}.{name}") for name in names]
    return [module for module in modules if hasattr(module, "add_to")]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns its exit code."""
    try:
        with never_lost():
            arguments = sys.argv[1:] if arguments is None else arguments
            options = parser(next(iter(arguments), "")).parse_args(arguments)
            options.run(options)
            flush_standard_output()
    except BrokenPipeError:  # nobody reads on, as in `onkel data list | head`
        _give_up_standard_output()
        return 141
    except (ValueError, OSError, MemoryError) as error:
        complain(_sentence(error))
        _give_up_standard_output()
        return 2
    except KeyboardInterrupt as interrupt:
        complain(str(interrupt) or "stopped.")
        return 130
    return 0


def _give_up_standard_output() -> None:
    """Where it takes no more, send what is left nowhere, or Python would complain as it ends."""
    try:
        flush_standard_output()
    except (OSError, ValueError):
        with suppress(OSError, ValueError):  # a standard output of Python's own, in tests
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _sentence(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        name = error.filename or ("standard output" if error.errno in WRITING else "")  # all other files have names
        return f"{name}: {error.strerror}." if name else f"{error.strerror}."
    if isinstance(error, MemoryError):
        return "there is not enough memory for a model of this size."
    return " ".join(str(error).split())
