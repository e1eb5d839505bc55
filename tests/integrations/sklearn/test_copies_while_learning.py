"""Copies and files that are made while another thread learns are those of a moment between two calls."""

import copy
import pickle
import threading

import numpy as np
import pytest

from onkel import KernelClassifier, KernelRegressor, auto, ogd
from onkel.files.snapshot import flatten

N, BLOCK = 3000, 150
X = np.random.default_rng(0).normal(size=(N, 12))
LABELS = {KernelClassifier: (np.sin(3 * X[:, 0]) > 0).astype(int), KernelRegressor: np.sin(3 * X[:, 0])}
LEARNERS = [ogd(gamma=0.1), auto(n_frequencies=32)]


def digest(model):
    """All numbers of a model and of what its scores mean."""
    arrays = []
    flatten(model.online_.model, arrays)
    flatten(model.answers_.content(), arrays)
    return hash(tuple(array.tobytes() for array in arrays))


def started(Estimator, learner):
    first = {"classes": [0, 1]} if Estimator is KernelClassifier else {}
    return Estimator(learner).partial_fit(X[:1], LABELS[Estimator][:1], **first)


def learn(model, labels, done=lambda: None):
    for at in range(1, N, BLOCK):
        model.partial_fit(X[at : at + BLOCK], labels[at : at + BLOCK])
        done()


def filed(model, path):
    model.save(path)
    return type(model).load(path)


MAKERS = {
    "deepcopy": lambda model, _: copy.deepcopy(model),
    "copy": lambda model, _: copy.copy(model),
    "pickle": lambda model, _: pickle.loads(pickle.dumps(model)),
    "file": filed,
}


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
@pytest.mark.parametrize("Estimator", LABELS)
def test_a_copy_is_a_model_between_two_calls(Estimator, learner, tmp_path):
    labels, moments = LABELS[Estimator], {}
    alone = started(Estimator, learner)
    moments[alone.online_.rows_learned] = digest(alone)

    def noted():
        moments[alone.online_.rows_learned] = digest(alone)

    learn(alone, labels, noted)
    made = 0
    for _ in range(3):
        model = started(Estimator, learner)
        thread = threading.Thread(target=learn, args=(model, labels))
        thread.start()
        while thread.is_alive():
            for make in MAKERS.values():
                copied = make(model, tmp_path / "model")
                assert digest(copied) == moments[copied.online_.rows_learned]
                made += 1
        thread.join()
        assert digest(model) == moments[N]
    assert made


@pytest.mark.parametrize("Estimator", LABELS)
def test_an_exported_model_is_one_between_two_calls(Estimator):
    pytest.importorskip("onnx")
    labels, possible = LABELS[Estimator], []
    alone = started(Estimator, auto(n_frequencies=32))
    possible.append(alone.to_onnx())
    learn(alone, labels, lambda: possible.append(alone.to_onnx()))
    assert len(set(possible)) > 2
    model, made = started(Estimator, auto(n_frequencies=32)), []
    thread = threading.Thread(target=learn, args=(model, labels))
    thread.start()
    while thread.is_alive():
        made.append(model.to_onnx())
    thread.join()
    assert set(made) <= set(possible)
    assert model.to_onnx() == possible[-1]


class Learner:
    """Something in a model that lets another thread learn while it is copied, if that thread can."""

    def __init__(self, model):
        self.model = model

    def __reduce__(self):
        thread = threading.Thread(target=learn, args=(self.model, LABELS[KernelClassifier]), daemon=True)
        thread.start()
        thread.join(0.3)  # it may have to wait for the copy
        return int, ()


@pytest.mark.parametrize("which", ["deepcopy", "copy", "pickle"])
def test_model_and_answers_of_a_copy_are_of_one_moment(which, tmp_path):
    model = started(KernelClassifier, auto(n_frequencies=8))
    before = digest(model)
    answers = model.__dict__.pop("answers_")
    model.between_ = Learner(model)
    model.answers_ = answers  # comes after it
    assert digest(MAKERS[which](model, tmp_path)) == before


def test_a_copy_goes_its_own_way():
    model = started(KernelClassifier, auto(n_frequencies=8))
    copied = copy.copy(model)
    model.partial_fit(X[1:], LABELS[KernelClassifier][1:])
    assert copied.online_.rows_learned == 1
    assert digest(copied) == digest(started(KernelClassifier, auto(n_frequencies=8)))


SINGLE = [list(X[1]), tuple(X[1]), X[1], X[1].astype(np.float32), (9 * X[1]).astype(int)]


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("row", SINGLE, ids=type)
@pytest.mark.parametrize("Estimator", LABELS)
def test_a_copy_takes_single_rows_of_every_kind(Estimator, row, make, tmp_path):
    labels = LABELS[Estimator]
    model = started(Estimator, auto(n_frequencies=8))
    copied = MAKERS[make](model, tmp_path / "model")
    for one in (model, copied):
        one.learn_one(row, labels[1])
    assert digest(copied) == digest(model)
    assert copied.predict_one(row) == model.predict_one(row)
