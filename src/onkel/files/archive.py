"""The zip archive of a model file, read strictly: one member behind the other from the first byte to the last.

Every byte is accounted for. What a member claims is held against the size of the file before anything is read, and
what comes out of a compressed one is cut off at its claim. `docs/format.md` describes the bytes.
"""

import bz2
import lzma
import struct
import zlib
from typing import IO, Any, NamedTuple

LOCAL = struct.Struct("<4s5H3I2H")  # signature, version, flags, method, time, date, crc, packed, size, name, extra
ENTRY = struct.Struct("<4s6H3I5H2I")  # the same with the maker's version, comment, disk, attributes, offset
END = struct.Struct("<4s4H2IH")  # signature, disks, entries, size and offset of the table, comment
END_64 = struct.Struct("<4sQ2H2I4Q")
LOCATOR = struct.Struct("<4sIQI")
EXTRA = struct.Struct("<2H")
STORED, DEFLATED, BZIP2, LZMA = 0, 8, 12, 14
FLAGS = {0, 2, 0x800, 0x802}  # names in UTF-8, an end marker of LZMA; nothing encrypted, nothing streamed
FULL_16, FULL_32 = 0xFFFF, 0xFFFFFFFF  # "see the larger field"
LONGEST_NAME, LONGEST_EXTRA = 64, 64
LINK = 0xA  # a symbolic link, in the uppermost bits of the attributes
MOST_MEMBERS = 1 << 20
LARGEST_DICTIONARY = 1 << 26  # bytes that LZMA may ask for
EXPANSION, SMALL = 100, 1 << 26  # an archive may hold as many times its own bytes, or that many bytes


class ArchiveError(ValueError):
    """Bytes that are no such archive."""


class Member(NamedTuple):
    """What a member claims, and where its bytes are."""

    name: str
    offset: int  # of its header
    start: int  # of its bytes
    flags: int
    method: int
    crc: int
    packed: int  # bytes in the file
    size: int  # bytes unpacked


def members(file: IO[bytes], length: int) -> list[Member]:
    """All members of an archive of so many bytes, in order."""
    found, at = list[Member](), 0
    while _peek(file, at) == b"PK\3\4":
        if len(found) == MOST_MEMBERS:
            raise ArchiveError("too many members")
        found.append(_member(file, at, length))
        at = found[-1].start + found[-1].packed
    names = {member.name for member in found}
    if len(names) != len(found) or sum(member.size for member in found) > max(SMALL, EXPANSION * length):
        raise ArchiveError("members of the same name, or larger than the file can hold")
    table = at
    for member in found:
        at = _check_entry(file, at, member)
    _check_end(file, len(found), table, at, length)
    return found


def _peek(file: IO[bytes], at: int) -> bytes:
    file.seek(at)
    return file.read(4)


def _taken(file: IO[bytes], layout: struct.Struct) -> Any:
    return layout.unpack(file.read(layout.size))


def _member(file: IO[bytes], at: int, length: int) -> Member:
    file.seek(at)
    _, _, flags, method, _, _, crc, packed, size, n, more = _taken(file, LOCAL)
    if flags not in FLAGS or not 0 < n <= LONGEST_NAME or more > LONGEST_EXTRA:
        raise ArchiveError("flags, name or extra field")
    name = file.read(n).decode("ascii")
    large = _large_fields(file.read(more))
    if large or FULL_32 in (packed, size):  # in this order, both or none
        (size, packed), narrow = struct.unpack("<2Q", large), (packed, size)
        if narrow != (FULL_32, FULL_32):
            raise ArchiveError("sizes twice")
    start = at + LOCAL.size + n + more
    if start + packed > length or (method == STORED and packed != size):
        raise ArchiveError("a size")
    return Member(name, at, start, flags, method, crc, packed, size)


