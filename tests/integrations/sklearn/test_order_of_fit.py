"""`fit` learns rows in a random order of its own; everything else takes them as they come."""

import tracemalloc

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_digits, load_iris

from onkel import KernelClassifier, KernelRegressor, fogd, perceptron
from onkel.core.trees import same
from tests.integrations.sklearn.common import ESTIMATORS, IN_ORDER, TARGETS, X

FOGD = fogd(gamma=0.5, n_frequencies=20)


def sorted_by_class(load):
    rows, labels = load(return_X_y=True)
    order = np.argsort(labels, kind="stable")
    return rows[order], labels[order]


def test_the_default_learner_learns_rows_that_are_sorted_by_class():
    rows, labels = sorted_by_class(load_iris)
    scores = [KernelClassifier(random_state=seed).fit(rows, labels).score(rows, labels) for seed in range(20)]
    assert scores[0] >= 0.93
    assert np.mean(scores) >= 0.93


def test_sorted_digits_too():
    rows, labels = sorted_by_class(load_digits)
    scores = [KernelClassifier(random_state=seed).fit(rows, labels).score(rows, labels) for seed in range(3)]
    assert scores[0] >= 0.93
    assert np.mean(scores) >= 0.93


@pytest.mark.parametrize("make", [np.asarray, csr_matrix])
@pytest.mark.parametrize("Estimator", ESTIMATORS)
def test_without_shuffling_rows_are_learned_as_they_come(Estimator, make):
    first = {} if Estimator is KernelRegressor else {"classes": [0, 1]}
    fitted = Estimator(FOGD, **IN_ORDER).fit(make(X), TARGETS["binary"])
    stepped = Estimator(FOGD).partial_fit(make(X), TARGETS["binary"], **first)
    assert same(fitted.online_.model, stepped.online_.model)


@pytest.mark.parametrize("Estimator", ESTIMATORS)
def test_every_pass_has_an_order_of_its_own_that_the_seed_decides(Estimator):
    y = TARGETS["binary"]
    orders = [Estimator(FOGD, epochs=2, random_state=seed) for seed in (0, 0, 1)]
    for model in orders:
        model.fit(X, y)
    one, again, other = (model.online_.model for model in orders)
    assert same(one, again)
    assert not same(one, other)

    model = Estimator(FOGD, epochs=2)
    model.fit(X, y)
    first, second = (next(iter(blocks)).tolist() for blocks in model._passes(len(y)))
    assert first != second
    assert sorted(first) == sorted(second) == list(range(len(y)))


@pytest.mark.parametrize(("n", "passes"), [(1, 3), (500, 3), (501, 1), (5000, 1)])
def test_few_rows_are_learned_three_times_unless_told_otherwise(n, passes):
    rows = np.random.default_rng(0).normal(size=(n, 2))
    model = KernelRegressor(FOGD).fit(rows, rows[:, 0])
    assert model.online_.rows_learned == passes * n
    assert KernelRegressor(FOGD, epochs=2).fit(rows, rows[:, 0]).online_.rows_learned == 2 * n


def test_weights_and_labels_go_with_their_rows():
    rows = np.arange(40.0)[:, None]
    labels, weights = (rows[:, 0] > 19).astype(int), np.where(rows[:, 0] % 2 == 0, 0.0, 1.0)
    odd = KernelClassifier(perceptron(gamma=0.1), epochs=9).fit(rows, labels, sample_weight=weights)
    held = odd.online_.model.support
    kept = held.points[0, : held.count[0]] if held.points.ndim == 2 else held.points
    assert np.array_equal(odd.predict(rows[1::2]), labels[1::2])
    assert (np.asarray(kept)[np.asarray(held.coef[0, : held.count[0]]) != 0] % 2 == 1).all()


def test_shuffling_needs_no_second_copy_of_the_rows():
    rows = np.random.default_rng(0).normal(size=(60_000, 50)).astype(np.float32)
    labels = (rows[:, 0] > 0).astype(int)
    KernelClassifier(perceptron(gamma=0.01)).fit(rows[:600], labels[:600])  # compiles
    model = KernelClassifier(fogd(n_frequencies=2, gamma=0.5)).fit(rows[:600], labels[:600])
    tracemalloc.start()
    model.fit(rows, labels)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < rows.nbytes / 2
