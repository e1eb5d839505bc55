"""What every piece promises: losses, steps, kernels, feature maps, random numbers, width rules.

Light pieces have no call of their own from Python, so small entry points below take them there; without the compiler
(NUMBA_DISABLE_JIT=1) the same tests run them as plain Python.
"""

from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import pdist
from sklearn.kernel_approximation import AdditiveChi2Sampler

from onkel import kernels, losses, randomness, steps, widths
from onkel.borrow import row
from onkel.dispatch import entry_point
from onkel.kernels import measure, self_similarity, similarities
from onkel.losses import adapt, suffer
from onkel.maps.chi2 import chi2
from onkel.maps.drawing import DRAWS, draw_map
from onkel.maps.fourier import fourier, iid, phase
from onkel.maps.hadamard import fastfood, sorf
from onkel.maps.lifting import features_of
from onkel.maps.nystroem import measures, nystroem
from onkel.maps.verbs import factor, feature_norm, width
from onkel.randomness import choice, normal, uniform
from onkel.rows import pack, row_count
from onkel.steps import move, pace
from tests.naive import maps
from tests.tables import LAYOUTS, laid_out, radians, stream, twin_kernel

# ---- entry points ----


@entry_point
def suffer_all(loss: Any, target: Any, scores: Any, values: Any, slopes: Any) -> None:
    for i in range(scores.shape[0]):
        values[i] = suffer(loss, target[i], row(scores, i), row(slopes, i))


@entry_point
def adapt_once(loss: Any, importance: float, slopes: Any) -> None:
    adapt(loss, importance, slopes)


@entry_point
def pace_once(step: Any, t: int, loss: float, slopes: Any, alike: float, out: Any) -> None:
    out[0], out[1] = pace(step, t, loss, slopes, alike)


@entry_point
def move_once(step: Any, gain: float, slope: float, features: Any, weights: Any, memory: Any) -> None:
    move(step, gain, slope, features, weights, memory)


@entry_point
def compare_all(kernel: Any, block: Any, points: Any, sizes: Any, found: Any, alike: Any, alone: Any) -> None:
    for i in range(row_count(block)):
        size = measure(kernel, block, i)
        alone[i, 0], alone[i, 1] = size, self_similarity(kernel, size)
        similarities(kernel, block, i, size, points, sizes, found, row(alike, i))


@entry_point
def norm_all(feature_map: Any, features: Any, out: Any) -> None:
    for i in range(features.shape[0]):
        out[i] = feature_norm(feature_map, row(features, i))


@entry_point
def draw_all(state: Any, n: int, bits: Any, uniforms: Any, normals: Any, choices: Any) -> None:
    for i in range(bits.shape[0]):
        bits[i] = randomness.draw(state)
    for i in range(uniforms.shape[0]):
        uniforms[i] = uniform(state)
    for i in range(normals.shape[0]):
        normals[i] = normal(state)
    for i in range(choices.shape[0]):
        choices[i] = choice(state, n)


# ---- losses ----

CLASSIFICATION = {
    "perceptron": losses.perceptron(),
    "hinge": losses.hinge(),
    "logistic": losses.logistic(),
    "softmax": losses.softmax(),
    "adaptive margin": losses.AdaptiveMargin(0.4, 0.1, 1.0, np.array([0.3])),
}
REGRESSION = {
    "squared": losses.squared(),
    "squared, twice": losses.squared(factor=2.0),
    "squared outside 0.3": losses.squared(epsilon=0.3),
    "absolute": losses.absolute(),
    "epsilon insensitive": losses.epsilon_insensitive(0.3),
    "adaptive tube": losses.AdaptiveTube(0.4, 0.1, 0.0, np.array([0.3])),
}
LOSSES = {**CLASSIFICATION, **REGRESSION}
LOSS_CASES = [(name, k) for name in CLASSIFICATION for k in (1, 3)]
LOSS_CASES += [(name, 0) for name in REGRESSION]  # 0: no classes
each_loss = pytest.mark.parametrize(("name", "classes"), LOSS_CASES)


def suffered(loss, targets, scores):
    scores = np.asarray(scores, np.float64)
    values, slopes = np.empty(len(scores)), np.empty_like(scores)
    suffer_all(loss, np.asarray(targets, np.float64), scores, values, slopes)
    return values, slopes


def possible_targets(classes):
    return {0: [-0.7, 0.0, 1.2], 1: [-1.0, 1.0], 3: [0.0, 1.0, 2.0]}[classes]


@each_loss
def test_slope_is_the_derivative_of_the_loss(name, classes):
    points = np.random.default_rng(1).normal(size=(40, max(1, classes)))
    step = 1e-6
    for target in possible_targets(classes):
        targets = np.full(len(points), target)
        if name == "squared outside 0.3":  # the value jumps where the zone ends, but not within a nudge of these points
            assert np.abs(np.abs(points[:, 0] - target) - 0.3).min() > step
        _, slopes = suffered(LOSSES[name], targets, points)
        for k in range(points.shape[1]):
            nudge = step * np.eye(points.shape[1])[k]
            after, before = (suffered(LOSSES[name], targets, points + sign * nudge)[0] for sign in (1.0, -1.0))
            np.testing.assert_allclose(slopes[:, k], (after - before) / (2.0 * step), rtol=0.0, atol=1e-7)


