"""Compiled code in our own files: what Numba's dispatchers ask of a cache, answered from `onkel.core.cache`.

The files are named after the types, the source, the processor and the versions of all that makes machine code.

Gains: no time (`python -m benchmarks tricks`, the line of `code_files`, shows what it costs or saves at the start); it
is here for what `onkel.core.cache` promises of damaged files, strangers, full disks and processes that compile at once.
Without it Numba keeps the code in the same folder, and promises nothing of that.
"""

import hashlib
import pickle
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba.core import compiler, serialize, sigutils, types

from onkel.core.cache import ENDING, DamagedError, digest_of, read, reason, removed, say_once, write

VERSIONS = numba.__version__, llvmlite.__version__, str(sys.implementation.cache_tag), getattr(sys, "abiflags", "")

kinds_of: Any = types
result_of: Any = compiler.CompileResult
pickled: Callable[[Any], bytes] = serialize.dumps
normalized: Any = sigutils.normalize_signature


class CodeFiles:
    """The compiled code of one function in a folder, or nowhere; what Numba's dispatchers ask for it.

    Nothing that happens to the folder ends a run: what cannot be loaded is compiled, what cannot be written is
    compiled again the next time.
    """

    def __init__(self, function: Callable[..., Any], folder: Path | None) -> None:
        self.function, self.folder = function, folder
        self.cache_path = None if folder is None else str(folder)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """What was compiled for these types, or None; whatever is wrong with it, it is removed."""
        target_context.refresh()
        path = self.path(sig, target_context)
        if path is None:
            return None
        try:
            found = read(path)
        except FileNotFoundError:
            return None
        except Exception as error:
            return removed(path, error)
        try:
            return rebuilt(sig, found, target_context)
        except Exception as error:
            return removed(path, error)

    def save_overload(self, sig: Any, made: Any) -> None:
        """Keep what was compiled, under a name that appears whole or not at all."""
        path = self.path(sig, made.target_context)
        of_this_process = made.library.has_dynamic_globals or any(not part.can_cache for part in made.lifted)
        if path is None or of_this_process:
            return
        try:
            write(path, content(sig, made))
        except Exception as error:
            say_once("cannot be kept", f"compiled code cannot be kept in {path.parent} ({reason(error)}).")

    def enable(self) -> None:
        """Numba asks for this; code is always kept where it can be."""

    def disable(self) -> None:
        """The same."""

    def flush(self) -> None:
        """The same: what changes has another name."""

    def path(self, sig: Any, target_context: Any) -> Path | None:
        """The file for these types on this processor; None where nothing tells them from others of their name."""
        if self.folder is None:
            return None
        code = self.function.__code__
        source, described = digest_of(code.co_filename), [_described(kind) for kind in _kinds(sig)]
        if source is None or None in described:
            return None
        cells = [cell.cell_contents for cell in self.function.__closure__ or ()]
        key = repr((
            *VERSIONS, target_context.codegen().magic_tuple(), self.function.__module__, self.function.__qualname__,
            code.co_firstlineno, source, code.co_code, pickled(cells) if cells else b"", described,
        ))  # fmt: skip
        name = re.sub(r"[^\w.]", "", self.function.__qualname__)[-60:]
        return self.folder / f"{name}-{hashlib.sha256(key.encode()).hexdigest()[:32]}{ENDING}"


def keep(dispatcher: Any, folder: Path | None) -> None:
    """Let a dispatcher have its compiled code in a folder, or nowhere."""
    dispatcher._cache = CodeFiles(dispatcher.py_func, folder)


def content(sig: Any, made: Any) -> bytes:
    """What is written of a compiled function."""
    return pickled((_kinds(sig), made._reduce()))


def rebuilt(sig: Any, found: bytes, target_context: Any) -> Any:
    """The compiled function again."""
    kinds, code = pickle.loads(found)
    if kinds != _kinds(sig):
        raise DamagedError("it is the code of another function")
    return result_of._rebuild(target_context, *code)


def _kinds(sig: Any) -> tuple[Any, ...]:
    return tuple(normalized(sig)[0])


def _described(kind: Any) -> str | None:
    """A type of Numba's in words that are the same in every process; None for what only this one knows."""
    if not isinstance(kind, kinds_of.BaseTuple):
        return str(kind)
    made, parts = getattr(kind, "instance_class", tuple), [_described(part) for part in kind.types]
    found: Any = sys.modules.get(made.__module__)
    for name in made.__qualname__.split("."):
        found = getattr(found, name, None)
    if found is not made or made.__module__ == "__main__" or None in parts:
        return None
    return f"{made.__module__}.{made.__qualname__}({', '.join(map(str, parts))})"
