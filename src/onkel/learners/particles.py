"""Samples of a posterior that move together: Stein variational gradient descent over weights and widths.

Each particle has weights W^s and widths g^s of its own over the same noise E: z^s(x) = [c cos(p), c sin(p), 1],
p_k = sum_j g^s_j E_jk x_j. After every mini-batch, with T the particles as rows (W^s, g^s) and G the slopes of their
log-posteriors, phi_j = (1/S) sum_s k_sj [G_s + (T_j - T_s) / h^2], k_sj = exp(-|T_s - T_j|^2 / (2 h^2)): the first term
leads to where the posterior is high, the second keeps particles apart. T += eta_t phi / (floor + sqrt(H)), H a running
mean of phi^2, eta_t = eta / sqrt(1 + fading t). The answer is the mean of the particles' scores, each with the mean of
its weights over the last steps: the newest ones tremble from mini-batch to mini-batch.
"""

from typing import Any, NamedTuple

import numpy as np

from onkel.core.borrowed import borrowed, keep, row
from onkel.core.checking import disagreement
from onkel.core.growing import Change, by_field, changed, fields_placed, placed
from onkel.core.ranges import COUNT, NOT_NEGATIVE, contradiction, limits
from onkel.core.rows import Dense, dot, project, row_count, scatter
from onkel.core.support import finite
from onkel.core.verbs import compiled, entry_point, known
from onkel.learners import verbs
from onkel.pieces.losses import bounded, suffer
from onkel.pieces.maps.fourier import turn
from onkel.pieces.maps.learned import add_pull
from onkel.pieces.maps.relevance import UNKNOWN
from onkel.pieces.stein import steer, total


@known
class Posterior(NamedTuple):
    """What is sampled: exp(-lam/2 |W|^2 - times * mean loss of the rows - [prior] |g|^2 / 2)."""

    loss: Any
    lam: float
    times: float  # how much the rows of a mini-batch count, as a mean: 1, or their number
    prior: bool  # of the widths, N(0, 1) for g > 0
    moving: bool  # whether the widths are learned


@known
@limits(energy=NOT_NEGATIVE, importance=NOT_NEGATIVE, held=COUNT, steps=COUNT, clock=COUNT)
class Particles(NamedTuple):
    """All particles, the mini-batch so far, and the running squares of their steps."""

    posterior: Posterior
    rate: float
    fading: float  # the rate after t steps is rate / sqrt(1 + fading t)
    decay: float
    floor: float
    factor: float  # c
    noise: Any  # (d, D), over pi
    weights: Any  # (S, K, 2 D + 1)
    widths: Any  # (S, d)
    energy: Any  # (S, K (2 D + 1) + d): H
    rows: Any  # (batch, d); 0 from `held` on
    targets: Any  # (batch,)
    importance: Any  # (batch,)
    held: Any  # (1,): rows of the mini-batch so far
    steps: Any  # (1,)
    clock: Any  # (1,): rows learned
    steady: Any = None  # (S, K, 2 D + 1): the running mean of the weights, which answers; old files have none
    tail: float = 0.0  # about this share of the steps, the last ones, is in that mean


@contradiction.register
def _(model: Particles) -> str:
    targets, classes = model.targets, model.weights.shape[1]
    right = classes == 1 or ((targets >= 0.0) & (targets < classes) & (targets == np.floor(targets))).all()
    return "" if right else "a target is no number of a class"


class Desk(NamedTuple):
    """Room for one mini-batch and one particle."""

    stretched: Any  # (batch, d)
    phases: Any  # (batch, D); then the slopes of the loss by them
    features: Any  # (batch, 2 D)
    scores: Any  # (K,), of one row
    slopes: Any  # (K,), of one row
    steps: Any  # (K, batch): slopes of the rows, each by its share
    turned: Any  # (d, batch): the rows, transposed
    pulled: Any  # (d, D)
    gradient: Any  # (S, q)
    place: Any  # (S, q): particles as rows
    direction: Any  # (S, q)
    near: Any  # (S, S): squared distances
    kappa: Any  # (S, S), over S


