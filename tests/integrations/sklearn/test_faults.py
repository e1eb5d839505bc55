"""What an estimator knows of classes, columns and its own errors never lags behind its model, nor runs ahead."""

import copy
import sys

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from onkel import KernelClassifier, KernelRegressor, auto, fogd, ogd, one_vs_rest, raker
from onkel.core.trees import same
from onkel.core.verbs import CONFIG
from onkel.files.snapshot import flatten
from tests.faults import FAULTS, each_fault

BEFORE, STOP, N = 40, 90, 130
RNG = np.random.default_rng(3)
X = RNG.normal(size=(N, 4))
GAPS = np.where(RNG.random(X.shape) < 0.2, np.nan, X)
SIGNAL = np.sin(2.0 * X[:, 0]) + X[:, 1]
TWO, SEVERAL = (SIGNAL > 0).astype(int), np.digitize(SIGNAL, [-0.5, 0.5]) + (np.arange(N) > 60)
SMALL = {"n_frequencies": 16}
CASES = {
    "auto, two classes": (KernelClassifier(auto(**SMALL)), X, TWO),
    "ogd, weights of classes": (KernelClassifier(ogd(gamma=0.3), class_weight="balanced"), X, TWO),
    "fogd, means": (KernelClassifier(fogd(gamma=0.3, **SMALL), missing="mean"), GAPS, TWO),
    "auto, classes that grow": (KernelClassifier(auto(**SMALL), classes="grow"), X, SEVERAL),
    "one_vs_rest": (KernelClassifier(one_vs_rest(ogd(gamma=0.3)), classes="grow", class_weight="balanced"), X, SEVERAL),
    "raker, intervals": (KernelRegressor(raker()), X, SIGNAL),
    "fogd, numbers and means": (KernelRegressor(fogd(gamma=0.3, **SMALL), missing="mean"), GAPS, SIGNAL),
}
each_case = pytest.mark.parametrize("case", CASES)
pytestmark = pytest.mark.skipif(CONFIG.DISABLE_JIT, reason="plain Python can be interrupted inside of a row")


def begun(model, rows, labels):
    own = {} if isinstance(model, KernelRegressor) or model.classes == "grow" else {"classes": [0, 1]}
    return copy.deepcopy(model).partial_fit(rows[:BEFORE], labels[:BEFORE], **own)


def known(model):
    """All numbers of a model, of its answers and of its columns."""
    arrays, content = [], model.answers_.content()
    means = model._columns.means
    plain = None if means is None else means.state()
    flatten((model.online_.model, tuple(content.values())), arrays)
    return [array.tolist() for array in arrays], plain


