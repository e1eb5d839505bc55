"""Ctrl-C waits for a safe point; rows are cut so that it does not wait long."""

import signal
import subprocess
import sys
import threading
import time
import weakref

import pytest

from onkel.core import interrupts
from onkel.core.interrupts import LONGEST, Pace, never_lost, patiently, safe_point, uninterrupted
from onkel.recipes import auto, ogd, omkc, omkr, raker


def control_c():
    signal.raise_signal(signal.SIGINT)


def out_of_memory():
    raise MemoryError


def test_control_c_waits_for_the_end():
    done = []
    with pytest.raises(KeyboardInterrupt), uninterrupted():  # noqa: PT012
        control_c()
        done.append(1)
    assert done == [1]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_control_c_is_let_through_at_a_safe_point_of_the_outermost():
    done = []
    with pytest.raises(KeyboardInterrupt), uninterrupted():  # noqa: PT012
        with uninterrupted():
            control_c()
        done.append(1)
        safe_point()
        done.append(2)
    assert done == [1]


def test_control_c_comes_again_where_python_would_forget_it():
    thing = type("Thing", (), {})()
    callback = weakref.ref(thing, lambda _: control_c())
    with pytest.raises(KeyboardInterrupt), never_lost():  # noqa: PT012
        del thing
        assert callback() is None
        time.sleep(5)


def test_it_is_let_through_once():
    with pytest.raises(KeyboardInterrupt), uninterrupted():  # noqa: PT012
        control_c()
        control_c()
    safe_point()
    with uninterrupted():
        safe_point()


def test_who_handles_control_c_is_told():
    told = []
    before = signal.signal(signal.SIGINT, lambda *signalled: told.append(signalled[0]))
    try:
        with uninterrupted():
            control_c()
            assert told == []
            safe_point()
            assert told == [signal.SIGINT]
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("handler", [signal.SIG_IGN, signal.SIG_DFL])
def test_where_no_python_handles_control_c_nothing_changes(handler):
    before = signal.signal(signal.SIGINT, handler)
    try:
        with uninterrupted():
            assert signal.getsignal(signal.SIGINT) is handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_another_thread_lets_nothing_through():
    raised = []

    def other():
        try:
            with uninterrupted():
                safe_point()
        except KeyboardInterrupt as error:
            raised.append(error)

    thread = threading.Thread(target=other)
    with pytest.raises(KeyboardInterrupt), uninterrupted():  # noqa: PT012
        control_c()
        thread.start()
        thread.join()
    assert raised == []


def test_control_c_does_not_wait_for_what_cannot_be_cut():
    done = threading.Event()
    threading.Timer(0.05, signal.raise_signal, (signal.SIGINT,)).start()
    with pytest.raises(KeyboardInterrupt), uninterrupted():
        patiently(lambda: done.wait(30.0))
    done.set()


def test_what_is_done_patiently_gives_what_it_gives_or_raises():
    with uninterrupted():
        assert patiently(lambda: 3) == 3
    with pytest.raises(MemoryError), uninterrupted():
        patiently(out_of_memory)


@pytest.mark.parametrize("pace", [1e-7, 1e-5, 1e-3, 0.05, 1.0])
def test_parts_take_about_as_long_as_control_c_may_wait(monkeypatch, pace):
    now, longest = [0.0], 0.0
    monkeypatch.setattr(interrupts, "perf_counter", lambda: now[0])
    slices = Pace().slices(int(3.0 / pace) + 40)
    covered = []
    for part in slices:
        rows = part.stop - part.start
        now[0] += rows * pace
        longest = max(longest, rows * pace) if covered and covered[-1].stop > 4 * interrupts.FIRST else longest
        covered.append(part)
    assert [part.start for part in covered[1:]] == [part.stop for part in covered[:-1]]
    assert covered[-1].stop == int(3.0 / pace) + 40
    assert longest <= max(LONGEST, pace) * 1.01


def test_a_pace_recovers_from_a_part_that_took_long(monkeypatch):
    now, pace = [0.0], Pace()
    monkeypatch.setattr(interrupts, "perf_counter", lambda: now[0])
    for seconds in [5.0, *[1e-6] * 12]:
        for part in pace.slices(pace.rows):
            now[0] += seconds * (part.stop - part.start)
    assert pace.rows > 10_000


def test_wide_rows_after_narrow_ones_are_cut_anew(monkeypatch):
    now, pace, longest = [0.0], Pace(), 0.0
    monkeypatch.setattr(interrupts, "perf_counter", lambda: now[0])
    for width, n in [(2, 100_000), (20_000, 3000), (2, 100_000), (300, 10_000)]:
        for part in pace.slices(n, width):
            seconds = (part.stop - part.start) * width * 1e-7
            now[0] += seconds
            longest = max(longest, seconds)
    assert longest <= LONGEST * 1.01
    assert pace.rows > 1000


CHILD = """
import os, signal, sys, threading, time
import numpy as np
from onkel.recipes import RECIPES
from onkel.core.trees import same

name, task = sys.argv[1:]
rng = np.random.default_rng(0)
X = rng.normal(size=(3000, 6))
targets = np.sin(2 * X[:, 0]) + X[:, 1] + rng.normal(size=len(X))
y = targets if task == "regression" else np.where(targets > 0, 1.0, -1.0)

def start():
    return RECIPES[name]().start(6, task)

def send():
    random = np.random.default_rng(1)
    while not over.is_set():
        time.sleep(random.uniform(0.0, 0.01))
        os.kill(os.getpid(), signal.SIGINT)

expected, online, caught, over = start(), start(), 0, threading.Event()
expected.learn(X, y)
sender = threading.Thread(target=send, daemon=True)
while caught < 20:
    try:
        if online.rows_learned == len(X):
            assert same(online.model, expected.model)
            online = start()
        if not sender.is_alive():
            sender.start()
        first = online.rows_learned
        online.learn(X[first:first + 300], y[first:first + 300])
    except KeyboardInterrupt:
        caught += 1
over.set()
try:
    sender.join()
    time.sleep(0.01)
except KeyboardInterrupt:
    pass
online.learn(X[online.rows_learned:], y[online.rows_learned:])
assert same(online.model, expected.model)
"""
STORMS = [(ogd, "binary"), (omkc, "binary"), (omkr, "regression"), (raker, "regression"), (auto, "binary")]


@pytest.mark.parametrize(("recipe", "task"), STORMS, ids=[f"{r.__name__}-{t}" for r, t in STORMS])
def test_a_storm_of_control_c_changes_no_bit(recipe, task):
    done = subprocess.run(
        [sys.executable, "-c", CHILD, recipe.__name__, task], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-2000:]
