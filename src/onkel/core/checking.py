"""Does a piece from a file fit its recipe? Compiled code believes every type and shape, so they are checked first.

A piece is compared with a fresh one of the same recipe: the same types, the same numbers, arrays of the same type.
Where the sizes of arrays may differ from the fresh ones (`free`), they must agree with each other (`disagreement`).
Each type says so next to its definition.
"""

from collections.abc import Callable, Mapping
from functools import singledispatch
from typing import Any

import numpy as np

from onkel.core.growing import stages
from onkel.core.rows import Csr, Dense


@singledispatch
def misfit(first: Any, model: Any, ruled: bool, n_features: int) -> str:
    """Why a model is not what a fresh one, `first`, becomes by learning, or an empty string."""
    for expected in stages(first):
        if type(model) is type(expected):
            return difference(model, expected, ruled) or resized(expected, model) or disagreement(model)
    return other_type(first, model)


def other_type(first: Any, model: Any) -> str:
    return f"a {type(model).__name__} is not what {type(first).__name__} becomes"


@singledispatch
def resized(expected: Any, model: Any) -> str:
    """Whether a model has another size than its budget allows."""
    return ""


@singledispatch
def disagreement(piece: Any) -> str:
    """What is wrong with sizes that may change, or with numbers that compiled code uses as positions."""
    return ""


@singledispatch
def inside(piece: Any, capacity: int) -> bool:
    """Whether all slots that a budget points to are there."""
    return all(inside(part, capacity) for part in piece) if hasattr(piece, "_fields") else True


@singledispatch
def asks_inside(piece: Any, n_features: int) -> bool:
    """Whether a model asks only for columns that there are."""
    return all(asks_inside(part, n_features) for part in piece) if isinstance(piece, tuple) else True


@singledispatch
def as_found(expected: Any, found: Any, ruled: bool) -> Any:
    """A fresh piece with the numbers that rows may have settled in another one of its type."""
    return expected


@singledispatch
def free_arrays(piece: Any) -> Mapping[str, int]:
    """Arrays of a piece that may be longer or shorter than in a fresh model: along how many axes, the last ones."""
    return {}


def free(*names: str, axes: int = 1) -> Callable[[type], type]:
    """Declare that these arrays of a type may be longer or shorter than in a fresh model."""

    def declare(kind: type) -> type:
        free_arrays.register(kind, lambda _: dict.fromkeys(names, axes))
        return kind

    return declare


def difference(found: Any, expected: Any, ruled: bool, free_axes: int = 0) -> str:
    """The first place where a tree differs from another in a way that learning cannot explain."""
    if isinstance(expected, np.ndarray):
        return array_difference(found, expected, free_axes)
    if type(found) is not type(expected):
        return f"a {type(found).__name__} stands in place of a {type(expected).__name__}"
    if not hasattr(expected, "_fields"):
        return "" if found == expected else f"{short(found)} stands in place of {short(expected)}"
    expected, axes = as_found(expected, found, ruled), free_arrays(expected)
    for name, a, b in zip(expected._fields, found, expected, strict=True):
        problem = difference(a, b, ruled, axes.get(name, 0))
        if problem:
            return problem
    return ""


def array_difference(found: Any, expected: Any, free_axes: int) -> str:
    if not isinstance(found, np.ndarray) or found.dtype != expected.dtype or found.ndim != expected.ndim:
        return f"an array of type {expected.dtype} with {expected.ndim} axes is expected where something else is found"
    held_fast = slice(max(0, expected.ndim - free_axes))
    if found.shape[held_fast] != expected.shape[held_fast]:
        return f"an array of shape {expected.shape} is expected where one of shape {found.shape} is found"
    return ""


def rows_problem(block: Any, n: int, d: int, dtype: Any) -> str:
    """What is wrong with n rows of d columns."""
    if isinstance(block, Dense):
        return difference(block, Dense(np.broadcast_to(np.zeros((), dtype), (n, d))), False)  # of no memory
    if not isinstance(block, Csr) or not all(isinstance(part, np.ndarray) for part in block[:3]):
        return "its rows are missing"
    stored = len(block.data)
    same_type = Csr(np.zeros(stored, dtype), np.zeros(stored, np.int32), np.zeros(n + 1, np.int64), d)
    problem = difference(block, same_type, False)
    if problem:
        return problem
    ordered = block.indptr[0] == 0 and (np.diff(block.indptr) >= 0).all() and block.indptr[-1] == stored
    return "" if (stored == 0 or within(block.indices, d)) and ordered else "its rows point outside"


def within(places: Any, count: int) -> bool:
    """Whether all places are from 0 to count - 1, and there is at least one."""
    return bool(places.size and places.min() >= 0 and places.max() < count)


def short(value: Any) -> str:
    """A value from a file as a sentence can hold it."""
    return text if len(text := repr(value)) <= 60 else f"{text[:60]} ..."
