"""A budget that merges two points of a Gaussian kernel into one between them.

The sum a_i k(x_i, .) + a_j k(x_j, .) becomes a_z k(z, .) with z = h x_i + (1 - h) x_j and, kappa = k(x_i, x_j),
a_z = a_i kappa^((1 - h)^2) + a_j kappa^(h^2); h maximises m_i kappa^((1 - h)^2) + m_j kappa^(h^2), with the shares
m_i = sum_c a_ic / (a_ic + a_jc) over the classes. The squared norm lost is the sum over the classes of
a_i^2 + a_j^2 + 2 kappa a_i a_j - a_z^2.
"""

from typing import Any, NamedTuple

import numpy as np

from onkel.core.borrowed import borrowed, keep, row
from onkel.core.points import products, room_for_one, standing
from onkel.core.support import append, take_over
from onkel.core.vecmath import decay
from onkel.core.verbs import compiled, verb
from onkel.pieces.budgets.choices import TIE, Smallest
from onkel.pieces.budgets.verbs import admit, choose
from onkel.pieces.kernels import LOG2_E

STEPS = 23  # of golden section: a bracket of length 5 shrinks below 1e-4
GOLDEN = 0.6180339887498949
EQUAL = 1e-12  # relative: values that are equal by symmetry differ by rounding
UNFIT = 100.0  # in place of h: these two are not merged
NO_DENOMINATOR = 1e-4
LEAST_LOG = -1000.0  # of kappa, base 2


class Merge(NamedTuple):
    """The point with the smallest |a_i| is merged with the one that loses least. The support has a slot to spare."""

    search: Any


class GoldenSection(NamedTuple):
    """h by golden section, to 1e-4, for all partners side by side; between two maxima it may find the lower one.

    Points of opposite sign are merged too: h lies in [0, 1] for shares of equal sign, else in [1, 6] or [-5, 0].
    """


class Lookup(NamedTuple):
    """The best h from a table over share and kappa; only points with shares of equal sign are merged."""

    table: Any  # (shares from 0 to 1/2, kappas from 0 to 1)


@verb
def seek(search: Any, n: int, shares: Any, logs: Any, h: Any) -> None:
    """h[j] for merging with the point in slot j, given both shares (2, n) and log2(kappa), or UNFIT; changes shares."""


@admit.of(Merge)
def _(budget: Merge, kernel: Any, support: Any, block: Any, candidate: Any) -> bool:
    full = support.count[0] + 1 == support.sizes.shape[0]
    i = choose(Smallest(), kernel, support, candidate) if full else 0
    append(support, block, candidate)
    if full:
        merge(budget.search, kernel.gamma, support, i)
    return True


@compiled
def merge(search: Any, gamma: float, support: Any, i: int) -> None:
    """Merge the point in slot i with its best partner, or drop it when there is none; changes support."""
    n, last = support.count[0], support.count[0] - 1
    own = np.empty((4, n), support.sizes.dtype)
    work = borrowed(own)
    logs, h = row(work, 2), row(work, 3)
    log_similarities(gamma, support, i, logs)
    weigh(support, i, row(work, 0), row(work, 1))
    seek(search, n, work, logs, h)
    j = partner(support, i, logs, h)
    if j < 0:
        take_over(support, i, last)
    else:
        low, high = min(i, j), max(i, j)
        unite(support, i, j, low, h[j], logs[j])
        take_over(support, high, last)
    support.count[0] = last
    keep(own)


@compiled
def log_similarities(gamma: float, support: Any, i: int, out: Any) -> None:
    """out[j] = log2 k(x_i, x_j), from the distance: the similarity itself may be too small to have a logarithm."""
    points, sizes, real = support.points, support.sizes, support.sizes.dtype.type
    own = room_for_one(points)
    block, here = standing(points, i, borrowed(own))
    products(points, block, here, support.count[0], out)
    scale, size = real(-gamma * LOG2_E), sizes[i]
    for j in range(support.count[0]):
        out[j] = max(min(scale * (size + sizes[j] - real(2) * out[j]), real(0)), real(LEAST_LOG))
    keep(own)


@compiled
def weigh(support: Any, i: int, first: Any, second: Any) -> None:
    """The shares of point i and of each other point in their sum, over all classes."""
    real = support.coef.dtype.type
    for j in range(support.count[0]):
        first[j] = second[j] = 0
    for c in range(support.coef.shape[0]):
        a = row(support.coef, c)
        for j in range(support.count[0]):
            total = a[i] + a[j]
            total = real(NO_DENOMINATOR) if abs(total) <= real(TIE) * (abs(a[i]) + abs(a[j])) else total
            first[j] += a[i] / total
            second[j] += a[j] / total


@compiled
def value(first: Any, second: Any, log: Any, h: Any, one: Any) -> Any:
    rest = one - h
    return first * decay(rest * rest * log) + second * decay(h * h * log)


