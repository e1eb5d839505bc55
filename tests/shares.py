"""What each part of the tests costs: `./run test -p tests.shares -n 2` prints CPU seconds by folder."""

import os
from collections import Counter
from pathlib import PurePath

import pytest

spent = Counter()
CPU = "cpu seconds"


def cpu():
    """CPU seconds of this process and of its children that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    item.stash[started] = cpu()
    return (yield)


started = pytest.StashKey[float]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    report = yield
    report.user_properties = [(CPU, cpu() - item.stash[started])]  # goes from a worker to who gathers reports
    return report


def pytest_runtest_logreport(report):
    if report.when == "teardown":  # the last of a test, with all that it took
        parts = PurePath(report.nodeid.partition("::")[0]).parts
        spent["/".join(parts[: 2 if len(parts) > 2 else 1])] += dict(report.user_properties).get(CPU, 0.0)


def pytest_terminal_summary(terminalreporter):
    for folder, seconds in spent.most_common():
        terminalreporter.write_line(f"{seconds:8.0f} CPU seconds  {folder}")
