"""Very wide rows folded to fewer columns: column j is added, with a random sign, to one that a hash of j chooses.

What has a number per column then stays bounded, however many columns come. <x', s'> is an unbiased estimate of <x, s>
[weinberger2009].
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from onkel.core.points import WIDE
from onkel.core.randomness import keys
from onkel.core.rows import Block, Csr, pack, unpack

SEED = 0x0F01D  # the same for all models, so that their columns mean the same
HALF = np.uint64(1 << 63)


def places(columns: Any) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Where columns go, and whether their numbers change sign; a function of the column alone."""
    bits = keys(SEED, np.asarray(columns, np.int64))
    return (bits % np.uint64(WIDE)).astype(np.int32), bits >= HALF


def folded(block: Block) -> Csr:
    """Rows of `WIDE` columns.

    >>> from onkel.core.rows import Csr
    >>> wide = Csr(np.ones(2), np.array([7, 2_000_000], np.int32), np.array([0, 2]), 3_000_000)
    >>> folded(wide).width == WIDE, abs(folded(wide).data).tolist()
    (True, [1.0, 1.0])
    """
    rows = sparse.csr_matrix(unpack(block))
    columns, flipped = places(rows.indices)
    shape = (rows.shape[0], WIDE)
    made = pack(sparse.csr_matrix((np.where(flipped, -rows.data, rows.data), columns, rows.indptr), shape), rows.dtype)
    assert isinstance(made, Csr)
    return made
