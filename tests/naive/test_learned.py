"""The twins that learn their features: worked numbers of the specification, and steps down numerical gradients."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.special import logsumexp, ndtri, softmax

from tests.naive import maps
from tests.naive.common import rival
from tests.naive.dual_sgd import dual_sgd
from tests.naive.fkl import fkl
from tests.naive.multi_rrf import multi_rrf
from tests.naive.rrf import rrf
from tests.naive.spectral import spectral_mixture
from tests.naive.worked_case import C8, R8, X8, Y8, D, U, column

DATA = {task: (X8, y, task, k) for task, y, k in [("binary", Y8, 1), ("multiclass", C8, 3), ("regression", R8, 1)]}
L1 = [0, 0.14886221, 0.45594183, 0.4072622, 0.23438957, 0.39663057, 0.63226948, 0.15477943], [0.03718508, -0.06771766]
HINGE = [0, 0.14886221, -0.02650638, -0.2296071, 0.20437374, 0.34978962, -0.0204367, -0.0760503]
LOGISTIC = [0, 0.0744311, -0.01666068, -0.11724759, 0.10222865, 0.17314821, -0.02127082, -0.03890161]
SQUARED = [0, 0.04465866, 0.24490988, 0.25673733, 0.08019343, 0.26541416, 0.44526134, 0.39489916]
WORKED = [  # the scores, the last log-widths, and epsilon
    ("binary", "hinge", HINGE, [0.01613682, 0.05514098], 0.1),
    ("binary", "logistic", LOGISTIC, [0.00422686, 0.01302088], 0.1),
    ("regression", "absolute", *L1, 0.1),
    ("regression", "squared", SQUARED, [-0.0020154, -0.0211052], 0.0),  # RRF's squared loss has no tube
    ("regression", "epsilon_insensitive", *L1, 0.1),  # no error of this run is below 0.1
]
RNG = np.random.default_rng(5)
E3, E4, PHASES, START = RNG.normal(size=(2, 3)), RNG.normal(size=(2, 4)), RNG.uniform(0.0, 6.3, 4), np.array([0.7, 1.3])
MIXTURE = {"noises": [E3, E4], "means": RNG.normal(size=(2, 2)), "starts": [START, 0.5], "logits": [0.3, -0.4]}
MODELS = {  # the twin, its arguments
    "rrf": (rrf, {"noise": E3, "start": START, "step": "constant"}),
    "rrf, adagrad": (rrf, {"noise": E3, "start": START, "step": "adagrad"}),
    "fkl": (fkl, {"noise": E4, "phases": PHASES, "start": START, "batch": 1}),
    "spectral": (spectral_mixture, {**MIXTURE, "step": "constant"}),
    "spectral, adagrad": (spectral_mixture, {**MIXTURE, "step": "adagrad"}),
}
LOSSES = [(task, loss) for task in ("binary", "multiclass") for loss in ("hinge", "logistic", "softmax")]
LOSSES += [("regression", loss) for loss in ("squared", "absolute", "epsilon_insensitive")]


def close(actual, expected, tolerance=1e-7):
    np.testing.assert_allclose(actual, expected, rtol=0.0, atol=tolerance)


@pytest.mark.parametrize(("task", "loss", "scores", "log_widths", "epsilon"), WORKED)
def test_rrf_has_the_worked_numbers(task, loss, scores, log_widths, epsilon):
    trace = rrf(*DATA[task], U, 1.0, eta=0.1 * D, eta_widths=0.1, loss=loss, epsilon=epsilon)
    close(trace.scores, column(*scores))
    close(trace.state["log_widths"], log_widths)


def test_dual_sgd_has_the_worked_numbers():
    trace = dual_sgd(*DATA["binary"], maps.gaussian(0.5), maps.fourier(U), budget=3, merge=2, lam=0.5)
    close(trace.scores, column(0, 0.73575888, 0, -0.35684095, 0.37431171, 0.42600626, 0.01325497, -0.01779544))
    close(np.column_stack([trace.state["rows"], trace.state["coefficients"]]), [[6, 0.25], [7, -0.25]])
    close(trace.state["weights"], [[0.18280974, -0.19170202, -0.02270595, -0.19623276, -0.1416473, 0.19391904]])


@pytest.mark.parametrize(("task", "loss"), [("multiclass", "logistic"), ("regression", "squared")])
def test_dual_sgd_loses_nothing_where_the_features_are_exact(task, loss):
    full, merged = (dual_sgd(*DATA[task], maps.linear(), np.array, B, 2, 0.5, loss) for B in (9, 3))
    assert len(merged.state["rows"]) <= 3 < len(full.state["rows"])
    close(merged.scores, full.scores, 1e-12)


def test_fkl_has_the_worked_features_and_averages_over_a_batch():
    noise, phases = ndtri([[0.1, 0.5, 0.9], [0.3, 0.6, 0.2]]), [0.5, 1.0, 2.0]  # not listed: found from the features
    pending = fkl(X8[6:7], Y8[6:7], "binary", 1, noise, phases, 0.5, 1.0, 1.0).state["pending"]
    close(-pending[0] / np.sqrt(2.0 / D), [0.9978843, 0.51881278, -0.75631521])
    thrice = fkl(np.repeat(X8, 3, 0), np.repeat(R8, 3), "regression", 1, E4, PHASES, 1.0, 0.4, 0.3, 0.2, 3, "squared")
    close(thrice.scores[::3], fkl(*DATA["regression"], E4, PHASES, 1.0, 0.4, 0.3, 0.2, 1, "squared").scores, 1e-12)


@pytest.mark.parametrize("task", ["binary", "multiclass"])
def test_votes_are_shares_of_the_members_predictions(task):
    rest = {"noises": [E3, -E4, E4], "starts": [1.0, 0.5, START], "eta": 1.0, "eta_widths": 0.1}
    scores = np.array([rrf(*DATA[task], E, s, 1.0, 0.1).scores for E, s in ((E3, 1.0), (-E4, 0.5), (E4, START))])
    votes = np.where(scores >= 0.0, 1.0, -1.0) if task == "binary" else np.eye(3)[np.argmax(scores, axis=2)]
    close(multi_rrf(*DATA[task], combine="average", **rest).scores, np.mean(scores, axis=0))
    close(multi_rrf(*DATA[task], combine="vote", **rest).scores, np.mean(votes, axis=0))


def score(x, weights, log_widths, means=None, logits=None, pending=None):
    """W z by maps.py: the mixture of E3 and E4, the phase features of E4, or the Fourier features of E3."""
    s = np.exp(log_widths)[..., None]
    if logits is not None:
        z = [maps.fourier(mu[:, None] + own * E)(x) for mu, own, E in zip(means, s, [E3, E4], strict=True)]
        z = [np.sqrt(w) * part.reshape(2, -1) for w, part in zip(softmax(logits), z, strict=True)]
        return weights @ np.hstack(z).ravel()  # a row of cosines, a row of sines
    return weights @ (maps.phase(s * E4, PHASES)(x) if weights.shape[1] == 4 else maps.fourier(s * E3)(x))


def loss_value(loss, task, y, f, other):
    """`other` is the rival class, held fixed since all scores are tied at the first row."""
    if task == "regression":
        return {"squared": (f[0] - y) ** 2 / 2.0, "absolute": abs(f[0] - y)}.get(loss, max(0.0, abs(f[0] - y) - 0.1))
    if loss == "softmax" and task == "multiclass":
        return logsumexp(f) - f[int(y)]
    m = y * f[0] if task == "binary" else f[int(y)] - f[other]
    return max(0.0, 1.0 - m) if loss == "hinge" else np.logaddexp(0.0, -m)


def numerical_gradient(function, state, name, h=1e-5):
    moves = [h * unit.reshape(state[name].shape) for unit in np.eye(state[name].size)]
    values = [[function({**state, name: state[name] + sign * move}) for move in moves] for sign in (1.0, -1.0)]
    return ((np.array(values[0]) - np.array(values[1])) / (2.0 * h)).reshape(state[name].shape)


@pytest.mark.parametrize(("task", "loss"), LOSSES)
@pytest.mark.parametrize("model", MODELS)
def test_every_round_steps_down_the_numerical_gradient(model, task, loss):
    (twin, arguments), (X, y, _, outputs) = MODELS[model], DATA[task]
    rest = {**arguments, "lam": 0.2, "loss": loss, "epsilon": 0.0 if loss == "squared" else 0.1}
    runs = [(1, 0.0, 0.0)] + [(rows, 0.4, 0.3) for rows in range(1, 9)]
    states = [twin(X[:n], y[:n], task, outputs, eta=e, eta_widths=e_widths, **rest).state for n, e, e_widths in runs]
    squares = {name: 1e-30 for name in states[0] if name != "pending"}
    for t, (old, new) in enumerate(pairwise(states)):
        other = rival(y[t], score(X[t], **old)) if task == "multiclass" else None
        for name in squares:
            slope = numerical_gradient(lambda s: loss_value(loss, task, y[t], score(X[t], **s), other), old, name)  # noqa: B023
            squares[name] = squares[name] + slope**2
            step = slope / np.sqrt(squares[name]) if "adagrad" in model else slope
            step = 0.4 * (step + 0.2 * old[name]) if name == "weights" else 0.3 * step
            close(new[name], old[name] - step, 1e-6 if "adagrad" in model else 1e-8)
    assert all(np.any(total > 1e-6) for total in squares.values())