def _large_fields(extra: bytes) -> bytes:
    """What an extra field says of sizes beyond 32 bits; fields of any other kind are refused."""
    if not extra:
        return b""
    kind, count = EXTRA.unpack(extra[: EXTRA.size])
    if kind != 1 or len(extra) != EXTRA.size + count:
        raise ArchiveError("an extra field")
    return extra[EXTRA.size :]


def _check_entry(file: IO[bytes], at: int, member: Member) -> int:
    """Hold an entry of the table of contents against its member; returns where the next one begins."""
    file.seek(at)
    mark, _, _, flags, method, _, _, crc, packed, size, n, more, note, disk, _, rights, offset = _taken(file, ENTRY)
    if n > LONGEST_NAME or more > LONGEST_EXTRA or note or disk or rights >> 28 == LINK:
        raise ArchiveError("an entry")
    name, large = file.read(n), _large_fields(file.read(more))
    fields = iter(struct.unpack(f"<{len(large) // 8}Q", large))
    size, packed, offset = (next(fields) if value == FULL_32 else value for value in (size, packed, offset))
    found = Member(name.decode("ascii"), offset, member.start, flags, method, crc, packed, size)
    if mark != b"PK\1\2" or found != member or next(fields, None) is not None:
        raise ArchiveError("an entry that is not its member")
    return at + ENTRY.size + n + more


def _check_end(file: IO[bytes], count: int, table: int, at: int, length: int) -> None:
    """Hold the end against the table of contents; nothing comes behind it."""
    sizes = count, count, at - table, table
    if _peek(file, at) == b"PK\6\6":
        file.seek(at)
        _, _, _, _, disk, first_disk, *large = _taken(file, END_64)
        mark, start_disk, place, disks = _taken(file, LOCATOR)
        if (disk, first_disk, *large) != (0, 0, *sizes) or (mark, start_disk, place, disks) != (b"PK\6\7", 0, at, 1):
            raise ArchiveError("its large end")
        sizes = min(count, FULL_16), min(count, FULL_16), min(at - table, FULL_32), min(table, FULL_32)
        at += END_64.size + LOCATOR.size
    file.seek(at)
    if _taken(file, END) != (b"PK\5\6", 0, 0, *sizes, 0) or at + END.size != length:
        raise ArchiveError("its end")


def unpacked(file: IO[bytes], member: Member) -> bytes:
    """The bytes of a member: as many as it claims, with the checksum it claims."""
    file.seek(member.start)
    data = file.read(member.packed)
    if member.method != STORED:
        data, whole = _expanded(data, member.method, member.size)
        if not whole:
            raise ArchiveError("more or fewer bytes than claimed")
    if len(data) != member.size or zlib.crc32(data) != member.crc:
        raise ArchiveError("a size or a checksum")
    return data


def _expanded(data: bytes, method: int, size: int) -> tuple[bytes, bool]:
    """At most size + 1 bytes, and whether the compressed ones came to their end."""
    unpacker: Any
    if method == DEFLATED:
        unpacker = zlib.decompressobj(-zlib.MAX_WBITS)
    elif method == BZIP2:
        unpacker = bz2.BZ2Decompressor()
    elif method == LZMA:
        unpacker, data = _lzma(data), data[9:]
    else:
        raise ArchiveError("a method")
    found = bytes(unpacker.decompress(data, size + 1))
    if method == LZMA and not unpacker.eof and len(found) <= size:  # its end marker may be still to come
        found += bytes(unpacker.decompress(b"", 1))
    return found, bool(unpacker.eof) and not unpacker.unused_data


def _lzma(data: bytes) -> Any:
    """What unpacks a member whose first 9 bytes say how: version, length of properties, these."""
    _, count, first, dictionary = struct.unpack("<HHBI", data[:9])
    if count != 5 or first >= 225 or dictionary > LARGEST_DICTIONARY:
        raise ArchiveError("properties of LZMA")
    how = {"id": lzma.FILTER_LZMA1, "dict_size": dictionary, "lc": first % 9, "lp": first // 9 % 5, "pb": first // 45}
    return lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=[how])
