"""Which lines of the readers an input reaches, at little cost: the tracing hooks of Python 3.11.

A function is followed from line to line, pair by pair, for the share of inputs that is traced; of every other input,
only where it ended is known, which is where its error was raised. Both are signs of something new.
"""

import os
import sys
from collections.abc import Callable
from types import CodeType, FrameType, TracebackType
from typing import Any

import onkel

PACKAGE = os.path.dirname(onkel.__file__) + os.sep
OTHERS = tuple(  # nothing of an input
    f"core{os.sep}{name}.py" for name in ("verbs", "chains", "cache", "threads", "locks")
)
INTERNALS = os.path.join(PACKAGE, "core", "numba_internals")


def watched(path: str) -> bool:
    """Whether this is a file of ours that has to do with inputs."""
    return path.startswith(PACKAGE) and not path.startswith(INTERNALS) and not path.endswith(OTHERS)


class Seen:
    """Pairs of lines that any input has reached so far, one after the other, and ends that inputs came to."""

    def __init__(self) -> None:
        self.pairs = set[tuple[CodeType, int, int]]()
        self.ends = set[tuple[tuple[str, int], ...]]()
        self._watched = dict[CodeType, bool]()
        self._tracers = dict[CodeType, Callable[..., Any]]()

    def traced(self, use: Callable[[bytes], str], data: bytes) -> tuple[str, bool]:
        """What came of an input, and whether it reached a pair of lines that none before did."""
        before = len(self.pairs)
        sys.settrace(self._called)
        try:
            what = use(data)
        finally:
            sys.settrace(None)
        return what, len(self.pairs) > before

    def _called(self, frame: FrameType, event: str, _: Any) -> Any:
        code = frame.f_code
        known = self._watched.get(code)
        if known is None:
            known = self._watched[code] = watched(code.co_filename)
        return self._follower(code) if known else None

    def _follower(self, code: CodeType) -> Callable[..., Any]:
        """What notes the lines of one call."""
        last, pairs = 0, self.pairs

        def follow(frame: FrameType, event: str, _: Any) -> Any:
            nonlocal last
            if event == "line":
                here = frame.f_lineno
                pairs.add((code, last, here))
                last = here
            return follow

        return follow

    def new_end(self, trace: TracebackType | None) -> bool:
        """Whether an error was raised in lines of ours where none was before."""
        found = list[tuple[str, int]]()
        while trace is not None:
            path = trace.tb_frame.f_code.co_filename
            if path.startswith(PACKAGE):
                found.append((path, trace.tb_lineno))
            trace = trace.tb_next
        end = tuple(found)
        if end in self.ends:
            return False
        self.ends.add(end)
        return True
