"""The Bayesian kernel machine: worked numbers of the specification, numerical gradients, known targets."""

import numpy as np
import pytest
from scipy.special import logsumexp

from tests.naive.bkm import ascend, bandwidth, bkm, direction, features, objective_gradients, similarities
from tests.naive.common import margin, predict
from tests.naive.worked_case import C8, R8, X8, Y8

# ---- the worked case ----

T4 = np.array([[0, 0], [1, 0.5], [-1, 2], [0.5, -1]])  # particles for a standard normal target: G = -T
E = np.array([[0.5, 1], [-1, 0.5], [0.25, -0.75]]).T
W1 = np.array(
    [[0.1, -0.2, 0.3, 0, 0.1, 0.2, 0], [0, 0.1, -0.1, 0.2, 0.3, -0.2, 0.1], [0.2, 0, 0.1, -0.3, 0, 0.1, -0.1]]
)
W3 = np.array([W1, -W1, 0.5 * W1[::-1]])
GAMMA3 = np.array([[0.8, 1.2], [0.5, 0.4], [1.5, 0.9]])
DATA = {task: (X8, y, task, k) for task, y, k in [("binary", Y8, 1), ("multiclass", C8, 3), ("regression", R8, 1)]}
FOUR = (X8[:4], C8[:4], "multiclass", 3)
SOFTMAX = {"lam": 1e-3, "loss": "softmax"}
LOSSES = [(task, loss) for task in ("binary", "multiclass") for loss in ("hinge", "logistic", "softmax")]
LOSSES += [("regression", loss) for loss in ("squared", "absolute", "epsilon_insensitive")]


def close(actual, expected, tolerance=1e-8):
    np.testing.assert_allclose(actual, expected, rtol=0.0, atol=tolerance)


def loss_value(loss, task, y, f, epsilon):
    """The losses of section 0.2, as values."""
    if task == "regression":
        error = abs(f[0] - y)
        squared = error**2 / 2.0 if error > epsilon else 0.0
        return {"squared": squared, "absolute": error, "epsilon_insensitive": max(0.0, error - epsilon)}[loss]
    if loss == "softmax" and task == "multiclass":
        return logsumexp(f) - f[int(y)]
    m = margin(task, y, f)
    return max(0.0, 1.0 - m) if loss == "hinge" else np.logaddexp(0.0, -m)


def objective(W, gamma, noise, X, y, task, lam, loss, prior=True, total=False, scaled=True, epsilon=0.0):
    """J = (lam/2) |W|^2 + mean or sum of the losses [+ (1/2) |gamma|^2]."""
    rows = zip(X, y, strict=True)
    losses = [loss_value(loss, task, label, W @ features(x, noise, gamma, scaled), epsilon) for x, label in rows]
    J = 0.5 * lam * np.sum(W**2) + (np.sum(losses) if total else np.mean(losses))
    return J + 0.5 * np.sum(gamma**2) if prior else J


def numerical_gradient(function, at, h=1e-6):
    moves = h * np.eye(at.size).reshape(-1, *at.shape)
    return np.array([(function(at + move) - function(at - move)) / (2.0 * h) for move in moves]).reshape(at.shape)


def test_svgd_has_the_worked_bandwidth_kernel_and_direction():
    kernel = [
        [1.0, 0.34199519, 0.01367981, 0.34199519],
        [0.34199519, 1.0, 0.00467843, 0.11696071],
        [0.01367981, 0.00467843, 1.0, 0.000064],
        [0.34199519, 0.11696071, 0.000064, 1.0],
    ]
    phi = [
        [-0.33912511, 0.09755654],
        [-0.0875572, 0.04757484],
        [0.23889424, -0.48573225],
        [-0.10589244, 0.01319044],
    ]
    close(bandwidth(T4), 0.7632178595588786, 1e-15)
    close(similarities(T4), kernel)
    close(direction(T4, -T4), phi)


