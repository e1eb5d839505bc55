"""What is written comes back; what cannot be written; models; damage."""

import io
import json
import os
import stat
import zipfile
from typing import Any, NamedTuple

import numpy as np
import pytest

from onkel.core.trees import nbytes, same
from onkel.core.verbs import known
from onkel.files import snapshot
from onkel.files.model_file import load_model, save_model
from onkel.files.snapshot import SnapshotError
from tests.files.common import DAMAGED, MODELS, Leaf, load_damaged, rows_for


@known
class Branch(NamedTuple):
    left: Any
    right: Any


ARRAYS = {
    "single precision": np.array([[0.1, -0.0], [1e-45, 3.4e38]], np.float32),
    "double precision": np.array([0.1, -0.0, 5e-324, 1.7e308]),
    "32-bit integers": np.array([-(2**31), 2**31 - 1], np.int32),
    "64-bit integers": np.array([-(2**63), 2**63 - 1]),
    "unsigned integers": np.array([0, 2**64 - 1], np.uint64),
    "small integers": np.array([-128, 127], np.int8),
    "booleans": np.array([True, False]),
    "text": np.array(["", "naïve", "日本語 🦎", "a\0b", "trailing "]),
    "no rows": np.zeros((0, 3), np.float32),
    "no columns": np.zeros((3, 0)),
    "no dimension": np.array(3.5),
    "columns first": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "every other": np.arange(10.0)[::2],
    "the other byte order": np.arange(3, dtype=">f8"),
}


@pytest.mark.parametrize("kind", ARRAYS)
def test_arrays_of_every_kind_come_back(kind, path):
    array = ARRAYS[kind]
    snapshot.write(path, {"array": array})
    found = snapshot.read(path)["array"]
    assert found.shape == array.shape
    assert found.dtype.kind == array.dtype.kind
    assert found.dtype.itemsize == array.dtype.itemsize
    assert found.tolist() == array.tolist()
    assert found.flags.c_contiguous


NUMBERS = [0, -1, 2**80, 0.1, -0.0, 1e308, np.inf, -np.inf, True, False, None, "", "text", "ä\0ö", "inf", "array"]


@pytest.mark.parametrize("value", NUMBERS, ids=repr)
def test_numbers_and_text_come_back(value, path):
    snapshot.write(path, {"value": value, "inside": Leaf(np.zeros(1), value)})
    found = snapshot.read(path)
    assert found["value"] == value
    assert type(found["value"]) is type(value)
    assert repr(found["inside"].note) == repr(value)


def test_a_number_that_is_none_comes_back(path):
    snapshot.write(path, {"value": np.nan})
    assert np.isnan(snapshot.read(path)["value"])


@pytest.mark.parametrize("value", [np.float32(0.1), np.int64(7), np.bool_(True), np.str_("text"), np.float64(-np.inf)])
def test_numpy_scalars_come_back_as_plain_ones(value, path):
    snapshot.write(path, {"value": value})
    found = snapshot.read(path)["value"]
    assert found == value
    assert not isinstance(found, np.generic)


def test_trees_come_back(path):
    shared = np.arange(3.0)
    tree = Branch(Branch(Leaf(shared, -np.inf), 1), Branch(Leaf(shared, None), Leaf(np.zeros((2, 2), np.float32), "x")))
    content = {"tree": tree, "map": {"inner": {"leaf": Leaf(shared)}, "empty": {}}, "list of keys": {"array": 1}}
    snapshot.write(path, content)
    found = snapshot.read(path)
    assert list(found) == list(content)
    assert same(found["tree"], tree)
    assert type(found["tree"].left.left) is Leaf
    assert same(found["map"]["inner"]["leaf"], Leaf(shared))
    assert found["map"]["empty"] == {}
    assert found["list of keys"] == {"array": 1}


