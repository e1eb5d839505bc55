"""From a kernel and a number of frequencies to a feature map."""

from typing import Any

from onkel.core.points import WIDE
from onkel.pieces.kernels import CHI2, LINEAR, POLYNOMIAL, Kernel
from onkel.pieces.maps.chi2 import chi2
from onkel.pieces.maps.drawn import drawn
from onkel.pieces.maps.fourier import Fourier, fourier, iid, orthogonal
from onkel.pieces.maps.hadamard import fastfood, sorf

DRAWS = ("iid", "orthogonal", "sorf", "fastfood")


def draw_map(kernel: Kernel, n_features: int, n_frequencies: int, draw: str, dtype: Any, seed: int) -> Any:
    """Random features of a kernel: `draw` is iid, orthogonal, sorf or fastfood. The chi2 kernel has its own map.

    Structured draws need two inputs to rotate; with one they are independent frequencies.

    >>> from onkel.pieces.kernels import gaussian
    >>> draw_map(gaussian(gamma=1.0), 3, 5, "iid", float, 1).frequencies.shape
    (3, 5)
    """
    if n_features > WIDE and (kernel.code == CHI2 or draw != "iid"):
        what = "The map of the additive chi2 kernel" if kernel.code == CHI2 else f"draw={draw!r}"
        raise ValueError(f"{what} takes at most {WIDE} columns; a shift-invariant kernel with draw='iid' takes any.")
    if kernel.code == CHI2:
        return chi2(n_features)
    if kernel.code in (LINEAR, POLYNOMIAL):
        raise ValueError("Random features need a gaussian, laplacian, cauchy or additive_chi2 kernel.")
    if draw in ("sorf", "fastfood") and n_features > 1:
        make = sorf if draw == "sorf" else fastfood
        return make(kernel, n_features, n_frequencies, dtype, seed)
    if n_features > WIDE:
        return Fourier(drawn(kernel, n_frequencies, seed))
    table = orthogonal if draw == "orthogonal" else iid
    return fourier(table(kernel, n_features, n_frequencies, seed), dtype)
