"""Worked numbers of the learners that learn their features, by the library."""

import numpy as np
import pytest

from onkel import dual_sgd, rrf
from tests.naive.test_learned import DATA, WORKED
from tests.naive.worked_case import D, U
from tests.tables import state_of


@pytest.mark.parametrize(("task", "loss", "scores", "log_widths", "epsilon"), WORKED)
def test_rrf_prints_the_worked_numbers(task, loss, scores, log_widths, epsilon):
    X, y, _, outputs = DATA[task]
    given = {"loss": loss, "epsilon": epsilon, "step": "constant", "eta": 0.1 * D, "eta_widths": 0.1, "start": 1.0}
    online = rrf(n_frequencies=D, standardise=False, **given).start(2, task, outputs, dtype="float64")
    online.model.feature_map.noise[:] = U / np.pi
    np.testing.assert_allclose(online.learn(X, y)[:, 0], scores, rtol=0.0, atol=1e-7)
    np.testing.assert_allclose(online.model.feature_map.widths.logs, log_widths, rtol=0.0, atol=1e-7)


def test_dual_sgd_prints_the_worked_numbers():
    X, y, _, _ = DATA["binary"]
    online = dual_sgd(budget=3, merge=2, n_frequencies=D, lam=0.5, gamma=0.5).start(2, dtype="float64")
    online.model.feature_map.frequencies[:] = U / np.pi
    expected = [0, 0.73575888, 0, -0.35684095, 0.37431171, 0.42600626, 0.01325497, -0.01779544]
    np.testing.assert_allclose(online.learn(X, y)[:, 0], expected, rtol=0.0, atol=1e-7)
    assert state_of(online.model)["coefficients"][:, 0].round(7).tolist() == [0.25, -0.25]
