"""Explicit features of the additive chi2 kernel sum_j 2 x_j s_j / (x_j + s_j), for features >= 0.

Per input v > 0, with period L and order b: sqrt(v L), then sqrt(2 v L / cosh(pi j L)) times cos(j L ln v) and
sin(j L ln v) for j = 1..b: the kernel's spectrum 1 / cosh(pi w), sampled at multiples of L.
"""

from typing import Any, NamedTuple

import numpy as np

from onkel.core.borrowed import row
from onkel.core.growing import placed
from onkel.core.rows import dot, entry, extent
from onkel.pieces.maps.verbs import factor, feature_norm, lift, tile_rows, width, work_width


class Chi2(NamedTuple):
    """2 order + 1 features per input."""

    n_features: int
    order: int
    period: float


def chi2(n_features: int, order: int = 2, period: float | None = None) -> Chi2:
    """The map; without a period the one that fits the order best (0.8, 0.5, 0.4 for order 0, 1, 2; then 0.3)."""
    return Chi2(n_features, order, period or {0: 0.8, 1: 0.5, 2: 0.4}.get(order, 0.3))


@lift.of(Chi2)
def _(feature_map: Chi2, block: Any, first: int, count: int, work: Any, features: Any) -> None:
    _, order, period = feature_map
    for r in range(count):
        z = row(features, r)
        z[:] = 0
        start, end = extent(block, first + r)
        for p in range(start, end):
            j, x = entry(block, first + r, p)
            if x > 0:
                v, at = np.float64(x), j * (2 * order + 1)
                z[at] = np.sqrt(v * period)
                for n in range(1, order + 1):
                    size = np.sqrt(2.0 * v * period / np.cosh(np.pi * n * period))
                    z[at + 2 * n - 1] = size * np.cos(n * period * np.log(v))
                    z[at + 2 * n] = size * np.sin(n * period * np.log(v))


@width.of(Chi2)
def _(feature_map: Chi2) -> int:
    return feature_map.n_features * (2 * feature_map.order + 1)


@work_width.of(Chi2)
def _(feature_map: Chi2) -> int:
    return 0


@tile_rows.of(Chi2)
def _(feature_map: Chi2) -> int:
    return max(1, min(16, 8192 // (feature_map.n_features * (2 * feature_map.order + 1))))


@factor.of(Chi2)
def _(feature_map: Chi2) -> float:
    return 1.0


@feature_norm.of(Chi2)
def _(feature_map: Chi2, features: Any) -> float:
    return np.float64(dot(features, features, features.shape[0]))


@placed.register
def _(old: Chi2, fresh: Any, width: int) -> Chi2:
    return old._replace(n_features=width)