def test_a_file_is_a_zip_of_arrays_and_a_header_that_anyone_can_read(path):
    snapshot.write(path, {"tree": Leaf(np.arange(3.0), "note")})
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist() == ["header.json", "0.npy"]
        assert json.loads(archive.read("header.json"))["format"] == "onkel-model"
        assert np.load(io.BytesIO(archive.read("0.npy"))).tolist() == [0.0, 1.0, 2.0]


def test_the_same_content_gives_the_same_bytes(tmp_path):
    for name in ("one", "two"):
        snapshot.write(tmp_path / name, {"tree": Leaf(np.arange(3.0), "note")})
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (np.zeros(2), np.zeros(2), True),
        (np.zeros(2), np.zeros(2, np.float32), False),
        (np.zeros(2), np.zeros((2, 1)), False),
        (np.zeros(2), -np.zeros(2), False),
        (np.zeros(2), [0.0, 0.0], False),
        (np.array([np.nan]), np.array([np.nan]), True),
        (Leaf(np.zeros(2), 1), Leaf(np.zeros(2), 1), True),
        (Leaf(np.zeros(2), 1), Leaf(np.zeros(2), 2), False),
        (Leaf(np.zeros(2), 1), Branch(np.zeros(2), 1), False),
        (Leaf(np.zeros(2), 1), (np.zeros(2), 1), False),
        (Leaf(Leaf(np.zeros(2))), Leaf(Leaf(np.ones(2))), False),
        (1, 1.0, True),
        (None, None, True),
    ],
)
def test_trees_are_the_same_when_their_bits_are(one, other, expected):
    assert same(one, other) is expected


@pytest.mark.parametrize(
    ("tree", "expected"),
    [(np.zeros(3), 24), (Leaf(np.zeros(3), np.zeros(2, np.float32)), 32), (Branch(Leaf(np.zeros(1)), "x"), 8), (7, 0)],
)
def test_bytes_are_those_of_the_arrays(tree, expected):
    assert nbytes(tree) == expected


@pytest.mark.parametrize("thing", [[1, 2], {1}, object(), 1j, b"bytes"], ids=lambda thing: type(thing).__name__)
def test_what_has_no_place_in_a_model_is_refused_and_nothing_is_written(thing, path):
    with pytest.raises(SnapshotError, match=rf"^A model with a {type(thing).__name__} in it cannot be saved\.$"):
        snapshot.write(path, {"thing": thing})
    assert os.listdir(path.parent) == []


@pytest.mark.parametrize("existing", [None, b"what was there before"])
def test_a_write_that_fails_midway_leaves_everything_as_it_was(existing, path, monkeypatch):
    if existing is not None:
        path.write_bytes(existing)
    written = []

    def fail(member, array, **_):
        written.append(array)
        if len(written) == 2:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(snapshot.npy, "write_array", fail)
    with pytest.raises(OSError, match="No space left on device"):
        snapshot.write(path, {"arrays": Branch(np.zeros(3), np.zeros(3))})
    assert len(written) == 2
    assert os.listdir(path.parent) == ([path.name] if existing else [])
    assert existing is None or path.read_bytes() == existing


