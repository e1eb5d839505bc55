"""A posterior over weights and kernel widths, sampled by particles."""

from typing import Any

import numpy as np

from onkel.core.parameters import at_least_zero, one_of, positive
from onkel.core.randomness import derive, normal_table
from onkel.learners.particles import Particles, Posterior
from onkel.model.online import Plan, Setting
from onkel.pieces.kernels import GAUSSIAN, Kernel
from onkel.pieces.maps.learned import noise_of
from onkel.recipes.common import by_task, make_loss
from onkel.recipes.learner import recipe


@recipe(standardise=True)
def bkm(
    task: str,
    n_particles: int = 100,
    n_frequencies: int = 400,
    batch: int = 200,
    eta: float | None = None,
    horizon: float | None = 100.0,
    tail: float = 1.0 / 9.0,
    lam: float = 0.001,
    loss: Any = None,
    epsilon: float = 0.0,
    widths: str = "learned",
    start: float | None = None,
    spread: float | None = None,
    gradient: str = "sum",
    features: str = "plain",
    prior: bool = False,
    decay: float = 0.9,
) -> Plan:
    r"""Bayesian kernel machine: a posterior over weights and widths of the kernel, sampled by particles.

    f = (1/S) sum_s W^s . z^s(x), z^s(x) = [cos(omega^T x), sin(omega^T x), 1], omega_k = g^s * e_k with noise e_k, of
    N(0, `start`^2), that all particles share. p(W, g | rows) ~ exp(-lam/2 |W|^2 - sum of losses). After every
    `batch` rows phi_j = (1/S) sum_s k(T_s, T_j) [grad log p(T_s) + (T_j - T_s) / h^2] with T = (W, g) and
    h^2 = median(|T_s - T_j|^2) / (2 log(S + 1)), and after t steps T <- T + eta_t phi / sqrt(running mean
    of phi^2) [Alg. 2], eta_t = eta / sqrt(1 + t / horizon), eta = 0.04 (regression: 0.005) unless given.
    Answers are those of a running mean V of the weights, V <- V + (W - V) / (1 + tail t).
    ``widths="fixed"`` leaves the widths where they start [Alg. 1].

    Pieces: learners.particles.Particles, losses.softmax (logistic for two classes, squared for regression) or another.
    Tasks: binary, multiclass, regression. Constant memory. O(S d D) per row.
    Differs from the paper: the squares are those of phi, not of the slope, and decay; h is the median heuristic that it
    means; its Eq. (6) would let particles attract each other. With the mean loss of its Eq. (7), ``gradient="mean"``,
    all rows together count as one, and priors outweigh them; the default adds up the losses of a mini-batch, as the
    authors' code does. Its prior of the widths, |g|^2 / 2 with g > 0, still counts as much as a mini-batch then, and
    keeps widths from growing: it is there with ``prior=True``. Widths start at |N(0, 1)|, in units of `start`,
    4.2 / sqrt(d) unless given: so their steps are as long for many columns as for few, beside what they change. Weights
    start at N(0, 1) times `spread`, by default such that scores start near 1. Steps shrink and the last ninth of the
    weights is averaged, for with constant steps the answers go on to tremble: a large step loses what it gained.
    ``horizon=None, tail=0.0, eta=0.001, start=1.0, spread=1.0`` are the choices of that code. ``features="scaled"``
    divides cosines and sines by sqrt(D): weights then move sqrt(D) times as little for the same movement of widths.

    >>> model = bkm(n_particles=3, n_frequencies=8, batch=2).start(1)
    >>> model.learn([[0.0], [1.0], [0.0]], [1.0, -1.0, 1.0]).shape
    (3, 1)

    References: nguyen2018, liu2016
    """
    S, D = positive("n_particles", n_particles, integer=True), positive("n_frequencies", n_frequencies, integer=True)
    fading, last = 0.0 if horizon is None else 1.0 / positive("horizon", horizon), at_least_zero("tail", tail)
    B, penalty = positive("batch", batch, integer=True), at_least_zero("lam", lam)
    rate = positive("eta", by_task(task, 0.04, 0.04, 0.005) if eta is None else eta)
    moving = one_of("widths", widths, ("learned", "fixed")) == "learned"
    total = one_of("gradient", gradient, ("mean", "sum")) == "sum"
    scaled = one_of("features", features, ("scaled", "plain")) == "scaled"
    factor, kept = float(1.0 / np.sqrt(D)) if scaled else 1.0, decay
    first = None if start is None else positive("start", start)
    wide = at_least_zero("spread", 1.0 / (factor * np.sqrt(D)) if spread is None else spread)
    if not 0.0 <= at_least_zero("decay", decay) < 1.0:
        raise ValueError(f"decay must be below 1, not {decay!r}.")
    made = make_loss(task, by_task(task, "logistic", "softmax", "squared") if loss is None else loss, epsilon)
    posterior = Posterior(made, penalty, float(B if total else 1), bool(prior), moving)

    def build(_: Any, setting: Setting) -> Any:
        d, K, dtype, seed = setting.n_features, setting.n_outputs, setting.dtype, setting.seed
        scale = 4.2 / np.sqrt(d) if first is None else first
        noise = noise_of(Kernel(GAUSSIAN, 0.5 * scale * scale), d, D, dtype, derive(seed, 0))
        weights = wide * normal_table(derive(seed, 1), S, K * (2 * D + 1)).reshape(S, K, 2 * D + 1)
        starts = np.abs(normal_table(derive(seed, 2), S, d))
        held, steps, clock = (np.zeros(1, np.int64) for _ in range(3))
        return Particles(
            posterior, rate, fading, float(kept), 1e-6, factor, noise,
            weights.astype(dtype), starts.astype(dtype), np.zeros((S, K * (2 * D + 1) + d), dtype),
            np.zeros((B, d), dtype), np.zeros(B), np.zeros(B), held, steps, clock, weights.astype(dtype), last,
        )  # fmt: skip

    return Plan(None, build, folds=True)
