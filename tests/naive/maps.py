"""Slow exact kernels, k(x, s) -> float, and slow feature maps, z(x) -> 1-d array."""

import numpy as np

# ---- kernels ----


def gaussian(gamma):
    """exp(-gamma |x - s|^2)."""
    return lambda x, s: float(np.exp(-gamma * np.sum((x - s) ** 2)))


def laplacian(gamma):
    """exp(-gamma |x - s|_1)."""
    return lambda x, s: float(np.exp(-gamma * np.sum(np.abs(x - s))))


def cauchy(gamma):
    """prod_j 1 / (1 + gamma (x_j - s_j)^2)."""
    return lambda x, s: float(np.prod(1.0 / (1.0 + gamma * (x - s) ** 2)))


def polynomial(gamma, coef0, degree):
    """(gamma <x, s> + coef0)^degree."""
    return lambda x, s: float((gamma * np.dot(x, s) + coef0) ** degree)


def linear():
    """<x, s>."""
    return lambda x, s: float(np.dot(x, s))


def additive_chi2():
    """sum_j 2 x_j s_j / (x_j + s_j), 0 where both are 0."""
    return lambda x, s: float(sum(2.0 * a * b / (a + b) for a, b in zip(x, s, strict=True) if a + b > 0.0))


# ---- random Fourier features ----


def fourier(U):
    """[cos(U^T x); sin(U^T x)] / sqrt(D) for U (d, D), so that z.z' = mean_j cos(u_j.(x - x'))."""
    U = np.asarray(U, dtype=float)
    return lambda x: np.concatenate([np.cos(U.T @ x), np.sin(U.T @ x)]) / np.sqrt(U.shape[1])


def phase(U, b):
    """sqrt(2 / D) cos(U^T x + b)."""
    U, b = np.asarray(U, dtype=float), np.asarray(b, dtype=float)
    return lambda x: np.sqrt(2.0 / U.shape[1]) * np.cos(U.T @ x + b)


# ---- structured frequencies ----


def hadamard(p):
    """Unnormalised Walsh-Hadamard matrix, H_ij = (-1)^(number of common bits of i and j), p a power of two."""
    return np.array([[(-1.0) ** (i & j).bit_count() for j in range(p)] for i in range(p)])


def sorf_matrix(signs, sigma=1.0):
    """W = (sqrt(p) / sigma) H D1 H D2 H D3, H normalised, signs (3, p) the diagonals; a row is a frequency."""
    signs = np.asarray(signs, dtype=float)
    p = signs.shape[1]
    H = hadamard(p) / np.sqrt(p)
    first, second, third = (np.diag(row) for row in signs)
    return np.sqrt(p) / sigma * H @ first @ H @ second @ H @ third


def fastfood_matrix(signs, permutation, gains, lengths, sigma=1.0):
    """V = (1 / (sigma sqrt(p))) S H G P H B, H unnormalised; row i is a frequency of norm lengths_i / sigma.

    B = diag(signs), (P v)_i = v[permutation_i], G = diag(gains), S = diag(lengths / |gains|).
    """
    p = len(signs)
    H, P = hadamard(p), np.eye(p)[list(permutation)]
    S = np.diag(np.asarray(lengths) / np.sqrt(np.sum(np.square(gains))))
    return S @ H @ np.diag(gains) @ P @ H @ np.diag(signs) / (sigma * np.sqrt(p))


def frequencies(blocks, d, D):
    """U (d, D) of stacked SORF or Fastfood blocks: the first d columns (x is padded by zeros), the first D rows."""
    return np.concatenate(blocks)[:D, :d].T


# ---- Nystroem ----


def nystroem_matrix(points, kernel, rank, cut):
    """M = diag(ev)^(-1/2) V^T of the `rank` largest eigenpairs of K, those below cut * ev_1 dropped; and these ev."""
    K = np.array([[kernel(x, s) for s in points] for x in points])
    ev, V = np.linalg.eigh((K + K.T) / 2.0)
    order = [i for i in np.argsort(-ev)[:rank] if ev[i] > 0.0 and ev[i] >= cut * np.max(ev)]
    return np.diag(1.0 / np.sqrt(ev[order])) @ V[:, order].T, ev[order]


def nystroem(points, kernel, rank, cut=1e-8):
    """z(x) = M k(points, x)."""
    M, _ = nystroem_matrix(points, kernel, rank, cut)
    return lambda x: M @ np.array([kernel(x, s) for s in points])


# ---- additive chi^2 ----


def chi2_of_one(v, order, period):
    """[sqrt(v L), then for j = 1..b: sqrt(2 v L / cosh(pi j L)) (cos(j L ln v), sin(j L ln v))]; zeros at v = 0."""
    if v < 0.0:
        raise ValueError("the additive chi^2 map needs inputs >= 0")
    if v == 0.0:
        return np.zeros(2 * order + 1)
    z = [np.sqrt(v * period)]
    for j in range(1, order + 1):
        size = np.sqrt(2.0 * v * period / np.cosh(np.pi * j * period))
        angle = j * period * np.log(v)
        z += [size * np.cos(angle), size * np.sin(angle)]
    return np.array(z)


def chi2(order, period):
    """The 2 b + 1 features of input 1, then those of input 2, ..."""
    return lambda x: np.concatenate([chi2_of_one(v, order, period) for v in x])
