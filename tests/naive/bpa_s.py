"""Budgeted Passive-Aggressive, simple: only the newcomer makes up for the one who goes."""

import numpy as np

from tests.naive.budgets import passive_aggressive_step, square
from tests.naive.common import Trace, expansion, stored


def bpa_s(X, y, task, outputs, kernel, budget, C=1.0):
    """PA-I; full: r = argmin |a_r|^2 (k_rr - k_rt^2 / k_tt), slot r gets (x_t, a_r k_rt / k_tt + tau e)."""
    rows, coefficients, scores = [], [], []
    for t, x in enumerate(X):
        f = expansion(kernel, X, rows, coefficients, x, outputs)
        scores.append(f)
        k_tt = kernel(x, x)
        a = passive_aggressive_step(task, y[t], f, k_tt, C)
        if a is None:
            continue
        if len(rows) < budget:
            rows.append(t)
            coefficients.append(a)
        else:
            k = [kernel(X[i], x) for i in rows]
            residuals = [kernel(X[i], X[i]) - k[r] ** 2 / k_tt for r, i in enumerate(rows)]
            r = int(np.argmin([square(coefficients[r]) * residuals[r] for r in range(budget)]))
            rows[r], coefficients[r] = t, coefficients[r] * k[r] / k_tt + a
    return Trace(np.array(scores), stored(rows, coefficients, outputs))
