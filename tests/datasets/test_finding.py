"""Where data sets are looked for, and how they are opened."""

import lzma
import sys
from pathlib import Path

import pytest

from onkel import datasets
from onkel.datasets import DataError, folders
from onkel.datasets.registry import local_name
from onkel.datasets.table import SETS
from onkel.streams import concatenate
from tests.datasets.conftest import TRAIN

ROWS = b"1 1:0.5 2:1\n-1 3:2\n"


@pytest.fixture
def given(tmp_path, monkeypatch, cache):
    """The folder that ONKEL_DATA names."""
    folder = tmp_path / "given"
    folder.mkdir()
    monkeypatch.setenv("ONKEL_DATA", str(folder))
    return folder


def test_what_nobody_has_is_not_found(cache):
    assert datasets.find("a9a") is None


def test_compressed_libsvm_files_of_a_given_folder_are_found(given):
    for name in ("a9a.libsvm.xz", "a9a.t.libsvm.xz", "german.libsvm.xz"):
        (given / name).write_bytes(lzma.compress(ROWS))
    assert datasets.find("a9a") == (given / "a9a.libsvm.xz", given / "a9a.t.libsvm.xz")
    assert datasets.find("german") == (given / "german.libsvm.xz", None)


@pytest.mark.parametrize(
    ("name", "own", "test"),
    [("german", "german.numer", None), ("ijcnn1", "ijcnn1.bz2", "ijcnn1.t.bz2"), ("spambase", "spambase.data", None)],
)
def test_files_may_be_called_as_on_their_server(given, name, own, test):
    for each in filter(None, (own, test)):
        (given / each).touch()
    assert datasets.find(name) == (given / own, test and given / test)


def test_the_given_folder_comes_before_the_cache_unless_it_lacks_the_test_part(given, cache):
    cache.mkdir(parents=True)
    for folder in (given, cache):
        (folder / "a9a.libsvm").touch()
    assert datasets.find("a9a").train.parent == given
    (cache / "a9a.t.libsvm").touch()
    assert datasets.find("a9a") == (cache / "a9a.libsvm", cache / "a9a.t.libsvm")
    (given / "a9a.t.libsvm").touch()
    assert datasets.find("a9a").train.parent == given


def test_rows_to_test_alone_are_no_data_set(given):
    (given / "a9a.t.libsvm").touch()
    assert datasets.find("a9a") is None


def test_a_given_folder_that_is_not_there_is_no_error(monkeypatch, cache):
    monkeypatch.setenv("ONKEL_DATA", "/nowhere/at/all")
    assert datasets.find("a9a") is None


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {}, "home/.cache/onkel/data"),
        ("linux", {"XDG_CACHE_HOME": "xdg"}, "xdg/onkel/data"),
        ("linux", {"LOCALAPPDATA": "local"}, "home/.cache/onkel/data"),
        ("darwin", {}, "home/Library/Caches/onkel/data"),
        ("darwin", {"XDG_CACHE_HOME": "xdg"}, "xdg/onkel/data"),
        ("win32", {"LOCALAPPDATA": "local"}, "local/onkel/data"),
        ("win32", {}, "home/.cache/onkel/data"),
    ],
)
def test_the_cache_is_where_the_platform_wants_it(monkeypatch, platform, variables, expected):
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(Path, "home", lambda: Path("home"))
    monkeypatch.setattr(sys, "platform", platform)
    assert folders.cache_folder() == Path(expected)


def test_both_parts_are_opened_with_the_features_of_the_set(given):
    (given / "a9a.libsvm.xz").write_bytes(lzma.compress(ROWS))
    (given / "a9a.t.libsvm").write_bytes(ROWS[:12])
    parts = datasets.load("a9a", block_rows=1)
    assert [block.rows.shape for block in parts.train] == [(1, 123), (1, 123)]
    assert concatenate(parts.test).labels.tolist() == [1]


def test_a_csv_file_is_opened_with_its_label_column(given):
    (given / "casp.csv").write_text("RMSD,F1,F2,F3,F4,F5,F6,F7,F8,F9\n7,1,2,3,4,5,6,7,8,9\n")
    block = concatenate(datasets.load("casp").train)
    assert (block.rows.tolist(), block.labels.tolist()) == ([[1, 2, 3, 4, 5, 6, 7, 8, 9]], [7])


