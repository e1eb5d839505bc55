"""Random Fourier features: [cos(omega_k . x), sin(omega_k . x)] / sqrt(D), or sqrt(2 / D) cos(omega_k . x + b_k).

For a kernel k(x - s) whose spectral density the frequencies omega follow, <z(x), z(s)> is an unbiased estimate of it.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from onkel.core.borrowed import row
from onkel.core.randomness import derive, normal_table, uniform_table
from onkel.core.rows import dot, project
from onkel.core.trees import unchanging
from onkel.core.vecmath import sincospi
from onkel.core.verbs import compiled, verb
from onkel.pieces.kernels import CAUCHY, GAUSSIAN, LAPLACIAN, Kernel
from onkel.pieces.maps.verbs import factor, feature_norm, lift, tile_rows, width, work_width


@unchanging
class Fourier(NamedTuple):
    """Cosine block, then sine block."""

    frequencies: Any  # (d, D), in half turns: omega / pi; or `Drawn`


@unchanging
class Phase(NamedTuple):
    """One cosine with a random phase per frequency: half the features of `Fourier`, more variance."""

    frequencies: Any  # as in `Fourier`
    phases: Any  # (D,), b / pi


@verb
def rotate(frequencies: Any, block: Any, first: int, count: int, phases: Any) -> None:
    """phases[r] = the phases of row first + r, in half turns."""


@verb
def frequency_count(frequencies: Any) -> int:
    """Number of frequencies D."""


@rotate.of(np.float32, np.float64)
def _(frequencies: Any, block: Any, first: int, count: int, phases: Any) -> None:
    project(block, first, count, frequencies, phases)


@frequency_count.of(np.float32, np.float64)
def _(frequencies: Any) -> int:
    return frequencies.shape[1]


@lift.of(Fourier)
def _(feature_map: Fourier, block: Any, first: int, count: int, work: Any, features: Any) -> None:
    rotate(feature_map.frequencies, block, first, count, work)
    for r in range(count):
        turn(row(work, r), row(features, r), work.shape[1])


@compiled(heavy=True)
def turn(phases: Any, features: Any, n: int) -> None:
    """Cosines and sines of phases in half turns."""
    cosines, sines = features[:n], features[n:]
    for k in range(n):
        sine, cosine = sincospi(phases[k])
        cosines[k] = cosine
        sines[k] = sine


@lift.of(Phase)
def _(feature_map: Phase, block: Any, first: int, count: int, work: Any, features: Any) -> None:
    rotate(feature_map.frequencies, block, first, count, work)
    for r in range(count):
        turn_shifted(row(work, r), feature_map.phases, row(features, r), work.shape[1])


@compiled(heavy=True)
def turn_shifted(phases: Any, shifts: Any, features: Any, n: int) -> None:
    for k in range(n):
        _, cosine = sincospi(phases[k] + shifts[k])
        features[k] = cosine


@width.of(Fourier)
def _(feature_map: Fourier) -> int:
    return 2 * frequency_count(feature_map.frequencies)


@width.of(Phase)
def _(feature_map: Phase) -> int:
    return frequency_count(feature_map.frequencies)


@work_width.of(Fourier, Phase)
def _(feature_map: Any) -> int:
    return frequency_count(feature_map.frequencies)


@tile_rows.of(Fourier, Phase)
def _(feature_map: Any) -> int:
    return 3 * max(1, min(16, 4096 // frequency_count(feature_map.frequencies)))


@factor.of(Fourier)
def _(feature_map: Fourier) -> float:
    return 1.0 / np.sqrt(frequency_count(feature_map.frequencies))


@factor.of(Phase)
def _(feature_map: Phase) -> float:
    return np.sqrt(2.0 / frequency_count(feature_map.frequencies))


@feature_norm.of(Fourier)
def _(feature_map: Fourier, features: Any) -> float:
    return 1.0  # cos^2 + sin^2 = 1 for every frequency


@feature_norm.of(Phase)
def _(feature_map: Phase, features: Any) -> float:
    return np.float64(dot(features, features, features.shape[0])) * 2.0 / features.shape[0]


def iid(kernel: Kernel, n_features: int, n_frequencies: int, seed: int) -> NDArray[np.float64]:
    """Independent frequencies (d, D) from the kernel's spectral density; row j depends on (seed, j) alone.

    Gaussian: N(0, 2 gamma); Laplacian: Cauchy of scale gamma; Cauchy: Laplace of scale sqrt(gamma).
    """
    if kernel.code == GAUSSIAN:
        return np.sqrt(2.0 * kernel.gamma) * normal_table(seed, n_features, n_frequencies)
    p = uniform_table(seed, n_features, n_frequencies)
    if kernel.code == LAPLACIAN:
        return kernel.gamma * np.tan(np.pi * (p - 0.5))
    if kernel.code == CAUCHY:
        return -np.sqrt(kernel.gamma) * np.sign(p - 0.5) * np.log1p(-2.0 * np.abs(p - 0.5))
    raise ValueError("Random Fourier features need a Gaussian, Laplacian or Cauchy kernel.")


def orthogonal(kernel: Kernel, n_features: int, n_frequencies: int, seed: int) -> NDArray[np.float64]:
    """Orthogonal frequencies (d, D): blocks of d random orthonormal directions with chi-distributed lengths."""
    require_gaussian(kernel, "orthogonal")
    d, blocks = n_features, -(-n_frequencies // n_features)
    columns = []
    for b in range(blocks):
        q, r = np.linalg.qr(normal_table(derive(seed, 2 * b), d, d))
        q *= np.sign(np.diag(r))  # makes the directions uniform
        columns.append(q * chi_lengths(derive(seed, 2 * b + 1), d, d))
    return np.sqrt(2.0 * kernel.gamma) * np.concatenate(columns, axis=1)[:, :n_frequencies]


def chi_lengths(seed: int, count: int, degrees: int) -> NDArray[np.float64]:
    """Lengths of standard normal vectors with that many coordinates."""
    lengths: NDArray[np.float64] = np.sqrt(
        2.0 * special.gammaincinv(degrees / 2.0, uniform_table(seed, count, 1)[:, 0])
    )
    return lengths


def require_gaussian(kernel: Kernel, draw: str) -> None:
    if kernel.code != GAUSSIAN:
        raise ValueError(f"draw={draw!r} needs a Gaussian kernel; use draw='iid' for others.")


def fourier(frequencies: Any, dtype: Any) -> Fourier:
    """The map of given frequencies omega (d, D), in radians per unit."""
    return Fourier(np.ascontiguousarray(np.asarray(frequencies) / np.pi, dtype))


def phase(drawn: Fourier, dtype: Any, seed: int) -> Phase:
    """The same frequencies with random phases."""
    phases = 2.0 * uniform_table(seed, 1, int(frequency_count(drawn.frequencies)))[0]
    return Phase(drawn.frequencies, phases.astype(dtype))