@compiled
def desk(model: Any, learning: bool) -> Any:
    """Uninitialised arrays; those for learning are empty where nothing is learned."""
    real, (S, K, wide), (B, d) = model.weights.dtype, model.weights.shape, model.rows.shape
    D, many = (wide - 1) // 2, S if learning else 0
    q = K * wide + d
    return Desk(
        np.empty((B, d), real), np.empty((B, D), real), np.empty((B, 2 * D), real), np.empty(K), np.empty(K),
        np.empty((K, B), real), np.empty((d if learning else 0, B), real), np.empty((d if learning else 0, D), real),
        np.empty((many, q), real), np.empty((many, q), real), np.empty((many, q), real), np.empty((many, many)),
        np.empty((many, many), real),
    )  # fmt: skip


@entry_point
def learn(model: Any, block: Any, first: int, targets: Any, importance: Any, scores: Any) -> int:
    """Learn the rows from `first` on, writing the scores each had before; returns the number of rows done."""
    model, block = borrowed(model), borrowed(block)
    targets, importance, scores = borrowed(targets), borrowed(importance), borrowed(scores)
    unused, own = np.empty((model.rows.shape[0], scores.shape[1])), desk(model, True)
    work, spread = borrowed(own), borrowed(unused)
    n = row_count(block)
    while first < n:
        begin, last = model.held[0], hold(model, block, first, targets, importance)
        full = model.held[0] == model.rows.shape[0]
        sweep(model, model.rows, begin, begin + last - first, full, work, scores[first:last], spread)
        if full:
            move(model, work)
            model.held[0] = 0
        model.rows[model.held[0] : begin + last - first] = 0
        model.clock[0] += last - first
        first = last
    keep((own, unused))
    return n


@compiled
def hold(model: Any, block: Any, first: int, targets: Any, importance: Any) -> int:
    """Put rows that count into the mini-batch until it is full; changes model, returns the row to go on from.

    A row that does not count is put there alone, for its scores, and the next one takes its place.
    """
    i, at = first, model.held[0]
    while i < row_count(block) and at < model.rows.shape[0]:
        if not importance[i] > 0.0 and i > first:
            return i
        scatter(block, i, row(model.rows, at))
        if not importance[i] > 0.0:
            return i + 1
        model.targets[at], model.importance[at] = targets[i], importance[i]
        i, at = i + 1, at + 1
        model.held[0] = at
    return i


@entry_point
def score(model: Any, block: Any, scores: Any) -> None:
    """Write the scores of all rows; changes nothing else."""
    answer(borrowed(model), borrowed(block), borrowed(scores), np.empty(scores.shape))


@entry_point
def disagree(model: Any, block: Any, spread: Any) -> None:
    """Write the standard deviation over the particles of each score."""
    answer(borrowed(model), borrowed(block), np.empty(spread.shape), borrowed(spread))


@compiled(heavy=True)
def answer(model: Any, block: Any, scores: Any, spread: Any) -> None:
    """Mean and standard deviation of the particles' scores, for rows in tiles as long as a mini-batch."""
    own, room = desk(model, False), np.empty(model.rows.shape, model.rows.dtype)
    work, rows = borrowed(own), borrowed(room)
    n, B = row_count(block), rows.shape[0]
    for first in range(0, n, B):
        last = min(n, first + B)
        for i in range(first, last):
            scatter(block, i, row(rows, i - first))
        sweep(model, rows, 0, last - first, False, work, scores[first:last], spread[first:last])
    keep((own, room))


