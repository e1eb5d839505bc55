import gzip
import io
import os
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_svmlight_file

from onkel.streams import lines
from onkel.streams.block import StreamError, concatenate, dense
from onkel.streams.libsvm import LibsvmFile

TRICKY = [
    "0", "-0", "+0", "0.0", "00.500", ".5", "5.", "-.5", "-5.", "+1e+05", "1E-5", "1e5", "0e400", "-0e-400",
    "1e-320", "4.9e-324", "2.2250738585072011e-308", "1.7976931348623157e308", "1e22", "1e23", "1e-22", "1e-23",
    "123456789012345678901234567890", "9007199254740991", "9007199254740992", "9007199254740993", "9007199254740995",
    "1844674407370955161600000", "9999999999999999999", "99999999999999999999", "0.1000000000000000055511151231257827",
    "1e64", "1e65", "1e-64", "1e-65", "8.5e+0060", "0." + "0" * 50 + "1", "1" + "0" * 400 + "e-400",
]  # fmt: skip


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / "data.libsvm"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


@pytest.fixture
def standard_input(monkeypatch):
    def feed(text):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))

    return feed


def random_number(random):
    size = 10.0 ** random.integers(-30, 30)
    form = random.choice(["{:.17g}", "{:.16g}", "{:.6f}", "{:.3e}", "{:.18e}", "{!r}"])
    return form.format(float(random.standard_normal() * size))


def random_text(n_rows, n_features, seed=1):
    random = np.random.default_rng(seed)
    lines = []
    for _ in range(n_rows):
        indices = np.flatnonzero(random.random(n_features) < 0.3) + 1
        entries = (f"{index}:{random_number(random)}" for index in indices)
        lines.append(" ".join([random_number(random), *entries]))
    return "\n".join(lines) + "\n"


def bits(array):
    """Equal bits tell -0.0 from 0.0."""
    return np.ascontiguousarray(array).view(np.int64).tolist()


@pytest.mark.parametrize("as_array", [False, True])
def test_random_rows_are_read_as_scikit_learn_reads_them(write, as_array):
    path = write(random_text(300, 90))
    expected, labels = load_svmlight_file(str(path))
    block = concatenate(LibsvmFile(path, block_rows=64, dense=as_array))
    assert bits(dense(block.rows)) == bits(expected.toarray())
    assert bits(block.labels) == bits(labels)
    if not as_array:
        assert block.rows.indices.tolist() == expected.indices.tolist()
        assert block.rows.indptr.tolist() == expected.indptr.tolist()


@pytest.mark.parametrize("number", TRICKY)
def test_numbers_are_correctly_rounded(write, number):
    (block,) = LibsvmFile(write(f"{number} 1:{number} 2:{number}\n"), dense=False)
    assert bits(block.rows.data) == bits([float(number)] * 2)
    assert bits(block.labels) == bits([float(number)])


@settings(max_examples=200, deadline=None)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=50))
def test_what_repr_writes_is_read_back_to_the_bit(tmp_path_factory, numbers):
    path = tmp_path_factory.mktemp("repr") / "data.libsvm"
    path.write_text("".join(f"{number!r} 1:{number:.17g}\n" for number in numbers))
    block = concatenate(LibsvmFile(path, dense=False))
    assert bits(block.labels) == bits(numbers)
    assert bits(block.rows.data) == bits(numbers)


@pytest.mark.parametrize("chunk_bytes", [1, 2, 3, 7, 64])
@pytest.mark.parametrize("block_rows", [1, 3, 100])
def test_rows_do_not_depend_on_how_the_file_is_cut(write, monkeypatch, chunk_bytes, block_rows):
    path = write("\r\n# start\n" + random_text(20, 8) + "\n \t\n1 2:3 # last, without a line end")
    expected = concatenate(LibsvmFile(path))
    monkeypatch.setattr(lines, "CHUNK_BYTES", chunk_bytes)
    blocks = list(LibsvmFile(path, block_rows=block_rows))
    block = concatenate(blocks)
    assert bits(block.rows) == bits(expected.rows)
    assert bits(block.labels) == bits(expected.labels)
    assert all(len(part.labels) == block_rows for part in blocks[:-1])


def test_blanks_comments_and_line_ends_of_all_kinds_are_accepted(write):
    text = b"\xef\xbb\xbf1 1:1\r\n\n# a comment 1:2\n  -1\t2:2  \t 3:3 \r\n\r\n2# no blank before\n3 1:4#5\n4"
    block = concatenate(LibsvmFile(write(text)))
    assert block.labels.tolist() == [1, -1, 2, 3, 4]
    assert block.rows.tolist() == [[1, 0, 0], [0, 2, 3], [0, 0, 0], [4, 0, 0], [0, 0, 0]]


def test_blocks_know_the_line_of_their_first_row(write):
    path = write("# comment\n\n1 1:1\n2 1:1\n\n3 1:1e-320\n4 1:1\n# comment\n5 1:1\n")
    assert [block.first_line for block in LibsvmFile(path, block_rows=2)] == [3, 6, 9]
    assert [block.first_line for block in LibsvmFile(path, block_rows=1)] == [3, 4, 6, 7, 9]


