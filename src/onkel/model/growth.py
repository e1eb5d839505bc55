"""New columns and new classes in the middle of a stream.

A fresh model is made for the larger stream, and what was learned is put into the leading corner of its arrays. So a
new entry is what it is in a fresh model: a frequency of its own, a weight of 0, an energy at its start. Numbers stay as
they are: the width that a rule has settled, for one.
"""

from functools import singledispatch
from typing import Any

import numpy as np
from scipy import sparse

from onkel.core.points import WIDE, Listed
from onkel.core.rows import Csr, Dense, aligned_zeros
from onkel.learners.ensembles.experts import Experts
from onkel.learners.ensembles.one_vs_rest import OneVsRest
from onkel.learners.ensembles.renewed import Renewed
from onkel.learners.particles import Particles
from onkel.learners.partitioned import Indexed
from onkel.learners.verbs import compressed_rows_give, stages, with_levels
from onkel.model.online import Online, Setting, stand_in
from onkel.model.splitting import split
from onkel.model.waiting import Waiting, bare
from onkel.pieces.bandwidth import has_rule
from onkel.pieces.kernels import LAPLACIAN, Kernel
from onkel.pieces.maps.chi2 import Chi2
from onkel.pieces.maps.drawn import Drawn
from onkel.pieces.maps.fourier import Fourier, Phase
from onkel.pieces.maps.hadamard import Hadamard
from onkel.pieces.readouts.exact import LeastSquares
from onkel.pieces.scaler import Standardised

TWO_ONLY = "A third class came: {0} learns two classes only; one_vs_rest({0}()) learns several."
MOST_NEW_CLASSES = 1000  # each makes a new model
ALL_AT_ONCE = "give all of them at the start, or learn numbers (regression)."
MIXES = "Its random features mix all columns, so that none can be added: use draw='iid' for columns that come new."


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


@singledispatch
def placed(old: Any, fresh: Any, width: int) -> Any:
    """What was learned, in the place of its like in a fresh model for rows of that width; a number stays."""
    return old


@placed.register
def _(old: np.ndarray, fresh: Any, width: int) -> Any:
    shape = tuple(map(max, old.shape, fresh.shape))  # a support may have outgrown that of a fresh model
    if shape == old.shape:
        return old
    larger = aligned_zeros(shape, old.dtype)
    for part in (fresh, old):
        larger[tuple(map(slice, part.shape))] = part
    return larger


@placed.register
def _(old: tuple, fresh: Any, width: int) -> Any:  # type: ignore[type-arg]
    if not hasattr(old, "_fields"):  # models side by side; those of new classes are fresh
        return tuple(placed(a, b, width) for a, b in zip(old, fresh, strict=False)) + fresh[len(old) :]
    like = next((stage for stage in stages(fresh) if type(stage) is type(old)), None)
    if like is None:
        raise ValueError(MIXES)
    return type(old)(*(placed(a, b, width) for a, b in zip(old, like, strict=True)))


@placed.register
def _(old: OneVsRest, fresh: Any, width: int) -> OneVsRest:
    parts = placed(old.parts, fresh.parts, width)
    known, new = parts[: len(old.parts)], parts[len(old.parts) :]
    return old._replace(parts=(*known, *(lent(part, known[-1]) for part in new)))


@singledispatch
def lent(fresh: Any, known: Any) -> Any:
    """The model of a new class, over the partitions of a known one: a sample to make some from is no longer there."""
    return fresh


@lent.register
def _(fresh: Indexed, known: Any) -> Indexed:
    return fresh._replace(partitions=known.partitions, weights=np.zeros_like(known.weights))


@lent.register
def _(fresh: Renewed, known: Any) -> Renewed:
    return fresh._replace(model=lent(fresh.model, known.model))


@placed.register
def _(old: Experts, fresh: Any, width: int) -> Any:
    pairs = zip(old, with_levels(fresh, old), strict=True)
    return Experts(*(placed(a, b, width) for a, b in pairs))


@placed.register
def _(old: Dense, fresh: Any, width: int) -> Dense:
    return Dense(np.pad(old.values, ((0, 0), (0, width - old.values.shape[1]))))


@placed.register
def _(old: Csr | Listed, fresh: Any, width: int) -> Any:
    return old._replace(width=width)


@placed.register
def _(old: Chi2, fresh: Any, width: int) -> Chi2:
    return old._replace(n_features=width)


@placed.register
def _(old: Particles, fresh: Any, width: int) -> Particles:
    """The energy of a particle is that of its weights, output by output, and then that of its widths."""
    d, shape = old.widths.shape[1], fresh.weights.shape
    energy = fresh.energy.copy()
    energy[:, : old.weights[0].size] = old.energy[:, :-d]
    energy[:, shape[1] * shape[2] :][:, :d] = old.energy[:, -d:]
    pairs = zip(old._replace(energy=energy), fresh._replace(energy=energy), strict=True)
    return Particles(*(placed(a, b, width) for a, b in pairs))


@placed.register
def _(old: LeastSquares, fresh: Any, width: int) -> LeastSquares:
    """New columns come before the constant. Where rows become too wide to be among the features, it begins anew."""
    if old.columns == 0 or fresh.columns == 0:
        return old if old.columns == 0 else fresh
    size = 2 * old.frequencies + fresh.columns
    kept = np.append(np.arange(len(old.weights) - 1), size - 1)
    weights, inverse = np.zeros(size), np.eye(size) / old.ridge
    weights[kept], inverse[np.ix_(kept, kept)] = old.weights, old.inverse
    return old._replace(columns=fresh.columns, weights=weights, inverse=inverse)
