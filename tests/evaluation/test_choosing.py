"""A learner chosen by cross-validation on the first part of a stream, then followed block by block."""

import numpy as np
import pytest

from onkel import fogd, ik_ogd
from onkel.evaluation.metrics import errors
from onkel.evaluation.prequential import chosen, cross_validated, prequential


def striped(n, seed=0):
    """Two classes in narrow stripes: too few cells cannot tell them apart."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 2))
    return X, np.where(np.floor(8 * X[:, 0]) % 2 > 0, 1.0, -1.0)


def test_the_error_is_that_of_rows_that_were_not_learned():
    X, _ = striped(300)
    y = np.random.default_rng(1).choice([-1.0, 1.0], 300)  # nothing to be learned, only to be remembered
    learner = ik_ogd(partition="trees", psi=256, sample=300)
    assert abs(cross_validated(learner, X, y).mean - 0.5) < 0.1
    online = learner.start(2)
    online.learn(X, y)
    assert np.mean(errors("binary", y, online.score(X))) < 0.2


def test_every_row_is_held_out_once():
    X, y = striped(53)
    seen = []

    class Noting:
        def start(self, n_features, **_):
            return self

        def learn(self, rows, targets):
            assert len(rows) == len(targets) < 53

        def score(self, rows):
            seen.extend(rows[:, 0].tolist())
            return np.ones((len(rows), 1))

        task = "binary"

    found = cross_validated(Noting(), X, y, folds=5)
    assert sorted(seen) == sorted(X[:, 0].tolist())
    assert 0.0 < found.mean < 1.0


def test_the_best_number_of_cells_is_chosen():
    X, y = striped(1500)
    best = chosen([ik_ogd(psi=psi, t=50) for psi in (2, 128)], X, y)
    assert best.get_params()["psi"] == 128


def test_regression_is_judged_by_squared_errors():
    X, _ = striped(400)
    y = np.sin(6.0 * X[:, 0])
    best = chosen([fogd(gamma=gamma, eta=1.0) for gamma in (1e-6, 5.0)], X, y, task="regression")
    assert best.get_params()["gamma"] == 5.0


@pytest.mark.parametrize("folds", [1, 0, 54])
def test_a_number_of_folds_that_makes_no_sense_is_refused(folds):
    with pytest.raises(ValueError, match="folds must be from 2 to the number of rows, 53"):
        cross_validated(ik_ogd(), *striped(53), folds=folds)


def test_blocks_are_predicted_before_they_are_learned_and_accuracy_is_followed():
    X, y = striped(5000)
    online = ik_ogd(psi=64, sample=1000).start(2)
    online.learn(X[:1000], y[:1000])
    frozen = online.score(X[1000:2000])
    so_far = []
    blocks = [(X[i : i + 1000], y[i : i + 1000]) for i in range(1000, 5000, 1000)]
    report = prequential(
        online, blocks, mode="blocks", watch=lambda tally, *_: so_far.append((tally.rows, 1.0 - tally.error))
    )
    assert [rows for rows, _ in so_far] == [1000, 2000, 3000, 4000]
    assert so_far[0][1] == pytest.approx(1.0 - np.mean(errors("binary", y[1000:2000], frozen)))
    assert so_far[-1][1] == pytest.approx(1.0 - report["mistake_rate"])
    assert online.rows_learned == 5000