@each_loss
def test_losses_are_at_least_zero_and_finite_for_huge_scores(name, classes):
    scores = np.array(list(product([-1e30, -1.0, 0.0, 1.0, 1e30], repeat=max(1, classes))))
    for target in possible_targets(classes):
        values, slopes = suffered(LOSSES[name], np.full(len(scores), target), scores)
        assert (values >= 0.0).all()
        assert np.isfinite(values).all()
        assert np.isfinite(slopes).all()


TIES = [  # (loss, target, scores, slopes at exactly that point)
    ("perceptron", 1.0, [0.0], [0.0]),  # 0 is read as +1 ...
    ("perceptron", -1.0, [0.0], [1.0]),  # ... so it is a mistake for -1
    ("perceptron", 0.0, [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]),  # the first class wins ties ...
    ("perceptron", 2.0, [0.0, 0.0, 0.0], [1.0, 0.0, -1.0]),  # ... and is the rival of the others
    ("perceptron", 1.0, [0.0, 1.0, 1.0], [0.0, 0.0, 0.0]),  # class 1 comes before class 2
    ("perceptron", 2.0, [0.0, 1.0, 1.0], [0.0, 1.0, -1.0]),
    ("hinge", 1.0, [1.0], [0.0]),  # a margin of exactly 1 is enough
    ("hinge", 0.0, [2.0, 1.0, 1.0], [0.0, 0.0, 0.0]),
    ("hinge", 0.0, [0.0, 0.0, 0.0], [-1.0, 1.0, 0.0]),  # of equal rivals the first
    ("hinge", 0.0, [0.0, 1.0, 1.0], [-1.0, 1.0, 0.0]),
    ("logistic", 1.0, [0.0, 0.0, 0.0], [0.5, -0.5, 0.0]),
    ("softmax", 1.0, [0.0, 0.0, 0.0], [1 / 3, -2 / 3, 1 / 3]),
    ("adaptive margin", 1.0, [0.3], [-1.0]),  # a margin of exactly rho falls short of it
    ("squared", 0.5, [0.5], [0.0]),
    ("squared outside 0.3", 0.0, [0.3], [0.0]),  # the border belongs to the zone
    ("absolute", 0.5, [0.5], [0.0]),
    ("epsilon insensitive", 0.0, [-0.3], [0.0]),
    ("adaptive tube", 0.0, [0.3], [0.0]),
]


@pytest.mark.parametrize(("name", "target", "scores", "expected"), TIES)
def test_slopes_at_ties_are_the_documented_ones(name, target, scores, expected):
    _, slopes = suffered(LOSSES[name], [target], [scores])
    np.testing.assert_allclose(slopes[0], expected, rtol=0.0, atol=1e-15)


def test_softmax_of_two_signs_is_the_logistic_loss():
    scores = np.linspace(-5.0, 5.0, 11)[:, None]
    for target in (-1.0, 1.0):
        targets = np.full(len(scores), target)
        one, other = (suffered(loss, targets, scores) for loss in (losses.softmax(), losses.logistic()))
        np.testing.assert_array_equal(one[0], other[0])
        np.testing.assert_array_equal(one[1], other[1])


@pytest.mark.parametrize("importance", [0.0, 1.0, 2.0])
@pytest.mark.parametrize("direction", [1.0, -1.0])
@pytest.mark.parametrize("short", [True, False])
def test_the_margin_moves_towards_its_share_of_rows(direction, short, importance):
    loss = losses.AdaptiveMargin(0.4, 0.1, direction, np.array([0.3]))
    adapt_once(loss, importance, np.array([0.0, -importance if short else 0.0]))
    assert loss.rho[0] == pytest.approx(0.3 + importance * direction * 0.1 * (0.4 - short), abs=1e-15)


@pytest.mark.parametrize(
    ("importance", "slope", "floor", "expected"),
    [
        (1.0, 1.0, 0.0, 0.02 + 0.1 * (1.0 - 0.4)),
        (2.0, 2.0, 0.0, 0.02 + 0.2 * (1.0 - 0.4)),
        (0.0, 0.0, 0.0, 0.02),
        (1.0, 0.0, 0.0, 0.0),
        (1.0, 0.0, -np.inf, 0.02 - 0.1 * 0.4),
    ],
)
def test_the_tube_moves_towards_its_share_of_rows_and_stops_at_its_floor(importance, slope, floor, expected):
    loss = losses.AdaptiveTube(0.4, 0.1, floor, np.array([0.02]))
    adapt_once(loss, importance, np.array([slope]))
    assert loss.epsilon[0] == pytest.approx(expected, abs=1e-15)


