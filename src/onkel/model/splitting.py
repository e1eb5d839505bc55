"""From two classes to several: what a learner of targets -1 and +1 knows, for a learner with a score per class.

The score f becomes the scores -f/2 and +f/2. Their difference is f: the larger one is the old answer, the margin is the
same, and softmax of the two is sigmoid(f). Where each class has a model of its own, +1 takes over the old one and -1
its mirror image. Losses, steps and sizes are those of a fresh learner of several classes.
"""

from collections.abc import Callable
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from onkel.core.rows import aligned_zeros
from onkel.core.support import Support
from onkel.learners.ensembles.experts import Experts
from onkel.learners.ensembles.one_vs_rest import OneVsRest
from onkel.learners.ensembles.renewed import Renewed
from onkel.learners.expansion import Expansion
from onkel.learners.hybrid import Hybrid
from onkel.learners.linear import Linear
from onkel.learners.mixed import Mixed
from onkel.learners.particles import Particles
from onkel.learners.partitioned import Indexed
from onkel.learners.verbs import stages, with_levels
from onkel.model.waiting import Waiting
from onkel.pieces.budgets.leaving import DropBest
from onkel.pieces.budgets.prototypes import Prototypes
from onkel.pieces.kernels import Kernel
from onkel.pieces.readouts.heads import Heads
from onkel.pieces.steps import MINIBATCH

ByOutput = Callable[[Any, int], Any]


class Change(NamedTuple):
    """What becomes of numbers that a model has for each of its outputs; the second argument is their axis."""

    signed: ByOutput  # whose sum is a score
    energy: ByOutput  # sums of squares
    targets: Callable[[Any], Any]
    sides: Callable[[Any], Any]  # (2, n): of the positive and of the negative rows


def copied(array: Any) -> Any:
    """The same numbers in an array of their own, which models that were made from one may change each by itself."""
    own = aligned_zeros(array.shape, array.dtype)
    own[...] = array
    return own


def alike(array: Any, axis: int = 0) -> Any:
    return copied(array)


def halves(array: Any, axis: int) -> Any:
    return np.concatenate([(0 - array) / 2, array / 2], axis)  # 0 - a, since -a would make -0.0 of zeros


def twice(array: Any, axis: int) -> Any:
    return np.concatenate([array, array], axis)


KEPT = Change(alike, alike, copied, copied)
MIRRORED = Change(lambda a, axis: copied(0 - a), alike, lambda targets: 0 - targets, lambda a: copied(a[::-1]))
SPLIT = Change(halves, twice, lambda targets: np.where(targets > 0.0, 1.0, 0.0), copied)


def split(model: Any, fresh: Any) -> Any:
    """The model of two classes as one of a score per class, with the rules of a fresh one, of whatever size."""
    return taken(model, fresh, SPLIT)


def taken(old: Any, fresh: Any, change: Change) -> Any:
    """What was learned, changed, with the rules of a fresh model, or of what that one becomes."""
    like = next((stage for stage in stages(fresh) if type(stage) is type(old)), fresh)
    return changed(like, old, change)


def by_field(fresh: Any, old: Any, change: Change, **own: Any) -> Any:
    """The same field by field, but for those that are given."""
    fields = zip(old._fields, old, fresh, strict=True)
    return type(old)(*(own[name] if name in own else taken(a, b, change) for name, a, b in fields))


def kept(piece: Any) -> Any:
    """A piece that has nothing to do with the outputs."""
    return by_field(piece, piece, KEPT)


@singledispatch
def changed(fresh: Any, old: Any, change: Change) -> Any:
    """What was learned in a piece, changed: an array without an axis of outputs stays, a number is the fresh one."""
    return fresh


@changed.register
def _(fresh: np.ndarray, old: Any, change: Change) -> Any:
    return copied(old)


