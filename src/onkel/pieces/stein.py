"""Where particles go by Stein variational gradient descent.

phi_j = (1/S) sum_s k_sj [G_s + (T_j - T_s) / h^2], k_sj = exp(-|T_s - T_j|^2 / (2 h^2)), with T the places and G the
slopes of the log-posterior there; h^2 = median |T_s - T_r|^2 / (2 log(S + 1)).
"""

from typing import Any

import numpy as np

from onkel.core.borrowed import row
from onkel.core.rows import Dense, project
from onkel.core.verbs import SUM, compiled

SMALLEST = 1e-300  # of the squared width of the kernel between particles


@compiled(heavy=True)
def steer(place: Any, gradient: Any, near: Any, kappa: Any, direction: Any) -> None:
    """phi of all particles (S, q) at `place` with slopes `gradient`; writes all but place."""
    S = place.shape[0]
    for s in range(S):
        for r in range(s + 1):
            near[s, r] = near[r, s] = apart(row(place, s), row(place, r))
    square = 0.5 * median(near) / np.log(S + 1.0)
    spread = square > SMALLEST  # particles that are all in one place, or a single one, have nothing to keep apart
    for s in range(S):
        for r in range(S):
            kappa[s, r] = (np.exp(-0.5 * near[s, r] / square) if spread else 1.0) / S
        if spread:
            add(-1.0 / square, row(place, s), row(gradient, s))
    project(Dense(kappa), 0, S, gradient, direction)
    for j in range(S):
        if spread:
            add(total(row(kappa, j)) / square, row(place, j), row(direction, j))


@compiled(heavy=True)
def add(by: float, place: Any, out: Any) -> None:
    """out += by place."""
    c = out.dtype.type(by)
    for m in range(out.shape[0]):
        out[m] += c * place[m]


@compiled
def total(numbers: Any) -> float:
    """Their sum; NumPy's takes a tenth of a second to compile."""
    added = 0.0
    for k in range(numbers.shape[0]):
        added += numbers[k]
    return added


@compiled(heavy=True)
def median(near: Any) -> float:
    """Median of all entries of a square matrix: Hoare's selection (NumPy's takes a second to compile)."""
    S = near.shape[0]
    values, middle = np.empty(S * S), S * S // 2
    for s in range(S):
        for r in range(S):
            values[s * S + r] = near[s, r]
    low, high = 0, S * S - 1
    while low < high:
        pivot, i, j = values[middle], low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while pivot < values[j]:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i, j = i + 1, j - 1
        low, high = i if j < middle else low, j if middle < i else high
    if S % 2 == 1:
        return float(values[middle])
    below = values[0]
    for i in range(1, middle):
        below = max(below, values[i])
    return float(0.5 * (below + values[middle]))


@compiled(flags=SUM, heavy=True)
def apart(a: Any, b: Any) -> float:
    """|a - b|^2."""
    total = 0.0
    for m in range(a.shape[0]):
        difference = np.float64(a[m] - b[m])
        total += difference * difference
    return total
