"""Files that are collected piece by piece under names that anybody can guess: none of them is ever followed elsewhere.

Whoever may write to the folder can put a link to another file, a pipe or a device there before us. What is not a file
of this user's, with this name alone, is removed, never written through.
"""

import os
import stat
import sys
from pathlib import Path
from typing import IO

from onkel.datasets.registry import DataError

HERE_ALONE = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def size(path: Path) -> int:
    """Bytes of a file that is ours; 0 where there is none."""
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return 0
    return status.st_size if _is_ours(status) else 0


def opened(path: Path, start: int) -> IO[bytes]:
    """The file, to be gone on with after `start` bytes; from its first byte it is a new one, whatever is there."""
    if not start:
        path.unlink(missing_ok=True)
        return open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | HERE_ALONE, 0o666), "wb")
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | HERE_ALONE)
    status = os.fstat(handle)
    if not _is_ours(status) or status.st_size != start:
        os.close(handle)
        raise DataError(f"{path}: somebody else changes this file.")
    return open(handle, "ab")


def lock_file(path: Path) -> IO[bytes]:
    """An empty file to wait for."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | HERE_ALONE, 0o666)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise DataError(f"{path}: this is no plain file; remove it.")
    return open(handle, "ab")


def _is_ours(status: os.stat_result) -> bool:
    own = sys.platform == "win32" or status.st_uid == os.geteuid()
    return stat.S_ISREG(status.st_mode) and status.st_nlink == 1 and own
