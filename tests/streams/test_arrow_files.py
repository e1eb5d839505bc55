import subprocess
import sys
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onkel.streams import StreamError, arrow_files, concatenate
from onkel.streams.arrow_files import ArrowFile
from onkel.streams.csv import CsvFile
from tests.streams.common import complaint, contents

pa = pytest.importorskip("pyarrow")
csv = pytest.importorskip("pyarrow.csv")
parquet = pytest.importorskip("pyarrow.parquet")

PEOPLE = {
    "id": [7, 8, 9],
    "age": [31.0, None, 53.0],
    "city": ["Rome", "Oslo", None],
    "old": [False, None, True],
    "answer": ["yes", "no", "no"],
}
ALL = {"categorical": {"city": "onehot"}, "missing": "zero"}


def write_parquet(table, path):
    parquet.write_table(table, path, row_group_size=2)


def write_arrow(table, path):
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=2)


def write_arrow_stream(table, path):
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=2)


FORMATS = {
    "data.parquet": write_parquet,
    "data.pq": write_parquet,
    "data.arrow": write_arrow,
    "data.feather": write_arrow,
    "data.ipc": write_arrow_stream,
}


@pytest.fixture(params=FORMATS)
def write(request, tmp_path):
    def write(columns, name=request.param):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        FORMATS[request.param](columns if isinstance(columns, pa.Table) else pa.table(columns), path)
        return path

    return write


@pytest.mark.parametrize("block_rows", [1, 2, 100])
def test_numbers_truths_text_and_nulls_are_read(write, block_rows):
    stream = ArrowFile(write(PEOPLE), block_rows=block_rows, **ALL)
    assert stream.feature_names == ("id", "age", "old", "city=Oslo", "city=Rome")
    assert contents(stream) == (
        [[7, 31, 0, 0, 1], [8, 0, 0, 1, 0], [9, 53, 1, 0, 0]],
        ["yes", "no", "no"],
    )
    assert [len(block.labels) for block in stream] == [min(block_rows, 3 - n) for n in range(0, 3, block_rows)]
    assert stream.summary() == (3, 5, ("no", "yes"), 15, False)


def test_every_kind_of_number_is_read(write):
    kinds = [pa.int8(), pa.uint64(), pa.float16(), pa.float32(), pa.decimal128(5, 2), pa.bool_()]
    values = [[1], [1], np.array([1], np.float16), [1], [Decimal(1)], [True]]
    columns = {str(kind): pa.array(value, kind) for kind, value in zip(kinds, values, strict=True)}
    stream = ArrowFile(write({**columns, "y": [0]}))
    assert contents(stream) == ([[1] * len(kinds)], [0])


def test_coded_and_long_text_are_text(write):
    coded = pa.array(["a", "b", "a"]).dictionary_encode()
    table = {"c": coded, "d": pa.array(["u", "u", "v"], pa.large_string()), "y": coded}
    stream = ArrowFile(write(table), categorical={"c": "onehot", "d": ["v"]})
    assert contents(stream) == ([[1, 0, 0], [0, 1, 0], [1, 0, 1]], ["a", "b", "a"])


def test_whole_numbers_can_be_categories(write):
    stream = ArrowFile(write({"c": [10, 2, 10], "y": [0, 1, 0]}), categorical={"c": "onehot"})
    assert stream.feature_names == ("c=10", "c=2")
    assert contents(stream)[0] == [[1, 0], [0, 1], [1, 0]]


def test_nan_counts_as_missing(write):
    path = write({"a": [1.0, np.nan, 3.0, None], "y": [0, 1, 0, 1]})
    assert contents(ArrowFile(path, missing="mean"))[0] == [[1], [1], [3], [2]]
    assert complaint(ArrowFile(path)) == f"{path}, row 2: column 'a' is empty."


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ({"a": [1.0, np.inf], "y": [0, 1]}, {}, ", row 2: column 'a' is inf; only finite numbers are accepted."),
        ({"a": [1.0, 2.0], "y": [0, None]}, {"missing": "mean"}, ", row 2: column 'y' is empty."),
        ({"a": ["u", None], "y": [0, 1]}, {"categorical": ["a"]}, ", row 2: column 'a' is empty."),
        ({"a": [1, 2], "y": ["u", " "]}, {}, ", row 2: column 'y' is empty."),
        ({"a": ["u"], "y": [0]}, {}, ": column 'a' holds text; drop it, or make it categorical."),
        ({"a": [[1]], "y": [0]}, {}, ": column 'a' is of type list<item: int64>, neither numbers nor text."),
        ({"a": [1], "y": [0]}, {"label": "z"}, ": there is no column 'z' among 'a, y'."),
        ({"a": [1], "y": [0]}, {"n_features": 3}, ": 1 features where 3 were asked for."),
        ({"a": pa.array([], pa.int8()), "y": pa.array([], pa.int8())}, {}, ": there are no rows in it."),
    ],
)
def test_bad_tables_are_refused_in_one_sentence(write, columns, options, message):
    path = write(columns)
    for block_rows in (1, 100):
        stream = ArrowFile(path, block_rows=block_rows, **options)
        assert complaint(stream).replace("element", "item") == f"{path}{message}"


