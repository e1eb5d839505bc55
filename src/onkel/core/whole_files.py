"""Files that appear whole or not at all: each is written beside its place, under a name that it leaves in the end.

A process that is killed leaves such a part behind. Its writer holds a lock on it, which ends with the process however
that ends, so whoever writes a file of that name next can tell parts that nobody writes any more, and removes them.
"""

import errno
import io
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import IO, Any

fcntl: ModuleType | None
try:
    import fcntl
except ModuleNotFoundError:  # where there are no such locks: parts that were left behind stay
    fcntl = None

HERE_ALONE = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
RANDOM = re.compile(r"[0-9a-f]{8}")
WRITING = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT}  # what only writing fails with


@contextmanager
def named(name: str) -> Iterator[None]:
    """What fails inside says the name of the file as it was given, not that of its part, and not none."""
    try:
        yield
    except OSError as error:
        if error.errno is not None:
            error.filename = name
        raise


class _Named(io.FileIO):
    """A file whose errors name it, through whatever it is written."""

    shown: str

    def write(self, data: Any) -> Any:
        with named(self.shown):
            return super().write(data)


def named_file(path: str | int, mode: str, shown: str) -> IO[bytes]:
    """A file of bytes to be written to, whose errors name it as `shown`; `mode` is that of `io.FileIO`."""
    raw = _Named(path, mode)
    raw.shown = shown
    return io.BufferedWriter(raw)


class Part:
    """The part that a file is written to. `keep` gives it the name of the file, `drop` removes it.

    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "a.txt"
    >>> part = Part(str(target))
    >>> part.file.write(b"all of it"), target.exists()
    (9, False)
    >>> part.keep()
    >>> target.read_bytes(), os.listdir(target.parent)
    (b'all of it', ['a.txt'])
    """

    def __init__(self, path: str) -> None:
        self.shown, self.target = path, Path(os.path.realpath(path))  # a link stays a link
        _sweep(str(self.target.parent), self.target.name, os.getpid())
        with named(path):
            handle, self.path = _begun(self.target)
        self.file = named_file(handle, "wb", path)

    def keep(self) -> None:
        """Let the part take the name of the file, once all of it is on the disk."""
        try:
            with named(self.shown):
                self.file.flush()
                os.fsync(self.file.fileno())
                if fcntl is None:
                    self.file.close()  # what is open cannot be renamed there
                os.replace(self.path, self.target)  # before the lock goes with the handle
                self.file.close()
        except BaseException:
            self.drop()
            raise

    def drop(self) -> None:
        """Remove it."""
        with suppress(OSError):  # what is still to be written cannot be
            self.file.close()
        with suppress(OSError):
            self.path.unlink(missing_ok=True)


@contextmanager
def whole_file(path: str) -> Iterator[IO[bytes]]:
    """A file of bytes that is there when all went well, and else as it was before."""
    part = Part(path)
    try:
        yield part.file
    except BaseException:
        part.drop()
        raise
    part.keep()


def check_replaceable(path: str) -> None:
    """Raise the error with which no part of this file could be begun, or could not take its name in the end."""
    target = Path(os.path.realpath(path))
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
    if _stays(target):
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM), path)
    with named(path), suppress(FileNotFoundError):
        os.lstat(_part_of(target))  # its name may be too long where that of the file is not


def _stays(target: Path) -> bool:
    """Whether this is somebody else's file in a folder where everybody can replace their own only."""
    if not hasattr(os, "geteuid") or not os.path.lexists(target):
        return False
    folder = target.parent.stat()
    return bool(folder.st_mode & stat.S_ISVTX) and os.geteuid() not in (0, folder.st_uid, target.lstat().st_uid)


def _part_of(target: Path) -> Path:
    return target.with_name(f".{target.name}.{secrets.token_hex(4)}")


def _begun(target: Path) -> tuple[int, Path]:
    """A new file that this process holds a lock on, and its name."""
    while True:
        path = _part_of(target)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        if _is_held(handle, path):
            return handle, path
        os.close(handle)  # somebody took it for one that was left behind, before it was locked


def _is_held(handle: int, path: Path) -> bool:
    """Whether the file is ours: locked, where there are locks, and still under its name."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks, on which nobody gets any
        return True
    try:
        return os.path.samestat(os.fstat(handle), os.lstat(path))
    except FileNotFoundError:
        return False


@lru_cache
def _sweep(folder: str, name: str, process: int) -> None:
    """Remove the parts of a file that nobody writes any more; once in a process, which leaves none behind itself."""
    if fcntl is None:
        return
    with suppress(OSError), os.scandir(folder) as found:
        for entry in found:
            if entry.name.startswith(f".{name}.") and RANDOM.fullmatch(entry.name[len(name) + 2 :]):
                with suppress(OSError):
                    _remove_if_left(entry.path)


def _remove_if_left(path: str) -> None:
    assert fcntl is not None
    handle = os.open(path, os.O_RDONLY | HERE_ALONE)
    try:
        status = os.fstat(handle)
        if stat.S_ISREG(status.st_mode) and status.st_nlink == 1 and status.st_uid == os.geteuid():
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)  # an OSError where somebody writes it
            os.unlink(path)
    finally:
        os.close(handle)
