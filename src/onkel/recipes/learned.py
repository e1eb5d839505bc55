"""Learned kernels: the widths of the features are learned with the weights."""

from typing import Any

import numpy as np

from onkel.core.parameters import at_least_zero, one_of, positive
from onkel.core.randomness import derive
from onkel.learners.ensembles.committee import committee
from onkel.learners.linear import linear
from onkel.model.online import Plan, Setting
from onkel.pieces import steps
from onkel.pieces.kernels import CAUCHY, GAUSSIAN, LAPLACIAN, Kernel
from onkel.pieces.maps.learned import Learned, learned_phase, noise_of, widths
from onkel.pieces.maps.spectral import spectral
from onkel.recipes.common import by_task, make_loss, step_size
from onkel.recipes.learner import recipe

UNIT = {"gaussian": Kernel(GAUSSIAN, 0.5), "laplacian": Kernel(LAPLACIAN, 1.0), "cauchy": Kernel(CAUCHY, 1.0)}
MIXTURE = "mixture"
LIMIT = 10.0  # of log-widths
STEPS = {"constant": steps.constant, "inverse_sqrt": steps.inverse_sqrt, "adagrad": steps.adagrad}


@recipe(standardise=True)
def rrf(
    task: str,
    n_frequencies: int = 100,
    eta: float | None = None,
    eta_widths: float = 0.1,
    lam: float = 0.0,
    loss: Any = None,
    epsilon: float | None = None,
    step: str = "adagrad",
    start: float | None = None,
    kernel: str = "gaussian",
    n_components: int = 4,
) -> Plan:
    r"""Reparameterised random features: the width of every input is learned with the weights.

    omega_k = exp(g) * e_k with fixed noise e_k; z(x) = [cos(omega^T x); sin(omega^T x)] / sqrt(D), f = w . z(x);
    w <- (1 - eta lam) w - eta l' z and g <- g - eta_widths l' df/dg, both from the old w and g [Alg. 1], g clipped to
    [-10, 10]. ``step="constant", start=1.0, standardise=False`` is the printed algorithm; the default divides every
    coordinate by the root of its squared slopes (Adagrad), standardises the rows and starts all widths at
    1.4 / sqrt(d), and does not diverge.

    `kernel` is the one whose widths are learned: gaussian, laplacian (Cauchy noise), cauchy (Laplace noise), or
    mixture: `n_components` Gaussians in the spectrum with learned weights, means and widths.

    Pieces: maps.learned.Learned or maps.spectral.Spectral, losses.hinge (squared for regression) or another,
    steps.adagrad, constant or inverse_sqrt. Tasks: binary, multiclass, regression. Constant memory.
    Differs from the paper: exp(g) is a standard deviation of frequencies, as in its algorithm and not its Eq. (2);
    features carry the 1 / sqrt(D) of its Eq. (5), so `eta` is D times that of the authors' code and `eta_widths` is
    the same; the squared loss is without a zone of tolerance unless `epsilon` is given.

    >>> model = rrf(n_frequencies=8, step="constant", eta=0.8, start=1.0, standardise=False).start(2)
    >>> model.learn([[0.0, 1.0], [0.0, 1.0]], [1.0, 1.0])[:, 0].round(6).tolist()
    [0.0, 0.8]

    References: nguyen2017, rahimi2007, wilson2013, duchi2011
    """
    D, Q = positive("n_frequencies", n_frequencies, integer=True), positive("n_components", n_components, integer=True)
    one_of("kernel", kernel, (*UNIT, MIXTURE))
    one_of("step", step, tuple(STEPS))
    rate, penalty = step_size(by_task(task, 0.5, 0.5, 0.1) if eta is None else eta, lam)
    for_widths = STEPS[step](positive("eta_widths", eta_widths))
    made = make_loss(task, loss, tolerance(loss, epsilon))
    first = None if start is None else positive("start", start)

    def build(_: Any, setting: Setting) -> Any:
        d, dtype = setting.n_features, setting.dtype
        at = 1.4 / np.sqrt(d) if first is None else first
        if kernel == MIXTURE:
            feature_map: Any = spectral(for_widths, LIMIT, at, (d, D, Q), dtype, setting.seed)
        else:
            own = widths(for_widths, LIMIT, at, d, dtype)
            feature_map = Learned(own, noise_of(UNIT[kernel], d, D, dtype, setting.seed))
        return linear(feature_map, made, STEPS[step](rate, penalty), setting.n_outputs, dtype)

    return Plan(None, build, folds=True)


