"""Many kernels at once: a learner for each, and one answer of all."""

from typing import Any

import numpy as np

from onkel.core.parameters import at_least_zero, one_of, positive
from onkel.core.points import WIDE
from onkel.core.randomness import derive, generator
from onkel.learners.ensembles.experts import Descent, Experts, Hedge, experts
from onkel.learners.ensembles.levels import ensemble, rate_of
from onkel.learners.ensembles.levels_published import Ranked, RankedLevels
from onkel.learners.ensembles.voting import votes
from onkel.learners.linear import linear
from onkel.model.online import Plan, Setting
from onkel.pieces import losses, steps
from onkel.pieces.bandwidth import has_rule
from onkel.pieces.kernels import GAUSSIAN, Kernel, gaussian, make_kernel, polynomial
from onkel.pieces.maps.drawing import draw_map
from onkel.recipes.common import by_task, keep_all, make_loss, step_size
from onkel.recipes.learner import Learner, inner, recipe

THREE = tuple(gaussian(sigma=variance**0.5) for variance in (0.1, 1.0, 10.0))
SIXTEEN = (
    *(gaussian(gamma=2.0**power) for power in range(-6, 7)),
    *(polynomial(degree=degree, gamma=1.0, coef0=0.0) for degree in (1, 2, 3)),
)


def dictionary(kernels: Any, default: tuple[Kernel, ...]) -> tuple[Kernel, ...]:
    """A checked tuple of kernels whose widths are given."""
    if kernels is None:
        return default
    if not isinstance(kernels, tuple) or not kernels or hasattr(kernels, "_fields"):
        raise ValueError(f"kernels must be a tuple of kernels, not {kernels!r}.")
    made = tuple(make_kernel(kernel) for kernel in kernels)
    if any(has_rule(kernel) for kernel in made):
        raise ValueError("kernels must have their widths given, as in kernels.gaussian(sigma=1.0).")
    return made


def error_of(task: str, loss: Any, epsilon: float) -> Any:
    """The loss of a name; None: the squared error (f - y)^2, without the usual 1/2, or the logistic loss."""
    if loss is None and task == "regression":
        return losses.squared(at_least_zero("epsilon", epsilon), 2.0)
    return make_loss(task, by_task(task, "logistic", "softmax", None) if loss is None else loss, epsilon)


def fourier_experts(made: tuple[Kernel, ...], count: int, loss: Any, step: Any, setting: Setting) -> tuple[Any, ...]:
    """A linear learner on random features for each kernel; orthogonal ones for Gaussian kernels."""
    parts = []
    for p, kernel in enumerate(made):
        draw = "orthogonal" if kernel.code == GAUSSIAN and setting.n_features <= WIDE else "iid"
        drawn = draw_map(kernel, setting.n_features, count, draw, setting.dtype, derive(setting.seed, p))
        parts.append(linear(drawn, loss, step, setting.n_outputs, setting.dtype))
    return tuple(parts)


@recipe
def raker(
    task: str,
    n_frequencies: int = 50,
    kernels: Any = None,
    eta: float = 0.5,
    hedge: float = 0.5,
    lam: float = 0.01,
    loss: Any = None,
    epsilon: float = 0.0,
) -> Plan:
    r"""Random features of several kernels, weighted by how well each kernel does.

    f = sum_p w_p f_p, f_p = theta_p . z_p(x) with orthogonal random features z_p of kernel p;
    w_p <- w_p exp(-hedge l(f_p, y_t)), normalised, and theta_p <- (1 - eta lam) theta_p - eta l'(f_p, y_t) z_p(x_t),
    all from the state before the row [Alg. 1]. `kernels` is a tuple of kernels, three Gaussians with
    sigma^2 = 0.1, 1, 10 unless given, which are meant for features within [0, 1].

    Pieces: ensembles.experts.Hedge over learners.linear.Linear, maps.fourier.Fourier, losses.squared, logistic or
    another.
    Tasks: binary, multiclass, regression. Constant memory.
    Differs from the paper: the rate of the weights and the step are two parameters, and weights are kept as logarithms;
    the regulariser of its experiments is here, its algorithm has none. Frequencies of other kernels than Gaussian ones
    are independent.

    >>> model = raker(n_frequencies=4).start(1, "regression")
    >>> model.learn([[0.0], [0.0]], [1.0, 1.0])[:, 0].round(6).tolist()
    [0.0, 1.0]

    References: shen2018, yu2016
    """
    count, made = positive("n_frequencies", n_frequencies, integer=True), dictionary(kernels, THREE)
    step, rate = steps.constant(*step_size(eta, lam)), positive("hedge", hedge)
    measured = error_of(task, loss, epsilon)

    def build(_: Any, setting: Setting) -> Any:
        parts = fourier_experts(made, count, measured, step, setting)
        return experts(parts, Hedge(measured, rate, np.zeros(len(parts))))

    return Plan(None, build)


