"""Passive-aggressive learners on a budget."""

from typing import Any

import numpy as np

from onkel.core.parameters import at_least_zero, positive
from onkel.model.online import Plan
from onkel.pieces import losses, steps
from onkel.pieces.budgets.projection import Exchange, LeastResidual
from onkel.pieces.budgets.transfer import ToCandidate, ToNeighbour
from onkel.pieces.kernels import make_kernel
from onkel.recipes.common import guarded, keep_some
from onkel.recipes.learner import recipe


@recipe(tasks=("binary", "multiclass"))
def bpa_s(
    task: str,
    budget: int = 100,
    C: float = 1.0,
    kernel: Any = "gaussian",
    gamma: Any = "scale",
    sigma: float | None = None,
) -> Plan:
    r"""Budgeted passive-aggressive learner, simple: the new row alone takes over the weight of a dropped point.

    With loss l > 0, tau = min(C, l / k_tt) (several classes: l / (2 k_tt)). When full, the point r with the smallest
    |a_r|^2 (k_rr - k_rt^2 / k_tt) goes, and the row comes in with a_r k_rt / k_tt + tau y_t: the smallest change of f
    that gives the row what it needs.

    Pieces: losses.hinge, steps.passive_aggressive (PA-I), budgets.transfer.ToCandidate.
    Tasks: binary, multiclass. Constant memory. O(B) per row.
    Differs from the paper: the rule is in closed form; the paper compares the objective of every point, which is equal.

    >>> model = bpa_s(budget=1, gamma=1.0).start(1)
    >>> model.learn([[0.0], [0.0], [0.0]], [1.0, -1.0, 1.0])[:, 0].tolist()
    [0.0, 1.0, 0.0]

    References: wang2010, lu2016
    """
    capacity, step = positive("budget", budget, integer=True), steps.passive_aggressive(positive("C", C))
    return keep_some(make_kernel(kernel, gamma, sigma), losses.hinge(), step, capacity, lambda _: ToCandidate())


@recipe(tasks=("binary",))
def bpa_nn(
    task: str,
    budget: int = 100,
    C: float = 1.0,
    kernel: Any = "gaussian",
    gamma: Any = "scale",
    sigma: float | None = None,
) -> Plan:
    r"""Budgeted passive-aggressive learner, nearest neighbour: the new row and a neighbour take over.

    As `bpa_s`, but the weight of a dropped point r goes to V = {x_t, the point nearest to x_r}: the point with the
    smallest a_r^2 rho_r goes, rho_r = k_rr - k_r^T K_V^-1 k_r, and V gets a_r K_V^-1 k_r.

    Pieces: losses.hinge, steps.passive_aggressive (PA-I), budgets.transfer.ToNeighbour.
    Tasks: binary; several classes through `one_vs_rest`. Constant memory. O(B) per row, but for neighbours that must
    be found anew.
    Differs from the paper: closed form, as in `bpa_s`; where row and neighbour are as good as equal, the row alone
    takes over.

    >>> model = bpa_nn(budget=1, gamma=1.0).start(1)
    >>> model.learn([[0.0], [0.0], [0.0]], [1.0, -1.0, 1.0])[:, 0].tolist()
    [0.0, 1.0, 0.0]

    References: wang2010
    """
    capacity, step = positive("budget", budget, integer=True), steps.passive_aggressive(positive("C", C))

    def empty(_: Any) -> ToNeighbour:
        return ToNeighbour(np.zeros((capacity, capacity)), np.zeros(capacity, np.int64))

    return keep_some(make_kernel(kernel, gamma, sigma), losses.hinge(), step, capacity, empty)


@recipe(tasks=("binary",))
def bpa_p(
    task: str,
    budget: int = 100,
    C: float = 1.0,
    guard: float = 1e-6,
    kernel: Any = "gaussian",
    gamma: Any = "scale",
    sigma: float | None = None,
) -> Plan:
    r"""Budgeted passive-aggressive learner, projection: all points take over the weight of a dropped one.

    As `bpa_s`, with V the new row and all other points: rho_r = 1 / [K^-1]_rr over the B + 1 points together, so one
    inverse, kept up to date, gives every rho_r.

    Pieces: losses.hinge, steps.passive_aggressive (PA-I), budgets.projection.Exchange with LeastResidual.
    Tasks: binary; several classes through `one_vs_rest`. Constant memory. O(B^2) per row instead of the paper's O(B^3).
    Differs from the paper: rows with a squared distance from the span of at most `guard` * k(x_t, x_t) are projected
    on it (in single precision the guard is at least 1e-4).

    >>> model = bpa_p(budget=1, gamma=1.0).start(1)
    >>> model.learn([[0.0], [0.0], [0.0]], [1.0, -1.0, 1.0])[:, 0].tolist()
    [0.0, 1.0, 0.0]

    References: wang2010
    """
    capacity, step = positive("budget", budget, integer=True), steps.passive_aggressive(positive("C", C))
    least = at_least_zero("guard", guard)
    return keep_some(
        make_kernel(kernel, gamma, sigma), losses.hinge(), step, capacity,
        lambda setting: Exchange(LeastResidual(), guarded(capacity, least, setting)),
    )  # fmt: skip
