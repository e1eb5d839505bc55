"""Fetch a file so that it appears whole, verified and under its name, or not at all; what has arrived is kept."""

import hashlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple, TypeAlias

from onkel.datasets import parts
from onkel.datasets.connecting import GivenUpError
from onkel.datasets.http import BrokenError, OddError, ask, can_be_sent, read_piece
from onkel.datasets.registry import DataError, File

if sys.platform != "win32":
    import fcntl

PAUSES = (1.0, 2.0, 4.0)  # seconds before the next try, as long as nothing new arrives
DEADLINE = 24 * 3600.0  # seconds for a file, all tries together
MOST_BYTES = 20 * 10**9  # of a file whose size nobody knows
LONGEST_NOTE = 10_000  # letters
ROUGHLY = 2.0  # a file may be that many times as large as the table says, in megabytes, and one more

Watch: TypeAlias = Callable[[int, int | None], None]  # bytes that are here, bytes in all if that is known


class Memory(NamedTuple):
    """What is known of a fetched file besides its bytes; kept as JSON next to it.

    Attributes
    ----------
    address
        Where it came from.
    validator
        What the server called this version of it: bytes of another one must not be appended.
    sha256
        Checksum of the whole file; empty until it was here once.
    """

    address: str = ""
    validator: str = ""
    sha256: str = ""


def download(file: File, path: Path, watch: Watch | None = None) -> None:
    """Bring a file to a path, unless it is there already and right.

    Bytes are collected in `path` + ".part", from where the next call goes on if this one is stopped or fails. Another
    process that fetches the same file is waited for (but on Windows). No more is taken than the file can be large, and
    no longer than `DEADLINE`; a server that sends next to nothing is given up (`connecting`).

    Parameters
    ----------
    file
        What to fetch.
    path
        Where to put it; its folder is made.
    watch
        Called after each piece with the bytes that are here, and those in all or None.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with _alone(_beside(path, ".lock")):
        if _is_right(file, path):
            return
        part = _beside(path, ".part")
        _receive(file, path, part, watch or (lambda done, total: None))
        _verify(file, path, part)
        os.replace(part, path)


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """Wait until nobody else is here; the system takes the lock away from a process that dies."""
    if sys.platform == "win32":
        yield
        return
    while True:
        with parts.lock_file(lock) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if not _is_at(file, lock):
                continue  # whoever was here before has removed it
            try:
                yield
            finally:
                lock.unlink()
            return


def _is_at(file: IO[bytes], path: Path) -> bool:
    """Whether an open file is the one with this name, at this moment."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _is_right(file: File, path: Path) -> bool:
    """Whether the file is there and, as far as anything is known of it, as it should be."""
    if not path.is_file():
        return False
    expected = file.sha256 or _recall(path).sha256
    return file.size in (None, path.stat().st_size) and expected in ("", _sha256(path))


def _receive(file: File, path: Path, part: Path, watch: Watch) -> None:
    """Append what is missing; tries again while the server or the connection fails."""
    failures, deadline = 0, time.monotonic() + DEADLINE
    while True:
        before = parts.size(part)
        try:
            return _append(file, path, part, watch, deadline)
        except OddError as error:
            part.unlink(missing_ok=True)  # or it would be asked for the same part again, and say the same
            raise DataError(f"{file.address}: {error}.") from None
        except GivenUpError as error:
            raise DataError(f"{file.address}: {error}{_kept(part)}.") from None
        except BrokenError as error:
            failures = 0 if parts.size(part) > before else failures + 1
            if failures > len(PAUSES):
                raise DataError(f"{file.address}: {error}{_kept(part)}.") from None
            time.sleep(PAUSES[max(failures, 1) - 1])


def _kept(part: Path) -> str:
    here = parts.size(part)
    return f"; {here:,} bytes are kept, and the next fetch goes on from there" if here else ""


def _append(file: File, path: Path, part: Path, watch: Watch, deadline: float) -> None:
    """Ask once for what is missing and append what comes."""
    memory, most = _recall(path), _most_bytes(file)
    validator = memory.validator if memory.address == file.address else ""
    # Without either, nobody would notice that the file has changed on the server since.
    start = parts.size(part) if validator or file.sha256 else 0
    answer = ask(file.address, deadline, start, validator)
    if answer.start == 0:
        _remember(path, Memory(file.address, answer.validator, memory.sha256))
    if answer.body is None:
        return
    with answer.body:
        if answer.total is not None and answer.total > most:
            raise DataError(f"{file.address}: {answer.total:,} bytes would come, {_expected(file)}.")
        with parts.opened(part, answer.start) as target:
            done = answer.start
            while done <= most and (piece := read_piece(answer)):
                target.write(piece)
                done += len(piece)
                watch(done, answer.total)
    if done > most:
        part.unlink()
        raise DataError(f"{file.address}: {done:,} bytes came, {_expected(file)}; they were thrown away.")
    if answer.total is not None and done < answer.total:
        raise BrokenError(f"the connection broke after {done:,} of {answer.total:,} bytes")


def _most_bytes(file: File) -> int:
    """No more than that is taken."""
    if file.size is not None:
        return file.size
    return MOST_BYTES if file.megabytes is None else round((ROUGHLY * file.megabytes + 1) * 1e6)


def _expected(file: File) -> str:
    return (
        f"but {file.size:,} are expected"
        if file.size is not None
        else f"but {_most_bytes(file):,} at most are expected"
    )


def _verify(file: File, path: Path, part: Path) -> None:
    """Hold what has arrived against what is known of it, and throw it away if it differs."""
    size, sha256, memory = parts.size(part), _sha256(part), _recall(path)
    if file.size not in (None, size):
        part.unlink()
        raise DataError(f"{file.address}: {size:,} bytes came, but {file.size:,} are expected; they were thrown away.")
    if file.sha256 not in (None, sha256):
        part.unlink()
        raise DataError(f"{file.address}: the SHA-256 of what came is {sha256}, not {file.sha256}; it was thrown away.")
    if file.sha256 is None and memory.sha256 not in ("", sha256):
        part.unlink()
        note = _beside(path, ".json")
        raise DataError(f"{file.address}: this is not the file that was fetched first; remove {note} to take it.")
    _remember(path, memory._replace(address=file.address, sha256=sha256))


def _recall(path: Path) -> Memory:
    note = _beside(path, ".json")
    try:
        if not note.is_file():
            return Memory()
        with open(note, encoding="utf-8") as file:
            memory = Memory(**json.loads(file.read(LONGEST_NOTE)))
    except (OSError, ValueError, TypeError, RecursionError):
        return Memory()  # written by hand
    texts = all(isinstance(text, str) for text in memory)
    return memory if texts and can_be_sent(memory.validator) else Memory()


def _remember(path: Path, memory: Memory) -> None:
    note, new = _beside(path, ".json"), _beside(path, ".json.new")
    with parts.opened(new, 0) as file:
        file.write((json.dumps(memory._asdict(), indent=1) + "\n").encode())
    os.replace(new, note)


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def _sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
