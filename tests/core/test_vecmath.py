"""The polynomials of onkel.core.vecmath against the long double functions of the C library."""

from typing import Any

import numpy as np
import pytest

from onkel.core.vecmath import decay, exp2, sincospi
from onkel.core.verbs import entry_point

LONG = np.longdouble
PI = LONG("3.14159265358979323846264338327950288")
REFERENCE_ERROR = 2.0 * float(np.finfo(LONG).eps)  # matters only where a long double is a double
SINE_ERROR = {np.float32: 2e-7, np.float64: 4e-16}  # absolute
POWER_ERROR = {np.float32: 1.5e-7, np.float64: 3e-16}  # relative
LAST_FRACTION = {np.float32: 2.0**22, np.float64: 2.0**51}  # where the spacing of the numbers is one half
LAST_POWER = {np.float32: 126.0, np.float64: 1022.0}
LAST_STEP = {np.float32: 0.0, np.float64: 2.0**-1074}  # by which subnormal numbers may be off
N = 100_000

each_dtype = pytest.mark.parametrize("dtype", [np.float32, np.float64])


@entry_point
def sincospi_all(u: Any, sine: Any, cosine: Any) -> None:
    for i in range(u.shape[0]):
        sine[i], cosine[i] = sincospi(u[i])


@entry_point
def exp2_all(x: Any, out: Any) -> None:
    for i in range(x.shape[0]):
        out[i] = exp2(x[i])


@entry_point
def decay_all(x: Any, out: Any) -> None:
    for i in range(x.shape[0]):
        out[i] = decay(x[i])


def sines(u, dtype):
    u = np.ascontiguousarray(u, dtype)
    sine, cosine = np.empty_like(u), np.empty_like(u)
    sincospi_all(u, sine, cosine)
    return u, sine, cosine


def powers(x, dtype, of_all=exp2_all):
    x = np.ascontiguousarray(x, dtype)
    out = np.empty_like(x)
    of_all(x, out)
    return x, out


def exact_sines(u):
    """sin and cos of pi u for the very number u; the distance to the nearest integer is exact."""
    u = u.astype(LONG)
    nearest = np.rint(u)
    sign = np.where(np.fmod(nearest, LONG(2)) == 0, 1, -1)
    h = PI * (u - nearest)
    return sign * np.sin(h), sign * np.cos(h)


def assert_exact_sines(u, sine, cosine, dtype):
    exact_sine, exact_cosine = exact_sines(u)
    allowed = SINE_ERROR[dtype] + REFERENCE_ERROR
    assert np.max(np.abs(sine - exact_sine)) <= allowed
    assert np.max(np.abs(cosine - exact_cosine)) <= allowed


@pytest.mark.parametrize("largest", [1e-6, 0.5, 1.0, 10.0, 1e4])
@each_dtype
def test_sine_and_cosine_are_exact_up_to_rounding(largest, dtype):
    u = np.random.default_rng(1).uniform(-largest, largest, N)
    assert_exact_sines(*sines(u, dtype), dtype)


@each_dtype
def test_sine_and_cosine_are_exact_where_phases_have_few_digits_of_a_fraction(dtype):
    exponents = np.random.default_rng(2).uniform(np.log2(1e4), np.log2(LAST_FRACTION[dtype]), N)
    signs = np.random.default_rng(3).choice([-1.0, 1.0], N)
    assert_exact_sines(*sines(signs * 2.0**exponents, dtype), dtype)


@each_dtype
def test_sine_and_cosine_of_whole_and_half_turns_are_exact(dtype):
    # the polynomials are 1 at 0 up to half a unit in the last place, and 0 at 0
    k = np.concatenate([np.arange(-1000, 1001), [2**20, 2**20 + 1, 2**21 - 1, -(2**21) + 1]]).astype(float)
    _, sine, cosine = sines(k, dtype)
    assert (sine == 0.0).all()
    np.testing.assert_array_equal(cosine, np.where(k % 2 == 0, 1.0, -1.0))


@each_dtype
def test_sine_and_cosine_at_the_borders_between_two_integers(dtype):
    u = np.arange(-100, 100) + 0.5
    neighbours = [np.nextafter(u.astype(dtype), dtype(side)) for side in (-np.inf, np.inf)]
    assert_exact_sines(*sines(np.concatenate([u, *neighbours]), dtype), dtype)


@each_dtype
def test_phases_without_a_fraction_and_nan_give_the_features_of_zero(dtype):
    big = LAST_FRACTION[dtype]
    beyond = [big, 2.0 * big, 1e30, np.inf, np.nan]
    _, sine, cosine = sines([*beyond, *(-np.array(beyond))], dtype)
    assert (sine == 0.0).all()
    assert (cosine == 1.0).all()


