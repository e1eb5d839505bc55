"""Open a file or the standard input as bytes, whatever it is compressed with."""

import bz2
import gzip
import io
import lzma
import os
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import IO, Any, TypeAlias, cast

from onkel.streams.block import StreamError

Source: TypeAlias = str | os.PathLike[str]

COMPRESSIONS = (".gz", ".bz2", ".xz", ".zst")
BUFFER_BYTES = 2**18
# Small, because everything that a piece holds is decompressed at once, and a frame may shrink zeros 30,000 fold.
ZSTD_PIECE_BYTES = 2**12


def name_of(source: Source) -> str:
    """What error messages call the source.

    Examples
    --------
    >>> name_of("-"), name_of(Path("data.csv"))
    ('standard input', 'data.csv')
    """
    return "standard input" if source == "-" else os.fspath(source)


def read_once(source: Source) -> bool:
    """Whether the source is gone once it was read: standard input or a pipe.

    Examples
    --------
    >>> read_once("-")
    True
    """
    return source == "-" or (os.path.exists(source) and not os.path.isfile(source) and not os.path.isdir(source))


def open_bytes(source: Source) -> io.BufferedReader:
    """Open a path, or "-" for standard input, for reading; .gz, .bz2, .xz and .zst files are decompressed.

    Parameters
    ----------
    source
        Path of a file, or "-".

    Returns
    -------
    io.BufferedReader
        The plain bytes. Reading from a compressed file that is cut off or damaged raises a StreamError.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "two.txt.gz"
    >>> _ = path.write_bytes(gzip.compress(b"1 1:0.5"))
    >>> with open_bytes(path) as file:
    ...     file.read()
    b'1 1:0.5'
    """
    if source == "-":
        if sys.stdin is None:  # as in programs without a console
            raise StreamError(f"{name_of(source)}: it is closed.")
        stdin = cast(io.BufferedReader, sys.stdin.buffer)
        return io.BufferedReader(_Guarded(stdin.read1, lambda: None, name_of(source)), BUFFER_BYTES)
    name, path = name_of(source), Path(source)
    file = _not_empty(_open_path(path, name), name)
    ending = path.suffix.lower()
    if ending not in COMPRESSIONS:
        return file
    inner = _decompressed(file, ending, name)

    def close() -> None:
        inner.close()
        file.close()

    return _not_empty(io.BufferedReader(_Guarded(inner.read, close, name), BUFFER_BYTES), name)


def _not_empty(file: io.BufferedReader, name: str) -> io.BufferedReader:
    try:
        if not file.peek(1):
            raise StreamError(f"{name}: the file is empty.")
    except StreamError:
        file.close()
        raise
    return file


def _open_path(path: Path, name: str) -> io.BufferedReader:
    if not path.exists():
        raise StreamError(f"{name}: there is no such file.")
    if path.is_dir():
        raise StreamError(f"{name}: this is a folder, not a file.")
    try:
        return io.BufferedReader(io.FileIO(path), BUFFER_BYTES)
    except OSError as error:
        raise StreamError(f"{name}: the file cannot be opened ({error.strerror}).") from error


def _decompressed(file: IO[bytes], ending: str, name: str) -> Any:
    if ending == ".gz":
        return gzip.GzipFile(fileobj=file)
    if ending == ".bz2":
        return bz2.BZ2File(file)
    if ending == ".xz":
        # Left to guess the format, it takes 13 zero bytes for an empty file of an older one.
        return lzma.LZMAFile(file, format=lzma.FORMAT_XZ)
    try:
        import zstandard
    except ImportError as error:
        file.close()
        raise StreamError(f"{name}: reading it needs another package (pip install zstandard).") from error
    return _ZstdFile(file, zstandard)


class _ZstdFile:
    """Decompressor of zstd frames that notices when the last one is cut off; zstandard's own reader just ends."""

    def __init__(self, file: IO[bytes], zstandard: ModuleType) -> None:
        self._file = file
        self._decompressor = zstandard.ZstdDecompressor()
        self._damage: type[Exception] = zstandard.ZstdError
        self._frame: Any = None
        self._unread = self._ready = b""

    def read(self, size: int) -> bytes:
        while not self._ready:
            piece = self._unread or self._file.read(ZSTD_PIECE_BYTES)
            if not piece:
                if self._frame is not None:
                    raise EOFError
                return b""
            self._decompress(piece)
        part, self._ready = self._ready[:size], self._ready[size:]
        return part

    def _decompress(self, piece: bytes) -> None:
        self._frame = self._frame or self._decompressor.decompressobj()
        try:
            self._ready, self._unread = self._frame.decompress(piece), b""
        except self._damage as error:
            raise OSError(str(error)) from error
        if self._frame.eof:
            self._unread, self._frame = self._frame.unused_data, None

    def close(self) -> None:
        self._unread = self._ready = b""


class _Guarded(io.RawIOBase):
    """A reader whose failures are sentences."""

    def __init__(self, read: Callable[[int], bytes], close: Callable[[], None], name: str) -> None:
        self._read = read
        self._close = close
        self._name = name

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._read(len(buffer))
        except EOFError as error:
            raise StreamError(f"{self._name}: the compressed file ends early.") from error
        except (OSError, zlib.error, lzma.LZMAError) as error:
            raise StreamError(f"{self._name}: the compressed file is damaged ({error}).") from error
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._close()
        super().close()
