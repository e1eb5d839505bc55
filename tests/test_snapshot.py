"""Models in files: what is written comes back bit by bit, and what is damaged or made up is refused in one sentence."""

import io
import json
import os
import stat
import zipfile
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from onkel import KernelClassifier, KernelRegressor, fogd, nogd, norma, ogd, rks, snapshot
from onkel.dispatch import known
from onkel.kernels import CHI2, Kernel, gaussian
from onkel.rows import Csr, Dense
from onkel.snapshot import SnapshotError, nbytes, same
from onkel.stored import load_model, save_model

DAMAGED = "this is not an onkel model, or it is damaged or cut off."


@known
class Leaf(NamedTuple):
    values: Any
    note: Any = None


@known
class Branch(NamedTuple):
    left: Any
    right: Any


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.onkel"


# ---- what is written comes back ----


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


# ---- what cannot be written ----


@pytest.mark.parametrize("thing", [[1, 2], (1, 2), {1}, object(), 1j, b"bytes"], ids=lambda thing: type(thing).__name__)
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


# ---- models ----


ROWS = np.random.default_rng(0).standard_normal((60, 3))
LABELS = (np.sum(ROWS**2, axis=1) > 3).astype(int)


def fitted(learner, rows=ROWS, labels=LABELS, Estimator=KernelClassifier):
    return Estimator(learner).fit(rows, labels)


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    """Files of small models of every type, by name."""
    folder = tmp_path_factory.mktemp("models")
    made = {
        "linear": fitted(fogd(n_frequencies=4, gamma=0.5)),
        "phase": fitted(rks(n_frequencies=4, gamma=0.5, batch=10)),
        "hadamard": fitted(fogd(n_frequencies=6, gamma=0.5, draw="fastfood")),
        "chi2": fitted(fogd(kernel="additive_chi2"), np.abs(ROWS)),
        "expansion": fitted(ogd(gamma=0.5)),
        "several": fitted(ogd(gamma=0.5), ROWS, np.arange(60) % 3),
        "margin": fitted(norma(gamma=0.5)),
        "tube": fitted(norma(gamma=0.5, published=True), Estimator=KernelRegressor),
        "nystroem": fitted(nogd(budget=5, rank=3, gamma=0.5)),
        "held": fitted(fogd(n_frequencies=4), ROWS[:5], LABELS[:5]),
        "held compressed": fitted(fogd(n_frequencies=4), csr_matrix(ROWS[:5]), LABELS[:5]),
        "held classes": fitted(fogd(n_frequencies=4), ROWS[:6], np.arange(6) % 3),
    }
    for name, model in made.items():
        model.save(folder / name)
    return folder


MODELS = ("linear", "phase", "hadamard", "chi2", "expansion", "several", "margin", "tube", "nystroem", "held",
          "held compressed", "held classes")  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_a_model_comes_back_and_goes_on(models, name, path):
    online, extra = load_model(models / name)
    save_model(path, online, extra)
    again, _ = load_model(path)
    assert same(again.model, online.model)
    assert path.read_bytes() == (models / name).read_bytes()
    targets = np.ones(60)
    assert np.array_equal(again.learn(np.abs(ROWS), targets), online.learn(np.abs(ROWS), targets))


# ---- damage ----


def load_damaged(data, path, original):
    """Load damaged bytes: an error in one sentence, or a model like the original. Returns whether it was an error."""
    path.write_bytes(data)
    try:
        online, _ = load_model(path)
    except SnapshotError as error:
        message = str(error)
        assert message.startswith(f"{path}: ")
        assert message.endswith(".")
        assert "\n" not in message
        return True
    assert same(online.model, original.model)
    assert (online.learner, online.task, online.setting) == (original.learner, original.task, original.setting)
    return False


@pytest.mark.parametrize("name", ["linear", "hadamard", "several", "nystroem", "held compressed"])
def test_a_file_that_is_cut_off_is_refused(models, name, path):
    data, (original, _) = (models / name).read_bytes(), load_model(models / name)
    cuts = np.linspace(0, len(data) - 1, 60).astype(int)
    assert all(load_damaged(data[:cut], path, original) for cut in cuts)


