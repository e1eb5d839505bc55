"""Gradient descent on explicit features of a kernel: constant memory and constant time per row."""

from typing import Any

from onkel.core.parameters import positive
from onkel.core.randomness import derive
from onkel.learners.expansion import Rules, expansion
from onkel.learners.handover import Handover
from onkel.learners.linear import linear
from onkel.model.online import Plan, Setting
from onkel.pieces import steps
from onkel.pieces.kernels import make_kernel
from onkel.pieces.maps.drawing import DRAWS, draw_map
from onkel.pieces.maps.fourier import phase
from onkel.recipes.common import by_task, make_loss, make_step, step_size
from onkel.recipes.learner import recipe


@recipe
def fogd(
    task: str,
    n_frequencies: int = 400,
    eta: float | None = None,
    lam: float = 0.0,
    loss: Any = None,
    epsilon: float = 0.1,
    step: Any = "constant",
    draw: str = "iid",
    kernel: Any = "gaussian",
    gamma: Any = "scale",
    sigma: float | None = None,
) -> Plan:
    r"""Fourier online gradient descent: linear gradient descent on random Fourier features.

    z(x) = [cos(U^T x); sin(U^T x)] / sqrt(D), f = w . z(x), w_{t+1} = (1 - eta lam) w_t - eta l'(f, y_t) z(x_t)
    [Alg. 1], with the columns of U from the kernel's spectral density, or `draw` = orthogonal, sorf, fastfood.

    Pieces: maps.fourier.Fourier, losses.hinge (squared outside epsilon for regression) or another, and a step:
    constant, inverse_sqrt (eta / sqrt(t)), adagrad, or inverse_time (1 / (lam t); eta is not used then).
    Tasks: binary, multiclass, regression. Constant memory.
    Differs from the paper: features carry the 1 / sqrt(D) that its Theorem 1 needs and its code leaves out, so our
    `eta` is D times the authors'. Unless given it is theirs: 0.8 for binary labels, 4 for several classes, 0.27 for
    regression.

    >>> model = fogd(n_frequencies=8, gamma=1.0).start(2)
    >>> model.learn([[0.0, 1.0], [0.0, 1.0]], [1.0, 1.0])[:, 0].round(6).tolist()
    [0.0, 0.8]

    References: lu2016, rahimi2007
    """
    count = positive("n_frequencies", n_frequencies, integer=True)
    if draw not in DRAWS:
        raise ValueError(f"draw must be one of {', '.join(DRAWS)}, not {draw!r}.")
    rule = make_step(step, by_task(task, 0.8, 4.0, 0.27) if eta is None else eta, lam, explicit=True)
    made = make_loss(task, loss, epsilon)

    def build(settled: Any, setting: Setting) -> Any:
        feature_map = draw_map(settled, setting.n_features, count, draw, setting.dtype, setting.seed)
        return linear(feature_map, made, rule, setting.n_outputs, setting.dtype)

    return Plan(make_kernel(kernel, gamma, sigma), build)


@recipe
def nogd(
    task: str,
    budget: int = 100,
    rank: int | None = None,
    eta: float | None = None,
    lam: float = 0.0,
    loss: Any = None,
    epsilon: float = 0.1,
    cut: float = 1e-8,
    kernel: Any = "gaussian",
    gamma: Any = "scale",
    sigma: float | None = None,
) -> Plan:
    r"""Nystroem online gradient descent: a kernel expansion until the budget is full, then linear on its landmarks.

    Phase 1 is `ogd` until B rows are kept. At the next row with a slope [Alg. 2], K = V diag(e) V^T over those rows,
    z(x) = diag(e_1..e_k)^(-1/2) V_k^T k(., x), w = a pinv(M), and that row is the first one learned by
    w_{t+1} = (1 - eta lam) w_t - eta l' z(x_t). The landmarks never change afterwards. `rank` is 0.2 B unless given.

    Pieces: learners.handover.Handover, then maps.nystroem.Nystroem; losses.hinge or another, steps.constant.
    Tasks: binary, multiclass, regression. Constant memory.
    Differs from the paper: w is found with a pseudo-inverse (the printed inverse is of a k x B matrix), and directions
    with eigenvalues below cut * e_1 are left out.

    >>> model = nogd(budget=2, rank=1, eta=0.5, gamma=1.0).start(1)
    >>> model.learn([[0.0], [9.0], [0.0]], [1.0, -1.0, 1.0])[:, 0].round(6).tolist()
    [0.0, 0.0, 0.5]

    References: lu2016, williams2001
    """
    capacity = positive("budget", budget, integer=True)
    directions = positive("rank", max(1, round(0.2 * capacity)) if rank is None else rank, integer=True)
    rate, penalty = step_size(by_task(task, 0.2, 0.5, 0.1) if eta is None else eta, lam)
    made = make_loss(task, loss, epsilon)
    limit = Handover(min(directions, capacity), positive("cut", cut))

    def build(settled: Any, setting: Setting) -> Any:
        rules = Rules(settled, made, steps.constant(rate, penalty), limit, capacity)
        return expansion(rules, setting.n_features, setting.n_outputs, setting.dtype)

    return Plan(make_kernel(kernel, gamma, sigma), build)


@recipe
def rks(
    task: str,
    n_frequencies: int = 400,
    eta: float = 1.0,
    lam: float = 1e-5,
    batch: int = 100,
    loss: Any = None,
    epsilon: float = 0.0,
    kernel: Any = "gaussian",
    gamma: Any = "scale",
    sigma: float | None = None,
) -> Plan:
    r"""Random kitchen sinks: mini-batch gradient descent on cosines with random phases.

    z(x) = sqrt(2 / D) cos(U^T x + b), b uniform in [0, 2 pi]; after every `batch` rows
    w <- (1 - eta lam) w - eta mean(l' z). Scores in between are those of the last finished batch.

    Pieces: maps.fourier.Phase, losses.hinge (squared for regression) or another, steps.minibatch.
    Tasks: binary, multiclass, regression. Constant memory.
    Differs from the paper: batches are consecutive rows of the stream, so the cut of the stream does not matter.

    >>> model = rks(n_frequencies=8, batch=2, gamma=1.0).start(1)
    >>> model.learn([[0.0], [0.0], [0.0]], [1.0, 1.0, 1.0])[:2, 0].tolist()
    [0.0, 0.0]

    References: rahimi2008
    """
    count = positive("n_frequencies", n_frequencies, integer=True)
    rate, penalty = step_size(eta, lam)
    step = steps.minibatch(rate, positive("batch", batch, integer=True), penalty)
    made = make_loss(task, loss, epsilon)

    def build(settled: Any, setting: Setting) -> Any:
        drawn = draw_map(settled, setting.n_features, count, "iid", setting.dtype, setting.seed)
        feature_map = phase(drawn, setting.dtype, derive(setting.seed, 1))
        return linear(feature_map, made, step, setting.n_outputs, setting.dtype)

    return Plan(make_kernel(kernel, gamma, sigma), build)
