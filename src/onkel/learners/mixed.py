"""Several readouts of one learned map, mixed by how well they have predicted."""

from typing import Any, NamedTuple

import numpy as np

from onkel.core.borrowed import borrowed, keep, row
from onkel.core.checking import disagreement
from onkel.core.growing import Change, as_it_is, by_field, changed
from onkel.core.ranges import COUNT, NOT_NEGATIVE, limits
from onkel.core.rows import row_count, square_norm
from onkel.core.support import finite
from onkel.core.verbs import compiled, entry_point, known
from onkel.learners import verbs
from onkel.pieces.losses import bounded, soften
from onkel.pieces.maps.relevance import spread
from onkel.pieces.maps.tuned import descend, lift_row, remember, room_of, unit_of
from onkel.pieces.readouts.exact import LeastSquares, graph_solved, look, pull_exact, size, solve
from onkel.pieces.readouts.heads import improve, pull, read
from onkel.pieces.readouts.mixing import settle
from onkel.pieces.readouts.outcomes import answer, graph_answer, judge

HEAVIEST = 100.0  # a row counts as so many of the mean weight, at most
MOST_IN_ALL = 1e300  # a sum of weights that is no more than a number can be


@known
@limits(clock=COUNT, weighed=NOT_NEGATIVE)
class Mixed(NamedTuple):
    """A learned map, its readouts, and the mixture of their answers."""

    feature_map: Any
    outcome: Any
    heads: Any
    exact: Any  # one more readout, solved rather than stepped
    share: float
    log_shares: Any  # (H,), that of `exact` last
    clock: Any  # (1,): rows learned
    weighed: Any = None  # (2,): sum and number of the weights of rows, as they counted; old files have none


def mixed(feature_map: Any, outcome: Any, heads: Any, exact: Any, share: float) -> Mixed:
    """A learner that knows nothing yet."""
    experts = len(heads.rates) + (1 if size(exact) else 0)
    return Mixed(feature_map, outcome, heads, exact, share, np.zeros(experts), np.zeros(1, np.int64), np.zeros(2))


class Desk(NamedTuple):
    """Room for the numbers of one row."""

    phases: Any  # (D,)
    gradient: Any
    room: Any  # of `descend`
    features: Any  # (2 D,)
    step: Any
    shares: Any  # (H,)
    merits: Any
    scores: Any  # (H, K)
    likely: Any
    slopes: Any
    own: Any  # (m,), of the exact readout
    gain: Any


@compiled
def desk(model: Any) -> Any:
    """Uninitialised arrays for the numbers of one row."""
    real, n = model.feature_map.frequencies.dtype, model.feature_map.frequencies.shape[1]
    experts, shape = model.log_shares.shape[0], (model.log_shares.shape[0], model.heads.bias.shape[1])
    m = size(model.exact)
    return Desk(
        np.empty(n, real), np.empty(n, real), room_of(model.feature_map), np.empty(2 * n, real), np.empty(2 * n, real),
        np.empty(experts), np.empty(experts), np.empty(shape), np.empty(shape), np.empty(shape),
        np.empty(m), np.empty(m),
    )  # fmt: skip


@entry_point
def learn(model: Any, block: Any, first: int, targets: Any, importance: Any, scores: Any) -> int:
    """Learn the rows from `first` on, writing the scores each had before; returns the number of rows done."""
    model, block = borrowed(model), borrowed(block)
    targets, importance, scores = borrowed(targets), borrowed(importance), borrowed(scores)
    own = desk(model)
    work = borrowed(own)
    for i in range(first, row_count(block)):
        square = square_norm(block, i)
        unit = unit_of(model.feature_map, square)
        predict(model, block, i, unit, work, row(scores, i))
        model.clock[0] += 1
        if importance[i] > 0.0:
            update(model, block, i, unit, targets[i], within_reason(model.weighed, importance[i]), work)
            remember(model.feature_map, square)
    keep(own)
    return row_count(block)


@entry_point
def score(model: Any, block: Any, scores: Any) -> None:
    """Write the scores of all rows; changes nothing else."""
    model, block, scores = borrowed(model), borrowed(block), borrowed(scores)
    own = desk(model)
    work = borrowed(own)
    for i in range(row_count(block)):
        predict(model, block, i, unit_of(model.feature_map, square_norm(block, i)), work, row(scores, i))
    keep(own)


