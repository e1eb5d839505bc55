"""Gradient descent in function space, on a budget."""

from typing import Any

from onkel.core.parameters import one_of, positive
from onkel.core.randomness import generator
from onkel.model.online import Plan, Setting
from onkel.pieces import losses, steps
from onkel.pieces.budgets.removal import Proportional, Remove, Unbiased
from onkel.pieces.kernels import make_kernel
from onkel.recipes.common import at_random, by_task, keep_some, oldest, step_size, tube
from onkel.recipes.learner import recipe


@recipe
def bogd(
    task: str,
    budget: int = 100,
    eta: float | None = None,
    lam: float = 1e-8,
    clip: float = 10.0,
    removal: str = "random",
    epsilon: float = 0.1,
    kernel: Any = "gaussian",
    gamma: Any = "scale",
    sigma: float | None = None,
) -> Plan:
    r"""Budgeted online gradient descent: a random point goes, the others grow so that the expected f stays.

    f_{t+1} = (1 - eta lam) f_t - eta l'(f_t(x_t), y_t) k(x_t, .), for classification where m <= 1. When full, a point
    goes with probability 1 / B and the others are multiplied by B / (B - 1); then all coefficients shrink together
    until none is larger than eta * `clip`.

    Pieces: losses.closed_hinge (squared outside epsilon for regression), steps.constant, budgets.removal.Unbiased with
    choices.Random, or Remove with choices.Oldest.
    Tasks: binary, multiclass, regression. Constant memory.
    Differs from the paper: coefficients are clipped together, as in the code of Lu et al., which keeps their
    proportions; the paper clips each. `removal="oldest"` drops the oldest point and neither grows nor clips the others:
    what that code does for several classes and regression. `eta` is 0.2 for binary labels, 0.5 for several classes,
    0.1 for regression unless given.

    >>> model = bogd(budget=1, eta=0.5, lam=0.0, gamma=1.0).start(1)
    >>> model.learn([[0.0], [0.0], [0.0]], [1.0, -1.0, 1.0])[:, 0].tolist()
    [0.0, 0.5, -0.5]

    References: zhao2012, lu2016
    """
    capacity = positive("budget", budget, integer=True)
    rate, penalty = step_size(by_task(task, 0.2, 0.5, 0.1) if eta is None else eta, lam)
    limit, width = rate * positive("clip", clip), tube(epsilon)
    random = one_of("removal", removal, ("random", "oldest")) == "random"
    loss = losses.squared(width) if task == "regression" else losses.closed_hinge()

    def empty(setting: Setting) -> Any:
        return Unbiased(at_random(setting), limit) if random else Remove(oldest())

    return keep_some(make_kernel(kernel, gamma, sigma), loss, steps.constant(rate, penalty), capacity, empty)


@recipe(tasks=("binary",))
def bogd_pp(
    task: str,
    budget: int = 100,
    eta: float = 0.2,
    lam: float = 1e-8,
    clip: float = 10.0,
    kernel: Any = "gaussian",
    gamma: Any = "scale",
    sigma: float | None = None,
) -> Plan:
    r"""BOGD++: budgeted gradient descent that rather drops points with small coefficients.

    As `bogd`, but point i goes with probability p_i = (1 - |a_i| sqrt(k_ii) / sum_j |a_j| sqrt(k_jj)) / (B - 1), and
    those that stay are divided by 1 - p_i.

    Pieces: losses.closed_hinge, steps.constant, budgets.removal.Proportional.
    Tasks: binary; several classes through `one_vs_rest`. Constant memory.
    Differs from the paper: coefficients are clipped together, as in `bogd`.

    >>> model = bogd_pp(budget=1, eta=0.5, lam=0.0, gamma=1.0).start(1)
    >>> model.learn([[0.0], [0.0], [0.0]], [1.0, -1.0, 1.0])[:, 0].tolist()
    [0.0, 0.5, -0.5]

    References: zhao2012
    """
    capacity = positive("budget", budget, integer=True)
    rate, penalty = step_size(eta, lam)
    limit = rate * positive("clip", clip)
    return keep_some(
        make_kernel(kernel, gamma, sigma), losses.closed_hinge(), steps.constant(rate, penalty), capacity,
        lambda setting: Proportional(limit, generator(setting.seed)),
    )  # fmt: skip
