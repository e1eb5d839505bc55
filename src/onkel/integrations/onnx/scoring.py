"""Models as ONNX nodes: their scores (n, K), in float64."""

from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from onkel.integrations.onnx.graph import Graph
from onkel.integrations.onnx.maps import features, similarities, turned
from onkel.learners.ensembles import experts
from onkel.learners.ensembles.committee import Committee
from onkel.learners.ensembles.experts import Experts
from onkel.learners.ensembles.one_vs_rest import OneVsRest
from onkel.learners.ensembles.voting import Votes
from onkel.learners.expansion import Expansion
from onkel.learners.hybrid import Hybrid
from onkel.learners.linear import Linear
from onkel.learners.mixed import Mixed
from onkel.learners.particles import Particles
from onkel.pieces.maps.verbs import factor
from onkel.pieces.readouts.exact import LeastSquares
from onkel.pieces.readouts.outcomes import RAREST, Labels, Numbers

F64 = np.float64
LARGEST_SCORE = 1e30  # of `support.finite`


@singledispatch
def scores(model: Any, g: Graph, x: str) -> str:
    """The scores of rows."""
    raise ValueError(f"A model of the type {type(model).__name__} has no form in ONNX and is not exported.")


def finite(g: Graph, found: str) -> str:
    """Scores that are numbers, as everywhere: clamped, and 0 where there is none."""
    clamped = g("Clip", found, F64(-LARGEST_SCORE), F64(LARGEST_SCORE))
    return g("Where", g("IsNaN", found), F64(0.0), clamped)


def product(g: Graph, found: str, weights: Any, common: float = 1.0) -> str:
    """common * weights @ found, in float64 at the end."""
    both = np.asarray(common * np.asarray(weights, F64), weights.dtype)  # onnxruntime would keep `common` as a float32
    return g.cast(g("MatMul", found, both.T), F64)


def weighted(g: Graph, parts: list[str], weights: Any) -> str:
    """Sum over the parts of weight * scores."""
    return g("Sum", *(g("Mul", part, F64(weight)) for part, weight in zip(parts, weights, strict=True)))


def explicit(g: Graph, x: str, model: Any) -> str:
    """The linear part of a model."""
    common = model.scale[0] * factor(model.feature_map)
    return product(g, features(model.feature_map, g, x), model.weights, common)


def expanded(g: Graph, x: str, model: Any) -> str:
    """The sum over the support of a model."""
    support, count = model.support, int(model.support.count[0])
    n = max(count, 1)  # a graph has no arrays without numbers
    coef = np.where(np.arange(n) < count, support.coef[:, :n], 0).astype(support.coef.dtype)
    return product(g, similarities(g, x, model.kernel, support.points, support.sizes, n), coef, support.scale[0])


@scores.register
def _(model: Linear, g: Graph, x: str) -> str:
    return finite(g, explicit(g, x, model))


@scores.register
def _(model: Expansion, g: Graph, x: str) -> str:
    return finite(g, g("Add", expanded(g, x, model), model.offset))


@scores.register
def _(model: Hybrid, g: Graph, x: str) -> str:
    return finite(g, g("Add", expanded(g, x, model), explicit(g, x, model)))


@scores.register
def _(model: Particles, g: Graph, x: str) -> str:
    each = []
    for weights, widths in zip(model.steady, model.widths, strict=True):
        z = turned(g, g("MatMul", g("Mul", x, widths), model.noise))
        each.append(g("Add", product(g, z, weights[:, :-1], model.factor), weights[:, -1].astype(F64)))
    return finite(g, mean(g, each))


# ---- several models in one ----


def mean(g: Graph, parts: list[str]) -> str:
    return weighted(g, parts, np.full(len(parts), 1.0 / len(parts)))


@scores.register
def _(model: OneVsRest, g: Graph, x: str) -> str:
    return g("Concat", *(scores(part, g, x) for part in model.parts), axis=1)


@scores.register
def _(model: Committee, g: Graph, x: str) -> str:
    own = [scores(part, g, x) for part in model.parts]
    return mean(g, [vote(g, one, len(model.parts[0].weights)) for one in own] if model.votes else own)


@scores.register
def _(model: Experts, g: Graph, x: str) -> str:
    own = [scores(part, g, x) for part in model.parts]
    own = [vote(g, one, 1) for one in own] if isinstance(model.combination, Votes) else own
    return finite(g, weighted(g, own, shares_of(model.combination, len(own))))


