"""From an expansion to a linear model: what happens when the support that `nogd` collects is full."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onkel.core.growing import stages
from onkel.core.interrupts import FIRST
from onkel.core.points import as_rows, resized
from onkel.core.rows import Block, pack, some, unpack
from onkel.core.support import append
from onkel.core.threads import over_rows
from onkel.learners import expansion, linear, verbs
from onkel.learners.expansion import Expansion
from onkel.learners.linear import Linear
from onkel.pieces.budgets.verbs import admit
from onkel.pieces.maps.nystroem import Nystroem, nystroem


class Handover(NamedTuple):
    """Keep every candidate; when the arrays are full, the expansion becomes a linear model of that rank."""

    rank: int
    cut: float


@admit.of(Handover)
def _(budget: Handover, kernel: Any, support: Any, block: Any, candidate: Any) -> bool:
    return append(support, block, candidate)


@verbs.relieve.register
def _(budget: Handover, model: Any, block: Any, i: int, targets: Any, importance: Any, scores: Any) -> Any:
    """Row i is still learned by the expansion, in one more slot; then the expansion becomes linear."""
    full = verbs.enlarged(model, model.support.sizes.shape[0] + 1)
    row, here = pack(unpack(block)[i : i + 1], model.support.sizes.dtype), slice(i, i + 1)
    expansion.learn(full, row, 0, targets[here], importance[here], scores[here])
    return handed_over(budget, full, row), i + 1


@stages.register
def _(model: Expansion) -> list[Any]:
    return [model, after_handover(model)] if isinstance(model.budget, Handover) else [model]


@verbs.prepare.register
def _(model: Expansion, block: Any, scores: Any) -> None:
    for stage in stages(model):
        verbs.prepare_loops(stage, block, scores)


def after_handover(model: Expansion) -> Linear:
    """What an expansion becomes, up to the numbers in it and the rank of its map."""
    support = model.support
    none = np.zeros((support.sizes.shape[0], 1), support.sizes.dtype)
    feature_map = Nystroem(model.kernel, support.points, support.sizes, none)
    return linear.linear(feature_map, model.loss, model.step, len(support.coef), support.sizes.dtype)


def handed_over(budget: Handover, model: Expansion, layout: Block) -> Linear:
    """The projection of an expansion on the map of its support without the last point.

    w = a pinv(M) for the landmarks, and a_i z(x_i) for the last point, which is not one of them.
    """
    support, B = model.support, model.support.sizes.shape[0] - 1
    K = gram(model, layout)
    points, sizes = resized(support.points, B), support.sizes[:B]
    made, back = nystroem(model.kernel, points, sizes, K[:B, :B], budget.rank, budget.cut)
    coef, dtype = support.scale[0] * np.asarray(support.coef, np.float64), support.sizes.dtype
    weights = coef[:, :B] @ back + coef[:, B:] @ (K[B:, :B] @ np.asarray(made.projection, np.float64))
    after = linear.linear(made, model.loss, model.step, len(weights), dtype)
    after.weights[:] = weights.astype(dtype)
    after.clock[:] = model.clock
    return after


def gram(model: Expansion, layout: Block) -> NDArray[np.float64]:
    """Similarities of the support to itself: the scores of an expansion with one output per point."""
    support = model.support
    n = support.sizes.shape[0]
    alone = support._replace(coef=np.eye(n, dtype=support.coef.dtype), count=np.array([n]), scale=np.ones(1))
    block = pack(as_rows(support.points, layout), support.sizes.dtype)
    K = np.empty((n, n))
    alike = verbs.answering(model)._replace(support=alone, offset=np.zeros(n))
    over_rows(lambda part: expansion.score(alike, some(block, part), K[part]), n, FIRST)
    return (K + K.T) / 2.0
