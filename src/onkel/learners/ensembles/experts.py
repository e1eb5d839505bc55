"""Learners whose scores are combined by how well each of them has done.

Experts know nothing of each other: each learns the rows and leaves its scores; a combination follows the slowest of
them, row by row. So experts can run in threads, and nothing depends on that.
"""

from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from onkel.core.borrowed import borrowed, keep, row
from onkel.core.checking import disagreement, misfit
from onkel.core.growing import Change, by_field, changed, fields_placed, placed
from onkel.core.ranges import COUNT, limits
from onkel.core.rows import pack, row_count, some, unpack
from onkel.core.support import finite
from onkel.core.threads import in_turns, trailing
from onkel.core.verbs import compiled, entry_point, known, verb
from onkel.learners import verbs
from onkel.learners.ensembles.side_by_side import MODELS_OF_THEIR_OWN, misfit_of_parts, rooms, score_parts, with_parts
from onkel.pieces.losses import soften, suffer


@known
@limits(clock=COUNT)
class Experts(NamedTuple):
    """Models of the same task, and what makes one answer of theirs."""

    parts: tuple[Any, ...]
    combination: Any
    clock: Any  # (1,): rows learned


class Hedge(NamedTuple):
    """f = sum_p w_p f_p, with weights that fall exponentially with the losses: log w_p -= rate l_p."""

    loss: Any
    rate: float
    log_weights: Any  # (P,)


class Descent(NamedTuple):
    """f = sum_p w_p f_p, with weights that follow the slope of the squared error: w_p -= rate 2 (f - y) f_p."""

    rate: float
    weights: Any  # (P,)


@verb
def blend(combination: Any, own: Any, i: int, room: Any, scores: Any) -> None:
    """The answer to row i from the scores own (P, n, K) of the experts; writes room and scores, changes nothing."""


@verb
def reward(
    combination: Any, target: float, importance: float, own: Any, i: int, room: Any, scores: Any, slopes: Any
) -> None:
    """Count in how good the scores for row i were, `scores` being the answer; changes combination."""


def experts(parts: tuple[Any, ...], combination: Any) -> Experts:
    """Models that know nothing yet, side by side."""
    return Experts(parts, combination, np.zeros(1, np.int64))


@entry_point
def follow(combination: Any, own: Any, first: int, last: int, targets: Any, importance: Any, scores: Any) -> None:
    """Answer and count in the rows from `first` to before `last`, one after the other."""
    combination, own = borrowed(combination), borrowed(own)
    targets, importance, scores = borrowed(targets), borrowed(importance), borrowed(scores)
    mine = np.empty(own.shape[0]), np.empty(own.shape[2])
    room, slopes = borrowed(mine)
    for i in range(first, last):
        blend(combination, own, i, room, row(scores, i))
        reward(combination, targets[i], importance[i], own, i, room, row(scores, i), slopes)
    keep(mine)


@entry_point
def answer(combination: Any, own: Any, first: int, last: int, scores: Any) -> None:
    """The answers to the rows from `first` to before `last`; changes nothing else."""
    combination, own, scores = borrowed(combination), borrowed(own), borrowed(scores)
    mine = np.empty(own.shape[0])
    room = borrowed(mine)
    for i in range(first, last):
        blend(combination, own, i, room, row(scores, i))
    keep(mine)


@compiled
def weighted(weights: Any, own: Any, i: int, scores: Any) -> None:
    """scores = sum_p weights_p own[p, i]."""
    for k in range(scores.shape[0]):
        total = 0.0
        for p in range(weights.shape[0]):
            total += weights[p] * own[p, i, k]
        scores[k] = finite(total)


@blend.of(Hedge)
def by_logarithms(combination: Any, own: Any, i: int, room: Any, scores: Any) -> None:
    """sum_p w_p f_p / sum_p w_p, from log w."""
    soften(combination.log_weights, room)
    weighted(room, own, i, scores)


@reward.of(Hedge)
def _(
    combination: Hedge, target: float, importance: float, own: Any, i: int, room: Any, scores: Any, slopes: Any
) -> None:
    highest, logs = -np.inf, combination.log_weights
    for p in range(logs.shape[0]):
        loss = suffer(combination.loss, target, row(row(own, p), i), slopes)
        logs[p] = finite(logs[p] - importance * combination.rate * loss)
        highest = max(highest, logs[p])
    for p in range(logs.shape[0]):
        logs[p] -= highest


@blend.of(Descent)
def _(combination: Descent, own: Any, i: int, room: Any, scores: Any) -> None:
    weighted(combination.weights, own, i, scores)


@reward.of(Descent)
def _(
    combination: Descent, target: float, importance: float, own: Any, i: int, room: Any, scores: Any, slopes: Any
) -> None:
    step = 2.0 * combination.rate * importance * (scores[0] - target)
    for p in range(combination.weights.shape[0]):
        combination.weights[p] = finite(combination.weights[p] - step * own[p, i, 0])


# ---- more and more experts ----


@singledispatch
def levels_after(combination: Any, rows: int) -> int:
    """How many levels there are once so many rows are learned; 0 for combinations that have none."""
    return 0


@singledispatch
def with_next_level(combination: Any, model: Experts) -> Experts:
    """The model with one more level."""
    raise TypeError(f"{type(combination).__name__} has no levels.")


