"""Verbs and compiled code: what the rest of the package has of Numba's compiler.

A *verb* is a function whose implementation is chosen by the type of its first argument, in plain Python and in
compiled code alike. Small pieces are *light* (always inlined); vector kernels are *heavy* (a call of their own, which
takes flat arrays and numbers). An *entry point* is what Python calls; it compiles at its first use and is kept on disk,
in a folder that is named after a hash of all sources that can end up in it (`cache`). Here is what Numba documents;
`numba_internals` has tricks that make it faster, where they work.
"""

import gc
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache, partial, wraps
from pathlib import Path
from typing import Any, Generic, ParamSpec, Protocol, TypeVar, cast, overload

import numba
import numpy as np
from numba import types
from numba.extending import overload as numba_overload

from onkel.core.cache import folder_for
from onkel.core.interrupts import uninterrupted
from onkel.core.numba_internals.compiler_lock import COMPILER_LOCK
from onkel.core.numba_internals.selftest import TRYING, tried
from onkel.core.numba_internals.tricks import ASKED_PLAIN, trick

P = ParamSpec("P")
R = TypeVar("R")
Result = TypeVar("Result", covariant=True)
Function = TypeVar("Function", bound=Callable[..., Any])

EXACT = {"contract"}  # nothing that could change with the shape of a loop
SUM = {"contract", "reassoc", "nsz"}  # reductions only: lets the compiler use vector registers
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}

CONFIG: Any = numba.config
SECONDS_BEFORE_SAYING_SO = 0.8

_sources: set[Path] = set()
_making = threading.RLock()  # of two threads that need a dispatcher one makes it
LOCKS = _making, TRYING, COMPILER_LOCK  # what a fork waits for, in this order, or a child could never compile
_kinds: dict[str, type] = {}
_dispatchers: dict[Callable[..., Any], tuple[int, Any]] = {}  # of entry points: models refer to these, not to Numba


