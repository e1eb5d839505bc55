"""Budgeted stochastic gradient descent on the support vector machine: remove, project or merge."""

from typing import Any

from onkel.core.parameters import at_least_zero, one_of, positive
from onkel.model.online import Plan, Setting
from onkel.pieces import kernels, losses, steps
from onkel.pieces.budgets.choices import Smallest
from onkel.pieces.budgets.merge_table import merge_table
from onkel.pieces.budgets.merging import GoldenSection, Lookup, Merge
from onkel.pieces.budgets.projection import Exchange
from onkel.pieces.budgets.removal import Remove
from onkel.pieces.kernels import make_kernel
from onkel.recipes.common import at_random, guarded, keep_some, narrow, oldest
from onkel.recipes.learner import recipe

CLASSES = ("binary", "multiclass")


def schedule(lam: Any, first: Any) -> steps.Step:
    """The steps of Pegasos; the authors' code gives the very first row the coefficient 1 instead of 1 / lam."""
    published = one_of("first", first, ("exact", "published")) == "published"
    return steps.inverse_time(positive("lam", lam), 1.0 if published else None)


@recipe(tasks=CLASSES)
def bsgd_r(
    task: str,
    budget: int = 100,
    lam: float = 1e-4,
    strategy: str = "smallest",
    first: str = "exact",
    kernel: Any = "gaussian",
    gamma: Any = "scale",
    sigma: float | None = None,
) -> Plan:
    r"""Budgeted stochastic gradient descent with removal.

    f_{t+1} = (1 - 1/t) f_t + [m < 1] y_t / (lam t) k(x_t, .), m the margin before the step. With more than B points
    the one with the smallest |a_i|^2 k_ii goes (`strategy="smallest"`), or the oldest, or a random old one.

    Pieces: losses.hinge, steps.inverse_time, budgets.removal.Remove with choices.Smallest, Oldest or Random.
    Tasks: binary, multiclass. Constant memory.
    Differs from the paper: all coefficients are equal in exact arithmetic, so "smallest" is a tie; here the oldest goes
    then, while in the authors' code rounding decides. `first="published"` gives the first row the coefficient 1, as
    that code does, instead of 1 / lam.

    >>> model = bsgd_r(budget=1, lam=0.5, gamma=1.0).start(1)
    >>> model.learn([[0.0], [0.0], [0.0]], [1.0, -1.0, 1.0])[:, 0].tolist()
    [0.0, 2.0, -1.0]

    References: wang2012, djuric2013
    """
    capacity, step = positive("budget", budget, integer=True), schedule(lam, first)
    one_of("strategy", strategy, ("smallest", "oldest", "random"))

    def empty(setting: Setting) -> Remove:
        rules = {"smallest": Smallest(), "oldest": oldest(), "random": at_random(setting)}
        return Remove(rules[strategy])

    return keep_some(make_kernel(kernel, gamma, sigma), losses.hinge(), step, capacity, empty)


@recipe(tasks=CLASSES)
def bsgd_p(
    task: str,
    budget: int = 100,
    lam: float = 1e-4,
    guard: float = 1e-6,
    first: str = "exact",
    kernel: Any = "gaussian",
    gamma: Any = "scale",
    sigma: float | None = None,
) -> Plan:
    r"""Budgeted stochastic gradient descent with projection.

    The steps of `bsgd_r`; the point with the smallest |a_i|^2 k_ii is projected on the span of the others:
    K p = k_r, a += a_r p.

    Pieces: losses.hinge, steps.inverse_time, budgets.projection.Exchange with choices.Smallest.
    Tasks: binary, multiclass. Constant memory. O(B^2) per row with a loss.
    Differs from the paper: one inverse is kept up to date instead of a new solution each time; rows as good as in the
    span are projected at once (`guard`, see `projectron`). `first`: see `bsgd_r`.

    >>> model = bsgd_p(budget=1, lam=0.5, gamma=1.0).start(1)
    >>> model.learn([[0.0], [0.0], [0.0]], [-1.0, 1.0, 1.0])[:, 0].round(6).tolist()
    [0.0, -2.0, 0.0]

    References: wang2012
    """
    capacity, step = positive("budget", budget, integer=True), schedule(lam, first)
    least = at_least_zero("guard", guard)
    return keep_some(
        make_kernel(kernel, gamma, sigma), losses.hinge(), step, capacity,
        lambda setting: Exchange(Smallest(), guarded(capacity, least, setting)),
    )  # fmt: skip


@recipe(tasks=CLASSES)
def bsgd_m(
    task: str,
    budget: int = 100,
    lam: float = 1e-4,
    search: str = "table",
    first: str = "exact",
    kernel: Any = "gaussian",
    gamma: Any = "scale",
    sigma: float | None = None,
) -> Plan:
    r"""Budgeted stochastic gradient descent with merging.

    The steps of `bsgd_r`; the point i with the smallest |a_i| and the partner j that loses least become one point
    z = h x_i + (1 - h) x_j with a_z = a_i kappa^((1-h)^2) + a_j kappa^(h^2), kappa = k(x_i, x_j).

    Pieces: losses.hinge, steps.inverse_time, budgets.merging.Merge with Lookup (`search="table"`: the best of all h
    from a table, for points whose coefficients have the same sign) or GoldenSection (`search="golden"`: as in the
    paper).
    Tasks: binary, multiclass. Gaussian kernel only. Constant memory. O(B) per row with a loss.
    Differs from the paper: the table is that of Glasmachers and Qaadan. The authors' code sets a negative h to 0
    for the point but not for its coefficient; we do not. `first`: see `bsgd_r`.

    >>> model = bsgd_m(budget=1, lam=0.5, gamma=1.0).start(1)
    >>> model.learn([[0.0], [0.0], [0.0]], [1.0, 1.0, 1.0])[:, 0].round(6).tolist()
    [0.0, 2.0, 1.0]

    References: wang2012, glasmachers2018
    """
    capacity, step = positive("budget", budget, integer=True), schedule(lam, first)
    by_table = one_of("search", search, ("table", "golden")) == "table"
    made = make_kernel(kernel, gamma, sigma)
    if getattr(made, "code", None) != kernels.GAUSSIAN:
        raise ValueError("bsgd_m merges points of the Gaussian kernel only.")

    def empty(setting: Setting) -> Merge:
        narrow("bsgd_m", setting)
        return Merge(Lookup(merge_table(setting.dtype).copy()) if by_table else GoldenSection())

    return keep_some(made, losses.hinge(), step, capacity + 1, empty)