def tolerance(loss: Any, epsilon: float | None) -> float:
    """The zone of tolerance: 0.1 for the loss that is named after it, else none."""
    if epsilon is None:
        return 0.1 if loss == "epsilon_insensitive" else 0.0
    return at_least_zero("epsilon", epsilon)


@recipe
def fkl(
    task: str,
    n_frequencies: int = 400,
    eta: float = 1.0,
    eta_widths: float = 0.1,
    lam: float = 1e-5,
    batch: int = 100,
    loss: Any = None,
    epsilon: float | None = None,
    start: float = 1.0,
) -> Plan:
    r"""Fourier kernel learning: mini-batches on cosines with random phases, whose widths are learned too.

    e = sqrt(2) erfinv(2 p - 1), p uniform; z(x) = sqrt(2 / D) cos((exp(g) * e)^T x + b), b uniform in [0, 2 pi]; after
    every `batch` rows w <- (1 - eta lam) w - eta mean(l' z) and g <- g - eta_widths mean(l' df/dg), g within [-10, 10].

    Pieces: maps.learned.LearnedPhase, losses.hinge (squared for regression) or another, steps.minibatch.
    Tasks: binary, multiclass, regression. Constant memory.
    Differs from the paper: batches are consecutive rows of the stream, so the cut of the stream does not matter;
    features carry sqrt(2 / D), so `eta` is D / 2 times that of the authors' code; batches are of 100 rows unless given
    (theirs: 200, and many passes).

    >>> model = fkl(n_frequencies=8, batch=2).start(1)
    >>> model.learn([[0.0], [0.0], [0.0]], [1.0, 1.0, 1.0])[:2, 0].tolist()
    [0.0, 0.0]

    References: bazavan2012, nguyen2017
    """
    D, size = positive("n_frequencies", n_frequencies, integer=True), positive("batch", batch, integer=True)
    rate, penalty = step_size(eta, lam)
    for_widths = steps.minibatch(positive("eta_widths", eta_widths), size)
    made = make_loss(task, loss, tolerance(loss, epsilon))
    first = positive("start", start)

    def build(_: Any, setting: Setting) -> Any:
        d, dtype, seed = setting.n_features, setting.dtype, setting.seed
        own = widths(for_widths, LIMIT, first, d, dtype)
        feature_map = learned_phase(own, noise_of(UNIT["gaussian"], d, D, dtype, seed), derive(seed, 1))
        return linear(feature_map, made, steps.minibatch(rate, size, penalty), setting.n_outputs, dtype)

    return Plan(None, build, folds=True)


STARTS = tuple(2.0**power for power in range(-15, 6, 4))


@recipe(standardise=True)
def multi_rrf(
    task: str,
    n_frequencies: int = 100,
    eta: float | None = None,
    eta_widths: float = 0.1,
    lam: float = 0.0,
    loss: Any = None,
    epsilon: float | None = None,
    step: str = "adagrad",
    starts: tuple[float, ...] = STARTS,
    combine: str = "average",
) -> Plan:
    r"""Several `rrf` that start from different widths, 2^-15, 2^-11, ..., 2^5: their mean, or what most of them say.

    f = (1 / R) sum_r f_r, or by votes: f = (votes for +1 - votes for -1) / R, and for several classes the share of
    votes of each; ties go to +1, or to the first class.

    Pieces: ensembles.committee.Committee over `rrf`. Tasks: binary, multiclass, regression (average only).
    Constant memory. Differs from the paper: an even split of two classes goes to +1, as scores of 0 do everywhere.

    >>> model = multi_rrf(n_frequencies=8, starts=(0.1, 1.0)).start(1)
    >>> model.learn([[0.0], [1.0]], [1.0, -1.0])[0].tolist()
    [0.0]

    References: nguyen2017
    """
    one_of("combine", combine, ("average", "vote"))
    if combine == "vote" and task == "regression":
        raise ValueError("combine='vote' needs classes; numbers are averaged.")
    if not isinstance(starts, tuple) or not starts:
        raise ValueError(f"starts must be a tuple of widths, not {starts!r}.")
    given: Any = (n_frequencies, eta, eta_widths, lam, loss, epsilon, step)
    plans = [rrf(*given, start=start).plan(task) for start in starts]

    def build(_: Any, setting: Setting) -> Any:
        seeds = [derive(setting.seed, r) for r in range(len(plans))]
        parts = [plan.build(None, setting._replace(seed=seed)) for plan, seed in zip(plans, seeds, strict=True)]
        return committee(tuple(parts), combine == "vote")

    return Plan(None, build, folds=True)
