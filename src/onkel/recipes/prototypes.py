"""Support vector machines on prototypes."""

from typing import Any

import numpy as np

from onkel.core.parameters import at_least_zero, positive
from onkel.model.online import Plan, Setting
from onkel.pieces import losses, steps
from onkel.pieces.budgets.prototypes import Prototypes
from onkel.pieces.kernels import make_kernel
from onkel.recipes.common import keep_some, narrow
from onkel.recipes.learner import recipe


@recipe(tasks=("binary",))
def tvm(
    task: str,
    budget: int = 100,
    C: float = 1.0,
    band: float = 1.0,
    far: float = 2.0,
    sweeps: int = 10,
    kernel: Any = "gaussian",
    gamma: Any = "scale",
    sigma: float | None = None,
) -> Plan:
    r"""Twin vector machine: a support vector machine on prototypes that stand for rows of both classes.

    Prototype j counts s+_j positive and s-_j negative rows, and f minimises
    1/2 |f|^2 + C sum_j [s+_j max(0, 1 - f(x_j)) + s-_j max(0, 1 + f(x_j))]. A row with y_t f(x_t) <= `band` becomes a
    prototype. One too many: the one with the largest |f(x_j)| goes if that exceeds `far`, else the two closest become
    their weighted mean, with all that they count.

    Pieces: losses.closed_hinge, steps.constant, budgets.prototypes.Prototypes.
    Tasks: binary; several classes through `one_vs_rest`. Constant memory. O(B^2) per sweep.
    Differs from the paper: the solution is restored by at most `sweeps` sweeps of coordinate descent in the dual,
    from the last solution on, instead of incremental and decremental steps; "closest" is meant in feature space, which
    for Gaussian kernels is the same as in input space.

    >>> model = tvm(budget=1, gamma=1.0).start(1)
    >>> model.learn([[0.0], [0.0], [0.0]], [1.0, 1.0, -1.0])[:, 0].round(6).tolist()
    [0.0, 1.0, 1.0]

    References: wang2009
    """
    capacity = positive("budget", budget, integer=True) + 1
    cost, count = positive("C", C), positive("sweeps", sweeps, integer=True)
    wanted, outside = at_least_zero("band", band), at_least_zero("far", far)

    def empty(setting: Setting) -> Prototypes:
        narrow("tvm", setting)
        weights, values, gram = np.zeros((2, capacity)), np.zeros(capacity), np.zeros((capacity, capacity))
        return Prototypes(cost, outside, count, weights, weights.copy(), values, gram)

    made = make_kernel(kernel, gamma, sigma)
    return keep_some(made, losses.closed_hinge(wanted), steps.constant(1.0), capacity, empty)
