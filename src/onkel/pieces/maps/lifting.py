"""All features of a block at once."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from onkel.core.borrowed import borrowed, keep
from onkel.core.rows import Block, row_count, some
from onkel.core.threads import over_rows
from onkel.core.verbs import entry_point
from onkel.pieces.maps.verbs import factor, lift, tile_rows, width, work_width


@entry_point
def lift_block(feature_map: Any, block: Any, out: Any) -> None:
    """out[i] = z(x_i), the common factor included."""
    feature_map, block, out = borrowed(feature_map), borrowed(block), borrowed(out)
    n, tile = row_count(block), tile_rows(feature_map)
    common = out.dtype.type(factor(feature_map))
    own = np.empty((tile, work_width(feature_map)), out.dtype)
    work = borrowed(own)
    for start in range(0, n, tile):
        count = min(tile, n - start)
        part = out[start : start + count]
        lift(feature_map, block, start, count, work, part)
        for r in range(count):
            for k in range(part.shape[1]):
                part[r, k] *= common
    keep(own)


def features_of(feature_map: Any, block: Block) -> NDArray[Any]:
    """Features (n, width) of a block, in the type of its numbers."""
    out = np.empty((int(row_count(block)), int(width(feature_map))), block[0].dtype)
    over_rows(lambda rows: lift_block(feature_map, some(block, rows), out[rows]), len(out))
    return out
