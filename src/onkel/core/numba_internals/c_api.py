"""What machine code of ours must know of Python itself: where an array keeps what, and how to be a function.

A function of C takes a tenth of a microsecond to be called; ctypes and Numba's dispatcher take half of one and more.
It is the part of `row_call` that talks to Python, and its gain is measured with that.
"""

import ctypes
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

HEAD = object.__basicsize__  # of every object, the type last
TYPE, DATA, NDIM, SHAPE, STRIDES, DTYPE, FLAGS = (HEAD + 8 * k for k in (-1, 0, 1, 2, 3, 5, 6))  # NumPy's promise to C
SIZE, ITEMS = HEAD, tuple.__basicsize__  # of a tuple
ALIGNED = 0x0100
FASTCALL = 0x0080  # a function takes itself, its arguments as an array, and their number


@lru_cache
def layout_is_known() -> bool:
    """Whether arrays of this Python are as we think."""
    array = np.zeros((2, 3), np.float32)[:, 1]
    pair = array, None

    def read(place: int, kind: Any = ctypes.c_int64) -> Any:
        return kind.from_address(place).value

    numbers = read(id(array) + DATA), read(id(array) + NDIM, ctypes.c_int32), read(read(id(array) + SHAPE))
    found = *numbers, read(read(id(array) + STRIDES)), read(id(array) + TYPE), read(id(array) + DTYPE)
    aligned = read(id(array) + FLAGS, ctypes.c_int32) & ALIGNED
    expected = array.ctypes.data, 1, 2, 12, id(np.ndarray), id(np.dtype(np.float32))
    return found == expected and bool(aligned) and (read(id(pair) + SIZE), read(id(pair) + ITEMS)) == (2, id(array))


class _Definition(ctypes.Structure):
    """What Python has to know of a function of C."""

    _fields_ = (("name", ctypes.c_char_p), ("code", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p))


def builtin(address: int, own: tuple[Any, ...]) -> Callable[..., Any]:
    """The machine code at an address as a function of Python, which keeps a tuple of its own."""
    new: Any = ctypes.pythonapi.PyCFunction_NewEx
    new.argtypes, new.restype = (ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p), ctypes.py_object
    definition = _Definition(b"step", address, FASTCALL, b"Made by onkel.core.numba_internals.row_call.")
    made: Callable[..., Any] = new(ctypes.addressof(definition), (*own, definition), None)
    return made
