"""What labels are taken for, where results go, and what Ctrl-C leaves behind."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from onkel.apps.cli.main import main
from onkel.files.model_file import load_model
from tests.apps.cli.common import DATA, N_ROWS, csv, libsvm, spoken

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


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize(
    "command",
    [
        ["run", "broken.libsvm", *SHORT, "--on-error", "stop", "--features", "3", "--task", "binary"],
        ["predict", "model.onkel", "broken.libsvm"],
        ["compare", "binary.libsvm", "--learners", "fogd,rbp:budget=0"],
        ["run", "binary.libsvm", *SHORT, "--test", "broken.libsvm"],
        ["run", "binary.libsvm", *SHORT, "--save", "folder"],
    ],
)
def test_a_command_that_fails_leaves_nothing_on_standard_output(folder, sentence, command):
    (folder / "folder").mkdir()
    (folder / "broken.libsvm").write_text(DATA["binary.libsvm"] + "1 1:x\n")
    assert sentence(*command, "--block", "50", "--json", "-")


def test_a_model_that_cannot_be_saved_leaves_no_report_on_standard_output(sentence, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device", "model.onkel")

    monkeypatch.setattr("onkel.apps.cli.session.save_model", full)
    said = sentence("run", "binary.libsvm", *SHORT, "--save", "model.onkel", "--json", "-")
    assert said == "model.onkel: No space left on device."


def test_a_built_in_stream_has_as_many_rows_as_are_wanted(told):
    out, _ = told("run", "drifting", "--limit", "250000", "--learner", "rbp", "--set", "budget=2", "--json", "-")
    assert json.loads(out)["rows"] == 250_000


@pytest.mark.parametrize("source", ["-", "rows.csv"])
@pytest.mark.parametrize("more", [[], ["--evaluate", "delayed", "--delay", "500"]])
def test_an_interrupt_saves_what_was_learned_and_says_so(folder, source, more):
    text = DATA["binary.csv"] * (20 if source == "-" else 2000)
    (folder / "rows.csv").write_text(text)
    command = [*ONKEL, "run", source, "--format", "csv", *more, "--save", "model.onkel", "--scores", "scores.txt"]
    with subprocess.Popen(
        [*command, "--block", "200"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # ignored where tests run in the background
    ) as running:  # fmt: skip
        if source == "-":
            running.stdin.write(text.encode())
            running.stdin.flush()
        end = time.monotonic() + 60
        while time.monotonic() < end and not any(path.stat().st_size for path in folder.glob(".scores.txt.*")):
            time.sleep(0.02)  # until it has learned some rows
        time.sleep(0.5 if source == "-" else 0.05)  # all that came is learned, and more is waited for
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
    loaded = load_model("model.onkel")
    rows = loaded.online.rows_learned
    assert (running.returncode, out) == (130, b"")
    assert spoken(err.decode()) == [f"onkel: stopped; what was learned from {rows:,} rows is in model.onkel."]
    assert 0 < rows <= text.count("\n")
    assert sorted(path.name for path in folder.glob("*scores*")) == []


@pytest.mark.parametrize(("count", "names"), [(3, 3), (64, 64), (65, 256)])
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_columns_of_text_are_one_hot_up_to_64_values_and_hashed_beyond(told, folder, count, names, form):
    cities = [f"city {n % count:02}" for n in range(5000)]
    numbers, target = RANDOM.standard_normal(5000).round(3), RANDOM.standard_normal(5000).round(3)
    if form == "csv":
        rows = (f"{x},{city},{y}\n" for x, city, y in zip(numbers, cities, target, strict=True))
        (folder / "table.csv").write_text("x,city,y\n" + "".join(rows))
    else:
        pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        parquet.write_table(pa.table({"x": numbers, "city": cities, "y": target}), "table.parquet")
    out, said = told("run", f"table.{form}", "--categorical", "city", *SHORT, "--json", "-")
    found = json.loads(out)
    assert (found["task"], said) == ("regression", [])
    expected = [f"city={name}" for name in sorted(set(cities))] if count <= 64 else [f"hash{n}" for n in range(names)]
    assert found["feature_names"] == ["x", *expected]