@seek.of(GoldenSection)
def _(search: GoldenSection, n: int, shares: Any, logs: Any, h: Any) -> None:
    own = np.empty((4, n), shares.dtype)
    work = borrowed(own)
    left, width, at_left, at_right = row(work, 0), row(work, 1), row(work, 2), row(work, 3)
    first, second = row(shares, 0), row(shares, 1)
    real = shares.dtype.type
    one, long, short = real(1), real(GOLDEN), real(1.0 - GOLDEN)
    for j in range(n):
        between = first[j] * second[j] > 0
        left[j] = real(0) if between else (real(1) if first[j] > 0 else real(-5))
        width[j] = real(1) if between else real(5)
        at_left[j] = value(first[j], second[j], logs[j], left[j] + short * width[j], one)
        at_right[j] = value(first[j], second[j], logs[j], left[j] + long * width[j], one)
    for _ in range(STEPS):
        for j in range(n):
            better = at_right[j] > at_left[j] + real(EQUAL) * abs(at_left[j])
            left[j] += short * width[j] if better else real(0)
            width[j] *= long
            new = value(first[j], second[j], logs[j], left[j] + (long if better else short) * width[j], one)
            kept = at_right[j] if better else at_left[j]
            at_left[j] = kept if better else new
            at_right[j] = new if better else kept
    for j in range(n):
        h[j] = left[j] + real(0.5) * width[j]
    keep(own)


@seek.of(Lookup)
def _(search: Lookup, n: int, shares: Any, logs: Any, h: Any) -> None:
    share, kappa = row(shares, 0), row(shares, 1)
    to_places(logs, share, kappa)
    for j in range(n):
        h[j] = UNFIT
        if share[j] >= 0:
            found = interpolated(search.table, min(share[j], 1.0 - share[j]), kappa[j])
            h[j] = found if share[j] <= 0.5 + TIE else 1.0 - found  # of two equal places the one near the partner


@compiled(heavy=True)
def to_places(logs: Any, first: Any, second: Any) -> None:
    """Turn two shares into places in a table: the part of the first in both, or -1 if one is negative, and kappa."""
    zero, none = first.dtype.type(0), first.dtype.type(-1)
    for j in range(logs.shape[0]):
        m, rest = first[j], second[j]
        first[j] = m / (m + rest) if (m > zero) & (rest > zero) else none
        second[j] = decay(logs[j])


@compiled
def interpolated(table: Any, share: float, kappa: float) -> float:
    """The entry at a share in [0, 1/2] and a kappa in [0, 1], bilinear."""
    x, y = 2.0 * share * (table.shape[0] - 1), kappa * (table.shape[1] - 1.0)
    i, j = min(int(x), table.shape[0] - 2), min(int(y), table.shape[1] - 2)
    u, v = x - i, y - j
    low = (1.0 - v) * table[i, j] + v * table[i, j + 1]
    high = (1.0 - v) * table[i + 1, j] + v * table[i + 1, j + 1]
    return (1.0 - u) * low + u * high


@compiled
def partner(support: Any, i: int, logs: Any, h: Any) -> int:
    """The slot that loses least when it is merged with slot i, or -1."""
    own, best, slot = np.zeros(h.shape[0]), np.inf, -1
    lost = borrowed(own)
    for c in range(support.coef.shape[0]):
        add_lost(support.coef[c, i], row(support.coef, c), logs, h, lost)
    for j in range(h.shape[0]):
        if j != i and h[j] != UNFIT and lost[j] < best:
            best, slot = lost[j], j
    keep(own)
    return slot


@compiled(heavy=True)
def add_lost(coef: Any, others: Any, logs: Any, h: Any, lost: Any) -> None:
    """Add the squared norm that a point loses with each of the others, of one class."""
    one, a = h.dtype.type(1), np.float64(coef)
    for j in range(h.shape[0]):
        b, rest = np.float64(others[j]), one - h[j]
        kappa = np.float64(decay(logs[j]))
        p, q = np.float64(decay(rest * rest * logs[j])), np.float64(decay(h[j] * h[j] * logs[j]))
        lost[j] += a * a + b * b + 2.0 * kappa * a * b - (a * p + b * q) ** 2


@compiled
def unite(support: Any, i: int, j: int, slot: int, h: float, log: float) -> None:
    """Write the point that stands for i and j into a slot, which keeps its age; changes support."""
    points, coef = support.points, support.coef
    real = points.dtype.type
    rest = real(1) - h
    size = 0.0
    for k in range(points.shape[0]):
        z = h * points[k, i] + rest * points[k, j]
        points[k, slot] = z
        size += float(z) * float(z)
    support.sizes[slot] = min(size, np.finfo(points.dtype).max)
    for c in range(coef.shape[0]):
        coef[c, slot] = coef[c, i] * decay(rest * rest * log) + coef[c, j] * decay(h * h * log)
