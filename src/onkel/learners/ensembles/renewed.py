"""Partitions that follow a drifting stream: every so many rows one of them is made anew from rows since the last time.

The others stay, so little of what was learned is lost at a time; after t renewals none is older than t periods.
"""

from typing import Any, NamedTuple

import numpy as np

from onkel.core.checking import misfit, other_type, rows_problem
from onkel.core.growing import Change, as_it_is, by_field, changed
from onkel.core.randomness import derive, reservoir
from onkel.core.ranges import COUNT, contradiction, in_their_order, limits
from onkel.core.rows import Block, join, pack, row_count, unpack
from onkel.core.verbs import known
from onkel.learners import partitioned, verbs
from onkel.learners.partitioned import Indexed
from onkel.pieces.maps.growing import cells, trees
from onkel.pieces.maps.isolation import Cells, SparseCells, Trees
from onkel.pieces.maps.renewing import cell_counts, replaced

FIRST_SEED = 1000  # seeds before it are those of other purposes


@known
class Rule(NamedTuple):
    """How partitions are made, and after how many rows one of them is made anew."""

    every: int
    psi: int
    partition: str
    metric: int
    max_depth: int | None
    seed: int


@known
@limits(numbers=COUNT)
class Renewed(NamedTuple):
    """A learner over partitions, with at most psi rows since the last renewal, each of them with the same chance."""

    rule: Rule
    model: Indexed
    block: Any  # rows held
    numbers: Any  # their places in the stream

    @property
    def clock(self) -> Any:
        """(1,): rows learned."""
        return self.model.clock


@contradiction.register
def _(renewed: Renewed) -> str:
    right = in_their_order(renewed.numbers, int(renewed.clock[0]))
    return "" if right else "its rows are none of those learned"


def make(rule: Rule, rows: Any, t: int, dtype: Any, seed: int) -> Trees | Cells | SparseCells:
    """t partitions from these rows."""
    if rule.partition == "trees":
        return trees(rows, t, rule.psi, rule.max_depth, dtype, seed)
    return cells(rows, t, rule.psi, rule.metric, dtype, seed)


@verbs.learn.register
def _(renewed: Renewed, block: Any, first: int, targets: Any, importance: Any, scores: Any) -> Any:
    n = int(row_count(block))
    while first < n:
        last = min(n, first + renewed.rule.every - int(renewed.clock[0]) % renewed.rule.every)
        part, here = pack(unpack(block)[first:last], renewed.model.weights.dtype), slice(first, last)
        renewed = held(renewed, part)
        partitioned.learn(renewed.model, part, 0, targets[here], importance[here], scores[here])
        if renewed.clock[0] % renewed.rule.every == 0:
            renewed = renew(renewed)
        first = last
    return renewed


def held(renewed: Renewed, part: Block) -> Renewed:
    """With these rows in the draw for the next partition."""
    start = int(renewed.clock[0])
    numbers = np.concatenate([renewed.numbers, np.arange(start, start + int(row_count(part)))])
    kept = reservoir(derive(renewed.rule.seed, 8), numbers, renewed.rule.psi)
    both = unpack(join(renewed.block, part) if len(renewed.numbers) else part)
    return renewed._replace(block=pack(both[kept].copy(), renewed.model.weights.dtype), numbers=numbers[kept])


def renew(renewed: Renewed) -> Renewed:
    """With the next partition made from the rows held, its weights 0."""
    rule, model, rows = renewed.rule, renewed.model, unpack(renewed.block)
    none, sizes = pack(rows[:0], model.weights.dtype), cell_counts(model.partitions)
    renewed = renewed._replace(block=none, numbers=renewed.numbers[:0])
    if not isinstance(model.partitions, Trees) and sizes[0] < rule.psi:  # the sample is still filling up
        return renewed
    count = int(model.clock[0]) // rule.every
    i, seed = (count - 1) % len(sizes), derive(rule.seed, FIRST_SEED + count)
    new = make(rule, rows, 1, model.weights.dtype, seed)
    before, after = int(sizes[:i].sum()), int(sizes[: i + 1].sum())
    fresh = np.zeros((len(model.weights), int(cell_counts(new)[0])), model.weights.dtype)
    weights = np.concatenate([model.weights[:, :before], fresh, model.weights[:, after:]], axis=1)
    return renewed._replace(model=model._replace(partitions=replaced(model.partitions, i, new), weights=weights))


@verbs.score.register
def _(renewed: Renewed, block: Any, scores: Any) -> None:
    verbs.score(renewed.model, block, scores)


@verbs.prepare.register
def _(renewed: Renewed, block: Any, scores: Any) -> None:
    verbs.prepare(renewed.model, block, scores)


@misfit.register
def _(first: Renewed, model: Any, ruled: bool, n_features: int) -> str:
    """Partitions that are renewed, and the rows held for the next one."""
    if type(model) is not Renewed:
        return other_type(first, model)
    numbers = model.numbers
    if not isinstance(numbers, np.ndarray) or numbers.dtype != np.int64 or numbers.ndim != 1:
        return "the numbers of the rows held are missing"
    held = rows_problem(model.block, len(numbers), n_features, unpack(first.block).dtype)
    rule = "" if model.rule == first.rule and len(numbers) <= model.rule.psi else "its rule of renewal is another one"
    return rule or held or misfit(first.model, model.model, ruled, n_features)


@changed.register
def _(fresh: Renewed, old: Any, change: Change) -> Any:
    return by_field(fresh, old, change, block=as_it_is(old.block))


@verbs.lent.register
def _(fresh: Renewed, known: Any) -> Renewed:
    return fresh._replace(model=verbs.lent(fresh.model, known.model))


@verbs.compressed_rows_give.register
def _(renewed: Renewed) -> bool:
    return verbs.compressed_rows_give(renewed.model)


@verbs.feature_space.register
def _(renewed: Renewed) -> Any:
    return verbs.feature_space(renewed.model)
