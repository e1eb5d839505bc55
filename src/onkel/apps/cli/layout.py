"""Rows as a model takes them: as wide as it is, and of a growing stream in one layout from the first to the last."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from onkel.core.points import WIDE
from onkel.files.model_file import Stored
from onkel.model.columns import resized
from onkel.model.growth import grow
from onkel.streams.block import Block, concatenate, cut, dense

MOST_CELLS = 2**22  # of an array of rows whose columns grow


def laid_out(work: Stored, block: Block, as_arrays: bool | None, at_once: bool) -> Iterator[Block]:
    """Rows in the width of the model, cut where columns come new, which the model takes in just before.

    Of a growing stream all rows come as arrays of a bounded size, or all compressed; with None they stay what they are.
    Rows that are predicted `at_once`, before any of them is learned, are not cut.
    """
    if as_arrays is None:
        yield in_width(block, work.columns.width)
        return
    for part in widened(work, block, at_once):
        n, width = len(part.labels), work.columns.width
        step = max(1, MOST_CELLS // width) if as_arrays and not at_once else n
        for first in range(0, n, step):
            piece = cut(part, first, min(first + step, n))
            rows = dense(piece.rows) if as_arrays else csr_matrix(piece.rows)
            yield piece._replace(rows=resized(rows, width, 0.0))


def widened(work: Stored, block: Block, at_once: bool) -> Iterator[Block]:
    """Rows cut where columns come new, which the model takes in just before."""
    columns, at = work.columns, 0
    reach = last_columns(block.rows) if block.rows.shape[1] > columns.width else np.zeros(0)
    if at_once:
        reach = np.full(min(len(reach), 1), reach.max(initial=0))
    for i in np.flatnonzero(reach > columns.width).tolist():
        if reach[i] <= columns.width:  # an earlier row has widened the model
            continue
        if i > at:
            yield cut(block, at, i)
        at = i
        widen(work, int(reach[i]))
    yield cut(block, at, len(block.labels)) if at else block


def widen(work: Stored, width: int) -> None:
    """Take in columns; a power of two of them, so that ever new ones do not make a new model for each."""
    columns = work.columns
    if width > WIDE >= columns.width:
        raise ValueError(f"there are more than {WIDE:,} columns: give their number at the start (--features N).")
    wanted = 1 << (width - 1).bit_length()
    columns.take_in(None, min(wanted, WIDE) if width <= WIDE else wanted)
    grow(work.online, columns.width, work.online.setting.n_outputs)


def last_columns(rows: Any) -> Any:
    """The number of columns that each row needs; a 0 needs none, be it written down or not."""
    if isinstance(rows, np.ndarray):
        held = rows != 0.0
        return np.where(held.any(axis=1), rows.shape[1] - np.argmax(held[:, ::-1], axis=1), 0)
    held, found = rows.data != 0.0, np.zeros(rows.shape[0], np.int64)
    np.maximum.at(found, np.repeat(np.arange(len(found)), np.diff(rows.indptr))[held], rows.indices[held] + 1)
    return found


def joined(blocks: Iterable[Block]) -> Block:
    """All rows in memory, as wide as the widest."""
    parts = list(blocks)
    width = max(block.rows.shape[1] for block in parts)
    return concatenate([in_width(block, width) for block in parts])


def in_width(block: Block, width: int) -> Block:
    """A block whose rows are so wide."""
    return block if block.rows.shape[1] == width else block._replace(rows=resized(block.rows, width, 0.0))
