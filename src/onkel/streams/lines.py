"""Text in pieces of whole lines, and what becomes of lines that cannot be read."""

from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias

import numpy as np

from onkel.streams.block import StreamError, at_line

OnError: TypeAlias = Literal["stop", "skip"]

CHUNK_BYTES = 2**20
LONGEST_LINE = 2**26  # bytes; without a bound, a binary file without line ends would fill the memory
NEWLINE = ord("\n")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Faults:
    """What becomes of bad lines, or rows of files without lines: the first stops the reader, or they are counted.

    Examples
    --------
    >>> faults = Faults("skip")
    >>> faults.meet(at_line("data.csv", 3, "2 cells where the first line has 3."))
    >>> faults.count, faults.first
    (1, 'data.csv, line 3: 2 cells where the first line has 3.')
    """

    def __init__(self, on_error: OnError = "stop", unit: str = "line") -> None:
        if on_error not in ("stop", "skip"):
            raise StreamError(f"What to do on an error is stop or skip, not {on_error!r}.")
        self.on_error: OnError = on_error
        self.unit = unit
        self.count = 0
        self.first = ""

    def meet(self, error: StreamError) -> None:
        """Raise the error, or count it."""
        if self.on_error == "stop":
            raise error
        self.count += 1
        self.first = self.first or str(error)

    def __str__(self) -> str:
        """How many there were, and the first."""
        return f"{self.count:,} bad {self.unit}{'s' * (self.count > 1)} skipped; the first: {self.first}"


def whole_lines(read: Callable[[int], bytes], name: str) -> Iterator[bytes]:
    r"""Cut a file at line ends, about CHUNK_BYTES at a time; the last line gets an end if it has none.

    Examples
    --------
    >>> import io
    >>> list(whole_lines(io.BytesIO(b"1 1:2\n2").read, "data.libsvm"))
    [b'1 1:2\n', b'2\n']
    """
    unfinished: list[bytes] = []
    lines = 0
    while chunk := read(CHUNK_BYTES):
        end = chunk.rfind(b"\n") + 1
        if end:
            text = b"".join([*unfinished, memoryview(chunk)[:end]])
            yield text
            lines += int(np.count_nonzero(np.frombuffer(text, np.uint8) == NEWLINE))  # bytes.count is slower by far
            unfinished = []
        unfinished.append(chunk[end:])
        if sum(map(len, unfinished)) > LONGEST_LINE:
            raise at_line(name, lines + 1, f"the line is longer than {LONGEST_LINE} bytes.")
    text = b"".join(unfinished)
    if text:
        yield text + b"\n"
