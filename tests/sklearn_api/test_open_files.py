"""Copies and files of models that go beyond scikit-learn's rules."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest

from onkel import KernelClassifier, KernelRegressor, auto
from onkel.cli.main import main
from onkel.snapshot import SnapshotError, read, same, write
from tests.sklearn_api.common import FOGD, GAPS, LATE, X

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
    {"order": np.array([0, 1, 1])},
    {"order": np.array([0.0, 1.0, 2.0])},
    {"order": None},
    {"classes": None},
    {"classes": "shrink"},
    {"counts": np.zeros(2)},
    {"counts": None},
    {"class_weight": "even"},
    {"class_weight": 3},
    {"means": None},
    {"means": (np.zeros(3), np.zeros(2))},
    {"means": (np.zeros(3), np.array(["a", "b", "c"]))},
    {"missing": "most"},
    {"missing": "zero"},
    {"features": 1},
]


@pytest.mark.parametrize("change", DAMAGE, ids=str)
def test_a_damaged_file_of_an_open_model_is_refused(change, tmp_path):
    KernelClassifier(FOGD, **OPEN).fit(GAPS, LATE).save(tmp_path / "model")
    content = read(tmp_path / "model")
    write(tmp_path / "same", content)
    assert KernelClassifier.load(tmp_path / "same").get_params()["missing"] == "mean"
    content["extra"]["open"] |= change
    write(tmp_path / "damaged", content)
    with pytest.raises(SnapshotError, match=r"damaged: its header is damaged\.$"):
        KernelClassifier.load(tmp_path / "damaged")


def test_names_that_are_no_text_are_not_saved(tmp_path):
    model = KernelRegressor(FOGD, features="grow")
    model.learn_one({7: 1.0}, 1.0)
    assert pickle.loads(pickle.dumps(model)).predict_one({7: 1.0}) == model.predict_one({7: 1.0})
    with pytest.raises(SnapshotError, match=r"^Names of columns that are not text cannot be saved\.$"):
        model.save(tmp_path / "model")


def test_a_model_that_grows_is_not_for_the_command_line(tmp_path, capsys):
    KernelClassifier(FOGD, classes="grow").fit(X, LATE).save(tmp_path / "model")
    (tmp_path / "rows.csv").write_text("1,2,3,low\n")
    for command in (["predict", str(tmp_path / "model")], ["run", "--resume", str(tmp_path / "model")]):
        assert main([*command, str(tmp_path / "rows.csv")]) == 2
        assert "it takes columns or classes in its own way: use it in Python." in capsys.readouterr().err
