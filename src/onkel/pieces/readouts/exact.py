"""Recursive least squares on some of the features: the exact minimiser of an exponentially weighted squared error."""

from typing import Any, NamedTuple

import numpy as np

from onkel.core.borrowed import row
from onkel.core.checking import as_found, free
from onkel.core.growing import placed
from onkel.core.ranges import contradiction
from onkel.core.rows import Dense, dot, entry, extent, project_row
from onkel.core.verbs import compiled, verb

LOOSE = 1e6  # times the largest entry that an inverse can have but for rounding


class Absent(NamedTuple):
    """No such readout."""

    none: float = 0.0


@free("weights", "inverse", axes=2)
class LeastSquares(NamedTuple):
    """f = weights . n(x), n = [cosines and sines of the first `frequencies`] / sqrt(frequencies), then x / |x| and 1.

    A is the inverse of lambda I plus the weighted sum of n n^T; `forget` is the weight of the row before.
    """

    forget: float
    ridge: float
    frequencies: int
    columns: int  # d + 1 where the row itself and a constant are among the features, else 0
    weights: Any  # (m,)
    inverse: Any  # (m, m): A


@contradiction.register
def _(readout: LeastSquares) -> str:
    A = readout.inverse  # whose diagonal `solve` holds below 1 / ridge
    right = np.array_equal(A, A.T) and (np.diag(A) >= 0.0).all() and np.abs(A).max() * readout.ridge < LOOSE
    return "" if right else "its inverse is none"


