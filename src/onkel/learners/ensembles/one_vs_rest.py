"""One model per class, each of which tells its class from all others."""

from typing import Any, NamedTuple

import numpy as np

from onkel.core.checking import misfit
from onkel.core.growing import KEPT, MIRRORED, Change, changed, copied, margin, placed, taken
from onkel.core.ranges import COUNT, limits
from onkel.core.verbs import known
from onkel.learners import verbs
from onkel.learners.ensembles.side_by_side import learn_parts, misfit_of_parts, rooms, score_parts


@known
@limits(clock=COUNT)
class OneVsRest(NamedTuple):
    """Binary models, one per class; the score of a class is that of its model."""

    parts: tuple[Any, ...]
    clock: Any  # (1,): rows learned


def one_vs_rest(parts: tuple[Any, ...]) -> OneVsRest:
    """Models that know nothing yet, side by side."""
    return OneVsRest(parts, np.zeros(1, np.int64))


def signs(targets: Any, k: int) -> Any:
    """+1 for the rows of class k, -1 for all others."""
    return np.where(targets == k, 1.0, -1.0)


@verbs.learn.register
def _(model: OneVsRest, block: Any, first: int, targets: Any, importance: Any, scores: Any) -> Any:
    own = rooms(model, len(scores), 1)
    after = learn_parts(model, own, block, first, lambda k, rows: signs(targets[rows], k), importance)
    scores[first:] = own[:, first:, 0].T
    return after


@verbs.score.register
def _(model: OneVsRest, block: Any, scores: Any) -> None:
    scores[:] = score_parts(model, rooms(model, len(scores), 1), block)[:, :, 0].T


@verbs.prepare.register
def _(model: OneVsRest, block: Any, scores: Any) -> None:
    verbs.prepare(model.parts[0], block, rooms(model, len(scores), 1)[0])


misfit.register(OneVsRest, misfit_of_parts)


@placed.register
def _(old: OneVsRest, fresh: Any, width: int) -> OneVsRest:
    parts = placed(old.parts, fresh.parts, width)
    known, new = parts[: len(old.parts)], parts[len(old.parts) :]
    return old._replace(parts=(*known, *(verbs.lent(part, known[-1]) for part in new)))


@changed.register
def _(fresh: OneVsRest, old: Any, change: Change) -> Any:
    first, second, *_ = fresh.parts
    return OneVsRest((taken(old, first, MIRRORED), taken(old, second, KEPT)), copied(old.clock))


@margin.register
def _(several: OneVsRest) -> float:
    return 2.0


@verbs.compressed_rows_give.register
def _(model: OneVsRest) -> bool:
    return verbs.compressed_rows_give(model.parts[0])


@verbs.feature_space.register
def _(model: OneVsRest) -> Any:
    raise ValueError("it consists of one model for each class, each with features of its own")


@verbs.graph_scores.register
def _(model: OneVsRest, g: Any, x: str) -> str:
    return str(g("Concat", *(verbs.graph_scores(part, g, x) for part in model.parts), axis=1))
