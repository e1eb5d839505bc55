"""Which columns of a CSV file are read and as what; with pyarrow and without, the same."""

import bz2
import gzip
import io
import lzma
import sys

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from onkel.streams import arrow, lines
from onkel.streams.block import StreamError, concatenate, dense
from onkel.streams.csv import CsvFile
from onkel.streams.imputation import Means
from tests.streams.common import complaint, contents

PEOPLE = "id,age,city,height,answer\n7,31,Rome,1.75,yes\n8,42,Oslo,1.62,no\n9,53,Rome,1.8,no\n"


@pytest.fixture(params=["pyarrow", "python"], autouse=True)
def parser(request, monkeypatch):
    if request.param == "python":
        monkeypatch.setattr(arrow, "has_pyarrow", lambda: False)
    return request.param


@pytest.fixture
def write(tmp_path):
    def write(text, name="data.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


@pytest.mark.parametrize(
    "chosen",
    [{"columns": ["age", "height"]}, {"columns": [1, -2]}, {"drop": ["id", "city"]}, {"drop": [0, "2"]}],
)
def test_columns_are_chosen_or_dropped_by_name_or_position(write, chosen):
    stream = CsvFile(write(PEOPLE), **chosen)
    assert stream.feature_names == ("age", "height")
    assert contents(stream) == ([[31, 1.75], [42, 1.62], [53, 1.8]], ["yes", "no", "no"])


def test_features_come_in_the_order_asked_for(write):
    assert contents(CsvFile(write(PEOPLE), columns=["height", "age"]))[0][0] == [1.75, 31]


def test_columns_that_are_not_asked_for_may_hold_anything(write):
    text = PEOPLE.replace("Rome", '"Ro""me, it"').replace("7,", "seven,")
    assert contents(CsvFile(write(text), columns=["age"]))[0] == [[31], [42], [53]]


def test_a_one_hot_column_has_a_feature_for_each_value_of_the_file(write):
    stream = CsvFile(write(PEOPLE), columns=["city", "age"], categorical={"city": "onehot"}, block_rows=1)
    assert stream.feature_names == ("age", "city=Oslo", "city=Rome")
    assert stream.values == {"city": ("Oslo", "Rome")}
    assert contents(stream)[0] == [[31, 0, 1], [42, 1, 0], [53, 0, 1]]
    assert stream.summary().n_features == 3


def test_a_one_hot_column_without_values_has_no_features(write):
    options = {"missing": "zero", "categorical": {"b": "onehot"}}
    assert contents(CsvFile(write("a,b,y\n1,NA,0\n"), **options)) == ([[1]], [0])
    path = write("b,y\nNA,0\n")
    assert complaint(CsvFile(path, **options)) == f"{path}: no column holds a value."


def test_values_that_were_not_given_are_zeros(write):
    stream = CsvFile(write(PEOPLE), columns=["city"], categorical={"city": ["Paris", "Oslo"]})
    assert contents(stream)[0] == [[0, 0], [0, 1], [0, 0]]


def test_hashed_columns_share_a_stated_number_of_features(write):
    stream = CsvFile(write(PEOPLE), drop=["id"], categorical=["city"], hash_columns=5)
    assert len(stream.feature_names) == 7
    rows = np.array(contents(stream)[0])
    assert rows[:, :2].tolist() == [[31, 1.75], [42, 1.62], [53, 1.8]]
    assert rows[:, 2:].sum(axis=1).tolist() == [1, 1, 1]
    assert rows[0, 2:].tolist() == rows[2, 2:].tolist() != rows[1, 2:].tolist()


def test_a_value_hashes_to_the_same_feature_everywhere(write):
    # blake2b("city=Rome") % 1024, by hashlib in another process: the place must never change
    stream = CsvFile(write(PEOPLE), columns=["city"], categorical=["city"], hash_columns=1024)
    assert np.flatnonzero(contents(stream)[0][0]).tolist() == [727]


def test_many_features_come_as_csr_rows_with_the_same_cells(write):
    options = {"drop": ["id"], "categorical": ["city"]}
    (wide,) = CsvFile(write(PEOPLE), hash_columns=1000, **options)
    assert not isinstance(wide.rows, np.ndarray)
    assert (wide.rows.indices.dtype, wide.rows.indptr.dtype) == (np.int32, np.int64)
    assert wide.rows.has_sorted_indices
    assert wide.rows.toarray()[:, :2].tolist() == [[31, 1.75], [42, 1.62], [53, 1.8]]
    assert wide.rows.toarray()[:, 2:].sum(axis=1).tolist() == [1, 1, 1]


def test_two_hashed_values_that_meet_add_up(write):
    for hash_columns in (1, 100):
        path = write("a,b,y\np,q,1\n")
        stream = CsvFile(path, categorical=["a", "b"], hash_columns=hash_columns)
        assert np.sum(contents(stream)[0]) == 2


def test_categories_do_not_need_a_header(write):
    stream = CsvFile(write("red,1,0\nblue,2,1\n"), categorical={0: "onehot"})
    assert stream.feature_names == ("x2", "x1=blue", "x1=red")
    assert contents(stream) == ([[1, 0, 1], [2, 1, 0]], [0, 1])


HOLES = "a,b,y\n,1,0\n2,,1\nNA,3,0\n4,?,1\n,null,0\n"


def test_missing_values_can_be_zeros(write):
    expected = [[0, 1], [2, 0], [0, 3], [4, 0], [0, 0]]
    assert contents(CsvFile(write(HOLES), missing="zero"))[0] == expected


@pytest.mark.parametrize("block_rows", [1, 2, 100])
def test_missing_values_can_be_the_mean_of_the_rows_before(write, block_rows):
    expected = [[0, 1], [2, 1], [2, 3], [4, 2], [3, 2]]
    assert contents(CsvFile(write(HOLES), missing="mean", block_rows=block_rows))[0] == expected


@pytest.mark.parametrize("categorical", [{}, {"c": ["u", "v"]}, ["c"]])
def test_missing_values_that_are_left_open_can_be_filled_later(write, categorical):
    text = "a,b,c,y\n,1,u,0\n2,,v,1\nNA,0,u,0\n4,?,,1\n"
    more = {"block_rows": 3, "categorical": categorical} | ({} if categorical else {"drop": ["c"]})
    expected = concatenate(CsvFile(write(text), missing="mean", **more)).rows
    stream = CsvFile(write(text), missing="nan", **more)
    means, frozen = stream.means(), stream.means()
    filled = [means.follow(block.rows) for block in stream]
    frozen.follow(dense(concatenate(stream).rows)[:1])
    assert np.array_equal(np.vstack([dense(rows) for rows in filled]), dense(expected))
    assert np.isnan(dense(concatenate(stream).rows)).sum() == 4
    last = next(iter(CsvFile(write("a,b,c,y\n,,v,1\n7,,v,1\n"), missing="nan", **more))).rows
    assert dense(frozen.fill(last))[:, :2].tolist() == [[0, 1], [7, 1]]
    assert dense(Means.of(means.state()).fill(last))[:, :2].tolist() == [[3, 0.5], [7, 0.5]]


def test_means_never_look_ahead(write):
    before = contents(CsvFile(write("a,y\n5,1\n,1\n,1\n"), missing="mean"))[0]
    after = contents(CsvFile(write("a,y\n5,1\n,1\n,1\n900,1\n,1\n"), missing="mean"))[0]
    assert after[:3] == before
    assert after[3:] == [[900], [452.5]]


def test_means_stay_finite_where_their_sums_do_not(write):
    path = write("a,y\n" + "1e308,1\n" * 2 + ",1\n" + "-1e308,1\n" * 5 + ",1\n")
    assert np.isfinite(contents(CsvFile(path, missing="mean"))[0]).all()


def test_every_pass_starts_its_means_anew(write):
    stream = CsvFile(write("a,y\n,1\n4,0\n,1\n"), missing="mean")
    stream.summary()
    assert contents(stream) == contents(stream) == ([[0], [4], [4]], [1, 0, 1])


def test_a_missing_category_is_zeros(write):
    stream = CsvFile(write("a,y\nNA,1\nx,1\n ,1\n"), categorical={"a": "onehot"}, missing="zero")
    assert contents(stream)[0] == [[0], [1], [0]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": ["wage"]}, ", line 1: there is no column 'wage' among 'id, age, city, height, answer'."),
        ({"drop": [9]}, ", line 1: there is no column at position 9, only 5 columns."),
        ({"columns": ["answer"]}, ", line 1: column 'answer' is the label and cannot be a feature."),
        ({"columns": ["age", 1]}, ", line 1: a column is chosen twice."),
        ({"columns": []}, ", line 1: no column is left for the features."),
        (
            {"columns": ["age"], "categorical": ["city"]},
            ", line 1: column 'city' is categorical, but not one of the features.",
        ),
        ({"drop": ["id"]}, ", line 2: column 3 ('city') holds 'Rome', which is not a number."),
        ({"categorical": ["city"], "n_features": 3}, ", line 1: 5 features where 3 were asked for."),
    ],
)
def test_columns_that_do_not_fit_are_refused_in_one_sentence(write, options, message):
    path = write(PEOPLE)
    assert complaint(CsvFile(path, **options)) == f"{path}{message}"