@compiled(heavy=True)
def sweep(model: Any, rows: Any, held: int, last: int, full: bool, work: Any, scores: Any, spread: Any) -> None:
    """Write the scores of the rows from `held` to `last`, and their deviations; of a full mini-batch all slopes too."""
    S, begin = model.weights.shape[0], 0 if full else held
    scores[:] = 0.0
    spread[: last - held] = 0.0
    if full:
        transpose(rows, work.turned)
    for s in range(S):
        lift(model, rows, s, begin, last, work)
        for b in range(held, last):
            for k in range(scores.shape[1]):
                f = score_of(model, row(row(model.steady, s), k), row(work.features, b))
                scores[b - held, k] += f / S
                spread[b - held, k] += f * f / S
        if full:
            steepen(model, s, work)
    for b in range(last - held):
        for k in range(scores.shape[1]):
            mean = finite(scores[b, k])
            spread[b, k] = np.sqrt(max(finite(spread[b, k] - mean * mean), 0.0))
            scores[b, k] = mean


@compiled
def transpose(rows: Any, turned: Any) -> None:
    for b in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            turned[j, b] = rows[b, j]


@compiled(heavy=True)
def lift(model: Any, rows: Any, s: int, first: int, last: int, work: Any) -> None:
    """Features of some rows by particle s."""
    widths = row(model.widths, s)
    for b in range(first, last):
        stretch(row(rows, b), widths, row(work.stretched, b))
    project(Dense(work.stretched), first, last - first, model.noise, work.phases[first:last])
    for b in range(first, last):
        turn(row(work.phases, b), row(work.features, b), model.noise.shape[1])


@compiled
def score_of(model: Any, weights: Any, features: Any) -> float:
    n = features.shape[0]
    return model.factor * np.float64(dot(weights, features, n)) + np.float64(weights[n])


@compiled
def stretch(x: Any, widths: Any, out: Any) -> None:
    for j in range(x.shape[0]):
        out[j] = widths[j] * x[j]


@compiled(heavy=True)
def steepen(model: Any, s: int, work: Any) -> None:
    """Write the slope of the log-posterior at particle s, from the features of the full mini-batch."""
    posterior, weights, out = model.posterior, row(model.weights, s), row(work.gradient, s)
    K, wide = weights.shape
    B, D = model.rows.shape[0], model.noise.shape[1]
    for b in range(B):
        share = posterior.times * model.importance[b] / B
        z, pull = row(work.features, b), row(work.phases, b)
        for k in range(K):
            work.scores[k] = score_of(model, row(weights, k), z)
        suffer(posterior.loss, model.targets[b], work.scores, work.slopes)
        pull[:] = 0
        for k in range(K):
            slope = bounded(share * work.slopes[k])
            work.steps[k, b] = slope
            if slope != 0.0 and posterior.moving:
                add_pull(slope * model.factor, row(weights, k), z, pull, D)
    project(Dense(work.steps), 0, K, work.features, out[: K * wide].reshape((K, wide)))
    for k in range(K):
        own = out[k * wide : (k + 1) * wide]
        against(model.factor, posterior.lam, row(weights, k), own, 2 * D)
        own[2 * D] = -total(row(work.steps, k)) - posterior.lam * np.float64(weights[k, 2 * D])
    own = out[K * wide :]
    own[:] = 0
    if posterior.moving:
        project(Dense(work.turned), 0, work.turned.shape[0], work.phases, work.pulled)
        for j in range(own.shape[0]):
            along = np.pi * np.float64(dot(row(model.noise, j), row(work.pulled, j), D))
            own[j] = -finite(along) - (np.float64(model.widths[s, j]) if posterior.prior else 0.0)


@compiled(heavy=True)
def against(factor: float, lam: float, weights: Any, out: Any, n: int) -> None:
    """out = -factor out - lam weights."""
    first, second = out.dtype.type(factor), out.dtype.type(lam)
    for k in range(n):
        out[k] = -first * out[k] - second * weights[k]


