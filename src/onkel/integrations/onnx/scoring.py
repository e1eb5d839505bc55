"""What models ask of an ONNX graph: scores (n, K), in float64, from features and points."""

from typing import Any

import numpy as np

from onkel.core.support import LARGEST_SCORE
from onkel.integrations.onnx.graph import Graph
from onkel.integrations.onnx.maps import features, similarities, turned
from onkel.pieces.maps.verbs import factor

F64 = np.float64


class ScoringGraph(Graph):
    """A graph with the sums that scores are made of; `learners.verbs.graph_scores` fills it."""

    def turned(self, phases: str) -> str:
        """Cosines, then sines."""
        return turned(self, phases)

    def weighted_features(self, x: str, model: Any) -> str:
        """The linear part of a model."""
        common = model.scale[0] * factor(model.feature_map)
        return self.product(features(model.feature_map, self, x), model.weights, common)

    def weighted_similarities(self, x: str, model: Any) -> str:
        """The sum over the support of a model."""
        support, count = model.support, int(model.support.count[0])
        n = max(count, 1)  # a graph has no arrays without numbers
        coef = np.where(np.arange(n) < count, support.coef[:, :n], 0).astype(support.coef.dtype)
        similar = similarities(self, x, model.kernel, support.points, support.sizes, n)
        return self.product(similar, coef, support.scale[0])

    def product(self, found: str, weights: Any, common: float = 1.0) -> str:
        """common * weights @ found, in float64 at the end."""
        both = np.asarray(common * np.asarray(weights, F64), weights.dtype)  # onnxruntime would keep it as a float32
        return self.cast(self("MatMul", found, both.T), F64)

    def weighted(self, parts: list[str], weights: Any) -> str:
        """Sum over the parts of weight * scores."""
        return self("Sum", *(self("Mul", part, F64(weight)) for part, weight in zip(parts, weights, strict=True)))

    def mean(self, parts: list[str]) -> str:
        """The mean of scores."""
        return self.weighted(parts, np.full(len(parts), 1.0 / len(parts)))

    def vote(self, found: str, outputs: int) -> str:
        """The vote of one model: its sign, +1 for 0, or 1 for its class."""
        if outputs == 1:
            return self("Where", self("GreaterOrEqual", found, F64(0.0)), F64(1.0), F64(-1.0))
        return self.cast(self("Equal", self("ArgMax", found, axis=1), np.arange(outputs)), F64)

    def finite(self, found: str) -> str:
        """Scores that are numbers, as everywhere: clamped, and 0 where there is none."""
        clamped = self("Clip", found, F64(-LARGEST_SCORE), F64(LARGEST_SCORE))
        return self("Where", self("IsNaN", found), F64(0.0), clamped)

    def sigmoid(self, found: str) -> str:
        """1 / (1 + exp(-f)): the operator of this name loses the digits of what is close to 0."""
        return self("Reciprocal", self("Add", self("Exp", self("Neg", found)), F64(1.0)))
