"""Feature maps and kernels as ONNX nodes: what `lift` and `similarities` compute, without the common factor."""

from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onkel.integrations.onnx.graph import Graph
from onkel.pieces.kernels import CAUCHY, CHI2, GAUSSIAN, LAPLACIAN, LINEAR, LOG2_E, POLYNOMIAL, Kernel
from onkel.pieces.maps.chi2 import Chi2
from onkel.pieces.maps.fourier import Fourier, Phase
from onkel.pieces.maps.hadamard import Hadamard
from onkel.pieces.maps.learned import Learned, LearnedPhase
from onkel.pieces.maps.nystroem import Nystroem
from onkel.pieces.maps.spectral import Spectral

F64 = np.float64
LEAST_EXPONENT = {np.float32: -126.0, np.float64: -1075.0}  # below, `decay` gives 0
NO_FRACTION = {np.float32: 2.0**22, np.float64: 2.0**51}  # phases from which on `sincospi` gives those of 0


@singledispatch
def features(feature_map: Any, g: Graph, x: str) -> str:
    """The features (n, width) of rows."""
    raise ValueError(f"A map of the type {type(feature_map).__name__} has no form in ONNX and is not exported.")


def angles(g: Graph, phases: str) -> str:
    """Phases in half turns as angles within a turn; what is taken off is taken off exactly."""
    most = g.real(NO_FRACTION[g.real])
    u = g("Where", g("IsNaN", phases), most, g("Clip", phases, -most, most))
    turns = g("Mul", u, g.real(0.5))
    return g("Mul", g("Sub", turns, g("Round", turns)), g.real(2.0 * np.pi))


def turned(g: Graph, phases: str) -> str:
    """Cosines, then sines."""
    angle = angles(g, phases)
    return g("Concat", g("Cos", angle), g("Sin", angle), axis=1)


@features.register
def _(feature_map: Fourier, g: Graph, x: str) -> str:
    return turned(g, g("MatMul", x, feature_map.frequencies))


@features.register
def _(feature_map: Phase, g: Graph, x: str) -> str:
    return g("Cos", angles(g, g("Add", g("MatMul", x, feature_map.frequencies), feature_map.phases)))


@features.register
def _(feature_map: Learned, g: Graph, x: str) -> str:
    return turned(g, g("MatMul", g("Mul", x, feature_map.widths.factors), feature_map.noise))


@features.register
def _(feature_map: LearnedPhase, g: Graph, x: str) -> str:
    phases = g("MatMul", g("Mul", x, feature_map.widths.factors), feature_map.noise)
    return g("Cos", angles(g, g("Add", phases, feature_map.phases)))


@features.register
def _(feature_map: Spectral, g: Graph, x: str) -> str:
    Q, _, each = feature_map.noise.shape
    own = [g("MatMul", g("Mul", x, s), E) for s, E in zip(feature_map.factors, feature_map.noise, strict=True)]
    means = g.cast(g("MatMul", g.cast(x, F64), feature_map.means.T / np.pi), g.real)
    shift = g("Gather", means, np.repeat(np.arange(Q), each), axis=1)
    z = turned(g, g("Add", g("Concat", *own, axis=1), shift))
    return g("Mul", z, np.tile(np.repeat(np.sqrt(feature_map.shares * Q), each), 2).astype(g.real))


@features.register
def _(feature_map: Hadamard, g: Graph, x: str) -> str:
    return turned(g, g("MatMul", x, written_out(feature_map, g.width).astype(g.real)))


def written_out(feature_map: Hadamard, n_features: int) -> NDArray[np.float64]:
    """The frequencies (d, D) of a chain of diagonals and Walsh-Hadamard matrices: its phases of unit vectors."""
    diagonals, order, lengths, wanted = feature_map
    unit, blocks = np.eye(n_features, diagonals.shape[2]), []
    for (first, *others), own_order, own_lengths in zip(diagonals, order, lengths, strict=True):
        v = walsh(unit * first.astype(F64))[:, own_order]
        for diagonal in others:
            v = walsh(v * diagonal.astype(F64))
        blocks.append(v * own_lengths)
    return np.concatenate(blocks, axis=1)[:, :wanted]