@pytest.mark.parametrize(
    ("text", "missing", "message"),
    [
        ("a,c,y\n1,u,0\n,u,0\n", "error", ", line 3: column 1 ('a') is empty."),
        ("a,c,y\n1,u,0\n1,NA,0\n", "error", ", line 3: column 2 ('c') holds 'NA', a missing value."),
        ("a,c,y\n1,u,0\n1,u,\n", "mean", ", line 3: column 3 ('y') is empty."),
        ("a,c,y\n1,u,0\n1,u,nan\n", "zero", ", line 3: column 3 ('y') is nan; only finite numbers are accepted."),
        ("a,c,y\n1,u,0\ninf,u,1\n", "mean", ", line 3: column 1 ('a') is inf; only finite numbers are accepted."),
    ],
)
def test_missing_values_that_are_not_allowed_are_named(write, text, missing, message):
    path = write(text)
    assert complaint(CsvFile(path, categorical=["c"], missing=missing)).startswith(f"{path}{message[:-1]}")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"missing": "median"}, "Missing values are an error, zero, the mean or nan, not 'median'."),
        ({"columns": [0], "drop": [1]}, "Columns are either chosen or dropped, not both."),
        ({"hash_columns": 0}, "Hashed values need at least one column, not 0."),
        ({"hash_columns": 10**12}, "Hashed values share at most 1,048,576 columns, not 1,000,000,000,000."),
        (
            {"categorical": {"a": "ordinal"}},
            "Column 'a' is categorical by hash, onehot or a list of values, not 'ordinal'.",
        ),
        ({"on_error": "panic"}, "What to do on an error is stop or skip, not 'panic'."),
    ],
)
def test_senseless_choices_are_refused_before_anything_is_read(options, message):
    with pytest.raises(StreamError) as caught:
        CsvFile("data.csv", **options)
    assert str(caught.value) == message


