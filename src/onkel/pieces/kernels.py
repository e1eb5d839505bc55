"""Kernels: how alike two rows are.

A kernel is one named tuple with a code. Gaussian, polynomial and linear kernels share one path over inner products;
Laplacian, Cauchy and chi2 add up a term per feature. `measure` is what a kernel remembers of a row besides the row.
"""

from typing import Any, NamedTuple

import numpy as np

from onkel.core.borrowed import row
from onkel.core.checking import as_found
from onkel.core.growing import Change, changed
from onkel.core.parameters import positive
from onkel.core.points import Listed, products, reach
from onkel.core.rows import entry, extent, square_norm
from onkel.core.vecmath import decay
from onkel.core.verbs import compiled, verb

GAUSSIAN, POLYNOMIAL, LINEAR, LAPLACIAN, CAUCHY, CHI2 = range(6)
LOG2_E = 1.4426950408889634
RULES = ("scale", "median")


class Kernel(NamedTuple):
    """A kernel by its code. `gamma` may be a rule, ``"scale"`` or ``"median"``, until the first rows are there."""

    code: int
    gamma: Any = 1.0
    coef0: float = 0.0
    degree: int = 1


def gaussian(gamma: float | str | None = None, sigma: float | None = None) -> Kernel:
    """exp(-gamma |x - s|^2), gamma = 1 / (2 sigma^2).

    >>> gaussian(sigma=2.0).gamma
    0.125
    """
    return Kernel(GAUSSIAN, _width(gamma, sigma, lambda s: 0.5 / s**2))


def laplacian(gamma: float | str | None = None, sigma: float | None = None) -> Kernel:
    """exp(-gamma |x - s|_1), gamma = 1 / sigma."""
    return Kernel(LAPLACIAN, _width(gamma, sigma, lambda s: 1.0 / s))


def cauchy(gamma: float | str | None = None, sigma: float | None = None) -> Kernel:
    """prod_j 1 / (1 + gamma (x_j - s_j)^2), gamma = 1 / sigma^2."""
    return Kernel(CAUCHY, _width(gamma, sigma, lambda s: 1.0 / s**2))


def polynomial(degree: int = 2, gamma: float = 1.0, coef0: float = 1.0) -> Kernel:
    """(gamma <x, s> + coef0)^degree."""
    return Kernel(POLYNOMIAL, gamma, coef0, degree)


def linear() -> Kernel:
    """<x, s>."""
    return Kernel(LINEAR)


def additive_chi2() -> Kernel:
    """sum_j 2 x_j s_j / (x_j + s_j), for features >= 0."""
    return Kernel(CHI2)


KERNELS: dict[str, Any] = {
    "gaussian": gaussian,
    "laplacian": laplacian,
    "cauchy": cauchy,
    "polynomial": polynomial,
    "linear": linear,
    "additive_chi2": additive_chi2,
}
WITH_WIDTH = ("gaussian", "laplacian", "cauchy")


def _width(gamma: float | str | None, sigma: float | None, convert: Any) -> float | str:
    if sigma is not None:
        if gamma not in (None, "scale"):
            raise ValueError("Give gamma or sigma, not both.")
        try:
            gamma = convert(positive("sigma", sigma))
        except ArithmeticError:  # its square is 0 or infinite
            raise ValueError(f"sigma must be a number whose square is one, too, not {sigma!r}.") from None
    if gamma is None or isinstance(gamma, str):
        if gamma not in (None, *RULES):
            raise ValueError(f"gamma must be a number or one of {', '.join(RULES)}, not {gamma!r}.")
        return gamma or "scale"
    return positive("gamma", gamma)


def make_kernel(kernel: Any, gamma: float | str | None = None, sigma: float | None = None) -> Any:
    """The kernel of a name and a width; a kernel that is already made passes through.

    >>> make_kernel("laplacian", sigma=4.0).gamma
    0.25
    """
    if hasattr(kernel, "_fields"):
        return kernel
    if kernel not in KERNELS:
        raise ValueError(f"kernel must be one of {', '.join(KERNELS)}, not {kernel!r}.")
    if kernel in WITH_WIDTH:
        return KERNELS[kernel](gamma=gamma, sigma=sigma)
    scale = None if gamma in (None, *RULES) else gamma
    if sigma is not None or (scale is not None and kernel != "polynomial"):
        raise ValueError(f"The {kernel} kernel has no width: leave out {'sigma' if scale is None else 'gamma'}.")
    return polynomial(gamma=positive("gamma", scale)) if scale is not None else KERNELS[kernel]()


def needs_positive(kernel: Any) -> bool:
    """Whether the kernel is defined for features >= 0 only."""
    return getattr(kernel, "code", None) == CHI2


@verb
def measure(kernel: Any, block: Any, i: int) -> Any:
    """What the kernel needs to know of row i besides its entries: |x|^2, or a sum of terms over its features."""


@verb
def self_similarity(kernel: Any, size: Any) -> Any:
    """k(x, x) of a row by its measure."""


@verb
def similarities(kernel: Any, block: Any, i: int, size: Any, points: Any, sizes: Any, n: int, out: Any) -> None:
    """out[k] = k(x_i, s_k) for the first n points s_k."""


