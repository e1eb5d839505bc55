import io
import sys

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from onkel.streams import csv, lines
from onkel.streams.block import StreamError, concatenate
from onkel.streams.csv import CsvFile
from tests.streams.common import complaint, contents

HEADER = "age,height,answer\n"


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / "data.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_the_delimiter_is_found(write, delimiter):
    path = write("1,2,0\n3,4,1\n".replace(",", delimiter))
    assert contents(CsvFile(path)) == ([[1, 2], [3, 4]], [0, 1])


def test_the_delimiter_can_be_given(write):
    assert contents(CsvFile(write("1|2|0\n"), delimiter="|")) == ([[1, 2]], [0])


def test_the_header_names_the_features(write):
    stream = CsvFile(write(HEADER + "31,1.75,1\n"))
    assert stream.feature_names == ("age", "height")
    assert contents(stream) == ([[31, 1.75]], [1])


def test_features_without_a_header_are_numbered(write):
    assert CsvFile(write("31,1.75,1\n")).feature_names == ("x1", "x2")


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("1,2,yes\n3,4,no\n", 2),  # text in the label column alone says nothing
        ("0,1,label\n3,4,1\n5,6,0\n", 2),  # numbered features, but only the first label is no number
        ("0,,y\n1,2,3\n", 1),
        ("a,b,c\n1,2,3\n", 1),
    ],
)
def test_a_header_is_told_from_a_row(write, text, rows):
    assert len(concatenate(CsvFile(write(text))).labels) == rows


def test_the_header_can_be_given(write):
    assert contents(CsvFile(write("1,2,3\n4,5,6\n"), header=True)) == ([[4, 5]], [6])
    assert complaint(CsvFile(write("a,2,3\n"), header=False)).endswith(
        "line 1: column 1 holds 'a', which is not a number."
    )


@pytest.mark.parametrize("label", [1, -2, "height", "1"])
def test_the_label_may_be_any_column(write, label):
    stream = CsvFile(write("age,height,weight\n31,1.75,70\n"), label=label)
    assert stream.feature_names == ("age", "weight")
    assert contents(stream) == ([[31, 70]], [1.75])


def test_a_named_label_means_that_there_is_a_header(write):
    assert contents(CsvFile(write("y,0,1\n1,2,3\n"), label="y")) == ([[2, 3]], [1])


def test_text_labels_stay_text_in_every_block(write):
    labels = [block.labels.tolist() for block in CsvFile(write("1,7\n2,x\n3,8\n"), block_rows=1)]
    assert labels == [["7"], ["x"], ["8"]]


def test_quotes_blanks_and_blank_lines_are_accepted(write):
    text = b'\xef\xbb\xbf\r\n"the ""age""", height ,answer\r\n 1 ,"2", yes \r\n\r\n3,4,"n,\no"'
    stream = CsvFile(write(text))
    assert stream.feature_names == ('the "age"', "height")
    assert contents(stream) == ([[1, 2], [3, 4]], ["yes", "n,\no"])


@pytest.mark.parametrize("block_rows", [1, 2, 5, 100])
def test_rows_do_not_depend_on_the_block_size(write, block_rows):
    random = np.random.default_rng(1)
    rows = random.standard_normal((23, 4))
    path = write("".join(",".join(map(repr, row)) + "\n" for row in rows.tolist()))
    blocks = list(CsvFile(path, block_rows=block_rows))
    assert np.array_equal(concatenate(blocks).rows, rows[:, :3])
    assert np.array_equal(concatenate(blocks).labels, rows[:, 3])
    assert all(len(block.labels) == block_rows for block in blocks[:-1])


def test_blocks_know_the_line_of_their_first_row(write):
    path = write(HEADER + '\n1,2,"a\nb"\n3,4,c\n\n5,6,d\n')
    assert [block.first_line for block in CsvFile(path, block_rows=1)] == [3, 5, 7]


def test_the_summary_counts_all_cells(write):
    stream = CsvFile(write(HEADER + "1,-2,no\n3,4,yes\n"))
    assert stream.summary() == (2, 2, ("no", "yes"), 4, True)
    assert stream.summary() is stream.summary()


