"""What labels are: classes, or numbers. A guess says so, and why."""

from typing import Any, NamedTuple

import numpy as np

from onkel.model.answers import Answers, ClassAnswers
from onkel.model.numbers import NumberAnswers
from onkel.streams.block import StreamError

FEW_CLASSES = 20  # whole numbers that may have gaps
ROWS_PER_CLASS = 10  # that they need, then
ROWS_PER_NUMBERED_CLASS = 2
LARGEST = 2**53  # where fractions end, so that whole numbers say nothing


class Labels(NamedTuple):
    """What was seen of the labels of a stream: sorted values, none where they are continuous; and the rows."""

    values: tuple[Any, ...]
    rows: int


class Guess(NamedTuple):
    """Whether labels are classes, and the reason where that is not certain."""

    classes: bool
    reason: str = ""


def guess(labels: Labels) -> Guess:
    """Text and two values are classes, fractions are numbers; of whole numbers, those that look like measurements are.

    >>> guess(Labels(tuple(range(105)), 5000)).classes, guess(Labels((1, 2, 5, 9, 30), 40)).classes
    (True, False)
    """
    values, rows = labels
    if not values or (not isinstance(values[0], str) and max(map(abs, values)) >= LARGEST):
        return Guess(False)
    count = len(values)
    if isinstance(values[0], str) or count <= 2:
        return Guess(True)
    numbered = values[0] in (0, 1) and values[-1] - values[0] == count - 1
    span = f"{count} whole numbers from {values[0]:g} to {values[-1]:g}"
    if numbered and rows >= ROWS_PER_NUMBERED_CLASS * count:
        return Guess(True, "" if count <= FEW_CLASSES else f"{span} without a gap")
    if count <= FEW_CLASSES and rows >= ROWS_PER_CLASS * count:
        return Guess(True, f"{span}, each in many rows")
    return Guess(False, f"{span}, {'each in few rows' if numbered or count <= FEW_CLASSES else 'with gaps'}")


def chosen(task: str, labels: Labels, source: str, *, alone: bool = False) -> tuple[Answers, str]:
    """The answers for labels that were seen, and a sentence where their kind was guessed.

    A single class is enough where others may come (`alone`).
    """
    found = guess(labels)
    if task == "regression" or (task == "auto" and not found.classes):
        return NumberAnswers(), _said("numbers", "multiclass", found, source) if task == "auto" else ""
    classes = sorted_classes(labels.values)
    if not len(classes):
        raise ValueError(f"--task {task} needs labels that are classes; these are fractions, or more than 1,000.")
    if len(classes) == 1 and not alone:
        one = labels.values[0]
        raise StreamError(f"{source}: all rows have the label {one!r}; two classes are needed to tell apart.")
    if task == "binary" and len(classes) > 2:
        raise ValueError(f"--task binary needs two classes; there are {len(classes)}.")
    said = _said("classes", "regression", found, source) if task == "auto" else ""
    return ClassAnswers(classes, "multiclass" if task == "multiclass" and len(classes) > 2 else None), said


def sorted_classes(values: Any) -> Any:
    """Labels as classes: whole numbers stay whole, text stays text."""
    classes = np.unique(np.asarray(values)) if len(values) else np.zeros(0)
    whole = len(classes) > 0 and classes.dtype.kind == "f" and bool((classes == np.floor(classes)).all())
    return classes.astype(np.int64) if whole and np.abs(classes).max() < LARGEST else classes


def _said(kind: str, other: str, found: Guess, source: str) -> str:
    return f"{source}: its labels are taken for {kind} ({found.reason}); --task {other} if not." if found.reason else ""
