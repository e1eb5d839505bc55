"""Models in files: a zip of ``.npy`` members and a JSON header. Nothing in a file is ever executed.

A model is a tree of named tuples, numbers and arrays. The header holds the tree with a number in place of each array;
the names in it must be types that are already known (`onkel.dispatch.known`): nothing is imported for them.
"""

import errno
import json
import lzma
import math
import os
import secrets
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy

from onkel.dispatch import kind_named, name_of

FORMAT = "onkel-model"
VERSION = 1
LARGEST = 4 * 2**30  # bytes of a model that `read` accepts
KINDS = "fiubU"  # of arrays: numbers and text
DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, MemoryError, NotImplementedError),
    *(KeyError, IndexError, ValueError, TypeError, AttributeError, OverflowError, RecursionError, RuntimeError),
)  # what broken bytes make Python's own readers raise


class SnapshotError(ValueError):
    """A model file that cannot be used, in one sentence."""


def write(path: str | os.PathLike[str], content: dict[str, Any]) -> None:
    """Write a dictionary of trees; the file appears whole or not at all."""
    target = Path(os.path.realpath(path))  # a link stays a link
    arrays: list[np.ndarray[Any, Any]] = []
    header = {"format": FORMAT, "version": VERSION, "content": flatten(content, arrays)}
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(target.parent))
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        with open(temporary, "xb") as file:
            _pack(file, json.dumps(header, indent=1), arrays)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _pack(file: Any, header: str, arrays: list[np.ndarray[Any, Any]]) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo("header.json"), header)
        for number, array in enumerate(arrays):
            with archive.open(zipfile.ZipInfo(f"{number}.npy"), "w", force_zip64=True) as member:
                npy.write_array(member, array, allow_pickle=False)


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The dictionary of trees in a file."""
    try:
        with zipfile.ZipFile(path) as archive:
            return _read(archive)
    except FileNotFoundError:
        raise SnapshotError(f"{path}: there is no such file.") from None
    except SnapshotError as error:
        raise SnapshotError(f"{path}: {error}") from None
    except DAMAGE:
        raise SnapshotError(f"{path}: this is not an onkel model, or it is damaged or cut off.") from None


def _read(archive: zipfile.ZipFile) -> dict[str, Any]:
    members = {info.filename: info for info in archive.infolist()}
    if sum(info.file_size for info in members.values()) > LARGEST:
        raise SnapshotError(f"the model is larger than {LARGEST >> 30} GiB.")
    if "header.json" not in members:
        raise SnapshotError("this is a zip file, but not an onkel model.")
    header = json.loads(archive.read("header.json"))
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise SnapshotError("this is not an onkel model.")
    if header.get("version") != VERSION:
        raise SnapshotError(f"its format has version {header.get('version')!r}; this onkel reads version {VERSION}.")
    arrays = [_array(archive, members, n) for n in range(len(members) - 1)]
    content = rebuild(header["content"], arrays)
    if not isinstance(content, dict):
        raise SnapshotError("its header is damaged.")
    return content


def _array(archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo], number: int) -> Any:
    info = members.get(f"{number}.npy")
    if info is None:
        raise SnapshotError(f"its array {number} is missing.")
    with archive.open(info) as member:
        if npy.read_magic(member) != (1, 0):
            raise SnapshotError(f"its array {number} is of an unexpected format.")
        shape, fortran, dtype = npy.read_array_header_1_0(member, max_header_size=1000)
        if dtype.kind not in KINDS:
            raise SnapshotError(f"its array {number} is of the unexpected type {dtype}.")
        if math.prod(shape) * dtype.itemsize != info.file_size - member.tell():  # before anything is allocated
            raise SnapshotError(f"its array {number} claims another size than it has.")
        data = member.read()  # to the end, where the checksum is compared
    array = np.frombuffer(data, dtype).reshape(shape, order="F" if fortran else "C").copy()
    if dtype.kind == "f" and not np.isfinite(array).all():
        raise SnapshotError(f"its array {number} holds numbers that are not finite.")
    return np.ascontiguousarray(array) if array.ndim else array


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


def rebuild(tree: Any, arrays: list[Any]) -> Any:
    """The tree behind its JSON."""
    if not isinstance(tree, dict):
        return tree
    (key, *_) = tree
    if key == "array":
        return arrays[int(tree["array"])]
    if key == "map":
        return {name: rebuild(part, arrays) for name, part in tree["map"].items()}
    if key == "tuple":
        return tuple(rebuild(part, arrays) for part in tree["tuple"])
    if key == "float":
        return float(tree["float"])
    kind = kind_named(tree["kind"])
    if kind is None:
        raise SnapshotError(f"it needs {tree['kind']!r}, which is not known here; import its module first.")
    return kind(*(rebuild(part, arrays) for part in tree["fields"]))


def same(a: Any, b: Any) -> bool:
    """Whether two trees are equal bit by bit."""
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    return bool(a == b)


def nbytes(tree: Any) -> int:
    """Bytes in the arrays of a tree."""
    if isinstance(tree, np.ndarray):
        return int(tree.nbytes)
    return sum(map(nbytes, tree)) if isinstance(tree, tuple) else 0
