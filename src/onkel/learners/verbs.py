"""From a block to a changed model: choose the loop by the model, and make room when a loop stops early."""

from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onkel.core.interrupts import FIRST
from onkel.core.points import as_rows, resized, with_room
from onkel.core.rows import Block, pack, row_count, some, unpack
from onkel.core.support import enlarged as with_capacity
from onkel.core.threads import in_turns, over_rows, trailing
from onkel.core.trees import kept
from onkel.core.verbs import EntryPoint
from onkel.learners import expansion, hybrid, linear, mixed, particles, partitioned
from onkel.learners.ensembles import experts, renewed
from onkel.learners.ensembles.committee import Committee, combined
from onkel.learners.ensembles.experts import Experts
from onkel.learners.ensembles.levels import levels_after, until_next_level, with_next_level
from onkel.learners.ensembles.one_vs_rest import OneVsRest, signs
from onkel.learners.ensembles.renewed import Renewed
from onkel.learners.ensembles.voting import Votes, learning
from onkel.learners.expansion import Expansion
from onkel.learners.hybrid import Hybrid
from onkel.learners.linear import Linear
from onkel.learners.mixed import Mixed
from onkel.learners.particles import Particles
from onkel.learners.partitioned import Indexed
from onkel.pieces.budgets.appending import Handover, Unbounded
from onkel.pieces.maps.isolation import SparseCells, Trees
from onkel.pieces.maps.nystroem import Nystroem, nystroem

LOOPS: dict[type, tuple[EntryPoint[Any, int], EntryPoint[Any, None]]] = {
    Linear: (linear.learn, linear.score),
    Expansion: (expansion.learn, expansion.score),
    Mixed: (mixed.learn, mixed.score),
    Hybrid: (hybrid.learn, hybrid.score),
    Indexed: (partitioned.learn, partitioned.score),
    Particles: (particles.learn, particles.score),
}


def learn(model: Any, block: Any, first: int, targets: Any, importance: Any, scores: Any) -> Any:
    """Learn the rows from `first` on, writing the scores each had before; returns the model to go on with.

    It is the same model, changed in place, unless it had to grow or to become another one. If this fails, a model of
    one loop is as it is after a whole number of rows, and its clock says how many; parts may be at different rows.
    """
    if isinstance(model, OneVsRest | Committee):
        return learn_each(model, block, first, targets, importance, scores)
    if isinstance(model, Experts):
        return learn_experts(model, block, first, targets, importance, scores)
    if isinstance(model, Renewed):
        return renewed.learn(model, block, first, targets, importance, scores)
    return learn_in_loop(model, block, first, targets, importance, scores)


def is_one_loop(model: Any) -> bool:
    """Whether a compiled loop learns all of a model: such loops allocate before they change anything."""
    return type(model) in LOOPS


def learn_in_loop(model: Any, block: Any, first: int, targets: Any, importance: Any, scores: Any) -> Any:
    """Learn the rows in one compiled loop, which stops where a support has no room."""
    done, n, model = first, row_count(block), roomy(model, block)
    while done < n:
        done = LOOPS[type(model)][0](model, block, done, targets, importance, scores)
        if done < n:
            model, done = relieve(model.budget, model, block, done, targets, importance, scores)
    return model


def roomy(model: Any, block: Any) -> Any:
    """The model with room in its support for every row of the block; where it had too little, in arrays of its own."""
    if not hasattr(model, "support"):
        return model
    points = with_room(model.support.points, block)
    if points is model.support.points:
        return model
    rest = kept(model._replace(support=model.support._replace(points=None)))
    return rest._replace(support=rest.support._replace(points=points))


def enlarged(model: Any, capacity: int) -> Any:
    """The model with room for so many points, in arrays of its own: whatever becomes of it, the old one stays whole."""
    return kept(model._replace(support=None))._replace(support=with_capacity(model.support, capacity))


def learn_each(model: Any, block: Any, first: int, targets: Any, importance: Any, scores: Any) -> Any:
    """Learn the rows part by part: no part knows of the others, so each can have the whole block at once."""
    own = rooms(model, scores)

    def work(k: int, part: Any, rows: slice) -> Any:
        wanted = signs(targets[rows], k) if isinstance(model, OneVsRest) else targets[rows]
        return learn(part, some(block, rows), 0, wanted, importance[rows], own[k, rows])

    parts = in_turns(work, model.parts, first, len(scores))
    scores[first:] = together(model, own)[first:]
    model.clock[0] += row_count(block) - first
    return with_parts(model, parts)


def learn_experts(model: Experts, block: Any, first: int, targets: Any, importance: Any, scores: Any) -> Experts:
    """Learn the rows expert by expert, then combine what they said row by row."""
    if isinstance(model.combination, Votes) and model.combination.lazy:
        return learn_lazily(model, block, first, targets, importance, scores)
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
    own, combination = rooms(model, scores), model.combination

    def combine(rows: slice) -> None:
        experts.follow(combination, own, rows.start, rows.stop, targets, importance, scores)

    passed = trailing(combine, len(model.parts))

    def work(k: int, part: Any, rows: slice) -> Any:
        part = learn(part, some(block, rows), 0, targets[rows], importance[rows], own[k, rows])
        passed(k, rows.stop)
        return part

    parts = in_turns(work, model.parts, 0, len(scores))
    model.clock[0] += len(scores)
    return with_parts(model, parts)


