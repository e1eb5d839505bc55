"""Compiled code on disk: where it is kept, how a file there is called, and what is looked at before one is loaded.

Numba has files of its own for this, which do not hold what is promised here. It unpickles and runs what it finds, so
that bytes which were cut or changed end the process, or do anything at all; processes that compile at once write one
index, after which a function may be given the machine code of another; and a folder that is full ends the run.
Here a file is one compiled function, named after all that it depends on, so there is no index. It begins with the
checksum of the rest, and nothing is unpickled before that and the owner of the file are right. That is no secret: who
may write to the folder can make such a file, so a folder that others may write to is not used.
"""

import hashlib
import os
import shutil
import stat
import struct
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numba

from onkel.core.folders import user_caches
from onkel.core.terminal import complain

PACKAGE = Path(__file__).parents[1]
COMPILED = "core", "pieces", "learners", "model", "streams", "evaluation"  # packages with compiled code
HEAD = struct.Struct("<16sQ32s")  # mark, bytes that follow, their SHA-256
MARK = b"onkel code 1\n"
ENDING = ".nbc"

_said: set[str] = set()


class DamagedError(Exception):
    """A file that is not what was written."""


def digest_of(source: str) -> str | None:
    """The checksum of a file of Python; None for code that was typed into a prompt."""
    try:
        status = os.stat(source)
        return _digest(source, status.st_mtime_ns, status.st_size)
    except OSError:
        return None


@lru_cache
def _digest(source: str, *_: int) -> str:
    return hashlib.sha256(Path(source).read_bytes()).hexdigest()


def read(path: Path) -> bytes:
    """What was written, if it is there from its first to its last byte and nobody else can have written it."""
    not_waiting = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)  # for a pipe, nobody may ever write to it
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | not_waiting)) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or others_may_write(status):
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


def write(path: Path, body: bytes) -> None:
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


def removed(path: Path, error: Exception) -> None:
    """Take what cannot be loaded out of the way of what is compiled anew."""
    say_once("damaged", f"{path}: this compiled code cannot be used ({reason(error)}); it is made anew.")
    with suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()


def reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def say_once(what: str, sentence: str) -> None:
    if what not in _said:
        _said.add(what)
        complain(sentence)


@lru_cache
def folder_for(registered: frozenset[Path], left_out: str = "") -> Path | None:
    """The folder of the compiled code, named after our compiled sources and those of all other implementations.

    And after what is left out of the compiler, as `tricks` has it.

    The first of these that can be used and that nobody else can write to: what ``ONKEL_CACHE`` names, the platform's
    folder for caches, a folder of the user's among temporary files. None, where there is none: nothing is kept then.
    """
    key, refused = _key(registered, left_out), ""
    for root in _roots():
        try:
            found = _usable(root.path, key)
        except OSError as error:
            if root.asked_for:
                refused = f"{root.path} cannot be used ({reason(error)})"
            continue
        except DamagedError as error:
            refused = refused or str(error)
            continue
        if refused:
            say_once("refused", f"{refused}: compiled code is kept in {root.path} instead.")
        return found
    say_once("refused", f"{refused or 'no folder can be written to'}: compiled code is not kept.")
    return None


def _usable(root: Path, key: str) -> Path:
    """The folder in a root, made if it is not there, and found to be the user's alone."""
    for folder in (root, root / key):
        _make(folder)
        if others_may_write(folder.stat()):
            raise DamagedError(f"{folder} {others_may_write(folder.stat())}")
    return root / key


def others_may_write(status: os.stat_result) -> str:
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
        if (base := user_caches()).is_absolute():
            yield _Root(base / "onkel" / "compiled")
    with suppress(OSError):  # no folder for temporary files
        own = Path(tempfile.gettempdir()) / f"onkel-{os.getuid() if hasattr(os, 'getuid') else 'compiled'}"
        if not own.is_symlink():  # anybody can put one there
            yield _Root(own)


def _key(registered: frozenset[Path], left_out: str) -> str:
    """A digest of all that compiled code may be made of, imported yet or not: the key must not change in a run."""
    digest = hashlib.sha256((numba.__version__ + left_out).encode())
    own = {path for name in COMPILED for path in (PACKAGE / name).rglob("*.py")}
    for path in sorted(own | registered):
        if path.is_file():  # code typed into a prompt has no file
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
