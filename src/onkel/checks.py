"""Do the arrays of a model fit together? Compiled code believes them, so a model from a file is checked first."""

from functools import singledispatch
from typing import Any

import numpy as np

from onkel.learners.expansion import Expansion
from onkel.learners.linear import Linear
from onkel.maps.chi2 import Chi2
from onkel.maps.fourier import Fourier, Phase
from onkel.maps.hadamard import Hadamard
from onkel.maps.nystroem import Nystroem
from onkel.maps.verbs import width
from onkel.online import Setting, Waiting
from onkel.rows import Csr, Dense
from onkel.steps import has_memory

Shapes = list[tuple[Any, tuple[int, ...], Any]]


def problem_with(model: Any, setting: Setting) -> str:
    """What is wrong with a model, or an empty string."""
    for array, shape, dtype in shapes(model, setting):
        if not isinstance(array, np.ndarray) or array.shape != shape or array.dtype != dtype:
            return f"an array of shape {shape} and type {np.dtype(dtype)} is expected where another is found"
    return ranges(model)


@singledispatch
def shapes(piece: Any, setting: Setting) -> Shapes:
    """The arrays of a piece with the shape and type each must have. A type unknown here vouches for itself."""
    return []


@singledispatch
def ranges(model: Any) -> str:
    """What is wrong with the numbers that compiled code uses as positions, or an empty string."""
    return ""


@shapes.register
def _(model: Linear, setting: Setting) -> Shapes:
    found = shapes(model.feature_map, setting)
    if any(not isinstance(array, np.ndarray) or array.shape != shape for array, shape, _ in found):
        return found  # `width` of a broken map means nothing
    outputs, n = setting.n_outputs, int(width(model.feature_map))
    memory = (outputs, n if has_memory(model.step) else 0)
    real = setting.dtype
    state = [(model.scale, (1,), np.float64), (model.clock, (1,), np.int64)]
    return [*found, (model.weights, (outputs, n), real), (model.memory, memory, real), *state]


@shapes.register
def _(model: Expansion, setting: Setting) -> Shapes:
    points, sizes, coef, born, count, scale = model.support
    d, outputs, real, capacity = setting.n_features, setting.n_outputs, setting.dtype, len(sizes)
    return [
        (points, (d, capacity), real),
        (sizes, (capacity,), real),
        (coef, (outputs, capacity), real),
        (born, (capacity,), np.int64),
        (count, (1,), np.int64),
        (scale, (1,), np.float64),
        (model.offset, (outputs,), np.float64),
        (model.clock, (1,), np.int64),
    ]


@ranges.register
def _(model: Expansion) -> str:
    kept, capacity = int(model.support.count[0]), len(model.support.sizes)
    return "" if 0 <= kept <= capacity else f"{kept} rows are kept in room for {capacity}"


@shapes.register
def _(held: Waiting, setting: Setting) -> Shapes:
    n = len(held.targets)
    return [
        (held.targets, (n,), np.float64),
        (held.importance, (n,), np.float64),
        *block_shapes(held.block, n, setting),
        *([] if held.model is None else shapes(held.model, setting)),
    ]


def block_shapes(block: Any, n: int, setting: Setting) -> Shapes:
    if isinstance(block, Dense):
        return [(block.values, (n, setting.n_features), setting.dtype)]
    stored = len(block.data)
    arrays = [(block.data, (stored,), setting.dtype), (block.indices, (stored,), np.int32)]
    return [*arrays, (block.indptr, (n + 1,), np.int64)]


@ranges.register
def _(held: Waiting) -> str:
    inner = "" if held.model is None else ranges(held.model)
    block = held.block
    if inner or not isinstance(block, Csr):
        return inner
    steps = np.diff(block.indptr)
    inside = len(block.indices) == 0 or (block.indices.min() >= 0 and block.indices.max() < block.width)
    ordered = block.indptr[0] == 0 and (steps >= 0).all() and block.indptr[-1] == len(block.data)
    return "" if inside and ordered else "its rows point outside"


@shapes.register
def _(feature_map: Fourier, setting: Setting) -> Shapes:
    return [(feature_map.frequencies, (setting.n_features, _columns(feature_map.frequencies)), setting.dtype)]


@shapes.register
def _(feature_map: Phase, setting: Setting) -> Shapes:
    n = _columns(feature_map.frequencies)
    table = (feature_map.frequencies, (setting.n_features, n), setting.dtype)
    return [table, (feature_map.phases, (n,), setting.dtype)]


@shapes.register
def _(feature_map: Nystroem, setting: Setting) -> Shapes:
    landmarks = _columns(feature_map.points)
    return [
        (feature_map.points, (setting.n_features, landmarks), setting.dtype),
        (feature_map.sizes, (landmarks,), setting.dtype),
        (feature_map.projection, (landmarks, _columns(feature_map.projection)), setting.dtype),
    ]


@shapes.register
def _(feature_map: Hadamard, setting: Setting) -> Shapes:
    p = 1 << max(setting.n_features - 1, 0).bit_length()
    blocks, stages = -(-feature_map.n_frequencies // p), feature_map.diagonals.shape[1]
    order = feature_map.order  # a permutation of 0 .. p - 1 in each block
    permutes = isinstance(order, np.ndarray) and order.ndim == 2 and (np.sort(order, axis=1) == np.arange(p)).all()
    return [
        (feature_map.diagonals, (blocks, max(stages, 1), p), setting.dtype),
        (order if permutes else None, (blocks, p), np.int64),
        (feature_map.lengths, (blocks, p), setting.dtype),
    ]


@shapes.register
def _(feature_map: Chi2, setting: Setting) -> Shapes:
    fits = feature_map.n_features == setting.n_features and 0 <= feature_map.order < 100
    return [] if fits else [(None, (setting.n_features,), setting.dtype)]


def _columns(array: Any) -> int:
    return array.shape[1] if getattr(array, "ndim", 0) == 2 else -1
