"""Files that appear whole or not at all, and what may stand in them."""

import errno
import io
import json
import os
import re
import shutil
import socket
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from math import isfinite
from pathlib import Path
from types import TracebackType
from typing import IO, Any, cast

from onkel.core.terminal import printable
from onkel.core.whole_files import Part, check_replaceable, named, named_file

STANDARD_OUTPUT = "-"
ITS_OTHER_NAMES = ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")  # to open them would begin a file anew
HANDLE = re.compile(r"/(?:dev|proc/self)/fd/([0-9]{1,9})")


class WholeFile:
    """A file, of text unless told otherwise, that takes its name only when everything that belongs with it went well.

    Standard output, and what is there already and is no plain file, such as a pipe, a device or a socket, are written
    to at once.
    """

    def __init__(self, path: str, binary: bool = False) -> None:
        check_target(path)
        self.path, self.binary, self.standard = path, binary, path == STANDARD_OUTPUT
        self.part: Part | None = None

    def __enter__(self) -> IO[Any]:
        if self.standard:
            self.file: IO[Any] = standard_output(self.binary)
            return self.file
        if is_special(self.path):
            file = opened_special(self.path)
        else:
            self.part = Part(self.path)
            file = self.part.file
        self.file = file if self.binary else io.TextIOWrapper(cast(Any, file), encoding="utf-8")
        return self.file

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if self.standard:
            if kind is None:
                flush_standard_output()
        elif self.part is None:
            self.file.close()
        elif kind is None:
            self._keep(self.part)
        else:
            self.part.drop()

    def _keep(self, part: Part) -> None:
        try:
            self.file.flush()  # of text, what is above the bytes
        except BaseException:
            part.drop()
            raise
        part.keep()


def put(files: ExitStack, path: str | None, content: str | bytes) -> None:
    """Write what is wanted to a file that takes its name together with all the others, when `files` are closed.

    Standard output gets it then, too, if all went well.
    """
    if path is None:
        return
    target = WholeFile(path, isinstance(content, bytes))
    if target.standard:

        def printed(kind: type[BaseException] | None, *_: object) -> None:
            if kind is None:
                with target as out:
                    text = isinstance(content, str) and out.isatty()
                    out.write(printable(str(content), keep="\n\t") if text else content)

        files.push(printed)
    else:
        file = files.enter_context(target)
        file.write(content)
        file.flush()  # a full disk is found before any file has its name


def standard_output(binary: bool = False) -> IO[Any]:
    """Standard output, which a process may have been started without."""
    if sys.stdout is None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF), "standard output")
    return sys.stdout.buffer if binary else sys.stdout


def flush_standard_output() -> None:
    """Write what waits to be written; an error says where."""
    if sys.stdout is not None:
        with named("standard output"):
            sys.stdout.flush()


def opened_special(path: str) -> IO[bytes]:
    """A pipe, a device, a socket or an open file that is there, to be written to."""
    if (handle := handle_of(path)) is not None:
        with named(path):
            return named_file(os.dup(handle), "wb", path)
    if not stat.S_ISSOCK(os.stat(path).st_mode):
        return named_file(path, "wb", path)
    with named(path), socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        return connection.makefile("wb")


def target(text: str) -> str:
    """A target as it is given, standard output by one name only."""
    return STANDARD_OUTPUT if text in ITS_OTHER_NAMES else text


def handle_of(path: str) -> int | None:
    """The number of the open file that this names: it goes on where it is, and is neither replaced nor begun anew.

    >>> handle_of("/dev/fd/63"), handle_of("/dev/stderr"), handle_of("out.txt")
    (63, 2, None)
    """
    found = HANDLE.fullmatch("/dev/fd/2" if path == "/dev/stderr" else path)
    return None if found is None else int(found[1])


def is_special(path: str) -> bool:
    """Whether this is standard output, a pipe, a device or a socket: something to write to, and not to replace."""
    if path == STANDARD_OUTPUT or not os.path.exists(path):
        return path == STANDARD_OUTPUT
    return handle_of(path) is not None or not (os.path.isfile(path) or os.path.isdir(path))


