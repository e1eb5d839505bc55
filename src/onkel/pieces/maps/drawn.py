"""Frequencies that are drawn anew whenever they are asked for: nothing is kept per feature, however many there are.

Frequency k of feature j is a function of (seed, j, k) alone, the one that `iid` writes into a table. A feature that
comes in the middle of a stream costs nothing before, and changes nothing in what was learned.
"""

from typing import Any, NamedTuple

import numpy as np

from onkel.core.borrowed import borrowed, keep, row
from onkel.core.checking import as_found
from onkel.core.randomness import cell_of, generator, key_of
from onkel.core.rows import entry, extent
from onkel.core.trees import unchanging
from onkel.core.verbs import compiled
from onkel.pieces.kernels import CAUCHY, GAUSSIAN, LAPLACIAN, Kernel
from onkel.pieces.maps.fourier import frequency_count, rotate

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


@unchanging
class Drawn(NamedTuple):
    """Frequencies omega / pi of a kernel."""

    code: int  # of the kernel
    spread: float
    key: Any  # (1,): state of a generator
    n_frequencies: int


def drawn(kernel: Kernel, n_frequencies: int, seed: int) -> Drawn:
    """The frequencies of `iid`, not yet drawn."""
    spread = {GAUSSIAN: np.sqrt(2.0 * kernel.gamma), LAPLACIAN: kernel.gamma, CAUCHY: np.sqrt(kernel.gamma)}
    return Drawn(kernel.code, float(spread[kernel.code] / np.pi), generator(seed), n_frequencies)


@frequency_count.of(Drawn)
def _(frequencies: Drawn) -> int:
    return frequencies.n_frequencies


@rotate.of(Drawn)
def _(frequencies: Drawn, block: Any, first: int, count: int, phases: Any) -> None:
    own = np.empty(phases.shape[1])
    line = borrowed(own)
    for r in range(count):
        here = row(phases, r)
        here[:] = 0
        begin, end = extent(block, first + r)
        for p in range(begin, end):
            j, x = entry(block, first + r, p)
            if x != 0:
                draw_row(frequencies.code, frequencies.spread, key_of(frequencies.key, j), line)
                add(x, line, here)
    keep(own)


@compiled(heavy=True)
def add(x: Any, line: Any, out: Any) -> None:
    real = out.dtype.type
    for k in range(out.shape[0]):
        out[k] = out[k] + x * real(line[k])


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


@as_found.register
def _(expected: Drawn, found: Any, ruled: bool) -> Any:
    width = found.spread
    settled = ruled and isinstance(width, float) and 0.0 < width < np.inf
    return expected._replace(spread=width) if settled else expected