def test_a_file_can_be_read_again(write):
    stream = LibsvmFile(write("1 1:1\n2 3:1\n"), block_rows=1)
    assert [block.labels.tolist() for block in stream] == [block.labels.tolist() for block in stream] == [[1], [2]]


def test_the_summary_counts_what_the_file_stores(write):
    summary = LibsvmFile(write("1 1:1 5:0\n-1 2:-2\n1\n"), block_rows=2).summary()
    assert summary == (3, 5, (-1.0, 1.0), 3, True)


def test_given_features_set_the_width(write):
    stream = LibsvmFile(write("1 1:1\n"), n_features=7)
    assert stream.summary().n_features == 7
    assert concatenate(stream).rows.shape == (1, 7)


@pytest.mark.parametrize(
    ("text", "n_features", "is_dense"),
    [
        ("1 64:1\n", None, True),
        ("1 65:1\n", None, False),
        ("1 " + " ".join(f"{index}:1" for index in range(1, 16)) + "\n", 100, False),
        ("1 " + " ".join(f"{index}:1" for index in range(1, 17)) + "\n", 100, True),
    ],
)
def test_few_features_or_well_filled_rows_come_as_arrays(write, text, n_features, is_dense):
    (block,) = LibsvmFile(write(text), n_features=n_features)
    assert isinstance(block.rows, np.ndarray) == is_dense


def test_the_first_block_decides_about_arrays(write):
    well_filled = " ".join(f"{index}:1" for index in range(1, 101))
    path = write(f"1 100:1\n1 {well_filled}\n")
    assert [isinstance(block.rows, np.ndarray) for block in LibsvmFile(path, block_rows=1)] == [False, False]


def test_matrices_have_the_types_that_compiled_code_expects(write):
    rows = concatenate(LibsvmFile(write("1 1:1\n2 2:1\n"), dense=False)).rows
    assert (rows.data.dtype, rows.indices.dtype, rows.indptr.dtype) == (np.float64, np.int32, np.int64)


def test_standard_input_is_as_wide_as_its_first_block(standard_input):
    standard_input("1 1:1 3:1\n2 2:1\n3 1:1\n")
    assert [block.rows.shape for block in LibsvmFile("-", block_rows=2)] == [(2, 3), (1, 3)]


def test_standard_input_can_be_read_only_once(standard_input):
    standard_input("1 1:1\n")
    stream = LibsvmFile("-")
    assert len(list(stream)) == 1
    with pytest.raises(StreamError, match=r"^standard input: it can be read only once\.$"):
        list(stream)
    with pytest.raises(StreamError, match=r"^standard input: it can be read only once, so it has no summary\.$"):
        stream.summary()


def test_rows_from_a_pipe_do_not_wait_for_more(monkeypatch):
    reading, writing = os.pipe()
    with os.fdopen(reading) as stdin, os.fdopen(writing, "wb", buffering=0) as pipe:
        monkeypatch.setattr(sys, "stdin", stdin)
        blocks = iter(LibsvmFile("-", n_features=2, block_rows=2))
        for _ in range(3):
            pipe.write(b"1 1:1\n2 2:1\n3")
            assert next(blocks).labels.tolist() == [1, 2]
            pipe.write(b" 1:1\n4 1:1\n")
            assert next(blocks).labels.tolist() == [3, 4]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_named_pipe_is_read_only_once(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with subprocess.Popen([sys.executable, "-c", f"open({str(path)!r}, 'w').write('1 2:1\\n')"]):
        assert concatenate(LibsvmFile(path)).rows.tolist() == [[0, 1]]


def test_plain_python_reads_the_same(write):
    path = write("1 1:0.5 2:9007199254740993e-3 # wide\n-1 2:1e-320\n")
    code = f"from onkel.streams import LibsvmFile; print([b.rows.tolist() for b in LibsvmFile({str(path)!r})])"
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.strip() == str([block.rows.tolist() for block in LibsvmFile(path)])


def memory_of_reading(path, most=10**9):
    """Bytes that Python and NumPy take at most while blocks are read and dropped."""
    tracemalloc.start()
    rows = 0
    for block in LibsvmFile(path, n_features=30, block_rows=500):
        rows += len(block.labels)
        if rows >= most:
            break
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return rows, peak


@pytest.mark.parametrize("kind", ["plain", "gz"])
def test_a_long_file_takes_no_more_memory_than_its_first_rows(write, kind):
    path = write(random_text(500, 30) * 48)
    if kind == "gz":
        path = path.with_suffix(".libsvm.gz")
        path.write_bytes(gzip.compress((path.parent / "data.libsvm").read_bytes(), 1))
    list(LibsvmFile(path, n_features=30, block_rows=500))  # what is compiled and imported at the first use
    (some, first), (all_rows, whole) = memory_of_reading(path, 8_000), memory_of_reading(path)
    assert (some, all_rows) == (8_000, 24_000)
    assert whole < 1.1 * first