def test_bad_rows_can_be_left_out(write):
    path = write({"a": [np.inf, 1.0, 2.0, None], "y": [0, 1, 2, 3]})
    stream = ArrowFile(path, on_error="skip", block_rows=2)
    assert contents(stream) == ([[1], [2]], [1, 2])
    assert (stream.faults.count, stream.summary().rows) == (2, 2)
    assert stream.faults.first == f"{path}, row 1: column 'a' is inf; only finite numbers are accepted."


def test_a_file_of_another_kind_is_one_sentence(tmp_path):
    for name, kind in (("data.parquet", "Parquet"), ("data.arrow", "Arrow")):
        path = tmp_path / name
        path.write_text("1,2,3\n")
        assert complaint(ArrowFile(path)).startswith(f"{path}: this is no {kind} file that can be read (")
        assert complaint(ArrowFile(path)).endswith(").")


def test_a_cut_off_file_is_one_sentence(write):
    path = write({"a": np.arange(10000.0), "y": np.arange(10000)})
    path.write_bytes(path.read_bytes()[:-5000])
    assert complaint(ArrowFile(path)).startswith(f"{path}: ")


def test_a_missing_file_is_one_sentence(tmp_path):
    assert complaint(ArrowFile(tmp_path / "a.parquet")) == f"{tmp_path / 'a.parquet'}: there is no such file."


def folder(tmp_path, tables):
    for name, columns in tables.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        (write_parquet if name.endswith("parquet") else write_arrow)(pa.table(columns), path)
    return tmp_path


def test_all_files_of_a_folder_are_one_stream_in_the_order_of_their_names(tmp_path):
    tables = {
        "b.parquet": {"y": [3], "c": ["v"]},  # columns in another order
        "a/z.arrow": {"c": ["u", "w"], "y": [1, 2]},
        "c.parquet": {"c": ["u"], "y": [4], "more": [1]},
        "_hidden/d.parquet": {"c": ["hidden"], "y": [5]},
        ".e.parquet": {"c": ["hidden"], "y": [5]},
    }
    source = folder(tmp_path, tables)
    (source / "notes.txt").write_text("not a table")
    stream = ArrowFile(source, label="y", categorical={"c": "onehot"}, block_rows=3)
    assert stream.feature_names == ("c=u", "c=v", "c=w")
    assert contents(stream) == ([[1, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0]], [1, 2, 3, 4])
    assert [len(block.labels) for block in stream] == [3, 1]


def test_files_of_a_folder_must_have_the_columns_of_the_first(tmp_path):
    source = folder(tmp_path, {"a.parquet": {"x": [1], "y": [1]}, "b.parquet": {"z": [1], "y": [1]}})
    expected = f"{source / 'b.parquet'}: there is no column 'x', which the first file has."
    assert complaint(ArrowFile(source)) == expected
    source = folder(tmp_path, {"b.parquet": {"x": [1], "y": ["u"]}})
    expected = f"{source / 'b.parquet'}: its labels are string, those of the first file are not."
    assert complaint(ArrowFile(source)) == expected


def test_a_folder_without_tables_is_one_sentence(tmp_path):
    assert complaint(ArrowFile(tmp_path)) == f"{tmp_path}: there is no Parquet or Arrow file in this folder."


def test_the_format_can_be_given(tmp_path):
    write_arrow(pa.table({"a": [1], "y": [2]}), tmp_path / "data")
    assert contents(ArrowFile(tmp_path / "data", format="arrow")) == ([[1]], [2])


def test_a_missing_pyarrow_is_one_sentence(tmp_path, monkeypatch):
    path = tmp_path / "data.parquet"
    write_parquet(pa.table({"a": [1], "y": [2]}), path)
    monkeypatch.setattr(arrow_files, "has_pyarrow", lambda: False)
    assert complaint(ArrowFile(path)) == f"{path}: reading it needs another package (pip install pyarrow)."


NUMBERS = st.none() | st.floats(allow_nan=False, allow_infinity=False)
WORDS = st.none() | st.sampled_from(["u", "v w", "é", 'q"q', "a,b", "1"])
ROWS = st.lists(st.tuples(NUMBERS, WORDS, NUMBERS, st.integers(-3, 3)), min_size=1, max_size=20)


