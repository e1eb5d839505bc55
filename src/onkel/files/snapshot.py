"""Models in files: a zip of ``.npy`` members and a JSON header. Nothing in a file is ever executed.

A model is a tree of named tuples, numbers and arrays. The header holds the tree with a number in place of each array;
the names in it must be types that are already known (`onkel.core.verbs.known`): nothing is imported for them.
`docs/format.md` describes the bytes; `archive` reads them.
"""

import errno
import io
import json
import lzma
import math
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from onkel.core.checking import short
from onkel.core.verbs import kind_named, name_of
from onkel.core.whole_files import whole_file
from onkel.files.archive import MOST_MEMBERS, Member, members, unpacked
from onkel.files.old_names import current

FORMAT = "onkel-model"
VERSION = 5
LARGEST = 4 * 2**30  # bytes of a model that `read` accepts
LARGEST_HEADER = 1 << 25  # bytes of JSON
MOST_PARTS = 1 << 19  # of the header: read, the smallest takes twenty times as many bytes as in the file
LONGEST_NPY_HEADER = 1000
NPY_HEADER = re.compile(
    r"\{'descr': (?P<type>.+), 'fortran_order': (?P<order>True|False), 'shape': \((?P<shape>[\d, ]*)\), \} *\n"
)
OTHER_TYPE = re.compile(r"'[|<>][A-Za-z]\d{0,9}'")  # that NumPy has a name for
TYPES = {"f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1"}  # of arrays of numbers, in any byte order
LAST_CHARACTER = 0x10FFFF
NOT_FINITE = ("inf", "-inf", "nan")
DAMAGE = (
    *(struct.error, zlib.error, lzma.LZMAError, EOFError, OSError, MemoryError, NotImplementedError),
    *(KeyError, IndexError, ValueError, TypeError, AttributeError, ArithmeticError, RecursionError, RuntimeError),
)  # what broken bytes make Python's own readers raise


UPGRADES: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}  # version: makes content of it one version newer


class SnapshotError(ValueError):
    """A model file that cannot be used, in one sentence."""


def write(path: str | os.PathLike[str] | IO[bytes], content: dict[str, Any]) -> None:
    """Write a dictionary of trees; a file appears whole or not at all. What is open is written to."""
    header, arrays = flat(content)
    if not isinstance(path, str | os.PathLike):
        whole = io.BytesIO()  # a pipe cannot be gone back in
        _pack(whole, header, arrays)
        path.write(whole.getvalue())
        return
    if os.path.exists(path) and not os.path.isfile(path):  # a pipe or a device is written to, not replaced
        with open(path, "wb") as special:
            write(special, content)
        return
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(folder))
    with whole_file(os.fspath(path)) as file:
        _pack(file, header, arrays)


def flat(content: dict[str, Any]) -> tuple[str, list[np.ndarray[Any, Any]]]:
    """The header, and the arrays that it counts."""
    arrays: list[np.ndarray[Any, Any]] = []
    header = json.dumps({"format": FORMAT, "version": VERSION, "content": flatten(content, arrays)}, indent=1)
    if len(header) > LARGEST_HEADER or len(arrays) >= MOST_MEMBERS or most_parts(header.encode()) > MOST_PARTS:
        raise SnapshotError("The model has too many parts to be saved.")
    return header, arrays


