"""Budgeted stochastic gradient descent (Pegasos) with projection."""

import numpy as np

from tests.naive.bsgd_r import pegasos_step, sizes
from tests.naive.budgets import crowded, projection, smallest, spread
from tests.naive.common import Trace, expansion, stored


def bsgd_p(X, y, task, outputs, kernel, budget, lam, guard=1e-6, first="exact"):
    """As bsgd_r, but a newcomer that makes it crowded is projected on the support.

    Over budget the smallest r is projected: the newcomer on the support; an old one on the others and the newcomer,
    who takes its slot.
    """
    rows, coefficients, scores = [], [], []
    for t, x in enumerate(X):
        f = expansion(kernel, X, rows, coefficients, x, outputs)
        scores.append(f)
        coefficients = [(1.0 - 1.0 / (t + 1)) * a for a in coefficients]
        a = pegasos_step(task, y[t], f, t + 1, lam, first)
        if a is None:
            continue
        d, _ = projection(kernel, X[rows], x)
        near = crowded(kernel, X[rows], x, guard)
        if not near and len(rows) < budget:
            rows.append(t)
            coefficients.append(a)
            continue
        r = smallest(sizes(kernel, X, [*rows, t], [*coefficients, a]), [*rows, t])
        if near or r == len(rows):
            coefficients = spread(coefficients, d, a)
        else:
            gone, x_r = coefficients[r], X[rows[r]]
            rows[r], coefficients[r] = t, a
            coefficients = spread(coefficients, projection(kernel, X[rows], x_r)[0], gone)
    return Trace(np.array(scores), stored(rows, coefficients, outputs))