def test_standard_input_needs_the_values_of_one_hot_columns(monkeypatch):
    def stdin():
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(PEOPLE.encode())))

    stdin()
    stream = CsvFile("-", drop=["id"], categorical={"city": "onehot"})
    assert complaint(stream) == (
        "standard input: it can be read only once, so the values of one-hot columns must be given."
    )
    stdin()
    stream = CsvFile("-", columns=["city"], categorical={"city": ["Oslo", "Rome"]}, block_rows=2)
    assert contents(stream)[0] == [[0, 1], [1, 0], [0, 1]]


@pytest.mark.parametrize(("ending", "pack"), [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)])
def test_compressed_files_hold_the_same_rows(write, ending, pack):
    options = {"drop": ["id"], "categorical": {"city": "onehot"}}
    packed = CsvFile(write(pack(PEOPLE.encode()), f"data.csv.{ending}"), **options)
    assert contents(packed) == contents(CsvFile(write(PEOPLE), **options))


BAD = 'a,b,y\n1,2,0\nx,2,0\n3,4\n5,6,1\n"7,8,0\n9,1,1\n,1,0\n2,2,\n3,3,0\n'


@pytest.mark.parametrize("chunk_bytes", [1, 7, 2**20])
def test_bad_lines_can_be_left_out(write, monkeypatch, chunk_bytes):
    monkeypatch.setattr(lines, "CHUNK_BYTES", chunk_bytes)
    path = write(BAD)
    stream = CsvFile(path, on_error="skip", block_rows=2)
    for _ in range(2):
        assert contents(stream) == ([[1, 2], [5, 6], [9, 1], [3, 3]], [0, 1, 1, 0])
        assert stream.faults.count == 5
        assert stream.faults.first == f"{path}, line 3: column 1 ('a') holds 'x', which is not a number."
    assert stream.summary().rows == 4
    assert complaint(CsvFile(path)) == stream.faults.first