@pytest.mark.parametrize("name", ["linear", "hadamard", "several", "nystroem", "held compressed"])
def test_a_file_with_a_wrong_byte_is_refused_or_harmless(models, name, path):
    data, (original, _) = (models / name).read_bytes(), load_model(models / name)
    random = np.random.default_rng(0)
    refused = 0
    for place in random.choice(len(data), 300, replace=False):
        wrong = bytes([data[place] ^ int(random.integers(1, 256))])
        refused += load_damaged(data[:place] + wrong + data[place + 1 :], path, original)
    assert refused > 200  # the rest are bytes that nobody reads, such as times


def test_a_wrong_bit_in_the_table_of_contents_is_refused_or_harmless(models, path):
    data, (original, _) = (models / "linear").read_bytes(), load_model(models / "linear")
    start = data.index(b"PK\x01\x02")
    refused = 0
    for place in range(start, len(data)):
        bit = 1 << (place % 8)
        refused += load_damaged(data[:place] + bytes([data[place] ^ bit]) + data[place + 1 :], path, original)
    refused += load_damaged(data[: start + 8] + bytes([data[start + 8] | 1]) + data[start + 9 :], path, original)
    assert refused > 100


def test_bytes_before_and_behind_a_model_are_refused_or_harmless(models, path):
    data, (original, _) = (models / "linear").read_bytes(), load_model(models / "linear")
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


# ---- files that somebody made up ----


def packed(members, compression=zipfile.ZIP_STORED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return file.getvalue()


def npy(array):
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


def header(content, **more):
    return json.dumps({"format": "onkel-model", "version": 1, "content": content, **more})


def mapped(**members):
    return {"map": members}


ONE_ARRAY = header(mapped(a={"array": 0}))
FOREIGN = {
    "another zip": ({"hello.txt": "hello"}, "this is a zip file, but not an onkel model."),
    "no members": ({}, "this is a zip file, but not an onkel model."),
    "another format": ({"header.json": '{"format": "other"}'}, "this is not an onkel model."),
    "a list": ({"header.json": "[1, 2]"}, "this is not an onkel model."),
    "a number": ({"header.json": "7"}, "this is not an onkel model."),
    "no JSON": ({"header.json": "hello"}, DAMAGED),
    "no text": ({"header.json": b"\xff\xfe\xfd"}, DAMAGED),
    "deep JSON": ({"header.json": "[" * 100_000}, DAMAGED),
    "the future": (
        {"header.json": header(mapped(), version=2)},
        "its format has version 2; this onkel reads version 1.",
    ),
    "no version": (
        {"header.json": '{"format": "onkel-model"}'},
        "its format has version None; this onkel reads version 1.",
    ),
    "no content": ({"header.json": '{"format": "onkel-model", "version": 1}'}, DAMAGED),
    "no map": ({"header.json": header([1, 2])}, "its header is damaged."),
    "an empty map": ({"header.json": header({})}, DAMAGED),
    "a map that is none": ({"header.json": header({"map": 3})}, DAMAGED),
    "an unknown kind": (
        {"header.json": header(mapped(a={"kind": "os.system", "fields": ["true"]}))},
        "it needs 'os.system', which is not known here; import its module first.",
    ),
    "a kind that is none": ({"header.json": header(mapped(a={"kind": [], "fields": []}))}, DAMAGED),
    "too many fields": (
        {"header.json": header(mapped(a={"kind": "rows.Dense", "fields": [1, 2, 3]}))},
        DAMAGED,
    ),
    "no fields": ({"header.json": header(mapped(a={"kind": "rows.Dense"}))}, DAMAGED),
    "a float that is none": ({"header.json": header(mapped(a={"float": "abc"}))}, DAMAGED),
    "an array too few": ({"header.json": ONE_ARRAY}, DAMAGED),
    "an array of another name": ({"header.json": ONE_ARRAY, "x.npy": npy(np.zeros(3))}, "its array 0 is missing."),
    "an array that is none": ({"header.json": ONE_ARRAY, "0.npy": b"hello"}, DAMAGED),
    "an array number that is none": (
        {"header.json": header(mapped(a={"array": "x"})), "0.npy": npy(np.zeros(3))},
        DAMAGED,
    ),
    "an array cut off": (
        {"header.json": ONE_ARRAY, "0.npy": npy(np.zeros(99))[:-8]},
        "its array 0 claims another size than it has.",
    ),
    "a pickle": (
        {"header.json": ONE_ARRAY, "0.npy": npy(np.array([print, None], object))},
        "its array 0 is of the unexpected type object.",
    ),
    "structures": (
        {"header.json": ONE_ARRAY, "0.npy": npy(np.zeros(3, [("x", "f8")]))},
        "its array 0 is of the unexpected type [('x', '<f8')].",
    ),
    "complex numbers": (
        {"header.json": ONE_ARRAY, "0.npy": npy(np.zeros(3, complex))},
        "its array 0 is of the unexpected type complex128.",
    ),
    "NaN": (
        {"header.json": ONE_ARRAY, "0.npy": npy(np.array([0.0, np.nan]))},
        "its array 0 holds numbers that are not finite.",
    ),
    "infinity": (
        {"header.json": ONE_ARRAY, "0.npy": npy(np.array([0.0, -np.inf], np.float32))},
        "its array 0 holds numbers that are not finite.",
    ),
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_a_file_that_somebody_made_up_is_refused(kind, path):
    members, sentence = FOREIGN[kind]
    path.write_bytes(packed(members))
    with pytest.raises(SnapshotError) as caught:
        snapshot.read(path)
    assert str(caught.value) == f"{path}: {sentence}"


def test_a_pickle_is_refused_and_not_run(path, tmp_path):
    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "trapped"),)

    path.write_bytes(packed({"header.json": ONE_ARRAY, "0.npy": npy(np.array([Trap()], object))}))
    with pytest.raises(SnapshotError):
        snapshot.read(path)
    assert not (tmp_path / "trapped").exists()


