"""Fourier features whose widths and frequencies follow the slope of the loss.

phase_k = u . E_k, u_j = c l exp(g_j) x_j, with l = 1 / sqrt(mean of |x|^2 over the rows before). The slope of the loss
by E is the outer product of u and q, q_k its slope by phase k, so the sum of its squares that Adagrad divides by is
kept as a product too, R_j C_k / S: no second array of the size of E.
"""

from typing import Any, NamedTuple

import numpy as np

from onkel.core.borrowed import row
from onkel.core.randomness import normal_table
from onkel.core.ranges import NOT_NEGATIVE, POSITIVE, between, contradiction, limits
from onkel.core.rows import Stretched, aligned_zeros, entry, extent, project_row, square_norm
from onkel.core.vecmath import exp2
from onkel.core.verbs import SUM, compiled, known
from onkel.pieces.kernels import LOG2_E
from onkel.pieces.maps.fourier import turn
from onkel.pieces.maps.relevance import spread

NARROWEST, WIDEST = -8.0, 4.0  # limits of the log-widths g
TINY, SMALL = 1e-30, 1e-8  # where the sums of squares start, of frequencies and of widths


@known
@limits(
    log_widths=between(NARROWEST, WIDEST), widths=POSITIVE, width_energy=POSITIVE, row_energy=POSITIVE,
    column_energy=POSITIVE, energy=POSITIVE, lengths=NOT_NEGATIVE,
)  # fmt: skip
class Tuned(NamedTuple):
    """Frequencies E (d, D) over pi and log-widths g (d,), with what their steps need to remember."""

    start: float  # c
    rate: float  # of frequencies
    width_rate: float
    frequencies: Any  # (d, D)
    log_widths: Any  # (d,): g
    widths: Any  # (d,): exp(g)
    width_energy: Any  # (d,)
    row_energy: Any  # (d,): R
    column_energy: Any  # (D,): C
    energy: Any  # (1,): S
    lengths: Any  # (2,): sum of |x|^2, and its number of rows


@contradiction.register
def _(feature_map: Tuned) -> str:
    total, count = feature_map.lengths
    if count != np.floor(count) or (count > 0.0 and not total / count > 0.0):
        return "its rows have no mean length"
    alike = np.allclose(feature_map.widths, np.exp(feature_map.log_widths), rtol=1e-3, atol=0.0)
    return "" if alike else "its widths are not those of their logarithms"


class Room(NamedTuple):
    """For the numbers of a step."""

    direction: Any  # (D,): q over the roots of the sums of its squares
    steps: Any  # (d,): of the frequencies of each feature
    slopes: Any  # (d,): of the log-widths


@compiled
def room_of(feature_map: Any) -> Any:
    """Uninitialised arrays."""
    d, D = feature_map.frequencies.shape
    return Room(np.empty(D, feature_map.frequencies.dtype), np.empty(d), np.empty(d))


def tuned(steps: tuple[float, float, float], n_features: int, n_frequencies: int, dtype: Any, seed: int) -> Tuned:
    """A map with normal frequencies; `steps` are c and the rates of frequencies and widths."""
    d, D = n_features, n_frequencies
    frequencies = aligned_zeros((d, D), dtype)
    frequencies[:] = normal_table(seed, d, D) / np.pi
    widths, column = np.ones(d, dtype), np.full(D, TINY, dtype)
    energies = np.full(d, SMALL), np.full(d, TINY), column, np.full(1, TINY)
    return Tuned(*steps, frequencies, np.zeros(d), widths, *energies, np.zeros(2))


@compiled
def unit_of(feature_map: Any, square: float) -> float:
    """l, by which a row of squared length `square` is divided; that length itself while there is none before."""
    total, count = feature_map.lengths[0], feature_map.lengths[1]
    return 1.0 / np.sqrt(total / count if count > 0.0 else max(square, 1.0))


