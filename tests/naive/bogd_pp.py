"""BOGD++: the smaller a support vector, the likelier it goes."""

import numpy as np

from tests.naive.bogd import clipped, gradient_step
from tests.naive.common import Trace, expansion, stored


def removal_probabilities(sizes):
    """p_i = (1 - size_i / sum_j size_j) / (B - 1); 1 / B if all sizes are 0; 1 if B = 1."""
    B, total = len(sizes), sum(sizes)
    if B == 1 or total == 0.0:
        return [1.0 / B] * B
    return [(1.0 - size / total) / (B - 1.0) for size in sizes]


def drawn(p, u):
    """The first i with u < p_1 + ... + p_i; the last if rounding leaves none."""
    for i in range(len(p)):
        if u < sum(p[: i + 1]):
            return i
    return len(p) - 1


def bogd_pp(X, y, task, outputs, kernel, budget, eta, lam, uniforms, clip=10.0):
    """As bogd with random removal, but with p_i from the sizes |a_i| sqrt(k_ii).

    Every survivor j is divided by its own chance 1 - p_j to survive, so that its expectation stays a_j.
    """
    rows, coefficients, scores = [], [], []
    for t, x in enumerate(X):
        f = expansion(kernel, X, rows, coefficients, x, outputs)
        scores.append(f)
        coefficients = [(1.0 - eta * lam) * a for a in coefficients]
        a = gradient_step(task, y[t], f, eta, 0.0)
        if a is None:
            continue
        if len(rows) < budget:
            rows.append(t)
            coefficients.append(a)
            continue
        sizes = [abs(own[0]) * np.sqrt(kernel(X[i], X[i])) for i, own in zip(rows, coefficients, strict=True)]
        p = removal_probabilities(sizes)
        r = drawn(p, next(uniforms))
        coefficients = [a if j == r else coefficients[j] / (1.0 - p[j]) for j in range(budget)]
        coefficients = clipped(coefficients, eta * clip)
        rows[r] = t
    return Trace(np.array(scores), stored(rows, coefficients, outputs))
