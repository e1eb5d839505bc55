"""The cells of all rows of a block at once."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from onkel.core.borrowed import borrowed
from onkel.core.rows import Block, row_count, some
from onkel.core.threads import over_rows
from onkel.core.verbs import entry_point
from onkel.pieces.maps.isolation import locate, partition_count


@entry_point
def locate_all(partitions: Any, block: Any, out: Any) -> None:
    """out[i] = the cells of row i."""
    partitions, block, out = borrowed(partitions), borrowed(block), borrowed(out)
    locate(partitions, block, 0, row_count(block), out)


def index_map(partitions: Any, block: Block) -> NDArray[np.int64]:
    """The cell of each row in each partition (n, t), cells of all partitions numbered in one sequence."""
    out = np.empty((int(row_count(block)), int(partition_count(partitions))), np.int64)
    over_rows(lambda rows: locate_all(partitions, some(block, rows), out[rows]), len(out))
    return out
