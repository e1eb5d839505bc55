"""Times of `onkel reproduce` are those of learning: nothing that happens once, or by chance, is among them."""

import gc
from contextlib import contextmanager

import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher
from scipy import sparse
from threadpoolctl import threadpool_info

from onkel import datasets
from onkel.apps.reproduce import EXPERIMENTS, FIGURES, curves, protocols
from onkel.apps.reproduce.curves import MEASURES, watched
from onkel.apps.reproduce.loading import Task
from onkel.apps.reproduce.spec import ROWS, Entry
from onkel.apps.reproduce.timing import clock, undisturbed
from onkel.core import verbs
from onkel.streams.block import Block
from tests.tables import LAYOUTS

FEW = {"B": 20, "k": 5, "D": 8, "D_f": 8, "b": 20}  # a budget that is full soon


def task_of(kind, layout="dense"):
    """A small data set: two classes, three, or numbers, with a test part."""
    rng = np.random.default_rng(0)
    X = np.abs(rng.normal(size=(300, 4)).round(2)).astype(np.float32)
    signal = X[:, 0] - X[:, 1] + 0.3 * rng.normal(size=300)
    y = {
        "binary": np.where(signal > 0.0, 1.0, -1.0),
        "multiclass": np.digitize(signal, [-0.5, 0.5]).astype(float),
        "regression": np.clip(signal / 4.0 + 0.5, 0.0, 1.0),
    }[kind]
    rows = X if layout == "dense" else sparse.csr_matrix(X)
    n_outputs = 3 if kind == "multiclass" else 1
    return Task(Block(rows[:240], y[:240]), Block(rows[240:], y[240:]), "", {"task": kind, "n_outputs": n_outputs}, 2)


def ends(value):
    """Of several values to choose from the first and the last."""
    return (value[0], value[-1]) if isinstance(value, tuple) else value


def algorithms(name):
    """(learner, letters, whether a stream is watched) of all that a table or a figure learns."""
    one = {**EXPERIMENTS, **FIGURES}[name]
    small = {key: value for key, value in FEW.items() if key in one.letters}
    letters = {key: ends(value) for key, value in {**one.letters, **small, "n": 60, "d": 4}.items()}
    if name in EXPERIMENTS:
        return [(made, letters, False) for made in one.algorithms.values() if isinstance(made, Entry)]
    return [
        (made, {**letters, **({panel.across: ends(panel.values)[0]} if panel.values else {})}, panel.across == ROWS)
        for panel in one.panels
        for made in panel.algorithms.values()
        if isinstance(made, Entry)
    ]


def kind_of(name):
    """What the first data set of a table or a figure is about."""
    first = next(iter({**EXPERIMENTS, **FIGURES}[name].sources.values()))
    return "binary" if first.positive or first.above is not None else datasets.info(first.name).task


@pytest.fixture
def compiled(monkeypatch):
    """Names of what is compiled, or loaded from the cache, while a clock runs."""
    names, running = [], []
    compile_it = Dispatcher.compile

    def watched_compile(self, sig):
        names.extend([self.py_func.__qualname__] * bool(running))
        return compile_it(self, sig)

    @contextmanager
    def watched_clock():
        with clock() as seconds:
            running.append(True)
            yield seconds
            running.pop()

    monkeypatch.setattr(Dispatcher, "compile", watched_compile)
    for module in (protocols, curves):
        monkeypatch.setattr(module, "clock", watched_clock)
    yield names
    forget_what_is_loaded()


def forget_what_is_loaded():
    """As in a process that begins: compiled code is on the disk at most."""
    verbs._dispatcher.cache_clear()
    verbs._dispatchers.clear()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", [*EXPERIMENTS, *FIGURES])
def test_nothing_is_compiled_or_loaded_while_the_clock_runs(name, layout, compiled):
    protocol, task = {**EXPERIMENTS, **FIGURES}[name].protocol, task_of(kind_of(name), layout)
    for made, letters, along in algorithms(name):
        forget_what_is_loaded()
        if along:
            watched(protocol, made, {**letters, "initial": 0.5}, task, 1)
        else:
            MEASURES[protocol](made, {**letters, "initial": 0.5}, task, 1)
        assert compiled == [], made


def test_lapack_has_one_thread_and_garbage_waits_while_the_clock_runs():
    def threads():
        return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

    before = threads()
    for alone in (undisturbed, clock):
        with alone():
            assert set(threads()) == {1}
            assert not gc.isenabled()
        assert threads() == before
        assert gc.isenabled()


def test_the_clock_runs_only_while_rows_are_learned_or_parameters_chosen(monkeypatch):
    events, learner = [], protocols.Learner

    @contextmanager
    def noted_clock():
        with clock() as seconds:
            events.append("begin")
            yield seconds
            events.append("end")

    def noted(name, method):
        return lambda *given, **more: (events.append(name), method(*given, **more))[1]

    monkeypatch.setattr(protocols, "clock", noted_clock)
    monkeypatch.setattr(protocols, "rehearse", noted("rehearse", protocols.rehearse))
    monkeypatch.setattr(learner, "start", noted("start", learner.start))
    MEASURES["held out"](Entry("rbp", {"gamma": 1.0, "budget": 9}), {}, task_of("binary"), 2)
    assert events == ["rehearse", "start", "begin", "end", *["start", "begin", "end"] * 2]
