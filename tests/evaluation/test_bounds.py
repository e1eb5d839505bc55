"""The bounds of onkel.evaluation.bounds: their formulas, and that random frequencies keep what they promise."""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest

from onkel.evaluation.bounds import frequencies_needed, precision_of, regret_bound, spectral_spread
from onkel.pieces import kernels
from onkel.pieces.maps.fourier import iid


class Subject(NamedTuple):
    """A kernel, its values by the difference of two rows, and numpy's draws from its spectral density."""

    made: Any
    of: Any
    draw: Any


GAUSSIAN = Subject(
    kernels.gaussian(gamma=0.5),
    lambda u: np.exp(-0.5 * np.sum(u**2, axis=-1)),
    lambda rng, shape: rng.standard_normal(shape),
)
LAPLACIAN = Subject(
    kernels.laplacian(gamma=1.0),
    lambda u: np.exp(-np.sum(np.abs(u), axis=-1)),
    lambda rng, shape: rng.standard_cauchy(shape),
)
CAUCHY = Subject(
    kernels.cauchy(gamma=1.0),
    lambda u: np.prod(1.0 / (1.0 + u**2), axis=-1),
    lambda rng, shape: rng.laplace(size=shape),
)
KERNELS = {"gaussian": GAUSSIAN, "laplacian": LAPLACIAN, "cauchy": CAUCHY}
WITH_SPREAD = {"gaussian": GAUSSIAN, "cauchy": CAUCHY}
PRECISION, CONFIDENCE = 0.2, 0.9
FAILURE = 1.0 - CONFIDENCE
N_DRAWS = 2000
FAR = np.array([40.0, 30.0])  # where the kernels are 0 and their estimates vary most
WAYS = {
    "one pair": {},
    "rows": {"n_rows": 50},
    "set": {"n_features": 3, "diameter": 4.0, "spread": 1.5},
    "tiny set": {"n_features": 3, "diameter": 0.01, "spread": 1.5},
}
each_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
each_kernel_with_spread = pytest.mark.parametrize("kernel", WITH_SPREAD.values(), ids=WITH_SPREAD)
each_way = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)


def most_failures(n_draws):
    """The share of failing draws that a right bound exceeds with a probability below 1e-4."""
    return FAILURE + 4.0 * np.sqrt(FAILURE * CONFIDENCE / n_draws)


# ---- formulas ----


def pair_probability(precision, n_frequencies):
    return 2.0 * np.exp(-n_frequencies * precision**2 / 2.0)


def rows_probability(precision, n_frequencies, n_rows):
    return n_rows * (n_rows - 1) / 2 * pair_probability(precision, n_frequencies)


def set_probability(precision, n_frequencies, n_features, diameter, spread):
    wide = max(diameter, precision / spread)
    return 128.0 * (wide * spread / precision) ** 2 * np.exp(-n_frequencies * precision**2 / (4 * n_features + 8))


FORMULAS = {"one pair": pair_probability, "rows": rows_probability, "set": set_probability, "tiny set": set_probability}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999999])
@pytest.mark.parametrize("precision", [0.01, 0.1, 0.7])
def test_it_is_the_smallest_number_that_satisfies_the_formula(way, precision, confidence):
    probability = partial(FORMULAS[way], precision, **WAYS[way])
    needed = frequencies_needed(precision, confidence, **WAYS[way])
    assert isinstance(needed, int)
    assert probability(needed) <= 1.0 - confidence < probability(needed - 1)


@each_way
@pytest.mark.parametrize("n_frequencies", [1, 2, 10, 777, 10**6, 10**9])
@pytest.mark.parametrize("confidence", [0.01, 0.95, 0.999999])
def test_precision_and_frequencies_are_inverse_to_each_other(way, n_frequencies, confidence):
    precision = precision_of(n_frequencies, confidence, **way)
    assert frequencies_needed(precision, confidence, **way) == n_frequencies
    assert frequencies_needed(precision * (1.0 - 1e-9), confidence, **way) > n_frequencies


@each_way
@pytest.mark.parametrize("precision", [0.003, 0.1, 0.9])
def test_the_wanted_precision_is_reached_by_the_needed_number_and_by_no_smaller_one(way, precision):
    needed = frequencies_needed(precision, **way)
    assert precision_of(needed, **way) <= precision * (1.0 + 1e-9)
    assert precision_of(needed - 1, **way) > precision


@each_way
def test_more_precision_or_more_confidence_needs_more_frequencies(way):
    assert frequencies_needed(0.05, 0.9, **way) > frequencies_needed(0.1, 0.9, **way)
    assert frequencies_needed(0.1, 0.99, **way) > frequencies_needed(0.1, 0.9, **way)
    assert precision_of(400, 0.9, **way) < precision_of(200, 0.9, **way) < precision_of(200, 0.99, **way)


@pytest.mark.parametrize(
    "larger", [{"n_features": 4}, {"diameter": 5.0}, {"spread": 2.0}], ids=lambda more: next(iter(more))
)
def test_a_larger_set_needs_more_frequencies(larger):
    assert frequencies_needed(0.1, **{**WAYS["set"], **larger}) > frequencies_needed(0.1, **WAYS["set"])


