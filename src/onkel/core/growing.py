"""Models that grow: what was learned, in the arrays of a larger model, or of one with several classes instead of two.

Each type says for itself, next to its definition, what becomes of it: `placed` for new columns and classes, `changed`
for the third class, `stages` where learning makes another type of it.

Of two classes the score f becomes the scores -f/2 and +f/2. Their difference is f: the larger one is the old answer,
the margin is the same, and softmax of the two is sigmoid(f). Losses, steps and sizes are those of a fresh model.
"""

from collections.abc import Callable
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from onkel.core.rows import Csr, Dense, aligned_zeros

MIXES = "Its random features mix all columns, so that none can be added: use draw='iid' for columns that come new."
ByOutput = Callable[[Any, int], Any]


@singledispatch
def stages(model: Any) -> list[Any]:
    """A fresh model, and what it may become."""
    return [model]


# ---- more columns, more classes ----


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
    return fields_placed(old, like, width)


def fields_placed(old: Any, like: Any, width: int) -> Any:
    """The same field by field."""
    return type(old)(*(placed(a, b, width) for a, b in zip(old, like, strict=True)))


@placed.register
def _(old: Dense, fresh: Any, width: int) -> Dense:
    return Dense(np.pad(old.values, ((0, 0), (0, width - old.values.shape[1]))))


@placed.register
def _(old: Csr, fresh: Any, width: int) -> Csr:
    return old._replace(width=width)


# ---- several classes instead of two ----


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


def as_it_is(piece: Any) -> Any:
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


@singledispatch
def margin(several: Any) -> float:
    """How many times f the scores of the two old classes are apart."""
    return 1.0
