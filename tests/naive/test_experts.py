"""The multi-kernel twins: worked numbers of the specification, the authors' trace, and what must hold of any stream."""

from pathlib import Path

import numpy as np
import pytest

from tests.naive import maps
from tests.naive.common import slopes
from tests.naive.experts import KernelPerceptron, ada_raker, ada_raker_reference, loss_value, omkc, omkr, raker, spread
from tests.naive.fogd import fogd
from tests.naive.ogd import ogd
from tests.naive.worked_case import C8, R8, X8, Y8, U, column

GOLDEN = Path(__file__).parents[3] / "shared" / "spec" / "golden"
DATA = {task: (X8, y, task, k) for task, y, k in [("binary", Y8, 1), ("multiclass", C8, 3), ("regression", R8, 1)]}
LOSSES = [(task, loss) for task in ("binary", "multiclass") for loss in ("hinge", "logistic", "softmax")]
LOSSES += [("regression", loss) for loss in ("squared", "absolute", "epsilon_insensitive")]
MAPS = [maps.fourier(U), maps.fourier(0.3 * U), maps.fourier(3.0 * U)]
KERNELS = [maps.gaussian(1.0 / (2.0 * sigma**2)) for sigma in (0.5, 1.0, 2.0)]
PERCEPTRONS = [lambda kernel=kernel: KernelPerceptron(kernel) for kernel in KERNELS]


def close(actual, expected, tolerance=1e-7):
    np.testing.assert_allclose(actual, expected, rtol=0.0, atol=tolerance)


