"""Calls of compiled code one after the other, for arguments that stay the same.

At every call Numba makes of Python's arrays what machine code takes, which for one row takes longer than learning it.
Rows that come one by one find the same arrays each time. So all numbers that describe the arguments (addresses, shapes,
strides, the numbers themselves) are written down once, 8 bytes each, and a small function, made once for arguments of
these types, reads them there and calls the compiled code itself.
"""

import ctypes
import struct
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import types as numba_types
from numba.core.compiler_lock import global_compiler_lock
from numba.np import arrayobj

from onkel.dispatch import CONFIG, EntryPoint

WORD = ir.IntType(64)
types: Any = numba_types
populate_array: Any = arrayobj.populate_array


def chain(*calls: tuple[Any, ...]) -> Callable[[], int]:
    """A function that makes calls, each an entry point with its arguments, and returns how many went well.

    It stops at the first that gives 0 or False, or fails. Arrays are used where they are now, and are kept.

    >>> from onkel.rows import all_finite
    >>> row, other = np.ones(3), np.ones(2, np.float32)
    >>> fine = chain((all_finite, row), (all_finite, other))
    >>> other[0] = np.nan
    >>> fine()
    1
    """
    kinds = tuple((_prepared(entry, args), tuple(map(numba.typeof, args))) for entry, *args in calls)
    if CONFIG.DISABLE_JIT:
        return partial(_in_python, calls)
    words = [word for (_, own), (_, *args) in zip(kinds, calls, strict=True) for word in _words_of_all(own, args)]
    table = np.array([word % 2**64 for word in words], np.uint64)  # below 0: as two's complements
    run: Any = partial(_chained(kinds), table.ctypes.data)
    run.kept = table, calls
    return run


def _prepared(entry: EntryPoint[..., Any], args: list[Any]) -> Any:
    entry.bind(*args)
    return entry.dispatcher


def _in_python(calls: tuple[tuple[Any, ...], ...]) -> int:
    for k, (entry, *args) in enumerate(calls):
        given = entry(*args)
        if given is not None and not given:
            return k
    return len(calls)


def _words_of_all(kinds: Any, values: Any) -> Iterator[int]:
    for kind, value in zip(kinds, values, strict=True):
        yield from _words(kind, value)


def _words(kind: Any, value: Any) -> Iterator[int]:
    """The numbers of 64 bits that describe an argument."""
    if isinstance(kind, types.Array):
        yield from (value.ctypes.data, *value.shape, *value.strides)
    elif isinstance(kind, types.BaseTuple):
        yield from _words_of_all(kind.types, value)
    elif isinstance(kind, types.Float):
        yield from struct.unpack("Q", struct.pack("d", value))
    elif not isinstance(kind, types.NoneType):
        yield int(value)


@lru_cache
def _chained(calls: tuple[tuple[Any, tuple[Any, ...]], ...]) -> Any:
    """Machine code for calls of these types, which takes the address of the words."""
    with global_compiler_lock:
        made = [dispatcher.overloads[kinds] for dispatcher, kinds in calls]
        context = made[0].target_context
        library = context.codegen().create_library("chain")
        module = library.create_ir_module("chain")
        name = f"onkel_chain_{id(library)}"
        function = ir.Function(module, ir.FunctionType(WORD, [WORD.as_pointer()]), name)
        with context.push_code_library(library):
            _write(function, made)
        library.add_ir_module(module)
        library.finalize()
        found: Any = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(library.get_pointer_to_function(name))
    found.kept = library, made
    return found


def _write(function: Any, made: list[Any]) -> None:
    """The body of the function: call by call, as long as they go well."""
    builder, words = ir.IRBuilder(function.append_basic_block()), _Words(function.args[0])
    for k, result in enumerate(made):
        context, about = result.target_context, result.fndesc
        address = ir.Constant(WORD, result.library.get_pointer_to_function(about.llvm_func_name))
        kind = context.call_conv.get_function_type(about.restype, about.argtypes)
        arguments = [words.value(context, builder, own) for own in about.argtypes]
        status, given = context.call_conv.call_function(
            builder, builder.inttoptr(address, kind.as_pointer()), about.restype, about.argtypes, arguments
        )
        well = status.is_ok
        if not isinstance(about.restype, types.NoneType):
            well = builder.and_(well, context.is_true(builder, about.restype, given))
        with builder.if_then(builder.not_(well), likely=False):
            builder.ret(ir.Constant(WORD, k))
    builder.ret(ir.Constant(WORD, len(made)))


class _Words:
    """Reads arguments from the words that describe them, in the order of `_words`."""

    def __init__(self, start: Any) -> None:
        self.start, self.count = start, 0

    def next(self, builder: Any) -> Any:
        self.count += 1
        return builder.load(builder.gep(self.start, [ir.Constant(WORD, self.count - 1)]))

    def value(self, context: Any, builder: Any, kind: Any) -> Any:
        """The next argument, which is of this type."""
        if isinstance(kind, types.Array):
            return self.array(context, builder, kind)
        if isinstance(kind, types.BaseTuple):
            return context.make_tuple(builder, kind, [self.value(context, builder, own) for own in kind.types])
        if isinstance(kind, types.NoneType):
            return context.get_dummy_value()
        word = self.next(builder)
        if isinstance(kind, types.Float):
            return context.cast(builder, builder.bitcast(word, ir.DoubleType()), types.float64, kind)
        return context.cast(builder, word, types.int64, kind)

    def array(self, context: Any, builder: Any, kind: Any) -> Any:
        made, itemsize = context.make_array(kind)(context, builder), np.dtype(str(kind.dtype)).itemsize
        data, *lengths = [self.next(builder) for _ in range(1 + 2 * kind.ndim)]
        populate_array(
            made, builder.inttoptr(data, made.data.type), lengths[: kind.ndim], lengths[kind.ndim :],
            ir.Constant(WORD, itemsize), None,
        )  # fmt: skip
        return made._getvalue()