def test_an_array_that_claims_more_than_it_holds_is_refused(path):
    claim = npy(np.zeros(3)).replace(b"(3,), }" + b" " * 13, b"(17592186044416,), }")
    assert b"17592186044416" in claim
    path.write_bytes(packed({"header.json": ONE_ARRAY, "0.npy": claim}))
    with pytest.raises(SnapshotError):
        snapshot.read(path)


def test_a_file_that_claims_to_be_huge_is_refused_before_it_is_read(path, monkeypatch):
    snapshot.write(path, {"array": np.zeros(1000)})
    monkeypatch.setattr(snapshot, "LARGEST", 1000)
    monkeypatch.setattr(snapshot.npy, "read_magic", lambda *_, **__: pytest.fail("an array was read"))
    with pytest.raises(SnapshotError, match=r"model\.onkel: the model is larger than .*\.$"):
        snapshot.read(path)


@pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_model_that_was_zipped_anew_is_read_or_refused_when_it_is_damaged(models, compression, path):
    with zipfile.ZipFile(models / "linear") as archive:
        data = packed({name: archive.read(name) for name in archive.namelist()}, compression)
    original, _ = load_model(models / "linear")
    assert load_damaged(data, path, original) is False
    start = 30 + len("header.json")
    for place in range(start, start + 60):
        load_damaged(data[:place] + b"\xff" + data[place + 1 :], path, original)


# ---- models whose arrays do not fit together: compiled code would read and write beyond them ----


def replaced(tree, place, value):
    """The tree with the member at a dotted place replaced."""
    name, _, rest = place.partition(".")
    old = getattr(tree, name)
    return tree._replace(**{name: replaced(old, rest, value) if rest else value(old) if callable(value) else value})


def other_type(array):
    return array.astype(np.float64 if array.dtype == np.float32 else np.int32 if array.dtype.kind == "i" else "f4")


def shorter(array):
    return np.ascontiguousarray(array[..., :-1])


def transposed(array):
    return np.ascontiguousarray(array.T)


def last_set_to(value):
    def change(array):
        changed = array.copy()
        changed[-1] = value
        return changed

    return change


