import bz2
import gzip
import io
import lzma
import sys

import pytest

from onkel.streams.block import StreamError
from onkel.streams.opening import COMPRESSIONS, open_bytes, read_once

zstandard = pytest.importorskip("zstandard")

TEXT = b"".join(b"%d 1:%d 2:0.5\n" % (n % 3, n * n) for n in range(20_000))


def zstd_without_size(data):
    """As `cat data | zstd` writes it: the frame does not say how much it holds."""
    packer = zstandard.ZstdCompressor().compressobj()
    return packer.compress(data) + packer.flush()


PACK = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zst": zstd_without_size}


def read(path):
    with open_bytes(path) as file:
        return file.read()


@pytest.fixture
def write(tmp_path):
    def write(ending, data):
        path = tmp_path / f"data.libsvm{ending}"
        path.write_bytes(data)
        return path

    return write


def test_every_compression_is_tried():
    assert set(PACK) == set(COMPRESSIONS)


def test_a_plain_file_is_read_as_it_is(write):
    assert read(write("", TEXT)) == TEXT


@pytest.mark.parametrize("ending", COMPRESSIONS)
def test_a_compressed_file_is_decompressed(write, ending):
    assert read(write(ending, PACK[ending](TEXT))) == TEXT


@pytest.mark.parametrize("ending", COMPRESSIONS)
def test_compressed_files_may_be_joined(write, ending):
    half = len(TEXT) // 2
    assert read(write(ending, PACK[ending](TEXT[:half]) + PACK[ending](TEXT[half:]))) == TEXT


@pytest.mark.parametrize("ending", COMPRESSIONS)
@pytest.mark.parametrize("share", [0.3, 0.9, 1.0])
def test_a_cut_off_file_is_reported(write, ending, share):
    packed = PACK[ending](TEXT)
    path = write(ending, packed[: min(int(share * len(packed)), len(packed) - 1)])
    with pytest.raises(StreamError) as caught:
        read(path)
    assert str(caught.value) == f"{path}: the compressed file ends early."


@pytest.mark.parametrize("ending", COMPRESSIONS)
@pytest.mark.parametrize("place", [0, 0.5])
def test_a_damaged_file_is_reported(write, ending, place):
    packed = bytearray(PACK[ending](TEXT))
    start = int(place * len(packed))
    packed[start : start + 64] = bytes(64)
    path = write(ending, bytes(packed))
    with pytest.raises(StreamError, match=r"data\.libsvm.*: the compressed file (is damaged|ends early)"):
        read(path)


def test_a_missing_zstandard_is_explained(write, monkeypatch):
    path = write(".zst", PACK[".zst"](TEXT))
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(StreamError, match=r"data\.libsvm\.zst: reading it needs .*pip install zstandard"):
        open_bytes(path)


def test_a_missing_file_is_one_sentence(tmp_path):
    with pytest.raises(StreamError, match=r"nothing\.libsvm: there is no such file\.$"):
        open_bytes(tmp_path / "nothing.libsvm")


def test_a_folder_is_one_sentence(tmp_path):
    with pytest.raises(StreamError, match=r": this is a folder, not a file\.$"):
        open_bytes(tmp_path)


@pytest.mark.parametrize("ending", ["", *COMPRESSIONS])
def test_an_empty_file_is_one_sentence(write, ending):
    with pytest.raises(StreamError, match=r": the file is empty\.$"):
        open_bytes(write(ending, b""))
    if ending:
        with pytest.raises(StreamError, match=r": the file is empty\.$"):
            open_bytes(write(ending, PACK[ending](b"")))


def test_standard_input_is_left_open(monkeypatch):
    stdin = io.TextIOWrapper(io.BytesIO(TEXT))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert read("-") == TEXT
    assert not stdin.buffer.closed
    assert read_once("-")


def test_a_file_can_be_read_again(write):
    assert not read_once(write("", TEXT))