def test_a_loss_without_state_stays_as_it_is():
    loss = losses.squared(0.3, 2.0)
    adapt_once(loss, 1.0, np.array([1.0]))
    assert loss == (losses.SQUARED, 0.3, 2.0)


# ---- steps ----

L, SLOPES, ALIKE = 0.6, np.array([1.0, -1.0]), 0.5  # energy = 0.5 * (1 + 1) = 1
PACES = [
    ("constant", steps.constant(0.2, 0.1), 7, 1.0 - 0.02, 0.2),
    ("constant without penalty", steps.constant(0.2), 7, 1.0, 0.2),
    ("inverse time", steps.inverse_time(0.5), 4, 1.0 - 1.0 / 4, 1.0 / (0.5 * 4)),
    ("inverse time at first", steps.inverse_time(0.5), 1, 0.0, 2.0),
    ("inverse root", steps.inverse_sqrt(0.2, 0.1), 4, 1.0 - 0.1 * 0.1, 0.1),
    ("adagrad", steps.adagrad(0.2, 0.1), 7, 1.0 - 0.02, 0.2),
    ("batch unfinished", steps.minibatch(0.2, 5, 0.1), 7, 1.0, 0.0),
    ("batch finished", steps.minibatch(0.2, 5, 0.1), 10, 1.0 - 0.02, 0.2 / 5),
    ("PA", steps.passive_aggressive(0.4, "PA"), 7, 1.0, 0.6),
    ("PA-I capped", steps.passive_aggressive(0.4, "PA-I"), 7, 1.0, 0.4),
    ("PA-I", steps.passive_aggressive(0.8, "PA-I"), 7, 1.0, 0.6),
    ("PA-II", steps.passive_aggressive(0.4, "PA-II"), 7, 1.0, 0.6 / (1.0 + 1.0 / 0.8)),
]


def paced(step, t, loss=L, slopes=SLOPES, alike=ALIKE):
    out = np.empty(2)
    pace_once(step, t, loss, slopes, alike, out)
    return out


@pytest.mark.parametrize(("name", "step", "t", "shrink", "gain"), PACES, ids=[case[0] for case in PACES])
def test_pace_follows_the_formula_of_its_rule(name, step, t, shrink, gain):
    np.testing.assert_allclose(paced(step, t), [shrink, gain], rtol=1e-15)


@pytest.mark.parametrize("variant", ["PA", "PA-I", "PA-II"])
@pytest.mark.parametrize(("slopes", "alike"), [([0.0, 0.0], 1.0), ([1.0, -1.0], 0.0)])
def test_passive_aggressive_steps_stand_still_without_energy(variant, slopes, alike):
    gain = paced(steps.passive_aggressive(1.0, variant), 1, 0.0, np.array(slopes), alike)[1]
    assert gain == 0.0


def test_an_unknown_variant_is_refused():
    with pytest.raises(ValueError, match="PA, PA-I, PA-II"):
        steps.passive_aggressive(1.0, "PA-III")


Z = np.array([[1.0, -2.0, 0.5], [0.0, 1.0, 3.0], [2.0, 2.0, -1.0]])
GRADIENT_SIZES = [0.5, -1.0, 0.25]


