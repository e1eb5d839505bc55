"""Fourier features of a learned spectrum: a mixture of Gaussians with weights w = softmax(logits), means and widths.

k(x, y) = sum_q w_q exp(-sum_j (s_qj u_j)^2 / 2) cos(mu_q . u), u = x - y; component q has its own share of the
frequencies, omega_k = mu_q + s_q * e_k, and features sqrt(w_q / D_q) [cos, sin], so that all of w, mu, s have slopes.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import special

from onkel.core.borrowed import row
from onkel.core.randomness import derive, normal_table
from onkel.core.ranges import NOT_NEGATIVE, between, contradiction, limits
from onkel.core.rows import Stretched, dot, entry, extent, project_row
from onkel.core.support import finite
from onkel.core.verbs import compiled
from onkel.pieces.losses import soften
from onkel.pieces.maps.fourier import turn
from onkel.pieces.maps.learned import add_pull, steep
from onkel.pieces.maps.relevance import spread
from onkel.pieces.maps.verbs import factor, feature_norm, lift, retune, tile_rows, width, work_width
from onkel.pieces.steps import ADAGRAD, pace, stride

ROUNDING = 1e-6  # relative, in single precision


@limits(factors=NOT_NEGATIVE, shares=between(0.0, 1.0))
class Spectral(NamedTuple):
    """The parameters of all components side by side: log-widths, means and logits, with what their step keeps."""

    step: Any
    limit: float  # of log-widths
    noise: Any  # (Q, d, D / Q), over pi
    logs: Any  # (Q, d)
    means: Any  # (Q, d)
    logits: Any  # (Q,)
    factors: Any  # (Q, d): exp(logs), in the type of the model
    shares: Any  # (Q,): softmax(logits)
    log_memory: Any
    mean_memory: Any
    logit_memory: Any


@contradiction.register
def _(feature_map: Spectral) -> str:
    memories = feature_map.log_memory, feature_map.mean_memory, feature_map.logit_memory
    right = getattr(feature_map.step, "code", None) != ADAGRAD or all((memory >= 0.0).all() for memory in memories)
    return "" if right else "its sums of squares are negative"


def spectral(step: Any, limit: float, start: float, sizes: tuple[int, int, int], dtype: Any, seed: int) -> Spectral:
    """Components of equal weight with normal means and equal widths; sizes are (d, D, Q), D rounded up to Q."""
    d, D, Q = sizes
    each = -(-D // Q)
    noise = np.stack([normal_table(derive(seed, q), d, each) for q in range(Q)]) / np.pi
    means = start * normal_table(derive(seed, Q), Q, d)
    logs, memories = np.full((Q, d), np.log(start)), (np.zeros((Q, d)), np.zeros((Q, d)), np.zeros(Q))
    factors = np.exp(logs).astype(dtype)
    return Spectral(
        step, limit, noise.astype(dtype), logs, means, np.zeros(Q), factors, special.softmax(np.zeros(Q)), *memories
    )


@lift.of(Spectral)
def _(feature_map: Spectral, block: Any, first: int, count: int, work: Any, features: Any) -> None:
    Q, _, each = feature_map.noise.shape
    n, real = work.shape[1], work.dtype.type
    for r in range(count):
        phases, z = row(work, r), row(features, r)
        for q in range(Q):
            here = phases[q * each : (q + 1) * each]
            rows = Stretched(block, row(feature_map.factors, q), real(1))
            project_row(rows, first + r, row(feature_map.noise, q), each, here)
            shift = real(row_dot(block, first + r, row(feature_map.means, q)) / np.pi)
            for k in range(each):
                here[k] += shift
        turn(phases, z, n)
        for q in range(Q):
            scale = real(np.sqrt(feature_map.shares[q] * Q))
            for k in range(q * each, (q + 1) * each):
                z[k] *= scale
                z[n + k] *= scale


@compiled
def row_dot(block: Any, i: int, weights: Any) -> float:
    """x_i . weights, added up in the order of the columns."""
    first, last = extent(block, i)
    total = 0.0
    for p in range(first, last):
        j, x = entry(block, i, p)
        total += np.float64(x) * weights[j]
    return total


@retune.of(Spectral)
def _(
    feature_map: Spectral, block: Any, i: int, t: int, common: float, slopes: Any, weights: Any, features: Any,
    room: Any,
) -> None:  # fmt: skip
    if not steep(slopes):
        return
    _, gain = pace(feature_map.step, t, 0.0, feature_map.logits, 1.0)
    room[:] = 0
    for k in range(slopes.shape[0]):
        if slopes[k] != 0.0:
            add_pull(common * slopes[k], row(weights, k), features, room, room.shape[0])
    each = feature_map.noise.shape[2]
    pulls = np.empty(feature_map.shares.shape[0])
    for q in range(pulls.shape[0]):
        pulls[q] = common * felt(slopes, weights, features, q * each, each)
        step_component(feature_map, q, gain, block, i, room[q * each : (q + 1) * each])
    step_logits(feature_map, gain, pulls)


@compiled
def felt(slopes: Any, weights: Any, features: Any, start: int, count: int) -> float:
    """sum over outputs of slope (w . z) over the features of one component."""
    n, total = features.shape[0] // 2, 0.0
    for c in range(slopes.shape[0]):
        if slopes[c] != 0.0:
            w = row(weights, c)
            cosines = dot(w[start : start + count], features[start : start + count], count)
            sines = dot(w[n + start : n + start + count], features[n + start : n + start + count], count)
            total += slopes[c] * (np.float64(cosines) + np.float64(sines))
    return total


@compiled
def step_component(feature_map: Any, q: int, gain: float, block: Any, i: int, gradient: Any) -> None:
    """Step the means and log-widths of one component by the slopes of its phases; changes feature_map."""
    step, total = feature_map.step, 0.0
    for k in range(gradient.shape[0]):
        total += np.float64(gradient[k])
    first, last = extent(block, i)
    for p in range(first, last):
        j, x = entry(block, i, p)
        x = np.float64(x)
        if x != 0.0:
            along = dot(row(row(feature_map.noise, q), j), gradient, gradient.shape[0])
            slope = finite(np.pi * np.exp(feature_map.logs[q, j]) * x * np.float64(along))
            g = feature_map.logs[q, j] - stride(step, gain, slope, row(feature_map.log_memory, q), j)
            feature_map.means[q, j] -= stride(step, gain, finite(total * x), row(feature_map.mean_memory, q), j)
            feature_map.logs[q, j] = min(max(g, -feature_map.limit), feature_map.limit)
            feature_map.factors[q, j] = np.exp(feature_map.logs[q, j])


@compiled
def step_logits(feature_map: Any, gain: float, pulls: Any) -> None:
    """Step the weights of the components: dl / dlogit_r = (pull_r - w_r sum of pulls) / 2; changes feature_map."""
    logits, shares, total = feature_map.logits, feature_map.shares, 0.0
    for q in range(pulls.shape[0]):
        total += pulls[q]
    for q in range(pulls.shape[0]):
        common = shares[q] * total
        slope = finite(0.5 * (pulls[q] - common))
        if abs(slope) <= ROUNDING * 0.5 * (abs(pulls[q]) + abs(common)):  # where all pull alike, nothing else is left
            slope = 0.0
        logits[q] = finite(logits[q] - stride(feature_map.step, gain, slope, feature_map.logit_memory, q))
    soften(logits, shares)


@width.of(Spectral)
def _(feature_map: Spectral) -> int:
    return 2 * feature_map.noise.shape[0] * feature_map.noise.shape[2]


@work_width.of(Spectral)
def _(feature_map: Spectral) -> int:
    return feature_map.noise.shape[0] * feature_map.noise.shape[2]


@tile_rows.of(Spectral)
def _(feature_map: Spectral) -> int:
    return 1  # every row may change the map


@factor.of(Spectral)
def _(feature_map: Spectral) -> float:
    return 1.0 / np.sqrt(feature_map.noise.shape[0] * feature_map.noise.shape[2])


@feature_norm.of(Spectral)
def _(feature_map: Spectral, features: Any) -> float:
    return 1.0  # cos^2 + sin^2 = 1 for every frequency, and the weights of the components add up to 1


@spread.register
def _(feature_map: Spectral) -> Any:
    squares = np.exp(2.0 * feature_map.logs) + feature_map.means**2
    return np.asarray(np.sqrt(feature_map.shares @ squares))
