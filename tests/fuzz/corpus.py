"""Inputs that reach what the seeds do not: one archive for each reader, in tests/fuzz/corpus/."""

import hashlib
import io
import tarfile
from pathlib import Path

FOLDER = Path(__file__).parent / "corpus"
LARGEST = 1 << 18  # bytes of an archive


def corpus(name: str) -> list[bytes]:
    """The inputs of a reader."""
    path = FOLDER / f"{name}.tar.xz"
    if not path.exists():
        return []
    with tarfile.open(path) as archive:
        return [file.read() for member in archive if (file := archive.extractfile(member)) is not None]


def write_corpus(name: str, inputs: list[bytes]) -> int:
    """Write the archive of a reader, the same bytes for the same inputs; returns how many there was room for."""
    found, kept = b"", list[bytes]()
    for data in sorted(inputs, key=lambda data: (len(data), data)):
        larger = packed([*kept, data]) if sum(map(len, kept)) > LARGEST else b""
        if len(larger) > LARGEST:
            break
        kept.append(data)
    found = packed(kept)
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{name}.tar.xz").write_bytes(found)
    return len(kept)


def packed(inputs: list[bytes]) -> bytes:
    """The archive of some inputs, which are called by their checksums."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:xz", format=tarfile.USTAR_FORMAT) as archive:
        for data in inputs:
            about = tarfile.TarInfo(hashlib.sha256(data).hexdigest()[:16])
            about.size = len(data)
            archive.addfile(about, io.BytesIO(data))
    return out.getvalue()
