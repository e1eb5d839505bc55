"""Experts and particles: worked numbers of the specification, the authors' trace, and what the theory promises."""

import numpy as np
import pytest

from onkel import ada_raker, bkm, fogd, gaussian, omkc, omkl, omkr, raker
from onkel.core.verbs import entry_point
from onkel.learners.particles import steer
from onkel.model.waiting import bare
from onkel.pieces import kernels
from onkel.pieces.losses import squared
from onkel.pieces.maps.fourier import fourier
from tests.naive.test_bkm import C8, GAMMA3, T4, W3, E
from tests.naive.test_experts import GOLDEN, R8, X8, Y8, U, authors_frequencies, column

SIGMAS = (gaussian(sigma=0.5), gaussian(sigma=1.0), gaussian(sigma=2.0))


def close(actual, expected, tolerance=1e-7):
    np.testing.assert_allclose(actual, expected, rtol=0.0, atol=tolerance)


def on_maps(online, frequencies):
    """The learner with these frequencies (d, D) for its kernels; those of later levels are taken from the first."""

    def mapped(model):
        if hasattr(model.parts[0], "parts"):
            return model._replace(parts=(mapped(model.parts[0]),))
        pairs = zip(model.parts, frequencies, strict=True)
        return model._replace(parts=tuple(p._replace(feature_map=fourier(own, np.float64)) for p, own in pairs))

    online.model = mapped(online.model)
    return online


def begun(learner, task, d=2):
    return learner.start(d, task, dtype="float64")


THREE = [U, 0.3 * U, 3.0 * U]


def test_raker_has_the_worked_numbers():
    online = on_maps(begun(raker(n_frequencies=3, lam=0.0), "regression"), THREE)
    found = online.learn(X8, R8)
    close(found, column(0, 0.10677085, 0.49130839, 0.66830146, 0.18741846, 0.33240868, 0.3302953, 0.34045794))
    shares = np.exp(online.model.combination.log_weights)
    close(shares / shares.sum(), [0.40671427, 0.40570907, 0.18757666])
    online = on_maps(begun(raker(n_frequencies=3, lam=0.0), "binary"), THREE)
    scores = column(0, 0.08897571, -0.06028724, -0.16385208, 0.03667535, 0.0833197, 0.09981478, -0.18504681)
    close(online.learn(X8, Y8), scores)


def test_ada_raker_has_the_worked_numbers():
    online = on_maps(begun(ada_raker(n_frequencies=3, lam=0.0, eta=0.6), "regression"), THREE)
    expected = column(0, 0.10677085, 0.46369074, 0.63487709, 0.22623075, 0.32416537, 0.34904406, 0.38087831)
    close(online.learn(X8, R8), expected)
    assert len(online.model.parts) == 4


def test_omkc_has_the_worked_numbers():
    online = begun(omkc(kernels=SIGMAS, beta=0.8), "binary")
    close(online.learn(X8, Y8), column(1, 1, 1, -1, 1, 1, -0.33333333, -1))
    close(online.model.combination.weights, [0.38461538, 0.30769231, 0.30769231])
    kept = [(part.support.born[: part.support.count[0]] - 1).tolist() for part in online.model.parts]
    assert kept == [[0, 1, 2, 3, 5], [0, 1, 2, 3, 5, 6], [0, 1, 2, 3, 5, 6]]


def test_omkl_and_omkr_have_the_worked_numbers():
    online = begun(omkl(kernels=SIGMAS, eta=0.2, lam=0.01, hedge=np.log(2.0)), "regression")
    found = online.learn(X8, R8)
    close(found, column(0, 0.04659983, 0.22815696, 0.24937472, 0.16563633, 0.22082771, 0.42605163, 0.43924517))
    online = begun(omkr(kernels=SIGMAS, eta=0.2, lam=0.01), "regression")
    found = online.learn(X8, R8)
    close(found, column(0, 0.04659983, 0.23022669, 0.25992222, 0.17084061, 0.22996439, 0.45932984, 0.47982308))
    close(online.model.combination.weights, [0.35565856, 0.39025491, 0.41281793])