@changed.register
def _(fresh: tuple, old: Any, change: Change) -> Any:  # type: ignore[type-arg]
    if hasattr(fresh, "_fields"):
        return by_field(fresh, old, change)
    return tuple(taken(a, b, change) for a, b in zip(old, fresh, strict=True))


@changed.register
def _(fresh: Kernel, old: Any, change: Change) -> Any:
    return old  # with the width that a rule has settled


# ---- learners ----


@changed.register
def _(fresh: Linear, old: Any, change: Change) -> Any:
    of_memory = change.signed if old.step.code == MINIBATCH else change.energy  # slopes added up, or their squares
    weights, memory = change.signed(old.weights, 0), of_memory(old.memory, 0)
    return by_field(fresh, old, change, feature_map=kept(old.feature_map), weights=weights, memory=memory)


@changed.register
def _(fresh: Indexed, old: Any, change: Change) -> Any:
    weights = change.signed(old.weights, 0)
    return by_field(fresh, old, change, partitions=kept(old.partitions), weights=weights)


@changed.register
def _(fresh: Renewed, old: Any, change: Change) -> Any:
    return by_field(fresh, old, change, block=kept(old.block))


@changed.register
def _(fresh: Support, old: Any, change: Change) -> Any:
    return by_field(old, old, KEPT, coef=change.signed(old.coef, 0))


@changed.register
def _(fresh: Expansion, old: Any, change: Change) -> Any:
    return by_field(fresh, old, change, offset=change.signed(old.offset, 0))


@changed.register
def _(fresh: Hybrid, old: Any, change: Change) -> Any:
    weights = change.signed(old.weights, 0)
    return by_field(fresh, old, change, feature_map=kept(old.feature_map), weights=weights)


@changed.register
def _(fresh: Mixed, old: Any, change: Change) -> Any:
    return by_field(fresh, old, change, feature_map=kept(old.feature_map))


@changed.register
def _(fresh: Heads, old: Any, change: Change) -> Any:
    signed = {name: change.signed(getattr(old, name), 1) for name in ("weights", "linear", "bias")}
    energies = ("weight_energy", "linear_energy", "bias_energy")
    return by_field(fresh, old, change, **signed, **{name: change.energy(getattr(old, name), 1) for name in energies})


@changed.register
def _(fresh: Particles, old: Any, change: Change) -> Any:
    """Of the energies of a particle those of its weights come first, then those of its widths."""
    S, _, wide = old.weights.shape
    of_weights = change.energy(old.energy[:, :wide].reshape(S, 1, wide), 1).reshape(S, -1)
    own = {"weights": change.signed(old.weights, 1), "steady": change.signed(old.steady, 1)}
    own |= {"energy": np.hstack([of_weights, old.energy[:, wide:]]), "targets": change.targets(old.targets)}
    return by_field(fresh, old, change, **own)


@changed.register
def _(fresh: Experts, old: Any, change: Change) -> Any:
    return by_field(with_levels(fresh, old), old, change)


@changed.register
def _(fresh: OneVsRest, old: Any, change: Change) -> Any:
    first, second, *_ = fresh.parts
    return OneVsRest((taken(old, first, MIRRORED), taken(old, second, KEPT)), copied(old.clock))


@changed.register
def _(fresh: Waiting, old: Any, change: Change) -> Any:
    return old._replace(targets=change.targets(old.targets))


@singledispatch
def margin(several: Any) -> float:
    """How many times f the scores of the two old classes are apart."""
    return 1.0


@margin.register
def _(several: OneVsRest) -> float:
    return 2.0


# ---- budgets that know two classes only ----


@changed.register
def _(fresh: DropBest, old: Any, change: Change) -> Any:
    return by_field(fresh, old, change, values=change.signed(old.values, 0))


@changed.register
def _(fresh: Prototypes, old: Any, change: Change) -> Any:
    weights, duals, values = change.sides(old.weights), change.sides(old.duals), change.signed(old.values, 0)
    return by_field(fresh, old, change, weights=weights, duals=duals, values=values)