def _pack(file: Any, header: str, arrays: list[np.ndarray[Any, Any]]) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo("header.json"), header)
        for number, array in enumerate(arrays):
            with archive.open(zipfile.ZipInfo(f"{number}.npy"), "w", force_zip64=True) as member:
                npy.write_array(member, array, allow_pickle=False)


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The dictionary of trees in a file."""
    try:
        with open(path, "rb") as file:
            return read_from(file)
    except FileNotFoundError:
        raise SnapshotError(f"{path}: there is no such file.") from None
    except PermissionError as error:
        raise SnapshotError(f"{path}: the file cannot be opened ({error.strerror}).") from None
    except SnapshotError as error:
        raise SnapshotError(f"{path}: {error}") from None
    except DAMAGE:
        raise SnapshotError(f"{path}: this is not an onkel model, or it is damaged or cut off.") from None


def read_from(file: IO[bytes]) -> dict[str, Any]:
    """The dictionary of trees in an open file; raises `SnapshotError`, or one of `DAMAGE`."""
    found = members(file, file.seek(0, os.SEEK_END))
    if sum(member.size for member in found) > LARGEST:
        raise SnapshotError(f"the model is larger than {LARGEST >> 30} GiB.")
    if not found or found[0].name != "header.json":
        raise SnapshotError("this is a zip file, but not an onkel model.")
    if found[0].size > LARGEST_HEADER:
        raise SnapshotError(f"its header is larger than {LARGEST_HEADER >> 20} MiB.")
    text = unpacked(file, found[0])
    if most_parts(text) > MOST_PARTS:
        raise SnapshotError("its header has too many parts.")
    header = json.loads(text, parse_constant=_refuse)
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise SnapshotError("this is not an onkel model.")
    version = header.get("version")
    if type(version) is not int or not 1 <= version <= VERSION:
        raise SnapshotError(f"its format has version {short(version)}; this onkel reads versions up to {VERSION}.")
    arrays = iter([(number, _array(file, member, number)) for number, member in enumerate(found[1:])])
    content = rebuild(header["content"], arrays)
    if next(arrays, None) is not None:
        raise SnapshotError("it holds arrays that belong nowhere.")
    if not isinstance(content, dict):
        raise SnapshotError("its header is damaged.")
    for older in range(version, VERSION):
        content = UPGRADES[older](content)
    return content


def most_parts(text: bytes) -> int:
    """At least as many as JSON has parts: each begins the text or a list, or stands behind a comma."""
    return sum(map(text.count, (b",", b"[", b"{")))


def _array(file: IO[bytes], member: Member, number: int) -> Any:
    if member.name != f"{number}.npy":
        raise SnapshotError(f"its array {number} is missing.")
    data = unpacked(file, member)
    if npy.read_magic(io.BytesIO(data[: npy.MAGIC_LEN])) != (1, 0):
        raise SnapshotError(f"its array {number} is of an unexpected format.")
    start = npy.MAGIC_LEN + 2 + int.from_bytes(data[npy.MAGIC_LEN :][:2], "little")
    told = NPY_HEADER.fullmatch(data[npy.MAGIC_LEN + 2 : start].decode("latin-1"))
    if told is None or start > LONGEST_NPY_HEADER:
        raise SnapshotError(f"its array {number} is of an unexpected format.")
    shape, dtype = tuple(map(int, re.findall(r"\d+", told["shape"]))), _type(told["type"])
    if dtype is None:
        kind = np.dtype(told["type"][1:-1]) if OTHER_TYPE.fullmatch(told["type"]) else told["type"][:60]
        raise SnapshotError(f"its array {number} is of the unexpected type {kind}.")
    if math.prod(shape) * dtype.itemsize != len(data) - start:
        raise SnapshotError(f"its array {number} claims another size than it has.")
    order: Any = "F" if told["order"] == "True" else "C"
    array = np.frombuffer(data, dtype, offset=start).reshape(shape, order=order)
    array = np.array(array, dtype.newbyteorder("="), order="C")
    if dtype.kind == "f" and not np.isfinite(array).all():
        raise SnapshotError(f"its array {number} holds numbers that are not finite.")
    if not _readable(array):
        raise SnapshotError(f"its array {number} holds bytes that mean nothing.")
    return array


def _type(told: str) -> Any:
    """The type of an array by its quoted name, None where arrays of such a type have no place in a model."""
    name = told[1:-1]
    known = name[1:] in TYPES or re.fullmatch(r"U[1-9]\d{0,8}", name[1:])
    return np.dtype(name) if name[:1] in ("<", ">", "|") and known else None


def _readable(array: Any) -> bool:
    """Whether truth is 0 or 1, and text is of characters."""
    if array.dtype.kind == "b":
        return bool((array.view(np.uint8) <= 1).all())
    if array.dtype.kind != "U" or not array.size:
        return True
    codes = np.frombuffer(array.tobytes(), np.uint32)
    return bool((codes <= LAST_CHARACTER).all() and not ((codes >= 0xD800) & (codes < 0xE000)).any())


def flatten(tree: Any, arrays: list[np.ndarray[Any, Any]]) -> Any:
    """The tree as JSON, its arrays appended to the list."""
    if isinstance(tree, np.ndarray):
        if tree.dtype.hasobject:
            tree = np.array([str(item) for item in tree])
        if tree.dtype.kind == "f" and not np.isfinite(tree).all():
            raise SnapshotError("The model has diverged: its weights are not finite, and it is not saved.")
        arrays.append(tree)
        return {"array": len(arrays) - 1}
    if hasattr(tree, "_fields"):
        return {"kind": name_of(type(tree)), "fields": [flatten(part, arrays) for part in tree]}
    if isinstance(tree, tuple):
        return {"tuple": [flatten(part, arrays) for part in tree]}
    if isinstance(tree, dict):
        return {"map": {key: flatten(part, arrays) for key, part in tree.items()}}
    if isinstance(tree, np.generic):
        tree = tree.item()
    if isinstance(tree, float) and not np.isfinite(tree):
        return {"float": repr(tree)}
    if tree is None or isinstance(tree, bool | int | float | str):
        return tree
    raise SnapshotError(f"A model with a {type(tree).__name__} in it cannot be saved.")


def rebuild(tree: Any, arrays: Iterator[tuple[int, Any]]) -> Any:
    """The tree behind its JSON; takes the arrays with their numbers one after the other, as `flatten` left them."""
    if tree is None or isinstance(tree, bool | int | float | str):
        return tree
    if not isinstance(tree, dict):  # a list
        raise SnapshotError("its header is damaged.")
    keys = tuple(tree)
    if keys == ("array",):
        number, array = next(arrays, (-1, None))
        return array if tree["array"] == number and type(tree["array"]) is int else _refuse()
    if keys == ("map",):
        return {name: rebuild(part, arrays) for name, part in tree["map"].items()}
    if keys == ("tuple",):
        return tuple(rebuild(part, arrays) for part in tree["tuple"])
    if keys == ("float",):
        return float(tree["float"]) if tree["float"] in NOT_FINITE else _refuse()
    kind = kind_named(current(tree["kind"])) if keys == ("kind", "fields") else _refuse()
    if kind is None:
        raise SnapshotError(f"it needs {short(tree['kind'])}, which is not known here; import its module first.")
    return kind(*(rebuild(part, arrays) for part in tree["fields"]))


def _refuse(*_: Any) -> Any:
    raise ValueError("Not what `flatten` writes.")
