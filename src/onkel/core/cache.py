"""Compiled code on disk: where it is kept, how a file there is called, and what is looked at before one is loaded.

Numba has files of its own for this, which do not hold what is promised here. It unpickles and runs what it finds, so
that bytes which were cut or changed end the process or do what a stranger wants; processes that compile at once write
one index, after which a function may be given the machine code of another; and a folder that is full ends the run.
Here a file is one compiled function, named after all that it depends on, so there is no index. It begins with the
checksum of the rest, and nothing is unpickled before that and the owner of the file are right. That is no secret: who
may write to the folder can make such a file, so a folder that others may write to is not used.
"""

import hashlib
import os
import pickle
import re
import shutil
import stat
import struct
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite
import numba
from numba.core import compiler, serialize, sigutils, types

from onkel.core.terminal import complain

PACKAGE = Path(__file__).parents[1]
COMPILED = "core", "pieces", "learners", "model", "streams", "evaluation"  # packages with compiled code
HEAD = struct.Struct("<16sQ32s")  # mark, bytes that follow, their SHA-256
MARK = b"onkel code 1\n"
ENDING = ".nbc"
VERSIONS = numba.__version__, llvmlite.__version__, str(sys.implementation.cache_tag), getattr(sys, "abiflags", "")

kinds_of: Any = types
result_of: Any = compiler.CompileResult
pickled: Callable[[Any], bytes] = serialize.dumps
normalized: Any = sigutils.normalize_signature
_said: set[str] = set()


class DamagedError(Exception):
    """A file that is not what was written."""


class Kept:
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
        path = self._path(sig, target_context)
        if path is None:
            return None
        try:
            found = _read(path)
        except FileNotFoundError:
            return None
        except Exception as error:
            return _removed(path, error)
        try:
            kinds, code = pickle.loads(found)
            if kinds != _kinds(sig):
                raise DamagedError("it is the code of another function")
            return result_of._rebuild(target_context, *code)
        except Exception as error:
            return _removed(path, error)

    def save_overload(self, sig: Any, made: Any) -> None:
        """Keep what was compiled, under a name that appears whole or not at all."""
        path = self._path(sig, made.target_context)
        of_this_process = made.library.has_dynamic_globals or any(not part.can_cache for part in made.lifted)
        if path is None or of_this_process:
            return
        try:
            _write(path, pickled((_kinds(sig), made._reduce())))
        except Exception as error:
            _say_once("cannot be kept", f"compiled code cannot be kept in {path.parent} ({_reason(error)}).")

    def enable(self) -> None:
        """Numba asks for this; code is always kept where it can be."""

    def disable(self) -> None:
        """The same."""

    def flush(self) -> None:
        """The same: what changes has another name."""

    def _path(self, sig: Any, target_context: Any) -> Path | None:
        """The file for these types on this processor; None where nothing tells them from others of their name."""
        if self.folder is None:
            return None
        code = self.function.__code__
        source, described = _digest_of(code.co_filename), [_described(kind) for kind in _kinds(sig)]
        if source is None or None in described:
            return None
        cells = [cell.cell_contents for cell in self.function.__closure__ or ()]
        key = repr((
            *VERSIONS, target_context.codegen().magic_tuple(), self.function.__module__, self.function.__qualname__,
            code.co_firstlineno, source, code.co_code, pickled(cells) if cells else b"", described,
        ))  # fmt: skip
        name = re.sub(r"[^\w.]", "", self.function.__qualname__)[-60:]
        return self.folder / f"{name}-{hashlib.sha256(key.encode()).hexdigest()[:32]}{ENDING}"


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


def _digest_of(source: str) -> str | None:
    """The checksum of a file of Python; None for code that was typed into a prompt."""
    try:
        status = os.stat(source)
        return _digest(source, status.st_mtime_ns, status.st_size)
    except OSError:
        return None


@lru_cache
def _digest(source: str, *_: int) -> str:
    return hashlib.sha256(Path(source).read_bytes()).hexdigest()


