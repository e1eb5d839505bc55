"""A kernel expansion on a budget beside a linear part: points that have to go live on in explicit features.

f(x) = sum_i a_i k(x_i, x) + w . z(x), z being features of the same kernel.
"""

from typing import Any, NamedTuple

import numpy as np

from onkel.core.borrowed import borrowed, keep, row
from onkel.core.checking import disagreement, resized
from onkel.core.growing import Change, as_it_is, by_field, changed
from onkel.core.points import room_for_one, standing
from onkel.core.ranges import COUNT, limits
from onkel.core.rows import dot, row_count
from onkel.core.support import SCALE, Candidate, Support, append, finite, forget, other_size, take_over, trust
from onkel.core.verbs import compiled, entry_point, known
from onkel.learners import verbs
from onkel.pieces.budgets.choices import TIE, square_of
from onkel.pieces.kernels import measure, self_similarity, similarities
from onkel.pieces.losses import adapt, suffered
from onkel.pieces.maps.verbs import factor, lift, width, work_width
from onkel.pieces.steps import pace


@known
@limits(scale=SCALE, clock=COUNT)
class Hybrid(NamedTuple):
    """An expansion and a linear part. When the support is full, its `merge` smallest terms move to the features."""

    kernel: Any
    loss: Any
    step: Any
    merge: int
    support: Support
    feature_map: Any
    weights: Any  # (K, width)
    scale: Any  # (1,): common factor of the weights
    clock: Any  # (1,): rows learned


class Desk(NamedTuple):
    """Room for the numbers of one row."""

    similar: Any  # (B,)
    work: Any  # (1, work width)
    features: Any  # (1, width)
    point: Any  # of `standing`
    slopes: Any  # (K,)
    coef: Any


def hybrid(kernel: Any, loss: Any, step: Any, merge: int, support: Support, feature_map: Any) -> Hybrid:
    """A learner that knows nothing yet."""
    weights = np.zeros((len(support.coef), int(width(feature_map))), support.coef.dtype)
    return Hybrid(kernel, loss, step, merge, support, feature_map, weights, np.ones(1), np.zeros(1, np.int64))


@compiled
def desk(model: Any) -> Any:
    """Uninitialised arrays for the numbers of one row."""
    real, outputs = model.weights.dtype, model.weights.shape[0]
    return Desk(
        np.empty(model.support.sizes.shape[0], real),
        np.empty((1, work_width(model.feature_map)), real),
        np.empty((1, model.weights.shape[1]), real),
        room_for_one(model.support.points),
        np.empty(outputs),
        np.empty(outputs),
    )


@entry_point
def learn(model: Any, block: Any, first: int, targets: Any, importance: Any, scores: Any) -> int:
    """Learn the rows from `first` on, writing the scores each had before; returns the number of rows done."""
    model, block = borrowed(model), borrowed(block)
    targets, importance, scores = borrowed(targets), borrowed(importance), borrowed(scores)
    trust(model.support)
    own = desk(model)
    work = borrowed(own)
    for i in range(first, row_count(block)):
        size = measure(model.kernel, block, i)
        predict(model, block, i, size, work, row(scores, i))
        update(model, block, i, size, targets[i], importance[i], row(scores, i), work)
    keep(own)
    return row_count(block)


@entry_point
def score(model: Any, block: Any, scores: Any) -> None:
    """Write the scores of all rows; changes nothing else."""
    model, block, scores = borrowed(model), borrowed(block), borrowed(scores)
    trust(model.support)
    own = desk(model)
    work = borrowed(own)
    for i in range(row_count(block)):
        predict(model, block, i, measure(model.kernel, block, i), work, row(scores, i))
    keep(own)


@compiled
def predict(model: Any, block: Any, i: int, size: float, work: Any, scores: Any) -> None:
    support, n = model.support, model.support.count[0]
    similarities(model.kernel, block, i, size, support.points, support.sizes, n, work.similar)
    lift(model.feature_map, block, i, 1, work.work, work.features)
    common, z = model.scale[0] * factor(model.feature_map), row(work.features, 0)
    for k in range(scores.shape[0]):
        exact = support.scale[0] * dot(row(support.coef, k), work.similar, n)
        scores[k] = finite(exact + common * dot(row(model.weights, k), z, z.shape[0]))


@compiled
def update(
    model: Any, block: Any, i: int, size: float, target: float, importance: float, scores: Any, work: Any
) -> None:
    """One gradient step in function space; changes model."""
    support, t, slopes, coef = model.support, model.clock[0] + 1, work.slopes, work.coef
    loss = suffered(model.loss, target, importance, scores, slopes)
    alike = self_similarity(model.kernel, size)
    shrink, gain = pace(model.step, t, loss, slopes, alike)
    forget(support.scale, shrink, support.coef, support.count[0])
    forget(model.scale, shrink, model.weights, model.weights.shape[1])
    active = False
    for k in range(slopes.shape[0]):
        coef[k] = -gain * slopes[k] / support.scale[0]
        active = active or coef[k] != 0.0
    if active:
        if support.count[0] == support.sizes.shape[0]:
            for _ in range(min(model.merge, support.count[0])):
                hand_over(model, smallest(support), work)
        scale = support.scale[0]
        append(support, block, Candidate(i, size, alike, work.similar, coef, scale, target, scores, t))
    model.clock[0] = t
    adapt(model.loss, importance, slopes)


@compiled
def smallest(support: Any) -> int:
    """The slot of the smallest coefficients; the oldest of those that are tied."""
    n, least = support.count[0], np.inf
    for j in range(n):
        least = min(least, square_of(support, j))
    limit, slot = least * (1.0 + TIE), -1
    for j in range(n):
        if square_of(support, j) <= limit and (slot < 0 or support.born[j] < support.born[slot]):
            slot = j
    return max(slot, 0)


@compiled
def hand_over(model: Any, slot: int, work: Any) -> None:
    """Move a point from the support to the features: w += a_i z(x_i); changes model."""
    support = model.support
    block, i = standing(support.points, slot, work.point)
    lift(model.feature_map, block, i, 1, work.work, work.features)
    common, z = factor(model.feature_map) * support.scale[0] / model.scale[0], row(work.features, 0)
    for k in range(model.weights.shape[0]):
        c, weights = z.dtype.type(common * support.coef[k, slot]), row(model.weights, k)
        for j in range(z.shape[0]):
            weights[j] += c * z[j]
    take_over(support, slot, support.count[0] - 1)
    support.count[0] -= 1


# ---- what else a model can do ----

verbs.in_loop(learn, score)(Hybrid)


@resized.register
def _(expected: Hybrid, model: Any) -> str:
    return other_size(model.support, expected.support)


@disagreement.register
def _(model: Hybrid) -> str:
    return disagreement(model.support)


@changed.register
def _(fresh: Hybrid, old: Any, change: Change) -> Any:
    weights = change.signed(old.weights, 0)
    return by_field(fresh, old, change, feature_map=as_it_is(old.feature_map), weights=weights)


@verbs.feature_space.register
def _(model: Hybrid) -> Any:
    raise ValueError("part of it uses the features of the kernel itself, of which there are too many to write down")


@verbs.graph_scores.register
def _(model: Hybrid, g: Any, x: str) -> str:
    return g.finite(g("Add", g.weighted_similarities(x, model), g.weighted_features(x, model)))