def test_svgd_has_the_worked_steps():
    first = [[-0.09999971, 0.09999897], [0.90000114, 0.5999979], [-0.90000042, 1.90000021], [0.40000094, -0.90000758]]
    second = [
        [-0.18557401, 0.13161225],
        [0.85033037, 0.60320334],
        [-0.81542104, 1.80822449],
        [0.33264238, -1.06215517],
    ]
    T, H = ascend(T4, direction(T4, -T4), None, eta=0.1)
    close(T, first)
    T, H = ascend(T, direction(T, -T), H, eta=0.1)
    close(T, second)


def test_objective_has_the_worked_value_and_gradients():
    worked_by_W = [
        [-0.02471936, 0.0363037, 0.00826507, 0.05836514, 0.12293948, -0.10884011, 0.07352487],
        [-0.07383387, -0.0107538, -0.02558465, -0.00946419, -0.16659942, 0.08234125, -0.09889028],
        [0.09885324, -0.0256499, 0.01761957, -0.04900095, 0.04405994, 0.02659885, 0.02536541],
    ]
    by_W, by_gamma = objective_gradients(W1, GAMMA3[0], E, *FOUR, **SOFTMAX)
    close(objective(W1, GAMMA3[0], E, *FOUR[:3], **SOFTMAX), 2.062816391222685, 1e-14)
    close(by_W, worked_by_W)
    close(by_gamma, [0.76811817, 1.15691603])


def test_three_particles_have_the_worked_bandwidth_and_direction():
    down = [objective_gradients(W, gamma, E, *FOUR, **SOFTMAX) for W, gamma in zip(W3, GAMMA3, strict=True)]
    T = np.hstack([W3.reshape(3, -1), GAMMA3])
    G = -np.array([np.concatenate([by_W.ravel(), by_gamma]) for by_W, by_gamma in down])
    close(bandwidth(T), 0.5783812865282973, 1e-15)
    close(direction(T, G)[0, -4:], [-0.00519947, -0.04393414, -0.55449455, -0.37562372])


def test_the_stream_has_the_worked_scores_and_step():
    still = bkm(X8[4:6], C8[4:6], "multiclass", 3, E, W3, GAMMA3, batch=3, eta=0.1, **SOFTMAX)
    close(still.scores, [[0.02188867, -0.10075385, 0.04421042], [0.0290803, -0.01387098, 0.04326504]])
    close(still.state["weights"], W3, 0.0)
    moved = bkm(*FOUR, E, W3, GAMMA3, batch=4, eta=0.1, **SOFTMAX)
    close(moved.state["widths"][0], [0.70000018, 1.10000027])


# ---- gradients ----


@pytest.mark.parametrize(("task", "loss"), LOSSES)
@pytest.mark.parametrize("total", [False, True])
@pytest.mark.parametrize("prior", [False, True])
@pytest.mark.parametrize("scaled", [False, True])
def test_gradients_are_those_of_the_objective(task, loss, total, prior, scaled):
    X, y, _, outputs = DATA[task]
    rng = np.random.default_rng(3)
    noise, gamma, W = rng.normal(size=(2, 4)), np.array([0.7, -1.3]), rng.normal(size=(outputs, 9))
    rest = {"lam": 0.2, "loss": loss, "prior": prior, "total": total, "scaled": scaled, "epsilon": 0.1}
    by_W, by_gamma = objective_gradients(W, gamma, noise, X, y, task, outputs, **rest)
    close(by_W, numerical_gradient(lambda at: objective(at, gamma, noise, X, y, task, **rest), W), 1e-7)
    close(by_gamma, numerical_gradient(lambda at: objective(W, at, noise, X, y, task, **rest), gamma), 1e-7)
    assert np.all(np.abs(by_W) > 1e-4)
    assert np.all(np.abs(by_gamma) > 1e-4)