def test_two_rows_are_one_pair_and_more_rows_need_more_frequencies():
    assert frequencies_needed(0.1, n_rows=2) == frequencies_needed(0.1) < frequencies_needed(0.1, n_rows=3)


@pytest.mark.parametrize("n_features", [1, 2, 5, 20, 100, 1000, 10**5])
@pytest.mark.parametrize("reach", [1.0, 1.3, 10.0, 1e6])  # over the precision
def test_the_proof_of_the_constant_holds_for_every_probability(n_features, reach):
    q = np.geomspace(1e-15, 1.0, 500)
    a = 1.0 + 1.5 / np.sqrt(q)
    log_point = 0.5 * (n_features + 2) * np.log(q / (2.0**7 * reach**2))  # log exp(-D e^2 / 8)
    centres = 2.0 * np.exp(n_features * np.log1p(4.0 * a * reach) + log_point)
    slope = 1.0 / (a - 1.0) ** 2
    assert np.all(centres + slope < q)


# ---- one pair ----


def pair_errors(kernel, u, n_frequencies):
    """|mean cos(omega . u) - k(u)| for many draws of that many frequencies."""
    frequencies = kernel.draw(np.random.default_rng(3), (N_DRAWS, n_frequencies, len(u)))
    return np.abs(np.cos(frequencies @ u).mean(axis=1) - kernel.of(u))


@each_kernel
@pytest.mark.parametrize("u", [np.array([0.2, 0.1]), np.array([1.5, -1.0]), FAR], ids=str)
def test_one_pair_is_as_precise_as_promised(kernel, u):
    errors = pair_errors(kernel, u, frequencies_needed(PRECISION, CONFIDENCE))
    assert np.mean(errors >= PRECISION) <= most_failures(N_DRAWS)