@pytest.mark.skipif(not GOLDEN.is_dir(), reason="the golden traces are not here")
@pytest.mark.parametrize("cut", [1000, 37])
def test_the_reference_schedule_repeats_the_authors_run(cut):
    data = np.loadtxt(GOLDEN / "adaraker_air1000_data.txt")
    X, y = data[:, 1:], data[:, 0]
    frequencies = authors_frequencies(np.loadtxt(GOLDEN / "stream_normal.txt"), X.shape[1])
    learner = ada_raker(n_frequencies=50, schedule="reference", eta=0.1, lam=0.01, rounds=len(y))
    online = on_maps(begun(learner, "regression", X.shape[1]), [V.T for V in frequencies])
    found = np.concatenate([online.learn(X[i : i + cut], y[i : i + cut]) for i in range(0, len(y), cut)])
    close(found[:, 0], np.loadtxt(GOLDEN / "adaraker_air1000_predictions.txt"), 1e-6)


def test_raker_with_one_kernel_is_fogd_with_twice_the_step():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(200, 3))
    y = np.sin(4.0 * X[:, 0])
    one = raker(kernels=(gaussian(sigma=1.0),), eta=0.3, lam=0.01).start(3, "regression", dtype="float64")
    plain = fogd(n_frequencies=50, draw="orthogonal", sigma=1.0, eta=0.6, lam=0.005, epsilon=0.0)
    other = plain.start(3, "regression", dtype="float64")
    other.model.feature_map.frequencies[:] = one.model.parts[0].feature_map.frequencies
    close(one.learn(X, y), other.learn(X, y), 1e-12)


