"""Calls of compiled code one after the other, for a row that changes and arguments that stay the same.

At every call Numba makes of Python's arrays what machine code takes, which for one row takes longer than learning it.
Rows that come one by one find the same arrays each time. So all numbers that describe the arguments (addresses, shapes,
strides, the numbers themselves) are written down once, 8 bytes each, and a function of C, made once for arguments of
these types, reads them there and calls the compiled code itself. Only the row and its target come from Python.

Gains: one row at a time; the first row of a process has to wait for the function to be made (`python -m benchmarks
tricks`, the line of `row_call`). Without it Python makes the calls, with the same bits.
"""

import struct
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils
from numba.core import types as numba_types
from numba.core.compiler_lock import global_compiler_lock
from numba.np import arrayobj

from onkel.core.chains import NOT_PLAIN, PLAIN, Calls, Step
from onkel.core.interrupts import uninterrupted
from onkel.core.numba_internals.c_api import (
    ALIGNED,
    DATA,
    DTYPE,
    FLAGS,
    ITEMS,
    NDIM,
    SHAPE,
    SIZE,
    STRIDES,
    TYPE,
    builtin,
)

WORD = ir.IntType(64)  # numbers and addresses alike
HALF = ir.IntType(32)
REAL = ir.DoubleType()
types: Any = numba_types
populate_array: Any = arrayobj.populate_array
for_range: Any = cgutils.for_range


def one_call(row: Any, target: Any, copies: Calls, calls: Calls, answer: Step, otherwise: Step) -> Step:
    """The function that `onkel.core.chains.chain` promises, as one of C.

    Calls are of dispatchers that are compiled for their arguments; those of `copies`, one for each of PLAIN, put a row
    of such numbers into another.
    """
    kinds = tuple((dispatcher, tuple(map(numba.typeof, args))) for dispatcher, *args in (*copies, *calls))
    given = [target, row, *(value for _, *args in calls for value in args)]
    words = [word % 2**64 for value in given for word in _words(value)]  # below 0: as two's complements
    address, code = _chained(kinds, target is not None)
    kept = lambda: (given, code)  # noqa: E731  (whoever adds up what a model takes passes over functions)
    return builtin(address, (np.array(words, np.uint64), answer, otherwise, kept))


def code_of(dispatcher: Any, kinds: tuple[Any, ...]) -> Callable[..., Any]:
    """What a dispatcher has compiled for these types, without a look at what it is called with."""
    return dispatcher.overloads[kinds].entry_point


def _words(value: Any) -> Iterator[int]:
    """The numbers of 64 bits that describe an argument; none for None."""
    if isinstance(value, np.ndarray):
        yield from (value.ctypes.data, *value.shape, *value.strides)
    elif isinstance(value, tuple):
        for part in value:
            yield from _words(part)
    elif isinstance(value, float | np.floating):
        yield from struct.unpack("Q", struct.pack("d", value))
    elif value is not None:
        yield int(value)


@lru_cache
def _chained(kinds: tuple[tuple[Any, tuple[Any, ...]], ...], has_target: bool) -> tuple[int, Any]:
    """The address of machine code for calls of these types, the first of which fill the row; and what it needs."""
    with uninterrupted(), global_compiler_lock:
        made = [dispatcher.overloads[own] for dispatcher, own in kinds]
        context = made[0].target_context
        library = context.codegen().create_library("chain")
        module = library.create_ir_module("chain")
        name = f"onkel_chain_{id(library)}"
        function = ir.Function(module, ir.FunctionType(WORD, [WORD, WORD, WORD]), name)
        with context.push_code_library(library):
            _Writer(context, function, has_target).write(made[: len(PLAIN)], made[len(PLAIN) :])
        library.add_ir_module(module)
        library.finalize()
        return library.get_pointer_to_function(name), (library, made)


