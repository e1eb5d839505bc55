"""Faults at chosen moments of a call: an exception, or Ctrl-C, at the k-th event inside of the package."""

import signal
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import onkel
from onkel.core.verbs import EntryPoint

PACKAGE = str(Path(onkel.__file__).parent)
OWN = ("core/interrupts.py", "core/undo.py", "core/trees.py")  # what takes back; it cannot itself be taken back


def anything(*_):
    """Every call and every return of the package's own Python code."""
    return True


def allocations(frame, event, function):
    """Calls of NumPy, where memory may be wanting, and those of compiled code, by which one part is learned."""
    if event == "c_call":
        owner = getattr(function, "__self__", None)
        return isinstance(owner, np.ndarray) or (getattr(function, "__module__", None) or "").startswith("numpy")
    return frame.f_code is EntryPoint.__call__.__code__ and "surely" not in callers(frame)


def callers(frame):
    """The names of the functions that wait for this one."""
    found = set()
    while frame is not None:
        found.add(frame.f_code.co_name)
        frame = frame.f_back
    return found


class Moments:
    """Counts events of the package's own Python code, and acts at one of them."""

    def __init__(self, wanted, at, act):
        self.wanted, self.at, self.act, self.seen = wanted, at, act, 0

    def __call__(self, frame, event, function):
        file = frame.f_code.co_filename
        if not file.startswith(PACKAGE) or file.endswith(OWN) or not self.wanted(frame, event, function):
            return
        self.seen += 1
        if self.seen == self.at:
            sys.setprofile(None)
            self.act()


def out_of_memory():
    raise MemoryError("for the test")


def control_c():
    signal.raise_signal(signal.SIGINT)


class Fault(NamedTuple):
    """Something that happens at a moment."""

    act: Any
    kind: type[BaseException]
    wanted: Any

    def moments(self, call):
        """How many moments a call has."""
        counter = Moments(self.wanted, 0, None)
        sys.setprofile(counter)
        try:
            call()
        finally:
            sys.setprofile(None)
        return counter.seen

    def at(self, moment, call):
        """Whether a call has such a moment, and what it raises when it happens then."""
        counter = Moments(self.wanted, moment, self.act)
        sys.setprofile(counter)
        try:
            call()
        except BaseException as error:
            return True, error
        finally:
            sys.setprofile(None)
        return counter.seen >= moment, None


FAULTS = {
    "out of memory": Fault(out_of_memory, MemoryError, allocations),
    "control-c": Fault(control_c, KeyboardInterrupt, anything),
}
each_fault = pytest.mark.parametrize("fault", FAULTS.values(), ids=list(FAULTS))
