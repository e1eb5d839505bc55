"""Perceptrons on a budget that drop points."""

from typing import Any

import numpy as np

from onkel.core.parameters import at_least_zero, one_of, positive
from onkel.model.online import Plan
from onkel.pieces import losses, steps
from onkel.pieces.budgets.forgetting import Fade
from onkel.pieces.budgets.leaving import DropBest
from onkel.pieces.budgets.removal import Remove
from onkel.pieces.kernels import make_kernel
from onkel.recipes.common import at_random, by_task, keep_some, mistakes_only, oldest
from onkel.recipes.learner import recipe


@recipe(tasks=("binary",))
def budget_perceptron(
    task: str,
    budget: int = 100,
    beta: float = 0.0,
    kernel: Any = "gaussian",
    gamma: Any = "scale",
    sigma: float | None = None,
) -> Plan:
    r"""Budget perceptron: when full, the point that is classified best without itself goes.

    Where y_t f_t(x_t) <= beta, f_{t+1} = f_t + y_t k(x_t, .); with more than B points the one with the largest
    y_i (f(x_i) - a_i k(x_i, x_i)) goes, the new one included.

    Pieces: losses.closed_hinge, steps.constant, budgets.leaving.DropBest.
    Tasks: binary; several classes through `one_vs_rest`. Constant memory.
    Differs from the paper: the size is fixed, as in the comparisons of later papers; the original drops every point
    with a margin above beta.

    >>> model = budget_perceptron(budget=1, gamma=1.0).start(1)
    >>> model.learn([[0.0], [0.0], [0.0]], [1.0, -1.0, 1.0])[:, 0].tolist()
    [0.0, 1.0, -1.0]

    References: crammer2003
    """
    capacity, wanted = positive("budget", budget, integer=True), at_least_zero("beta", beta)

    def empty(_: Any) -> DropBest:
        return DropBest(np.zeros((capacity, capacity)), np.zeros(capacity))

    made = make_kernel(kernel, gamma, sigma)
    return keep_some(made, losses.closed_hinge(wanted), steps.constant(1.0), capacity, empty)


@recipe
def rbp(
    task: str,
    budget: int = 100,
    eta: float | None = None,
    epsilon: float = 0.1,
    kernel: Any = "gaussian",
    gamma: Any = "scale",
    sigma: float | None = None,
) -> Plan:
    r"""Random budget perceptron: when full, a random old point makes room for the new one.

    On a mistake, f_{t+1} = f_t - a_r k(x_r, .) + eta y_t k(x_t, .), r uniform over the B points.

    Pieces: losses.perceptron (epsilon_insensitive for regression), steps.constant, budgets.removal.Remove with
    choices.Random.
    Tasks: binary, multiclass, regression. Constant memory.
    Differs from the paper: several classes and regression are those of the comparison by Lu et al.; `eta` is 1 for
    classification and 0.1 for regression unless given.

    >>> model = rbp(budget=1, gamma=1.0).start(1)
    >>> model.learn([[0.0], [0.0], [0.0]], [-1.0, 1.0, 1.0])[:, 0].tolist()
    [0.0, -1.0, 1.0]

    References: cavallanti2007, lu2016
    """
    capacity = positive("budget", budget, integer=True)
    rate = positive("eta", by_task(task, 1.0, 1.0, 0.1) if eta is None else eta)
    made, loss = make_kernel(kernel, gamma, sigma), mistakes_only(task, epsilon)
    return keep_some(made, loss, steps.constant(rate), capacity, lambda setting: Remove(at_random(setting)))


@recipe
def forgetron(
    task: str,
    budget: int = 100,
    eta: float | None = None,
    epsilon: float = 0.1,
    root: str = "exact",
    kernel: Any = "gaussian",
    gamma: Any = "scale",
    sigma: float | None = None,
) -> Plan:
    r"""Forgetron, self-tuned: all points fade until the oldest can be dropped with little damage.

    On a mistake (y_t f_t(x_t) <= 0) the row is added; with more than B points f_{t+1} = phi f, then the oldest
    point r goes. phi is the largest number in (0, 1] with Q + (delta phi)^2 + 2 delta phi (1 - phi mu) <= 15/32 M,
    where delta = |a_r|, mu = y_r f(x_r), Q is the sum of these terms so far and M the number of mistakes.

    Pieces: losses.closed_hinge(0) (perceptron for several classes, epsilon_insensitive for regression),
    steps.constant, budgets.forgetting.Fade.
    Tasks: binary, multiclass, regression. Constant memory.
    Differs from the paper: nothing for binary labels; the others are those of the comparison by Lu et al. Their code
    takes the wrong root of the quadratic where (delta^2 - 2 delta mu) < 0, so that phi > 1 and the model grows:
    `root="published"` does so too. `eta` is 1 for classification and 0.1 for regression unless given.

    >>> model = forgetron(budget=1, gamma=1.0).start(1)
    >>> model.learn([[0.0], [0.0], [0.0]], [-1.0, 1.0, 1.0])[:2, 0].tolist()
    [0.0, -1.0]

    References: dekel2005, lu2016
    """
    capacity = positive("budget", budget, integer=True)
    rate = positive("eta", by_task(task, 1.0, 1.0, 0.1) if eta is None else eta)
    largest = np.inf if one_of("root", root, ("exact", "published")) == "published" else 1.0
    other = mistakes_only(task, epsilon)
    loss = losses.closed_hinge(0.0) if task == "binary" else other

    def empty(_: Any) -> Fade:
        return Fade(oldest(), task == "regression", largest, np.zeros(1), np.zeros(1, np.int64))

    return keep_some(make_kernel(kernel, gamma, sigma), loss, steps.constant(rate), capacity, empty)