@each_dtype
def test_squares_of_sine_and_cosine_add_up_to_one(dtype):
    _, sine, cosine = sines(np.random.default_rng(4).uniform(-100.0, 100.0, N), dtype)
    total = sine.astype(np.float64) ** 2 + cosine.astype(np.float64) ** 2
    assert np.max(np.abs(total - 1.0)) <= 4.0 * SINE_ERROR[dtype]


@pytest.mark.parametrize("share", [1e-6, 0.01, 0.1, 1.0])
@each_dtype
def test_powers_of_two_are_exact_up_to_rounding(share, dtype):
    largest = share * LAST_POWER[dtype]
    x, power = powers(np.random.default_rng(5).uniform(-largest, largest, N), dtype)
    exact = np.exp2(x.astype(LONG))
    assert np.max(np.abs(power - exact) / exact) <= POWER_ERROR[dtype] + REFERENCE_ERROR


def assert_exact_powers(x, power, dtype):
    """To rounding where numbers are normal; below, to a step in float64, and 0 in float32."""
    normal, exact = x >= -LAST_POWER[dtype], np.exp2(x.astype(LONG))
    allowed = POWER_ERROR[dtype] + REFERENCE_ERROR
    assert np.max(np.abs(power - exact)[normal] / exact[normal]) <= allowed
    below = np.where(LAST_STEP[dtype] == 0.0, 0.0, exact[~normal])
    assert np.max(np.abs(power[~normal] - below)) <= LAST_STEP[dtype]


@each_dtype
def test_powers_are_exact_over_the_whole_range(dtype):
    last = LAST_POWER[dtype]
    x = np.random.default_rng(6).uniform(-1.1 * last, last, N)
    assert_exact_powers(*powers(x, dtype), dtype)


@each_dtype
def test_powers_are_exact_where_numbers_become_subnormal_and_where_they_end(dtype):
    last = LAST_POWER[dtype]
    beyond = np.concatenate([np.linspace(-4.0, 60.0, N), np.arange(-4.0, 60.0), 2.0 ** -np.arange(20.0)])
    x = -last - beyond
    x = np.concatenate([x.astype(dtype), *(np.nextafter(x.astype(dtype), dtype(side)) for side in (-np.inf, np.inf))])
    x, power = powers(np.sort(x), dtype)
    assert_exact_powers(x, power, dtype)
    steps = np.diff(power)
    assert (steps >= -2.0 * np.finfo(dtype).eps * power[:-1]).all()  # by rounding only, and not at all below


def test_subnormal_powers_are_those_of_numpy_but_for_a_step():
    x, power = powers(np.random.default_rng(7).uniform(-1080.0, -1022.0, N), np.float64)
    numpys = np.exp2(x)
    assert np.max(np.abs(power - numpys)) <= LAST_STEP[np.float64]
    assert np.mean(power == numpys) > 0.99
    assert ((power == 0.0) == (x <= -1075.0)).all()


@each_dtype
def test_whole_powers_of_two_are_exact(dtype):
    k = np.arange(-LAST_POWER[dtype], LAST_POWER[dtype] + 1.0)
    np.testing.assert_array_equal(powers(k, dtype)[1], (2.0**k).astype(dtype))


def test_whole_powers_of_two_are_exact_down_to_the_last_one():
    k = np.arange(-1100, -1000)
    np.testing.assert_array_equal(powers(k, np.float64)[1], np.ldexp(1.0, k))
    k = np.arange(-200, -100)
    np.testing.assert_array_equal(powers(k, np.float32)[1], np.where(k < -126, 0.0, np.ldexp(1.0, k)))


@each_dtype
def test_large_powers_are_clamped_to_normal_numbers(dtype):
    last = LAST_POWER[dtype]
    _, power = powers([last + 0.1, 1e4, 1e30, np.inf], dtype)
    assert (power == dtype(2.0**last)).all()


@pytest.mark.parametrize("of_all", [exp2_all, decay_all])
@each_dtype
def test_what_is_too_small_and_nan_give_zero(of_all, dtype):
    turning = [2.0**e for e in range(11, 127)]  # past all exponents that wrap around somewhere
    _, power = powers([*(-np.array(turning)), -1e30, -np.inf, np.nan], dtype, of_all)
    assert (power == 0.0).all()
    assert not np.signbit(power).any()


@each_dtype
def test_decay_is_the_power_of_two_up_to_one(dtype):
    x = np.random.default_rng(8).uniform(-1.1 * LAST_POWER[dtype], 0.0, N)
    np.testing.assert_array_equal(powers(x, dtype, decay_all)[1], powers(x, dtype)[1])
    assert (powers([0.0, 1e-30, 0.3, 1.0, 1e3, 1e30, np.inf], dtype, decay_all)[1] == 1.0).all()


@each_dtype
def test_powers_grow_with_their_exponent(dtype):
    x = np.linspace(-20.0, 20.0, N)
    _, power = powers(np.sort(x), dtype)
    allowed = -2.0 * np.finfo(dtype).eps  # neighbours may be out of order by rounding only
    assert (np.diff(power) / power[:-1] >= allowed).all()
