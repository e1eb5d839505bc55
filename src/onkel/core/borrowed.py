"""Arrays without reference counts inside compiled code.

Each view ``a[i]`` of an owned array costs two atomic operations. Entry points strip the owners once; the caller holds
the arrays for as long as the call lasts.
"""

from typing import Any, TypeVar, cast

from numba.core import cgutils, types
from numba.extending import lower_builtin, type_callable

from onkel.core.verbs import compiled

T = TypeVar("T")


def borrowed(value: T) -> T:
    """The same array, or tree of tuples of arrays, without its owners. In Python: the argument itself."""
    return value


def _without_owners(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    if isinstance(kind, types.Array):
        null: Any = cgutils.get_null_value
        array = context.make_array(kind)(context, builder, value)
        array.meminfo = null(array.meminfo.type)
        array.parent = null(array.parent.type)
        return array._getvalue()
    if isinstance(kind, types.BaseTuple):
        for position, member in enumerate(cast(Any, kind)):
            part = builder.extract_value(value, position)
            value = builder.insert_value(value, _without_owners(context, builder, member, part), position)
    return value


@type_callable(borrowed)
def _type(_context: Any) -> Any:
    return lambda value: value


def _lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Written into the caller: a function of its own for each type of array would have to be compiled."""
    return _without_owners(context, builder, signature.args[0], args[0])


lower: Any = lower_builtin  # which is not typed
lower(borrowed, types.Any)(_lower)


@compiled
def row(array: Any, i: int) -> Any:
    """Row ``i`` of an array that somebody else keeps alive."""
    return borrowed(array[i])


@compiled
def keep(_own: Any) -> None:
    """Mention local arrays after their last use: Numba frees an array after its last mention."""
