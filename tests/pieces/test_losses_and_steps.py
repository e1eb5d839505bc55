"""Entry points; losses; steps; kernels."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from onkel.core.borrowed import row
from onkel.core.rows import pack, row_count
from onkel.core.verbs import entry_point
from onkel.pieces import kernels, losses, steps
from onkel.pieces.kernels import measure, self_similarity, similarities
from onkel.pieces.losses import adapt, suffer
from onkel.pieces.steps import move, pace
from tests.pieces.common import CLASSIFICATION, KERNELS, LOSS_CASES, REGRESSION
from tests.tables import LAYOUTS, laid_out, stream, twin_kernel


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


LOSSES = {**CLASSIFICATION, **REGRESSION}


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
    ("closed hinge", 1.0, [0.25], [-1.0]),  # a margin of exactly what is wanted still counts
    ("closed hinge", 0.0, [1.25, 1.0, 1.0], [-1.0, 1.0, 0.0]),
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