def _read(path: Path) -> bytes:
    """What was written, if it is there from its first to its last byte and nobody else can have written it."""
    not_waiting = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)  # for a pipe, nobody may ever write to it
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | not_waiting)) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or strangers(status):
            raise DamagedError("it is not a file of this user alone")
        head = file.read(HEAD.size)
        if len(head) != HEAD.size:
            raise DamagedError("it is cut")
        mark, size, checksum = HEAD.unpack(head)
        if mark.rstrip(b"\0") != MARK or size != status.st_size - HEAD.size:
            raise DamagedError("it is cut")
        body = file.read(size)
    if hashlib.sha256(body).digest() != checksum:
        raise DamagedError("its checksum is wrong")
    return body


def _write(path: Path, body: bytes) -> None:
    _make(path.parent)  # which may have been removed since
    handle, part = tempfile.mkstemp(prefix=".", suffix=".part", dir=path.parent)
    try:
        with open(handle, "wb") as file:
            file.write(HEAD.pack(MARK, len(body), hashlib.sha256(body).digest()))
            file.write(body)
        os.replace(part, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(part)
        raise


def _removed(path: Path, error: Exception) -> None:
    """Take what cannot be loaded out of the way of what is compiled anew."""
    _say_once("damaged", f"{path}: this compiled code cannot be used ({_reason(error)}); it is made anew.")
    with suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def _say_once(what: str, sentence: str) -> None:
    if what not in _said:
        _said.add(what)
        complain(sentence)


@lru_cache
def folder_for(registered: frozenset[Path]) -> Path | None:
    """The folder of the compiled code, named after our compiled sources and those of all other implementations.

    The first of these that can be used and that nobody else can write to: what ``ONKEL_CACHE`` names, the platform's
    folder for caches, a folder of the user's among temporary files. None, where there is none: nothing is kept then.
    """
    key, refused = _key(registered), ""
    for root in _roots():
        try:
            found = _usable(root.path, key)
        except OSError as error:
            if root.asked_for:
                refused = f"{root.path} cannot be used ({_reason(error)})"
            continue
        except DamagedError as error:
            refused = refused or str(error)
            continue
        if refused:
            _say_once("refused", f"{refused}: compiled code is kept in {root.path} instead.")
        return found
    _say_once("refused", f"{refused or 'no folder can be written to'}: compiled code is not kept.")
    return None


def _usable(root: Path, key: str) -> Path:
    """The folder in a root, made if it is not there, and found to be the user's alone."""
    for folder in (root, root / key):
        _make(folder)
        if strangers(folder.stat()):
            raise DamagedError(f"{folder} {strangers(folder.stat())}")
    return root / key


def strangers(status: os.stat_result) -> str:
    """Who else could have written to a file or folder, in words; empty where that is nobody (or the administrator)."""
    if not hasattr(os, "geteuid"):  # Windows keeps the folders of a user from others
        return ""
    if status.st_uid not in (os.geteuid(), 0):
        return "belongs to another user"
    return "can be written to by others" if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) else ""


def _make(folder: Path) -> None:
    """Make a folder and those that it is in, all of them for the user alone."""
    if not folder.is_dir():
        _make(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


class _Root(NamedTuple):
    path: Path
    asked_for: bool = False


def _roots() -> Iterator[_Root]:
    with suppress(OSError):  # a relative path, and the folder that it is relative to is gone
        if given := os.environ.get("ONKEL_CACHE"):
            yield _Root(Path(given).absolute(), asked_for=True)
    with suppress(RuntimeError):  # nobody knows a home
        base = os.environ.get("LOCALAPPDATA") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        if Path(base).is_absolute():
            yield _Root(Path(base) / "onkel" / "compiled")
    with suppress(OSError):  # no folder for temporary files
        own = Path(tempfile.gettempdir()) / f"onkel-{os.getuid() if hasattr(os, 'getuid') else 'compiled'}"
        if not own.is_symlink():  # anybody can put one there
            yield _Root(own)


def _key(registered: frozenset[Path]) -> str:
    """A digest of all that compiled code may be made of, imported yet or not: the key must not change in a run."""
    digest = hashlib.sha256(numba.__version__.encode())
    own = {path for name in COMPILED for path in (PACKAGE / name).rglob("*.py")}
    for path in sorted(own | registered):
        if path.is_file():  # code typed into a prompt has no file
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
