"""Fourier features with learned widths: frequencies omega_k = exp(g) * e_k with fixed noise e_k and log-widths g.

The noise follows the spectral density of a kernel of width 1, so exp(g_j) is the inverse width of feature j, and the
slope of the loss by g_j is exp(g_j) x_j sum_k e_jk q_k, q_k being its slope by phase k.
"""

from typing import Any, NamedTuple

import numpy as np

from onkel.core.borrowed import row
from onkel.core.randomness import uniform_table
from onkel.core.ranges import NOT_NEGATIVE, contradiction, limits
from onkel.core.rows import Stretched, aligned_zeros, dot, entry, extent, project_row
from onkel.core.support import finite
from onkel.core.vecmath import sincospi
from onkel.core.verbs import compiled, known
from onkel.pieces.kernels import Kernel
from onkel.pieces.maps.fourier import iid, turn
from onkel.pieces.maps.relevance import spread
from onkel.pieces.maps.verbs import factor, feature_norm, lift, retune, tile_rows, width, work_width
from onkel.pieces.steps import ADAGRAD, MINIBATCH, pace, stride


@known
@limits(factors=NOT_NEGATIVE)
class Widths(NamedTuple):
    """Log-widths g (d,), their step, and what the step keeps for each."""

    step: Any
    limit: float  # of |g|
    logs: Any  # (d,): g
    factors: Any  # (d,): exp(g), in the type of the model
    memory: Any  # (d,)


@contradiction.register
def _(own: Widths) -> str:
    right = getattr(own.step, "code", None) != ADAGRAD or (own.memory >= 0.0).all()
    return "" if right else "its sums of squares are negative"


class Learned(NamedTuple):
    """[cos, sin] of the phases of stretched rows."""

    widths: Widths
    noise: Any  # (d, D), over pi


class LearnedPhase(NamedTuple):
    """sqrt(2 / D) cos of the phases of stretched rows plus a fixed phase."""

    widths: Widths
    noise: Any  # (d, D), over pi
    phases: Any  # (D,), over pi


def widths(step: Any, limit: float, start: Any, n_features: int, dtype: Any) -> Widths:
    """All widths at their start, a number or one per feature."""
    logs = np.log(np.full(n_features, start, np.float64))
    return Widths(step, limit, logs, np.exp(logs).astype(dtype), np.zeros(n_features))


def noise_of(kernel: Kernel, n_features: int, n_frequencies: int, dtype: Any, seed: int) -> Any:
    """Frequencies of the kernel (d, D), over pi, at the start of a cache line."""
    noise = aligned_zeros((n_features, n_frequencies), dtype)
    noise[:] = iid(kernel, n_features, n_frequencies, seed) / np.pi
    return noise


def learned_phase(own: Widths, noise: Any, seed: int) -> LearnedPhase:
    """The map with random fixed phases."""
    return LearnedPhase(own, noise, (2.0 * uniform_table(seed, 1, noise.shape[1])[0]).astype(noise.dtype))


@compiled
def stretch(own: Any, block: Any) -> Any:
    """Rows times the widths."""
    return Stretched(block, own.factors, own.factors.dtype.type(1))


@lift.of(Learned)
def _(feature_map: Learned, block: Any, first: int, count: int, work: Any, features: Any) -> None:
    n = work.shape[1]
    for r in range(count):
        project_row(stretch(feature_map.widths, block), first + r, feature_map.noise, n, row(work, r))
        turn(row(work, r), row(features, r), n)


@lift.of(LearnedPhase)
def _(feature_map: LearnedPhase, block: Any, first: int, count: int, work: Any, features: Any) -> None:
    n = work.shape[1]
    for r in range(count):
        project_row(stretch(feature_map.widths, block), first + r, feature_map.noise, n, row(work, r))
        turn_both(row(work, r), feature_map.phases, row(features, r), n)


@compiled(heavy=True)
def turn_both(phases: Any, shifts: Any, features: Any, n: int) -> None:
    """Cosines into features; sines, which the slope needs, in place of the phases."""
    for k in range(n):
        sine, cosine = sincospi(phases[k] + shifts[k])
        features[k] = cosine
        phases[k] = sine