def changing(n=4096):
    """A target whose best kernel is a wide one, then a narrow one, and so on."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(n, 1))
    narrow = np.arange(n) // 512 % 2 == 1
    return X, np.where(narrow, 0.5 + 0.4 * np.sin(40.0 * X[:, 0]), X[:, 0])


def test_regret_against_the_best_kernel_stays_sublinear_and_levels_follow_a_change():
    X, y = changing()
    own, rate = tuple(gaussian(sigma=sigma) for sigma in (0.02, 0.1, 1.0)), 1.0 / np.sqrt(len(y))
    given = {"eta": rate, "hedge": rate, "lam": 0.0}
    online, alone = raker(kernels=own, **given).start(1, "regression"), []
    for k in range(3):
        single = raker(kernels=own[k : k + 1], **given).start(1, "regression")
        single.model.parts[0].feature_map.frequencies[:] = online.model.parts[k].feature_map.frequencies
        alone.append(np.sum((single.learn(X, y)[:, 0] - y) ** 2))
    lost = np.sum((online.learn(X, y)[:, 0] - y) ** 2)
    levels = np.sum((ada_raker(kernels=own, lam=0.0).start(1, "regression").learn(X, y)[:, 0] - y) ** 2)
    assert lost - min(alone) < 2.0 * np.sqrt(len(y))  # losses are at most about 1
    assert levels < min(lost, *alone)


def test_weights_stay_finite_and_answers_too_when_losses_are_huge():
    rng = np.random.default_rng(0)
    X, y = rng.uniform(size=(3000, 2)), 1e6 * rng.normal(size=3000)
    for learner in (raker(eta=0.1), ada_raker(), omkl(eta=0.1, kernels=SIGMAS[:2])):
        found = learner.start(2, "regression").learn(X[:500], y[:500])
        assert np.isfinite(found).all()


@pytest.mark.parametrize("threads", ["1", "2"])
def test_the_number_of_threads_changes_no_bit(threads, monkeypatch):
    X, y = changing(500)
    monkeypatch.setenv("ONKEL_THREADS", "1")
    expected = ada_raker().start(1, "regression").learn(X, y)
    monkeypatch.setenv("ONKEL_THREADS", threads)
    assert (ada_raker().start(1, "regression").learn(X, y) == expected).all()


@entry_point
def directed(place, gradient, near, kappa, direction):
    steer(place, gradient, near, kappa, direction)


def direction_of(T, G):
    T, G = np.ascontiguousarray(T, np.float64), np.array(G, np.float64)
    found, near, kappa = np.zeros_like(T), np.zeros((len(T), len(T))), np.zeros((len(T), len(T)))
    directed(T, G, near, kappa, found)
    return found


def test_svgd_has_the_worked_direction():
    found = direction_of(T4, -T4)
    expected = [
        [-0.33912511, 0.09755654],
        [-0.0875572, 0.04757484],
        [0.23889424, -0.48573225],
        [-0.10589244, 0.01319044],
    ]
    close(found, expected, 1e-8)


def test_one_particle_and_particles_in_one_place_climb_the_slope():
    close(direction_of(np.ones((1, 3)), [[1.0, 2.0, 3.0]]), [[1.0, 2.0, 3.0]])
    close(direction_of(np.ones((2, 2)), [[1.0, 2.0], [3.0, 4.0]]), [[2.0, 3.0], [2.0, 3.0]])


def test_particles_take_the_mean_and_covariance_of_a_gaussian():
    rng = np.random.default_rng(0)
    mean, covariance = np.array([1.0, -2.0]), np.array([[1.0, 0.5], [0.5, 2.0]])
    T = rng.normal(size=(80, 2))
    for _ in range(2000):
        T = T + 0.1 * direction_of(T, -(T - mean) @ np.linalg.inv(covariance))
    close(T.mean(axis=0), mean, 0.05)
    close(np.cov(T.T), covariance, 0.25)


def test_bkm_has_the_worked_scores_of_its_particles():
    learner = bkm(n_particles=3, n_frequencies=3, batch=4, features="scaled", standardise=False)
    online = learner.start(2, "multiclass", 3, dtype="float64")
    online.model = online.model._replace(noise=E / np.pi, steady=W3.copy(), widths=GAMMA3.copy())
    found = online.score(X8[4:6])
    close(found, [[0.02188867, -0.10075385, 0.04421042], [0.0290803, -0.01387098, 0.04326504]], 1e-7)
    online.learn(X8[:4], C8[:4])
    assert online.model.steps[0] == 1


def test_without_a_tail_the_last_weights_answer_and_with_one_their_mean():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.choice([-1.0, 1.0], 60)
    last = bkm(n_particles=3, n_frequencies=5, batch=4, tail=0.0).start(2)
    last.learn(X, y)
    assert np.array_equal(bare(last.model).steady, bare(last.model).weights)
    mean, seen = bkm(n_particles=3, n_frequencies=5, batch=4, tail=1.0).start(2), []
    for k in range(0, 60, 4):
        mean.learn(X[k : k + 4], y[k : k + 4])
        seen.append(bare(mean.model).weights.copy())
    close(bare(mean.model).steady, np.mean(seen, axis=0), 1e-6)


def test_particles_disagree_where_nothing_was_learned():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 2))
    y = np.where(X[:, 0] * X[:, 1] > 0.0, 1.0, -1.0)
    online = bkm(n_particles=10, n_frequencies=40, batch=50, eta=0.05, gradient="sum").start(2)
    scores = online.learn(X, y)[:, 0]
    assert np.mean(np.sign(scores[-1000:]) == y[-1000:]) > 0.9
    near, far = online.spread(X[:200])[:, 0], online.spread(100.0 * X[:200])[:, 0]
    assert near.min() > 0.0
    assert far.mean() > near.mean()
    with pytest.raises(ValueError, match="Only a learner of particles"):
        fogd(gamma=1.0).start(2).spread(X)


def test_a_loss_of_another_kind_can_be_given():
    X, y = changing(100)
    mine = raker(loss=squared(factor=2.0), kernels=(kernels.laplacian(sigma=1.0), kernels.cauchy(sigma=1.0)))
    same = raker(kernels=(kernels.laplacian(sigma=1.0), kernels.cauchy(sigma=1.0)))
    assert (mine.start(1, "regression").learn(X, y) == same.start(1, "regression").learn(X, y)).all()
