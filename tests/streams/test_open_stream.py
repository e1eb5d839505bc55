import bz2
import gzip
import io
import sys

import pytest

from onkel.streams import (
    STREAMS,
    ArrowFile,
    CsvFile,
    GeneratedStream,
    LibsvmFile,
    StreamError,
    concatenate,
    open_stream,
)


@pytest.mark.parametrize(
    "name", ["a.libsvm", "a.svm", "a.txt", "a.dat", "a.t", "a", "a.t.gz", "a.csv.libsvm", "csv.gz"]
)
def test_files_are_libsvm_text_unless_they_end_in_csv(tmp_path, name):
    (tmp_path / name).touch()
    assert isinstance(open_stream(tmp_path / name), LibsvmFile)


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.CSV", "a.csv.gz", "a.tsv.zst", "a.csv.xz", "a.csv.bz2"])
def test_csv_endings_are_seen_behind_those_of_compressions(tmp_path, name):
    (tmp_path / name).touch()
    assert isinstance(open_stream(str(tmp_path / name)), CsvFile)


def test_the_format_can_be_given(tmp_path):
    (tmp_path / "a.csv").write_text("1 1:1\n")
    (tmp_path / "a.txt").write_text("1,2\n")
    assert concatenate(open_stream(tmp_path / "a.csv", format="libsvm")).labels.tolist() == [1]
    assert concatenate(open_stream(tmp_path / "a.txt", format="csv")).labels.tolist() == [2]


def test_compressed_files_are_read(tmp_path):
    (tmp_path / "a.libsvm.gz").write_bytes(gzip.compress(b"1 1:1\n"))
    (tmp_path / "a.csv.bz2").write_bytes(bz2.compress(b"1,2\n"))
    assert concatenate(open_stream(tmp_path / "a.libsvm.gz")).labels.tolist() == [1]
    assert concatenate(open_stream(tmp_path / "a.csv.bz2", label=0)).labels.tolist() == [1]


def test_settings_reach_the_file(tmp_path):
    (tmp_path / "a.libsvm").write_text("1 1:1\n2 2:1\n3 1:1\n")
    stream = open_stream(tmp_path / "a.libsvm", n_features=5, block_rows=2)
    assert [block.rows.shape for block in stream] == [(2, 5), (1, 5)]


def test_rows_limit_a_file(tmp_path):
    (tmp_path / "a.libsvm").write_text("1 1:1\n2 2:1\n3 1:1\n")
    stream = open_stream(tmp_path / "a.libsvm", rows=2)
    assert concatenate(stream).labels.tolist() == [1, 2]
    assert stream.summary().rows == 2


@pytest.mark.parametrize(("source", "n_features"), [(None, 10), ("drifting", 10), ("rings", 2)])
def test_built_in_streams_are_opened_by_name(source, n_features):
    stream = open_stream(source, rows=10, seed=3, block_rows=4)
    assert isinstance(stream, GeneratedStream)
    assert (stream.rows, stream.seed, stream.block_rows) == (10, 3, 4)
    assert concatenate(stream).rows.shape == (10, n_features)


def test_built_in_streams_have_their_own_length():
    assert open_stream().rows == 200_000


@pytest.mark.parametrize(("format", "text"), [(None, "1 1:2\n"), ("libsvm", "1 1:2\n"), ("csv", "2,1\n")])
def test_standard_input_is_libsvm_text_unless_told_otherwise(monkeypatch, format, text):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    block = concatenate(open_stream("-", format=format))
    assert (block.rows.tolist(), block.labels.tolist()) == ([[2]], [1])


def test_an_unknown_name_lists_the_built_in_streams():
    with pytest.raises(StreamError) as caught:
        open_stream("ring")
    assert str(caught.value) == f"'ring' is neither a file nor a built-in stream ({', '.join(STREAMS)})."


def test_an_unknown_format_is_refused():
    with pytest.raises(StreamError, match=r"^The format must be arrow, csv, libsvm or parquet, not 'arff'\.$"):
        open_stream("-", format="arff")


def test_no_rows_at_all_are_refused():
    with pytest.raises(StreamError, match=r"^A stream must have at least one row, not 0\.$"):
        open_stream("-", rows=0)


@pytest.mark.parametrize("name", ["a.parquet", "a.pq", "a.arrow", "a.feather", "a.IPC", "folder"])
def test_parquet_arrow_and_folders_are_tables(tmp_path, name):
    (tmp_path / name).mkdir() if name == "folder" else (tmp_path / name).touch()
    assert isinstance(open_stream(tmp_path / name), ArrowFile)


def test_the_words_for_columns_reach_the_file(tmp_path):
    (tmp_path / "a.csv").write_text("a,b,y\n1,u,0\n,v,1\nx,v,1\n")
    words = {"label": "y", "missing": "mean", "categorical": {"b": "onehot"}, "on_error": "skip"}
    stream = open_stream(tmp_path / "a.csv", **words)
    assert concatenate(stream).rows.tolist() == [[1, 1, 0], [1, 0, 1]]
    assert stream.faults.count == 1
    assert concatenate(open_stream(tmp_path / "a.csv", **words, rows=1)).labels.tolist() == [0]


def test_libsvm_text_has_no_columns_to_choose(tmp_path):
    (tmp_path / "a.libsvm").write_text("1 1:1\n")
    with pytest.raises(StreamError, match=r"a\.libsvm: LIBSVM text has no columns to choose \(drop\)\.$"):
        open_stream(tmp_path / "a.libsvm", drop=["a"])
