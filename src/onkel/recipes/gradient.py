"""Gradient descent in function space, without a budget."""

from typing import Any

import numpy as np

from onkel.core.parameters import is_number
from onkel.model.online import Plan
from onkel.pieces import losses, steps
from onkel.pieces.kernels import make_kernel
from onkel.recipes.common import by_task, keep_all, make_loss, make_step, step_size
from onkel.recipes.learner import recipe


@recipe
def ogd(
    task: str,
    eta: float | None = None,
    lam: float = 0.0,
    loss: Any = None,
    epsilon: float = 0.1,
    step: Any = "constant",
    kernel: Any = "gaussian",
    gamma: Any = "scale",
    sigma: float | None = None,
) -> Plan:
    r"""Online gradient descent with a kernel.

    f_{t+1} = (1 - eta lam) f_t - eta l'(f_t(x_t), y_t) k(x_t, .).

    Pieces: losses.hinge (squared outside epsilon for regression) or another, budgets.appending.Unbounded, and a step:
    constant, inverse_sqrt (eta / sqrt(t)) or inverse_time (1 / (lam t), which is Pegasos; eta is not used then).
    Tasks: binary, multiclass, regression. Memory grows with the number of rows that have a slope.
    `eta` is 0.2 for binary labels, 0.5 for several classes, 0.1 for regression unless given.
    Differs from the paper: the squared loss is halved, as in the authors' code, and rows within epsilon are left alone.

    >>> ogd(eta=0.5, gamma=1.0).start(1).learn([[0.0], [0.0]], [1.0, 1.0])[:, 0].tolist()
    [0.0, 0.5]

    References: kivinen2004, lu2016
    """
    rule = make_step(step, by_task(task, 0.2, 0.5, 0.1) if eta is None else eta, lam)
    return keep_all(make_kernel(kernel, gamma, sigma), make_loss(task, loss, epsilon), rule)


@recipe
def norma(
    task: str,
    eta: float = 0.03,
    lam: float = 0.03,
    nu: float = 0.4,
    start: float | None = None,
    bias: bool | None = None,
    published: bool = False,
    kernel: Any = "gaussian",
    gamma: Any = "scale",
    sigma: float | None = None,
) -> Plan:
    r"""NORMA: gradient descent whose margin, or tube, moves so that a share nu of the rows falls short of it.

    Classification: loss max(0, rho - m) - nu rho, f_{t+1} = (1 - eta lam) f_t + eta y_t k(x_t, .) and b += eta y_t
    where m <= rho. Regression: loss max(0, |y - f| - epsilon) + nu epsilon. `start` is the first rho (0) or
    epsilon (0.1); `bias` adds b (by default for classification).

    Pieces: losses.AdaptiveMargin or AdaptiveTube, steps.constant, budgets.appending.Unbounded.
    Tasks: binary, multiclass (ours), regression. Memory grows with the number of rows outside.
    Differs from the paper: the printed rule rho += eta ([m <= rho] - nu) climbs the loss instead of descending it, and
    rho runs away; we use rho += eta (nu - [m <= rho]). The authors of the comparison let epsilon become negative, after
    which every row is kept; we stop at 0. `published=True` gives the printed forms of both.

    >>> norma(eta=0.5, gamma=1.0).start(1).learn([[0.0], [0.0]], [1.0, 1.0])[:, 0].round(6).tolist()
    [0.0, 1.0]

    References: kivinen2004
    """
    rate, penalty = step_size(eta, lam)
    if not (is_number(nu) and 0.0 < nu < 1.0):
        raise ValueError(f"nu must lie between 0 and 1, not {nu!r}.")
    if not (start is None or is_number(start)):
        raise ValueError(f"start must be a finite number, not {start!r}.")
    regression = task == "regression"
    first = np.array([(0.1 if regression else 0.0) if start is None else start])
    loss = (
        losses.AdaptiveTube(nu, rate, -np.inf if published else 0.0, first)
        if regression
        else losses.AdaptiveMargin(nu, rate, -1.0 if published else 1.0, first)
    )
    offset_rate = rate if (not regression if bias is None else bias) else 0.0
    return keep_all(make_kernel(kernel, gamma, sigma), loss, steps.constant(rate, penalty), offset_rate)
