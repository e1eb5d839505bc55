"""What a model can do, by its type: learn, score, prepare, say how much features count, become an ONNX graph.

Each type of model registers its own next to its loop; what becomes of it when it grows is in `core.growing`, what is
checked of it in `core.checking`. Here are the verbs, and what all models share that one compiled loop learns.
"""

from collections.abc import Callable
from functools import singledispatch
from typing import Any

import numpy as np

from onkel.core.points import with_room
from onkel.core.rows import row_count
from onkel.core.support import enlarged as with_capacity
from onkel.core.trees import kept
from onkel.core.verbs import EntryPoint
from onkel.pieces.budgets.appending import Unbounded
from onkel.pieces.maps.relevance import UNKNOWN

LOOPS: dict[type, tuple[EntryPoint[Any, int], EntryPoint[Any, None]]] = {}  # learn, score


def _no_model(model: Any) -> TypeError:
    return TypeError(f"A {type(model).__name__} is no model.")


@singledispatch
def learn(model: Any, block: Any, first: int, targets: Any, importance: Any, scores: Any) -> Any:
    """Learn the rows from `first` on, writing the scores each had before; returns the model to go on with.

    It is the same model, changed in place, unless it had to grow or to become another one. If this fails, a model of
    one loop is as it is after a whole number of rows, and its clock says how many; parts may be at different rows.
    """
    raise _no_model(model)


@singledispatch
def score(model: Any, block: Any, scores: Any) -> None:
    """Write the scores of all rows; changes nothing else."""
    raise _no_model(model)


@singledispatch
def prepare(model: Any, block: Any, scores: Any) -> None:
    """Compile what learning rows like these will need, later stages included."""
    raise _no_model(model)


@singledispatch
def disagree(model: Any, block: Any, found: Any) -> None:
    """Write how much the particles of a model disagree about each score: their standard deviation."""
    raise ValueError("Only a learner of particles, such as bkm, knows how much they disagree.")


@singledispatch
def relevance(model: Any) -> Any:
    """The learned width per feature: the spread of its frequencies, so that 0 means that it does not matter."""
    raise ValueError(UNKNOWN)


@singledispatch
def feature_space(model: Any) -> Any:
    """The map in whose features a model is linear; where there is none, a ValueError says why."""
    raise ValueError("it is not linear in one map of features")


@singledispatch
def graph_scores(model: Any, g: Any, x: str) -> str:
    """The scores (n, K) of rows as nodes of an ONNX graph, in float64."""
    raise ValueError(f"A model of the type {type(model).__name__} has no form in ONNX and is not exported.")


@singledispatch
def compressed_rows_give(model: Any) -> bool:
    """Whether a model has partitions as compressed rows give them: trees, which are the same for all rows, or lists."""
    return False


@singledispatch
def lent(fresh: Any, known: Any) -> Any:
    """The model of a new class, over the partitions of a known one: a sample to make some from is no longer there."""
    return fresh


# ---- models of one compiled loop ----


def in_loop(learn_rows: EntryPoint[Any, int], score_rows: EntryPoint[Any, None]) -> Callable[[type], type]:
    """Declare that two compiled loops learn and score all of a model."""

    def declare(kind: type) -> type:
        LOOPS[kind] = learn_rows, score_rows
        learn.register(kind, learn_in_loop)
        score.register(kind, score_in_loop)
        prepare.register(kind, prepare_loops)
        return kind

    return declare


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


def score_in_loop(model: Any, block: Any, scores: Any) -> None:
    LOOPS[type(model)][1](answering(model), block, scores)


def prepare_loops(model: Any, block: Any, scores: Any) -> None:
    learn_rows, score_rows = LOOPS[type(model)]
    nothing = np.zeros(0)
    learn_rows.bind(model, block, 0, nothing, nothing, scores)
    score_rows.bind(answering(model), block, scores)


def answering(model: Any) -> Any:
    """A model without what only learning needs: one compiled `score` then serves all budgets, losses and steps."""
    unused = {name: None for name in ("loss", "step", "budget") if hasattr(model, name)}
    return model._replace(**unused)


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


@singledispatch
def relieve(budget: Any, model: Any, block: Any, i: int, targets: Any, importance: Any, scores: Any) -> Any:
    """What to do when the budget has no room for row i: (the model to go on with, the row to go on from)."""
    raise TypeError(f"{type(budget).__name__} has no room and no way to make some.")


@relieve.register
def _(budget: Unbounded, model: Any, block: Any, i: int, targets: Any, importance: Any, scores: Any) -> Any:
    return enlarged(model, budget.growth * model.support.sizes.shape[0]), i