MISFITS = [
    ("linear", "weights", transposed),
    ("linear", "weights", shorter),
    ("linear", "weights", other_type),
    ("linear", "weights", 0.5),
    ("linear", "weights", None),
    ("linear", "weights", np.array(["a"])),
    ("linear", "memory", np.zeros((1, 3), np.float32)),
    ("linear", "scale", np.zeros(0)),
    ("linear", "scale", np.ones(1, np.float32)),
    ("linear", "clock", np.zeros(0, np.int64)),
    ("linear", "clock", np.zeros(1)),
    ("linear", "feature_map.frequencies", transposed),
    ("linear", "feature_map.frequencies", other_type),
    ("linear", "feature_map.frequencies", np.zeros(12, np.float32)),
    ("linear", "feature_map", None),
    ("linear", "feature_map", Kernel(0)),
    ("linear", "loss", None),
    ("linear", "step", 0.1),
    ("phase", "feature_map.phases", shorter),
    ("phase", "memory", shorter),
    ("hadamard", "feature_map.order", last_set_to(99)),
    ("hadamard", "feature_map.order", last_set_to(-1)),
    ("hadamard", "feature_map.order", other_type),
    ("hadamard", "feature_map.diagonals", shorter),
    ("hadamard", "feature_map.diagonals", np.zeros((2, 0, 4), np.float32)),
    ("hadamard", "feature_map.lengths", shorter),
    ("hadamard", "feature_map.n_frequencies", 9999),
    ("hadamard", "feature_map.n_frequencies", 2.5),
    ("chi2", "feature_map.n_features", 9999),
    ("chi2", "feature_map.order", 99),
    ("expansion", "support.points", transposed),
    ("expansion", "support.points", shorter),
    ("expansion", "support.points", other_type),
    ("expansion", "support.sizes", shorter),
    ("expansion", "support.coef", shorter),
    ("expansion", "support.born", other_type),
    ("expansion", "support.count", np.array([10**6])),
    ("expansion", "support.count", np.array([-1])),
    ("expansion", "support.count", np.zeros(0, np.int64)),
    ("expansion", "support.scale", np.zeros(0)),
    ("expansion", "support", None),
    ("expansion", "offset", np.zeros(0)),
    ("expansion", "kernel", None),
    ("several", "support.coef", lambda coef: np.ascontiguousarray(coef[:1])),
    ("several", "offset", np.zeros(1)),
    ("margin", "loss.rho", np.zeros(0)),
    ("margin", "loss.rho", 0.5),
    ("tube", "loss.epsilon", np.zeros(0)),
    ("nystroem", "feature_map.projection", transposed),
    ("nystroem", "feature_map.points", transposed),
    ("nystroem", "feature_map.sizes", shorter),
    ("nystroem", "feature_map.kernel", None),
    ("held", "targets", shorter),
    ("held", "importance", shorter),
    ("held", "block.values", transposed),
    ("held", "block.values", other_type),
    ("held", "block", None),
    ("held", "block", Kernel(0)),
    ("held", "model.weights", transposed),
    ("held", "model", Kernel(0)),
    ("held compressed", "block.indices", last_set_to(3)),
    ("held compressed", "block.indices", last_set_to(-1)),
    ("held compressed", "block.indices", shorter),
    ("held compressed", "block.indptr", last_set_to(99)),
    ("held compressed", "block.indptr", shorter),
    ("held compressed", "block.indptr", lambda indptr: np.ascontiguousarray(indptr[::-1])),
    ("held compressed", "block.data", shorter),
    ("held compressed", "block.width", 99),
    ("held classes", "targets", last_set_to(3.0)),
    ("held classes", "targets", last_set_to(-1.0)),
]


@pytest.mark.parametrize(("name", "place", "value"), MISFITS, ids=lambda part: getattr(part, "__name__", None))
def test_a_model_whose_arrays_do_not_fit_together_is_refused(models, name, place, value, path):
    content = snapshot.read(models / name)
    content["model"] = replaced(content["model"], place, value)
    snapshot.write(path, content)
    with pytest.raises(SnapshotError) as caught:
        load_model(path)
    assert str(caught.value).startswith(f"{path}: its ")