@compiled
def stretched(feature_map: Any, block: Any, unit: float) -> Any:
    """The rows u."""
    return Stretched(block, feature_map.widths, feature_map.widths.dtype.type(feature_map.start * unit))


@compiled
def lift_row(feature_map: Any, block: Any, i: int, unit: float, phases: Any, features: Any) -> None:
    """Write the phases of a row, in half turns, and its cosines and sines."""
    n = phases.shape[0]
    project_row(stretched(feature_map, block, unit), i, feature_map.frequencies, n, phases)
    turn(phases, features, n)


@compiled
def remember(feature_map: Any, square: float) -> None:
    """Count the length of a row in; changes feature_map."""
    if square > 0.0:
        feature_map.lengths[0] += square
        feature_map.lengths[1] += 1.0


@compiled
def descend(feature_map: Any, block: Any, i: int, unit: float, gradient: Any, room: Room) -> None:
    """Step frequencies and widths against the gradient q by the phases; changes feature_map, writes room."""
    u_rows = stretched(feature_map, block, unit)
    steepness, length = square_sum(gradient), square_norm(u_rows, i)
    if steepness == 0.0 or length == 0.0:
        return
    feature_map.energy[0] += length * steepness
    divide(gradient, length, feature_map.column_energy, room.direction)
    rate = feature_map.rate * unit * np.sqrt(feature_map.energy[0]) / np.pi
    first, last = extent(u_rows, i)
    for p in range(first, last):
        j, u = entry(u_rows, i, p)
        feature_map.row_energy[j] += np.float64(u) * np.float64(u) * steepness
        room.steps[p - first] = rate * np.float64(u) / np.sqrt(feature_map.row_energy[j])
    for p in range(first, last):
        j, u = entry(u_rows, i, p)
        room.slopes[p - first] = 0.0
        if u != 0.0:
            along = turn_row(row(feature_map.frequencies, j), gradient, room.direction, room.steps[p - first])
            room.slopes[p - first] = np.pi * np.float64(u) * along
    for p in range(first, last):
        j, _ = entry(block, i, p)
        slope = room.slopes[p - first]
        feature_map.width_energy[j] += slope * slope
        g = feature_map.log_widths[j] - feature_map.width_rate * slope / np.sqrt(feature_map.width_energy[j])
        g = g if g > NARROWEST else NARROWEST  # NaN ends here too: its width would be 0 for good
        feature_map.log_widths[j] = min(g, WIDEST)
        feature_map.widths[j] = exp2(LOG2_E * feature_map.log_widths[j])


@compiled(flags=SUM)
def square_sum(v: Any) -> float:
    total = v.dtype.type(0)
    for k in range(v.shape[0]):
        total += v[k] * v[k]
    return np.float64(total)


@compiled(heavy=True)
def divide(gradient: Any, length: float, energy: Any, direction: Any) -> None:
    """energy += length q^2, direction = q / sqrt(energy)."""
    c = gradient.dtype.type(length)
    for k in range(gradient.shape[0]):
        energy[k] += c * gradient[k] * gradient[k]
        direction[k] = gradient[k] / np.sqrt(energy[k])


@compiled(flags=SUM, heavy=True)
def turn_row(line: Any, gradient: Any, direction: Any, step: float) -> float:
    """line -= step direction; returns line . gradient from before."""
    c, total = line.dtype.type(step), line.dtype.type(0)
    for k in range(line.shape[0]):
        total += line[k] * gradient[k]
        line[k] -= c * direction[k]
    return np.float64(total)


@spread.register
def _(feature_map: Tuned) -> Any:
    total, count = feature_map.lengths
    unit = feature_map.start / np.sqrt(total / count) if count else feature_map.start
    drawn = np.pi * np.sqrt(np.mean(np.square(feature_map.frequencies, dtype=np.float64), axis=1))
    return np.asarray(unit * np.exp(feature_map.log_widths) * drawn)