@retune.of(Learned)
def _(
    feature_map: Learned, block: Any, i: int, t: int, common: float, slopes: Any, weights: Any, features: Any, room: Any
) -> None:
    if steep(slopes):
        room[:] = 0
        for k in range(slopes.shape[0]):
            if slopes[k] != 0.0:
                add_pull(common * slopes[k], row(weights, k), features, room, room.shape[0])
        widen_row(feature_map.widths, feature_map.noise, block, i, t, room)
    end_batch(feature_map.widths, t)


@compiled(heavy=True)
def add_pull(slope: float, weights: Any, features: Any, gradient: Any, n: int) -> None:
    """gradient_k += slope (w_sin z_cos - w_cos z_sin), the derivative of slope (w . z) by phase k."""
    c = gradient.dtype.type(slope)
    for_cos, for_sin, cosine, sine = weights[:n], weights[n:], features[:n], features[n:]
    for k in range(n):
        gradient[k] += c * (for_sin[k] * cosine[k] - for_cos[k] * sine[k])


@retune.of(LearnedPhase)
def _(
    feature_map: LearnedPhase, block: Any, i: int, t: int, common: float, slopes: Any, weights: Any, features: Any,
    room: Any,
) -> None:  # fmt: skip
    if steep(slopes):
        for k in range(room.shape[0]):
            by_cosine = 0.0
            for c in range(slopes.shape[0]):
                by_cosine += slopes[c] * weights[c, k]
            room[k] = -common * by_cosine * room[k]
        widen_row(feature_map.widths, feature_map.noise, block, i, t, room)
    end_batch(feature_map.widths, t)


@compiled
def steep(slopes: Any) -> bool:
    """Whether there is anything to learn from a row."""
    found = False
    for k in range(slopes.shape[0]):
        found = found or slopes[k] != 0.0
    return found


@compiled
def widen_row(own: Any, noise: Any, block: Any, i: int, t: int, gradient: Any) -> None:
    """Step the log-widths of the features of row i against their slopes; changes own."""
    _, gain = pace(own.step, t, 0.0, own.logs, 1.0)
    rows = stretch(own, block)
    first, last = extent(rows, i)
    for p in range(first, last):
        j, u = entry(rows, i, p)
        if u != 0.0:
            slope = np.pi * np.float64(u) * np.float64(dot(row(noise, j), gradient, gradient.shape[0]))
            set_width(own, j, own.logs[j] - stride(own.step, gain, finite(slope), own.memory, j))


@compiled
def end_batch(own: Any, t: int) -> None:
    """Apply the slopes that a mini-batch has added up, in its last round; changes own."""
    if own.step.code == MINIBATCH:
        _, gain = pace(own.step, t, 0.0, own.logs, 1.0)
        if gain > 0.0:
            for j in range(own.logs.shape[0]):
                set_width(own, j, own.logs[j] - gain * own.memory[j])
                own.memory[j] = 0.0


@compiled
def set_width(own: Any, j: int, g: float) -> None:
    """Keep a log-width within its limit; changes own."""
    own.logs[j] = min(max(g, -own.limit), own.limit)
    own.factors[j] = np.exp(own.logs[j])


@width.of(Learned)
def _(feature_map: Learned) -> int:
    return 2 * feature_map.noise.shape[1]


@width.of(LearnedPhase)
def _(feature_map: LearnedPhase) -> int:
    return feature_map.noise.shape[1]


@work_width.of(Learned, LearnedPhase)
def _(feature_map: Any) -> int:
    return feature_map.noise.shape[1]


@tile_rows.of(Learned, LearnedPhase)
def _(feature_map: Any) -> int:
    return 1  # every row may change the map


@factor.of(Learned)
def _(feature_map: Learned) -> float:
    return 1.0 / np.sqrt(feature_map.noise.shape[1])


@factor.of(LearnedPhase)
def _(feature_map: LearnedPhase) -> float:
    return np.sqrt(2.0 / feature_map.noise.shape[1])


@feature_norm.of(Learned)
def _(feature_map: Learned, features: Any) -> float:
    return 1.0


@feature_norm.of(LearnedPhase)
def _(feature_map: LearnedPhase, features: Any) -> float:
    return np.float64(dot(features, features, features.shape[0])) * 2.0 / features.shape[0]


@spread.register(Learned)
@spread.register(LearnedPhase)
def _(feature_map: Any) -> Any:
    return np.exp(feature_map.widths.logs)
