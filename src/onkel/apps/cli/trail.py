"""What a checkpoint knows of the rows of its stream, so that going on with others is noticed.

It has a digest of each of the first rows and of each of the last before its place, made of what blocks hold before a
model takes it in: in blocks of any size, as arrays or compressed, in a stream that grows wider or not, a row has one
digest.
"""

import hashlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from onkel.streams.block import Block, cut

ROWS = 256  # that are known from the start, and before the place

Digests = NDArray[np.uint64]


class Trail:
    """Follows the rows of a pass: of those that a checkpoint has `known`, it tells what differs.

    >>> trail = Trail()
    >>> block = Block(np.arange(600.0)[:, None], np.ones(600), 1)
    >>> known = [trail.known_at(500) for _ in trail.follow([block], 0)][0]
    >>> again, said = Trail(known, print), Block(np.arange(600.0)[::-1, None], np.ones(600), 1)
    >>> _ = [*again.passed_over([said], 500)]
    row 1 differs
    """

    def __init__(self, known: dict[str, Digests] | None = None, differs: Callable[[str], object] = print) -> None:
        self.known, self._differs = known, differs
        self._first = np.empty(0, np.uint64)
        self._held: deque[tuple[int, Block]] = deque()  # with the number of its first row
        self._end = 0

    def follow(self, blocks: Iterable[Block], first: int) -> Iterator[Block]:
        """The same blocks, which begin with the row of that number."""
        for block in blocks:
            self._note(block, first)
            first += len(block.labels)
            yield block

    def passed_over(self, blocks: Iterable[Block], count: int) -> Iterator[Block]:
        """The blocks without their first rows, which are held against those that are known."""
        at, new = 0, self.known is not None
        for block in blocks:
            n = len(block.labels)
            if at < count:
                self._note(cut(block, 0, min(n, count - at)), at)
            at += n
            if new and at >= min(count, ROWS):
                new = self._same(0, self._first, "first")
            if new and at >= count:
                new, _ = False, self._same(count - len(self._last(count)), self._last(count), "last")
            if at > count:
                yield cut(block, n - min(n, at - count), n)
        if at < count:
            self._differs(f"its rows end after {at:,}, and {count:,} were learned")

    def known_at(self, row: int) -> dict[str, Digests]:
        """What a checkpoint is to know after so many rows."""
        if row > self._end:  # they were not all passed over again yet
            return self.known or {"first": np.empty(0, np.uint64), "last": np.empty(0, np.uint64)}
        return {"first": self._first[:row], "last": self._last(row)}

    def _note(self, block: Block, at: int) -> None:
        if len(self._first) < ROWS:
            self._first = np.concatenate([self._first, digests(cut(block, 0, ROWS - len(self._first)))])
        self._held.append((at, block))
        self._end = at + len(block.labels)
        while self._held[0][0] + len(self._held[0][1].labels) <= at - ROWS:
            self._held.popleft()

    def _last(self, row: int) -> Digests:
        """Those of the rows before this one, which is in the block that came last, or ends it."""
        found = [np.empty(0, np.uint64)]
        for at, block in self._held:
            first, end = max(row - ROWS - at, 0), min(row - at, len(block.labels))
            if first < end:
                found.append(digests(cut(block, first, end)))
        return np.concatenate(found)

    def _same(self, at: int, found: Digests, which: str) -> bool:
        known = {} if self.known is None else self.known
        count = min(len(found), len(known[which]))
        other = np.flatnonzero(found[:count] != known[which][:count])
        if len(other):
            self._differs(f"row {at + int(other[0]) + 1:,} differs")
        return not len(other)


def digests(block: Block) -> Digests:
    """A number for each row that depends on what it holds, but for zeros, and on its label.

    >>> block = Block(np.array([[0.0, 2.0], [0.0, 1.0]]), np.ones(2))
    >>> both = digests(block)
    >>> both[0] == both[1], (digests(block._replace(rows=csr_matrix(block.rows))) == both).all()
    (np.False_, np.True_)
    """
    rows: Any = csr_matrix(block.rows)
    rows = rows if rows.has_sorted_indices else rows.sorted_indices()
    values, indices = rows.data.astype("<f8"), rows.indices.astype("<i8")
    values[np.isnan(values)] = np.nan  # of which there are many
    held, found = values != 0.0, np.empty(len(block.labels), np.uint64)
    for i, label in enumerate(block.labels.tolist()):
        own = np.arange(rows.indptr[i], rows.indptr[i + 1])
        own = own[held[own]]
        text = b"".join([indices[own].tobytes(), values[own].tobytes(), repr(label).encode()])
        found[i] = int.from_bytes(hashlib.sha256(text).digest()[:8], "little")
    return found


def checked(known: Any) -> dict[str, Digests] | None:
    """What a checkpoint knows of its rows, if it does; a ValueError where that is something else."""
    if known is None:
        return None
    for which in ("first", "last"):
        if known[which].dtype != np.uint64 or known[which].ndim != 1 or len(known[which]) > ROWS:
            raise ValueError("These are no digests of rows.")
    return {which: known[which] for which in ("first", "last")}


def differences(before: dict[str, Any], now: dict[str, Any], known: bool, more_may_come: bool) -> list[str]:
    """What makes two streams different, as far as it can be seen before their rows are.

    More rows are no difference where `more_may_come`. Where rows are `known`, a pipe, which has no number, will do.

    >>> old, new = {"DATA": 300, "--limit": None}, {"DATA": 200, "--limit": 200}
    >>> differences(old, new, True, True)
    ['DATA had 300 rows, now 200', '--limit was not given, now 200']
    >>> differences({"DATA": 300}, {"DATA": 301}, True, True), differences({"DATA": 300}, {"DATA": None}, True, True)
    ([], [])
    """
    found = []
    for key, new in now.items():
        old = before[key]
        counts = key == "DATA" and not isinstance(old, tuple) and not isinstance(new, tuple)
        if counts and (None in (old, new) and known):
            continue
        if counts and None not in (old, new):
            if new < old or (new > old and not more_may_come):
                found.append(f"DATA had {old:,} rows, now {new:,}")
        elif old != new:
            found.append(f"{key} was {_shown(key, old)}, now {_shown(key, new)}")
    return found


def _shown(key: str, value: Any) -> str:
    if key == "DATA" and not isinstance(value, tuple):
        return "rows of unknown number" if value is None else f"{value:,} rows of a file"
    if key == "DATA":
        return f"{value[0]} with --seed {value[1]}"
    if value is None:
        return "not given"
    return " ".join(str(part) for part in value if part is not None) if isinstance(value, tuple) else str(value)
