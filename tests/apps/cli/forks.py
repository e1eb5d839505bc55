"""The command line in a child of this process, which has compiled everything and may be treated badly."""

import io
import os
import sys
import traceback
from collections.abc import Callable
from typing import NamedTuple

from onkel.apps.cli.main import main
from tests.apps.cli.common import spoken


class Done(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: list[str]


def forked(arguments: list[str], first: Callable[[], object] = lambda: None) -> Done:
    """Run a command, which prints less than a pipe holds, in a child that does something else `first`."""
    ours, theirs = zip(os.pipe(), os.pipe(), strict=True)
    child = os.fork()
    if not child:
        _as_the_command(arguments, first, theirs)
    _, status = os.waitpid(child, 0)
    for end in theirs:
        os.close(end)
    texts = []
    for end in ours:
        with open(end, encoding="utf-8") as file:
            texts.append(file.read())
    assert os.WIFEXITED(status), f"ended by signal {os.WTERMSIG(status)}"
    return Done(os.WEXITSTATUS(status), texts[0], spoken(texts[1]))


def _as_the_command(arguments, first, ends):
    code = 99
    try:
        for number, end in enumerate(ends, start=1):
            os.dup2(end, number)
        files = (io.FileIO(number, "w", closefd=False) for number in (1, 2))
        sys.stdout, sys.stderr = (io.TextIOWrapper(file, "utf-8", write_through=True) for file in files)
        first()
        code = main(arguments)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)