@each_kernel
def test_an_eighth_of_the_frequencies_breaks_the_promise_for_one_pair(kernel):
    errors = pair_errors(kernel, FAR, frequencies_needed(PRECISION, CONFIDENCE) // 8)
    assert np.mean(errors >= PRECISION) > most_failures(N_DRAWS)


def coin_errors(n_frequencies):
    """The kernel whose estimates vary most: frequencies 0 or pi, u = 1, so that cosines are 1 or -1 and k(u) = 0."""
    frequencies = np.pi * np.random.default_rng(4).integers(0, 2, (N_DRAWS, n_frequencies))
    return np.abs(np.cos(frequencies).mean(axis=1))


def test_the_least_favourable_kernel_keeps_the_promise_but_not_with_a_quarter_of_the_frequencies():
    needed = frequencies_needed(PRECISION, CONFIDENCE)
    assert np.mean(coin_errors(needed) >= PRECISION) <= most_failures(N_DRAWS)
    assert np.mean(coin_errors(needed // 4) >= PRECISION) > most_failures(N_DRAWS)


# ---- all pairs of some rows, and of a set ----


def features(phases):
    return np.hstack([np.cos(phases), np.sin(phases)]) / np.sqrt(phases.shape[1])


def failures(kernel, rows, n_frequencies, n_draws):
    """The share of draws of the frequencies for which some <z(x), z(s)> is off by the precision or more."""
    rng, exact = np.random.default_rng(5), kernel.of(rows[:, None] - rows)
    failed = 0
    for _ in range(n_draws):
        z = features(rows @ kernel.draw(rng, (rows.shape[1], n_frequencies)))
        failed += np.abs(z @ z.T - exact).max() >= PRECISION
    return failed / n_draws


@each_kernel
def test_all_pairs_of_some_rows_are_as_precise_as_promised_where_the_frequencies_for_one_pair_fail(kernel):
    rows = 3.0 * np.random.default_rng(6).standard_normal((60, 4))
    needed = frequencies_needed(PRECISION, CONFIDENCE, n_rows=len(rows))
    assert failures(kernel, rows, needed, 100) <= most_failures(100)
    assert failures(kernel, rows, frequencies_needed(PRECISION, CONFIDENCE), 100) > most_failures(100)


SETS = {
    "segment": np.linspace(-4.0, 4.0, 41)[:, None],
    "disc": np.array([(x, y) for x in np.linspace(-4, 4, 11) for y in np.linspace(-4, 4, 11) if x * x + y * y <= 16]),
}


@each_kernel_with_spread
@pytest.mark.parametrize("points", SETS.values(), ids=SETS)
def test_no_pair_of_a_set_breaks_the_promise_but_a_hundredth_of_the_frequencies_does(kernel, points):
    n_features = points.shape[1]
    spread = spectral_spread(kernel.made, n_features)
    needed = frequencies_needed(PRECISION, CONFIDENCE, n_features=n_features, diameter=8.0, spread=spread)
    assert failures(kernel, points, needed, 30) == 0.0
    assert failures(kernel, points, needed // 100, 100) > most_failures(100)


# ---- spread ----


@each_kernel_with_spread
@pytest.mark.parametrize("gamma", [0.3, 5.0])
def test_the_spread_is_the_root_mean_square_length_of_the_frequencies(kernel, gamma):
    made = kernel.made._replace(gamma=gamma)
    lengths = np.sum(iid(made, 3, 20_000, seed=1) ** 2, axis=0)
    standard_error = lengths.std() / np.sqrt(len(lengths))
    assert abs(lengths.mean() - spectral_spread(made, 3) ** 2) < 4.0 * standard_error


# ---- regret ----

T, ETA = 200, 0.5


def regret(scale, seed):
    """Hinge losses of gradient descent on Fourier features times `scale`, minus those of a kernel expansion."""
    rng = np.random.default_rng(seed)
    rows = rng.uniform(-1.0, 1.0, (T, 2))
    y = np.sign(rows[:, 0] * rows[:, 1])
    n_frequencies = frequencies_needed(PRECISION, CONFIDENCE, n_rows=T)
    z = scale(n_frequencies) * features(rows @ GAUSSIAN.draw(rng, (2, n_frequencies)))
    w, lost = np.zeros(z.shape[1]), 0.0
    for features_t, label in zip(z, y, strict=True):
        loss = max(0.0, 1.0 - label * (w @ features_t))
        lost += loss
        w += ETA * label * features_t * (loss > 0.0)
    alpha = y * (rng.random(T) < 0.1)
    scores = GAUSSIAN.of(rows[:, None] - rows) @ alpha
    bound = regret_bound(T, PRECISION, norm=np.abs(alpha).sum(), eta=ETA)
    return lost - np.maximum(0.0, 1.0 - y * scores).sum(), bound


def test_gradient_descent_on_features_loses_no_more_than_the_bound_says():
    assert all(lost <= bound for lost, bound in (regret(lambda _: 1.0, seed) for seed in range(20)))


def test_the_bound_needs_features_of_length_one():
    assert all(lost > bound for lost, bound in (regret(np.sqrt, seed) for seed in range(5)))


def test_regret_is_the_sum_of_a_start_a_noise_and_an_approximation():
    start, noise, approximation = 1.25 * 3.0**2 / (2 * 0.1), 0.1 * 2.0**2 * 50 / 2, 0.25 * 2.0 * 50 * 3.0
    assert regret_bound(50, 0.25, norm=3.0, eta=0.1, lipschitz=2.0) == pytest.approx(start + noise + approximation)


# ---- errors ----

BALL = {"n_features": 2, "diameter": 1.0, "spread": 1.0}
WRONG = [
    (partial(frequencies_needed, 0.0), "precision must be a positive number"),
    (partial(frequencies_needed, -0.1), "precision must be a positive number"),
    (partial(frequencies_needed, np.nan), "precision must be a positive number"),
    (partial(frequencies_needed, "0.1"), "precision must be a positive number"),
    (partial(frequencies_needed, True), "precision must be a positive number"),
    (partial(frequencies_needed, 1e-200), "more frequencies than can be counted"),
    (partial(frequencies_needed, 0.1, 0.0), "confidence must lie between 0 and 1"),
    (partial(frequencies_needed, 0.1, 1.0), "confidence must lie between 0 and 1"),
    (partial(precision_of, 10, 95), "confidence must lie between 0 and 1"),
    (partial(precision_of, 0), "n_frequencies must be a whole number of at least 1"),
    (partial(precision_of, 2.5), "n_frequencies must be a whole number of at least 1"),
    (partial(frequencies_needed, 0.1, n_rows=1), "n_rows must be a whole number of at least 2"),
    (partial(frequencies_needed, 0.1, n_rows=5, **BALL), "not both"),
    (partial(frequencies_needed, 0.1, diameter=1.0), "all three or none"),
    (partial(precision_of, 10, n_features=2, spread=1.0), "all three or none"),
    (partial(frequencies_needed, 0.1, **{**BALL, "n_features": 0}), "n_features must be a whole number"),
    (partial(frequencies_needed, 0.1, **{**BALL, "diameter": 0.0}), "diameter must be a positive number"),
    (partial(frequencies_needed, 0.1, **{**BALL, "spread": np.inf}), "spread must be a positive number"),
    (partial(spectral_spread, kernels.laplacian(gamma=1.0), 2), "infinite spread"),
    (partial(spectral_spread, kernels.linear(), 2), "Only a Gaussian or Cauchy kernel"),
    (partial(spectral_spread, kernels.gaussian(), 2), "gamma must be a positive number, not 'scale'"),
    (partial(spectral_spread, kernels.gaussian(gamma=1.0), 0), "n_features must be a whole number"),
    (partial(regret_bound, 0, 0.1, norm=1.0, eta=1.0), "n_rows must be a whole number of at least 1"),
    (partial(regret_bound, 5, 0.1, norm=1.0, eta=0.0), "eta must be a positive number"),
]


@pytest.mark.parametrize(("call", "sentence"), WRONG)
def test_wrong_arguments_are_refused_in_one_sentence(call, sentence):
    with pytest.raises(ValueError, match=sentence) as refusal:
        call()
    message = str(refusal.value)
    assert message.endswith(".")
    assert "\n" not in message
