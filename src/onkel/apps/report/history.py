"""What a report shows of a run while it goes on: speed, weights of experts, and some rows to look back with."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onkel.core.ranges import COUNT, MOST, NOT_NEGATIVE, TOTAL, Range, refuse, violation
from onkel.evaluation.metrics import errors
from onkel.evaluation.prequential import Tally, points
from onkel.learners import verbs
from onkel.model.columns import resized
from onkel.model.online import Online
from onkel.model.relevance import relevance
from onkel.model.waiting import bare
from onkel.pieces.maps.lifting import features_of
from onkel.streams.block import Block, concatenate, packed, select, unpacked

POINTS = 200  # of a history; every second one is left out when there are more
SAMPLE = 4000  # rows to look back with
RIDGE = 1e-6  # relative to the mean square of the features


class Moment(NamedTuple):
    """A moment of a run: rows so far, seconds so far, and the weights of experts, if there are any."""

    rows: int
    seconds: float
    weights: tuple[float, ...]


class History:
    """Follows a run, in constant memory."""

    def __init__(self, online: Online) -> None:
        self.online, self.moments, self.every, self._blocks = online, list[Moment](), 1, 0
        self._rows: Any = None
        self._kept: Block | None = None
        self._losses: NDArray[np.float64] = np.zeros(0)
        self._random = np.random.default_rng(0)

    def seen(self, pairs: Iterator[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
        """The same blocks; the rows of the last are remembered."""
        for pair in pairs:
            self._rows = pair[0]
            yield pair

    def update(self, tally: Tally, targets: Any, scores: Any) -> None:
        """Take note of a block that was learned."""
        self._keep(targets, tally.answers.errors(targets, scores, tally.ties), tally.rows)
        self._blocks += 1
        if self._blocks % self.every == 0:
            self.moments.append(Moment(tally.rows, tally.seconds, expert_weights(self.online.model)))
        if len(self.moments) > POINTS:
            self.moments, self.every = self.moments[1::2], 2 * self.every

    def _keep(self, targets: Any, losses: Any, rows: int) -> None:
        """A random sample of all rows so far, about equally likely to be in it."""
        chance = min(1.0, SAMPLE / max(rows, 1))
        new = np.flatnonzero(self._random.random(len(targets)) < chance)
        if not len(new) or self._rows is None:
            return
        block = select(Block(self._rows, np.asarray(targets, np.float64)), new)
        kept = block if self._kept is None else concatenate([self._widened(self._kept), block])
        lost = np.concatenate([self._losses, losses[new]])
        if len(lost) > SAMPLE:
            stay = np.sort(self._random.choice(len(lost), SAMPLE, replace=False))
            kept, lost = select(kept, stay), lost[stay]
        self._kept, self._losses = kept, lost

    def _widened(self, block: Block) -> Block:
        """Rows of earlier, with the columns that the learner has now."""
        return block._replace(rows=resized(block.rows, self.online.setting.n_features, 0.0))

    def state(self) -> dict[str, Any]:
        """All it knows, to be restored by another one."""
        return {
            "moments": tuple(map(tuple, self.moments)), "every": self.every, "blocks": self._blocks,
            "kept": None if self._kept is None else packed(self._kept), "losses": tuple(self._losses.tolist()),
            "random": self._random.bit_generator.state,
        }  # fmt: skip

    def restore(self, state: dict[str, Any]) -> None:
        """Go on where another one was."""
        refuse(violation(state, {"every": Range(1.0, MOST, whole=True), "blocks": COUNT}).format("its history"))
        self.moments = points(Moment, state["moments"], MOST)
        self.every, self._blocks = state["every"], state["blocks"]
        self._kept = None if state["kept"] is None else unpacked(state["kept"])
        self._losses = np.array(state["losses"], np.float64)
        refuse(
            violation(
                {"losses": self._losses}, {"losses": TOTAL if self.online.task == "regression" else NOT_NEGATIVE}
            ).format("its history")
        )
        if self._losses.shape != (0 if self._kept is None else len(self._kept.labels),):
            raise ValueError("Its rows and their losses do not fit together.")
        self._random.bit_generator.state = state["random"]

    def report(self) -> dict[str, Any]:
        """Everything as plain numbers, by name; what a model does not have is left out."""
        found: dict[str, Any] = {"history": [moment._asdict() for moment in self.moments]}
        with suppress(ValueError):
            found["relevance"] = relevance(self.online.model).tolist()
        if self._kept is None:
            return {**found, "no_hindsight": "it has seen no rows"}
        try:
            feature_map = verbs.feature_space(bare(self.online.model))
        except ValueError as why:
            return {**found, "no_hindsight": str(why)}
        return {**found, "hindsight": self.hindsight(feature_map)}

    def hindsight(self, feature_map: Any) -> dict[str, float]:
        """The error of the learner on the sample, and that of the best fixed linear model in its feature space.

        The best is meant by least squares, on the targets or on the classes as -1 and 1, with the map as it is at the
        end.
        """
        assert self._kept is not None
        rows = self._widened(self._kept).rows
        features = features_of(feature_map, self.online.seen(rows)).astype(np.float64)
        targets = np.asarray(self._kept.labels, np.float64)
        targets = np.maximum(targets, 0.0) if self.online.task == "multiclass" else targets  # two may have become more
        scores = fitted(features, targets, self.online.setting.n_outputs)
        best = float(np.mean(errors(self.online.task, targets, scores)))
        return {"rows": len(self._losses), "error": float(np.mean(self._losses)), "best": best}


def fitted(features: NDArray[np.float64], targets: NDArray[np.float64], outputs: int) -> NDArray[np.float64]:
    """Scores of the linear model, with an offset, that is the best by least squares.

    >>> fitted(np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 3.0, 5.0]), 1).round(3).ravel().tolist()
    [1.0, 3.0, 5.0]
    """
    Z = np.column_stack([features, np.ones(len(features))])
    wanted = targets[:, None] if outputs == 1 else 2.0 * (targets[:, None] == np.arange(outputs)) - 1.0
    gram = Z.T @ Z
    gram[np.diag_indices_from(gram)] += RIDGE * max(float(np.trace(gram)) / len(gram), 1e-300)
    return np.asarray(Z @ np.linalg.lstsq(gram, Z.T @ wanted, rcond=None)[0])


def expert_weights(model: Any) -> tuple[float, ...]:
    """The weights, which add up to 1, of the experts or readouts of a model; none where there are none."""
    model = bare(model)
    combination = getattr(model, "combination", model)
    logs = getattr(combination, "log_weights", getattr(combination, "log_shares", None))
    if logs is not None:
        shares = np.exp(logs - np.max(logs))
    elif combination is not model and hasattr(combination, "weights"):
        shares = np.abs(combination.weights)
    else:
        return ()
    return tuple((shares / shares.sum()).tolist())
