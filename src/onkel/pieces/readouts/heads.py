"""Linear readouts with Adagrad steps of several sizes, over features z and over the row x itself.

f_hc = W_hc . z + V_hc . x + B_hc for readout h and output c; all differ in their steps alone.
"""

from typing import Any, NamedTuple

import numpy as np

from onkel.core.borrowed import row
from onkel.core.growing import Change, by_field, changed
from onkel.core.ranges import POSITIVE, limits
from onkel.core.rows import dot, entry, extent
from onkel.core.verbs import SUM, compiled, known
from onkel.pieces.maps.learned import add_pull


@known
@limits(weight_energy=POSITIVE, linear_energy=POSITIVE, bias_energy=POSITIVE)
class Heads(NamedTuple):
    """Weights (H, K, .) of all readouts, with the sums of their squared slopes. A slope within `skip` moves nothing."""

    rates: Any  # (H,): factors of the three steps below
    feature_rate: float
    linear_rate: float
    bias_rate: float
    skip: float
    weights: Any  # (H, K, width)
    weight_energy: Any
    linear: Any  # (H, K, d)
    linear_energy: Any
    bias: Any  # (H, K)
    bias_energy: Any


def heads(rates: tuple[float, ...], steps: tuple[float, float, float], skip: float, sizes: Any, dtype: Any) -> Heads:
    """Readouts that know nothing yet; `steps` are those of features, row and bias, sizes are (width, K, d)."""
    wide, K, d = sizes
    features, row_itself, bias = (len(rates), K, wide), (len(rates), K, d), (len(rates), K)
    return Heads(
        np.array(rates),
        *steps,
        skip,
        *(np.zeros(features, dtype), np.ones(features, dtype)),
        *(np.zeros(row_itself, dtype), np.ones(row_itself, dtype)),
        *(np.zeros(bias), np.ones(bias)),
    )


@compiled
def read(heads: Any, block: Any, i: int, features: Any, scores: Any) -> None:
    """Write the score of each readout and output."""
    n = features.shape[0]
    for h in range(heads.rates.shape[0]):
        for c in range(heads.bias.shape[1]):
            linear = row_dot(block, i, row(row(heads.linear, h), c))
            scores[h, c] = np.float64(dot(row(row(heads.weights, h), c), features, n)) + linear + heads.bias[h, c]


@compiled(flags=SUM)
def row_dot(block: Any, i: int, weights: Any) -> float:
    """x_i . weights."""
    first, last = extent(block, i)
    total = weights.dtype.type(0)
    for p in range(first, last):
        j, x = entry(block, i, p)
        total += x * weights[j]
    return np.float64(total)


@compiled
def pull(heads: Any, shares: Any, slopes: Any, features: Any, gradient: Any) -> bool:
    """Add what each phase should move by, d loss / d phase; changes gradient. Whether any slope counts."""
    n, any_slope = gradient.shape[0], False
    for h in range(heads.rates.shape[0]):
        for c in range(heads.bias.shape[1]):
            if abs(slopes[h, c]) > heads.skip:
                any_slope = True
                add_pull(shares[h] * slopes[h, c], row(row(heads.weights, h), c), features, gradient, n)
    return any_slope


@compiled
def improve(
    heads: Any, block: Any, i: int, unit: float, curvature: float, slopes: Any, features: Any, step: Any
) -> None:
    """Adagrad steps of all readouts; changes heads, writes step."""
    root = np.sqrt(features.shape[0])
    for h in range(heads.rates.shape[0]):
        for c in range(heads.bias.shape[1]):
            slope, rate = slopes[h, c], heads.rates[h]
            if abs(slope) > heads.skip:
                weights, energy = row(row(heads.weights, h), c), row(row(heads.weight_energy, h), c)
                move(slope, heads.feature_rate * rate / root, curvature, features, weights, energy, step)
                weights, energy = row(row(heads.linear, h), c), row(row(heads.linear_energy, h), c)
                move_linear(slope, heads.linear_rate * rate * unit, block, i, weights, energy)
                heads.bias_energy[h, c] += slope * slope
                heads.bias[h, c] -= heads.bias_rate * rate * slope / np.sqrt(heads.bias_energy[h, c])


@compiled(flags=SUM, heavy=True)
def scaled_step(slope: float, features: Any, energy: Any, step: Any) -> float:
    """step = z / sqrt(energy) after its update; returns z . step."""
    c = features.dtype.type(slope)
    total = features.dtype.type(0)
    for k in range(features.shape[0]):
        g = c * features[k]
        energy[k] += g * g
        step[k] = features[k] / np.sqrt(energy[k])
        total += features[k] * step[k]
    return np.float64(total)


@compiled
def move(slope: float, rate: float, curvature: float, features: Any, weights: Any, energy: Any, step: Any) -> None:
    """w -= rate slope (1 - exp(-s)) / s step, s = curvature rate z . step: no row overshoots its own target."""
    s = curvature * rate * scaled_step(slope, features, energy, step)
    damping = (1.0 - np.exp(-s)) / s if s > 1e-6 else 1.0
    c = weights.dtype.type(rate * slope * damping)
    for k in range(weights.shape[0]):
        weights[k] -= c * step[k]


@compiled
def move_linear(slope: float, rate: float, block: Any, i: int, weights: Any, energy: Any) -> None:
    first, last = extent(block, i)
    c, gain = weights.dtype.type(slope), weights.dtype.type(rate * slope)
    for p in range(first, last):
        j, x = entry(block, i, p)
        energy[j] += (c * x) * (c * x)
        weights[j] -= gain * x / np.sqrt(energy[j])


@changed.register
def _(fresh: Heads, old: Any, change: Change) -> Any:
    signed = {name: change.signed(getattr(old, name), 1) for name in ("weights", "linear", "bias")}
    energies = ("weight_energy", "linear_energy", "bias_energy")
    return by_field(fresh, old, change, **signed, **{name: change.energy(getattr(old, name), 1) for name in energies})
