"""What labels are taken for, where results go, and what Ctrl-C leaves behind."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from onkel.cli.main import main
from onkel.stored import load_model
from tests.cli.common import N_ROWS, csv, libsvm, spoken

SHORT = ["--learner", "fogd", "--set", "gamma=0.5"]
ONKEL = [sys.executable, "-m", "onkel"]
RANDOM = np.random.default_rng(2)
N = 3150
WIDE = RANDOM.standard_normal((N, 2)).round(2)


def test_many_whole_numbers_without_a_gap_are_classes_and_the_guess_is_told(told, folder):
    (folder / "many.libsvm").write_text(libsvm(np.arange(N) % 105, WIDE))
    out, said = told("run", "many.libsvm", "--learner", "perceptron")
    why = "105 whole numbers from 0 to 104 without a gap"
    assert said == [f"many.libsvm: its labels are taken for classes ({why}); --task regression if not."]
    assert "multiclass, 105 classes" in out
    assert " ".join(why.split()[:3]) in " ".join(out.split())
    found = json.loads(told("run", "many.libsvm", "--task", "regression", "--json", "-", *SHORT)[0])
    assert found["task"] == "regression"
    assert "task_guessed" not in found


def test_whole_numbers_that_look_like_measurements_are_numbers(told, folder):
    rings = np.resize([*range(1, 24), 25, 26, 27, 29, 30], N)  # 28 values with gaps, as in abalone
    (folder / "rings.csv").write_text(csv(rings, WIDE))
    out, said = told("run", "rings.csv", *SHORT)
    why = "28 whole numbers from 1 to 30, with gaps"
    assert said == [f"rings.csv: its labels are taken for numbers ({why}); --task multiclass if not."]
    assert "regression" in out
    assert "MSE" in out
    found = json.loads(told("run", "rings.csv", "--task", "multiclass", "--json", "-", *SHORT)[0])
    assert (found["task"], len(found["classes"])) == ("multiclass", 28)


@pytest.mark.parametrize(
    "command", [["compare", "--learners", "fogd"], ["tune", "--learner", "fogd", "--grid", "eta=1"]]
)
def test_every_command_that_learns_tells_its_guess(told, folder, command):
    (folder / "many.libsvm").write_text(libsvm(np.arange(N) % 40, WIDE))
    _, said = told(command[0], "many.libsvm", *command[1:])
    assert [line for line in said if "taken for classes" in line] == said
    assert len(said) == 1


def test_nothing_is_said_where_labels_leave_no_doubt(told):
    for name in ("binary.csv", "text.csv", "multiclass.libsvm", "regression.csv"):
        assert told("run", name, *SHORT, "--quiet") == ("", [])


def test_a_named_data_set_knows_its_task(told, folder, monkeypatch):
    (folder / "abalone.libsvm").write_text(libsvm(np.resize([*range(1, 12)], N), RANDOM.random((N, 8)).round(2)))
    monkeypatch.setenv("ONKEL_DATA", str(folder))
    out, said = told("run", "abalone", *SHORT)
    assert said == []
    assert "regression" in out
    found = json.loads(told("run", "abalone", "--task", "multiclass", "--json", "-", *SHORT)[0])
    assert found["task"] == "multiclass"


def test_a_delay_needs_to_be_asked_for(sentence):
    assert sentence("run", "binary.libsvm", "--delay", "5") == "--delay needs --evaluate delayed."
    assert (
        sentence("run", "binary.libsvm", "--delay", "5", "--evaluate", "blocks") == "--delay needs --evaluate delayed."
    )


WRITES = [
    (["run", "binary.libsvm", *SHORT, "--scores"], "text"),
    (["run", "binary.libsvm", *SHORT, "--json"], "json"),
    (["run", "binary.libsvm", *SHORT, "--save"], "zip"),
    (["run", "binary.libsvm", *SHORT, "--report"], "html"),
    (["compare", "binary.libsvm", "--learners", "fogd", "--json"], "json"),
    (["compare", "binary.libsvm", "--learners", "fogd", "--report"], "html"),
    (["tune", "binary.libsvm", "--learner", "fogd", "--grid", "eta=1,2", "--json"], "json"),
    (["predict", "model.onkel", "binary.libsvm", "--to"], "text"),
    (["predict", "model.onkel", "binary.libsvm", "--json"], "json"),
    (["export", "model.onkel", "--onnx"], "onnx"),
    (["export", "model.onkel", "--onnx", "a.onnx", "--json"], "json"),
    (["describe", "fogd", "--json"], "json"),
    (["data", "list", "--json"], "json"),
]
IDS = [" ".join((one[0], one[-1])) for one, _ in WRITES]


def check(data, kind):
    """Whether there is one whole thing of that kind and nothing else."""
    if kind == "zip":
        assert data[:2] == b"PK"
        Path("again.onkel").write_bytes(data)
        assert load_model("again.onkel").online.rows_learned == N_ROWS
    elif kind == "onnx":
        pytest.importorskip("onnx").checker.check_model(pytest.importorskip("onnx").load_from_string(data))
    elif kind == "html":
        assert data.lstrip().startswith(b"<!")
        assert data.rstrip().endswith(b"</html>")
    elif kind == "json":
        json.loads(data)
    else:
        assert len([float(line) for line in data.split()]) == N_ROWS


@pytest.fixture
def model(folder):
    assert main(["run", "binary.libsvm", *SHORT, "--quiet", "--save", "model.onkel"]) == 0


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize(("command", "kind"), WRITES, ids=IDS)
def test_a_dash_is_standard_output_for_every_option_that_writes(folder, capfdbinary, command, kind):
    if kind == "html":
        pytest.importorskip("matplotlib")
    assert main([*command, "-"]) == 0
    sys.stdout.flush()
    check(capfdbinary.readouterr().out, kind)
    assert not Path("-").exists()


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize(("command", "kind"), WRITES, ids=IDS)
def test_a_named_pipe_is_written_to_and_stays_one(folder, command, kind):
    if kind == "html":
        pytest.importorskip("matplotlib")
    os.mkfifo("pipe")
    found = []
    reader = threading.Thread(target=lambda: found.append(Path("pipe").read_bytes()), daemon=True)
    reader.start()
    assert main([*command, "pipe"]) == 0
    reader.join(10)
    assert Path("pipe").is_fifo()
    check(found[0], kind)


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize("target", ["a pipe", "a file", "a file that goes on"])
@pytest.mark.parametrize(("command", "kind"), [WRITES[i] for i in (1, 2, 7, 9)], ids=[IDS[i] for i in (1, 2, 7, 9)])
def test_dev_stdout_is_standard_output(folder, command, kind, target):
    if target == "a pipe":
        done = subprocess.run([*ONKEL, *command, "/dev/stdout"], capture_output=True, timeout=120, check=False)
        assert (done.returncode, spoken(done.stderr.decode())) == (
            0,
            [] if command[0] != "predict" else spoken(done.stderr.decode()),
        )
        check(done.stdout, kind)
        return
    Path("out").write_bytes(b"before\n")
    with open("out", "ab" if target == "a file that goes on" else "wb") as out:
        assert subprocess.run([*ONKEL, *command, "/dev/stdout"], stdout=out, timeout=120, check=False).returncode == 0
        out.write(b"after\n")
    data = Path("out").read_bytes()
    assert data.endswith(b"after\n")
    assert data.startswith(b"before\n") == (target == "a file that goes on")
    check(data.removeprefix(b"before\n").removesuffix(b"after\n"), kind)


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize(
    "command",
    [
        ["run", "binary.libsvm", "--json", "-", "--scores", "-"],
        ["run", "binary.libsvm", "--save", "-", "--report", "/dev/stdout"],
        ["predict", "model.onkel", "binary.libsvm", "--to", "-", "--json", "-"],
        ["export", "model.onkel", "--onnx", "-", "--json", "-"],
        ["compare", "binary.libsvm", "--learners", "fogd", "--json", "-", "--report", "-"],
    ],
)
def test_only_one_thing_can_go_to_standard_output(sentence, command):
    said = sentence(*command)
    assert said.endswith(" cannot both write to standard output.")
    assert all(option in said for option in command if option.startswith("--") and option != "--learners")