def test_features_estimate_the_gaussian_kernel_with_the_widths_as_inverse_lengths():
    rng = np.random.default_rng(4)
    D, gamma, x, s = 20_000, np.array([0.5, 2.0]), X8[0], X8[6]
    noise = rng.normal(size=(2, D))
    z, other = features(x, noise, gamma), features(s, noise, gamma)
    close(z @ z, 2.0, 1e-12)  # the constant adds 1 to the kernel
    kernel = np.exp(-0.5 * np.sum((gamma * (x - s)) ** 2))
    close(z @ other, 1.0 + kernel, 5.0 / np.sqrt(2.0 * D))  # a cosine of these products has variance < 1/2
    plain = features(x, noise, gamma, scaled=False)
    close(plain[:-1], np.sqrt(D) * z[:-1], 1e-12)
    assert plain[-1] == z[-1] == 1.0


# ---- Stein variational gradient descent ----


def test_one_particle_climbs_the_gradient():
    T, G = np.array([[0.3, -2.0, 1.0]]), np.array([[1.5, 0.0, -4.0]])
    close(direction(T, G), G, 0.0)
    last = T
    for _ in range(60):
        last = last + 0.5 * direction(last, 1.0 - last)
    close(last, np.ones((1, 3)), 1e-12)


SWITCHES = [
    ("multiclass", {"loss": "softmax"}),
    ("multiclass", {"loss": "hinge", "total": True}),
    ("binary", {"loss": "logistic", "scaled": False}),
    ("regression", {"loss": "squared", "epsilon": 0.2, "prior": False}),
]


@pytest.mark.parametrize(("task", "rest"), SWITCHES)
def test_a_stream_with_one_particle_is_gradient_descent(task, rest):
    X, y, _, outputs = DATA[task]
    W, gamma, H = W1[:outputs], GAMMA3[0], 0.0
    for t in range(0, 8, 2):
        rows = (X[t : t + 2], y[t : t + 2], task, outputs)
        g = np.concatenate([part.ravel() for part in objective_gradients(W, gamma, E, *rows, lam=0.1, **rest)])
        H = g**2 if t == 0 else 0.5 * H + 0.5 * g**2
        step = 0.3 * g / (0.1 + np.sqrt(H))
        W, gamma = W - step[:-2].reshape(W.shape), gamma - step[-2:]
        gamma = np.abs(gamma) if rest.get("prior", True) else gamma
    trace = bkm(*DATA[task], E, W1[None, :outputs], GAMMA3[:1], 2, 0.3, 0.1, decay=0.5, floor=0.1, **rest)
    close(trace.state["weights"][0], W, 1e-14)
    close(trace.state["widths"][0], gamma, 1e-14)
    assert np.all(trace.state["spread"] == 0.0)


def test_particles_that_coincide_share_the_mean_gradient():
    G = np.array([[1.0, 0.0], [3.0, 6.0], [2.0, 3.0]])
    close(direction(np.ones((3, 2)), G), np.tile([2.0, 3.0], (3, 1)), 1e-15)


def test_a_particle_apart_from_a_crowd_keeps_its_own_gradient():
    T, G = np.array([[1.0], [1.0], [1.0], [9.0]]), np.array([[3.0], [6.0], [3.0], [8.0]])
    assert bandwidth(T) == 0.0  # 10 of the 16 distances are 0
    close(direction(T, G), [[3.0], [3.0], [3.0], [2.0]], 1e-15)


def test_the_second_term_is_the_derivative_by_the_other_particles():
    h = bandwidth(T4)
    for j, target in enumerate(T4):
        slopes = [numerical_gradient(lambda at: np.exp(-np.sum((at - target) ** 2) / (2.0 * h**2)), T) for T in T4]  # noqa: B023
        close(direction(T4, np.zeros_like(T4))[j], np.mean(slopes, axis=0), 1e-9)


def test_particles_without_a_target_move_apart_and_keep_their_mean():
    phi = direction(T4, np.zeros_like(T4))
    close(np.sum(phi, axis=0), 0.0, 1e-15)
    assert np.sum((T4 - np.mean(T4, axis=0)) * phi) > 0.1