def learn_lazily(model: Experts, block: Any, first: int, targets: Any, importance: Any, scores: Any) -> Experts:
    """Row by row: who learns a row depends on the weights before it."""
    chosen = np.zeros(len(model.parts))
    for i in range(first, int(row_count(block))):
        here, own = slice(i, i + 1), rooms(model, scores[i : i + 1])
        row = pack(unpack(block)[here], block[0].dtype)
        learning(model.combination, chosen)
        parts = []
        for part, room, share in zip(model.parts, own, chosen, strict=True):
            score(part, row, room)
            unseen = np.zeros_like(room)
            parts.append(learn(part, row, 0, targets[here], importance[here], unseen) if share > 0.0 else part)
        experts.follow(model.combination, own, 0, 1, targets[here], importance[here], scores[here])
        model.clock[0] += 1
        model = with_parts(model, parts)
    return model


def with_parts(model: Any, parts: Any) -> Any:
    """The model with these parts; the same one, where they are the same."""
    same = all(a is b for a, b in zip(parts, model.parts, strict=True))
    return model if same else model._replace(parts=tuple(parts))


def rooms(model: Any, scores: Any) -> Any:
    """Arrays for the scores of each part."""
    return np.zeros((len(model.parts), len(scores), 1 if isinstance(model, OneVsRest) else scores.shape[1]))


def together(model: Any, own: Any) -> Any:
    """The scores of a model from those of its parts (R, n, K)."""
    return own[:, :, 0].T if isinstance(model, OneVsRest) else combined(model.votes, own)


def score(model: Any, block: Any, scores: Any) -> None:
    """Write the scores of all rows; changes nothing else."""
    if isinstance(model, OneVsRest | Committee | Experts):
        own = rooms(model, scores)

        def work(k: int, part: Any, rows: slice) -> Any:
            score(part, some(block, rows), own[k, rows])
            return part

        in_turns(work, model.parts, 0, len(scores))
        if isinstance(model, Experts):
            experts.answer(model.combination, own, 0, len(scores), scores)
        else:
            scores[:] = together(model, own)
    elif isinstance(model, Renewed):
        score(model.model, block, scores)
    else:
        LOOPS[type(model)][1](answering(model), block, scores)


def answering(model: Any) -> Any:
    """A model without what only learning needs: one compiled `score` then serves all budgets, losses and steps."""
    unused = {name: None for name in ("loss", "step", "budget") if hasattr(model, name)}
    return model._replace(**unused)


def prepare(model: Any, block: Any, scores: Any) -> None:
    """Compile what learning rows like these will need, later stages included."""
    if isinstance(model, Experts):
        own = rooms(model, scores)
        experts.follow.bind(model.combination, own, 0, 0, np.zeros(0), np.zeros(0), scores)
        experts.answer.bind(model.combination, own, 0, 0, scores)
        for part in {type(part): part for part in model.parts}.values():
            prepare(part, block, own[0])
        return None
    if isinstance(model, OneVsRest | Committee):
        return prepare(model.parts[0], block, rooms(model, scores)[0])
    if isinstance(model, Renewed):
        return prepare(model.model, block, scores)
    learn_rows, score_rows = LOOPS[type(model)]
    nothing = np.zeros(0)
    learn_rows.bind(model, block, 0, nothing, nothing, scores)
    score_rows.bind(answering(model), block, scores)
    if isinstance(model, Expansion) and isinstance(model.budget, Handover):
        prepare(after_handover(model), block, scores)


@singledispatch
def relieve(budget: Any, model: Any, block: Any, i: int, targets: Any, importance: Any, scores: Any) -> Any:
    """What to do when the budget has no room for row i: (the model to go on with, the row to go on from)."""
    raise TypeError(f"{type(budget).__name__} has no room and no way to make some.")


@relieve.register
def _(budget: Unbounded, model: Any, block: Any, i: int, targets: Any, importance: Any, scores: Any) -> Any:
    return enlarged(model, budget.growth * model.support.sizes.shape[0]), i


@relieve.register
def _(budget: Handover, model: Any, block: Any, i: int, targets: Any, importance: Any, scores: Any) -> Any:
    """Row i is still learned by the expansion, in one more slot; then the expansion becomes linear."""
    full = enlarged(model, model.support.sizes.shape[0] + 1)
    row, here = pack(unpack(block)[i : i + 1], model.support.sizes.dtype), slice(i, i + 1)
    expansion.learn(full, row, 0, targets[here], importance[here], scores[here])
    return handed_over(budget, full, row), i + 1


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
    alike = answering(model)._replace(support=alone, offset=np.zeros(n))
    over_rows(lambda part: expansion.score(alike, some(block, part), K[part]), n, FIRST)
    return (K + K.T) / 2.0


def compressed_rows_give(model: Any) -> bool:
    """Whether a model has partitions as compressed rows give them: trees, which are the same for all rows, or lists."""
    parts = getattr(model, "parts", None)
    one = parts[0] if isinstance(parts, tuple) and parts else model
    one = one.model if isinstance(one, Renewed) else one
    return isinstance(getattr(one, "partitions", None), SparseCells | Trees)


def with_levels(first: Experts, model: Experts) -> Experts:
    """A fresh model with as many levels as a model should have after its rows, but at most as many as it has."""
    clock = model.clock
    rows = int(clock[0]) if isinstance(clock, np.ndarray) and clock.shape == (1,) and clock.dtype == np.int64 else 0
    most = len(model.parts) if isinstance(model.parts, tuple) else 0
    while len(first.parts) <= most and levels_after(first.combination, max(rows, 0)) > len(first.parts):
        first = with_next_level(first.combination, first)
    return first


def stages(model: Any) -> list[Any]:
    """A fresh model, and what it may become."""
    if isinstance(model, Expansion) and isinstance(model.budget, Handover):
        return [model, after_handover(model)]
    return [model]
