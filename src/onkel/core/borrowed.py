"""Arrays without reference counts inside compiled code.

Each view ``a[i]`` of an owned array costs two atomic operations. Entry points strip the owners once; the caller holds
the arrays for as long as the call lasts.
"""

from typing import Any, TypeVar

from numba.extending import register_jitable

from onkel.core.numba_internals.tricks import trick
from onkel.core.verbs import compiled

T = TypeVar("T")


def borrowed(value: T) -> T:
    """The same array, or tree of tuples of arrays, without its owners. In Python: the argument itself."""
    return value


borrowing = trick("borrowing")
lend: Any = borrowing.lend if borrowing else register_jitable  # plain: the argument itself in compiled code, too
lend(borrowed)


@compiled
def row(array: Any, i: int) -> Any:
    """Row ``i`` of an array that somebody else keeps alive."""
    return borrowed(array[i])


@compiled
def keep(_own: Any) -> None:
    """Mention local arrays after their last use: Numba frees an array after its last mention."""
