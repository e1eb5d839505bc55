"""Budgeted Passive-Aggressive, nearest neighbour: the newcomer and the neighbour make up for the one who goes."""

import numpy as np

from tests.naive.budgets import passive_aggressive_step, square
from tests.naive.common import Trace, expansion, stored


def neighbour(kernel, X, rows, r):
    """The other slot with the least k_rr + k_jj - 2 k_rj, the first of equals; None if there is no other."""

    def distance(j):
        x, s = X[rows[r]], X[rows[j]]
        return kernel(x, x) + kernel(s, s) - 2.0 * kernel(x, s)

    others = [j for j in range(len(rows)) if j != r]
    return min(others, key=distance) if others else None


def substitutes(kernel, X, rows, r, x):
    """(j, p_t, p_j, rho_r): phi(x_r) projected on {t, j}, j the neighbour of r, and its square residual.

    j = None and p_j = 0 if there is no neighbour or the Gram matrix of {t, j} is singular, det <= 1e-6 k_tt k_jj.
    """
    x_r, j = X[rows[r]], neighbour(kernel, X, rows, r)
    k_tt, k_rt, k_rr = kernel(x, x), kernel(x_r, x), kernel(x_r, x_r)
    if j is not None:
        s = X[rows[j]]
        K = np.array([[k_tt, kernel(x, s)], [kernel(x, s), kernel(s, s)]])
        if K[0, 0] * K[1, 1] - K[0, 1] ** 2 > 1e-6 * K[0, 0] * K[1, 1]:
            k = np.array([k_rt, kernel(x_r, s)])
            p = np.linalg.solve(K, k)
            return j, p[0], p[1], k_rr - k @ p
    return None, k_rt / k_tt, 0.0, k_rr - k_rt**2 / k_tt


def bpa_nn(X, y, task, outputs, kernel, budget, C=1.0):
    """PA-I; full: r = argmin a_r^2 rho_r goes, its neighbour gets + a_r p_j, slot r gets (x_t, a_r p_t + tau y)."""
    rows, coefficients, scores = [], [], []
    for t, x in enumerate(X):
        f = expansion(kernel, X, rows, coefficients, x, outputs)
        scores.append(f)
        a = passive_aggressive_step(task, y[t], f, kernel(x, x), C)
        if a is None:
            continue
        if len(rows) < budget:
            rows.append(t)
            coefficients.append(a)
        else:
            choices = [substitutes(kernel, X, rows, r, x) for r in range(budget)]
            r = int(np.argmin([square(coefficients[r]) * choices[r][3] for r in range(budget)]))
            j, p_t, p_j, _ = choices[r]
            if j is not None:
                coefficients[j] = coefficients[j] + p_j * coefficients[r]
            rows[r], coefficients[r] = t, p_t * coefficients[r] + a
    return Trace(np.array(scores), stored(rows, coefficients, outputs))
