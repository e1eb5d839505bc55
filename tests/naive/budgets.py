"""What the budgeted twins share: who is mistaken, projections in feature space, and the choice of who goes."""

import numpy as np

from tests.naive.common import direction, margin, predict


def mistaken(task, y, f, epsilon):
    """predicted != y, with the tie rules of predict; regression |y - f| > epsilon."""
    return abs(y - f[0]) > epsilon if task == "regression" else predict(task, f) != y


def passive_aggressive_step(task, y, f, k_tt, C):
    """tau e with tau = min(C, l / (k_tt |e|^2)), l = max(0, 1 - m); None without loss or without energy."""
    loss = max(0.0, 1.0 - margin(task, y, f))
    e = direction(task, y, f)
    energy = k_tt * np.sum(e * e)
    return min(C, loss / energy) * e if loss > 0.0 and energy > 0.0 else None


def gram(kernel, points):
    """K_ij = k(x_i, x_j)."""
    return np.array([[kernel(p, q) for q in points] for p in points])


def projection(kernel, points, x):
    """d = K^-1 k, delta2 = max(k_xx - k.d, 0): sum_i d_i phi(x_i) is nearest to phi(x), at square distance delta2."""
    if len(points) == 0:
        return np.zeros(0), kernel(x, x)
    k = np.array([kernel(p, x) for p in points])
    d = np.linalg.solve(gram(kernel, points), k)
    return d, max(kernel(x, x) - k @ d, 0.0)


def crowded(kernel, points, x, guard):
    """Whether one of the points and x has a square distance from the span of the others of at most guard k_ii.

    That of point i is 1 / (K^-1)_ii. Where x lies in the span, K has no inverse, and nothing else need be known.
    """
    if projection(kernel, points, x)[1] <= guard * kernel(x, x):
        return True
    K = gram(kernel, [*points, x])
    return bool(np.any(1.0 / np.diag(np.linalg.inv(K)) <= guard * np.diag(K)))


def spread(coefficients, d, a):
    """a_i + d_i a: the function a phi(x) is replaced by its projection."""
    return [own + share * a for own, share in zip(coefficients, d, strict=True)]


def square(a):
    """|a|^2, summed over the outputs."""
    return float(np.sum(a * a))


def oldest(rows):
    """The slot of the smallest row number."""
    return rows.index(min(rows))


def smallest(sizes, rows):
    """The slot of the least size; all within a factor 1 + 1e-6 of it are tied, and the oldest of them is meant."""
    tied = [i for i in range(len(rows)) if sizes[i] <= min(sizes) * (1.0 + 1e-6)]
    return min(tied, key=lambda i: rows[i])


def settle(held, slot):
    """The last of the list moves into the slot of the one who goes (who may be the last itself)."""
    last = held.pop()
    if slot < len(held):
        held[slot] = last
