"""Whatever the rows look like: learners that need no tuning stay finite, and nearly as good.

The figures are those of the specification of `auto`, first 10,000 rows of a fixed order.
"""

from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from onkel import auto, rrf
from onkel.streams import LibsvmFile

DATA = Path(__file__).parents[2] / "shared" / "data"
SLACK = 1.25  # of one seed against another, above all on cpusmall

needs_data = pytest.mark.skipif(not DATA.exists(), reason="the data sets are not here")


@lru_cache
def rows_of(name):
    blocks = [block for part in ("", ".t") for block in blocks_of(DATA / f"{name}{part}.libsvm.xz")]
    X, y = np.concatenate([block.rows for block in blocks]), np.concatenate([block.labels for block in blocks])
    order = np.random.default_rng(0).permutation(len(y))[:10_000]
    return X[order], y[order]


def blocks_of(path):
    return LibsvmFile(path, dense=True) if path.exists() else ()


def with_row(i, value):
    def change(X):
        X = X.copy()
        X[i] = value
        return X

    return change


def with_columns(make):
    return lambda X: np.hstack([X, make(np.random.default_rng(7), len(X))])


def with_holes(X):
    return np.where(np.random.default_rng(7).random(X.shape) < 0.1, np.nan, X)


def skewed(X):
    return np.exp(3.0 * (X - X.mean(axis=0)) / X.std(axis=0))


CHANGES = {  # what is done to the rows, and the figures for letter (%) and cpusmall (squared error x 1e4)
    "as they are": (lambda X: X, 13.49, 16.89),
    "times 1e6": (lambda X: X * 1e6, 13.49, 16.89),
    "times 1e-6": (lambda X: X * 1e-6, 13.49, 16.89),
    "times 1e-30": (lambda X: X * 1e-30, 13.49, 16.89),
    "times 1e30": (lambda X: X * 1e30, 13.49, 16.89),
    "each column on its own scale": (
        lambda X: X * 10.0 ** np.random.default_rng(7).uniform(-8, 8, X.shape[1]), 13.49, 16.89
    ),
    "plus 1e6": (lambda X: X + 1e6, 13.49, 16.89),
    "five constant columns": (with_columns(lambda rng, n: np.ones((n, 5))), 13.49, 18.61),
    "1e30 in row 0": (with_row(0, 1e30), 14.08, 21.11),
    "1e30 in row 1": (with_row(1, 1e30), 14.08, 21.11),
    "1e30 in row 5": (with_row(5, 1e30), 15.08, 19.66),
    "1e30 in row 1000": (with_row(1000, 1e30), 13.68, 19.71),
    "1e300 in row 1000": (with_row(1000, 1e300), 13.68, 19.71),
    "inf in row 1000": (with_row(1000, np.inf), 13.68, 19.71),
    "-inf in row 0": (with_row(0, -np.inf), 15.06, 21.07),
    "five Cauchy columns": (with_columns(lambda rng, n: rng.standard_cauchy((n, 5))), 14.30, 18.60),
    "very skewed columns": (skewed, 44.64, 31.89),
    "every tenth number missing": (with_holes, 24.53, 28.72),
}  # fmt: skip


@needs_data
@pytest.mark.parametrize("change", CHANGES)
def test_classes_are_learned_from_whatever_rows(change):
    X, y = rows_of("letter")
    make, figure, _ = CHANGES[change]
    classes, targets = np.unique(y, return_inverse=True)
    online = auto().start(make(X).shape[1], "multiclass", len(classes), missing="mean")
    scores = online.learn(make(X), targets.astype(float))
    assert np.isfinite(scores).all()
    assert 100.0 * np.mean(scores.argmax(axis=1) != targets) < SLACK * figure


def lost(y, scores, before):
    """Squared error over the squared range of the targets, x 1e4, without the first row, of which nothing is known."""
    return 1e4 * np.mean((scores[1:] - y[1:]) ** 2) / (before.max() - before.min()) ** 2