def until_next_level(model: Experts) -> int:
    """How many rows can be learned before a level comes new, which is at or just before a power of two."""
    rows, here = int(model.clock[0]), levels_after(model.combination, int(model.clock[0]))
    power = 1 << (rows + 1).bit_length()
    later = (n for n in (power // 2, power - 1, power) if n > rows and levels_after(model.combination, n) > here)
    return next(later, power) - rows


def with_levels(first: Experts, model: Experts) -> Experts:
    """A fresh model with as many levels as a model should have after its rows, but at most as many as it has."""
    clock = model.clock
    rows = int(clock[0]) if isinstance(clock, np.ndarray) and clock.shape == (1,) and clock.dtype == np.int64 else 0
    most = len(model.parts) if isinstance(model.parts, tuple) else 0
    while len(first.parts) <= most and levels_after(first.combination, max(rows, 0)) > len(first.parts):
        first = with_next_level(first.combination, first)
    return first


# ---- what else a model can do ----


@verbs.learn.register
def _(model: Experts, block: Any, first: int, targets: Any, importance: Any, scores: Any) -> Any:
    return learn_by(model.combination, model, block, first, targets, importance, scores)


@singledispatch
def learn_by(
    combination: Any, model: Experts, block: Any, first: int, targets: Any, importance: Any, scores: Any
) -> Experts:
    """Learn the rows expert by expert, then combine what they said row by row."""
    n = int(row_count(block))
    while first < n:
        last = min(n, first + until_next_level(model)) if levels_after(model.combination, 0) else n
        here = block if (first, last) == (0, n) else pack(unpack(block)[first:last], block[0].dtype)
        model = followed(model, here, targets[first:last], importance[first:last], scores[first:last])
        if levels_after(model.combination, int(model.clock[0])) > len(model.parts):
            model = with_next_level(model.combination, model)
        first = last
    return model


def followed(model: Experts, block: Any, targets: Any, importance: Any, scores: Any) -> Experts:
    """The experts after all rows of a block."""
    own, combination = rooms(model, *scores.shape), model.combination

    def combine(rows: slice) -> None:
        follow(combination, own, rows.start, rows.stop, targets, importance, scores)

    passed = trailing(combine, len(model.parts))

    def work(k: int, part: Any, rows: slice) -> Any:
        part = verbs.learn(part, some(block, rows), 0, targets[rows], importance[rows], own[k, rows])
        passed(k, rows.stop)
        return part

    parts = in_turns(work, model.parts, 0, len(scores))
    model.clock[0] += len(scores)
    after: Experts = with_parts(model, parts)
    return after


@verbs.score.register
def _(model: Experts, block: Any, scores: Any) -> None:
    own = score_parts(model, rooms(model, *scores.shape), block)
    answer(model.combination, own, 0, len(scores), scores)


@verbs.prepare.register
def _(model: Experts, block: Any, scores: Any) -> None:
    own = rooms(model, *scores.shape)
    follow.bind(model.combination, own, 0, 0, np.zeros(0), np.zeros(0), scores)
    answer.bind(model.combination, own, 0, 0, scores)
    for part in {type(part): part for part in model.parts}.values():
        verbs.prepare(part, block, own[0])


@misfit.register
def _(first: Experts, model: Any, ruled: bool, n_features: int) -> str:
    first = with_levels(first, model) if type(model) is Experts else first
    problem = misfit_of_parts(first, model, ruled, n_features)
    if problem:
        return problem
    found, given = (getattr(one.combination, "rates", np.zeros(0)) for one in (model, first))
    return "" if np.allclose(found, given) else "its levels have other rates than its recipe gives them"


@disagreement.register
def _(model: Experts) -> str:
    """Weights that are divided by their sum must have one; those of `Descent` may be anything."""
    weights = getattr(model.combination, "weights", None)
    if weights is None or isinstance(model.combination, Descent):
        return ""
    with np.errstate(over="ignore"):
        usable = weights.min() >= 0.0 and 0.0 < weights.sum() < np.inf
    return "" if usable else "its experts have no weights that add up"


@placed.register
def _(old: Experts, fresh: Any, width: int) -> Any:
    return fields_placed(old, with_levels(fresh, old), width)


@changed.register
def _(fresh: Experts, old: Any, change: Change) -> Any:
    return by_field(with_levels(fresh, old), old, change)


@verbs.compressed_rows_give.register
def _(model: Experts) -> bool:
    return verbs.compressed_rows_give(model.parts[0])


@verbs.feature_space.register
def _(model: Experts) -> Any:
    raise ValueError(MODELS_OF_THEIR_OWN)


@verbs.graph_scores.register
def _(model: Experts, g: Any, x: str) -> str:
    own = [verbs.graph_scores(part, g, x) for part in model.parts]
    return str(g.finite(graph_blend(model.combination, g, own)))


@singledispatch
def graph_blend(combination: Any, g: Any, own: list[str]) -> str:
    """The answer from the scores of the experts, as nodes of an ONNX graph."""
    return str(g.weighted(own, shares_of(combination, len(own))))


def shares_of(combination: Any, count: int) -> Any:
    """The weight of each expert, from what a combination makes of signs: all +1, and all -1 but for one."""
    own = np.vstack([2.0 * np.eye(count) - 1.0, np.ones(count)]).T[:, :, None].copy()
    told = np.zeros((count + 1, 1))
    answer(combination, own, 0, count + 1, told)
    return (told[:-1, 0] + told[-1, 0]) / 2.0
