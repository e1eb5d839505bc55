"""Labels to targets and back: -1 and +1 for two classes, the number of the class for more."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Labels = NDArray[Any]
TEXT = "USOT"  # kinds of arrays of text


def outputs(classes: Labels) -> int:
    """Number of scores: one for two classes (or one), else one per class."""
    return 1 if len(classes) <= 2 else len(classes)


def task_of(classes: Labels) -> str:
    """``"binary"`` or ``"multiclass"``."""
    return "binary" if outputs(classes) == 1 else "multiclass"


def encode(labels: Labels, classes: Labels) -> NDArray[np.float64]:
    """Targets of labels; a label that is not among the sorted classes is an error.

    >>> encode(np.array(["b", "a"]), np.array(["a", "b"])).tolist()
    [1.0, -1.0]
    """
    places = numbered(labels, classes)
    targets: NDArray[np.float64] = places.astype(np.float64)
    return 2.0 * targets - 1.0 if outputs(classes) == 1 else targets


def numbered(labels: Labels, classes: Labels) -> NDArray[np.int64]:
    """The places of labels among the sorted classes; a label that is not there is an error."""
    labels = np.asarray(labels)
    places, known = sought(labels, classes)
    if not np.all(known):
        unknown = labels[~known].tolist()[0]
        if classes.dtype.kind in "iu" and isinstance(unknown, float) and unknown.is_integer():
            unknown = int(unknown)
        raise ValueError(f"The label {unknown!r} is not among the classes {_listed(classes)}.")
    return places


def sought(labels: Labels, classes: Labels) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Where labels would stand among the sorted classes, and whether they do."""
    if len(classes) == 0 or (classes.dtype.kind in TEXT) != (labels.dtype.kind in TEXT):  # text is never a number
        return np.zeros(len(labels), np.int64), np.zeros(len(labels), bool)
    places = np.searchsorted(classes, labels)
    return places, classes[np.minimum(places, len(classes) - 1)] == labels


def newcomers(labels: Labels, classes: Labels) -> list[int]:
    """The rows whose labels are not among the sorted classes, the first of each label.

    >>> newcomers(np.array(["b", "c", "a", "c"]), np.array(["b"]))
    [1, 2]
    """
    _, known = sought(labels, classes)
    if np.all(known):
        return []
    if len(classes) and (classes.dtype.kind in TEXT) != (labels.dtype.kind in TEXT):
        numbered(labels, classes)  # which says what is wrong
    rows = np.flatnonzero(~known)
    _, firsts = np.unique(labels[rows], return_index=True)
    return sorted(rows[firsts].tolist())


def decide(scores: NDArray[np.float64], tie: int = 1) -> NDArray[np.int64]:
    """Number of the class that scores (n, K) stand for: with one output the second where f > 0, else the first largest.

    A single score of exactly 0 is a tie: +1 (the second class) in the papers, the first class in scikit-learn.
    """
    if scores.shape[1] == 1:
        f = scores[:, 0]
        return (f >= 0.0 if tie else f > 0.0).astype(np.int64)
    return np.argmax(scores, axis=1).astype(np.int64)


def _listed(classes: Labels) -> str:
    shown = ", ".join(repr(c) for c in classes[:10].tolist())
    return shown if len(classes) <= 10 else f"{shown}, ... ({len(classes)} in all)"