@settings(max_examples=100, deadline=None)
@given(
    rows=ROWS,
    how=st.sampled_from(["hash", "onehot", ("u", "1")]),
    missing=st.sampled_from(["zero", "mean"]),
    sizes=st.tuples(st.integers(1, 7), st.integers(1, 7)),
)
def test_a_table_gives_the_same_rows_as_csv_and_as_parquet(tmp_path_factory, rows, how, missing, sizes):
    path = tmp_path_factory.mktemp("table")
    kinds = [pa.float64(), pa.string(), pa.float64(), pa.int64()]
    columns = [pa.array(column, kind) for column, kind in zip(zip(*rows, strict=True), kinds, strict=True)]
    table = pa.table(columns, names=["a", "c", "b", "y"])
    csv.write_csv(table, path / "data.csv")
    write_parquet(table, path / "data.parquet")
    options = {"categorical": {"c": how}, "missing": missing, "hash_columns": 3}
    left = concatenate(CsvFile(path / "data.csv", block_rows=sizes[0], **options))
    right = concatenate(ArrowFile(path / "data.parquet", block_rows=sizes[1], **options))
    assert left.rows.tobytes() == right.rows.tobytes()
    assert left.labels.tolist() == right.labels.tolist()


def test_pyarrow_is_imported_only_where_it_is_used(tmp_path):
    path = tmp_path / "data.libsvm"
    path.write_text("1 1:1\n")
    code = f"import sys, onkel.streams as s; list(s.open_stream({str(path)!r})); print('pyarrow' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


def peak_memory(path, rows):
    """Most that Arrow held while it read a file of one row group, in another process."""
    numbers = np.random.default_rng(1).standard_normal((rows, 4))
    columns = {f"x{j}": numbers[:, j] for j in range(4)}
    parquet.write_table(pa.table(columns | {"y": np.zeros(rows)}), path, row_group_size=rows)
    code = (
        "import pyarrow, onkel.streams as s\n"
        f"rows = sum(len(block.labels) for block in s.ArrowFile({str(path)!r}))\n"
        "print(rows, pyarrow.default_memory_pool().max_memory())"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    read, peak = map(int, run.stdout.split())
    assert read == rows
    return peak


def test_memory_does_not_grow_with_the_row_groups_of_a_file(tmp_path):
    path = tmp_path / "data.parquet"
    assert peak_memory(path, 800_000) < 1.1 * peak_memory(path, 400_000)


FOLDERS = {
    "year=2023/month=12/city=S%C3%A3o%20Paulo/1.parquet": {"a": [1.0, 2.0], "y": [0, 1]},
    "year=2024/month=01/city=Oslo/1.parquet": {"a": [3.0], "y": [0]},
    "year=2024/month=02/city=Oslo/2.arrow": {"a": [4.0, 5.0], "y": [1, 0]},
}


@pytest.fixture
def partitioned(tmp_path):
    """A folder of folders whose names say something of the rows."""
    for name, columns in FOLDERS.items():
        path = tmp_path / "rows" / name
        path.parent.mkdir(parents=True)
        (write_parquet if path.suffix == ".parquet" else write_arrow)(pa.table(columns), path)
    return tmp_path / "rows"


@pytest.mark.parametrize("block_rows", [1, 100])
def test_names_of_folders_are_columns_before_those_of_the_files(partitioned, block_rows):
    stream = ArrowFile(partitioned, categorical={"city": "onehot"}, block_rows=block_rows)
    assert stream.feature_names == ("year", "month", "a", "city=Oslo", "city=São Paulo")
    rows = [[2023, 12, 1, 0, 1], [2023, 12, 2, 0, 1], [2024, 1, 3, 1, 0], [2024, 2, 4, 1, 0], [2024, 2, 5, 1, 0]]
    assert contents(stream) == (rows, [0, 1, 0, 1, 0])


def test_names_of_folders_are_chosen_like_other_columns(partitioned):
    assert contents(ArrowFile(partitioned, columns=["month", "a"]))[0] == [[12, 1], [12, 2], [1, 3], [2, 4], [2, 5]]
    assert contents(ArrowFile(partitioned, label="month", drop=["city", "y"]))[1] == [12, 12, 1, 2, 2]
    assert contents(ArrowFile(partitioned, label="city", columns=["year"]))[1] == ["São Paulo"] * 2 + ["Oslo"] * 3
    stream = ArrowFile(partitioned, columns=["month", "a"], categorical={"month": "onehot"})
    assert stream.feature_names == ("a", "month=1", "month=12", "month=2")
    first = next(iter(sorted(partitioned.rglob("*.parquet"))))
    assert complaint(ArrowFile(partitioned)) == f"{first}: column 'city' holds text; drop it, or make it categorical."


def test_what_pyarrow_writes_into_folders_is_read_as_pyarrow_reads_it(tmp_path):
    dataset = pytest.importorskip("pyarrow.dataset")
    columns = {"k": [3, 1, None, 1], "a": [0.5, 1.5, 2.5, 3.5], "y": [0, 1, 0, 1]}
    dataset.write_dataset(
        pa.table(columns), tmp_path, format="parquet",
        partitioning=dataset.partitioning(pa.schema([("k", pa.int32())]), flavor="hive"),
    )  # fmt: skip
    rows, labels = contents(ArrowFile(tmp_path, missing="zero"))
    read = dataset.dataset(tmp_path, partitioning="hive").to_table().to_pydict()
    expected = [[k or 0, a, y] for k, a, y in zip(read["k"], read["a"], read["y"], strict=True)]
    assert sorted([*row, y] for row, y in zip(rows, labels, strict=True)) == sorted(expected)


def test_a_file_inside_such_a_folder_has_its_own_columns_only(partitioned):
    path = next(iter(sorted(partitioned.rglob("*.parquet"))))
    assert ArrowFile(path).feature_names == ("a",)


def test_a_column_of_the_file_counts_more_than_a_folder_of_its_name(tmp_path):
    path = tmp_path / "a=7" / "1.parquet"
    path.parent.mkdir()
    write_parquet(pa.table({"a": [1.0], "y": [0]}), path)
    assert contents(ArrowFile(tmp_path)) == ([[1]], [0])


def test_an_arrow_file_whose_indices_point_outside_is_refused(tmp_path):
    """Without a check, the process would end there."""
    indices = pa.array([0, 1, 7], pa.int8())
    column = pa.DictionaryArray.from_arrays(indices, pa.array(["a", "b"]), safe=False)
    table = pa.table({"x": [1.0, 2.0, 3.0], "y": column})
    with pa.ipc.new_file(tmp_path / "bad.arrow", table.schema) as writer:
        writer.write_table(table)
    with pytest.raises(StreamError, match=r"bad\.arrow: this is no Arrow file that can be read \(.*\)\.$"):
        [*ArrowFile(tmp_path / "bad.arrow")]


def test_names_that_are_no_text_are_refused(tmp_path):
    table = pa.table({"xxxx": [1.0], "y": [1]})
    with pa.ipc.new_file(tmp_path / "bad.arrow", table.schema) as writer:
        writer.write_table(table)
    data = (tmp_path / "bad.arrow").read_bytes()
    (tmp_path / "bad.arrow").write_bytes(data.replace(b"xxxx", b"\xff\xfe\xfd\xfc"))
    with pytest.raises(StreamError, match=r"bad\.arrow: this is no Arrow file that can be read \(.*\)\.$"):
        [*ArrowFile(tmp_path / "bad.arrow")]


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_two_columns_of_a_name_are_refused(tmp_path, ending):
    table, path = pa.table([[1.0], [2.0], [1]], names=["x", "x", "y"]), tmp_path / f"double.{ending}"
    if ending == "parquet":
        parquet.write_table(table, path)
    else:
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)
    with pytest.raises(StreamError, match=r": there are two columns 'x'; give them different names\.$"):
        [*ArrowFile(path)]


