"""`--json FILE`, with '-' for standard output: the same in every command."""

import json
from pathlib import Path

import numpy as np
import pytest

from onkel.apps.cli.main import main
from tests.apps.cli.common import N_ROWS, spoken
from tests.apps.cli.test_process import process

FOGD = ["--learner", "fogd"]
COMMANDS = {
    "run": ["run", "binary.libsvm", *FOGD],
    "compare": ["compare", "binary.libsvm", "--learners", "fogd"],
    "tune": ["tune", "binary.libsvm", *FOGD, "--grid", "sigma=1"],
    "predict": ["predict", "model.onkel", "binary.libsvm"],
    "export": ["export", "model.onkel", "--onnx", "model.onnx"],
    "describe": ["describe", "fogd"],
    "describe all": ["describe"],
    "data list": ["data", "list"],
    "data info": ["data", "info", "a9a"],
    "data fetch": ["data", "fetch", "a9a"],
    "reproduce": ["reproduce"],
    "warm": ["warm", "fogd", "--task", "binary", "--layout", "dense"],
}
TIMES = ("seconds", "rows_per_second")


def without_times(found):
    if isinstance(found, dict):
        return {key: without_times(value) for key, value in found.items() if key not in TIMES}
    return [without_times(value) for value in found] if isinstance(found, list) else found


@pytest.fixture
def ready(folder, monkeypatch):
    """A saved model, and a data set that is here."""
    for name in ("a9a", "a9a.t"):
        (folder / f"{name}.libsvm").write_text("1 1:1\n")
    monkeypatch.setenv("ONKEL_DATA", str(folder))
    assert main(["run", "binary.libsvm", *FOGD, "--quiet", "--save", "model.onkel"]) == 0
    return folder


@pytest.mark.usefixtures("ready")
@pytest.mark.parametrize("name", COMMANDS)
def test_json_goes_to_a_file_or_to_standard_output(name, capsys):
    assert main([*COMMANDS[name], "--json", "out.json"]) == 0
    text = capsys.readouterr().out
    assert main([*COMMANDS[name], "--json", "-"]) == 0
    out, err = capsys.readouterr()
    assert [line for line in spoken(err) if "rows with labels" not in line] == []
    assert without_times(json.loads(out)) == without_times(json.loads(Path("out.json").read_text()))
    assert text
    assert not text.startswith(("{", "["))


@pytest.mark.usefixtures("ready")
@pytest.mark.parametrize("name", COMMANDS)
def test_a_file_that_cannot_be_written_is_one_sentence(name, capsys):
    assert main([*COMMANDS[name], "--json", "nowhere/out.json"]) == 2
    assert spoken(capsys.readouterr().err) == ["onkel: nowhere: No such file or directory."]


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression", "text"])
@pytest.mark.parametrize("output", ["labels", "scores"])
def test_predictions_as_json_are_those_of_the_lines(folder, capsys, task, output):
    assert main(["run", f"{task}.csv", *FOGD, "--quiet", "--save", "model.onkel"]) == 0
    given = ["predict", "model.onkel", f"{task}.csv", "--output", output]
    assert main([*given, "--to", "lines.txt", "--json", "-"]) == 0
    found = json.loads(capsys.readouterr().out)
    lines = Path("lines.txt").read_text().splitlines()
    assert (found["task"], found["output"]) == ({"text": "binary"}.get(task, task), output)
    assert len(found["predictions"]) == N_ROWS
    if output == "scores":
        assert np.array_equal([list(map(float, line.split())) for line in lines], found["predictions"])
    else:
        assert lines == [str(one) for one in found["predictions"]]


@pytest.mark.usefixtures("ready")
def test_a_prediction_that_fails_writes_no_json(folder):
    (folder / "bad.libsvm").write_text("1 1:1\nx\n")
    done = process("predict", "model.onkel", "bad.libsvm", "--json", "out.json", "--to", "out.txt")
    assert (done.returncode, done.stdout) == (2, "")
    assert not {"out.json", "out.txt"} & {path.name for path in folder.iterdir()}
    done = process("predict", "model.onkel", "bad.libsvm", "--on-error", "skip", "--json", "-")
    assert len(json.loads(done.stdout)["predictions"]) == 1
    said = "onkel: bad.libsvm: 1 bad line skipped; the first: bad.libsvm, line 2: the label 'x' is not a number."
    assert spoken(done.stderr)[0] == said
