"""Kernel expansions: f(x) = sum_i a_i k(x_i, x) + b over the rows that a budget keeps."""

from typing import Any, NamedTuple

import numpy as np

from onkel.core.borrowed import borrowed, keep, row
from onkel.core.checking import disagreement, inside, resized
from onkel.core.growing import Change, by_field, changed
from onkel.core.ranges import COUNT, limits
from onkel.core.rows import dot, row_count
from onkel.core.support import Candidate, Support, empty_support, finite, forget, other_size, trust
from onkel.core.verbs import compiled, entry_point, known
from onkel.learners import verbs
from onkel.pieces.budgets.appending import Unbounded
from onkel.pieces.budgets.verbs import admit
from onkel.pieces.kernels import measure, self_similarity, similarities
from onkel.pieces.losses import adapt, suffered
from onkel.pieces.steps import pace


@known
@limits(clock=COUNT)
class Expansion(NamedTuple):
    """A kernel expansion with its rules. The offset b moves with rate `offset_rate`, 0 where there is none."""

    kernel: Any
    loss: Any
    step: Any
    budget: Any
    support: Support
    offset_rate: float
    offset: Any  # (K,)
    clock: Any  # (1,): rows learned


class Rules(NamedTuple):
    """What an expansion is made of before it has seen a row."""

    kernel: Any
    loss: Any
    step: Any
    budget: Any
    capacity: int
    offset_rate: float = 0.0


def expansion(rules: Rules, n_features: int, n_outputs: int, dtype: Any) -> Expansion:
    """An expansion that knows nothing yet."""
    support = empty_support(n_features, n_outputs, rules.capacity, dtype)
    kernel, loss, step, budget, _, rate = rules
    return Expansion(kernel, loss, step, budget, support, rate, np.zeros(n_outputs), np.zeros(1, np.int64))


@entry_point
def learn(model: Any, block: Any, first: int, targets: Any, importance: Any, scores: Any) -> int:
    """Learn the rows from `first` on, writing the scores each had before; returns the number of rows done.

    Fewer than all when the budget has no room for row `done`: its scores are written, but nothing is changed yet.
    """
    model, block = borrowed(model), borrowed(block)
    targets, importance, scores = borrowed(targets), borrowed(importance), borrowed(scores)
    trust(model.support)
    own = similar_space(model), np.empty(scores.shape[1]), np.empty(scores.shape[1])
    similar, slopes, coef = borrowed(own)
    done = row_count(block)
    for i in range(first, row_count(block)):
        size = measure(model.kernel, block, i)
        predict(model, block, i, size, similar, row(scores, i))
        if not update(model, block, i, size, targets[i], importance[i], row(scores, i), similar, slopes, coef):
            done = i
            break
    keep(own)
    return done


@entry_point
def score(model: Any, block: Any, scores: Any) -> None:
    """Write the scores of all rows; changes nothing else."""
    model, block, scores = borrowed(model), borrowed(block), borrowed(scores)
    trust(model.support)
    own = similar_space(model)
    similar = borrowed(own)
    for i in range(row_count(block)):
        predict(model, block, i, measure(model.kernel, block, i), similar, row(scores, i))
    keep(own)


@compiled
def similar_space(model: Any) -> Any:
    return np.empty(model.support.sizes.shape[0], model.support.sizes.dtype)


@compiled
def predict(model: Any, block: Any, i: int, size: float, similar: Any, scores: Any) -> None:
    support = model.support
    n = support.count[0]
    similarities(model.kernel, block, i, size, support.points, support.sizes, n, similar)
    for k in range(scores.shape[0]):
        scores[k] = finite(support.scale[0] * dot(row(support.coef, k), similar, n) + model.offset[k])


@compiled
def update(
    model: Any, block: Any, i: int, size: float, target: float, importance: float,
    scores: Any, similar: Any, slopes: Any, coef: Any,
) -> bool:  # fmt: skip
    """One gradient step in function space; changes model. False, and nothing changed, when there is no room."""
    support, t = model.support, model.clock[0] + 1
    loss = suffered(model.loss, target, importance, scores, slopes)
    alike = self_similarity(model.kernel, size)
    shrink, gain = pace(model.step, t, loss, slopes, alike)
    if shrink == 0.0:  # all that was known is forgotten: the scale is folded in before it would divide by 0
        forget(support.scale, shrink, support.coef, support.count[0])
        shrink = 1.0
    scale, active = support.scale[0] * shrink, False
    for k in range(slopes.shape[0]):
        coef[k] = -gain * slopes[k] / scale
        active = active or coef[k] != 0.0
    candidate = Candidate(i, size, alike, similar, coef, scale, target, scores, t)
    if active and not admit(model.budget, model.kernel, support, block, candidate):
        return False
    forget(support.scale, shrink, support.coef, support.count[0])
    for k in range(slopes.shape[0]):
        model.offset[k] -= model.offset_rate * slopes[k]
    model.clock[0] = t
    adapt(model.loss, importance, slopes)
    return True


# ---- what else a model can do ----

verbs.in_loop(learn, score)(Expansion)


@resized.register
def _(expected: Expansion, model: Any) -> str:
    return "" if isinstance(expected.budget, Unbounded) else other_size(model.support, expected.support)


@disagreement.register
def _(model: Expansion) -> str:
    problem = disagreement(model.support)
    slots = problem or inside(model.budget, len(model.support.sizes))
    return problem or ("" if slots else "its budget points outside the support")


@changed.register
def _(fresh: Expansion, old: Any, change: Change) -> Any:
    return by_field(fresh, old, change, offset=change.signed(old.offset, 0))


@verbs.feature_space.register
def _(model: Expansion) -> Any:
    raise ValueError("its features are those of the kernel itself, of which there are too many to write down")


@verbs.graph_scores.register
def _(model: Expansion, g: Any, x: str) -> str:
    return g.finite(g("Add", g.weighted_similarities(x, model), model.offset))
