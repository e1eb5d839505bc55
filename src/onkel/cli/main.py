"""``onkel``: parse the command line, run the command, turn every expected error into one sentence and exit code 2."""

import argparse
import os
import re
import sys
from collections.abc import Sequence
from typing import Any

import onkel
from onkel.cli import compare, completion, data, describe, export, predict, reproduce, run, tune, warm
from onkel.terminal import complain


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one sentence."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._negative_number_matcher = re.compile(r"-[0-9.].*")  # "-1,1" is a list of classes, not an option

    def error(self, message: str) -> None:  # type: ignore[override]
        raise UsageError(message[:1].upper() + message[1:].rstrip(".") + f". See `{self.prog} --help`.")


class UsageError(ValueError):
    """A command line that cannot be understood."""


def parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    top = Parser(prog="onkel", description="Online kernel learning from streams, row by row, in constant memory.")
    top.add_argument("--version", action="version", version=f"onkel {onkel.__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=Parser)
    for command in (run, compare, tune, predict, export, describe, data, reproduce, warm, completion):
        command.add_to(commands)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns its exit code."""
    try:
        options = parser().parse_args(arguments)
        options.run(options)
        sys.stdout.flush()
    except BrokenPipeError:  # nobody reads on, as in `onkel data list | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python would complain as it ends
        return 141
    except (ValueError, OSError, MemoryError) as error:
        complain(_sentence(error))
        return 2
    except KeyboardInterrupt as interrupt:
        complain(str(interrupt) or "stopped.")
        return 130
    return 0


def _sentence(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}." if error.filename else f"{error.strerror}."
    if isinstance(error, MemoryError):
        return "there is not enough memory for a model of this size."
    return " ".join(str(error).split())