def moved(step, gains, dtype=np.float64):
    """Weights and memory after each of three rows."""
    weights = np.ones(3, dtype)
    memory = np.zeros(3 if steps.has_memory(step) else 0, dtype)
    trail = []
    for z, slope, gain in zip(Z, GRADIENT_SIZES, gains, strict=True):
        move_once(step, gain, slope, z.astype(dtype), weights, memory)
        trail.append((weights.copy(), memory.copy()))
    return trail


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_plain_step_goes_along_the_gradient(dtype):
    (weights, memory) = moved(steps.constant(0.2), [0.2, 0.1, 0.4], dtype)[-1]
    expected = 1.0 - 0.2 * 0.5 * Z[0] + 0.1 * Z[1] - 0.4 * 0.25 * Z[2]
    np.testing.assert_allclose(weights, expected, rtol=4 * np.finfo(dtype).eps)
    assert len(memory) == 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_adagrad_divides_each_coordinate_by_the_root_of_its_squares(dtype):
    weights, memory = moved(steps.adagrad(0.2), [0.2] * 3, dtype)[-1]
    G = Z * np.array(GRADIENT_SIZES)[:, None]
    squares = np.cumsum(G**2, axis=0)
    steps_taken = 0.2 * G / np.sqrt(squares + 1e-30)  # 1e-30: a coordinate that was never touched divides 0 by 0
    np.testing.assert_allclose(memory, squares[-1], rtol=4 * np.finfo(dtype).eps)
    np.testing.assert_allclose(weights, 1.0 - steps_taken.sum(axis=0), rtol=8 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_batch_waits_until_it_is_full_and_starts_anew(dtype):
    trail = moved(steps.minibatch(0.2, 2), [0.0, 0.1, 0.0], dtype)
    G = Z * np.array(GRADIENT_SIZES)[:, None]
    full = 1.0 - 0.1 * (G[0] + G[1])
    expected = [(np.ones(3), G[0]), (full, np.zeros(3)), (full, G[2])]
    for (weights, memory), (w, m) in zip(trail, expected, strict=True):
        np.testing.assert_allclose(weights, w, rtol=4 * np.finfo(dtype).eps)
        np.testing.assert_allclose(memory, m, rtol=4 * np.finfo(dtype).eps)


# ---- kernels ----

KERNELS = {
    "gaussian": kernels.gaussian(gamma=0.3),
    "laplacian": kernels.laplacian(gamma=0.3),
    "cauchy": kernels.cauchy(gamma=0.3),
    "polynomial": kernels.polynomial(degree=3, gamma=0.3, coef0=0.7),
    "polynomial of degree 1": kernels.polynomial(degree=1, gamma=2.0, coef0=-0.5),
    "linear": kernels.linear(),
    "additive_chi2": kernels.additive_chi2(),
}
KERNEL_PRECISION = {np.float64: 1e-13, np.float32: 2e-5}
each_kernel = pytest.mark.parametrize("name", KERNELS)


def test_every_kernel_is_compared_with_a_slow_one():
    assert set(kernels.KERNELS) <= set(KERNELS)


def compared(kernel, X, points, layout, dtype):
    """(similarities of rows to points, measure and self-similarity of rows); capacity is larger than the points."""
    block, capacity = pack(laid_out(X, layout, dtype), dtype), len(points) + 3
    columns = np.full((X.shape[1], capacity), np.nan, dtype)
    columns[:, : len(points)] = points.T
    sizes = np.full(capacity, np.nan, dtype)
    for k in range(len(points)):
        alone = np.empty((1, 2))
        nothing = np.zeros((1, 0), dtype)
        one = pack(laid_out(points[k : k + 1], layout, dtype), dtype)
        compare_all(kernel, one, np.zeros((X.shape[1], 0), dtype), np.zeros(0, dtype), 0, nothing, alone)
        with np.errstate(over="ignore"):
            sizes[k] = alone[0, 0]
    alike, alone = np.full((len(X), capacity), -7.0, dtype), np.empty((len(X), 2))
    compare_all(kernel, block, columns, sizes, len(points), alike, alone)
    assert (alike[:, len(points) :] == -7.0).all(), "it wrote beyond the points it was asked for"
    return alike[:, : len(points)], alone


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", LAYOUTS)
@each_kernel
def test_similarities_are_those_of_the_exact_kernel(name, layout, dtype):
    X = stream("binary", 24).X.astype(dtype)  # row 10 has no entries at all
    X = np.abs(X) if name == "additive_chi2" else X
    slow = twin_kernel(KERNELS[name], None, None)
    exact = np.array([[slow(x, s) for s in X[5:16].astype(np.float64)] for x in X.astype(np.float64)])
    alike, alone = compared(KERNELS[name], X, X[5:16], layout, dtype)
    tolerance = KERNEL_PRECISION[dtype] * max(1.0, np.abs(exact).max())
    np.testing.assert_allclose(alike, exact, rtol=0.0, atol=tolerance)
    themselves = [slow(x, x) for x in X.astype(np.float64)]
    np.testing.assert_allclose(alone[:, 1], themselves, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["gaussian", "laplacian", "cauchy"])
def test_similarities_lie_between_zero_and_one_however_far_the_rows_are(name, dtype):
    X = np.concatenate([stream("binary", 12).X, 1e3 * stream("binary", 12).X, [[1e19] * 5]]).astype(dtype)
    alike, _ = compared(KERNELS[name], X, X, "dense", dtype)
    assert (alike >= 0.0).all()
    assert (alike <= 1.0).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@each_kernel
def test_measures_of_dense_and_compressed_rows_are_the_same_bits(name, dtype):
    X = np.abs(stream("binary", 24).X).astype(dtype)
    dense, compressed = (compared(KERNELS[name], X, X[:5], layout, dtype) for layout in LAYOUTS)
    for one, other in zip(dense, compressed, strict=True):
        assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize(
    ("make", "gamma"),
    [(kernels.gaussian, 1.0 / (2.0 * 1.6**2)), (kernels.laplacian, 1.0 / 1.6), (kernels.cauchy, 1.0 / 1.6**2)],
)
def test_sigma_is_another_name_for_gamma(make, gamma):
    assert make(sigma=1.6).gamma == pytest.approx(gamma, rel=1e-15)
    with pytest.raises(ValueError, match="not both"):
        make(gamma=1.0, sigma=1.0)


# ---- feature maps: what they estimate ----

N_SEEDS = 400
PAIRS = np.array([[0.0, 0.0, 0.0, 0.0], [0.3, -0.4, 0.1, 0.2], [1.0, 0.5, -0.5, 0.2], [-0.6, 1.1, 0.4, -1.2]])
SPREAD = np.sqrt(2.0 / (N_SEEDS - 1))  # relative standard error of a variance over so many nearly normal estimates
SHIFT_INVARIANT = {
    "gaussian": kernels.gaussian(gamma=0.5),
    "laplacian": kernels.laplacian(gamma=0.5),
    "cauchy": kernels.cauchy(gamma=0.5),
}


@lru_cache
def estimates(kernel, draw, n_frequencies):
    """Estimates (seeds, 3) of the kernel between the first of the four points and each of the others."""
    block = pack(PAIRS, np.float64)
    found = []
    for seed in range(N_SEEDS):
        if draw == "phase":
            drawn = phase(iid(kernel, 4, n_frequencies, seed), np.float64, randomness.derive(seed, 1))
        else:
            drawn = draw_map(kernel, 4, n_frequencies, draw, np.float64, seed)
        z = features_of(drawn, block)
        found.append(z[1:] @ z[0])
    return np.array(found)


def exact_values(kernel, times=1.0):
    """The kernel at `times` the differences of the pairs."""
    slow = twin_kernel(kernel, None, None)
    return np.array([slow(times * x, times * PAIRS[0]) for x in PAIRS[1:]])


UNBIASED = [(name, draw) for name in SHIFT_INVARIANT for draw in ("iid", "phase")]
UNBIASED += [("gaussian", "orthogonal"), ("gaussian", "fastfood")]


def test_every_draw_is_compared_with_its_kernel():
    assert set(DRAWS) == {draw for _, draw in UNBIASED if draw != "phase"} | {"sorf"}


@pytest.mark.parametrize(("name", "draw"), UNBIASED)
def test_the_mean_estimate_is_the_kernel(name, draw):
    kernel = SHIFT_INVARIANT[name]
    found = estimates(kernel, draw, 16)
    error = found.mean(axis=0) - exact_values(kernel)
    assert (np.abs(error) < 5.0 * found.std(axis=0) / np.sqrt(N_SEEDS)).all()


@pytest.mark.parametrize(("name", "draw"), [(name, draw) for name, draw in UNBIASED if draw in ("iid", "phase")])
def test_estimates_spread_as_theory_says(name, draw):
    # Var cos(w u) = (1 + k(2u)) / 2 - k(u)^2; a random phase adds cos(w (x + s) + 2 b), of variance 1 / 2
    kernel, D = SHIFT_INVARIANT[name], 64
    theory = ((1.0 + exact_values(kernel, 2.0)) / 2.0 - exact_values(kernel) ** 2 + (draw == "phase") / 2.0) / D
    ratio = estimates(kernel, draw, D).var(axis=0, ddof=1) / theory
    assert (np.abs(ratio - 1.0) < 5.0 * SPREAD).all()


@pytest.mark.parametrize("draw", ["orthogonal", "sorf"])
def test_orthogonal_frequencies_spread_less_than_independent_ones(draw):
    kernel = SHIFT_INVARIANT["gaussian"]
    independent = (1.0 + exact_values(kernel, 2.0) - 2.0 * exact_values(kernel) ** 2) / (2.0 * 64)
    assert (estimates(kernel, draw, 64).var(axis=0, ddof=1) * (1.0 + 5.0 * SPREAD) < independent).all()


def test_the_mean_estimate_of_sorf_is_that_over_all_its_signs():
    # SORF is biased in few dimensions; with p = 4 all 2^12 choices of signs can be enumerated
    kernel = SHIFT_INVARIANT["gaussian"]
    every = [maps.sorf_matrix(np.reshape(signs, (3, 4)), sigma=1.0) for signs in product([-1.0, 1.0], repeat=12)]
    expected = np.mean(np.cos(np.array(every) @ PAIRS[1:].T), axis=(0, 1))
    found = estimates(kernel, "sorf", 16)
    assert (np.abs(found.mean(axis=0) - expected) < 5.0 * found.std(axis=0) / np.sqrt(N_SEEDS)).all()


def test_the_mean_estimate_of_sorf_is_the_kernel_in_many_dimensions():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(4, 60)) / np.sqrt(60)
    kernel = kernels.gaussian(gamma=0.5)
    slow = maps.gaussian(0.5)
    block = pack(X, np.float64)
    found = []
    for seed in range(N_SEEDS):
        z = features_of(sorf(kernel, 60, 64, np.float64, seed), block)
        found.append(z[1:] @ z[0])
    error = np.mean(found, axis=0) - [slow(x, X[0]) for x in X[1:]]
    assert (np.abs(error) < 5.0 * np.std(found, axis=0) / np.sqrt(N_SEEDS)).all()


