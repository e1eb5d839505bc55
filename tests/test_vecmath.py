"""The polynomials of onkel.vecmath against the long double functions of the C library."""

from typing import Any

import numpy as np
import pytest

from onkel.dispatch import entry_point
from onkel.vecmath import exp2, sincospi

LONG = np.longdouble
PI = LONG("3.14159265358979323846264338327950288")
REFERENCE_ERROR = 2.0 * float(np.finfo(LONG).eps)  # matters only where a long double is a double
SINE_ERROR = {np.float32: 2e-7, np.float64: 4e-16}  # absolute
POWER_ERROR = {np.float32: 1.5e-7, np.float64: 3e-16}  # relative
LAST_FRACTION = {np.float32: 2.0**22, np.float64: 2.0**51}  # where the spacing of the numbers is one half
LAST_POWER = {np.float32: 126.0, np.float64: 1022.0}
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


def sines(u, dtype):
    u = np.ascontiguousarray(u, dtype)
    sine, cosine = np.empty_like(u), np.empty_like(u)
    sincospi_all(u, sine, cosine)
    return u, sine, cosine


def powers(x, dtype):
    x = np.ascontiguousarray(x, dtype)
    out = np.empty_like(x)
    exp2_all(x, out)
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


@each_dtype
def test_whole_powers_of_two_are_exact(dtype):
    k = np.arange(-LAST_POWER[dtype], LAST_POWER[dtype] + 1.0)
    np.testing.assert_array_equal(powers(k, dtype)[1], (2.0**k).astype(dtype))


@each_dtype
def test_powers_are_clamped_to_normal_numbers(dtype):
    last = LAST_POWER[dtype]
    _, power = powers([last + 0.1, 1e4, 1e30, np.inf], dtype)
    assert (power == dtype(2.0**last)).all()
    _, power = powers([-last - 0.1, -1e4, -1e30, -np.inf, np.nan], dtype)
    assert (power == dtype(2.0**-last)).all()


@each_dtype
def test_powers_grow_with_their_exponent(dtype):
    x = np.linspace(-20.0, 20.0, N)
    _, power = powers(np.sort(x), dtype)
    allowed = -2.0 * np.finfo(dtype).eps  # neighbours may be out of order by rounding only
    assert (np.diff(power) / power[:-1] >= allowed).all()
