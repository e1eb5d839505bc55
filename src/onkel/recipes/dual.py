"""Learning in two spaces: a kernel expansion on a budget, and explicit features for what leaves it."""

from typing import Any

from onkel.core.parameters import positive
from onkel.core.support import empty_support
from onkel.learners.hybrid import hybrid
from onkel.model.online import Plan, Setting
from onkel.pieces import steps
from onkel.pieces.kernels import make_kernel
from onkel.pieces.maps.drawing import draw_map
from onkel.recipes.common import make_loss
from onkel.recipes.learned import tolerance
from onkel.recipes.learner import recipe


@recipe
def dual_sgd(
    task: str,
    budget: int = 100,
    merge: int = 20,
    n_frequencies: int = 200,
    lam: float = 1e-4,
    loss: Any = None,
    epsilon: float | None = None,
    kernel: Any = "gaussian",
    gamma: Any = "scale",
    sigma: float | None = None,
) -> Plan:
    r"""Dual-space gradient descent: terms that no longer fit the budget move to random features of the same kernel.

    f = sum_i a_i k(x_i, .) + w . z(x); f_{t+1} = (1 - 1/t) f_t - l' / (lam t) k(x_t, .). When B points are kept, the
    `merge` of them with the smallest |a_i| are moved first: w <- w + a_i z(x_i).

    Pieces: learners.hybrid.Hybrid, maps.fourier.Fourier, losses.hinge (squared for regression) or another,
    steps.inverse_time.
    Tasks: binary, multiclass, regression. Constant memory.
    Differs from the paper: rows without a slope are not kept (the authors' code keeps them with the coefficient 0);
    frequencies follow the spectrum of the very kernel (that code draws them with deviation 2 gamma instead of
    sqrt(2 gamma)); where coefficients are tied, the oldest moves.

    >>> model = dual_sgd(budget=2, merge=1, lam=0.5, gamma=1.0).start(1)
    >>> model.learn([[0.0], [0.0]], [1.0, 1.0])[:, 0].tolist()
    [0.0, 2.0]

    References: le2016, lu2016
    """
    capacity, moved = positive("budget", budget, integer=True), positive("merge", merge, integer=True)
    count, step = positive("n_frequencies", n_frequencies, integer=True), steps.inverse_time(positive("lam", lam))
    made = make_loss(task, loss, tolerance(loss, epsilon))

    def build(settled: Any, setting: Setting) -> Any:
        d, dtype = setting.n_features, setting.dtype
        support = empty_support(d, setting.n_outputs, capacity, dtype)
        feature_map = draw_map(settled, d, count, "iid", dtype, setting.seed)
        return hybrid(settled, made, step, moved, support, feature_map)

    return Plan(make_kernel(kernel, gamma, sigma), build)
