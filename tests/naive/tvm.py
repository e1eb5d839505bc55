"""Twin vector machine: prototypes that stand for rows of both classes, and the SVM of the weighted prototypes."""

from dataclasses import dataclass

import numpy as np

from tests.naive.budgets import gram, settle
from tests.naive.common import Trace, stored

CLASSES = (1, -1)


@dataclass
class Prototype:
    """A point that stands for count[c] rows of class c, with the dual variable alpha[c] in [0, C count[c]]."""

    row: int
    point: np.ndarray
    count: dict
    alpha: dict


def score(kernel, held, x):
    """f(x) = sum_j (alpha_j+ - alpha_j-) k(x, x_j)."""
    return sum((p.alpha[1] - p.alpha[-1]) * kernel(x, p.point) for p in held)


def merge_closest(kernel, held):
    """The pair p < q with the least k_pp + k_qq - 2 k_pq becomes one, in slot p: counts and alphas add up."""

    def distance(pair):
        x, s = held[pair[0]].point, held[pair[1]].point
        return kernel(x, x) + kernel(s, s) - 2.0 * kernel(x, s)

    p, q = min([(p, q) for p in range(len(held)) for q in range(p + 1, len(held))], key=distance)
    stays, goes = held[p], held[q]
    n_p, n_q = sum(stays.count.values()), sum(goes.count.values())
    stays.point = (n_p * stays.point + n_q * goes.point) / (n_p + n_q)
    stays.count = {c: stays.count[c] + goes.count[c] for c in CLASSES}
    stays.alpha = {c: stays.alpha[c] + goes.alpha[c] for c in CLASSES}
    settle(held, q)


def projected_gradient(G, alpha, cap):
    """min(G, 0) at alpha = 0, max(G, 0) at alpha = cap, else G."""
    if alpha <= 0.0:
        return min(G, 0.0)
    return max(G, 0.0) if alpha >= cap else G


def sweep(K, held, C):
    """One exact step on every dual variable in turn, K_ij = k(x_i, x_j); the largest |projected gradient| met."""
    largest = 0.0
    for i, p in enumerate(held):
        k_pp = K[i, i]
        for c in CLASSES:
            if p.count[c] == 0 or k_pp <= 0.0:
                continue
            G = c * sum((q.alpha[1] - q.alpha[-1]) * K[i, j] for j, q in enumerate(held)) - 1.0
            PG = projected_gradient(G, p.alpha[c], C * p.count[c])
            largest = max(largest, abs(PG))
            if PG != 0.0:
                p.alpha[c] = min(max(p.alpha[c] - G / k_pp, 0.0), C * p.count[c])
    return largest


def tvm(X, y, task, outputs, kernel, budget, C=1.0, band=1.0, far=2.0, sweeps=10):
    """y f > band: ignored. Else stored; if that makes budget + 1, the farthest from the boundary goes if |f| > far,
    otherwise the closest pair merges; then up to `sweeps` sweeps of dual coordinate descent for

    min |w|^2 / 2 + C sum_j [s_j+ max(0, 1 - f(x_j)) + s_j- max(0, 1 + f(x_j))].
    """
    held, scores = [], []
    for t, x in enumerate(X):
        f = score(kernel, held, x)
        scores.append([f])
        if y[t] * f > band:
            continue
        held.append(Prototype(t, x, {c: int(c == y[t]) for c in CLASSES}, dict.fromkeys(CLASSES, 0.0)))
        if len(held) > budget:
            heights = [abs(score(kernel, held, p.point)) for p in held]
            if max(heights) > far:
                settle(held, int(np.argmax(heights)))
            else:
                merge_closest(kernel, held)
        K = gram(kernel, [p.point for p in held])
        for _ in range(sweeps):
            if sweep(K, held, C) < 1e-3:
                break
    state = stored([p.row for p in held], [p.alpha[1] - p.alpha[-1] for p in held], outputs)
    points = np.array([p.point for p in held]).reshape(len(held), X.shape[1])
    return Trace(np.array(scores, dtype=float), {**state, "points": points})
