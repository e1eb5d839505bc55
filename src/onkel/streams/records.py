"""CSV text with Python's own parser: cells of each row with its line, and a sentence for whatever is no CSV."""

import csv
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple


class Record(NamedTuple):
    """The cells of one row, and the line where it starts."""

    line: int
    cells: list[str]
    fault: str = ""  # why there are no cells


class Lines:
    r"""Lines of a text for the parser, and those of the following texts if a row goes on there.

    Between two rows it ends with its text, so that a faster reader can go on from there.

    Examples
    --------
    >>> following = iter([b'b"\n', b"2\n"])
    >>> [record.cells for record in records(Lines(b'1,"a\n', following, before=0), ",")]
    [['1', 'a\nb']]
    >>> list(following)
    [b'2\n']
    """

    def __init__(self, text: bytes, following: Iterator[bytes], before: int) -> None:
        self.before = before  # lines before the row that is being read
        self.waiting = deque(_split(text))
        self._following = following
        self._taken: list[bytes] = []

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        if not self.waiting:
            if not self._taken:
                raise StopIteration
            self.waiting.extend(_split(next(self._following)))
        self._taken.append(self.waiting.popleft())
        return self._taken[-1].decode()

    @property
    def current(self) -> int:
        """Number of the line that was taken last."""
        return self.before + len(self._taken)

    def accept(self) -> None:
        """The row is complete: the next line starts another one."""
        self.before += len(self._taken)
        self._taken.clear()

    def give_up(self) -> None:
        """The row is none: leave its first line out, and read the others again."""
        self.waiting.extendleft(reversed(self._taken[1:]))
        del self._taken[1:]
        self.accept()


def _split(text: bytes) -> list[bytes]:
    """Lines of a text with their ends, which are line feeds alone."""
    return [line + b"\n" for line in text.split(b"\n")[:-1]]


def records(lines: Lines, delimiter: str) -> Iterator[Record]:
    """All rows that are not blank."""
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=True)
    while True:
        try:
            cells = next(reader, None)
        except csv.Error as error:
            yield Record(lines.before + 1, [], f"this is not proper CSV ({error}).")
            lines.give_up()
            continue
        except UnicodeDecodeError:
            yield Record(lines.current, [], "the text is not UTF-8.")
            lines.give_up()
            continue
        if cells is None:
            return
        record = Record(lines.before + 1, cells)
        lines.accept()
        if cells and cells != [""]:
            yield record
