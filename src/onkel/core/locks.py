"""One at a time: threads that share a model.

Compiled code changes arrays in place, so a thread that predicts while another learns would see a model that is half
changed. A model therefore has a lock; whoever learns or predicts holds it for the length of one call. Large blocks use
all processors inside such a call (`onkel.core.threads`), so waiting for it costs no throughput.

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

from onkel.core.interrupts import tell, uninterrupted, waits
from onkel.core.verbs import LOCKS

P = ParamSpec("P")
R = TypeVar("R")
PATIENCE = 0.5  # seconds that a fork waits, in all, for threads that learn or predict
LOST = (
    "Another thread was at work on this model when the process was forked, so this half of it cannot be used: "
    "copy it before the fork (copy.deepcopy), or start the process with 'spawn' or 'forkserver'."
)
_alive: WeakSet[Any] = WeakSet()  # all that have a `lock`
_firsts: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()  # locks of those that have no model yet
_adding, _forking = RLock(), RLock()
_held: list[Any] = []  # from just before a fork until just after it


class Lost:
    """The lock of a model that another thread held at a fork: nobody ever gets it."""

    def __enter__(self) -> Never:
        raise RuntimeError(LOST)

    def __exit__(self, *_: object) -> None:
        pass


def new_lock(owner: Any) -> Any:
    """A lock for a model, its owner's `lock`, which a fork waits for."""
    with _adding:
        _alive.add(owner)
    return RLock()


def first_lock(owner: Any) -> Any:
    """The lock of one that has no model yet, which the model takes over."""
    with _adding:
        return _firsts.setdefault(owner, RLock())


def locked(method: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], R]:
    """A method that has the model behind it to itself while it runs; calls inside it are part of it."""

    @wraps(method)
    def call(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
        online = self.__dict__.get("online_", self)
        with getattr(online, "lock", None) or first_lock(self):
            return method(self, *args, **kwargs)

    return call


def learning(method: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], R]:
    """A method that learns rows, `locked`: Ctrl-C waits for a `safe_point`, and errors tell how many rows were learned.

    They have their number as `rows_learned`, and a note that says so.
    """

    @wraps(method)
    def call(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
        model = self.__dict__.get("online_", self)
        with getattr(model, "lock", None) or first_lock(self):
            if waits():  # part of a call that takes care of it
                return method(self, *args, **kwargs)
            model = self.__dict__.get("online_", self)
            before = getattr(model, "rows_learned", 0)
            try:
                with uninterrupted():
                    return method(self, *args, **kwargs)
            except BaseException as error:
                now = self.__dict__.get("online_", self)
                tell(error, getattr(now, "rows_learned", 0) - (before if now is model else 0))
                raise

    return call


def _before_fork() -> None:
    """Take all locks: those that are free at once, the others as they come, and last those that nobody holds long."""
    _hold(_forking)
    until = monotonic() + PATIENCE
    busy = [lock for lock in _locks() if not _hold(lock, blocking=False)]
    for lock in busy:
        _hold(lock, timeout=max(0.0, until - monotonic()))
    _hold(_adding)
    for lock in _locks():  # those that came meanwhile
        _hold(lock, blocking=False)
    for lock in LOCKS:  # whoever compiles holds them, and then needs nothing that is held here
        _hold(lock)


def _locks() -> list[Any]:
    with _adding:
        found = [*(getattr(owner, "lock", None) for owner in list(_alive)), *list(_firsts.values())]
    held = set(map(id, _held))
    wanted = {id(lock): lock for lock in found if hasattr(lock, "acquire") and id(lock) not in held}
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
        if id(getattr(owner, "lock", None)) not in held:
            owner.lock = Lost()
    for owner, lock in list(_firsts.items()):
        if id(lock) not in held:
            _firsts[owner] = Lost()
    _let_go()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_let_go, after_in_child=_in_child)