def test_values_of_lines_that_are_left_out_get_no_feature(write):
    stream = CsvFile(write("a,c,y\n1,u,0\nx,v,0\n"), categorical={"c": "onehot"}, on_error="skip")
    assert stream.feature_names == ("a", "c=u")


CELLS = st.sampled_from(
    [
        *["1", "2.5", "-3e5", " 4 ", "+5", "", "NA", "nan", "inf", "x", "é", "\r", "1_0", "1e999", "\0"],
        *['"6"', '"7', '"a ""b"""', '"a\nb"', ' "8"', '9"', '"b"c', '""'],
    ]
)
ENDS = st.sampled_from(["\n", "\n", "\n", "\r\n", "\n\n", "\r", "\n \n"])
TABLES = st.lists(st.tuples(st.lists(CELLS, min_size=2, max_size=4), ENDS), max_size=8).map(
    lambda table: "".join(",".join(cells) + end for cells, end in table)
)


def outcome(path, **options):
    stream = CsvFile(path, **options)
    try:
        blocks = list(stream)
    except StreamError as error:
        return str(error)
    block = concatenate(blocks)
    firsts = [block.first_line for block in blocks]
    return block.rows.tolist(), block.labels.tolist(), firsts, stream.faults.count, stream.faults.first


@settings(max_examples=300, deadline=None)
@example(table='1,1,1\n1,1,"a\nb"\n', kept={}, missing="error", on_error="stop", chunk_bytes=1)
@given(
    table=TABLES,
    kept=st.sampled_from([{}, {"categorical": [0]}, {"categorical": [1], "drop": [0]}]),
    missing=st.sampled_from(["error", "zero", "mean"]),
    on_error=st.sampled_from(["stop", "skip"]),
    chunk_bytes=st.sampled_from([1, 5, 2**20]),
)
def test_with_and_without_pyarrow_rows_lines_and_messages_are_the_same(
    tmp_path_factory, table, kept, missing, on_error, chunk_bytes
):
    path = tmp_path_factory.mktemp("any") / "data.csv"
    path.write_text("1,2,3\n" + table, newline="")
    options = {"missing": missing, "on_error": on_error, "block_rows": 2, "hash_columns": 4, **kept}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrow, "has_pyarrow", lambda: False)
        expected = outcome(path, **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "CHUNK_BYTES", chunk_bytes)
        assert outcome(path, **options) == expected
