"""Random numbers; widths."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import pdist

from onkel.core import randomness
from onkel.pieces import bandwidth, kernels
from tests.pieces.common import drawn
from tests.tables import LAYOUTS, laid_out, stream

MASK = 2**64 - 1


GOLDEN, FIRST, SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def splitmix(state):
    """The next state and 64 bits of splitmix64 (Steele, Lea, Flood 2014), in unlimited whole numbers."""
    state = (state + GOLDEN) & MASK
    z = ((state ^ (state >> 30)) * FIRST) & MASK
    z = ((z ^ (z >> 27)) * SECOND) & MASK
    return state, z ^ (z >> 31)


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
    assert bandwidth.has_rule(waiting)
    settled = bandwidth.settle(waiting, laid_out(X, layout))
    assert not bandwidth.has_rule(settled)
    assert settled.gamma == pytest.approx(formula[name](X), rel=1e-12)


@pytest.mark.parametrize("rule", kernels.RULES)
def test_a_width_rule_gives_the_same_bits_for_dense_and_compressed_rows(rule):
    waiting = kernels.gaussian(gamma=rule)
    for seed in range(20):
        X = stream("binary", bandwidth.FIRST_ROWS, seed).X
        assert bandwidth.settle(waiting, X) == bandwidth.settle(waiting, sparse.csr_matrix(X))


@pytest.mark.parametrize("rule", kernels.RULES)
@pytest.mark.parametrize("name", kernels.WITH_WIDTH)
@pytest.mark.parametrize("rows", [0, 1, 5])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_rows_without_a_width_of_their_own_get_gamma_one(layout, rows, name, rule):
    same = laid_out(np.zeros((rows, 3)), layout)
    assert bandwidth.settle(kernels.make_kernel(name, gamma=rule), same).gamma == 1.0
