import io
import sys

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from onkel.streams import lines
from onkel.streams.block import StreamError
from onkel.streams.libsvm import LibsvmFile
from tests.streams.common import complaint

BAD_LINES = {
    "1:0.5 2:1": "the label is missing.",
    "qid:3 2:1": "the label is missing.",
    "1 qid:3 2:1": "query ids such as 'qid:3' are not supported; remove them first.",
    "abc 1:1": "the label 'abc' is not a number.",
    "1,2 1:1": "the label '1,2' is not a number.",
    "1_0 1:1": "the label '1_0' is not a number.",
    "nan 1:1": "the label is nan; only finite numbers are accepted.",
    "-Infinity 1:1": "the label is -inf; only finite numbers are accepted.",
    "1e999 1:1": "the label is inf; only finite numbers are accepted.",
    "1 7:nan": "the value of feature 7 is nan; only finite numbers are accepted.",
    "1 7:-inf": "the value of feature 7 is -inf; only finite numbers are accepted.",
    "1 7:1e309": "the value of feature 7 is inf; only finite numbers are accepted.",
    "1 abc": "'abc' is not of the form index:value.",
    "1 2": "'2' is not of the form index:value.",
    "1 2:": "'2:' is not of the form index:value.",
    "1 2: 3": "'2:' is not of the form index:value.",
    "1 :3": "':3' is not of the form index:value.",
    "1 2:3:4": "'2:3:4' is not of the form index:value.",
    "1 2.5:1": "'2.5:1' is not of the form index:value.",
    "1 2:1_0": "'2:1_0' is not of the form index:value.",
    "1 2:1e": "'2:1e' is not of the form index:value.",
    "1 2:0x1": "'2:0x1' is not of the form index:value.",
    "1 2:.": "'2:.' is not of the form index:value.",
    "1 2:--1": "'2:--1' is not of the form index:value.",
    "1 2:" + "x" * 99: "'2:" + "x" * 35 + "...' is not of the form index:value.",
    "1 0:1": "feature index 0 is below 1.",
    "1 -4:1": "feature index -4 is below 1.",
    "1 2:1 2:1": "feature index 2 follows 2; indices must increase.",
    "1 3:1 2:1": "feature index 2 follows 3; indices must increase.",
    "1 2147483648:1": "feature index 2147483648 is beyond 2147483647, the largest possible.",
    "1 99999999999999999999:1": "feature index 99999999999999999999 is beyond 2147483647, the largest possible.",
}


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / "data.libsvm"
        path.write_text(text)
        return path

    return write


@pytest.mark.parametrize("line", BAD_LINES)
def test_a_bad_line_is_named_with_its_number(write, line):
    path = write(f"1 1:1\n\n# comment\n{line}\n1 1:1\n")
    assert complaint(LibsvmFile(path)) == f"{path}, line 4: {BAD_LINES[line]}"


def test_a_bad_line_is_found_whatever_the_size_of_blocks_and_chunks(write, monkeypatch):
    path = write("1 1:1\n" * 6 + "1 0:1\n")
    monkeypatch.setattr(lines, "CHUNK_BYTES", 5)
    for block_rows in (1, 2, 3, 100):
        assert complaint(LibsvmFile(path, block_rows=block_rows)) == f"{path}, line 7: feature index 0 is below 1."


def test_an_index_beyond_the_given_features_is_refused(write):
    path = write("1 3:1\n1 4:1\n")
    expected = f"{path}, line 2: feature index 4 is beyond the 3 features asked for."
    assert complaint(LibsvmFile(path, n_features=3)) == expected


