"""Budgeted Passive-Aggressive, projecting: everybody makes up for the one who goes."""

import numpy as np

from tests.naive.budgets import crowded, passive_aggressive_step, projection, spread, square
from tests.naive.common import Trace, expansion, stored


def without(rows, r, t):
    """The rows with the newcomer t in slot r."""
    return [t if i == r else row for i, row in enumerate(rows)]


def bpa_p(X, y, task, outputs, kernel, budget, C=1.0, guard=1e-6):
    """PA-I; a newcomer that makes it crowded is projected on the support, a += tau y d.

    Full: r = argmin a_r^2 rho_r, rho_r the square residual of phi(x_r) on the others and the newcomer; a_r phi(x_r) is
    replaced by its projection there, the newcomer, in slot r, gets + tau y.
    """
    rows, coefficients, scores = [], [], []
    for t, x in enumerate(X):
        f = expansion(kernel, X, rows, coefficients, x, outputs)
        scores.append(f)
        a = passive_aggressive_step(task, y[t], f, kernel(x, x), C)
        if a is None:
            continue
        if crowded(kernel, X[rows], x, guard):
            coefficients = spread(coefficients, projection(kernel, X[rows], x)[0], a)
        elif len(rows) < budget:
            rows.append(t)
            coefficients.append(a)
        else:
            choices = [projection(kernel, X[without(rows, r, t)], X[rows[r]]) for r in range(budget)]
            r = int(np.argmin([square(coefficients[r]) * choices[r][1] for r in range(budget)]))
            gone, coefficients[r] = coefficients[r], a
            coefficients = spread(coefficients, choices[r][0], gone)
            rows = without(rows, r, t)
    return Trace(np.array(scores), stored(rows, coefficients, outputs))