def test_particles_become_samples_of_a_standard_normal():
    T = np.random.default_rng(0).normal([3.0, -2.0], 0.3, size=(60, 2))
    for _ in range(400):
        T = T + 0.5 * direction(T, -T)
    close(np.mean(T, axis=0), 0.0, 0.02)
    # 60 independent draws would have a standard error of 0.18 here; the particles fall short of 1 by about 0.12
    close(np.diag(np.cov(T.T)), 1.0, 0.15)
    close(np.cov(T.T)[0, 1], 0.0, 0.03)


# ---- the stream ----


def test_fixed_widths_are_neither_moved_nor_measured():
    W, H = W3, None
    for t in range(0, 8, 4):
        rows = (X8[t : t + 4], C8[t : t + 4], "multiclass", 3)
        G = [-objective_gradients(w, g, E, *rows, **SOFTMAX)[0] for w, g in zip(W, GAMMA3, strict=True)]
        T, H = ascend(W.reshape(3, -1), direction(W.reshape(3, -1), np.reshape(G, (3, -1))), H, 0.1)
        W = T.reshape(3, 3, 7)
    trace = bkm(*DATA["multiclass"], E, W3, GAMMA3, 4, 0.1, learn_widths=False, **SOFTMAX)
    close(trace.state["widths"], GAMMA3, 0.0)
    close(trace.state["weights"], W, 1e-14)


def test_widths_are_reflected_under_the_prior_only():
    arguments = (*FOUR, E, W3, 0.05 * GAMMA3, 4, 0.1)
    reflected = bkm(*arguments, **SOFTMAX).state["widths"]
    assert np.all(reflected >= 0.0)
    free = bkm(*arguments, prior=False, **SOFTMAX).state["widths"]
    assert np.any(free < 0.0)


def test_scores_are_made_before_the_batch_is_learned_and_spread_is_theirs():
    trace = bkm(*DATA["multiclass"], E, W3, GAMMA3, 4, 0.1, **SOFTMAX)
    half = bkm(*FOUR, E, W3, GAMMA3, 4, 0.1, **SOFTMAX)
    for t, x in enumerate(X8):
        W, gamma = (W3, GAMMA3) if t < 4 else (half.state["weights"], half.state["widths"])
        said = np.array([w @ features(x, E, g) for w, g in zip(W, gamma, strict=True)])
        close(trace.scores[t], said.sum(axis=0) / 3.0, 1e-14)
        close(trace.state["spread"][t] ** 2, (said**2).sum(axis=0) / 3.0 - trace.scores[t] ** 2, 1e-14)
    assert not np.allclose(trace.scores[4:6], bkm(*DATA["multiclass"], E, W3, GAMMA3, 9, 0.1, **SOFTMAX).scores[4:6])


def quadrants(task, **rest):
    """The last 500 of 1500 rows right, and the widths, of 4 particles: two opposite quadrants against the others."""
    rng = np.random.default_rng(1)
    X, outputs = rng.uniform(-1.0, 1.0, size=(1500, 2)), {"binary": 1, "multiclass": 2}[task]
    same = X[:, 0] * X[:, 1] > 0.0
    y = np.where(same, 1.0, -1.0) if task == "binary" else np.where(same, 1.0, 0.0)
    noise, W0, gamma0 = rng.normal(size=(2, 20)), rng.normal(size=(4, outputs, 41)), np.abs(rng.normal(size=(4, 2)))
    trace = bkm(X, y, task, outputs, noise, W0, gamma0, 10, 0.05, **SOFTMAX, **rest)
    right = [predict(task, f) == label for f, label in zip(trace.scores[-500:], y[-500:], strict=True)]
    return np.mean(right), np.abs(trace.state["widths"])


@pytest.mark.parametrize("task", ["binary", "multiclass"])
@pytest.mark.parametrize("total", [False, True])
def test_few_particles_learn_opposite_quadrants(task, total):
    right, _ = quadrants(task, total=total, prior=False)
    assert right > 0.9


def test_the_prior_of_the_widths_outweighs_a_mean_loss():
    right, widths = quadrants("binary", total=False, prior=True)
    assert right < 0.7
    assert np.max(widths) < 0.2  # a mean of losses weighs as much as one row: gamma is drawn to 0
