"""Weights of classes: those that were given, or such that rare classes count as much as frequent ones, row by row."""

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from onkel.core.parameters import is_number, one_of

HEAVIEST = 100.0
Numbers = NDArray[np.float64]
ClassWeight = str | dict[Any, float] | None


def balanced(counts: Numbers, classes: Any) -> Numbers:
    """The weights of rows of these classes, numbered from 0, after so many rows of each class.

    rows so far / (classes so far * rows of its class so far), the row itself counted in. The first rows of a class say
    little about how rare it is: a weight is at most one more than the number of rows of its class, and at most 100.

    >>> balanced(np.zeros(2), np.array([0, 0, 0, 1])).round(2).tolist()
    [1.0, 1.0, 1.0, 2.0]
    """
    numbers = np.asarray(classes, np.int64)
    here = np.zeros((len(numbers), len(counts)))
    here[np.arange(len(numbers)), numbers] = 1.0
    seen = counts + np.cumsum(here, axis=0)  # whole numbers: no bit depends on how the stream is cut
    own = seen[np.arange(len(numbers)), numbers]
    weights = seen.sum(axis=1) / ((seen > 0.0).sum(axis=1) * own)
    return np.minimum(np.minimum(weights, own + 1.0), HEAVIEST)


def checked_weight(weights: Any) -> ClassWeight:
    """What is asked for, if it is something that classes can be weighed by."""
    if isinstance(weights, str):
        return one_of("class_weight", weights, ("balanced",))
    right = isinstance(weights, dict) and all(is_number(weight) and weight >= 0.0 for weight in weights.values())
    if weights is not None and not right:
        raise ValueError(f"class_weight must be None, 'balanced' or a dict of weights >= 0 by label, not {weights!r}.")
    return cast(ClassWeight, weights)


def given(weights: dict[Any, float], labels: list[Any]) -> Numbers:
    """The weights of classes from a dict by label; 1 for those that are not in it."""
    return np.array([float(weights.get(label, 1.0)) for label in labels])