@needs_data
@pytest.mark.parametrize("change", CHANGES)
def test_numbers_are_learned_from_whatever_rows(change):
    X, y = rows_of("cpusmall")
    make, _, figure = CHANGES[change]
    scores = auto().start(make(X).shape[1], "regression", missing="mean").learn(make(X), y)[:, 0]
    assert np.isfinite(scores).all()
    assert lost(y, scores, y) < SLACK * figure


@needs_data
@pytest.mark.parametrize("change", [lambda y: y * 1e6, lambda y: y * 1e-6, lambda y: y + 1e6])
def test_the_scale_of_the_targets_does_not_matter(change):
    X, y = rows_of("cpusmall")
    plain, moved = (auto().start(X.shape[1], "regression").learn(X, targets)[:, 0] for targets in (y, change(y)))
    assert lost(change(y), moved, change(y)) == pytest.approx(lost(y, plain, y), rel=0.25)


@needs_data
def test_one_absurd_target_does_not_spoil_the_others():
    X, y = rows_of("cpusmall")
    targets = y.copy()
    targets[1000] = 1e30
    scores = auto().start(X.shape[1], "regression").learn(X, targets)[:, 0]
    others = np.arange(len(y)) != 1000
    assert 1e4 * np.median((scores[others] - y[others]) ** 2) / (y.max() - y.min()) ** 2 < 2 * 3.27


def test_a_constant_target_is_learned_at_once():
    X = np.random.default_rng(0).normal(size=(50, 3))
    scores = auto().start(3, "regression").learn(X, np.full(50, 7.0))[:, 0]
    assert scores[0] == 0.0
    np.testing.assert_allclose(scores[1:], 7.0)


def curved(n=4000):
    X = np.random.default_rng(0).normal(size=(n, 4))
    return X, np.where(np.sin(2.0 * X[:, 0]) + X[:, 1] * X[:, 2] > 0.0, 1.0, -1.0)


ROUGH = {
    "times 1e6": lambda X: X * 1e6,
    "times 1e-6": lambda X: X * 1e-6,
    "constant columns": with_columns(lambda rng, n: np.full((n, 3), 5.0)),
    "heavy tails": with_columns(lambda rng, n: rng.standard_cauchy((n, 2))),
    "one outlier of 1e30": with_row(3, 1e30),
    "a late outlier of 1e30": with_row(2000, 1e30),
}


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
@pytest.mark.parametrize("change", ROUGH)
def test_learned_widths_do_not_diverge_on_rough_rows(change, loss):
    X, y = curved()
    rough = ROUGH[change](X)
    scores = rrf(loss=loss).start(rough.shape[1]).learn(rough, y)[:, 0]
    assert np.isfinite(scores).all()
    plain = rrf(loss=loss).start(4).learn(X, y)[:, 0]
    assert np.mean(scores[2000:] * y[2000:] <= 0.0) < np.mean(plain[2000:] * y[2000:] <= 0.0) + 0.08


@pytest.mark.parametrize("loss", ["squared", "absolute", "epsilon_insensitive"])
@pytest.mark.parametrize("change", ROUGH)
def test_learned_widths_do_not_diverge_on_rough_rows_of_numbers(change, loss):
    X, _ = curved()
    y = np.sin(2.0 * X[:, 0]) + X[:, 1] * X[:, 2]
    rough = ROUGH[change](X)
    scores = rrf(loss=loss).start(rough.shape[1], "regression").learn(rough, y)[:, 0]
    assert np.isfinite(scores).all()
    assert np.mean((scores[2000:] - y[2000:]) ** 2) < np.var(y)


@pytest.mark.parametrize("scale", [1e6, 1e30])
def test_learned_widths_stay_finite_without_standardisation(scale):
    X, y = curved(500)
    scores = rrf(standardise=False).start(4).learn(X * scale, y)
    assert np.isfinite(scores).all()


@pytest.mark.parametrize("n_classes", [3, 120])
def test_probabilities_add_up_for_few_and_many_classes(n_classes):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(600, 3)), rng.integers(n_classes, size=600)
    scores = auto(n_frequencies=16).start(3, "multiclass", n_classes).learn(X, y.astype(float))
    np.testing.assert_allclose(np.exp(scores).sum(axis=1), 1.0, atol=1e-6)