def test_more_frequencies_keep_the_first_ones():
    few, many = (draw_map(SHIFT_INVARIANT["gaussian"], 4, D, "iid", np.float64, 5).frequencies for D in (8, 20))
    np.testing.assert_array_equal(many[:, :8], few)


# ---- feature maps: what they are ----


def drawn_maps(dtype):
    """One map of each kind with its slow twin, for rows of five numbers."""
    gaussian, sigma = kernels.gaussian(gamma=0.3), 1.0 / np.sqrt(0.6)
    U = iid(gaussian, 5, 21, 3)
    plain, shifted = fourier(U, dtype), phase(U, dtype, 4)
    signs, food = sorf(gaussian, 5, 21, dtype, 3), fastfood(gaussian, 5, 21, dtype, 3)
    signed = [maps.sorf_matrix(block[::-1], sigma) for block in signs.diagonals.astype(np.float64)]
    landmarks, _ = landmark_map(gaussian, stream("binary", 9).X.astype(dtype))
    return {
        "fourier": (plain, maps.fourier(radians(plain.frequencies))),
        "phase": (shifted, maps.phase(radians(shifted.frequencies), radians(shifted.phases))),
        "sorf": (signs, maps.fourier(maps.frequencies(signed, 5, 21))),
        "fastfood": (food, maps.fourier(maps.frequencies(fastfood_blocks(food, sigma), 5, 21))),
        "nystroem": (landmarks, None),
        "chi2": (chi2(5, 2), maps.chi2(2, 0.4)),
    }


