"""Randomized Budget Perceptron: a random support vector makes room."""

import numpy as np

from tests.naive.budgets import mistaken
from tests.naive.common import Trace, direction, expansion, stored


def rbp(X, y, task, outputs, kernel, budget, eta, epsilon, choose):
    """On a mistake store (x_t, eta e_t); if the support is full, in place of the slot choose(rows)."""
    rows, coefficients, scores = [], [], []
    for t, x in enumerate(X):
        f = expansion(kernel, X, rows, coefficients, x, outputs)
        scores.append(f)
        if not mistaken(task, y[t], f, epsilon):
            continue
        a = eta * direction(task, y[t], f)
        if len(rows) < budget:
            rows.append(t)
            coefficients.append(a)
        else:
            r = choose(rows)
            rows[r], coefficients[r] = t, a
    return Trace(np.array(scores), stored(rows, coefficients, outputs))