@pytest.mark.parametrize(
    "model", [None, 7, "text", gaussian(0.5), Dense(np.zeros((2, 3), np.float32)), Leaf(np.zeros(3))], ids=repr
)
def test_what_is_no_model_is_refused(models, model, path):
    content = snapshot.read(models / "linear")
    snapshot.write(path, content | {"model": model})
    with pytest.raises(SnapshotError) as caught:
        load_model(path)
    assert str(caught.value).startswith(f"{path}: its ")


BAD_HEADERS = [
    ({"learner": "unheard_of"}, "it was made by the recipe 'unheard_of', which is not known here."),
    ({"learner": None}, "it was made by the recipe None, which is not known here."),
    ({"task": "ranking"}, "its header is damaged."),
    ({"task": "multiclass"}, "its header is damaged."),
    ({"parameters": {"budget": 7}}, "its header is damaged."),
    ({"parameters": {"n_frequencies": -7}}, "its header is damaged."),
    ({"parameters": None}, "its header is damaged."),
    ({"setting": None}, "its header is damaged."),
    ({"setting": {"n_features": 3, "n_outputs": 1, "dtype": "float16", "seed": 0}}, "its header is damaged."),
    ({"setting": {"n_features": 3, "n_outputs": 1, "dtype": "float32", "seed": "x"}}, "its header is damaged."),
    ({"setting": {"n_features": 3, "dtype": "float32", "more": 0}}, "its header is damaged."),
    ({"extra": None}, "its header is damaged."),
    ({"extra": "text"}, "its header is damaged."),
]


@pytest.mark.parametrize(("change", "sentence"), BAD_HEADERS)
def test_a_header_that_makes_no_sense_is_refused(models, change, sentence, path):
    snapshot.write(path, snapshot.read(models / "linear") | change)
    with pytest.raises(SnapshotError) as caught:
        load_model(path)
    assert str(caught.value) == f"{path}: {sentence}"


@pytest.mark.parametrize("missing", ["learner", "parameters", "task", "setting", "model", "extra"])
def test_a_header_without_one_of_its_parts_is_refused(models, missing, path):
    content = snapshot.read(models / "linear")
    del content[missing]
    snapshot.write(path, content)
    with pytest.raises(SnapshotError, match=r"model\.onkel: its header is damaged\.$"):
        load_model(path)


EXTRAS = [
    {},
    {"classes": None},
    {"classes": np.array([1, 2, 3])},
    {"classes": np.zeros((2, 2))},
    {"calibration": None},
    {"calibration": Leaf(np.zeros(1))},
    {"feature_names": np.array(["a"])},
]


@pytest.mark.parametrize("change", EXTRAS, ids=repr)
def test_an_estimator_with_parts_that_do_not_fit_is_refused(models, change, path):
    content = snapshot.read(models / "linear")
    content["extra"] = {"estimator": "KernelClassifier"} if not change else content["extra"] | change
    snapshot.write(path, content)
    with pytest.raises(SnapshotError):
        KernelClassifier.load(path)


@pytest.mark.parametrize("part", ["log_slope", "energy"])
def test_a_calibration_without_numbers_is_refused(models, part, path):
    content = snapshot.read(models / "linear")
    calibration = content["extra"]["calibration"]
    content["extra"]["calibration"] = calibration._replace(**{part: np.zeros(0)})
    snapshot.write(path, content)
    with pytest.raises(SnapshotError):
        KernelClassifier.load(path)


def test_every_sample_is_of_the_kind_that_its_name_says(models):
    kinds = {name: snapshot.read(models / name)["model"] for name in MODELS}
    assert kinds["chi2"].feature_map.n_features == 3
    assert kinds["expansion"].kernel.code != CHI2
    assert isinstance(kinds["held"].block, Dense)
    assert isinstance(kinds["held compressed"].block, Csr)
    assert kinds["tube"].loss.floor == -np.inf
    assert kinds["nystroem"].feature_map.points.shape == (3, 5)
    assert len(kinds["several"].offset) == 3