def landmark_map(kernel, points, cut=1e-12):
    """The map of full rank over these rows, and its way back."""
    K, n = exact_gram(kernel, points), len(points)
    sizes = measures(kernel, pack(points, points.dtype)).astype(points.dtype)
    return nystroem(kernel, np.ascontiguousarray(points.T), sizes, K, n, cut)


def exact_gram(kernel, points):
    slow, points = twin_kernel(kernel, None, None), points.astype(np.float64)
    return np.array([[slow(a, b) for b in points] for a in points])


def fastfood_blocks(food, sigma):
    """The explicit matrix of each block; stored lengths are chi / (sigma pi |gains| sqrt(p))."""
    blocks = []
    for (signs, gains), order, stored in zip(food.diagonals.astype(np.float64), food.order, food.lengths, strict=True):
        lengths = radians(stored) * sigma * np.linalg.norm(gains) * np.sqrt(len(gains))
        blocks.append(maps.fastfood_matrix(signs, order, gains, lengths, sigma))
    return blocks


MAP_KINDS = ("fourier", "phase", "sorf", "fastfood", "nystroem", "chi2")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", [kind for kind in MAP_KINDS if kind != "nystroem"])
def test_features_are_those_of_the_slow_map(kind, layout, dtype):
    feature_map, slow = drawn_maps(dtype)[kind]
    X = stream("binary", 24).X.astype(dtype)
    X = np.abs(X) if kind == "chi2" else X
    z = features_of(feature_map, pack(laid_out(X, layout, dtype), dtype))
    expected = np.array([slow(x) for x in X.astype(np.float64)])
    assert z.dtype == dtype
    np.testing.assert_allclose(z, expected, rtol=0.0, atol={np.float64: 1e-13, np.float32: 3e-6}[dtype])


@pytest.mark.parametrize("kind", MAP_KINDS)
def test_features_of_dense_and_compressed_rows_are_the_same_bits(kind):
    feature_map, _ = drawn_maps(np.float32)[kind]
    X = np.abs(stream("binary", 24).X).astype(np.float32)
    dense, compressed = (features_of(feature_map, pack(laid_out(X, layout), np.float32)) for layout in LAYOUTS)
    assert dense.tobytes() == compressed.tobytes()


@pytest.mark.parametrize("kind", MAP_KINDS)
def test_features_do_not_depend_on_the_other_rows_of_the_block(kind):
    feature_map, _ = drawn_maps(np.float32)[kind]
    X = np.abs(stream("binary", 100).X).astype(np.float32)
    together = features_of(feature_map, pack(X, np.float32))
    one_by_one = np.concatenate([features_of(feature_map, pack(x[None], np.float32)) for x in X])
    assert together.tobytes() == one_by_one.tobytes()


@pytest.mark.parametrize("kind", MAP_KINDS)
def test_the_norm_of_the_features_is_known_without_them(kind):
    feature_map, _ = drawn_maps(np.float64)[kind]
    z = features_of(feature_map, pack(np.abs(stream("binary", 24).X), np.float64))
    assert z.shape[1] == width(feature_map)
    norms = np.empty(len(z))
    norm_all(feature_map, z / factor(feature_map), norms)  # `feature_norm` takes features without their factor
    np.testing.assert_allclose(norms, np.sum(z * z, axis=1), rtol=1e-12, atol=1e-15)


def test_orthogonal_frequencies_are_orthogonal_within_a_block():
    U = radians(draw_map(kernels.gaussian(gamma=0.5), 5, 12, "orthogonal", np.float64, 3).frequencies)
    for first in (0, 5):
        gram = U[:, first : first + 5].T @ U[:, first : first + 5]
        np.testing.assert_allclose(gram, np.diag(np.diag(gram)), atol=1e-12)
    assert U.shape == (5, 12)


