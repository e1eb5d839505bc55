"""What models share that hold several models, `parts`, which learn the same rows and know nothing of each other."""

from collections.abc import Callable
from typing import Any

import numpy as np

from onkel.core.checking import difference, disagreement, misfit, other_type
from onkel.core.rows import some
from onkel.core.threads import in_turns
from onkel.learners import verbs

MODELS_OF_THEIR_OWN = "it consists of several models, each with features of its own"
TargetsOf = Callable[[int, slice], Any]  # the number of a part, and rows


def rooms(model: Any, rows: int, outputs: int) -> Any:
    """Arrays for the scores of each part."""
    return np.zeros((len(model.parts), rows, outputs))


def with_parts(model: Any, parts: Any) -> Any:
    """The model with these parts; the same one, where they are the same."""
    same = all(a is b for a, b in zip(parts, model.parts, strict=True))
    return model if same else model._replace(parts=tuple(parts))


def learn_parts(model: Any, own: Any, block: Any, first: int, targets_of: TargetsOf, importance: Any) -> Any:
    """The model after the rows from `first` on, part by part; writes what each said before to `own`."""

    def work(k: int, part: Any, rows: slice) -> Any:
        return verbs.learn(part, some(block, rows), 0, targets_of(k, rows), importance[rows], own[k, rows])

    n = own.shape[1]
    parts = in_turns(work, model.parts, first, n)
    model.clock[0] += n - first
    return with_parts(model, parts)


def score_parts(model: Any, own: Any, block: Any) -> Any:
    """Write what each part says; returns it."""

    def work(k: int, part: Any, rows: slice) -> Any:
        verbs.score(part, some(block, rows), own[k, rows])
        return part

    in_turns(work, model.parts, 0, own.shape[1])
    return own


def misfit_of_parts(first: Any, model: Any, ruled: bool, n_features: int) -> str:
    """`misfit` of the parts, one by one, and of what is around them."""
    if type(model) is not type(first):
        return other_type(first, model)
    if not isinstance(model.parts, tuple):
        return difference(model, first, ruled)
    if len(model.parts) != len(first.parts):
        return f"there are {len(model.parts)} models where there should be {len(first.parts)}"
    pairs = zip(first.parts, model.parts, strict=True)
    of_parts = (misfit(fresh, part, ruled, n_features) for fresh, part in pairs)
    rest = difference(model._replace(parts=None), first._replace(parts=None), ruled)
    return rest or next(filter(None, of_parts), "") or disagreement(model)