def stream(n, seed=3):
    """Rows in [-1, 1]^2 and targets in [0.2, 1]."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, (n, 2))
    return X, 0.6 + 0.4 * np.sin(3.0 * X[:, 0])


# ---- losses ----


@pytest.mark.parametrize(("task", "loss"), LOSSES)
def test_slopes_are_the_derivatives_of_the_values(task, loss):
    _, y, _, outputs = DATA[task]
    rng, h = np.random.default_rng(0), 1e-6
    for label in y:
        f = rng.normal(scale=2.0, size=outputs)
        by_hand = [
            (loss_value(loss, task, label, f + h * e, 0.0) - loss_value(loss, task, label, f - h * e, 0.0)) / (2.0 * h)
            for e in np.eye(outputs)
        ]
        close(by_hand, slopes(loss, task, label, f, 0.0), 1e-5)


def test_values_are_those_of_the_formulas():
    assert loss_value("hinge", "binary", -1.0, [0.5], 0.0) == 1.5
    assert loss_value("hinge", "multiclass", 1.0, [0.25, 0.5, 0.0], 0.0) == 0.75
    assert loss_value("squared", "regression", 1.0, [3.0], 0.0) == 2.0
    assert loss_value("squared", "regression", 1.0, [3.0], 0.0, factor=2.0) == 4.0
    assert loss_value("absolute", "regression", 1.0, [-1.0], 0.0) == 2.0
    assert loss_value("epsilon_insensitive", "regression", 1.0, [-1.0], 0.5) == 1.5
    assert loss_value("epsilon_insensitive", "regression", 1.0, [0.75], 0.5) == 0.0
    close(loss_value("logistic", "binary", 1.0, [0.0], 0.0), np.log(2.0))
    close(loss_value("softmax", "multiclass", 2.0, [0.0, 0.0, 0.0], 0.0), np.log(3.0))
    assert loss_value("logistic", "binary", -1.0, [1e4], 0.0) == 1e4


def test_spread_runs_from_the_best_to_the_worst():
    close(spread(np.array([3.0, 1.0, 2.0])), [1.0, -1.0, 0.0])
    close(spread(np.array([0.5, 0.5])), [1.0, 1.0])


# ---- Raker ----


def test_raker_has_the_worked_numbers():
    trace = raker(*DATA["regression"], MAPS, eta=0.5, hedge=0.5, factor=2.0)
    close(trace.scores, column(0, 0.10677085, 0.49130839, 0.66830146, 0.18741846, 0.33240868, 0.3302953, 0.34045794))
    close(trace.state["shares"], [0.40671427, 0.40570907, 0.18757666])
    sines_first = [0.54689088, -0.27745626, -0.12983207, 0.10772026, 0.50512841, 0.31025589]
    close(np.roll(trace.state["weights of 0"], 3, axis=1), [sines_first])


def test_raker_has_the_worked_numbers_of_the_logistic_loss():
    trace = raker(*DATA["binary"], MAPS, eta=0.5, hedge=0.5, loss="logistic")
    scores = column(0, 0.08897571, -0.06028724, -0.16385208, 0.03667535, 0.0833197, 0.09981478, -0.18504681)
    close(trace.scores, scores)
    close(trace.state["shares"], [0.2998655, 0.25985411, 0.44028039])


@pytest.mark.parametrize(("task", "loss"), LOSSES)
def test_raker_with_one_map_is_gradient_descent(task, loss):
    plain = fogd(*DATA[task], MAPS[0], eta=0.4, lam=0.1, loss=loss, epsilon=0.05)
    trace = raker(*DATA[task], MAPS[:1], eta=0.4, hedge=0.7, lam=0.1, loss=loss, epsilon=0.05)
    close(trace.scores, plain.scores, 1e-12)
    close(trace.state["weights of 0"], plain.state["weights"], 1e-12)
    assert trace.state["shares"].tolist() == [1.0]


def test_a_factor_of_two_is_a_step_and_a_hedge_rate_twice_as_large():
    once = raker(*DATA["regression"], MAPS, eta=0.4, hedge=0.6)
    twice = raker(*DATA["regression"], MAPS, eta=0.2, hedge=0.3, factor=2.0)
    close(once.scores, twice.scores, 1e-12)
    close(once.state["shares"], twice.state["shares"], 1e-12)


@pytest.mark.parametrize(("task", "loss"), LOSSES)
def test_raker_weighs_each_map_by_the_losses_of_its_own_learner(task, loss):
    X, y, _, outputs = DATA[task]
    alone = [fogd(X, y, task, outputs, z, eta=0.3, loss=loss, epsilon=0.05).scores for z in MAPS]
    losses = [[loss_value(loss, task, label, f, 0.05) for label, f in zip(y, own, strict=True)] for own in alone]
    before = np.cumsum(losses, axis=1) - losses
    w = np.exp(-0.8 * before) / np.sum(np.exp(-0.8 * before), axis=0)
    trace = raker(*DATA[task], MAPS, eta=0.3, hedge=0.8, loss=loss, epsilon=0.05)
    close(trace.scores, np.einsum("pt,ptk->tk", w, alone), 1e-12)


def test_weights_stay_finite_for_long_streams_with_large_losses():
    X, y = stream(5000)
    y = 1e4 * np.where(y > 0.6, 1.0, -1.0)
    trace = raker(X, y, "regression", 1, MAPS, eta=0.5, hedge=0.5, loss="absolute")
    assert np.min(np.abs(trace.state["log_weights"])) > 1e6
    assert np.all(np.isfinite(trace.scores))
    close(np.sum(trace.state["shares"]), 1.0, 1e-12)


# ---- AdaRaker ----


def test_cold_ada_raker_has_the_worked_numbers():
    trace = ada_raker(*DATA["regression"], MAPS, eta=1.0, start="cold", factor=2.0)
    close(trace.scores, column(0, 0, 0.22846788, 0, 0.02136472, 0.09103025, 0.05515098, 0))
    close(np.exp(trace.state["log_weights"]), [0.5, 0.5, 0.5, 0.35355339059327373], 1e-12)


def test_warm_ada_raker_has_the_worked_numbers():
    trace = ada_raker(*DATA["regression"], MAPS, eta=0.6, start="warm", factor=2.0)
    close(trace.scores, column(0, 0.10677085, 0.46369074, 0.63487709, 0.22623075, 0.32416537, 0.34904406, 0.38087831))
    h = [0.4931888567332869, 0.4217845227699416, 0.30298831227111334, 0.21362402017901674]
    close(np.exp(trace.state["log_weights"]), h, 1e-12)


def test_a_cold_level_is_a_raker_of_its_interval():
    X, y = stream(23)
    trace = ada_raker(X, y, "regression", 1, MAPS, eta=0.6, start="cold")
    for k, first in enumerate([23, 22, 20, 16, 16]):
        rate = min(0.5, 0.6 / np.sqrt(2.0**k))
        alone = raker(X[first - 1 :], y[first - 1 :], "regression", 1, MAPS, eta=rate, hedge=rate)
        close(trace.state[f"weights of 0 of level {k}"], alone.state["weights of 0"], 1e-12)
        close(trace.state[f"shares of level {k}"], alone.state["shares"], 1e-12)


def test_only_a_warm_start_never_forgets_everything():
    X, y = stream(300)
    plain = raker(X, y, "regression", 1, MAPS, eta=0.5, hedge=0.5).scores
    warm = ada_raker(X, y, "regression", 1, MAPS, eta=0.5, start="warm").scores
    cold = ada_raker(X, y, "regression", 1, MAPS, eta=0.5, start="cold").scores
    assert np.all(plain[1:] != 0.0)
    assert np.all(warm[1:] != 0.0)
    assert (np.flatnonzero(cold[:, 0] == 0.0) + 1).tolist() == [1, 2, 4, 8, 16, 32, 64, 128, 256]
    assert np.mean((warm[1:, 0] - y[1:]) ** 2) < np.mean((cold[1:, 0] - y[1:]) ** 2)


@pytest.mark.parametrize(("start", "n", "levels"), [("cold", 600, 10), ("warm", 5000, 13)])
def test_ada_raker_stays_finite_for_long_streams_with_large_losses(start, n, levels):
    X, y = stream(n)
    y = 1e4 * np.where(y > 0.6, 1.0, -1.0)
    trace = ada_raker(X, y, "regression", 1, MAPS[:2], eta=0.5, loss="absolute", start=start)
    assert np.all(np.isfinite(trace.scores))
    assert np.all(np.isfinite(trace.state["log_weights"]))
    close(np.sum(trace.state["shares"]), 1.0, 1e-12)
    assert len(trace.state["shares"]) == levels


@pytest.mark.parametrize(("task", "loss"), LOSSES)
@pytest.mark.parametrize("start", ["cold", "warm"])
def test_ada_raker_starts_a_new_level_from_the_one_below_or_from_zero(task, loss, start):
    X, y, _, outputs = DATA[task]
    trace = ada_raker(X, y, task, outputs, MAPS, eta=0.5, loss=loss, start=start)
    assert trace.scores.shape == (8, outputs)
    again = ada_raker(X[:7], y[:7], task, outputs, MAPS, eta=0.5, loss=loss, start=start)
    close(trace.scores[:7], again.scores, 0.0)
    if start == "cold":  # all levels begin at t = 8
        close(trace.scores[7], np.zeros(outputs), 0.0)
        return
    zs, said = [z(X[7]) for z in MAPS], []
    for k in range(3):
        fs = np.array([again.state[f"weights of {p} of level {k}"] @ z for p, z in enumerate(zs)])
        said.append(again.state[f"shares of level {k}"] @ fs)
    rates = [min(0.5, 0.5 / np.sqrt(2.0**k)) for k in range(4)]
    close(trace.scores[7], np.average([*said, said[2]], axis=0, weights=rates), 1e-12)


# ---- the authors' run ----


def authors_frequencies(normals, d, D=50, multipliers=(0.1, 1.0, 10.0)):
    """The unscaled features [cos(V x); sin(V x)] of each kernel, from the numbers of stream_normal.txt.

    Three D x d blocks are skipped. Then, for each kernel: ceil(D / d) blocks d x d, column by column, whose Q of QR
    are put below each other and cut to D rows, then D numbers c: V = multiplier diag(|c|) Q.
    """
    left, made = iter(normals[3 * D * d :]), []

    def take(count):
        return np.array([next(left) for _ in range(count)])

    for multiplier in multipliers:
        blocks = [np.linalg.qr(take(d * d).reshape(d, d, order="F"))[0] for _ in range(-(-D // d))]
        made.append(multiplier * np.abs(take(D))[:, None] * np.concatenate(blocks)[:D])
    return made


def unscaled(V):
    return lambda x: np.concatenate([np.cos(V @ x), np.sin(V @ x)])


@pytest.mark.skipif(not GOLDEN.is_dir(), reason="the golden traces are not here")
def test_the_reference_schedule_repeats_the_authors_run():
    data = np.loadtxt(GOLDEN / "adaraker_air1000_data.txt")
    X, y = data[:, 1:], data[:, 0]
    frequencies = authors_frequencies(np.loadtxt(GOLDEN / "stream_normal.txt"), X.shape[1])
    trace = ada_raker_reference(X, y, [unscaled(V) for V in frequencies])
    close(trace.scores[:, 0], np.loadtxt(GOLDEN / "adaraker_air1000_predictions.txt"), 1e-6)
    losses = (trace.scores[:, 0] - y) ** 2
    losses[0] = 1.0  # so do the authors
    close(np.mean(losses), 0.00244698197674, 1e-9)


def test_the_reference_schedule_needs_the_length_of_the_stream():
    X, y = stream(40)
    short, long = (ada_raker_reference(X[:n], y[:n], MAPS).scores for n in (20, 40))
    assert short[0, 0] == long[0, 0] == 0.0
    assert np.abs(short[1, 0] - long[1, 0]) > 0.0  # a level more that says 0 from the start, with weight 1
    assert np.all(np.isfinite(long))


# ---- experts in the dual ----


def test_omkc_has_the_worked_numbers():
    trace = omkc(X8, Y8, "binary", 1, PERCEPTRONS, beta=0.8)
    close(trace.scores, column(1, 1, 1, -1, 1, 1, -1 / 3, -1))
    close(trace.state["shares"], [0.38461538, 0.30769231, 0.30769231])
    kept = [[X8.tolist().index(s.tolist()) for s in expert.points] for expert in trace.state["experts"]]
    assert kept == [[0, 1, 2, 3, 5], [0, 1, 2, 3, 5, 6], [0, 1, 2, 3, 5, 6]]


def test_omkc_with_small_numbers_chooses_everybody_and_with_ones_nobody():
    always = omkc(X8, Y8, "binary", 1, PERCEPTRONS, 0.8, "some", "some", uniforms=np.zeros(48))
    everybody = omkc(X8, Y8, "binary", 1, PERCEPTRONS, 0.8)
    close(always.scores, everybody.scores, 0.0)
    close(always.state["shares"], everybody.state["shares"], 0.0)
    never = omkc(X8, Y8, "binary", 1, PERCEPTRONS, 0.8, "some", uniforms=np.full(24, 1.0))
    assert [len(expert.points) for expert in never.state["experts"]] == [0, 0, 0]
    close(never.scores, np.ones((8, 1)), 1e-12)
    close(never.state["shares"], np.full(3, 1.0 / 3.0), 1e-12)  # f = 0 is punished in all of them


def test_omkc_takes_the_numbers_of_the_vote_before_those_of_the_update():
    first = [0.9, 1.0, 1.0, 1.0, 0.9, 1.0]  # the first expert votes, the second learns
    trace = omkc(X8[:1], Y8[:1], "binary", 1, PERCEPTRONS, 0.8, "some", "some", uniforms=first)
    close(trace.scores, [[1.0 / 3.0]], 1e-12)
    assert [len(expert.points) for expert in trace.state["experts"]] == [0, 1, 0]
    nobody = omkc(X8[:1], Y8[:1], "binary", 1, PERCEPTRONS, 0.8, combine="some", uniforms=np.ones(3))
    close(nobody.scores, [[1.0]], 1e-12)


def test_omkc_punishes_a_score_of_zero_though_its_vote_is_right():
    only_the_first_learns = [0.9, 1.0, 1.0, 1.0, 1.0, 1.0]
    trace = omkc(X8[[0, 6]], np.ones(2), "binary", 1, PERCEPTRONS, 0.8, "some", uniforms=only_the_first_learns)
    close(trace.scores, np.ones((2, 1)), 1e-12)
    close(trace.state["shares"], np.array([1.0, 0.8, 0.8]) / 2.6, 1e-12)


def test_omkc_chooses_by_the_shares_of_before_the_round():
    numbers = np.random.default_rng(1).uniform(size=24)
    left = iter(numbers)
    w, members = np.full(3, 1.0 / 3.0), [make() for make in PERCEPTRONS]
    for x, label in zip(X8, Y8, strict=True):
        old = w
        wrong = np.array([label * member.score(x) <= 0.0 for member in members])
        w = old * np.where(wrong, 0.8, 1.0)
        w = w / np.sum(w)
        for member, share in zip(members, old, strict=True):
            if next(left) < 0.9 * share / np.max(old) + 0.1:
                member.learn(x, label)
    trace = omkc(X8, Y8, "binary", 1, PERCEPTRONS, 0.8, "some", least=0.1, uniforms=numbers)
    close(trace.state["shares"], w, 1e-12)
    sizes = [len(expert.points) for expert in trace.state["experts"]]
    assert sizes == [len(member.points) for member in members]


def test_omkr_has_the_worked_numbers():
    trace = omkr(X8, R8, "regression", 1, KERNELS, eta=0.2, lam=0.01, beta=0.5, combine="hedge")
    close(trace.scores, column(0, 0.04659983, 0.22815696, 0.24937472, 0.16563633, 0.22082771, 0.42605163, 0.43924517))
    close(trace.state["shares"], [0.09302824, 0.13686547, 0.15108741])


@pytest.mark.parametrize("eta_weights", [None, 0.1])
def test_omkr_has_the_worked_numbers_of_gradient_descent(eta_weights):
    trace = omkr(X8, R8, "regression", 1, KERNELS, eta=0.2, lam=0.01, combine="gradient", eta_weights=eta_weights)
    close(trace.scores, column(0, 0.04659983, 0.23022669, 0.25992222, 0.17084061, 0.22996439, 0.45932984, 0.47982308))
    close(trace.state["shares"], [0.35565856, 0.39025491, 0.41281793])


def test_omkr_with_one_kernel_is_gradient_descent():
    plain = ogd(*DATA["regression"], KERNELS[1], eta=0.4, lam=0.005, loss="squared", epsilon=0.0)
    trace = omkr(X8, R8, "regression", 1, KERNELS[1:2], eta=0.2, lam=0.01, beta=0.5, combine="hedge")
    close(trace.scores, plain.scores, 1e-12)
    close(trace.state["coefficients"][0], plain.state["coefficients"][:, 0], 1e-12)


def test_omkr_stays_finite_where_all_weights_underflow():
    trace = omkr(X8, 100.0 * R8, "regression", 1, KERNELS, eta=0.2, lam=0.0, beta=0.5, combine="hedge")
    assert np.all(trace.state["shares"] == 0.0)
    assert np.all(np.isfinite(trace.scores))
