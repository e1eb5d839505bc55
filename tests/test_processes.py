"""Models in processes and event loops: the same bits, and a fork meets a model between two calls or says so."""

import asyncio
import copy
import multiprocessing
import os
import signal
import threading
import time

import joblib
import numpy as np
import pytest
from sklearn.model_selection import cross_val_score

from onkel import KernelClassifier, KernelRegressor, auto, ogd, raker
from onkel.core import locks, threads, verbs
from onkel.core.interrupts import uninterrupted
from onkel.files.snapshot import flatten

N, MANY, BLOCK = 6000, 5000, 100  # rows; as many as wake the pool of threads; and few
X = np.random.default_rng(0).normal(size=(N, 8))
SIGNAL = np.sin(2.0 * X[:, 0]) + X[:, 1]
MODELS = {
    "auto": lambda: (KernelClassifier(auto(n_frequencies=32)), (SIGNAL > 0).astype(int), {"classes": [0, 1]}),
    "raker": lambda: (KernelRegressor(raker(n_frequencies=32)), SIGNAL, {}),
}
PATIENCE = 60  # seconds after which a child is given up
each_model = pytest.mark.parametrize("name", MODELS)
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")


@pytest.fixture(autouse=True)
def two_threads(monkeypatch):
    monkeypatch.setenv("ONKEL_THREADS", "2")
    monkeypatch.setattr(threads, "WORTH", 0.0)  # the pool is used wherever it can be


def begun(name, rows=MANY):
    model, y, first = MODELS[name]()
    return model.partial_fit(X[:rows], y[:rows], **first), y


def digest(model):
    """All numbers of a model and of what its scores mean."""
    arrays = []
    flatten(model.online_.model, arrays)
    flatten(model.answers_.content(), arrays)
    return [array.tobytes() for array in arrays]


def gone_on(model, y):
    """What a model is after the rest of the rows, and what it answers to all of them."""
    model.partial_fit(X[MANY:], y[MANY:])
    model.learn_one(X[0], y[0])
    return digest(model), model.predict(X).tolist(), model.predict_one(X[1])


def in_child(work, context="fork"):
    """What `work` gives in another process; what it raises, as text; a child that hangs is ended."""
    with multiprocessing.get_context(context).Pool(1) as pool:
        return pool.apply_async(work).get(PATIENCE)


def forked(work):
    """The same in a child that sees the names of this process as they are."""
    ours, theirs = multiprocessing.Pipe(duplex=False)

    def told():
        try:
            theirs.send(work())
        except Exception as error:
            theirs.send(error)

    child = multiprocessing.get_context("fork").Process(target=told)
    child.start()
    try:
        assert ours.poll(PATIENCE), "the child hangs"
        return ours.recv()
    finally:
        child.kill()
        child.join()


class InThread:
    """Runs something in another thread again and again until it is left."""

    def __init__(self, work):
        self.over, self.rounds = threading.Event(), 0

        def rounds():
            while not self.over.is_set():
                work()
                self.rounds += 1

        self.thread = threading.Thread(target=rounds)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()


@needs_fork
@each_model
def test_a_model_goes_on_in_a_child_and_in_its_parent(name):
    model, y = begun(name)
    model.predict(X)
    assert any(thread.name.startswith("onkel") for thread in threading.enumerate()), "the pool was not needed"
    theirs = forked(lambda: gone_on(model, y))
    assert theirs == gone_on(model, y) == gone_on(*begun(name))


@needs_fork
@each_model
def test_a_child_made_while_a_thread_learns_has_a_model_between_two_calls(name):
    model, y = begun(name, 1)
    alone, moments = begun(name, 1)[0], {}
    for first in range(1, N, BLOCK):
        alone.partial_fit(X[first : first + BLOCK], y[first : first + BLOCK])
        moments[alone.online_.rows_learned] = digest(alone)

    def learn():
        first = model.online_.rows_learned
        if first < N:
            model.partial_fit(X[first : first + BLOCK], y[first : first + BLOCK])

    def child():
        found = model.online_.rows_learned, digest(model)
        learn()
        return *found, digest(model)

    with InThread(learn) as other:
        seen = []
        while model.online_.rows_learned < N:
            seen.append(forked(child))
    assert other.rounds
    assert seen
    for answer in seen:
        if isinstance(answer, RuntimeError):  # the thread did not let go for so long
            assert str(answer) == locks.LOST
            continue
        rows, before, after = answer
        assert before == moments.get(rows, before)
        assert after == moments[min(rows + BLOCK, N)]
    assert digest(model) == moments[N]


USES = {
    "predict": lambda model, y: model.predict(X),
    "partial_fit": lambda model, y: model.partial_fit(X, y),
    "predict_one": lambda model, y: model.predict_one(X[0]),
    "learn_one": lambda model, y: model.learn_one(X[0], y[0]),
    "fit": lambda model, y: model.fit(X, y),
    "deepcopy": lambda model, y: copy.deepcopy(model),
}


@needs_fork
@pytest.mark.parametrize("use", USES)
def test_a_model_that_a_thread_did_not_let_go_is_refused_in_the_child_only(use, monkeypatch):
    monkeypatch.setattr(locks, "PATIENCE", 0.05)
    model, y = begun("auto", BLOCK)
    other = begun("auto", BLOCK)[0]
    entered, over = threading.Event(), threading.Event()

    def hold():
        with model.online_.lock:
            entered.set()
            over.wait()

    def used():
        return USES[use](model, y)

    thread = threading.Thread(target=hold)
    thread.start()
    entered.wait()
    try:
        assert forked(lambda: other.predict(X).tolist()) == other.predict(X).tolist()
        refused = forked(used)
    finally:
        over.set()
        thread.join()
    assert isinstance(refused, RuntimeError)
    assert str(refused) == locks.LOST
    used()  # here it goes on


