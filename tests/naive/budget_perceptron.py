"""Budget Perceptron: drop the support vector that needs itself least."""

import numpy as np

from tests.naive.budgets import settle
from tests.naive.common import Trace, expansion, margin, stored


def budget_perceptron(X, y, task, outputs, kernel, budget, beta=0.0):
    """If y f <= beta append (x_t, y_t); if that makes budget + 1, remove argmax_i sign(a_i) (f(x_i) - a_i k_ii)."""
    rows, coefficients, scores = [], [], []
    for t, x in enumerate(X):
        f = expansion(kernel, X, rows, coefficients, x, outputs)
        scores.append(f)
        if margin(task, y[t], f) > beta:
            continue
        rows.append(t)
        coefficients.append(np.array([y[t]]))
        if len(rows) > budget:
            margins = []
            for i, a in zip(rows, coefficients, strict=True):
                f_i = expansion(kernel, X, rows, coefficients, X[i], outputs)
                margins.append(np.sign(a[0]) * (f_i[0] - a[0] * kernel(X[i], X[i])))
            r = int(np.argmax(margins))
            settle(rows, r)
            settle(coefficients, r)
    return Trace(np.array(scores), stored(rows, coefficients, outputs))
