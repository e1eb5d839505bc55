"""Structured frequencies: products of diagonal and Walsh-Hadamard matrices, O(p log p) per p frequencies.

Rows are padded with zeros to a power of two p; each of ceil(D / p) blocks is, with H the normalised Walsh-Hadamard
matrix, SORF: sqrt(p) H D1 H D2 H D3 (random signs D_i), or Fastfood: S H G P H B (signs B, permutation P, normal
numbers G, lengths S of chi-distributed rows). Both are one chain: diagonal, H, permutation, diagonal, H, ...
"""

from typing import Any, NamedTuple

import numpy as np

from onkel.core.borrowed import row
from onkel.core.checking import disagreement
from onkel.core.randomness import derive, normal_table, uniform_table
from onkel.core.rows import scatter
from onkel.core.trees import unchanging
from onkel.core.verbs import compiled
from onkel.pieces.kernels import Kernel
from onkel.pieces.maps.fourier import chi_lengths, require_gaussian, turn
from onkel.pieces.maps.verbs import factor, feature_norm, lift, tile_rows, width, work_width


@unchanging
class Hadamard(NamedTuple):
    """phase = lengths * H diag_last ... H diag_1 P H diag_0 x, in half turns, block by block."""

    diagonals: Any  # (blocks, stages, p)
    order: Any  # (blocks, p): permutation after the first H
    lengths: Any  # (blocks, p), over pi
    n_frequencies: int


@compiled(heavy=True)
def transform(v: Any, p: int) -> None:
    """v <- H v in place, H unnormalised: log2(p) rounds of sums and differences."""
    half = 1
    while half < p:
        for start in range(0, p, 2 * half):
            a, b = v[start : start + half], v[start + half : start + 2 * half]
            for k in range(half):
                x, y = a[k], b[k]
                a[k] = x + y
                b[k] = x - y
        half *= 2


@lift.of(Hadamard)
def _(feature_map: Hadamard, block: Any, first: int, count: int, work: Any, features: Any) -> None:
    diagonals, order, lengths, wanted = feature_map
    blocks, stages, p = diagonals.shape
    for r in range(count):
        space = row(work, r)
        x, v, phases = space[:p], space[p : 2 * p], space[2 * p :]
        scatter(block, first + r, x)
        for b in range(blocks):
            for k in range(p):
                v[k] = x[k] * diagonals[b, 0, k]
            transform(v, p)
            here = phases[b * p : (b + 1) * p]
            for k in range(p):
                here[k] = v[order[b, k]]
            for s in range(1, stages):
                for k in range(p):
                    here[k] *= diagonals[b, s, k]
                transform(here, p)
            for k in range(p):
                here[k] *= lengths[b, k]
        turn(phases, row(features, r), wanted)


@width.of(Hadamard)
def _(feature_map: Hadamard) -> int:
    return 2 * feature_map.n_frequencies


@work_width.of(Hadamard)
def _(feature_map: Hadamard) -> int:
    blocks, _, p = feature_map.diagonals.shape
    return (blocks + 2) * p


@tile_rows.of(Hadamard)
def _(feature_map: Hadamard) -> int:
    return max(1, min(16, 4096 // feature_map.n_frequencies))


@factor.of(Hadamard)
def _(feature_map: Hadamard) -> float:
    return 1.0 / np.sqrt(feature_map.n_frequencies)


@feature_norm.of(Hadamard)
def _(feature_map: Hadamard, features: Any) -> float:
    return 1.0


def _signs(seed: int, blocks: int, p: int) -> Any:
    return np.where(uniform_table(seed, blocks, p) < 0.5, -1.0, 1.0)


def _sizes(n_features: int, n_frequencies: int) -> tuple[int, int]:
    p = 1 << max(n_features - 1, 0).bit_length()
    return p, -(-n_frequencies // p)


def sorf(kernel: Kernel, n_features: int, n_frequencies: int, dtype: Any, seed: int) -> Hadamard:
    """Structured orthogonal random features of a Gaussian kernel: rows of length sqrt(p), directions nearly uniform."""
    require_gaussian(kernel, "sorf")
    p, blocks = _sizes(n_features, n_frequencies)
    diagonals = np.stack([_signs(derive(seed, s), blocks, p) for s in range(3)], axis=1)
    length = np.sqrt(2.0 * kernel.gamma) * np.sqrt(p) / p**1.5  # the last factor normalises three H
    order = np.tile(np.arange(p), (blocks, 1))
    return _hadamard(diagonals, order, np.full((blocks, p), length), n_frequencies, dtype)


def fastfood(kernel: Kernel, n_features: int, n_frequencies: int, dtype: Any, seed: int) -> Hadamard:
    """Fastfood features of a Gaussian kernel: rows with the lengths of normal vectors."""
    require_gaussian(kernel, "fastfood")
    p, blocks = _sizes(n_features, n_frequencies)
    gains = normal_table(derive(seed, 1), blocks, p)
    diagonals = np.stack([_signs(derive(seed, 0), blocks, p), gains], axis=1)
    order = np.argsort(uniform_table(derive(seed, 2), blocks, p), axis=1)
    chi = chi_lengths(derive(seed, 3), blocks * p, p).reshape(blocks, p)
    lengths = np.sqrt(2.0 * kernel.gamma) * chi / (np.linalg.norm(gains, axis=1, keepdims=True) * np.sqrt(p))
    return _hadamard(diagonals, order, lengths, n_frequencies, dtype)


def _hadamard(diagonals: Any, order: Any, lengths: Any, n_frequencies: int, dtype: Any) -> Hadamard:
    arrays = np.ascontiguousarray(diagonals, dtype), np.ascontiguousarray(order, np.int64)
    return Hadamard(*arrays, np.ascontiguousarray(lengths / np.pi, dtype), n_frequencies)


@disagreement.register
def _(feature_map: Hadamard) -> str:
    p = feature_map.order.shape[1]
    return "" if (np.sort(feature_map.order, axis=1) == np.arange(p)).all() else "its order is no permutation"
