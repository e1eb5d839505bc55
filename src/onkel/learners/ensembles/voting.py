"""Experts that vote: the answer is which side has more weight, and whoever errs loses weight."""

from typing import Any, NamedTuple

import numpy as np

from onkel.core.randomness import draw, uniform
from onkel.core.ranges import NOT_NEGATIVE, limits
from onkel.core.rows import pack, row_count, unpack
from onkel.core.verbs import compiled, entry_point
from onkel.learners import verbs
from onkel.learners.ensembles.experts import Experts, blend, follow, graph_blend, learn_by, reward, shares_of
from onkel.learners.ensembles.side_by_side import rooms, with_parts


@limits(weights=NOT_NEGATIVE)
class Votes(NamedTuple):
    """f = sum_p w_p sgn(f_p), sgn(0) = 1; w_p is multiplied by `discount` where y f_p <= 0, and all are normalised.

    With `some` set, only experts that are drawn take part; with `lazy` set, only such learn. The chance to be drawn is
    (1 - least) w_p / max w + least.
    """

    discount: float
    some: bool
    lazy: bool
    least: float
    weights: Any  # (P,)
    state: Any  # (1,) of a generator


@compiled
def drawn(combination: Any, state: Any, heaviest: float, p: int) -> bool:
    """Whether expert p is drawn; changes state."""
    least = combination.least
    return uniform(state) < (1.0 - least) * combination.weights[p] / heaviest + least


@compiled
def heaviest_of(weights: Any) -> float:
    most = weights[0]
    for p in range(weights.shape[0]):
        most = max(most, weights[p])
    return most


@blend.of(Votes)
def _(combination: Votes, own: Any, i: int, room: Any, scores: Any) -> None:
    weights, state = combination.weights, combination.state.copy()
    heaviest, total, count = heaviest_of(weights), 0.0, 0
    for p in range(weights.shape[0]):
        room[p] = 1.0 if not combination.some or drawn(combination, state, heaviest, p) else 0.0
        count += 1 if room[p] > 0.0 else 0
    for p in range(weights.shape[0]):
        if count == 0 or room[p] > 0.0:
            total += weights[p] * (1.0 if own[p, i, 0] >= 0.0 else -1.0)
    scores[0] = total


@reward.of(Votes)
def _(
    combination: Votes, target: float, importance: float, own: Any, i: int, room: Any, scores: Any, slopes: Any
) -> None:
    weights, total = combination.weights, 0.0
    for p in range(weights.shape[0]):
        if combination.some:
            draw(combination.state)
        if combination.lazy:
            draw(combination.state)
        if importance > 0.0 and target * own[p, i, 0] <= 0.0:
            weights[p] *= combination.discount
        total += weights[p]
    for p in range(weights.shape[0]):
        weights[p] /= total


@entry_point
def learning(combination: Any, chosen: Any) -> None:
    """Write which experts learn the next row; changes nothing else."""
    state, heaviest = combination.state.copy(), heaviest_of(combination.weights)
    for _ in range(combination.weights.shape[0] if combination.some else 0):
        draw(state)
    for p in range(combination.weights.shape[0]):
        chosen[p] = 1.0 if drawn(combination, state, heaviest, p) else 0.0


def votes(count: int, discount: float, some: bool, lazy: bool, least: float, state: Any) -> Votes:
    """Equal weights."""
    return Votes(discount, some, lazy, least, np.full(count, 1.0 / count), state)


@learn_by.register
def _(
    combination: Votes, model: Experts, block: Any, first: int, targets: Any, importance: Any, scores: Any
) -> Experts:
    learn_rows = learn_lazily if combination.lazy else learn_by.dispatch(object)
    return learn_rows(combination, model, block, first, targets, importance, scores)


def learn_lazily(
    combination: Votes, model: Experts, block: Any, first: int, targets: Any, importance: Any, scores: Any
) -> Experts:
    """Row by row: who learns a row depends on the weights before it."""
    chosen = np.zeros(len(model.parts))
    for i in range(first, int(row_count(block))):
        here, own = slice(i, i + 1), rooms(model, 1, scores.shape[1])
        row = pack(unpack(block)[here], block[0].dtype)
        learning(combination, chosen)
        parts = []
        for part, room, share in zip(model.parts, own, chosen, strict=True):
            verbs.score(part, row, room)
            unseen = np.zeros_like(room)
            parts.append(verbs.learn(part, row, 0, targets[here], importance[here], unseen) if share > 0.0 else part)
        follow(combination, own, 0, 1, targets[here], importance[here], scores[here])
        model.clock[0] += 1
        model = with_parts(model, parts)
    return model


@graph_blend.register
def _(combination: Votes, g: Any, own: list[str]) -> str:
    return str(g.weighted([g.vote(one, 1) for one in own], shares_of(combination, len(own))))
