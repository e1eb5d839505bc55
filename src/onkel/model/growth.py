"""New columns and new classes in the middle of a stream.

A fresh model is made for the larger stream, and what was learned is put into the leading corner of its arrays. So a
new entry is what it is in a fresh model: a frequency of its own, a weight of 0, an energy at its start. Numbers stay as
they are: the width that a rule has settled, for one.
"""

from typing import Any

import numpy as np
from scipy import sparse

from onkel.core.growing import MIXES, placed, split
from onkel.core.points import WIDE
from onkel.learners.verbs import compressed_rows_give
from onkel.model.online import Online, Setting, stand_in
from onkel.model.waiting import Waiting, bare
from onkel.pieces.bandwidth import has_rule
from onkel.pieces.kernels import LAPLACIAN, Kernel
from onkel.pieces.maps.drawn import Drawn
from onkel.pieces.maps.fourier import Fourier, Phase
from onkel.pieces.maps.hadamard import Hadamard
from onkel.pieces.scaler import Standardised

TWO_ONLY = "A third class came: {0} learns two classes only; one_vs_rest({0}()) learns several."
MOST_NEW_CLASSES = 1000  # each makes a new model
ALL_AT_ONCE = "give all of them at the start, or learn numbers (regression)."


def grown(online: Online, n_features: int, n_outputs: int) -> Online:
    """The learner at work with more columns or more classes; it takes over the arrays of the old one.

    A learner of two classes (task binary) becomes one of several when a third class comes: class 0 is that of the
    target -1, class 1 that of +1. Their scores are then -f/2 and +f/2, f being the score that there was; in
    `one_vs_rest` -f and f, by vote the shares of votes.

    Scores of the classes that were there are the same, up to rounding, for rows without a number in the new columns,
    but for scores that add up to something over all classes: the probabilities of `auto`, the shares of a vote.

    >>> from onkel.recipes import fogd
    >>> online = fogd(gamma=1.0).start(1, "multiclass", 2)
    >>> online.learn([[0.5], [0.1]], [0, 1]).shape
    (2, 2)
    >>> more = grown(online, 2, 3)
    >>> np.allclose(more.score([[0.2, 0.0]])[:, :2], online.score([[0.2]]))
    True
    """
    before, task = online.setting, task_of(online, n_outputs)
    if n_outputs > before.n_outputs:
        refuse_too_many(n_outputs)
    larger = before._replace(n_features=n_features, n_outputs=n_outputs)
    if larger == before:
        return online
    if n_features > WIDE >= before.n_features:
        raise ValueError(f"A learner that began with fewer columns cannot grow beyond {WIDE}: begin with all of them.")
    if n_features > before.n_features and found(online.model, Hadamard) is not None:
        raise ValueError(MIXES)
    after = Online(online.learner, task, larger)
    after.turn = online.turn  # threads that wait for the old one find the new one
    model = taken_over(bare(online.model), online, after)
    if isinstance(online.model, Standardised):
        model = Standardised(placed(online.model.scaler, after.model.scaler, n_features), model)
    after.model = model
    return after


def refuse_too_many(classes: int) -> None:
    """Refuse so many classes that making a larger model for each would take for ever."""
    if classes > MOST_NEW_CLASSES:
        raise ValueError(f"More than {MOST_NEW_CLASSES:,} classes are not taken in one by one: {ALL_AT_ONCE}")


def grow(online: Online, n_features: int, n_outputs: int) -> None:
    """The same for all who hold the learner at work; changes it."""
    online.become(grown(online, n_features, n_outputs))


def task_of(online: Online, n_outputs: int) -> str:
    """The task with that many outputs: of a learner of two classes, which have one, several classes may be made."""
    learner, task = online.learner, online.task
    if task == "multiclass" or n_outputs == 1:
        return task
    if task != "binary" or n_outputs == 2:
        raise ValueError("n_outputs is the number of classes, or 1 for numbers and for two classes.")
    if "multiclass" not in learner.tasks:
        raise ValueError(TWO_ONLY.format(learner.name))
    return "multiclass"


def taken_over(model: Any, online: Online, after: Online) -> Any:
    """A model, without what it wears, in the arrays of a larger one."""
    if isinstance(model, Waiting):
        inner = None if model.model is None else taken_over(model.model, online, after)
        return enlarged(model._replace(model=None), bare(after.model), online, after)._replace(model=inner)
    plan = online.learner.plan(online.task)
    kernel = settled(plan, model, online.inner, after.inner) if has_rule(plan.kernel) else plan.kernel
    return enlarged(model, after.learner.plan(after.task).build(kernel, after.inner), online, after)


def enlarged(model: Any, fresh: Any, online: Online, after: Online) -> Any:
    """What was learned, for the task of a fresh model, and in its arrays."""
    model = model if online.task == after.task else split(model, fresh)
    return placed(model, fresh, after.inner.n_features)


def settled(plan: Any, model: Any, inner: Setting, larger: Setting) -> Any:
    """The kernel with the width that a rule gave; a row to make partitions from, where they come from a sample."""
    layout = sparse.csr_matrix((0, 0)) if compressed_rows_give(model) else np.zeros((0, 0))
    kernel = stand_in(plan.kernel, layout, larger)
    if not isinstance(kernel, Kernel):
        return kernel
    kept, drawn = found(model, Kernel), found(model, Fourier | Phase)
    if kept is not None or drawn is None:
        return kept or kernel
    unit = found(plan.build(kernel, inner), Fourier | Phase)  # what was drawn, with a width of 1
    ratio = spread(drawn.frequencies) / spread(unit.frequencies)
    return kernel._replace(gamma=ratio if kernel.code == LAPLACIAN else ratio * ratio)


def spread(frequencies: Any) -> float:
    """A number that is as many times as large as all frequencies are."""
    return float(frequencies.spread if isinstance(frequencies, Drawn) else frequencies[0, 0])


def found(tree: Any, kind: Any) -> Any:
    """The last piece of a kind in a model, or None: of models side by side the first two may be of another plan."""
    if isinstance(tree, kind):
        return tree
    parts: Any = (found(part, kind) for part in reversed(tree)) if isinstance(tree, tuple) else ()
    return next((part for part in parts if part is not None), None)
