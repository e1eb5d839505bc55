"""Projectron: a mistake close to the span of the support, or beyond the budget, is projected on the span."""

import numpy as np

from tests.naive.budgets import crowded, mistaken, projection, spread
from tests.naive.common import Trace, direction, expansion, stored


def projectron(X, y, task, outputs, kernel, budget, eta, epsilon, threshold=0.0, guard=1e-6):
    """On a mistake append (x_t, eta e_t), or a_i += d_i eta e_t if delta2 <= threshold, full or crowded."""
    rows, coefficients, scores = [], [], []
    for t, x in enumerate(X):
        f = expansion(kernel, X, rows, coefficients, x, outputs)
        scores.append(f)
        if not mistaken(task, y[t], f, epsilon):
            continue
        a = eta * direction(task, y[t], f)
        d, delta2 = projection(kernel, X[rows], x)
        if delta2 <= threshold or len(rows) >= budget or crowded(kernel, X[rows], x, guard):
            coefficients = spread(coefficients, d, a)
        else:
            rows.append(t)
            coefficients.append(a)
    return Trace(np.array(scores), stored(rows, coefficients, outputs))