@measure.of(Kernel)
def _(kernel: Kernel, block: Any, i: int) -> Any:
    if kernel.code <= LINEAR:
        return square_norm(block, i)
    first, last = extent(block, i)
    total = 0.0
    for p in range(first, last):
        _, x = entry(block, i, p)
        total += feature_term(kernel.code, kernel.gamma, np.float64(x))
    return total


@compiled
def feature_term(code: int, gamma: Any, x: Any) -> Any:
    """What one feature adds to the measure of a point: its distance from 0, or its value."""
    if code == LAPLACIAN:
        return abs(x)
    if code == CAUCHY:
        return np.log1p(gamma * x * x)
    return x


@self_similarity.of(Kernel)
def _(kernel: Kernel, size: Any) -> Any:
    if kernel.code == POLYNOMIAL:
        return (kernel.gamma * np.float64(size) + kernel.coef0) ** kernel.degree
    if kernel.code == LINEAR or kernel.code == CHI2:
        return np.float64(size)
    return 1.0


@similarities.of(Kernel)
def _(kernel: Kernel, block: Any, i: int, size: Any, points: Any, sizes: Any, n: int, out: Any) -> None:
    if kernel.code <= LINEAR:
        products(points, block, i, n, out)
        from_products(kernel.code, kernel.gamma, kernel.coef0, kernel.degree, size, sizes, n, out)
    else:
        add_terms(points, kernel.code, kernel.gamma, block, i, sizes, n, out)
        from_terms(kernel.code, kernel.gamma, n, out)


@compiled(heavy=True)
def from_products(code: int, gamma: float, coef0: float, degree: int, size: Any, sizes: Any, n: int, out: Any) -> None:
    """Inner products to kernel values. Rounding can make |x|^2 + |s|^2 - 2 <x, s> negative: `decay` ends at 1."""
    real = out.dtype.type
    if code == GAUSSIAN:
        scale = real(-gamma * LOG2_E)
        fixed, double = real(-gamma * LOG2_E * size), real(-2) * scale
        for k in range(n):
            out[k] = decay(fixed + scale * sizes[k] + double * out[k])
    elif code == POLYNOMIAL:
        for k in range(n):
            base = real(gamma) * out[k] + real(coef0)
            power = real(1)
            for _ in range(degree):
                power *= base
            out[k] = power


@verb
def add_terms(points: Any, code: int, gamma: float, block: Any, i: int, sizes: Any, n: int, out: Any) -> None:
    """Distances feature by feature: start from the distance of 0 to s_k, correct it where x_i has an entry."""


@add_terms.of(np.float32, np.float64)
def _(points: Any, code: int, gamma: float, block: Any, i: int, sizes: Any, n: int, out: Any) -> None:
    first, last = extent(block, i)
    width = out.dtype.type(gamma)
    for k in range(n):
        out[k] = 0 if code == CHI2 else sizes[k]
    for p in range(first, last):
        j, x = entry(block, i, p)
        s = row(points, j)
        if code == LAPLACIAN:
            for k in range(n):
                out[k] += abs(x - s[k]) - abs(s[k])
        elif code == CAUCHY:
            for k in range(n):
                out[k] += np.log1p(width * (x - s[k]) ** 2) - np.log1p(width * s[k] ** 2)
        elif x > 0:
            for k in range(n):
                out[k] += (x + x) * s[k] / (x + s[k])


@add_terms.of(Listed)
def _(points: Listed, code: int, gamma: float, block: Any, i: int, sizes: Any, n: int, out: Any) -> None:
    first, last = extent(block, i)
    for k in range(n):
        total, q = out.dtype.type(0) if code == CHI2 else sizes[k], 0
        columns, values = row(points.columns, k), row(points.values, k)
        for p in range(first, last):
            j, x = entry(block, i, p)
            q = reach(columns, q, points.lengths[k], j)
            there = q < points.lengths[k] and columns[q] == j
            total += term(code, out.dtype.type(gamma), x, values[q] if there else out.dtype.type(0))
        out[k] = total


@compiled
def term(code: int, width: Any, x: Any, s: Any) -> Any:
    """What a feature x of a row changes in the distance of 0 to a point with s there."""
    if code == LAPLACIAN:
        return abs(x - s) - abs(s)
    if code == CAUCHY:
        return np.log1p(width * (x - s) ** 2) - np.log1p(width * s**2)
    return (x + x) * s / (x + s) if x > 0 else x - x


@compiled
def from_terms(code: int, gamma: float, n: int, out: Any) -> None:
    """Sums over the features to kernel values; the sum of the chi2 kernel is its value."""
    scale = out.dtype.type(-LOG2_E if code == CAUCHY else -gamma * LOG2_E)
    if code != CHI2:
        for k in range(n):
            out[k] = decay(scale * out[k])


@as_found.register
def _(expected: Kernel, found: Any, ruled: bool) -> Any:
    width = found.gamma
    settled = ruled and isinstance(width, float) and 0.0 < width < np.inf
    return expected._replace(gamma=width) if settled else expected


@changed.register
def _(fresh: Kernel, old: Any, change: Change) -> Any:
    return old  # with the width that a rule has settled