def vote(g: Graph, found: str, outputs: int) -> str:
    """The vote of one model: its sign, +1 for 0, or 1 for its class."""
    if outputs == 1:
        return g("Where", g("GreaterOrEqual", found, F64(0.0)), F64(1.0), F64(-1.0))
    return g.cast(g("Equal", g("ArgMax", found, axis=1), np.arange(outputs)), F64)


def shares_of(combination: Any, count: int) -> NDArray[np.float64]:
    """The weight of each expert, from what a combination makes of signs: all +1, and all -1 but for one."""
    own = np.vstack([2.0 * np.eye(count) - 1.0, np.ones(count)]).T[:, :, None].copy()
    told = np.zeros((count + 1, 1))
    experts.answer(combination, own, 0, count + 1, told)
    return (told[:-1, 0] + told[-1, 0]) / 2.0


# ---- several readouts of one map ----


@scores.register
def _(model: Mixed, g: Graph, x: str) -> str:
    feature_map, heads = model.feature_map, model.heads
    total, count = feature_map.lengths
    unit = 1.0 / np.sqrt(total / count) if count else 1.0  # before the first row all weights are 0
    stretch = g.real(feature_map.start * unit) * feature_map.widths
    z = turned(g, g("MatMul", g("Mul", x, stretch), feature_map.frequencies))
    H, K, _ = heads.weights.shape
    read = g("Add", product(g, z, flat(heads.weights)), product(g, x, flat(heads.linear)))
    own = g("Add", read, heads.bias.reshape(H * K))
    if isinstance(model.exact, LeastSquares):
        own, H = g("Concat", own, solved(g, x, z, unit, model.exact, feature_map.frequencies.shape[1]), axis=1), H + 1
    own = g("Reshape", own, np.array([-1, H, K]))
    return finite(g, answer(model.outcome, g, own, special.softmax(model.log_shares), K))


def flat(weights: Any) -> Any:
    """(H, K, n) as (H K, n)."""
    return weights.reshape(-1, weights.shape[2])


def solved(g: Graph, x: str, z: str, unit: float, exact: LeastSquares, D: int) -> str:
    """The score of the readout by least squares, of the first cosines and sines, the row and a constant."""
    n, weights = exact.frequencies, exact.weights
    first = g.cast(g("Gather", z, np.r_[0:n, D : D + n], axis=1), F64)
    found = product(g, first, weights[None, : 2 * n] / np.sqrt(max(n, 1)))
    if exact.columns == 0:
        return found
    by_row = product(g, g.cast(x, F64), weights[None, 2 * n : -1], unit)
    return g("Add", g("Add", found, by_row), F64(weights[-1]))


@singledispatch
def answer(outcome: Any, g: Graph, own: str, shares: Any, outputs: int) -> str:
    """What the mixture of readouts (n, H, K) says."""
    raise ValueError(f"An outcome of the type {type(outcome).__name__} has no form in ONNX and is not exported.")


def mixed(g: Graph, own: str, shares: Any) -> str:
    """Sum over the readouts of share * what each says."""
    return g("ReduceSum", g("Mul", own, shares[:, None]), np.array([1]), keepdims=0)


@answer.register
def _(outcome: Labels, g: Graph, own: str, shares: Any, outputs: int) -> str:
    def log_mixed(likely: str) -> str:
        return g("Log", g("Max", mixed(g, likely, shares), F64(RAREST)))

    if outputs > 1:
        return log_mixed(g("Softmax", own, axis=2))
    return g("Sub", log_mixed(sigmoid(g, own)), log_mixed(sigmoid(g, g("Neg", own))))


def sigmoid(g: Graph, found: str) -> str:
    """1 / (1 + exp(-f)): the operator of this name loses the digits of what is close to 0."""
    return g("Reciprocal", g("Add", g("Exp", g("Neg", found)), F64(1.0)))


@answer.register
def _(outcome: Numbers, g: Graph, own: str, shares: Any, outputs: int) -> str:
    deviation = np.sqrt(outcome.moment[0] / outcome.count[0]) if outcome.moment[0] > 0.0 else 1.0
    number = g("Add", g("Mul", mixed(g, own, shares), F64(deviation)), F64(outcome.mean[0]))
    return g("Clip", number, F64(outcome.low[0]), F64(outcome.high[0]))
