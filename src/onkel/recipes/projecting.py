"""Perceptrons on a budget that project new rows on the span of the points they keep."""

from math import log, sqrt
from typing import Any

from onkel.core.parameters import at_least_zero, positive
from onkel.model.online import Plan
from onkel.pieces import losses, steps
from onkel.pieces.budgets.projection import Project, ProjectMargin
from onkel.pieces.kernels import make_kernel
from onkel.recipes.common import by_task, guarded, keep_some, mistakes_only
from onkel.recipes.learner import recipe


@recipe
def projectron(
    task: str,
    budget: int = 100,
    eta: float | None = None,
    epsilon: float = 0.1,
    threshold: float = 0.0,
    guard: float = 1e-6,
    kernel: Any = "gaussian",
    gamma: Any = "scale",
    sigma: float | None = None,
) -> Plan:
    r"""Projectron: a perceptron whose updates are projected on the span of the points it keeps.

    On a mistake, with d = K^-1 k_t and delta^2 = k(x_t, x_t) - k_t . d, the squared distance of the row's image from
    the span: f_{t+1} = f_t + eta y_t sum_i d_i k(x_i, .) where delta^2 <= `threshold` or B points are kept already,
    else the row itself is added.

    Pieces: losses.perceptron (epsilon_insensitive for regression), steps.constant, budgets.projection.Project.
    Tasks: binary, multiclass, regression. Constant memory. O(B^2) per mistake.
    Differs from the paper: it has a threshold and no budget, the comparison by Lu et al. a budget and no threshold;
    both are here. A row that comes nearer to the span than delta^2 = `guard` * k(x_t, x_t), or brings one of the points
    so near to the others, is always projected (in single precision the guard is at least 1e-4): without it, rows that
    occur twice ruin the inverse. `eta` is 1 for classification and 0.1 for regression unless given.

    >>> model = projectron(budget=1, gamma=1.0).start(1)
    >>> model.learn([[0.0], [0.0], [0.0]], [-1.0, 1.0, 1.0])[:, 0].tolist()
    [0.0, -1.0, 0.0]

    References: orabona2009, lu2016
    """
    capacity, least = positive("budget", budget, integer=True), at_least_zero("guard", guard)
    near = at_least_zero("threshold", threshold)
    rate = positive("eta", by_task(task, 1.0, 1.0, 0.1) if eta is None else eta)
    made, loss = make_kernel(kernel, gamma, sigma), mistakes_only(task, epsilon)
    return keep_some(
        made, loss, steps.constant(rate), capacity,
        lambda setting: Project(near, guarded(capacity, least, setting)),
    )  # fmt: skip


@recipe(tasks=("binary", "multiclass"))
def projectron_pp(
    task: str,
    budget: int = 100,
    threshold: float = 0.0,
    guard: float = 1e-6,
    kernel: Any = "gaussian",
    gamma: Any = "scale",
    sigma: float | None = None,
) -> Plan:
    r"""Projectron++: a Projectron that also learns from correct rows with a margin below 1.

    On a mistake as `projectron`. On a correct row with 0 < l < 1, l = 1 - y_t f_t(x_t), and P = k_t . d the squared
    length of the row's projection: tau = min(l / P, 1), f_{t+1} = f_t + tau y_t sum_i d_i k(x_i, .), if
    tau (2 l - tau P - 2 U delta) >= 0 with U = 1/4 sqrt((B + 1) / ln(B + 1)).

    Pieces: losses.hinge, steps.constant, budgets.projection.ProjectMargin.
    Tasks: binary, multiclass. Constant memory. O(B^2) per row with a loss.
    Differs from the paper: the condition is the one of the comparison by Lu et al., for a fixed budget. Guarded as
    `projectron` is.

    >>> model = projectron_pp(budget=1, gamma=1.0).start(1)
    >>> model.learn([[0.0], [0.0], [0.0]], [-1.0, 1.0, 1.0])[:, 0].tolist()
    [0.0, -1.0, 0.0]

    References: orabona2009, lu2016
    """
    capacity, least = positive("budget", budget, integer=True), at_least_zero("guard", guard)
    near, caution = at_least_zero("threshold", threshold), 0.25 * sqrt((capacity + 1) / log(capacity + 1))
    return keep_some(
        make_kernel(kernel, gamma, sigma), losses.hinge(), steps.constant(1.0), capacity,
        lambda setting: ProjectMargin(near, caution, guarded(capacity, least, setting)),
    )  # fmt: skip
