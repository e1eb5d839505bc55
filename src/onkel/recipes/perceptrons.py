"""Learners that correct just what is wrong: the perceptron and its passive-aggressive relatives."""

from typing import Any

from onkel.core.parameters import positive
from onkel.model.online import Plan
from onkel.pieces import losses, steps
from onkel.pieces.kernels import make_kernel
from onkel.recipes.common import by_task, keep_all, mistakes_only, tube
from onkel.recipes.learner import recipe


@recipe
def perceptron(
    task: str,
    eta: float | None = None,
    epsilon: float = 0.1,
    kernel: Any = "gaussian",
    gamma: Any = "scale",
    sigma: float | None = None,
) -> Plan:
    r"""Kernel perceptron: add every misclassified row with its label.

    On a mistake, f_{t+1} = f_t + eta y_t k(x_t, .); several classes: + eta on the label y, - eta on the strongest
    rival. Regression: f_{t+1} = f_t + eta sign(y_t - f_t(x_t)) k(x_t, .) where |y_t - f_t(x_t)| > epsilon.
    A score of 0 is read as +1 (the first class), so it is a mistake for -1 only.

    Pieces: losses.perceptron (epsilon_insensitive for regression), steps.constant, budgets.appending.Unbounded.
    Tasks: binary, multiclass, regression. Memory grows with the number of mistakes.
    Differs from the paper: `eta` is 1 for classification, where it only scales the scores, and 0.1 for regression.

    >>> perceptron(gamma=1.0).start(1).learn([[0.0], [0.0]], [-1.0, 1.0])[:, 0].tolist()
    [0.0, -1.0]

    References: rosenblatt1958, freund1999, lu2016
    """
    rate = positive("eta", by_task(task, 1.0, 1.0, 0.1) if eta is None else eta)
    return keep_all(make_kernel(kernel, gamma, sigma), mistakes_only(task, epsilon), steps.constant(rate))


@recipe
def passive_aggressive(
    task: str,
    C: float = 1.0,
    variant: str = "PA-I",
    epsilon: float = 0.1,
    kernel: Any = "gaussian",
    gamma: Any = "scale",
    sigma: float | None = None,
) -> Plan:
    r"""Passive-aggressive learner: the smallest change of f that erases the loss of the row.

    With loss l > 0, f_{t+1} = f_t + tau y_t k(x_t, .), tau = l / k(x_t, x_t) (PA), min(C, .) of it (PA-I), or
    l / (k(x_t, x_t) + 1 / (2 C)) (PA-II). Several classes: + tau on y, - tau on the strongest rival, with twice the
    norm. Regression: the epsilon-insensitive loss.

    Pieces: losses.hinge (epsilon_insensitive for regression), steps.passive_aggressive, budgets.appending.Unbounded.
    Tasks: binary, multiclass, regression. Memory grows with the number of rows that have a loss.
    Differs from the paper: nothing.

    >>> passive_aggressive(gamma=1.0).start(1).learn([[0.0], [0.0]], [1.0, 1.0])[:, 0].tolist()
    [0.0, 1.0]

    References: crammer2006
    """
    step = steps.passive_aggressive(positive("C", C), variant)
    loss = losses.epsilon_insensitive(tube(epsilon)) if task == "regression" else losses.hinge()
    return keep_all(make_kernel(kernel, gamma, sigma), loss, step)