@each_fault
@each_case
def test_a_fault_at_any_moment_leaves_all_parts_at_the_same_row(case, fault):
    model, rows, labels = CASES[case]
    start = begun(model, rows, labels)
    expected, trial = copy.deepcopy(start), copy.deepcopy(start)
    expected.partial_fit(rows[BEFORE:], labels[BEFORE:])
    events = fault.moments(lambda: trial.partial_fit(rows[BEFORE:STOP], labels[BEFORE:STOP]))
    for at in range(1, events + 1, 1 + events // 60):
        other = copy.deepcopy(start)
        call = lambda other=other: other.partial_fit(rows[BEFORE:STOP], labels[BEFORE:STOP])  # noqa: E731
        came, error = fault.at(at, call)
        if not came:
            continue
        assert isinstance(error, fault.kind), f"nothing came of moment {at} of {events}"
        learned = other.online_.rows_learned
        assert BEFORE <= learned <= STOP
        other.partial_fit(rows[learned:], labels[learned:])
        assert known(other) == known(expected), f"moment {at} of {events}, after {learned} rows"


@each_fault
def test_a_fault_while_columns_come_leaves_model_and_columns_as_wide_as_each_other(fault):
    start = KernelClassifier(auto(**SMALL), features="grow", classes="grow").partial_fit(X[:BEFORE, :2], TWO[:BEFORE])
    expected, trial = copy.deepcopy(start), copy.deepcopy(start)
    expected.partial_fit(X[BEFORE:], TWO[BEFORE:])
    events = fault.moments(lambda: trial.partial_fit(X[BEFORE:STOP], TWO[BEFORE:STOP]))
    for at in range(1, events + 1, 1 + events // 80):
        other = copy.deepcopy(start)
        fault.at(at, lambda other=other: other.partial_fit(X[BEFORE:STOP], TWO[BEFORE:STOP]))
        learned = other.online_.rows_learned
        assert other._columns.width == other.online_.setting.n_features == other.n_features_in_
        other.predict(X[:3, : other.n_features_in_])
        other.partial_fit(X[learned:], TWO[learned:])
        assert known(other) == known(expected), f"moment {at} of {events}, after {learned} rows"


@each_fault
def test_a_first_call_that_fails_can_be_made_again(fault):
    expected = KernelClassifier(auto(**SMALL)).partial_fit(X, TWO, classes=[0, 1])
    events = fault.moments(lambda: KernelClassifier(auto(**SMALL)).partial_fit(X, TWO, classes=[0, 1]))
    for at in range(1, events + 1, 1 + events // 40):
        model = KernelClassifier(auto(**SMALL))
        fault.at(at, lambda model=model: model.partial_fit(X, TWO, classes=[0, 1]))
        try:
            learned = model.online_.rows_learned
            model.predict(X[:2])
        except (AttributeError, NotFittedError):
            learned = 0
        if learned < N:
            model.partial_fit(X[learned:], TWO[learned:], classes=[0, 1])
        assert known(model) == known(expected), f"moment {at} of {events}, after {learned} rows"


def test_what_is_raised_tells_how_many_rows_were_learned():
    model = begun(*CASES["auto, two classes"])
    came, error = FAULTS["control-c"].at(200, lambda: model.partial_fit(X[BEFORE:], TWO[BEFORE:]))
    assert came
    assert isinstance(error, KeyboardInterrupt)
    assert error.rows_learned == model.online_.rows_learned - BEFORE
    assert f"{error.rows_learned:,} rows of this call were learned" in error.__notes__[0]
    assert sys.getprofile() is None


@each_fault
def test_one_row_is_learned_by_all_parts_or_by_none(fault):
    model = CASES["fogd, numbers and means"][0]
    start = begun(model, GAPS, SIGNAL)
    expected = [start, copy.deepcopy(start)]
    expected[1].learn_one(GAPS[BEFORE].tolist(), SIGNAL[BEFORE])
    events = fault.moments(lambda: copy.deepcopy(start).learn_one(GAPS[BEFORE].tolist(), SIGNAL[BEFORE]))
    for at in range(1, events + 1):
        other = copy.deepcopy(start)
        fault.at(at, lambda other=other: other.learn_one(GAPS[BEFORE].tolist(), SIGNAL[BEFORE]))
        assert known(other) in [known(one) for one in expected], f"moment {at} of {events}"


def dicts(rows, width):
    return [dict(zip("abcd", numbers, strict=False)) for numbers in rows[:, :width].tolist()]


OPEN = {
    "auto, both": (KernelClassifier(auto(**SMALL), classes="grow", features="grow"), X, SEVERAL),
    "one_vs_rest": (KernelClassifier(one_vs_rest(ogd(gamma=0.3)), classes="grow", features="grow"), X, SEVERAL),
    "fogd, means": (KernelRegressor(fogd(gamma=0.3, **SMALL), features="grow", missing="mean"), GAPS, SIGNAL),
}


def whole_widths(model):
    """Whether model, answers and columns agree about how many columns and classes there are."""
    width, setting = model._columns.width, model.online_.setting
    names = [model.n_features_in_, len(model.feature_names_in_), len(model._columns.places)]
    known = isinstance(model, KernelRegressor) or max(2, len(model.classes_)) == max(2, setting.n_outputs)
    return [width] * 3 == names and setting.n_features == width and known


def means_of(model):
    return None if model._columns.means is None else model._columns.means.state()


@each_fault
@pytest.mark.parametrize("case", OPEN)
def test_a_row_that_brings_columns_or_a_class_is_learned_by_all_parts_or_by_none(case, fault):
    model, rows, labels = OPEN[case]
    start = copy.deepcopy(model)
    for x, y in zip(dicts(rows[:BEFORE], 2), labels[:BEFORE], strict=True):
        start.learn_one(x, y)
    new, label = dicts(rows[BEFORE:], 4)[0], labels[BEFORE] if case == "fogd, means" else 7
    expected, trial = copy.deepcopy(start), copy.deepcopy(start)
    expected.learn_one(new, label)
    events = fault.moments(lambda: trial.learn_one(new, label))
    for at in range(1, events + 1, 1 + events // 300):
        other = copy.deepcopy(start)
        fault.at(at, lambda other=other: other.learn_one(new, label))
        assert whole_widths(other), f"moment {at} of {events}"
        if other.online_.rows_learned == BEFORE:
            other.predict_one(new)
            other.learn_one(new, label)
        assert same(other.online_.model, expected.online_.model), f"moment {at} of {events}"
        assert means_of(other) == means_of(expected)


SINGLE = {
    "raker": KernelRegressor(raker()),
    "perceptron that grows": KernelRegressor(ogd(gamma=9.0, eta=0.1)),
    "auto": KernelRegressor(auto(**SMALL)),
}


@each_fault
@pytest.mark.parametrize("case", SINGLE)
def test_errors_of_single_rows_are_those_of_the_rows_learned(case, fault):
    rows, numbers = np.tile(X, (3, 1)) + np.arange(3 * N)[:, None], np.tile(SIGNAL, 3)
    start = copy.deepcopy(SINGLE[case]).partial_fit(rows[:256], numbers[:256])  # as many as an expansion begins with
    expected, trial = copy.deepcopy(start), copy.deepcopy(start)
    expected.learn_one(rows[256].tolist(), numbers[256])
    events = fault.moments(lambda: trial.learn_one(rows[256].tolist(), numbers[256]))
    for at in range(1, events + 1, 1 + events // 100):
        other = copy.deepcopy(start)
        fault.at(at, lambda other=other: other.learn_one(rows[256].tolist(), numbers[256]))
        one = expected if other.online_.rows_learned > 256 else start
        assert known(other) == known(one), f"moment {at} of {events}"
