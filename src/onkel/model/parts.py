"""What a model consists of: a scaler around it or none, and parts that learn together or not at all."""

from collections.abc import Callable
from typing import Any

from onkel.core.rows import some
from onkel.core.undo import Undo
from onkel.learners import verbs
from onkel.model.waiting import Waiting
from onkel.pieces.scaler import Standardised, standardised, touched


def inner_model(model: Any) -> Any:
    """A model without the scaler around it."""
    return model.model if isinstance(model, Standardised) else model


def wrapped(model: Any, inner: Any) -> Any:
    """Another model in the scaler of this one."""
    if not isinstance(model, Standardised):
        return inner
    return model if inner is model.model else model._replace(model=inner)


def learned(model: Any) -> int:
    """Number of rows that a model has learned."""
    inner = model.model if isinstance(model, Standardised) else model
    return int((inner.seen if isinstance(inner, Waiting) else inner.clock)[0])


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
