"""Budgeted stochastic gradient descent (Pegasos) with removal."""

import numpy as np

from tests.naive.budgets import oldest, settle, smallest, square
from tests.naive.common import Trace, direction, expansion, margin, stored


def pegasos_step(task, y, f, t, lam, first):
    """e / (lam t) if m < 1, t = 1, 2, ...; the published code stores the very first row with e itself."""
    if margin(task, y, f) >= 1.0:
        return None
    return direction(task, y, f) / (1.0 if t == 1 and first == "published" else lam * t)


def sizes(kernel, X, rows, coefficients):
    """|a_i|^2 k_ii."""
    return [square(a) * kernel(X[i], X[i]) for i, a in zip(rows, coefficients, strict=True)]


def bsgd_r(X, y, task, outputs, kernel, budget, lam, strategy="smallest", first="exact", choose=None):
    """Every round a *= 1 - 1/t, then the step is appended; if that makes budget + 1, one of them goes.

    strategy "smallest": the least |a_i|^2 k_ii, the newcomer included; "oldest"; "random": slot choose(old rows).
    """
    rows, coefficients, scores = [], [], []
    for t, x in enumerate(X):
        f = expansion(kernel, X, rows, coefficients, x, outputs)
        scores.append(f)
        coefficients = [(1.0 - 1.0 / (t + 1)) * a for a in coefficients]
        a = pegasos_step(task, y[t], f, t + 1, lam, first)
        if a is None:
            continue
        old = list(rows)
        rows.append(t)
        coefficients.append(a)
        if len(rows) > budget:
            if strategy == "random":
                r = choose(old)
            else:
                r = oldest(rows) if strategy == "oldest" else smallest(sizes(kernel, X, rows, coefficients), rows)
            settle(rows, r)
            settle(coefficients, r)
    return Trace(np.array(scores), stored(rows, coefficients, outputs))
