"""Linear learners over partitions: f(x) = <w, Phi(x)> = sum_i w[cell of x in partition i], one weight per cell.

Phi may carry a factor c. The weights kept are c w, so that scores are sums of equal steps, and exact: with a hinge and
a constant step many rows lie just on the margin, where rounding would decide.
"""

from typing import Any, NamedTuple

import numpy as np

from onkel.core.borrowed import borrowed, keep, row
from onkel.core.checking import disagreement, free
from onkel.core.growing import Change, as_it_is, by_field, changed
from onkel.core.ranges import COUNT, limits
from onkel.core.rows import row_count
from onkel.core.support import SCALE, finite, forget
from onkel.core.verbs import compiled, entry_point, known
from onkel.learners import verbs
from onkel.pieces.losses import adapt, suffered
from onkel.pieces.maps.isolation import OUTSIDE, SIDE_BY_SIDE, Cells, cell_count, locate, partition_count
from onkel.pieces.steps import pace


@known
@limits(scale=SCALE, clock=COUNT)
@free("weights")
class Indexed(NamedTuple):
    """Weights of all cells; the cost of a score is the number of partitions, however many cells they have."""

    partitions: Any
    loss: Any
    step: Any
    norm: float  # c^2: |Phi(x)|^2 = c^2 t
    weights: Any  # (K, cells): c w
    scale: Any  # (1,)
    clock: Any  # (1,): rows learned


def indexed(partitions: Any, loss: Any, step: Any, norm: float, n_outputs: int, dtype: Any) -> Indexed:
    """A learner that knows nothing yet."""
    weights = np.zeros((n_outputs, cell_count(partitions)), dtype)
    return Indexed(partitions, loss, step, norm, weights, np.ones(1), np.zeros(1, np.int64))


@entry_point
def learn(model: Any, block: Any, first: int, targets: Any, importance: Any, scores: Any) -> int:
    """Learn the rows from `first` on, writing the scores each had before; returns the number of rows done."""
    model, block = borrowed(model), borrowed(block)
    targets, importance, scores = borrowed(targets), borrowed(importance), borrowed(scores)
    n = row_count(block)
    own = np.empty((SIDE_BY_SIDE, partition_count(model.partitions)), np.int64), np.empty(scores.shape[1])
    cells, slopes = borrowed(own)
    for start in range(first, n, SIDE_BY_SIDE):
        count = min(SIDE_BY_SIDE, n - start)
        locate(model.partitions, block, start, count, cells)
        for r in range(count):
            i = start + r
            predict(model, row(cells, r), row(scores, i))
            update(model, row(cells, r), targets[i], importance[i], row(scores, i), slopes)
    keep(own)
    return n


@entry_point
def score(model: Any, block: Any, scores: Any) -> None:
    """Write the scores of all rows; changes nothing else."""
    model, block, scores = borrowed(model), borrowed(block), borrowed(scores)
    n = row_count(block)
    own = np.empty((SIDE_BY_SIDE, partition_count(model.partitions)), np.int64)
    cells = borrowed(own)
    for start in range(0, n, SIDE_BY_SIDE):
        count = min(SIDE_BY_SIDE, n - start)
        locate(model.partitions, block, start, count, cells)
        for r in range(count):
            predict(model, row(cells, r), row(scores, start + r))
    keep(own)


@compiled
def predict(model: Any, cells: Any, scores: Any) -> None:
    for k in range(scores.shape[0]):
        weights, total = row(model.weights, k), 0.0
        for i in range(cells.shape[0]):
            total += weights[cells[i]]
        scores[k] = finite(model.scale[0] * total)


@compiled
def update(model: Any, cells: Any, target: float, importance: float, scores: Any, slopes: Any) -> None:
    """One gradient step from the scores of the row; changes model."""
    loss = suffered(model.loss, target, importance, scores, slopes)
    model.clock[0] += 1
    shrink, gain = pace(model.step, model.clock[0], loss, slopes, model.norm * cells.shape[0])
    forget(model.scale, shrink, model.weights, model.weights.shape[1])
    for k in range(slopes.shape[0]):
        weights, change = row(model.weights, k), gain * model.norm * slopes[k] / model.scale[0]
        if change != 0.0:
            for i in range(cells.shape[0]):
                weights[cells[i]] -= change
    adapt(model.loss, importance, slopes)


# ---- what else a model can do ----

verbs.in_loop(learn, score)(Indexed)


@disagreement.register
def _(model: Indexed) -> str:
    problem = disagreement(model.partitions)
    return problem or ("" if cell_count(model.partitions) == model.weights.shape[1] else OUTSIDE)


@changed.register
def _(fresh: Indexed, old: Any, change: Change) -> Any:
    weights = change.signed(old.weights, 0)
    return by_field(fresh, old, change, partitions=as_it_is(old.partitions), weights=weights)


@verbs.lent.register
def _(fresh: Indexed, known: Any) -> Indexed:
    return fresh._replace(partitions=known.partitions, weights=np.zeros_like(known.weights))


@verbs.compressed_rows_give.register
def _(model: Indexed) -> bool:
    return not isinstance(model.partitions, Cells)


@verbs.feature_space.register
def _(model: Indexed) -> Any:
    raise ValueError("its features are cells of partitions, which are never written down")