BAD_ROWS = {
    "1,2": "2 cells where the first line has 3.",
    "1,2,3,4": "4 cells where the first line has 3.",
    "1,,3": "column 2 ('height') is empty.",
    "1,2, ": "column 3 ('answer') is empty.",
    "1,abc,3": "column 2 ('height') holds 'abc', which is not a number.",
    "1_0,2,3": "column 1 ('age') holds '1_0', which is not a number.",
    "1,2,abc": "column 3 ('answer') holds 'abc', which is not a number, as the labels before are.",
    "nan,2,3": "column 1 ('age') is nan; only finite numbers are accepted.",
    "1,-inf,3": "column 2 ('height') is -inf; only finite numbers are accepted.",
    "1,2,inf": "column 3 ('answer') is inf; only finite numbers are accepted.",
    '1,"2"x,3': "this is not proper CSV (',' expected after '\"').",
    '1,2,"3': "this is not proper CSV (unexpected end of data).",
}


@pytest.mark.parametrize("row", BAD_ROWS)
@pytest.mark.parametrize("block_rows", [1, 4096])
def test_a_bad_row_is_named_with_its_line_and_column(write, monkeypatch, row, block_rows):
    monkeypatch.setattr(csv, "HEAD_ROWS", 1)  # a label further down cannot make all labels text
    after = "" if row.endswith('"3') else "\nx,y,z,ragged"
    path = write(f"{HEADER}1,2,3\n\n{row}{after}")
    assert complaint(CsvFile(path, block_rows=block_rows)) == f"{path}, line 4: {BAD_ROWS[row]}"


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("1\n2\n", {}, ", line 1: there is only one column; a label and at least one feature are needed."),
        (HEADER, {}, ": there are no rows in it."),
        ("\n \n", {}, ": there are no rows in it."),
        (HEADER, {"label": "wage"}, ", line 1: there is no column 'wage' among 'age, height, answer'."),
        (HEADER, {"label": 3}, ", line 1: there is no column at position 3, only 3 columns."),
        ("\n" + HEADER, {"n_features": 5}, ", line 2: 2 features where 5 were asked for."),
        (HEADER.encode() + b"1,2,\xff\n", {}, ", line 2: the text is not UTF-8."),
    ],
)
def test_a_file_is_refused_in_one_sentence(write, text, options, message):
    path = write(text)
    assert complaint(CsvFile(path, **options)) == f"{path}{message}"


def test_an_endless_line_is_refused(write, monkeypatch):
    monkeypatch.setattr(lines, "LONGEST_LINE", 20)
    path = write(HEADER + "1" * 50)
    assert complaint(CsvFile(path)) == f"{path}, line 2: the line is longer than 20 bytes."


def test_blocks_without_rows_are_refused():
    with pytest.raises(StreamError, match=r"^A block must hold at least one row, not 0\.$"):
        CsvFile("data.csv", block_rows=0)


def test_standard_input_is_read_once_and_its_names_do_not_use_it_up(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO((HEADER + "1,2,3\n").encode())))
    stream = CsvFile("-")
    assert stream.feature_names == stream.feature_names == ("age", "height")
    assert contents(stream) == ([[1, 2]], [3])
    assert complaint(stream) == "standard input: it can be read only once."
    with pytest.raises(StreamError, match=r"^standard input: it can be read only once, so it has no summary\.$"):
        stream.summary()


NEARLY_CSV = st.lists(st.sampled_from([*b'0123456789.eE+-,,,;\t "\r\n\n\nab', 0, 255]), max_size=60).map(bytes)


@settings(max_examples=300, deadline=None)
@given(NEARLY_CSV | st.binary(max_size=60))
@example(b"0,\x00")
def test_any_bytes_give_finite_rows_or_one_sentence(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("any") / "data.csv"
    path.write_bytes(data)
    message = None
    try:
        blocks = list(CsvFile(path, block_rows=2))
    except StreamError as error:
        message = str(error)
    if message is None:
        assert all(np.isfinite(block.rows).all() for block in blocks)
    else:
        assert message.startswith(str(path))
        assert message.endswith(".")
        assert "\n" not in message


@pytest.mark.parametrize("delimiter", [None, ","])
def test_a_table_of_too_many_columns_is_refused_before_its_cells_are_looked_at(write, delimiter, monkeypatch):
    monkeypatch.setattr("onkel.streams.csv.records", lambda *_: pytest.fail("a row was split into cells"))
    path = write(",".join(["0.5"] * 40_000) + "\n")
    said = (
        "a table has at most 32,768 columns, this one 40,000; write such rows as LIBSVM text, which leaves out zeros."
    )
    assert complaint(CsvFile(path, delimiter=delimiter)) == f"{path}: {said}"
