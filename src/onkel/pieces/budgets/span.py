"""The span of the support's images: Gram matrix K and its inverse A, kept up to date in O(B^2) per change.

An error E of A would be magnified by every change that is computed from A alone. So each solution x of K x = b that
enters a change is refined first, x <- x + A (b - K x), until K x = b but for rounding: E itself is then never
magnified. Besides, each change renews one column of A that way, the next one each time: no error lives for long.
That the refinement succeeds is owed to the guard, which keeps the points apart.
"""

from typing import Any, NamedTuple

import numpy as np

from onkel.core.borrowed import borrowed, keep, row
from onkel.core.ranges import COUNT, contradiction, limits
from onkel.core.rows import Dense, aligned_zeros, dot, project_row
from onkel.core.verbs import compiled, known
from onkel.pieces.budgets.neighbours import note

REFINEMENTS = 4
FINE, COARSE = 1e-13, 1e-9  # remainders of K x = b: as good as rounding allows, and too bad to go on


@known
@limits(turn=COUNT)
class Span(NamedTuple):
    """K and A = K^-1 over the first points of a support, in the order of their slots.

    The squared distance of each point j from the span of the others is at least guard * k_jj, so that A stays well
    conditioned: a candidate that would come nearer, or make a point come nearer, counts as lying in the span.
    """

    guard: float
    gram: Any  # (B, B)
    inverse: Any  # (B, B)
    turn: Any  # (1,): the column that is renewed next


@contradiction.register
def _(span: Span) -> str:
    return "" if span.turn[0] <= len(span.gram) else "the next column is beyond the last"


class Projection(NamedTuple):
    """Where the image of a candidate falls on the span: sum_j direction_j phi(x_j), at `distance` from it (squared)."""

    direction: Any  # (B,)
    inside: float  # squared length of the projection
    distance: float


def empty_span(capacity: int, guard: float) -> Span:
    """The span of nothing, with room for that many points."""
    square = capacity, capacity
    return Span(guard, aligned_zeros(square, np.float64), aligned_zeros(square, np.float64), np.zeros(1, np.int64))


@compiled
def projected(inverse: Any, n: int, candidate: Any, direction: Any) -> Any:
    """Project a candidate on the span of the first n points; writes direction.

    A k, read as a row k times the symmetric matrix A: the same loop as for products of rows and points.
    """
    similar = candidate.similar
    project_row(Dense(similar[:n].reshape((1, n))), 0, inverse, n, direction)
    inside = dot(direction, similar, n)
    return Projection(direction, inside, max(candidate.self_similarity - inside, 0.0))


@compiled
def refined(span: Any, n: int, candidate: Any, projection: Any) -> Any:
    """The same as exactly as rounding allows, with distance 0 where that fails; changes its direction."""
    d = projection.direction
    solved = solve(span.gram, span.inverse, n, candidate.similar, d)
    inside = dot(d, candidate.similar, n)
    return Projection(d, inside, max(candidate.self_similarity - inside, 0.0) if solved else 0.0)


@compiled
def crowded(span: Any, n: int, alike: float, projection: Any) -> bool:
    """Whether a candidate comes too near to the span of the points, or a point to that of the others with it."""
    d, distance = projection.direction, projection.distance
    near = distance <= span.guard * alike
    for j in range(n):  # the squared distance of point j is 1 / (A_jj + d_j^2 / distance)
        near = near or span.guard * span.gram[j, j] * (span.inverse[j, j] * distance + d[j] * d[j]) >= distance
    return near


@compiled(heavy=True)
def solve(gram: Any, inverse: Any, n: int, wanted: Any, x: Any) -> bool:
    """Refine a solution x of K x = wanted; changes x. Whether it succeeded."""
    own = np.empty(n)
    rest, worst, size = borrowed(own), np.inf, 0.0
    for i in range(n):
        size = max(size, abs(float(wanted[i])))
    for _ in range(REFINEMENTS):
        if worst > FINE * size:
            worst = 0.0
            for i in range(n):
                rest[i] = wanted[i] - dot(row(gram, i), x, n)
                worst = max(worst, abs(rest[i]))
            for i in range(n):
                x[i] += dot(row(inverse, i), rest, n)
    keep(own)
    return worst <= COARSE * size


@compiled
def column(span: Any, n: int, j: int, unit: Any, out: Any) -> bool:
    """Column j of the inverse, refined; writes unit and out. Whether it succeeded."""
    for i in range(n):
        unit[i], out[i] = 0.0, span.inverse[j, i]
    unit[j] = 1.0
    return solve(span.gram, span.inverse, n, unit, out)


@compiled
def extend(span: Any, n: int, candidate: Any, projection: Any) -> None:
    """Add a candidate, whose projection is refined, as point n; changes span and projection."""
    A, direction = span.inverse, projection.direction
    direction[n] = -1.0
    for i in range(n + 1):
        A[i, n] = A[n, i] = 0.0
    add_outer(A, n + 1, direction, 1.0 / projection.distance)
    note(span.gram, n, n, candidate.similar, candidate.self_similarity)


@compiled
def exchange(span: Any, n: int, slot: int, candidate: Any, projection: Any, leaver: Any) -> float:
    """Put a candidate, whose projection is refined, in the place of a point; changes span and projection.

    Of the n + 1 points together the inverse is [A 0; 0 0] + u u^T / distance, u = (direction, -1), and without point
    r it is that minus v v^T / v_r, v being its column r. Takes the refined column r of A in `leaver`, leaves v in it,
    with the candidate's entry in place of r's, and returns v_r: the image of r projected on all others is -v / v_r.
    """
    A, direction, distance = span.inverse, projection.direction, projection.distance
    factor = direction[slot] / distance
    own = leaver[slot] + direction[slot] * factor
    for i in range(n):
        leaver[i] += direction[i] * factor
    leaver[slot], direction[slot] = -factor, -1.0
    for i in range(n):
        A[i, slot] = A[slot, i] = 0.0
    add_outer(A, n, direction, 1.0 / distance)
    add_outer(A, n, leaver, -1.0 / own)
    note(span.gram, n, slot, candidate.similar, candidate.self_similarity)
    return own


@compiled(heavy=True)
def add_outer(A: Any, n: int, v: Any, factor: float) -> None:
    """A += factor v v^T; changes A."""
    for i in range(n):
        line, c = row(A, i), factor * v[i]
        for j in range(n):
            line[j] += c * v[j]


@compiled
def renew(span: Any, n: int, unit: Any, x: Any) -> None:
    """Refine the column of the inverse whose turn it is; changes span, writes unit and x."""
    j = span.turn[0] % n
    if column(span, n, j, unit, x):
        for i in range(n):
            span.inverse[i, j] = span.inverse[j, i] = x[i]
    span.turn[0] = j + 1