def walsh(v: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each row times the unnormalised Walsh-Hadamard matrix, by sums and differences.

    >>> walsh(np.array([[1.0, 0.0, 0.0, 2.0]])).tolist()
    [[3.0, -1.0, -1.0, 3.0]]
    """
    half = 1
    while half < v.shape[1]:
        pairs = v.reshape(len(v), -1, 2, half)
        v = np.stack([pairs[:, :, 0] + pairs[:, :, 1], pairs[:, :, 0] - pairs[:, :, 1]], axis=2).reshape(v.shape)
        half *= 2
    return v


@features.register
def _(feature_map: Chi2, g: Graph, x: str) -> str:
    d, order, period = feature_map
    there, v = g("Greater", x, g.real(0.0)), g.cast(x, F64)
    v = g("Where", there, v, F64(1.0))
    root, turn = g("Where", there, g("Sqrt", v), F64(0.0)), g("Log", v)
    columns = [g("Mul", root, F64(np.sqrt(period)))]
    for n in range(1, order + 1):
        size = g("Mul", root, F64(np.sqrt(2.0 * period / np.cosh(np.pi * n * period))))
        angle = g("Mul", turn, F64(n * period))
        columns += [g("Mul", size, g("Cos", angle)), g("Mul", size, g("Sin", angle))]
    side_by_side = g("Concat", *(g("Unsqueeze", one, np.array([2])) for one in columns), axis=2)
    return g.cast(g("Reshape", side_by_side, np.array([-1, d * (2 * order + 1)])), g.real)


@features.register
def _(feature_map: Nystroem, g: Graph, x: str) -> str:
    kernel, points, sizes, projection = feature_map
    return g("MatMul", similarities(g, x, kernel, points, sizes, len(sizes)), projection)


def similarities(g: Graph, x: str, kernel: Kernel, points: Any, sizes: Any, n: int) -> str:
    """k(x, s) of rows and the first n points (d, .)."""
    points, sizes = points[:, :n], sizes[:n]
    if kernel.code > LINEAR:
        return by_terms(g, x, kernel, points)
    products = g("MatMul", x, points)
    if kernel.code == POLYNOMIAL:
        base = g("Add", g("Mul", products, np.full(n, kernel.gamma, g.real)), g.real(kernel.coef0))
        return g("Pow", base, g.real(kernel.degree))
    return gaussian(g, x, kernel.gamma, products, sizes) if kernel.code == GAUSSIAN else products


def gaussian(g: Graph, x: str, gamma: float, products: str, sizes: Any) -> str:
    """2^(-c (|x|^2 + |s|^2 - 2 <x, s>)), c = gamma log2 e, rounded as in `kernels.from_products`."""
    exact, scale = g.cast(x, F64), g.real(-gamma * LOG2_E)
    square = g("ReduceSum", g("Mul", exact, exact), np.array([1]))
    own = g.cast(g("Mul", square, F64(-gamma * LOG2_E)), g.real)
    twice = g("Add", products, products)  # a factor right behind a product would be kept as a float32 by onnxruntime
    t = g("Sub", g("Add", own, scale * sizes), g("Mul", twice, scale))
    return two_to_the(g, t)


def two_to_the(g: Graph, t: str) -> str:
    """2^t, at most 1, as `decay` gives it: 0 where that is too small, whatever a runtime makes of such numbers."""
    power = g("Exp", g("Mul", g("Min", t, g.real(0.0)), g.real(np.log(2.0))))
    return g("Where", g("GreaterOrEqual", t, g.real(LEAST_EXPONENT[g.real])), power, g.real(0.0))


def by_terms(g: Graph, x: str, kernel: Kernel, points: Any) -> str:
    """Kernels that add up a term per feature; it takes rows * points * features numbers of memory."""
    rows, s = g("Unsqueeze", x, np.array([1])), np.asarray(points.T)
    axis = np.array([2])
    if kernel.code == CHI2:
        share = g("Div", g("Mul", g("Add", rows, rows), s), g("Add", rows, s))
        return g("ReduceSum", g("Where", g("Greater", rows, g.real(0.0)), share, g.real(0.0)), axis, keepdims=0)
    apart = g("Sub", rows, s)
    if kernel.code == LAPLACIAN:
        distance, scale = g("Abs", apart), -kernel.gamma * LOG2_E
    else:
        assert kernel.code == CAUCHY
        square = g("Mul", g("Mul", apart, apart), g.real(kernel.gamma))
        distance, scale = g("Log", g("Add", square, g.real(1.0))), -LOG2_E
    return two_to_the(g, g("Mul", g("ReduceSum", distance, axis, keepdims=0), g.real(scale)))
