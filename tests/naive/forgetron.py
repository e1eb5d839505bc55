"""Self-tuned Forgetron: shrink everything just so much that the oldest support vector can be forgotten."""

import numpy as np

from tests.naive.budgets import mistaken, oldest, settle
from tests.naive.common import Trace, direction, expansion, margin, stored


def shrinkage(Q, M, delta, mu, root):
    """The largest phi in [0, 1] with A phi^2 + b phi + c <= 0.

    A = delta^2 - 2 delta mu, b = 2 delta, c = Q - 15/32 M. The published code takes for A < 0 the other root,
    which is above 1. Nothing to forget (delta = 0): phi = 1.
    """
    A, b, c = delta**2 - 2.0 * delta * mu, 2.0 * delta, Q - 15.0 / 32.0 * M
    if A + b + c <= 0.0 or delta == 0.0:
        return 1.0
    if A == 0.0:
        return float(np.clip(-c / b, 0.0, 1.0))
    depth = np.sqrt(b * b - 4.0 * A * c)
    if A < 0.0 and root == "published":
        return (-b - depth) / (2.0 * A)
    return float(np.clip((-b + depth) / (2.0 * A), 0.0, 1.0))


def deviation(Q, delta, mu, phi):
    """Q + (delta phi)^2 + 2 delta phi (1 - phi mu)."""
    return Q + (delta * phi) ** 2 + 2.0 * delta * phi * (1.0 - phi * mu)


def importance(task, y, a, f):
    """(delta, mu): (a / y, y f); (|a_y|, f_y); (|a|, |f|)."""
    if task == "binary":
        return a[0] / y, y * f[0]
    return (abs(a[int(y)]), f[int(y)]) if task == "multiclass" else (abs(a[0]), abs(f[0]))


def forgetron(X, y, task, outputs, kernel, budget, eta, epsilon, root="exact"):
    """Append eta e if m <= 0 (binary), predicted != y (multiclass), |y - f| > epsilon (regression).

    If that makes budget + 1: r the oldest, delta and mu of r with the newcomer in f, all a *= phi, Q grows, r goes.
    M counts the mistakes, this row's included; a binary row with f = 0, y = +1 is stored without being a mistake.
    """
    rows, coefficients, scores = [], [], []
    Q, M = 0.0, 0
    for t, x in enumerate(X):
        f = expansion(kernel, X, rows, coefficients, x, outputs)
        scores.append(f)
        wrong = mistaken(task, y[t], f, epsilon)
        M += wrong
        if not (margin(task, y[t], f) <= 0.0 if task == "binary" else wrong):
            continue
        rows.append(t)
        coefficients.append(eta * direction(task, y[t], f))
        if len(rows) > budget:
            r = oldest(rows)
            f_r = expansion(kernel, X, rows, coefficients, X[rows[r]], outputs)
            delta, mu = importance(task, y[rows[r]], coefficients[r], f_r)
            phi = shrinkage(Q, M, delta, mu, root)
            Q = deviation(Q, delta, mu, phi)
            coefficients = [phi * a for a in coefficients]
            settle(rows, r)
            settle(coefficients, r)
    return Trace(np.array(scores), stored(rows, coefficients, outputs))