@overload
def compiled(function: Callable[P, R]) -> Callable[P, R]: ...
@overload
def compiled(
    function: None = None, *, flags: set[str] = ..., heavy: bool = ...
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def compiled(function: Any = None, *, flags: set[str] = EXACT, heavy: bool = False) -> Any:
    """Mark a helper that compiled code calls; under ``NUMBA_DISABLE_JIT=1`` it stays a plain function."""
    if function is None:
        return partial(compiled, flags=flags, heavy=heavy)
    _sources.add(Path(function.__code__.co_filename))
    return numba.njit(fastmath=flags, **OPTIONS, **_helper(heavy))(function)


def _helper(heavy: bool = False) -> dict[str, Any]:
    """Options of a function that only compiled code calls."""
    pipeline = trick("pipeline")
    if pipeline is None:
        return {}
    return pipeline.HEAVY if heavy else pipeline.LIGHT


class Verb(Protocol[P, Result]):
    """A function with one implementation per type of its first argument; `of` registers one."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Result: ...
    def of(self, *kinds: type) -> Callable[[Function], Function]: ...


@overload
def verb(stub: Callable[P, R]) -> Verb[P, R]: ...
@overload
def verb(*, default: Callable[..., Any]) -> Callable[[Callable[P, R]], Verb[P, R]]: ...
def verb(stub: Any = None, *, default: Callable[..., Any] | None = None) -> Any:
    """Make a verb of a documented stub. The stub's body never runs; `default` does where a type has nothing of its own.

    >>> from typing import NamedTuple
    >>> @verb
    ... def area(shape): "Area of a shape."
    >>> class Square(NamedTuple):
    ...     side: float
    >>> @area.of(Square)
    ... def _(square): return square.side ** 2
    >>> area(Square(3.0))
    9.0
    """
    if stub is None:
        return partial(verb, default=default)
    implementations: dict[type, Callable[..., Any]] = {}
    name = getattr(stub, "__name__", "verb")

    @wraps(stub)
    def call(first: Any, *rest: Any) -> Any:
        implementation = implementations.get(_python_key(first), default)
        if implementation is None:
            raise TypeError(f"{name}() has no implementation for {type(first).__name__}.")
        return implementation(first, *rest)

    def of(*kinds: type) -> Callable[[Function], Function]:
        def register(implementation: Function) -> Function:
            for kind in kinds:
                implementations[kind] = implementation
                known(kind)
            _sources.add(Path(implementation.__code__.co_filename))  # becomes part of the cache key
            return implementation

        return register

    options: Any = {"fastmath": EXACT, **OPTIONS, **_helper()}
    resolve = numba_overload(call, strict=False, jit_options=options)
    resolve(lambda first, *rest: implementations.get(_compiled_key(first), default))
    made: Any = call
    made.of, made.implementations = of, implementations
    return made


def known(kind: type) -> type:
    """Make a named tuple known by its name, so that a model file can mention it. Verbs do this for their types."""
    if hasattr(kind, "_fields"):
        name = name_of(kind)
        if (other := _kinds.get(name, kind)).__module__ != kind.__module__:
            raise TypeError(f"{kind.__module__} and {other.__module__} both have a type {name}, a name in model files.")
        _kinds[name] = kind
    return kind


def name_of(kind: type) -> str:
    """The name by which a model file mentions a type: of our own ones no path, so that a move breaks no file."""
    own = kind.__module__.startswith("onkel.")
    return kind.__qualname__ if own else f"{kind.__module__}.{kind.__qualname__}"


def kind_named(name: str) -> type | None:
    """The known type of that name; nothing is imported for it."""
    return _kinds.get(name)


def _python_key(first: Any) -> type:
    kind = getattr(first, "dtype", None)
    return type(first) if kind is None else kind.type


def _compiled_key(first: Any) -> Any:
    if hasattr(first, "instance_class"):  # before dtype: a named tuple of equal members has both
        return cast(type, first.instance_class)
    number = getattr(first, "dtype", first)
    return {types.float32: np.float32, types.float64: np.float64}.get(number)


class EntryPoint(Generic[P, R]):
    """A compiled function that Python calls: compiled lazily, kept on disk, bindable for calls without dispatch."""

    def __init__(self, function: Callable[P, R]) -> None:
        wraps(function)(self)
        self.py_func = function

    @property
    def dispatcher(self) -> Any:
        """Numba's dispatcher; a new one, with its own cache folder, when a piece was registered since the last call."""
        count = len(_sources)
        known_sources, made = _dispatchers.get(self.py_func, (0, None))
        if known_sources != count:
            with _making:
                made = _quiet(self.py_func) if CONFIG.DISABLE_JIT else _dispatcher(self.py_func, tried(cache_folder()))
                _dispatchers[self.py_func] = count, made
        return made

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return cast(R, self.dispatcher(*args))

    def bind(self, *args: Any) -> Callable[..., R]:
        """The machine code for arguments of exactly these types. It checks nothing: call it with such arrays only."""
        if CONFIG.DISABLE_JIT:
            return cast(Callable[..., R], self.dispatcher)
        kinds = tuple(map(numba.typeof, args))
        if kinds not in self.dispatcher.signatures:
            self.dispatcher.compile(kinds)
        machine = trick("row_call")
        return cast(Callable[..., R], machine.code_of(self.dispatcher, kinds) if machine else self.dispatcher)


def entry_point(function: Callable[P, R]) -> EntryPoint[P, R]:
    """Mark a function that Python calls and that runs compiled."""
    return EntryPoint(function)


def _quiet(function: Callable[..., R]) -> Callable[..., R]:
    """Plain Python warns where compiled code wraps around or meets 0/0; both are intended."""

    @wraps(function)
    def call(*args: Any) -> R:
        with np.errstate(all="ignore"):
            return function(*args)

    return call


class _Announcement:
    """Says on standard error, once, that code is being compiled, when that takes long enough to be noticed."""

    text = "onkel: compiling for this machine (once; kept on disk) ...\n"
    said = False

    def __enter__(self) -> None:
        self.timer = threading.Timer(SECONDS_BEFORE_SAYING_SO, self.say)
        self.timer.daemon = True
        self.timer.start()

    def __exit__(self, *_: object) -> None:
        self.timer.cancel()

    def say(self) -> None:
        if not _Announcement.said:
            _Announcement.said = True
            sys.stderr.write(self.text)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Python's garbage collector is off: it would walk over all that the compiler knows, again and again.

    Gains: first compilation (`python -m benchmarks tricks`, the last line but one).
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


@lru_cache
def _dispatcher(function: Callable[..., Any], folder: Path | None) -> Any:
    """Numba's dispatcher of an entry point, with its cache in a folder, and saying so when it compiles."""
    pipeline, files = trick("pipeline"), trick("code_files")
    dispatcher: Any = numba.njit(fastmath=EXACT, **OPTIONS, **(pipeline.ENTRY if pipeline else {}))(function)
    if files:
        files.keep(dispatcher, folder)
    elif folder:
        _keep_plainly(dispatcher, folder)
    compile_quietly = dispatcher.compile

    def compile_audibly(kinds: Any) -> Any:
        # LLVM calls Python, and what Ctrl-C raises there gets no further.
        with _Announcement(), _uncollected(), uninterrupted():
            return compile_quietly(kinds)

    dispatcher.compile = compile_audibly
    return dispatcher


def _keep_plainly(dispatcher: Any, folder: Path) -> None:
    """Let Numba keep the compiled code in its own way, which believes whatever it finds in the folder."""
    before, CONFIG.CACHE_DIR = CONFIG.CACHE_DIR, str(folder / "numba")
    try:
        if os.access(folder, os.W_OK):  # or it would look for another place, in the package itself
            dispatcher.enable_caching()
    except RuntimeError:  # code that was typed into a prompt has no file
        pass
    finally:
        CONFIG.CACHE_DIR = before


def cache_folder() -> Path | None:
    """Folder of the compiled code; None where there is none that could be used.

    Numba itself notices changes only in the file of the entry point, and would silently run old code.
    """
    return folder_for(frozenset(_sources), ASKED_PLAIN)
