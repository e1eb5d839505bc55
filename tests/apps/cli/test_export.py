"""`onkel export`, as a person calls it."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from onkel import KernelClassifier, KernelRegressor
from onkel.apps.cli.main import main
from tests.apps.cli.common import X, spoken
from tests.integrations.onnx.common import answers, assert_same_answers

DOCS = Path(__file__).parents[3] / "docs"
FOGD = ["--learner", "fogd", "--set", "n_frequencies=20", "--set", "gamma=1"]


@pytest.mark.parametrize("learner", [[], FOGD])
@pytest.mark.parametrize("task", ["binary", "multiclass", "text", "regression"])
def test_an_exported_model_answers_as_the_saved_one(folder, task, learner, capsys):
    assert main(["run", f"{task}.csv", *learner, "--quiet", "--save", "model.onkel"]) == 0
    assert main(["export", "model.onkel", "--onnx", "model.onnx"]) == 0
    out, err = capsys.readouterr()
    assert (len(out.splitlines()), spoken(err)) == (1, [])
    model = (KernelRegressor if task == "regression" else KernelClassifier).load("model.onkel")
    assert_same_answers(model, Path("model.onnx").read_bytes(), X)


def test_compressed_rows_of_a_file_are_answered_as_the_saved_model_does(folder):
    assert main(["run", "binary.libsvm", "--quiet", "--save", "model.onkel"]) == 0
    assert main(["export", "model.onkel", "--onnx", "model.onnx", "--json", "told.json"]) == 0
    assert main(["predict", "model.onkel", "binary.libsvm", "--output", "scores", "--to", "scores.txt"]) == 0
    data = Path("model.onnx").read_bytes()
    np.testing.assert_allclose(answers(data, X)["scores"], np.loadtxt("scores.txt", ndmin=2), atol=1e-5)
    told = json.loads(Path("told.json").read_text())
    assert (told["outputs"], told["bytes"]) == (["label", "scores", "probabilities"], len(data))


REFUSED = {
    "no model": ["nothing.onkel", "--onnx", "out.onnx"],
    "no folder": ["model.onkel", "--onnx", "nowhere/out.onnx"],
    "no formula": ["cells.onkel", "--onnx", "out.onnx"],
    "no file": ["model.onkel"],
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_cannot_be_exported_is_one_sentence_and_nothing_is_written(folder, kind, capsys):
    assert main(["run", "binary.csv", *FOGD, "--quiet", "--save", "model.onkel"]) == 0
    assert main(["run", "binary.csv", "--learner", "ik_ogd", "--quiet", "--save", "cells.onkel"]) == 0
    before = sorted(path.name for path in folder.iterdir())
    assert main(["export", *REFUSED[kind]]) == 2
    out, err = capsys.readouterr()
    assert (out, len(spoken(err))) == ("", 1)
    assert sorted(path.name for path in folder.iterdir()) == before


def test_the_example_of_the_documentation_runs(folder):
    (folder / "data.csv").write_text((folder / "text.csv").read_text())
    shell, python = re.findall(r"```(?:python)?\n(.*?)```", (DOCS / "deployment.md").read_text(), re.DOTALL)
    for line in shell.splitlines():
        assert main(line.split()[1:]) == 0
    found = {}
    exec(python, found)
    expected = KernelClassifier.load("model.onkel")
    assert found["label"].tolist() == expected.predict(found["rows"]).tolist()
    np.testing.assert_allclose(found["probabilities"], expected.predict_proba(found["rows"]), atol=1e-5)
