"""From a block to a changed model: choose the loop by the model, and make room when a loop stops early."""

from functools import singledispatch
from typing import Any

import numpy as np

from onkel.budgets.appending import Handover, Unbounded
from onkel.dispatch import EntryPoint
from onkel.learners import expansion, linear
from onkel.learners.expansion import Expansion
from onkel.learners.linear import Linear
from onkel.maps.nystroem import nystroem
from onkel.rows import row_count
from onkel.support import enlarged

LOOPS: dict[type, tuple[EntryPoint[Any, int], EntryPoint[Any, None]]] = {
    Linear: (linear.learn, linear.score),
    Expansion: (expansion.learn, expansion.score),
}


def learn(model: Any, block: Any, first: int, targets: Any, importance: Any, scores: Any) -> Any:
    """Learn the rows from `first` on, writing the scores each had before; returns the model to go on with.

    It is the same model, changed in place, unless it had to grow or to become another one.
    """
    done, n = first, row_count(block)
    while done < n:
        done = LOOPS[type(model)][0](model, block, done, targets, importance, scores)
        if done < n:
            model, done = relieve(model.budget, model, block, done, targets, importance, scores)
    return model


def score(model: Any, block: Any, scores: Any) -> None:
    """Write the scores of all rows; changes nothing else."""
    LOOPS[type(model)][1](model, block, scores)


def prepare(model: Any, block: Any, scores: Any) -> None:
    """Compile what learning rows like these will need, later stages included."""
    learn_rows, score_rows = LOOPS[type(model)]
    nothing = np.zeros(0)
    learn_rows.bind(model, block, 0, nothing, nothing, scores)
    score_rows.bind(model, block, scores)
    if isinstance(model, Expansion) and isinstance(model.budget, Handover):
        after = handed_over(model.budget, model)
        linear.follow.bind(after, block, 0, 0.0, 1.0, np.zeros(scores.shape[1]))
        prepare(after, block, scores)


@singledispatch
def relieve(budget: Any, model: Any, block: Any, i: int, targets: Any, importance: Any, scores: Any) -> Any:
    """What to do when the budget has no room for row i: (the model to go on with, the row to go on from)."""
    raise TypeError(f"{type(budget).__name__} has no room and no way to make some.")


@relieve.register
def _(budget: Unbounded, model: Any, block: Any, i: int, targets: Any, importance: Any, scores: Any) -> Any:
    capacity = model.support.sizes.shape[0]
    return model._replace(support=enlarged(model.support, 2 * capacity)), i


@relieve.register
def _(budget: Handover, model: Any, block: Any, i: int, targets: Any, importance: Any, scores: Any) -> Any:
    """The expansion becomes linear over its own support; row i is learned from the scores the expansion gave it."""
    after = handed_over(budget, model)
    linear.follow(after, block, i, targets[i], importance[i], scores[i])
    return after, i + 1


def handed_over(budget: Handover, model: Expansion) -> Linear:
    """w = a pinv(M): the projection of the expansion on the directions that the map keeps."""
    support = model.support
    feature_map, back = nystroem(model.kernel, support.points, budget.rank, budget.cut)
    weights = support.scale[0] * np.asarray(support.coef, np.float64) @ back
    dtype = support.points.dtype
    after = linear.linear(feature_map, model.loss, model.step, len(weights), dtype)
    after.weights[:] = weights.astype(dtype)
    after.clock[:] = model.clock
    return after
