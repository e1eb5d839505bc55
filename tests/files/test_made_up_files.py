"""Files that somebody made up, and models whose parts do not fit together."""

import io
import json
import os
import zipfile

import numpy as np
import pytest

from onkel import KernelClassifier
from onkel.core.rows import Csr, Dense
from onkel.files import snapshot
from onkel.files.model_file import load_model
from onkel.files.snapshot import VERSION, SnapshotError
from onkel.pieces.kernels import CHI2, gaussian
from tests.files.common import DAMAGED, MODELS, Leaf, load_damaged


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
    return json.dumps({"format": "onkel-model", "version": VERSION, "content": content, **more})


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
        {"header.json": header(mapped(), version=VERSION + 1)},
        f"its format has version {VERSION + 1}; this onkel reads versions up to {VERSION}.",
    ),
    "no version": (
        {"header.json": '{"format": "onkel-model"}'},
        f"its format has version None; this onkel reads versions up to {VERSION}.",
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
        {"header.json": header(mapped(a={"kind": "Dense", "fields": [1, 2, 3]}))},
        DAMAGED,
    ),
    "no fields": ({"header.json": header(mapped(a={"kind": "Dense"}))}, DAMAGED),
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
    original = load_model(models / "linear").online
    assert load_damaged(data, path, original) is False
    start = 30 + len("header.json")
    for place in range(start, start + 60):
        load_damaged(data[:place] + b"\xff" + data[place + 1 :], path, original)


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


@pytest.mark.parametrize(
    "missing", ["learner", "parameters", "task", "setting", "model", "answers", "columns", "extra"]
)
def test_a_header_without_one_of_its_parts_is_refused(models, missing, path):
    content = snapshot.read(models / "linear")
    del content[missing]
    snapshot.write(path, content)
    with pytest.raises(SnapshotError, match=r"model\.onkel: its header is damaged\.$"):
        load_model(path)


PARTS = [
    ("answers", {}),
    ("answers", {"classes": None}),
    ("answers", {"classes": np.array([1, 2, 3])}),
    ("answers", {"classes": np.zeros((2, 2))}),
    ("answers", {"calibration": None}),
    ("answers", {"calibration": Leaf(np.zeros(1))}),
    ("columns", {}),
    ("columns", {"names": np.array(["a"])}),
]


@pytest.mark.parametrize(("part", "change"), PARTS, ids=repr)
def test_answers_and_columns_that_do_not_fit_are_refused(models, part, change, path):
    content = snapshot.read(models / "linear")
    content[part] = content[part] | change if change else {}
    snapshot.write(path, content)
    with pytest.raises(SnapshotError):
        load_model(path)


EXTRAS = [
    *(
        {"fit": fit}
        for fit in (7, "x", None, (), {"epochs": 0}, {"epochs": None}, {"epochs": "x"}, {"epochs": 10**300})
    ),
    *({"fit": fit} for fit in ({"shuffle": "x"}, {"more": 1})),
    *({"values": values} for values in (5, "x", (), {"colour": 5}, {"colour": "red"}, {"colour": ("red", 5)})),
]


@pytest.mark.parametrize("extra", EXTRAS, ids=repr)
def test_what_else_stands_in_a_file_is_checked_too(models, extra, path):
    """Passes without end, and what is no text, would be met only when somebody goes on with the model."""
    snapshot.write(path, snapshot.read(models / "linear") | {"extra": extra})
    for load in (load_model, KernelClassifier.load):
        with pytest.raises(SnapshotError, match=r"model\.onkel: its header is damaged\.$"):
            load(path)


@pytest.mark.parametrize("part", ["learner", "number"])
def test_a_sentence_holds_no_more_of_a_file_than_one_can_read(models, part, path):
    content = snapshot.read(models / "linear")
    step = content["model"].step._replace(code=10**4000)
    long = {"learner": "x" * 10**6} if part == "learner" else {"model": content["model"]._replace(step=step)}
    snapshot.write(path, content | long)
    with pytest.raises(SnapshotError) as caught:
        load_model(path)
    assert len(str(caught.value)) < 300 + len(str(path))


@pytest.mark.parametrize("part", ["moves", "energy"])
def test_a_calibration_without_numbers_is_refused(models, part, path):
    content = snapshot.read(models / "linear")
    calibration = content["answers"]["calibration"]
    content["answers"]["calibration"] = calibration._replace(**{part: np.zeros(0)})
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


def test_a_file_that_must_not_be_read_is_not_called_damaged(models, monkeypatch):
    def refusing(path, *_, **__):
        raise PermissionError(13, "Permission denied", path)

    path = models / "linear"
    monkeypatch.setattr("builtins.open", refusing)
    with pytest.raises(SnapshotError, match=r"linear: the file cannot be opened \(Permission denied\)\.$"):
        snapshot.read(path)
