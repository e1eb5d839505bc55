"""Merging two terms of a Gaussian expansion: z = h x_i + (1 - h) x_j, a_z = a_i kappa^((1-h)^2) + a_j kappa^(h^2)."""

import math

import numpy as np

GRID = 400
STEPS_WITHIN = STEPS_BEYOND = 23  # the fewest that leave less than 1e-4 of [1, 6] and [-5, 0]


def power(kappa, p):
    """kappa^p as exp(p max(log kappa, -700)), so that 0^0 = 1."""
    return math.exp(p * max(math.log(kappa), -700.0)) if kappa > 0.0 else math.exp(-700.0 * p)


def shares(a_i, a_j):
    """m_1 = sum_c a_ic / (a_ic + a_jc) and m_2 = sum_c a_jc / (a_ic + a_jc); a denominator of (about) 0 is 1e-4."""
    sums = [p + q if abs(p + q) > 1e-6 * (abs(p) + abs(q)) else 1e-4 for p, q in zip(a_i, a_j, strict=True)]
    return sum(p / s for p, s in zip(a_i, sums, strict=True)), sum(q / s for q, s in zip(a_j, sums, strict=True))


def value(m_1, m_2, kappa, h):
    """m_1 kappa^((1-h)^2) + m_2 kappa^(h^2)."""
    return m_1 * power(kappa, (1.0 - h) ** 2) + m_2 * power(kappa, h**2)


def golden(m_1, m_2, kappa):
    """argmax_h value by golden sections of [0, 1], [1, 6] or [-5, 0], whichever the signs of the shares ask for."""
    if m_1 * m_2 > 0.0:
        low, high, steps = 0.0, 1.0, STEPS_WITHIN
    else:
        low, high, steps = (1.0, 6.0, STEPS_BEYOND) if m_1 > 0.0 and m_2 <= 0.0 else (-5.0, 0.0, STEPS_BEYOND)
    ratio = (math.sqrt(5.0) - 1.0) / 2.0
    for _ in range(steps):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        v_left, v_right = value(m_1, m_2, kappa, left), value(m_1, m_2, kappa, right)
        if v_right > v_left + 1e-12 * abs(v_left):
            low = left
        else:
            high = right
    return 0.5 * (low + high)


def best(m, kappa):
    """h* in [0, 1/2], the global maximiser of m kappa^((1-h)^2) + (1-m) kappa^(h^2) for m <= 1/2.

    The derivative has the sign of log m/(1-m) + log (1-h)/h + (1-2h) log kappa, which on (0, 1/2) changes from plus to
    minus exactly once (or, with m = 1/2 and kappa >= e^-2, only reaches 0 at 1/2): found by bisection.
    """
    if m == 0.0 or kappa == 0.0:
        return 0.0
    if kappa == 1.0:
        return m
    low, high = 0.0, 0.5
    for _ in range(60):
        h = 0.5 * (low + high)
        rises = math.log(m / (1.0 - m)) + math.log((1.0 - h) / h) + (1.0 - 2.0 * h) * math.log(kappa) > 0.0
        low, high = (h, high) if rises else (low, h)
    return 0.5 * (low + high)


def interpolated(m, kappa):
    """best on the grid of 1/400, bilinear in between."""
    i, j = min(int(m * GRID), GRID // 2 - 1), min(int(kappa * GRID), GRID - 1)
    u, v = m * GRID - i, kappa * GRID - j
    corners = [[best((i + p) / GRID, (j + q) / GRID) for q in (0, 1)] for p in (0, 1)]
    return float(np.array([1.0 - u, u]) @ np.array(corners) @ np.array([1.0 - v, v]))


def table(m_1, m_2, kappa):
    """The tabulated maximiser, if both shares are positive; None otherwise."""
    if m_1 <= 0.0 or m_2 <= 0.0:
        return None
    m = m_1 / (m_1 + m_2)
    found = interpolated(min(m, 1.0 - m), kappa)
    return 1.0 - found if m > 0.5 + 1e-6 else found  # equal shares: the place near x_j


def place(h, x_i, x_j):
    """z = h x_i + (1 - h) x_j."""
    return h * x_i + (1.0 - h) * x_j


def merged(search, kappa, a_i, a_j):
    """(h, a_z, degradation = sum_c a_i^2 + a_j^2 + 2 kappa a_i a_j - a_z^2); None if the pair may not merge."""
    h = {"golden": golden, "table": table}[search](*shares(a_i, a_j), kappa)
    if h is None:
        return None
    a_z = a_i * power(kappa, (1.0 - h) ** 2) + a_j * power(kappa, h**2)
    return h, a_z, float(np.sum(a_i * a_i + a_j * a_j + 2.0 * kappa * a_i * a_j - a_z * a_z))
