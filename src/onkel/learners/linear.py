"""Linear learners over a feature map: f(x) = W z(x), one gradient step per row."""

from typing import Any, NamedTuple

import numpy as np

from onkel.core.borrowed import borrowed, keep, row
from onkel.core.checking import disagreement, free_arrays
from onkel.core.growing import Change, as_it_is, by_field, changed
from onkel.core.ranges import COUNT, contradiction, limits
from onkel.core.rows import dot, row_count
from onkel.core.support import SCALE, finite, forget
from onkel.core.verbs import compiled, entry_point, known
from onkel.learners import verbs
from onkel.pieces.losses import adapt, suffered
from onkel.pieces.maps.nystroem import Nystroem
from onkel.pieces.maps.relevance import spread
from onkel.pieces.maps.verbs import factor, feature_norm, lift, retune, tile_rows, width, work_width
from onkel.pieces.steps import ADAGRAD, MINIBATCH, has_memory, move, pace


@known
@limits(scale=SCALE, clock=COUNT)
class Linear(NamedTuple):
    """scores = scale * factor(feature_map) * weights @ features."""

    feature_map: Any
    loss: Any
    step: Any
    weights: Any  # (K, width)
    memory: Any  # (K, width) for steps that keep a number per weight, else (K, 0)
    scale: Any  # (1,)
    clock: Any  # (1,): rows learned


@contradiction.register
def _(model: Linear) -> str:
    right = getattr(model.step, "code", None) != ADAGRAD or (model.memory >= 0.0).all()
    return "" if right else "its sums of squares are negative"


def linear(feature_map: Any, loss: Any, step: Any, n_outputs: int, dtype: Any) -> Linear:
    """A linear learner that knows nothing yet."""
    n = int(width(feature_map))
    memory = np.zeros((n_outputs, n if has_memory(step) else 0), dtype)
    weights = np.zeros((n_outputs, n), dtype)
    return Linear(feature_map, loss, step, weights, memory, np.ones(1), np.zeros(1, np.int64))


@entry_point
def learn(model: Any, block: Any, first: int, targets: Any, importance: Any, scores: Any) -> int:
    """Learn the rows from `first` on, writing the scores each had before; returns the number of rows done."""
    model, block = borrowed(model), borrowed(block)
    targets, importance, scores = borrowed(targets), borrowed(importance), borrowed(scores)
    n, tile = row_count(block), min(row_count(block) - first, tile_rows(model.feature_map))
    own = work_space(model, tile), np.empty(scores.shape[1])
    (work, features), slopes = borrowed(own)
    for start in range(first, n, max(tile, 1)):
        count = min(tile, n - start)
        lift(model.feature_map, block, start, count, work, features)
        for r in range(count):
            i = start + r
            predict(model, row(features, r), row(scores, i))
            room = row(work, r)
            update(model, block, i, row(features, r), targets[i], importance[i], row(scores, i), slopes, room)
    keep(own)
    return n


@entry_point
def score(model: Any, block: Any, scores: Any) -> None:
    """Write the scores of all rows; changes nothing else."""
    model, block, scores = borrowed(model), borrowed(block), borrowed(scores)
    n, tile = row_count(block), min(row_count(block), tile_rows(model.feature_map))
    own = work_space(model, tile)
    work, features = borrowed(own)
    for start in range(0, n, max(tile, 1)):
        count = min(tile, n - start)
        lift(model.feature_map, block, start, count, work, features)
        for r in range(count):
            predict(model, row(features, r), row(scores, start + r))
    keep(own)


@compiled
def work_space(model: Any, tile: int) -> Any:
    """Uninitialised arrays for a tile of rows: what `lift` works in, and its features."""
    real = model.weights.dtype
    wide = model.weights.shape[1]
    return np.empty((tile, work_width(model.feature_map)), real), np.empty((tile, wide), real)


@compiled
def predict(model: Any, features: Any, scores: Any) -> None:
    common = model.scale[0] * factor(model.feature_map)
    n = model.weights.shape[1]
    for k in range(scores.shape[0]):
        scores[k] = finite(common * dot(row(model.weights, k), features, n))


@compiled
def update(
    model: Any, block: Any, i: int, features: Any, target: float, importance: float,
    scores: Any, slopes: Any, room: Any,
) -> None:  # fmt: skip
    """One gradient step from the scores of the row; changes model."""
    loss = suffered(model.loss, target, importance, scores, slopes)
    model.clock[0] += 1
    norm = feature_norm(model.feature_map, features)
    shrink, gain = pace(model.step, model.clock[0], loss, slopes, norm)
    common = factor(model.feature_map)
    now = model.scale[0] * common
    retune(model.feature_map, block, i, model.clock[0], now, slopes, model.weights, features, room)
    forget(model.scale, shrink, model.weights, model.weights.shape[1])
    for k in range(slopes.shape[0]):
        step, weights = gain / model.scale[0], row(model.weights, k)
        move(model.step, step, common * slopes[k], features, weights, row(model.memory, k))
    adapt(model.loss, importance, slopes)


# ---- what else a model can do ----

verbs.in_loop(learn, score)(Linear)


@free_arrays.register
def _(model: Linear) -> dict[str, int]:
    """Of landmarks, the rank may be less than the budget."""
    return {"weights": 1, "memory": 1} if isinstance(model.feature_map, Nystroem) else {}


@disagreement.register
def _(model: Linear) -> str:
    if isinstance(model.feature_map, Nystroem):
        wide = model.feature_map.projection.shape[1]
        memory = wide if has_memory(model.step) else 0
        if (model.weights.shape[1], model.memory.shape[1]) != (wide, memory):
            return "its landmarks and its weights do not fit"
    return disagreement(model.feature_map)


@changed.register
def _(fresh: Linear, old: Any, change: Change) -> Any:
    of_memory = change.signed if old.step.code == MINIBATCH else change.energy  # slopes added up, or their squares
    weights, memory = change.signed(old.weights, 0), of_memory(old.memory, 0)
    return by_field(fresh, old, change, feature_map=as_it_is(old.feature_map), weights=weights, memory=memory)


@verbs.relevance.register
def _(model: Linear) -> Any:
    return spread(model.feature_map)


@verbs.feature_space.register
def _(model: Linear) -> Any:
    return model.feature_map


@verbs.graph_scores.register
def _(model: Linear, g: Any, x: str) -> str:
    return g.finite(g.weighted_features(x, model))