def test_an_interrupted_write_leaves_everything_as_it_was(path, monkeypatch):
    path.write_bytes(b"before")

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(snapshot.os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        snapshot.write(path, {"array": np.zeros(3)})
    assert os.listdir(path.parent) == [path.name]
    assert path.read_bytes() == b"before"


def test_a_new_file_replaces_an_old_one(path):
    for value in (1, 2):
        snapshot.write(path, {"value": value})
    assert snapshot.read(path) == {"value": 2}
    assert os.listdir(path.parent) == [path.name]


def test_a_file_may_be_read_by_whoever_may_read_other_new_files(path):
    other = path.with_name("other")
    other.touch()
    snapshot.write(path, {"value": 1})
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(other.stat().st_mode)


def test_a_link_to_a_file_stays_a_link(path):
    target = path.with_name("elsewhere")
    target.touch()
    path.symlink_to(target)
    snapshot.write(path, {"value": 1})
    assert path.is_symlink()
    assert snapshot.read(target) == {"value": 1}


def test_a_folder_that_does_not_exist_is_named_and_not_made(tmp_path):
    with pytest.raises(OSError, match="No such file or directory") as caught:
        snapshot.write(tmp_path / "nowhere" / "model", {"value": 1})
    assert str(caught.value.filename).rstrip("/") in (str(tmp_path / "nowhere"), str(tmp_path / "nowhere" / "model"))
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", MODELS)
def test_a_model_comes_back_and_goes_on(models, name, path):
    stored = load_model(models / name)
    online = stored.online
    save_model(path, *stored)
    again = load_model(path).online
    assert same(again.model, online.model)
    assert path.read_bytes() == (models / name).read_bytes()
    rows, targets = rows_for(name), np.ones(60)
    assert np.array_equal(again.learn(rows, targets), online.learn(rows, targets))


@pytest.mark.parametrize("name", ["linear", "hadamard", "several", "nystroem", "held compressed"])
def test_a_file_that_is_cut_off_is_refused(models, name, path):
    data, original = (models / name).read_bytes(), load_model(models / name).online
    cuts = np.linspace(0, len(data) - 1, 60).astype(int)
    assert all(load_damaged(data[:cut], path, original) for cut in cuts)


@pytest.mark.parametrize("name", ["linear", "hadamard", "several", "nystroem", "held compressed"])
def test_a_file_with_a_wrong_byte_is_refused_or_harmless(models, name, path):
    data, original = (models / name).read_bytes(), load_model(models / name).online
    random = np.random.default_rng(0)
    refused = 0
    for place in random.choice(len(data), 300, replace=False):
        wrong = bytes([data[place] ^ int(random.integers(1, 256))])
        refused += load_damaged(data[:place] + wrong + data[place + 1 :], path, original)
    assert refused > 200  # the rest are bytes that nobody reads, such as times


def test_a_wrong_bit_in_the_table_of_contents_is_refused_or_harmless(models, path):
    data, original = (models / "linear").read_bytes(), load_model(models / "linear").online
    start = data.index(b"PK\x01\x02")
    refused = 0
    for place in range(start, len(data)):
        bit = 1 << (place % 8)
        refused += load_damaged(data[:place] + bytes([data[place] ^ bit]) + data[place + 1 :], path, original)
    refused += load_damaged(data[: start + 8] + bytes([data[start + 8] | 1]) + data[start + 9 :], path, original)
    assert refused > 100


def test_bytes_before_and_behind_a_model_are_refused_or_harmless(models, path):
    data, original = (models / "linear").read_bytes(), load_model(models / "linear").online
    for more in (b"\0" * 100, b"PK\x05\x06" * 10, data[:1000]):
        load_damaged(more + data, path, original)
        load_damaged(data + more, path, original)
    assert load_damaged(data[: len(data) // 2] + data, path, original) in (True, False)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", DAMAGED),
        (b"hello\n", DAMAGED),
        (b"PK\x03\x04 but no more", DAMAGED),
        (np.random.default_rng(0).bytes(1000), DAMAGED),
    ],
    ids=["empty", "text", "the start of a zip", "noise"],
)
def test_a_file_that_is_no_zip_is_refused(content, sentence, path):
    path.write_bytes(content)
    with pytest.raises(SnapshotError) as caught:
        snapshot.read(path)
    assert str(caught.value) == f"{path}: {sentence}"


def test_a_missing_file_is_named(path):
    with pytest.raises(SnapshotError, match=r"model\.onkel: there is no such file\.$"):
        load_model(path)


def test_a_folder_is_named(tmp_path):
    with pytest.raises(SnapshotError, match=r": this is (a folder|not an onkel model)"):
        load_model(tmp_path)
