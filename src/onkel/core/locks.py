"""One at a time: threads that share a model.

Compiled code changes arrays in place, so a thread that predicts while another learns would see a model that is half
changed. A model therefore has a lock; whoever learns or predicts holds it for the length of one call. Large blocks use
all processors inside such a call (`onkel.core.threads`), so waiting for a turn costs no throughput.

A process that forks leaves all other threads behind, and with them the locks that they held. So the thread that forks
takes all locks first: the child has models between two calls. Where another thread learned for longer than `PATIENCE`,
its model is in the middle of something for ever, and the child can only say so.
"""

import os
from collections.abc import Callable
from functools import wraps
from threading import RLock
from time import monotonic
from typing import Any, Concatenate, Never, ParamSpec, TypeVar
from weakref import WeakKeyDictionary, WeakSet

from onkel.core.verbs import LOCKS

P = ParamSpec("P")
R = TypeVar("R")
PATIENCE = 0.5  # seconds that a fork waits, in all, for threads that learn or predict
LOST = (
    "Another thread was at work on this model when the process was forked, so this half of it cannot be used: "
    "copy it before the fork (copy.deepcopy), or start the process with 'spawn' or 'forkserver'."
)
_alive: WeakSet[Any] = WeakSet()  # all that have a `turn`
_firsts: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()  # turns of those that have no model yet
_adding, _forking = RLock(), RLock()
_held: list[Any] = []  # from just before a fork until just after it


class Lost:
    """The turn of a model that another thread held at a fork: nobody ever gets it."""

    def __enter__(self) -> Never:
        raise RuntimeError(LOST)

    def __exit__(self, *_: object) -> None:
        pass


def new_turn(owner: Any) -> Any:
    """A lock for a model, its owner's `turn`, which a fork waits for."""
    with _adding:
        _alive.add(owner)
    return RLock()


def first_turn(owner: Any) -> Any:
    """The lock of one that has no model yet, which the model takes over."""
    with _adding:
        return _firsts.setdefault(owner, RLock())


def in_turn(method: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], R]:
    """A method that has the model behind it to itself while it runs; calls inside it are part of it."""

    @wraps(method)
    def call(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
        online = self.__dict__.get("online_", self)
        with getattr(online, "turn", None) or first_turn(self):
            return method(self, *args, **kwargs)

    return call


def _before_fork() -> None:
    """Take all locks: those that are free at once, the others as they come, and last those that nobody holds long."""
    _hold(_forking)
    until = monotonic() + PATIENCE
    busy = [turn for turn in _turns() if not _hold(turn, blocking=False)]
    for turn in busy:
        _hold(turn, timeout=max(0.0, until - monotonic()))
    _hold(_adding)
    for turn in _turns():  # those that came meanwhile
        _hold(turn, blocking=False)
    for lock in LOCKS:  # whoever compiles holds them, and then needs nothing that is held here
        _hold(lock)


def _turns() -> list[Any]:
    with _adding:
        found = [*(getattr(owner, "turn", None) for owner in list(_alive)), *list(_firsts.values())]
    held = set(map(id, _held))
    wanted = {id(turn): turn for turn in found if hasattr(turn, "acquire") and id(turn) not in held}
    return list(wanted.values())


def _hold(lock: Any, **how: Any) -> bool:
    if got := lock.acquire(**how) is not False:
        _held.append(lock)
    return got


def _let_go() -> None:
    held = _held[::-1]
    _held.clear()  # before the first of them is free, and with it another thread that forks
    for lock in held:
        lock.release()


def _in_child() -> None:
    """Mark the models that are in the middle of something."""
    held = set(map(id, _held))
    for owner in list(_alive):
        if id(getattr(owner, "turn", None)) not in held:
            owner.turn = Lost()
    for owner, turn in list(_firsts.items()):
        if id(turn) not in held:
            _firsts[owner] = Lost()
    _let_go()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_let_go, after_in_child=_in_child)
