"""Copies and files of models that go beyond scikit-learn's rules."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest

from onkel import KernelClassifier, KernelRegressor, auto
from onkel.apps.cli.main import main
from onkel.core.trees import same
from onkel.files.snapshot import SnapshotError, read, write
from tests.integrations.sklearn.common import FOGD, GAPS, LATE, X

OPEN = {"classes": "grow", "features": "grow", "missing": "mean", "class_weight": "balanced"}
CHOICES = [
    OPEN,
    {"classes": "grow"},
    {"features": "grow"},
    {"missing": "mean"},
    {"missing": "zero"},
    {"class_weight": "balanced"},
    {"class_weight": {"low": 2.0}},
]


@pytest.mark.parametrize("choice", CHOICES, ids=str)
@pytest.mark.parametrize("learner", [FOGD, auto(n_frequencies=6)], ids=repr)
def test_copies_and_files_go_on_bit_by_bit(learner, choice, tmp_path):
    rows = GAPS if "missing" in choice else X
    table = pd.DataFrame(rows, columns=["a", "b", "c"])
    first = {} if "classes" in choice else {"classes": np.unique(LATE)}
    model = KernelClassifier(learner, **choice).partial_fit(table[:80], LATE[:80], **first)
    model.save(tmp_path / "model")
    copies = [KernelClassifier.load(tmp_path / "model"), pickle.loads(pickle.dumps(model)), copy.deepcopy(model)]
    more = table.assign(d=1.0) if "features" in choice else table
    expected = model.progress(more[80:], LATE[80:])
    for copied in copies:
        assert copied.get_params() == model.get_params()
        assert copied.progress(more[80:], LATE[80:]).tolist() == expected.tolist()
        assert same(copied.online_.model, model.online_.model)
        assert np.array_equal(copied.predict_proba(more), model.predict_proba(more))


DAMAGE = [
    ("answers", {"order": np.array([0, 1, 1])}),
    ("answers", {"order": np.array([0.0, 1.0, 2.0])}),
    ("answers", {"order": 3}),
    ("answers", {"classes": None}),
    ("answers", {"classes": np.array(["low", "high", "middle"])}),
    ("answers", {"grows": "shrink"}),
    ("answers", {"counts": np.zeros(2)}),
    ("answers", {"counts": None}),
    ("answers", {"counts": np.array([1.0, -1.0, 2.0])}),
    ("answers", {"class_weight": "even"}),
    ("answers", {"class_weight": 3}),
    ("answers", {"calibration": None}),
    ("columns", {"means": None}),
    ("columns", {"means": (np.zeros(3), np.zeros(2))}),
    ("columns", {"means": (np.zeros(4), np.zeros(4))}),
    ("columns", {"means": (np.zeros(3), np.array(["a", "b", "c"]))}),
    ("columns", {"missing": "most"}),
    ("columns", {"missing": "zero"}),
    ("columns", {"grows": 1}),
    ("columns", {"names": np.array(["a", "b"])}),
    ("columns", {"names": np.array(["a", "b", "a"])}),
    ("columns", {"table": {}}),
    ("extra", {"fit": {"epochs": 1, "more": 2}}),
]


@pytest.mark.parametrize(("part", "change"), DAMAGE, ids=str)
def test_a_damaged_file_of_an_open_model_is_refused(part, change, tmp_path):
    KernelClassifier(FOGD, **OPEN).fit(GAPS, LATE).save(tmp_path / "model")
    content = read(tmp_path / "model")
    write(tmp_path / "same", content)
    assert KernelClassifier.load(tmp_path / "same").get_params()["missing"] == "mean"
    content[part] |= change
    write(tmp_path / "damaged", content)
    with pytest.raises(SnapshotError, match=r"damaged: its header is damaged\.$"):
        KernelClassifier.load(tmp_path / "damaged")


def test_names_that_are_no_text_are_not_saved(tmp_path):
    model = KernelRegressor(FOGD, features="grow")
    model.learn_one({7: 1.0}, 1.0)
    assert pickle.loads(pickle.dumps(model)).predict_one({7: 1.0}) == model.predict_one({7: 1.0})
    with pytest.raises(SnapshotError, match=r"^Names of columns that are not text cannot be saved\.$"):
        model.save(tmp_path / "model")


def test_a_model_that_grows_goes_on_growing_on_the_command_line(tmp_path, capsys):
    model = KernelClassifier(FOGD, classes="grow").fit(X, LATE)
    model.save(tmp_path / "model")
    lines = [",".join([*map(repr, row), label]) for row, label in zip(X.tolist(), np.roll(LATE, 1), strict=True)]
    (tmp_path / "rows.csv").write_text("\n".join([*lines, "1,2,3,new"]))
    assert main(["predict", str(tmp_path / "model"), str(tmp_path / "rows.csv")]) == 0
    assert capsys.readouterr().out.splitlines()[:-1] == model.predict(X).tolist()
    more = ["--quiet", "--save", str(tmp_path / "more")]
    assert main(["run", str(tmp_path / "rows.csv"), "--resume", str(tmp_path / "model"), *more]) == 0
    model.partial_fit(X, np.roll(LATE, 1)).partial_fit([[1.0, 2.0, 3.0]], ["new"])
    again = KernelClassifier.load(tmp_path / "more")
    assert same(again.online_.model, model.online_.model)
    assert again.classes_.tolist() == ["high", "low", "middle", "new"]