@compiled
def within_reason(weighed: Any, importance: float) -> float:
    """The weight of a row, but not more than HEAVIEST times the mean of those before; changes weighed.

    Steps shrink with all slopes so far: one absurd weight would end them.
    """
    heaviest = HEAVIEST * (1.0 + weighed[0]) / (1.0 + weighed[1])
    counts = min(importance, heaviest)
    weighed[0] = min(weighed[0] + counts, MOST_IN_ALL)
    weighed[1] += 1.0
    return counts


@compiled
def predict(model: Any, block: Any, i: int, unit: float, work: Any, scores: Any) -> None:
    lift_row(model.feature_map, block, i, unit, work.phases, work.features)
    read(model.heads, block, i, work.features, work.scores)
    look(model.exact, block, i, unit, work.features, work.own, work.scores)
    soften(model.log_shares, work.shares)
    answer(model.outcome, work.shares, work.scores, work.likely, scores)
    for k in range(scores.shape[0]):
        scores[k] = finite(scores[k])


@compiled
def update(model: Any, block: Any, i: int, unit: float, target: float, importance: float, work: Any) -> None:
    """Reward the readouts, then step them and the map by the slopes of their losses; changes model."""
    last, slopes = model.log_shares.shape[0] - 1, work.slopes
    judge(model.outcome, target, work.shares, work.scores, work.likely, slopes, work.merits)
    error = slopes[last, 0]
    for h in range(last + 1):
        work.merits[h] *= importance
        for k in range(slopes.shape[1]):
            slopes[h, k] = bounded(slopes[h, k] * importance)
    settle(model.log_shares, work.merits, model.share)
    work.gradient[:] = 0
    steep = pull(model.heads, work.shares, slopes, work.features, work.gradient)
    pull_exact(model.exact, work.shares[last] * slopes[last, 0], work.features, work.gradient)
    if steep or size(model.exact) > 0:
        solve(model.exact, error, importance, work.own, work.gain)
        curvature = importance * model.outcome.curvature
        improve(model.heads, block, i, unit, curvature, slopes, work.features, work.step)
        descend(model.feature_map, block, i, unit, work.gradient, work.room)


# ---- what else a model can do ----

verbs.in_loop(learn, score)(Mixed)


@disagreement.register
def _(model: Mixed) -> str:
    exact, most = model.exact, model.feature_map.frequencies.shape[1]
    if not isinstance(exact, LeastSquares):
        return ""
    m = 2 * exact.frequencies + exact.columns
    fits = 0 <= exact.frequencies <= most and exact.weights.shape == (m,) and exact.inverse.shape == (m, m)
    return "" if fits else "its exact readout is of several sizes"


@changed.register
def _(fresh: Mixed, old: Any, change: Change) -> Any:
    return by_field(fresh, old, change, feature_map=as_it_is(old.feature_map))


@verbs.relevance.register
def _(model: Mixed) -> Any:
    return spread(model.feature_map)


@verbs.feature_space.register
def _(model: Mixed) -> Any:
    raise ValueError("it mixes several readouts, which do not all use the same features")


@verbs.graph_scores.register
def _(model: Mixed, g: Any, x: str) -> str:
    feature_map, heads = model.feature_map, model.heads
    total, count = feature_map.lengths
    unit = 1.0 / np.sqrt(total / count) if count else 1.0  # before the first row all weights are 0
    stretch = g.real(feature_map.start * unit) * feature_map.widths
    z = g.turned(g("MatMul", g("Mul", x, stretch), feature_map.frequencies))
    H, K, _ = heads.weights.shape
    read = g("Add", g.product(z, flat(heads.weights)), g.product(x, flat(heads.linear)))
    own = g("Add", read, heads.bias.reshape(H * K))
    if isinstance(model.exact, LeastSquares):
        solved = graph_solved(model.exact, g, x, z, unit, feature_map.frequencies.shape[1])
        own, H = g("Concat", own, solved, axis=1), H + 1
    own = g("Reshape", own, np.array([-1, H, K]))
    shares = np.exp(model.log_shares - np.max(model.log_shares))
    return str(g.finite(graph_answer(model.outcome, g, own, shares / shares.sum(), K)))


def flat(weights: Any) -> Any:
    """(H, K, n) as (H K, n)."""
    return weights.reshape(-1, weights.shape[2])
