"""Frequencies that are drawn anew whenever they are asked for: nothing is kept per feature, however many there are.

Frequency k of feature j is a function of (seed, j, k) alone, the one that `iid` writes into a table. A feature that
comes in the middle of a stream costs nothing before, and changes nothing in what was learned.
"""

from typing import Any, NamedTuple

import numpy as np

from onkel.core.borrowed import borrowed, keep, row
from onkel.core.checking import as_found
from onkel.core.randomness import generator, key_of
from onkel.core.rows import entry, extent
from onkel.core.trees import unchanging
from onkel.core.verbs import compiled
from onkel.pieces.kernels import Kernel
from onkel.pieces.maps.fourier import frequency_count, rotate
from onkel.pieces.spectra import draw_row, spectrum_of


@unchanging
class Drawn(NamedTuple):
    """Frequencies omega / pi of a kernel."""

    code: int  # of the kernel
    spread: float
    key: Any  # (1,): state of a generator
    n_frequencies: int


def drawn(kernel: Kernel, n_frequencies: int, seed: int) -> Drawn:
    """The frequencies of `iid`, not yet drawn."""
    scale = spectrum_of(kernel).scale(kernel.gamma)
    return Drawn(kernel.code, float(scale / np.pi), generator(seed), n_frequencies)


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


@as_found.register
def _(expected: Drawn, found: Any, ruled: bool) -> Any:
    width = found.spread
    settled = ruled and isinstance(width, float) and 0.0 < width < np.inf
    return expected._replace(spread=width) if settled else expected