CUT = """
import os, sys
from onkel.streams import ArrowFile, StreamError
path = sys.argv[1]
rows = 0
try:
    for block in ArrowFile(path, block_rows=100):
        rows += len(block.labels)
        os.truncate(path, int(sys.argv[2]))
except StreamError as error:
    print(error)
else:
    print(rows)
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("part", [0.0, 0.3, 0.7])
def test_a_file_that_is_cut_while_it_is_read_is_one_sentence(tmp_path, name, part):
    """If it were mapped into memory, the system would end the process."""
    table, path = pa.table({"x": np.arange(600_000.0), "y": np.zeros(600_000)}), tmp_path / name
    if FORMATS[name] is write_parquet:
        parquet.write_table(table, path, row_group_size=30_000)
    else:
        kind = pa.ipc.new_file if FORMATS[name] is write_arrow else pa.ipc.new_stream
        with pa.OSFile(str(path), "wb") as sink, kind(sink, table.schema) as writer:
            writer.write_table(table, max_chunksize=30_000)
    size = int(part * path.stat().st_size)
    run = subprocess.run([sys.executable, "-c", CUT, path, str(size)], capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.startswith(f"{path}: this is no ") or int(run.stdout) < 600_000


@pytest.mark.parametrize("name", ["data.arrow", "data.ipc"])
def test_a_file_that_is_mapped_has_the_same_rows(tmp_path, name):
    path = tmp_path / name
    FORMATS[name](pa.table(PEOPLE), path)
    assert contents(ArrowFile(path, mapped=True, **ALL)) == contents(ArrowFile(path, **ALL))