@recipe
def ada_raker(
    task: str,
    n_frequencies: int = 50,
    kernels: Any = None,
    eta: float = 0.6,
    lam: float = 0.01,
    loss: Any = None,
    epsilon: float = 0.0,
    schedule: str = "covering",
    rounds: int = 1 << 20,
    beta: float = 0.5,
) -> Plan:
    r"""Several `raker` with steps for 1, 2, 4, ... rows, for streams in which the best kernel changes.

    Level k is a `raker` with eta = hedge = eta_k = min(1/2, eta / sqrt(2^k)); at round t there are the levels
    0, ..., floor(log2 t). f = sum_k h_k f_k / sum_k h_k, where h_k = eta_k at every 2^k-th round and
    h_k <- h_k exp(-eta_k (l(f_k, y_t) - l(f, y_t))) after every round [Alg. 2].

    Pieces: ensembles.levels.Ensemble over ensembles.experts.Hedge over learners.linear.Linear, maps.fourier.Fourier,
    losses.
    Tasks: binary, multiclass, regression. Memory and time per row grow with log t.
    Differs from the paper: a level goes on with what it knows when its next interval begins, and a new level begins
    with what the one below it knows; from 0, everything would be forgotten at t = 2^k, where all begin anew.
    ``schedule="reference"`` is what the authors' code does instead, for a stream of `rounds` rows: levels that are
    never started anew and differ in their steps, kernels and levels weighted by base^r with r their losses mapped to
    [-1, 1] and base = `beta`, or the last level's step; `eta` is 0.1 there.

    >>> model = ada_raker(n_frequencies=4).start(1, "regression")
    >>> model.learn([[0.0], [0.0]], [1.0, 1.0])[:, 0].round(6).tolist()
    [0.0, 1.0]

    References: shen2019, shen2018
    """
    count, made = positive("n_frequencies", n_frequencies, integer=True), dictionary(kernels, THREE)
    rate, measured = positive("eta", eta), error_of(task, loss, epsilon)
    if one_of("schedule", schedule, ("covering", "reference")) == "reference":
        last = positive("rounds", rounds, integer=True)
        return Plan(None, lambda _, setting: reference(made, count, measured, (rate, lam, last, beta), setting))
    first = rate_of(rate, 0)
    step = steps.constant(*step_size(first, lam))

    def build(_: Any, setting: Setting) -> Any:
        parts = fourier_experts(made, count, measured, step, setting)
        level = experts(parts, Hedge(measured, first, np.zeros(len(parts))))
        return experts((level,), ensemble(measured, rate))

    return Plan(None, build)


def reference(made: Any, count: int, measured: Any, numbers: Any, setting: Setting) -> Experts:
    """The first level of the authors' code. Its features are sqrt(D) times ours, so its step is D times theirs."""
    rate, lam, rounds, beta = numbers
    rates = np.array([min(rate / 2.0, rate / np.sqrt(2.0**k)) for k in range(1, rounds.bit_length() + 1)])
    step = steps.constant(*step_size(0.1 * rates[0] * count, at_least_zero("lam", lam) / count))
    parts = fourier_experts(made, count, measured, step, setting)
    level = experts(parts, Ranked(measured, positive("beta", beta), np.full(len(parts), 1.0 / len(parts))))
    weights = np.ones(len(rates))
    weights[0] = rates[0]
    return experts((level,), RankedLevels(measured, rates, weights, np.zeros(1, np.int64)))


@recipe(tasks=("binary",))
def omkc(
    task: str,
    learner: Any = "perceptron",
    kernels: Any = None,
    beta: float = 0.99,
    update: str = "all",
    combine: str = "all",
    least: float = 0.001,
) -> Plan:
    r"""Online multiple kernel classification: one learner per kernel, which vote.

    f = sum_p w_p sgn(f_p); where y_t f_p <= 0, w_p <- beta w_p; then all are normalised. With ``update="some"`` expert
    p learns a row with the chance (1 - least) w_p / max w + least only, and with ``combine="some"`` it takes part in a
    vote with that chance. `learner` is any that has a parameter `kernel`: a perceptron unless given. `kernels` is a
    tuple of kernels: exp(-2^j |x - s|^2) for j = -6, ..., 6 and <x, s>^q for q = 1, 2, 3 unless given.

    Pieces: ensembles.voting.Votes over whatever `learner` is made of. Tasks: binary; several classes through
    `one_vs_rest`. Memory of the learners: unbounded for perceptrons, constant with a budget.
    Experts that correct mistakes learn a row whose score is 0 too, whatever its label.
    With update="some" rows are learned one by one, which is slower. Differs from the paper: in the authors' code
    polynomial experts feed the Gaussian one of the same number.

    >>> model = omkc().start(1)
    >>> model.learn([[1.0], [1.0]], [-1.0, -1.0])[:, 0].round(6).tolist()
    [1.0, -1.0]

    References: hoi2013
    """
    base: Learner = inner(learner)
    if "kernel" not in base.get_params():
        raise ValueError(f"{base.name} has no parameter 'kernel', so it cannot be one expert per kernel.")
    made, discount = dictionary(kernels, SIXTEEN), positive("beta", beta)
    some = one_of("combine", combine, ("all", "some")) == "some"
    lazy = one_of("update", update, ("all", "some")) == "some"
    if not 0.0 <= at_least_zero("least", least) <= 1.0 or discount >= 1.0:
        raise ValueError(f"beta must be below 1 and least at most 1, not {beta!r} and {least!r}.")
    widths = {key: None for key in ("gamma", "sigma") if key in base.get_params()}
    plans = [base.__sklearn_clone__().set_params(kernel=kernel, **widths).plan(task) for kernel in made]

    def build(_: Any, setting: Setting) -> Any:
        seeds = [derive(setting.seed, p) for p in range(len(plans))]
        parts = [p.build(p.kernel, setting._replace(seed=seed)) for p, seed in zip(plans, seeds, strict=True)]
        parts = [p._replace(loss=losses.closed_hinge(0.0)) if p.loss == losses.perceptron() else p for p in parts]
        state = generator(derive(setting.seed, len(plans)))
        return experts(tuple(parts), votes(len(parts), discount, some, lazy, float(least), state))

    return Plan(None, build)


