"""One at a time: threads that share a model.

Compiled code changes arrays in place, so a thread that predicts while another learns would see a model that is half
changed. A model therefore has a lock; whoever learns or predicts holds it for the length of one call. Large blocks use
all processors inside such a call (`onkel.threads`), so waiting for a turn costs no throughput.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def in_turn(method: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], R]:
    """A method that has the model behind it to itself while it runs; calls inside it are part of it."""

    @wraps(method)
    def call(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
        online = self.__dict__.get("online_", self)
        turn = getattr(online, "turn", None)
        if turn is None:  # nothing was learned yet
            return method(self, *args, **kwargs)
        with turn:
            return method(self, *args, **kwargs)

    return call