def test_libsvm_text_of_a_set_that_is_fetched_as_csv_is_read_too(given):
    (given / "casp.libsvm").write_bytes(ROWS)
    assert concatenate(datasets.load("casp").train).rows.shape == (2, 9)


def test_a_set_that_is_not_here_says_how_to_get_it(cache):
    with pytest.raises(DataError) as caught:
        datasets.load("a9a")
    assert str(caught.value) == "a9a is not here yet: `onkel data fetch a9a` gets it (3.5 MB)."


def test_a_set_that_cannot_be_fetched_says_where_it_comes_from(cache):
    with pytest.raises(DataError) as caught:
        datasets.fetch("elec2")
    by_hand = "it has to be got by hand, as elec2.libsvm in the folder that ONKEL_DATA names"
    assert str(caught.value) == f"elec2 cannot be fetched: {by_hand} (source: {datasets.info('elec2').source})."


def test_an_unknown_name_is_refused_with_the_nearest_one(cache):
    for act in (datasets.find, datasets.info, datasets.load, datasets.fetch):
        with pytest.raises(DataError, match=r"^There is no data set 'ijcnn'; did you mean ijcnn1\? "):
            act("ijcnn")


def test_a_fetched_set_is_found_and_read(tiny, cache):
    assert datasets.find("tiny") is None
    files = datasets.fetch("tiny")
    assert files == (cache / "tiny.libsvm", cache / "tiny.t.libsvm")
    assert datasets.find("tiny") == files
    assert files.train.read_bytes() == TRAIN
    parts = datasets.load("tiny")
    assert parts.train.summary()[:3] == (5000, 3, (-1, 1))
    assert concatenate(parts.test).labels.tolist() == [1, -1]


def test_what_the_given_folder_has_is_not_fetched(tiny, given, server):
    (given / "tiny.libsvm").write_bytes(ROWS)
    (given / "tiny.t.libsvm").write_bytes(ROWS)
    assert datasets.fetch("tiny").train.parent == given
    assert server.requests == []


def test_nothing_is_written_to_the_given_folder_unless_it_is_the_target(tiny, given, cache):
    assert datasets.fetch("tiny").train.parent == cache
    assert list(given.iterdir()) == []
    assert datasets.fetch("tiny", to=given).train == given / "tiny.libsvm"
    assert datasets.find("tiny").train.parent == given


def test_a_fetch_that_stopped_between_two_files_goes_on_with_the_second(tiny, server, cache):
    def watch(name, done, total):
        if name == "tiny.t.libsvm":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        datasets.fetch("tiny", watch=watch)
    count = len(server.requests)
    assert datasets.fetch("tiny").test == cache / "tiny.t.libsvm"
    assert len(server.requests) == count + 1


@pytest.mark.parametrize("name", SETS)
def test_the_table_makes_sense(name):
    one = SETS[name]
    assert one.name == name
    assert one.rows > 0
    assert one.features > 0
    assert (one.task, min(one.classes, 3)) in (("binary", 2), ("multiclass", 3), ("regression", 0))
    assert not name.endswith(".t")
    assert one.source
    assert one.train is not None or one.test is None
    assert one.test is None or one.test_rows > 0
    for part, file in one.files.items():
        assert file.address.startswith(("https://www.csie.ntu.edu.tw/~cjlin/", "https://archive.ics.uci.edu/ml/"))
        assert " " not in file.address
        assert file.sha256 is None or len(bytes.fromhex(file.sha256)) == 32
        assert local_name(one, part).startswith(name)


def test_no_two_files_have_the_same_name_here_or_the_same_address():
    files = [(local_name(one, part), file.address) for one in SETS.values() for part, file in one.files.items()]
    for column in zip(*files, strict=True):
        assert len(set(column)) == len(files)


def test_the_papers_of_the_table_are_in_the_bibliography():
    text = (Path(__file__).parents[2] / "src" / "onkel" / "papers.bib").read_text()
    for key in {paper for one in SETS.values() for paper in one.papers}:
        assert f"{{{key}," in text
