"""Model files taken apart and put together by hand, which is much faster than `zipfile`."""

import io
import json
import zipfile
import zlib
from typing import Any, NamedTuple

import numpy as np

from onkel.files.archive import END, ENTRY, LOCAL, members, unpacked
from onkel.files.snapshot import NPY_HEADER, TYPES

FIRST_OF_1980 = 33  # as the format of zip files counts days


class Parts(NamedTuple):
    """A model file taken apart: its header as JSON, and the bytes of its arrays."""

    header: Any
    arrays: tuple[bytes, ...]


def parts_of(data: bytes) -> Parts:
    """The parts of a model file."""
    file = io.BytesIO(data)
    header, *arrays = (unpacked(file, member) for member in members(file, len(data)))
    return Parts(json.loads(header), tuple(arrays))


def model_file(header: Any, arrays: Any) -> bytes:
    """A model file of a header, as JSON or as bytes of it, and of the bytes of its arrays."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return packed([("header.json", text), *((f"{k}.npy", array) for k, array in enumerate(arrays))])


def packed(given: list[tuple[str, bytes]]) -> bytes:
    """A zip of stored members with right checksums, one behind the other; names may come twice."""
    local, table, at = list[bytes](), list[bytes](), 0
    for name, data in given:
        known, crc, size = name.encode(), zlib.crc32(data), len(data)
        both = 0, 0, 0, FIRST_OF_1980, crc, size, size, len(known), 0
        local.append(LOCAL.pack(b"PK\3\4", 20, *both) + known + data)
        table.append(ENTRY.pack(b"PK\1\2", 20, 20, *both, 0, 0, 0, 0, at) + known)
        at += len(local[-1])
    entries = b"".join(table)
    count = len(given)
    return b"".join([*local, entries, END.pack(b"PK\5\6", 0, 0, count, count, len(entries), at, 0)])


def packed_with(given: list[tuple[str, bytes]], methods: dict[str, int]) -> bytes:
    """The same with the members of these names compressed."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in given:
            archive.writestr(zipfile.ZipInfo(name), data, methods.get(name, zipfile.ZIP_STORED))
    return out.getvalue()


def array_of(data: bytes) -> np.ndarray[Any, Any]:
    """The array in a member of a model file; a ValueError where there is none."""
    start = data.find(b"\n") + 1
    told = NPY_HEADER.fullmatch(data[10:start].decode("latin-1"))
    if told is None or told["type"][1:-1][1:] not in TYPES:
        raise ValueError("There is no array of numbers.")
    shape = tuple(map(int, told["shape"].replace(",", " ").split()))
    return np.frombuffer(data, told["type"][1:-1], offset=start).reshape(shape)


def npy(array: np.ndarray[Any, Any]) -> bytes:
    """The bytes of an array as a member of a model file."""
    text = f"{{'descr': '{array.dtype.str}', 'fortran_order': False, 'shape': {array.shape}, }}"
    line = (text.ljust((len(text) + 10) // 64 * 64 + 117 - 64 if len(text) > 117 else 117) + "\n").encode("latin-1")
    return b"\x93NUMPY\1\0" + len(line).to_bytes(2, "little") + line + array.tobytes()