def least_squares(n_features: int, n_frequencies: int, forget: float, ridge: float) -> LeastSquares:
    """A readout that knows nothing yet; its cost, the square of its size, is about that of the map."""
    size = min(max(int(np.sqrt(n_features * n_frequencies)), 32), 256, 2 * n_frequencies)
    columns = n_features + 1 if n_features + 1 <= size else 0
    frequencies = min((size - columns) // 2, n_frequencies)
    m = 2 * frequencies + columns
    return LeastSquares(forget, ridge, frequencies, columns, np.zeros(m), np.eye(m) / ridge)


@verb
def size(readout: Any) -> int:
    """Number of features of the readout, 0 where there is none."""


@verb
def look(readout: Any, block: Any, i: int, unit: float, features: Any, own: Any, scores: Any) -> None:
    """Write the features of this readout, and its score into the last of `scores`, if there is one."""


@verb
def pull_exact(readout: Any, slope: float, features: Any, gradient: Any) -> None:
    """Add to the gradient of the phases."""


@verb
def solve(readout: Any, slope: float, importance: float, own: Any, gain: Any) -> None:
    """Take in a row whose score was wrong by `slope`; changes readout, writes gain."""


@size.of(Absent)
def _(readout: Absent) -> int:
    return 0


@look.of(Absent)
def _(readout: Absent, block: Any, i: int, unit: float, features: Any, own: Any, scores: Any) -> None:
    pass


@pull_exact.of(Absent)
def _(readout: Absent, slope: float, features: Any, gradient: Any) -> None:
    pass


@solve.of(Absent)
def _(readout: Absent, slope: float, importance: float, own: Any, gain: Any) -> None:
    pass


@size.of(LeastSquares)
def _(readout: LeastSquares) -> int:
    return readout.weights.shape[0]


@look.of(LeastSquares)
def _(readout: LeastSquares, block: Any, i: int, unit: float, features: Any, own: Any, scores: Any) -> None:
    n, D = readout.frequencies, features.shape[0] // 2
    scale = 1.0 / np.sqrt(max(n, 1))
    for k in range(n):
        own[k] = scale * features[k]
        own[n + k] = scale * features[D + k]
    if readout.columns > 0:
        for k in range(2 * n, own.shape[0]):
            own[k] = 0.0
        first, last = extent(block, i)
        for p in range(first, last):
            j, x = entry(block, i, p)
            own[2 * n + j] = unit * x
        own[own.shape[0] - 1] = 1.0
    scores[scores.shape[0] - 1, 0] = dot(readout.weights, own, own.shape[0])


@pull_exact.of(LeastSquares)
def _(readout: LeastSquares, slope: float, features: Any, gradient: Any) -> None:
    n, D = readout.frequencies, features.shape[0] // 2
    c = slope / np.sqrt(max(n, 1))
    for k in range(n):
        gradient[k] += c * (readout.weights[n + k] * features[k] - readout.weights[k] * features[D + k])


@solve.of(LeastSquares)
def _(readout: LeastSquares, slope: float, importance: float, own: Any, gain: Any) -> None:
    m, A = own.shape[0], readout.inverse
    project_row(Dense(own.reshape((1, m))), 0, A, m, gain)
    least = readout.forget / importance
    total = least + dot(own, gain, m)
    if total < least:  # rounding has spoilt A
        begin_anew(A, m, 1.0 / readout.ridge)
        total = np.inf
    root = np.sqrt(1.0 / (total * readout.forget))
    for k in range(m):
        readout.weights[k] -= slope * gain[k] / total
        gain[k] *= root
    take_off(A, m, gain, 1.0 / readout.forget)
    for k in range(m):  # forgetting lets directions that never come grow without bound
        if A[k, k] < 0.0:  # spoilt, too, though this row did not show it
            begin_anew(A, m, 1.0 / readout.ridge)
        elif A[k, k] * readout.ridge > 1.0:
            shorten(A, m, k, np.sqrt(1.0 / (readout.ridge * A[k, k])))


@compiled(heavy=True)
def take_off(A: Any, m: int, v: Any, growth: float) -> None:
    """A = growth A - v v^T, which keeps it symmetric to the last bit; changes A."""
    for i in range(m):
        line, c = row(A, i), v[i]
        for j in range(m):
            line[j] = growth * line[j] - c * v[j]


@compiled
def begin_anew(A: Any, m: int, start: float) -> None:
    """A = start I; changes A."""
    for i in range(m):
        for j in range(m):
            A[i, j] = start if i == j else 0.0


@compiled
def shorten(A: Any, m: int, k: int, factor: float) -> None:
    """Multiply row and column k; changes A."""
    for j in range(m):
        A[k, j] *= factor
    for j in range(m):
        A[j, k] *= factor


@as_found.register
def _(expected: LeastSquares, found: Any, ruled: bool) -> Any:
    grown = type(found.frequencies) is int  # as many as before new columns came
    return expected._replace(frequencies=found.frequencies) if grown else expected


@placed.register
def _(old: LeastSquares, fresh: Any, width: int) -> LeastSquares:
    """New columns come before the constant. Where rows become too wide to be among the features, it begins anew."""
    if old.columns == 0 or fresh.columns == 0:
        return old if old.columns == 0 else fresh
    size = 2 * old.frequencies + fresh.columns
    kept = np.append(np.arange(len(old.weights) - 1), size - 1)
    weights, inverse = np.zeros(size), np.eye(size) / old.ridge
    weights[kept], inverse[np.ix_(kept, kept)] = old.weights, old.inverse
    return old._replace(columns=fresh.columns, weights=weights, inverse=inverse)


def graph_solved(exact: LeastSquares, g: Any, x: str, z: str, unit: float, D: int) -> str:
    """The score as nodes of an ONNX graph, of the first cosines and sines, the row and a constant."""
    n, weights = exact.frequencies, exact.weights
    first = g.cast(g("Gather", z, np.r_[0:n, D : D + n], axis=1), np.float64)
    found = g.product(first, weights[None, : 2 * n] / np.sqrt(max(n, 1)))
    if exact.columns == 0:
        return str(found)
    by_row = g.product(g.cast(x, np.float64), weights[None, 2 * n : -1], unit)
    return str(g("Add", g("Add", found, by_row), np.float64(weights[-1])))
