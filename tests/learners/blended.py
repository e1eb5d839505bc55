"""A made-up type of model, all in one file: two learners whose scores are mixed in fixed shares."""

from typing import Any, NamedTuple

import numpy as np

from onkel.core.checking import misfit
from onkel.core.ranges import COUNT, limits
from onkel.core.verbs import known
from onkel.learners import verbs
from onkel.learners.ensembles.side_by_side import learn_parts, misfit_of_parts, rooms, score_parts
from onkel.model.plan import Plan
from onkel.recipes import fogd, recipe, rrf


@known
@limits(clock=COUNT)
class Blended(NamedTuple):
    """f = sum_p share_p f_p."""

    parts: tuple[Any, ...]
    shares: tuple[float, ...]
    clock: Any  # (1,): rows learned


@verbs.learn.register
def _(model: Blended, block: Any, first: int, targets: Any, importance: Any, scores: Any) -> Any:
    own = rooms(model, *scores.shape)
    after = learn_parts(model, own, block, first, lambda _, rows: targets[rows], importance)
    scores[first:] = np.tensordot(model.shares, own, 1)[first:]
    return after


@verbs.score.register
def _(model: Blended, block: Any, scores: Any) -> None:
    scores[:] = np.tensordot(model.shares, score_parts(model, rooms(model, *scores.shape), block), 1)


@verbs.prepare.register
def _(model: Blended, block: Any, scores: Any) -> None:
    for part in model.parts:
        verbs.prepare(part, block, rooms(model, *scores.shape)[0])


misfit.register(Blended, misfit_of_parts)


@verbs.feature_space.register
def _(model: Blended) -> Any:
    raise ValueError("it is a blend")


@verbs.relevance.register
def _(model: Blended) -> Any:
    return verbs.relevance(model.parts[1])


@verbs.graph_scores.register
def _(model: Blended, g: Any, x: str) -> str:
    return g.weighted([verbs.graph_scores(part, g, x) for part in model.parts], model.shares)


def made_known() -> Any:
    """The recipe, which all know from now on; importing this file alone changes nothing."""

    @recipe(standardise=True)
    def blended(task: str, n_frequencies: int = 20, share: float = 0.25) -> Plan:
        """A blend of `fogd` and `rrf`."""
        plans = [make(n_frequencies).plan(task) for make in (lambda n: fogd(n, gamma=0.5), rrf)]

        def build(_: Any, setting: Any) -> Any:
            parts = tuple(plan.build(plan.kernel, setting) for plan in plans)
            return Blended(parts, (share, 1.0 - share), np.zeros(1, np.int64))

        return Plan(None, build)

    return blended