@pytest.mark.parametrize("draw", DRAWS)
def test_a_single_input_has_features_whatever_the_draw(draw):
    drawn = draw_map(kernels.gaussian(gamma=0.5), 1, 6, draw, np.float64, 3)
    assert features_of(drawn, pack(np.array([[0.5], [0.0]]), np.float64)).shape == (2, 12)


@pytest.mark.parametrize("name", ["laplacian", "cauchy"])
@pytest.mark.parametrize("draw", ["orthogonal", "sorf", "fastfood"])
def test_structured_draws_are_refused_for_other_kernels(name, draw):
    with pytest.raises(ValueError, match="Gaussian"):
        draw_map(SHIFT_INVARIANT[name], 4, 8, draw, np.float64, 0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", [name for name in KERNELS if not name.startswith(("polynomial of", "linear"))])
def test_nystroem_of_full_rank_reproduces_the_kernel_at_its_landmarks(name, dtype):
    X = np.abs(stream("binary", 9).X).astype(dtype)
    feature_map, back = landmark_map(KERNELS[name], X)
    z = features_of(feature_map, pack(X, dtype)).astype(np.float64)
    exact = exact_gram(KERNELS[name], X)
    precision = {np.float64: 1e-10, np.float32: 1e-3}[dtype] * exact.max()  # the inverse roots of small eigenvalues
    np.testing.assert_allclose(z @ z.T, exact, rtol=0.0, atol=precision)
    np.testing.assert_allclose(feature_map.projection.T @ back, np.eye(back.shape[1]), atol=precision)


def test_nystroem_leaves_out_directions_without_weight():
    X = stream("binary", 6).X
    repeated, _ = landmark_map(kernels.gaussian(gamma=0.5), np.concatenate([X, X]), 1e-8)
    nothing, _ = landmark_map(kernels.linear(), np.zeros((4, 5)), 1e-8)
    assert repeated.projection.shape == (12, 6)
    assert nothing.projection.shape == (4, 1)
    assert not nothing.projection.any()


@pytest.mark.parametrize("order", [0, 1, 2])
def test_chi2_features_are_those_of_scikit_learn(order):
    X = np.abs(stream("binary", 24).X)
    z = features_of(chi2(5, order), pack(X, np.float64))
    theirs = AdditiveChi2Sampler(sample_steps=order + 1).fit_transform(X)
    np.testing.assert_allclose(z @ z.T, theirs @ theirs.T, rtol=1e-12, atol=1e-13)


def test_chi2_features_come_closer_to_the_kernel_with_their_order():
    X = np.abs(stream("binary", 24).X)
    exact = exact_gram(kernels.additive_chi2(), X)
    features = [features_of(chi2(5, order), pack(X, np.float64)) for order in (0, 1, 2)]
    errors = [np.sqrt(np.mean((z @ z.T - exact) ** 2)) for z in features]
    assert errors[2] < errors[1] < errors[0]


# ---- random numbers ----

MASK = 2**64 - 1
GOLDEN, FIRST, SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def splitmix(state):
    """The next state and 64 bits of splitmix64 (Steele, Lea, Flood 2014), in unlimited whole numbers."""
    state = (state + GOLDEN) & MASK
    z = ((state ^ (state >> 30)) * FIRST) & MASK
    z = ((z ^ (z >> 27)) * SECOND) & MASK
    return state, z ^ (z >> 31)


def drawn(state, bits=0, uniforms=0, normals=0, choices=0, n=1):
    out = np.empty(bits, np.uint64), np.empty(uniforms), np.empty(normals), np.empty(choices, np.int64)
    draw_all(state, n, *out)
    return out


def test_splitmix_prints_its_published_numbers():
    state, first = splitmix(1234567)
    _, second = splitmix(state)
    assert (first, second) == (6457827717110365317, 3203168211198807973)


@pytest.mark.parametrize("seed", [0, 7, 1234567, -1, 2**63, 2**64 + 7])
def test_random_bits_are_those_of_splitmix(seed):
    state, key = randomness.generator(seed), splitmix(seed % 2**64)[1]
    assert int(state[0]) == key
    bits, *_ = drawn(state, bits=5)
    expected = []
    for _ in range(5):
        key, value = splitmix(key)
        expected.append(value)
    assert bits.tolist() == expected
    assert int(state[0]) == key


def test_uniform_numbers_are_the_upper_bits_and_normal_numbers_follow_box_and_muller():
    state = randomness.generator(5)
    bits = (drawn(state.copy(), bits=8)[0] >> np.uint64(11)).astype(np.float64) * 2.0**-53
    np.testing.assert_array_equal(drawn(state.copy(), uniforms=8)[1], bits)
    normals = np.sqrt(-2.0 * np.log1p(-bits[::2])) * np.cos(2.0 * np.pi * bits[1::2])
    np.testing.assert_allclose(drawn(state.copy(), normals=4)[2], normals, rtol=1e-12)


N_DRAWS = 100_000


def moments_fit(numbers, means):
    """Whether the mean of each power of the numbers lies within five standard errors of its expectation."""
    for power, mean in enumerate(means, start=1):
        raised = numbers**power
        assert abs(raised.mean() - mean) < 5.0 * raised.std() / np.sqrt(raised.size), f"power {power}"


@pytest.mark.parametrize("source", ["stream", "table"])
def test_uniform_numbers_have_the_moments_of_the_uniform_law(source):
    numbers = (
        drawn(randomness.generator(1), uniforms=N_DRAWS)[1]
        if source == "stream"
        else randomness.uniform_table(1, N_DRAWS // 100, 100).ravel()
    )
    assert (numbers >= 0.0).all()
    assert (numbers < 1.0).all()
    moments_fit(numbers, [1 / 2, 1 / 3, 1 / 4, 1 / 5])


@pytest.mark.parametrize("source", ["stream", "table"])
def test_normal_numbers_have_the_moments_of_the_normal_law(source):
    numbers = (
        drawn(randomness.generator(1), normals=N_DRAWS)[2]
        if source == "stream"
        else randomness.normal_table(1, N_DRAWS // 100, 100).ravel()
    )
    assert np.isfinite(numbers).all()
    moments_fit(numbers, [0.0, 1.0, 0.0, 3.0])


@pytest.mark.parametrize("n", [1, 2, 7, 1000])
def test_choices_are_in_range_and_evenly_spread(n):
    choices = drawn(randomness.generator(3), choices=N_DRAWS, n=n)[3]
    counts = np.bincount(choices, minlength=n)
    assert len(counts) == n
    assert (np.abs(counts - N_DRAWS / n) <= 5.0 * np.sqrt(N_DRAWS / n)).all()


@pytest.mark.parametrize("table", [randomness.uniform_table, randomness.normal_table])
def test_a_number_of_a_table_depends_on_its_place_alone(table):
    large = table(9, 20, 30)
    for rows, columns in [(1, 1), (20, 7), (6, 30), (13, 13)]:
        np.testing.assert_array_equal(table(9, rows, columns), large[:rows, :columns])
    assert len(np.unique(large)) == large.size


def test_numbers_of_a_table_are_hashes_of_their_place_and_never_zero_or_one():
    (key,) = randomness.generator(9).tolist()
    for i, numbers in enumerate(randomness.uniform_table(9, 3, 4)):
        _, of_row = splitmix((key + GOLDEN * (i + 1)) & MASK)
        bits = [splitmix((of_row + GOLDEN * (j + 1)) & MASK)[1] for j in range(4)]
        assert numbers.tolist() == [((b >> 11) + 0.5) * 2.0**-53 for b in bits]


def test_seeds_of_different_purposes_are_different():
    seeds = {randomness.derive(seed, purpose) for seed in range(30) for purpose in range(30)}
    assert len(seeds | set(range(30))) == 930


# ---- widths ----

GAMMA_OF_SCALE = {
    "gaussian": lambda X: 1.0 / (X.shape[1] * X.var()),
    "laplacian": lambda X: 1.0 / (X.shape[1] * X.std()),
    "cauchy": lambda X: 1.0 / (X.shape[1] * X.var()),
}
GAMMA_OF_MEDIAN = {
    "gaussian": lambda X: 0.5 / np.median(pdist(X)) ** 2,
    "laplacian": lambda X: 1.0 / np.median(pdist(X, "cityblock")),
    "cauchy": lambda X: X.shape[1] / np.median(pdist(X)) ** 2,
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("rule", "formula"), [("scale", GAMMA_OF_SCALE), ("median", GAMMA_OF_MEDIAN)])
@pytest.mark.parametrize("name", kernels.WITH_WIDTH)
def test_a_width_rule_follows_its_formula(name, rule, formula, layout):
    X = stream("binary").X + 0.1 * (stream("binary").X > 0.0)
    waiting = kernels.make_kernel(name, gamma=rule)
    assert widths.has_rule(waiting)
    settled = widths.settle(waiting, laid_out(X, layout))
    assert not widths.has_rule(settled)
    assert settled.gamma == pytest.approx(formula[name](X), rel=1e-12)


@pytest.mark.parametrize("rule", kernels.RULES)
def test_a_width_rule_gives_the_same_bits_for_dense_and_compressed_rows(rule):
    waiting = kernels.gaussian(gamma=rule)
    for seed in range(20):
        X = stream("binary", widths.FIRST_ROWS, seed).X
        assert widths.settle(waiting, X) == widths.settle(waiting, sparse.csr_matrix(X))


@pytest.mark.parametrize("rule", kernels.RULES)
@pytest.mark.parametrize("name", kernels.WITH_WIDTH)
@pytest.mark.parametrize("rows", [0, 1, 5])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_rows_without_a_width_of_their_own_get_gamma_one(layout, rows, name, rule):
    same = laid_out(np.zeros((rows, 3)), layout)
    assert widths.settle(kernels.make_kernel(name, gamma=rule), same).gamma == 1.0
