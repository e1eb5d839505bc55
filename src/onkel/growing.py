"""New columns and new classes in the middle of a stream.

A fresh model is made for the larger stream, and what was learned is put into the leading corner of its arrays. So a
new entry is what it is in a fresh model: a frequency of its own, a weight of 0, an energy at its start. Numbers stay as
they are: the width that a rule has settled, for one.
"""

from functools import singledispatch
from typing import Any

import numpy as np
from scipy import sparse

from onkel.checks import compressed_rows_give, stages, with_levels
from onkel.kernels import LAPLACIAN, Kernel
from onkel.learners.experts import Experts
from onkel.learners.particles import Particles
from onkel.maps.chi2 import Chi2
from onkel.maps.drawn import Drawn
from onkel.maps.fourier import Fourier, Phase
from onkel.maps.hadamard import Hadamard
from onkel.online import Online, Setting, Waiting, bare, stand_in
from onkel.points import WIDE, Listed
from onkel.readouts.exact import LeastSquares
from onkel.rows import Csr, Dense, aligned_zeros
from onkel.scaling import Standardised
from onkel.widths import has_rule

MIXES = "Its random features mix all columns, so that none can be added: use draw='iid' for columns that come new."


def grown(online: Online, n_features: int, n_outputs: int) -> Online:
    """The learner at work with more columns or more classes; it takes over the arrays of the old one.

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
    before = online.setting
    larger = before._replace(n_features=n_features, n_outputs=n_outputs)
    if larger == before:
        return online
    if n_features > WIDE >= before.n_features:
        raise ValueError(f"A learner that began with fewer columns cannot grow beyond {WIDE}: begin with all of them.")
    if n_features > before.n_features and found(online.model, Hadamard) is not None:
        raise ValueError(MIXES)
    after = Online(online.learner, online.task, larger)
    after.turn = online.turn  # threads that wait for the old one find the new one
    model = taken_over(bare(online.model), online, after)
    if isinstance(online.model, Standardised):
        model = Standardised(placed(online.model.scaler, after.model.scaler, n_features), model)
    after.model = model
    return after


def grow(online: Online, n_features: int, n_outputs: int) -> None:
    """The same for all who hold the learner at work; changes it."""
    online.become(grown(online, n_features, n_outputs))


def taken_over(model: Any, online: Online, after: Online) -> Any:
    """A model, without what it wears, in the arrays of a larger one."""
    width = after.inner.n_features
    if isinstance(model, Waiting):
        inner = None if model.model is None else taken_over(model.model, online, after)
        return placed(model._replace(model=None), bare(after.model), width)._replace(model=inner)
    plan = after.learner.plan(after.task)
    kernel = settled(plan, model, online.inner, after.inner) if has_rule(plan.kernel) else plan.kernel
    return placed(model, plan.build(kernel, after.inner), width)


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
    """The first piece of a kind in a model, or None."""
    if isinstance(tree, kind):
        return tree
    parts: Any = (found(part, kind) for part in tree) if isinstance(tree, tuple) else ()
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
