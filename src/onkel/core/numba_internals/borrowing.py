"""Arrays lose their reference counts inside of compiled code.

Each view ``a[i]`` of an owned array costs two atomic operations.

Gains: learning in blocks (`python -m benchmarks tricks`, the line of `borrowing`). Without it compiled code counts as
Numba does, with the same bits.
"""

from collections.abc import Callable
from typing import Any, cast

from numba.core import cgutils, types
from numba.extending import lower_builtin, type_callable

from onkel.core.numba_internals.tricks import used

lower: Any = lower_builtin  # which is not typed


def lend(function: Callable[[Any], Any]) -> None:
    """Let compiled code take a call of this function for its argument, without owners.

    It is written into the caller: a function of its own for each type of array would have to be compiled.
    """
    type_callable(function)(lambda _context: lambda value: value)
    lower(function, types.Any)(_lower)


def _lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    (kind,), (value,) = signature.args, args
    if used("borrowing"):
        return _without_owners(context, builder, kind, value)
    context.nrt.incref(builder, kind, value)  # as Numba does with what it returns
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


lend(lambda value: value)  # where that is not possible, this import fails and nothing uses it
