"""Feature maps: what they estimate; feature maps: what they are."""

from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from sklearn.kernel_approximation import AdditiveChi2Sampler

from onkel.core import randomness
from onkel.core.borrowed import row
from onkel.core.rows import pack
from onkel.core.verbs import entry_point
from onkel.pieces import kernels
from onkel.pieces.maps.chi2 import chi2
from onkel.pieces.maps.drawing import DRAWS, draw_map
from onkel.pieces.maps.fourier import fourier, iid, phase
from onkel.pieces.maps.hadamard import fastfood, sorf
from onkel.pieces.maps.lifting import features_of
from onkel.pieces.maps.nystroem import measures, nystroem
from onkel.pieces.maps.verbs import factor, feature_norm, width
from tests.naive import maps
from tests.pieces.common import KERNELS, SHIFT_INVARIANT, UNBIASED
from tests.tables import LAYOUTS, laid_out, radians, stream, twin_kernel


@entry_point
def norm_all(feature_map: Any, features: Any, out: Any) -> None:
    for i in range(features.shape[0]):
        out[i] = feature_norm(feature_map, row(features, i))


N_SEEDS = 400


PAIRS = np.array([[0.0, 0.0, 0.0, 0.0], [0.3, -0.4, 0.1, 0.2], [1.0, 0.5, -0.5, 0.2], [-0.6, 1.1, 0.4, -1.2]])


SPREAD = np.sqrt(2.0 / (N_SEEDS - 1))  # relative standard error of a variance over so many nearly normal estimates


@lru_cache
def estimates(kernel, draw, n_frequencies):
    """Estimates (seeds, 3) of the kernel between the first of the four points and each of the others."""
    block = pack(PAIRS, np.float64)
    found = []
    for seed in range(N_SEEDS):
        if draw == "phase":
            drawn = phase(
                fourier(iid(kernel, 4, n_frequencies, seed), np.float64), np.float64, randomness.derive(seed, 1)
            )
        else:
            drawn = draw_map(kernel, 4, n_frequencies, draw, np.float64, seed)
        z = features_of(drawn, block)
        found.append(z[1:] @ z[0])
    return np.array(found)


def exact_values(kernel, times=1.0):
    """The kernel at `times` the differences of the pairs."""
    slow = twin_kernel(kernel, None, None)
    return np.array([slow(times * x, times * PAIRS[0]) for x in PAIRS[1:]])


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


def drawn_maps(dtype):
    """One map of each kind with its slow twin, for rows of five numbers."""
    gaussian, sigma = kernels.gaussian(gamma=0.3), 1.0 / np.sqrt(0.6)
    U = iid(gaussian, 5, 21, 3)
    plain, shifted = fourier(U, dtype), phase(fourier(U, dtype), dtype, 4)
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