@contextmanager
def growing(path: str, size: int) -> Iterator[IO[str]]:
    """A text file that goes on after its first `size` bytes; what follows them is cut off."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise ValueError(f"{path}: what goes on from a checkpoint must be a plain file.")
    if size and (not os.path.exists(path) or os.path.getsize(path) < size):
        raise ValueError(f"{path}: it does not hold what was written before the checkpoint.")
    with named_file(path, "rb+" if size else "wb", path) as raw, io.TextIOWrapper(cast(Any, raw), "utf-8") as file:
        raw.truncate(size)
        raw.seek(size)
        yield file


def size_on_disk(file: IO[str]) -> int:
    """Bytes of a growing file, all of which are on the disk now."""
    file.flush()
    os.fsync(file.fileno())
    return os.fstat(file.fileno()).st_size


def check_json(path: str | None) -> None:
    """Refuse, before anything is done, a FILE of --json that could not be written in the end."""
    if path is not None:
        check_target(path)


def check_one_output(targets: dict[str, str | None]) -> bool:
    """Whether one of these targets is standard output; only one may be."""
    both = [option for option, path in targets.items() if path == STANDARD_OUTPUT]
    if len(both) > 1:
        raise ValueError(f"{' and '.join(both[:2])} cannot both write to standard output.")
    return bool(both)


def write_json(path: str | None, content: Any) -> None:
    """Write what --json asks for: nothing, to standard output ('-'), or to a file."""
    if path is not None:
        with WholeFile(path) as file:
            file.write(as_json(content))


def as_json(content: Any) -> str:
    """A report as text."""
    return json.dumps(finite(content), indent=1) + "\n"


class JsonList:
    """Writes an object one of whose members is a list that is never whole in memory.

    Standard output gets it in the end, when everything went well; until then it waits in a temporary file.
    """

    def __init__(self, path: str, head: dict[str, Any], name: str) -> None:
        self.target, self.between, self.tail = WholeFile(path), "\n", dict[str, Any]()
        self.head = f"{json.dumps(head)[:-1]}, {json.dumps(name)}: ["

    def append(self, item: Any) -> None:
        """Write one more item."""
        with named(tempfile.gettempdir()):
            self.file.write(self.between + json.dumps(item))
        self.between = ",\n"

    def __enter__(self) -> "JsonList":
        with named(tempfile.gettempdir()):
            self.file: IO[str] = tempfile.TemporaryFile("w+", encoding="utf-8")
            self.file.write(self.head)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                more = "".join(f", {json.dumps(key)}: {json.dumps(finite(value))}" for key, value in self.tail.items())
                with named(tempfile.gettempdir()):
                    self.file.write(f"\n]{more}}}\n")
                    self.file.seek(0)
                with self.target as out:
                    shutil.copyfileobj(self.file, out)
        finally:
            with suppress(OSError):  # where it is full, what was to be written still is
                self.file.close()


def check_folder(path: str) -> None:
    """Refuse a folder that cannot be made or written to."""
    folder = Path(os.path.realpath(path))
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
    if not folder.is_dir():
        check_target(path)
    elif not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)


def check_target(path: str, in_place: bool = False) -> None:
    """Refuse, before anything is learned, a target whose folder is missing or that is a folder itself.

    What is written to `in_place`, if it is there, needs no rights in its folder.
    """
    if path and is_special(path):
        if path != STANDARD_OUTPUT and not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return
    target = Path(os.path.realpath(path))
    if target.is_dir() or not path:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path or "''")
    if not target.parent.is_dir():
        lost = path if os.path.islink(path) else str(Path(path).parent)
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), lost)
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
    if not (in_place and target.exists()):
        check_replaceable(path)


def finite(value: Any) -> Any:
    """JSON knows no infinite numbers: they become null."""
    with suppress(ValueError):
        json.dumps(value, allow_nan=False, default=str)
        return value  # there are none
    return _without_infinities(value)


def _without_infinities(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_infinities(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_without_infinities(part) for part in value]
    return None if isinstance(value, float) and not isfinite(value) else value
