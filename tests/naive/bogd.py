"""Bounded online gradient descent: a random or the oldest support vector makes room."""

import numpy as np

from tests.naive.budgets import oldest
from tests.naive.common import Trace, direction, expansion, margin, stored


def gradient_step(task, y, f, eta, epsilon):
    """eta e if m <= 1; regression eta (y - f) if |y - f| > epsilon; None without loss."""
    if task == "regression":
        return eta * (y - f) if abs(y - f[0]) > epsilon else None
    return eta * direction(task, y, f) if margin(task, y, f) <= 1.0 else None


def clipped(coefficients, bound):
    """All a *= min(1, bound / max |a|)."""
    largest = max(np.max(np.abs(a)) for a in coefficients)
    return [a * bound / largest for a in coefficients] if largest > bound else coefficients


def bogd(X, y, task, outputs, kernel, budget, eta, lam, epsilon, clip=10.0, removal="random", choose=None):
    """Every row a *= 1 - eta lam; with loss the step is stored, when full in place of another.

    removal "random": of slot choose(rows); the others a *= B / (B - 1), then all a *= min(1, eta clip / max |a|).
    removal "oldest": of the oldest, nothing else.
    """
    rows, coefficients, scores = [], [], []
    for t, x in enumerate(X):
        f = expansion(kernel, X, rows, coefficients, x, outputs)
        scores.append(f)
        coefficients = [(1.0 - eta * lam) * a for a in coefficients]
        a = gradient_step(task, y[t], f, eta, epsilon)
        if a is None:
            continue
        if len(rows) < budget:
            rows.append(t)
            coefficients.append(a)
        elif removal == "oldest":
            r = oldest(rows)
            rows[r], coefficients[r] = t, a
        else:
            r = choose(rows)
            if budget > 1:
                coefficients = [budget / (budget - 1.0) * own for own in coefficients]
            rows[r], coefficients[r] = t, a
            coefficients = clipped(coefficients, eta * clip)
    return Trace(np.array(scores), stored(rows, coefficients, outputs))
