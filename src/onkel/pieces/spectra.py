"""Kernels of a width: what their random frequencies are, and how frequencies, distances and `gamma` belong together.

By Bochner's theorem a kernel that depends on x - s alone is the mean of cos(omega . (x - s)) over random frequencies.
One line per kernel says all that a map, a rule for widths or a bound needs to know of it.
"""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np

from onkel.core.randomness import cell_of, normal_table, uniform_table
from onkel.core.verbs import compiled
from onkel.pieces.kernels import CAUCHY, GAUSSIAN, LAPLACIAN, Kernel


class Spectrum(NamedTuple):
    """What a kernel says of its frequencies, which are `scale(gamma)` times standard ones."""

    standard: Callable[[int, int, int], Any]  # of (seed, d, D); row j depends on (seed, j) alone
    scale: Callable[[Any], Any]
    power: int  # gamma grows with this power of the frequencies
    metric: Literal["euclidean", "cityblock"]  # of the distances that the kernel depends on
    gamma: Callable[[float, int], float]  # for a typical distance of rows, and their number of features
    isotropic: bool  # whether no direction is preferred, so that frequencies can be rotated
    variance: float  # of each frequency, over gamma


def _cauchy(seed: int, d: int, D: int) -> Any:
    return np.tan(np.pi * (uniform_table(seed, d, D) - 0.5))


def _laplace(seed: int, d: int, D: int) -> Any:
    p = uniform_table(seed, d, D)
    return -np.sign(p - 0.5) * np.log1p(-2.0 * np.abs(p - 0.5))


SPECTRA = {
    GAUSSIAN: Spectrum(
        normal_table, lambda gamma: np.sqrt(2.0 * gamma), 2, "euclidean", lambda far, _: 0.5 / far**2, True, 2.0
    ),
    LAPLACIAN: Spectrum(_cauchy, lambda gamma: gamma, 1, "cityblock", lambda far, _: 1.0 / far, False, np.inf),
    CAUCHY: Spectrum(_laplace, np.sqrt, 2, "euclidean", lambda far, d: d / far**2, False, 2.0),
}


def has_spectrum(kernel: Any) -> bool:
    """Whether a kernel has a width and random frequencies."""
    return getattr(kernel, "code", None) in SPECTRA


def spectrum_of(kernel: Kernel) -> Spectrum:
    """What a kernel of a width says of its frequencies."""
    if not has_spectrum(kernel):
        raise ValueError("Random Fourier features need a Gaussian, Laplacian or Cauchy kernel.")
    return SPECTRA[kernel.code]


def stretched(kernel: Kernel, ratio: float) -> Kernel:
    """The kernel whose frequencies are so many times as large."""
    return kernel._replace(gamma=ratio if spectrum_of(kernel).power == 1 else ratio * ratio)


# ---- frequencies that are drawn when they are asked for ----

NEAR, FAR = 0.425, 5.0  # where one rational function ends and the next begins
# of the normal quantile, highest power first: numerator and denominator about the median, in the tails, and far out
MEDIAN = (
    (2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
     13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608),
    (5226.495278852854561, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867,
     5394.1960214247511077, 687.1870074920579083, 42.313330701600911252, 1.0),
)  # fmt: skip
TAIL = (
    (7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177, 1.27045825245236838258,
     3.64784832476320460504, 5.7694972214606914055, 4.6303378461565452959, 1.42343711074968357734),
    (1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966, 0.14810397642748007459,
     0.68976733498510000455, 1.6763848301838038494, 2.05319162663775882187, 1.0),
)  # fmt: skip
END = (
    (2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.0012426609473880784386, 0.026532189526576123093,
     0.29656057182850489123, 1.7848265399172913358, 5.4637849111641143699, 6.6579046435011037772),
    (2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5, 7.868691311456132591e-4,
     0.0148753612908506148525, 0.13692988092273580531, 0.59983220655588793769, 1.0),
)  # fmt: skip


@compiled
def draw_row(code: int, spread: float, key: Any, line: Any) -> None:
    """Write the frequencies of the feature with that key."""
    for k in range(line.shape[0]):
        line[k] = cell_of(key, k)
    if code == GAUSSIAN:
        quantiles(spread, line)
    elif code == LAPLACIAN:
        for k in range(line.shape[0]):
            line[k] = spread * np.tan(np.pi * (line[k] - 0.5))
    else:
        for k in range(line.shape[0]):
            q = line[k] - 0.5
            line[k] = -spread * np.sign(q) * np.log1p(-2.0 * abs(q))


@compiled(heavy=True)
def quantiles(spread: float, line: Any) -> None:
    """Standard normal quantiles times `spread` in place of probabilities."""
    for k in range(line.shape[0]):
        q = line[k] - 0.5
        r = NEAR * NEAR - q * q
        line[k] = spread * q * ratio(MEDIAN, r) if r >= 0.0 else spread * tail(line[k], q)


@compiled
def tail(p: float, q: float) -> float:
    """The quantile of a probability below 0.075 or above 0.925."""
    r = np.sqrt(-np.log(p if q < 0.0 else 1.0 - p))
    size = ratio(TAIL, r - 1.6) if r <= FAR else ratio(END, r - FAR)
    return -size if q < 0.0 else size


@compiled
def ratio(coefficients: Any, r: float) -> float:
    """A rational function."""
    above, below = coefficients
    top = bottom = 0.0
    for k in range(8):
        top = top * r + above[k]
        bottom = bottom * r + below[k]
    return top / bottom
