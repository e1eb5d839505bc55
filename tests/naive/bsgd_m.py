"""Budgeted stochastic gradient descent (Pegasos) with merging, for the Gaussian kernel."""

import numpy as np

from tests.naive import merging
from tests.naive.bsgd_r import pegasos_step
from tests.naive.budgets import settle, smallest, square
from tests.naive.common import Trace, expansion, stored


def partner(kernel, points, coefficients, i, search):
    """(j, h, a_z) of the partner of i whose merging degrades least, the first of equals; None if there is none."""
    least, chosen = np.inf, None
    for j in range(len(points)):
        if j == i:
            continue
        found = merging.merged(search, kernel(points[i], points[j]), coefficients[i], coefficients[j])
        if found is not None and found[2] < least:
            least, chosen = found[2], (j, found[0], found[1])
    return chosen


def bsgd_m(X, y, task, outputs, kernel, budget, lam, search="table", first="exact"):
    """As bsgd_r; over budget the smallest i merges with its best partner j into the lower slot, whose row number stays.

    The newcomer moves into the higher slot, unless it was one of the two. Without partner i goes.
    """
    rows, points, coefficients, scores = [], [], [], []
    for t, x in enumerate(X):
        f = expansion(kernel, points, range(len(points)), coefficients, x, outputs)
        scores.append(f)
        coefficients = [(1.0 - 1.0 / (t + 1)) * a for a in coefficients]
        a = pegasos_step(task, y[t], f, t + 1, lam, first)
        if a is None:
            continue
        rows.append(t)
        points.append(x)
        coefficients.append(a)
        if len(rows) > budget:
            i = gone = smallest([square(own) for own in coefficients], rows)
            pair = partner(kernel, points, coefficients, i, search)
            if pair is not None:
                j, h, a_z = pair
                low, gone = min(i, j), max(i, j)
                points[low], coefficients[low] = merging.place(h, points[i], points[j]), a_z
            for held in (rows, points, coefficients):
                settle(held, gone)
    state = {"points": np.array(points).reshape(len(points), X.shape[1])}
    return Trace(np.array(scores), {**stored(rows, coefficients, outputs), **state})
