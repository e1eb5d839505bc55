"""Models that wait for a width: a rule of the kernel needs rows, which are held until there are enough.

The width is settled anew, and all rows held are learned again, at 1, 2, 4, ... rows.
"""

from typing import Any, NamedTuple

import numpy as np

from onkel.core.growing import Change, changed
from onkel.core.randomness import derive, reservoir
from onkel.core.ranges import COUNT, NOT_NEGATIVE, contradiction, in_their_order, limits
from onkel.core.rows import Block, Dense, join, pack, unpack
from onkel.core.trees import kept
from onkel.core.verbs import known
from onkel.learners import verbs
from onkel.model.plan import Plan, Setting, fresh
from onkel.pieces.bandwidth import awaited, settle


@known
@limits(importance=NOT_NEGATIVE, numbers=COUNT, seen=COUNT)
class Waiting(NamedTuple):
    """A model that is not final, because a rule waits for rows: those held, and the model that they give so far."""

    block: Any
    targets: Any
    importance: Any
    numbers: Any  # of the rows held: their places in the stream
    seen: Any  # (1,): rows of the stream so far
    model: Any  # None before the first row


@contradiction.register
def _(held: Waiting) -> str:
    return "" if in_their_order(held.numbers, int(held.seen[0])) else "its rows are none of those learned"


def empty(setting: Setting) -> Waiting:
    """Nothing held yet."""
    nothing, count = Dense(np.zeros((0, setting.n_features), setting.dtype)), np.zeros(0, np.int64)
    return Waiting(nothing, np.zeros(0), np.zeros(0), count, np.zeros(1, np.int64), None)


def hold(
    held: Waiting, plan: Plan, setting: Setting, block: Block, first: int, targets: Any, importance: Any, scores: Any
) -> tuple[Any, int]:
    """Learn and hold rows until the width is settled the next time; the model and the row to go on from."""
    count, limit = int(held.seen[0]), awaited(plan.kernel)
    due = min(1 << count.bit_length(), limit.over)  # the next power of two, and the end
    last = min(len(targets), first + due - count)
    part, here = pack(unpack(block)[first:last].copy(), setting.dtype), slice(first, last)
    own = targets[here].copy(), importance[here].copy()  # the caller may use its arrays again
    model = kept(held.model)  # what is held stays as it is until all of this went well
    if model is not None:
        model = verbs.learn(model, part, 0, *own, scores[here])
    held = Waiting(
        join(held.block, part) if count else part,
        np.concatenate([held.targets, own[0]]),
        np.concatenate([held.importance, own[1]]),
        np.concatenate([held.numbers, np.arange(count, count + last - first)]),
        held.seen + (last - first),
        model,
    )
    held = thinned(held, limit.size, setting)
    return (settled(held, plan, setting, limit.over) if held.seen[0] == due else held), last


def settled(held: Waiting, plan: Plan, setting: Setting, over: int) -> Any:
    """What the rows held give: a fresh model that has learned them; final when there are enough."""
    scores = np.zeros((len(held.targets), setting.n_outputs))
    model = fresh(plan, settle(plan.kernel, unpack(held.block)), setting)
    model = verbs.learn(model, held.block, 0, held.targets, held.importance, scores)
    if held.seen[0] < over:
        return held._replace(model=model)
    model.clock[:] = held.seen
    return model


def thinned(held: Waiting, size: int, setting: Setting) -> Waiting:
    """At most `size` of the rows held, each row of the stream with the same chance, whatever the cut of the stream."""
    if len(held.numbers) <= size:
        return held
    kept = reservoir(derive(setting.seed, 7), held.numbers, size)
    rows = pack(unpack(held.block)[kept], setting.dtype)
    return held._replace(
        block=rows, targets=held.targets[kept], importance=held.importance[kept], numbers=held.numbers[kept]
    )


@changed.register
def _(fresh: Waiting, old: Any, change: Change) -> Any:
    return old._replace(targets=change.targets(old.targets))


@verbs.feature_space.register
def _(model: Waiting) -> Any:
    raise ValueError("it has not seen enough rows to settle its kernel")
