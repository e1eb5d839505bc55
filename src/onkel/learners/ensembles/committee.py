"""Models that learn the same rows side by side and answer together."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onkel.core.checking import misfit
from onkel.core.ranges import COUNT, limits
from onkel.core.verbs import known
from onkel.learners import verbs
from onkel.learners.ensembles.side_by_side import MODELS_OF_THEIR_OWN, learn_parts, misfit_of_parts, rooms, score_parts


@known
@limits(clock=COUNT)
class Committee(NamedTuple):
    """Models of the same task; their answer is the mean of their scores, or the result of a vote."""

    parts: tuple[Any, ...]
    votes: bool
    clock: Any  # (1,): rows learned


def committee(parts: tuple[Any, ...], votes: bool) -> Committee:
    """Models that know nothing yet, side by side."""
    return Committee(parts, votes, np.zeros(1, np.int64))


def combined(votes: bool, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """The answer (n, K) to the scores (R, n, K) of all models.

    >>> combined(True, np.array([[[2.0]], [[-1.0]], [[0.5]]])).round(3).tolist()
    [[0.333]]
    """
    if not votes:
        mean: NDArray[np.float64] = scores.mean(axis=0)
        return mean
    if scores.shape[2] == 1:
        share: NDArray[np.float64] = np.where(scores >= 0.0, 1.0, -1.0).mean(axis=0)
        return share
    chosen = scores.argmax(axis=2)
    counts: NDArray[np.float64] = (chosen[:, :, None] == np.arange(scores.shape[2])).mean(axis=0)
    return counts


@verbs.learn.register
def _(model: Committee, block: Any, first: int, targets: Any, importance: Any, scores: Any) -> Any:
    own = rooms(model, *scores.shape)
    after = learn_parts(model, own, block, first, lambda _, rows: targets[rows], importance)
    scores[first:] = combined(model.votes, own)[first:]
    return after


@verbs.score.register
def _(model: Committee, block: Any, scores: Any) -> None:
    scores[:] = combined(model.votes, score_parts(model, rooms(model, *scores.shape), block))


@verbs.prepare.register
def _(model: Committee, block: Any, scores: Any) -> None:
    verbs.prepare(model.parts[0], block, rooms(model, *scores.shape)[0])


misfit.register(Committee, misfit_of_parts)


@verbs.compressed_rows_give.register
def _(model: Committee) -> bool:
    return verbs.compressed_rows_give(model.parts[0])


@verbs.relevance.register
def _(model: Committee) -> Any:
    return np.asarray(np.mean([verbs.relevance(part) for part in model.parts], axis=0))


@verbs.feature_space.register
def _(model: Committee) -> Any:
    raise ValueError(MODELS_OF_THEIR_OWN)


@verbs.graph_scores.register
def _(model: Committee, g: Any, x: str) -> str:
    own = [verbs.graph_scores(part, g, x) for part in model.parts]
    return str(g.mean([g.vote(one, len(model.parts[0].weights)) for one in own] if model.votes else own))