class _Writer:
    """Writes a function of C, which takes itself, its arguments and their number.

    Itself is a tuple: the words of target, row and calls, and what to answer, or to do otherwise.
    """

    def __init__(self, context: Any, function: Any, has_target: bool) -> None:
        self.context, self.module, self.n_wanted = context, function.module, 1 + has_target
        self.builder = ir.IRBuilder(function.append_basic_block())
        self.own, self.given, self.n_given = function.args
        self.words, self.count = self.load(self.load(self.own, ITEMS), DATA), 0

    def write(self, copies: list[Any], calls: list[Any]) -> None:
        """The row, the target, then call by call as long as they go well."""
        with self.builder.if_then(self.builder.not_(self.same(self.n_given, self.n_wanted)), likely=False):
            self.of_python("PyErr_BadArgument", HALF)
            self.builder.ret(WORD(0))
        target = [self.next() for _ in range(3 * (self.n_wanted - 1))]
        x, row = self.load(self.given), [self.next() for _ in range(3)]
        number = self.number(self.load(self.given, 8)) if target else None
        with self.builder.if_else(self.same(self.load(x, TYPE), id(tuple))) as (is_tuple, is_not):
            with is_tuple:
                self.take_tuple(x, copies[0].fndesc.argtypes[1], row)
            with is_not:
                self.take_array(x, copies, row)
        if target:
            self.builder.store(number, self.builder.inttoptr(target[0], REAL.as_pointer()))
        for k, made in enumerate(calls):
            well = self.call(made, [self.value(own) for own in made.fndesc.argtypes])
            self.require(well, k)
        self.builder.ret(self.of_python("PyObject_CallNoArgs", WORD, self.load(self.own, ITEMS + 8)))

    def take_array(self, x: Any, copies: list[Any], row: list[Any]) -> None:
        """Copy a row from an array, and refuse what is not plain."""
        self.require(self.same(self.load(x, TYPE), id(np.ndarray)))
        self.require(self.same(self.load(x, NDIM, HALF), 1))
        self.require(self.same(self.load(self.load(x, SHAPE)), row[1]))
        self.require(self.same(self.builder.and_(self.load(x, FLAGS, HALF), HALF(ALIGNED)), ALIGNED))
        found = [self.same(self.load(x, DTYPE), id(kind)) for kind in PLAIN]
        self.require(self.builder.or_(*found))
        numbers = self.load(x, DATA), row[1], self.load(self.load(x, STRIDES))
        for kind, made in zip(found, copies, strict=True):
            with self.builder.if_then(kind):
                pairs = zip(made.fndesc.argtypes, (numbers, row), strict=True)
                self.call(made, [self.array(own, *lengths) for own, lengths in pairs])

    def take_tuple(self, x: Any, kind: Any, row: list[Any]) -> None:
        """Copy a row from a tuple, and refuse what are not numbers."""
        builder, (data, width, stride) = self.builder, row
        self.require(self.same(self.load(x, SIZE), width))
        place = self.context.get_data_type(kind.dtype).as_pointer()
        with for_range(builder, width) as loop:
            item = self.load(builder.add(x, builder.mul(loop.index, WORD(8))), ITEMS)
            rounded = self.context.cast(builder, self.number(item), types.float64, kind.dtype)
            builder.store(rounded, builder.inttoptr(builder.add(data, builder.mul(loop.index, stride)), place))

    def number(self, item: Any) -> Any:
        """An object of Python's as a number, and refuse what is none."""
        found = self.of_python("PyFloat_AsDouble", REAL, item)
        with self.builder.if_then(
            self.builder.not_(self.same(self.of_python("PyErr_Occurred", WORD), 0)), likely=False
        ):
            self.of_python("PyErr_Clear", ir.VoidType())
            self.otherwise(NOT_PLAIN)
        return found

    def load(self, address: Any, offset: int = 0, kind: Any = WORD) -> Any:
        """What is so many bytes behind an address."""
        place = self.builder.add(address, WORD(offset))
        return self.builder.load(self.builder.inttoptr(place, kind.as_pointer()))

    def same(self, found: Any, expected: Any) -> Any:
        return self.builder.icmp_unsigned("==", found, found.type(expected) if isinstance(expected, int) else expected)

    def require(self, fine: Any, otherwise: int = NOT_PLAIN) -> None:
        with self.builder.if_then(self.builder.not_(fine), likely=False):
            self.otherwise(otherwise)

    def otherwise(self, n_calls: int) -> None:
        """Leave the rest to Python: nothing was done yet, or so many calls."""
        count = self.of_python("PyLong_FromLongLong", WORD, WORD(n_calls))
        given = [self.load(self.given, 8 * k) for k in range(self.n_wanted)]
        act, end = self.load(self.own, ITEMS + 16), WORD(0)
        found = self.of_python("PyObject_CallFunctionObjArgs", WORD, act, count, *given, end, several=True)
        self.of_python("Py_DecRef", ir.VoidType(), count)
        self.builder.ret(found)

    def of_python(self, name: str, result: Any, *args: Any, several: bool = False) -> Any:
        """Call a function of Python's own, of which some take any number of arguments."""
        kind = ir.FunctionType(result, [own.type for own in args[: 1 if several else None]], several)
        declared = self.module.globals.get(name) or ir.Function(self.module, kind, name)
        return self.builder.call(declared, args)

    def call(self, made: Any, arguments: list[Any]) -> Any:
        """Call compiled code; whether it went well."""
        about, convention = made.fndesc, self.context.call_conv
        kind = convention.get_function_type(about.restype, about.argtypes)
        code = self.builder.inttoptr(
            WORD(made.library.get_pointer_to_function(about.llvm_func_name)), kind.as_pointer()
        )
        status, given = convention.call_function(self.builder, code, about.restype, about.argtypes, arguments)
        if isinstance(about.restype, types.NoneType):
            return status.is_ok
        return self.builder.and_(status.is_ok, self.context.is_true(self.builder, about.restype, given))

    def next(self) -> Any:
        self.count += 1
        return self.load(self.words, 8 * (self.count - 1))

    def value(self, kind: Any) -> Any:
        """The next argument, which is of this type."""
        if isinstance(kind, types.Array):
            return self.array(kind, *(self.next() for _ in range(1 + 2 * kind.ndim)))
        if isinstance(kind, types.BaseTuple):
            return self.context.make_tuple(self.builder, kind, [self.value(own) for own in kind.types])
        if isinstance(kind, types.NoneType):
            return self.context.get_dummy_value()
        word = self.next()
        if isinstance(kind, types.Float):
            return self.context.cast(self.builder, self.builder.bitcast(word, REAL), types.float64, kind)
        return self.context.cast(self.builder, word, types.int64, kind)

    def array(self, kind: Any, data: Any, *lengths: Any) -> Any:
        made, itemsize = self.context.make_array(kind)(self.context, self.builder), np.dtype(str(kind.dtype)).itemsize
        start = self.builder.inttoptr(data, made.data.type)
        populate_array(made, start, lengths[: kind.ndim], lengths[kind.ndim :], WORD(itemsize), None)
        return made._getvalue()