@needs_fork
def test_a_first_fit_in_a_thread_is_waited_for():
    for delay in (0.0, 0.002, 0.01, 0.03):
        model, y, _ = MODELS["auto"]()
        thread = threading.Thread(target=model.fit, args=(X[:1000], y[:1000]))
        thread.start()
        time.sleep(delay)
        found = forked(lambda: model.predict(X).tolist() if hasattr(model, "online_") else None)  # noqa: B023
        thread.join()
        assert found in (None, model.predict(X).tolist()) or str(found) == locks.LOST


@needs_fork
def test_a_fork_waits_for_who_compiles():
    entered, over = threading.Event(), threading.Event()

    def hold():
        with verbs.LOCKS[0], verbs.LOCKS[1], verbs.LOCKS[2]:
            entered.set()
            over.wait()

    def taken():
        for lock in verbs.LOCKS:
            lock.acquire()
        return True

    thread, timer = threading.Thread(target=hold), threading.Timer(0.1, over.set)
    thread.start()
    entered.wait()
    timer.start()
    assert forked(taken)
    thread.join()


@needs_fork
def test_control_c_works_in_a_child_that_another_thread_made():
    found = []

    def interrupted():
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            return True
        return False

    thread = threading.Thread(target=lambda: found.append(forked(interrupted)))
    with uninterrupted():
        thread.start()
        thread.join()
    assert found == [True]


class Task:
    """A model that goes on in another process, which imports what it needs."""

    def __init__(self, name):
        self.model, self.y = begun(name)

    def __call__(self):
        return gone_on(self.model, self.y)


@each_model
@pytest.mark.parametrize("context", ["spawn", "forkserver"])
def test_a_pickled_model_goes_on_in_a_fresh_process(context, name):
    if context not in multiprocessing.get_all_start_methods():
        pytest.skip("not on this system")
    assert in_child(Task(name), context) == gone_on(*begun(name))


@each_model
def test_models_go_on_in_workers_of_joblib(name):
    found = joblib.Parallel(n_jobs=2, backend="loky")(joblib.delayed(Task(name))() for _ in range(2))
    assert found == [gone_on(*begun(name))] * 2


def test_cross_validation_in_two_processes_gives_the_same_scores():
    model, y, _ = MODELS["auto"]()
    alone = cross_val_score(model, X[:900], y[:900], cv=3)
    assert cross_val_score(model, X[:900], y[:900], cv=3, n_jobs=2).tolist() == alone.tolist()


@each_model
def test_threads_of_asyncio_learn_and_predict_on_one_model(name):
    alone, y = begun(name, 1)
    possible = {alone.predict(X[:50]).tobytes()}
    model = begun(name, 1)[0]
    cuts = [slice(first, first + BLOCK) for first in range(1, 2000, BLOCK)]
    for part in cuts:
        alone.partial_fit(X[part], y[part])
        possible.add(alone.predict(X[:50]).tobytes())

    async def both():
        async def learn():
            for part in cuts:
                await asyncio.to_thread(model.partial_fit, X[part], y[part])

        learning, answers = asyncio.create_task(learn()), []
        while not learning.done():
            answers.append(await asyncio.to_thread(model.predict, X[:50]))
        await learning
        return answers

    answers = asyncio.run(both())
    assert {answer.tobytes() for answer in answers} <= possible
    assert digest(model) == digest(alone)


@pytest.mark.parametrize("where", ["thread", "loop"])
def test_control_c_ends_an_event_loop_after_a_whole_call(where):
    model, y = begun("auto", 1)
    ends = []

    async def learn():
        signal.raise_signal(signal.SIGINT) if where == "loop" else None
        try:
            if where == "thread":
                threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
                for _ in range(1000):
                    await asyncio.to_thread(model.partial_fit, X[1:], y[1:])
            else:
                model.learn_one(X[1], y[1])
                await asyncio.sleep(60)
        except asyncio.CancelledError:
            ends.append("cancelled")
            raise

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(learn())
    assert ends == ["cancelled"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert (model.online_.rows_learned - 1) % (N - 1) == 0 or where == "loop"
    expected = begun("auto", 1)[0]
    while expected.online_.rows_learned < model.online_.rows_learned:
        expected.partial_fit(X[1:], y[1:]) if where == "thread" else expected.learn_one(X[1], y[1])
    assert digest(model) == digest(expected)


def test_control_c_while_the_loop_itself_learns_cancels_its_task():
    model, y = KernelClassifier(ogd(gamma=0.1)), (SIGNAL > 0).astype(int)
    ends = []

    async def learn():
        model.partial_fit(X[:1], y[:1], classes=[0, 1])
        online, sent = model.online_, []

        def then(part, scores):
            if not sent:
                sent.append(signal.raise_signal(signal.SIGINT))

        online.learn(X[1:], np.where(y[1:], 1.0, -1.0), then=then)
        ends.append(online.rows_learned)
        await asyncio.sleep(60)

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(learn())
    assert ends == [N]  # cancelling waits for the next `await`