def test_a_file_that_grew_new_features_is_refused(write):
    stream = LibsvmFile(write("1 3:1\n"))
    stream.summary()
    path = write("1 3:1\n1 4:1\n")
    expected = f"{path}, line 2: feature index 4 is beyond the 3 features that the file had before; it has changed."
    assert complaint(stream) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "1 3:1\n1 2:1\n1 4:1\n",
            "standard input, line 3: feature index 4 is beyond 3, the largest of the first block; "
            "give their number (--features).",
        ),
        ("1\n2\n", "standard input: no row has a feature, so their number must be given (--features)."),
        ("", "standard input: there are no rows in it."),
    ],
)
def test_standard_input_is_refused_in_one_sentence(monkeypatch, text, message):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert complaint(LibsvmFile("-", block_rows=2)) == message


def test_a_file_of_labels_alone_is_refused_unless_features_are_given(write):
    path = write("1\n2\n")
    assert complaint(LibsvmFile(path)) == f"{path}: no row has a feature, so their number must be given (--features)."
    (block,) = LibsvmFile(path, n_features=2)
    assert block.rows.tolist() == [[0, 0], [0, 0]]


def test_a_file_of_comments_alone_is_refused(write):
    path = write("# nothing\n\n")
    assert complaint(LibsvmFile(path)) == f"{path}: there are no rows in it."


def test_an_endless_line_is_refused(write, monkeypatch):
    path = write("1 1:1\n" + "1" * 500)
    monkeypatch.setattr(lines, "CHUNK_BYTES", 16)
    monkeypatch.setattr(lines, "LONGEST_LINE", 100)
    assert complaint(LibsvmFile(path)) == f"{path}, line 2: the line is longer than 100 bytes."


def test_senseless_sizes_are_refused():
    with pytest.raises(StreamError, match=r"^The number of features must be from 1 to 2147483647, not 0\.$"):
        LibsvmFile("data.libsvm", n_features=0)
    with pytest.raises(StreamError, match=r"^A block must hold at least one row, not 0\.$"):
        LibsvmFile("data.libsvm", block_rows=0)


NEARLY_LIBSVM = st.lists(st.sampled_from([*b"0123456789", *b".:eE+-# \t\r\n\n\n", 0, 12, 255]), max_size=60).map(bytes)


@settings(max_examples=400, deadline=None)
@given(NEARLY_LIBSVM | st.binary(max_size=60))
@example(b"1 1:1\x0c2:2")
@example(b"1 1:1\n\x0b\n")
@example(b"\xef\xbb\xbf\n1 1:1")
def test_any_bytes_give_finite_rows_or_one_sentence(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("any") / "data.libsvm"
    path.write_bytes(data)
    message = None
    try:
        blocks = list(LibsvmFile(path, block_rows=2, dense=False))
    except StreamError as error:
        message = str(error)
    if message is None:
        assert all(np.isfinite(block.rows.data).all() and np.isfinite(block.labels).all() for block in blocks)
    else:
        assert message.startswith(str(path))
        assert message.endswith(".")
        assert "\n" not in message


@pytest.mark.parametrize("chunk_bytes", [1, 8, 2**20])
@pytest.mark.parametrize("block_rows", [1, 2, 100])
def test_bad_lines_can_be_left_out(write, monkeypatch, chunk_bytes, block_rows):
    monkeypatch.setattr(lines, "CHUNK_BYTES", chunk_bytes)
    path = write("x 9:1\n1 1:1\n2 2:nan 8:1\n\n3 1:1e-320 2:2\n4 3:1 0:1\n5 2:2\n")
    stream = LibsvmFile(path, block_rows=block_rows, on_error="skip")
    for _ in range(2):
        blocks = list(stream)
        assert np.concatenate([block.labels for block in blocks]).tolist() == [1, 3, 5]
        assert np.vstack([block.rows for block in blocks]).tolist() == [[1, 0], [1e-320, 2], [0, 2]]
        assert (stream.faults.count, stream.faults.first) == (3, f"{path}, line 1: the label 'x' is not a number.")
    assert stream.summary() == (3, 2, (1.0, 3.0, 5.0), 4, False)


def test_a_file_of_bad_lines_alone_has_no_rows(write):
    path = write("x\ny\n")
    assert complaint(LibsvmFile(path, on_error="skip")) == f"{path}: there are no rows in it."
