"""Dual space gradient descent: a kernel expansion whose small terms move into a random-feature part."""

import numpy as np

from tests.naive.budgets import smallest, square
from tests.naive.common import Trace, expansion, slopes, stored


def dual_sgd(X, y, task, outputs, kernel, features, budget, merge=10, lam=0.01, loss="hinge", epsilon=0.1):
    """f = sum_i a_i k(x_i, x) + V z(x), z the scaled random features of the same kernel, V (outputs, features).

    Round t = 1, 2, ...: a and V *= (t - 1) / t; then, if g = d loss / d f is not 0, x_t enters with -g / (lam t).
    If the budget is full before that, the `merge` terms of least |a| leave first, one after the other (the oldest of
    those tied): V += a_i z(x_i)^T. The state lists what is left from old to new.
    """
    rows, coefficients, scores = [], [], []
    V = np.zeros((outputs, len(features(X[0]))))
    for t, x in enumerate(X, start=1):
        f = expansion(kernel, X, rows, coefficients, x, outputs) + V @ features(x)
        scores.append(f)
        g = slopes(loss, task, y[t - 1], f, epsilon)
        coefficients, V = [(t - 1) / t * a for a in coefficients], (t - 1) / t * V
        if np.all(g == 0.0):
            continue
        if len(rows) == budget:
            for _ in range(min(merge, budget)):
                i = smallest([square(a) for a in coefficients], rows)
                V = V + np.outer(coefficients.pop(i), features(X[rows.pop(i)]))
        rows.append(t - 1)
        coefficients.append(-g / (lam * t))
    return Trace(np.array(scores), {**stored(rows, coefficients, outputs), "weights": V})
