"""Models on their way, and rows that all parts of a model learn, or none of them."""

from collections.abc import Callable
from typing import Any, NamedTuple

from onkel.core.growing import Change, changed
from onkel.core.ranges import COUNT, NOT_NEGATIVE, contradiction, in_their_order, limits
from onkel.core.rows import some
from onkel.core.undo import Undo
from onkel.core.verbs import known
from onkel.learners import verbs
from onkel.pieces.scaler import Standardised, standardised, touched


@known
@limits(importance=NOT_NEGATIVE, numbers=COUNT, seen=COUNT)
class Waiting(NamedTuple):
    """A model that is not final, because a rule waits for rows: those held, and the model that they give so far.

    It is settled anew, and all rows held are learned again, at 1, 2, 4, ... rows.
    """

    block: Any
    targets: Any
    importance: Any
    numbers: Any  # of the rows held: their places in the stream
    seen: Any  # (1,): rows of the stream so far
    model: Any  # None before the first row


@contradiction.register
def _(held: Waiting) -> str:
    return "" if in_their_order(held.numbers, int(held.seen[0])) else "its rows are none of those learned"


def bare(model: Any) -> Any:
    """A model without what it wears."""
    return model.model if isinstance(model, Standardised) else model


def dressed(model: Any, inner: Any) -> Any:
    """Another model in what this one wears."""
    if not isinstance(model, Standardised):
        return inner
    return model if inner is model.model else model._replace(model=inner)


def learned(model: Any) -> int:
    """Number of rows that a model has learned."""
    inner = bare(model)
    return int(inner.seen[0] if isinstance(inner, Waiting) else inner.clock[0])


class Whole:
    """Takes back what one part of a model has learned when another fails, so that all are at the same row."""

    def __init__(self) -> None:
        self._parts, self._statistics = Undo(), Undo()

    def standardised(
        self, model: Standardised, block: Any, importance: Any, dtype: Any, learn: Callable[[Any], Any]
    ) -> Any:
        """What `learn` makes of the rows, standardised; if it fails, only rows are counted in that were learned."""
        state, before = model.scaler, learned(model)
        try:
            with self._statistics.of(state, touched(state, block)):
                return learn(standardised(state, block, importance, dtype))
        except BaseException:
            done = slice(0, learned(model) - before)
            standardised(state, some(block, done), importance[done], dtype)
            raise

    def learn(self, model: Any, block: Any, first: int, targets: Any, importance: Any, scores: Any) -> Any:
        """As `verbs.learn`; if it fails, the model is that of a whole number of rows, which its clock tells."""
        if verbs.is_one_loop(model):
            return verbs.learn(model, block, first, targets, importance, scores)
        with self._parts.of(model):
            return verbs.learn(model, block, first, targets, importance, scores)


@changed.register
def _(fresh: Waiting, old: Any, change: Change) -> Any:
    return old._replace(targets=change.targets(old.targets))


@verbs.feature_space.register
def _(model: Waiting) -> Any:
    raise ValueError("it has not seen enough rows to settle its kernel")