@compiled(heavy=True)
def move(model: Any, work: Any) -> None:
    """One step of all particles; changes model."""
    S, K, wide = model.weights.shape
    for s in range(S):
        place, weights = row(work.place, s), row(model.weights, s)
        for k in range(K):
            for m in range(wide):
                place[k * wide + m] = weights[k, m]
        for j in range(model.widths.shape[1]):
            place[K * wide + j] = model.widths[s, j] if model.posterior.moving else 0.0
    steer(work.place, work.gradient, work.near, work.kappa, work.direction)
    first, rate = model.steps[0] == 0, model.rate / np.sqrt(1.0 + model.fading * model.steps[0])
    past = model.tail * model.steps[0]
    kept = model.weights.dtype.type(past / (1.0 + past))
    for s in range(S):
        step(rate, 0.0 if first else model.decay, model.floor, row(work.direction, s), row(model.energy, s),
             row(work.place, s))  # fmt: skip
        place, weights, steady = row(work.place, s), row(model.weights, s), row(model.steady, s)
        for k in range(K):
            for m in range(wide):
                weights[k, m] = place[k * wide + m]
                steady[k, m] = weights[k, m] + kept * (steady[k, m] - weights[k, m])
        if model.posterior.moving:
            for j in range(model.widths.shape[1]):
                g = place[K * wide + j]
                model.widths[s, j] = abs(g) if model.posterior.prior else g
    model.steps[0] += 1


@compiled(heavy=True)
def step(rate: float, decay: float, floor: float, direction: Any, energy: Any, place: Any) -> None:
    """place += rate direction / (floor + sqrt(energy)), energy a running mean of squares."""
    real = place.dtype.type
    eta, kept, new, least = real(rate), real(decay), real(1.0 - decay), real(floor)
    for m in range(place.shape[0]):
        energy[m] = kept * energy[m] + new * direction[m] * direction[m]
        place[m] += eta * direction[m] / (least + np.sqrt(energy[m]))


# ---- what else a model can do ----

verbs.in_loop(learn, score)(Particles)
verbs.disagree.register(Particles, disagree)


@disagreement.register
def _(model: Particles) -> str:
    return "" if 0 <= model.held[0] < len(model.rows) else f"{model.held[0]} rows are held of {len(model.rows)}"


@placed.register
def _(old: Particles, fresh: Any, width: int) -> Any:
    """The energy of a particle is that of its weights, output by output, and then that of its widths."""
    d, shape = old.widths.shape[1], fresh.weights.shape
    energy = fresh.energy.copy()
    energy[:, : old.weights[0].size] = old.energy[:, :-d]
    energy[:, shape[1] * shape[2] :][:, :d] = old.energy[:, -d:]
    return fields_placed(old._replace(energy=energy), fresh._replace(energy=energy), width)


@changed.register
def _(fresh: Particles, old: Any, change: Change) -> Any:
    """Of the energies of a particle those of its weights come first, then those of its widths."""
    S, _, wide = old.weights.shape
    of_weights = change.energy(old.energy[:, :wide].reshape(S, 1, wide), 1).reshape(S, -1)
    own = {"weights": change.signed(old.weights, 1), "steady": change.signed(old.steady, 1)}
    own |= {"energy": np.hstack([of_weights, old.energy[:, wide:]]), "targets": change.targets(old.targets)}
    return by_field(fresh, old, change, **own)


@verbs.relevance.register
def _(model: Particles) -> Any:
    if not model.posterior.moving:
        raise ValueError(UNKNOWN)
    widths = np.sqrt(np.mean(np.square(model.widths, dtype=np.float64), axis=0))
    drawn = np.pi * np.sqrt(np.mean(np.square(model.noise, dtype=np.float64), axis=1))
    return np.asarray(widths * drawn)


@verbs.feature_space.register
def _(model: Particles) -> Any:
    raise ValueError("it consists of several samples, each with features of its own")


@verbs.graph_scores.register
def _(model: Particles, g: Any, x: str) -> str:
    each = []
    for weights, widths in zip(model.steady, model.widths, strict=True):
        z = g.turned(g("MatMul", g("Mul", x, widths), model.noise))
        each.append(g("Add", g.product(z, weights[:, :-1], model.factor), weights[:, -1].astype(np.float64)))
    return str(g.finite(g.mean(each)))