def kernel_experts(made: tuple[Kernel, ...], loss: Any, step: Any, setting: Setting) -> tuple[Any, ...]:
    """An expansion that keeps every row with a slope, for each kernel."""
    return tuple(keep_all(kernel, loss, step).build(kernel, setting) for kernel in made)


@recipe
def omkl(
    task: str,
    kernels: Any = None,
    eta: float = 0.5,
    hedge: float = 0.5,
    lam: float = 0.01,
    loss: Any = None,
    epsilon: float = 0.0,
) -> Plan:
    r"""Online multiple kernel learning with exact kernels: `raker` without random features.

    f = sum_p w_p f_p; f_p <- (1 - eta lam) f_p - eta l'(f_p, y_t) k_p(x_t, .) and w_p <- w_p exp(-hedge l(f_p, y_t)),
    normalised. `kernels` as in `raker`.

    Pieces: ensembles.experts.Hedge over learners.expansion.Expansion, losses.squared, logistic or another.
    Tasks: binary, multiclass, regression. Memory unbounded: every row with a slope is kept, P times.
    Differs from the paper: the rate of the weights is a parameter of its own, -log(beta) there.

    >>> model = omkl().start(1, "regression")
    >>> model.learn([[0.0], [0.0]], [1.0, 1.0])[:, 0].round(6).tolist()
    [0.0, 1.0]

    References: sahoo2014, hoi2013, shen2018
    """
    made, measured = dictionary(kernels, THREE), error_of(task, loss, epsilon)
    step, rate = steps.constant(*step_size(eta, lam)), positive("hedge", hedge)

    def build(_: Any, setting: Setting) -> Any:
        parts = kernel_experts(made, measured, step, setting)
        return experts(parts, Hedge(measured, rate, np.zeros(len(parts))))

    return Plan(None, build)


@recipe(tasks=("binary", "regression"))
def omkr(
    task: str,
    kernels: Any = None,
    eta: float = 0.2,
    eta_weights: float | None = None,
    lam: float = 0.01,
    loss: Any = None,
    epsilon: float = 0.0,
) -> Plan:
    r"""Online multiple kernel regression: exact kernels, and gradient descent on their weights.

    f = sum_p w_p f_p, w_p = 1/P at the start; w_p <- w_p - 2 eta_weights (f - y_t) f_p, and
    f_p <- (1 - eta lam) f_p - eta l'(f_p, y_t) k_p(x_t, .). `eta_weights` is eta / 2 unless given; kernels as in
    `raker`.

    Pieces: ensembles.experts.Descent over learners.expansion.Expansion, losses.squared or another.
    Tasks: regression, and binary with labels as the numbers -1 and 1. Memory unbounded: every row with a slope is kept,
    P times. Differs from the paper: its other combination, by Hedge, is `omkl`.

    >>> model = omkr(eta=0.5).start(1, "regression")
    >>> model.learn([[0.0], [0.0]], [1.0, 1.0])[:, 0].round(6).tolist()
    [0.0, 1.0]

    References: sahoo2014
    """
    made, measured = dictionary(kernels, THREE), error_of("regression", loss, epsilon)
    rate, penalty = step_size(eta, lam)
    own = positive("eta_weights", rate / 2.0 if eta_weights is None else eta_weights)

    def build(_: Any, setting: Setting) -> Experts:
        parts = kernel_experts(made, measured, steps.constant(rate, penalty), setting)
        return experts(parts, Descent(own, np.full(len(parts), 1.0 / len(parts))))

    return Plan(None, build)
