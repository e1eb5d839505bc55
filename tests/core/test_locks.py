"""Threads that share a model."""

import copy
import pickle
import threading
import time

import numpy as np
import pytest

from onkel import KernelClassifier, KernelRegressor, auto, fogd, nogd, rbp

ASKED = np.random.default_rng(9).normal(size=(40, 4))
LEARNERS = [fogd(gamma=0.3, n_frequencies=64), rbp(gamma=0.3, budget=50), nogd(gamma=0.3, budget=20), auto()]


def blocks(count, rows=60):
    rng = np.random.default_rng(0)
    for _ in range(count):
        X = rng.normal(size=(rows, 4))
        yield X, X[:, 0] * X[:, 1] + 0.3 * X[:, 2]


def answers(model):
    """What a model says, as bytes: probabilities need scores and their calibration to be of the same moment."""
    if isinstance(model, KernelRegressor):
        return model.predict_interval(ASKED).tobytes()
    return model.predict_proba(ASKED).tobytes()


def answer_of_one(model):
    return model.predict_one(ASKED[0])


def begun(kind, learner):
    X, y = next(blocks(1))
    model = kind(learner)
    return model.partial_fit(X, y > 0, classes=[False, True]) if kind is KernelClassifier else model.partial_fit(X, y)


@pytest.mark.parametrize("kind", [KernelClassifier, KernelRegressor])
@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: learner.name)
def test_who_predicts_while_another_learns_sees_a_model_between_two_calls(kind, learner):
    def taught(model, X, y):
        model.partial_fit(X, y > 0 if kind is KernelClassifier else y)

    if kind is KernelRegressor and "regression" not in learner.tasks:
        pytest.skip("it learns classes only")
    alone = begun(kind, learner)
    possible, singly = {answers(alone)}, {answer_of_one(alone)}
    for X, y in blocks(40):
        taught(alone, X, y)
        possible.add(answers(alone))
        singly.add(answer_of_one(alone))

    model, done, strange, count = begun(kind, learner), threading.Event(), [], [0, 0]

    def ask(number):
        while not done.is_set():
            if answers(model) not in possible or answer_of_one(model) not in singly:
                strange.append(number)
            count[number] += 1

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for X, y in blocks(40):
        taught(model, X, y)
    while min(count) < 3:
        time.sleep(0.001)
    done.set()
    for thread in threads:
        thread.join()
    assert strange == []
    assert answers(model) == answers(alone)


def test_scores_of_one_row_stay_what_they_were():
    online = fogd(gamma=0.3, n_frequencies=8).start(4)
    first = online.learn_one(ASKED[0], 1.0)
    second = online.score_one(ASKED[0])
    kept = second.copy()
    online.learn_one(ASKED[1], -1.0)
    online.score_one(ASKED[2])
    assert first.tolist() == [0.0]
    assert second.tolist() == kept.tolist() != [0.0]


@pytest.mark.parametrize("again", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_a_copy_has_a_turn_of_its_own(again):
    model = begun(KernelClassifier, fogd(gamma=0.3, n_frequencies=8))
    other = again(model)
    with model.online_.turn:  # in another thread: this one may take both
        found = []
        thread = threading.Thread(target=lambda: found.append(answers(other)))
        thread.start()
        thread.join(timeout=30)
    assert found == [answers(model)]


def test_a_model_that_begins_anew_keeps_its_turn():
    model = begun(KernelClassifier, fogd(gamma=0.3, n_frequencies=8))
    turn = model.online_.turn
    X, y = next(blocks(1))
    assert model.fit(X, y > 0).online_.turn is turn


def test_a_regressor_that_grows_while_a_thread_waits_to_predict_answers_with_the_grown_model():
    model = KernelRegressor(fogd(gamma=1.0), features="grow")
    model.learn_one({"a": 0.5}, 1.0)
    found = []
    waiting = threading.Thread(target=lambda: found.append(model.predict_one({"a": 0.5, "b": 0.1})))
    with model.online_.turn:
        waiting.start()
        time.sleep(0.2)  # it has looked at the model and waits for its turn
        model.learn_one({"a": 0.1, "b": 0.2}, 0.0)
    waiting.join()
    assert found == [model.predict_one({"a": 0.5, "b": 0.1})]
