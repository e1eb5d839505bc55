"""Runs that are stopped, in any way at any moment, and go on as if they had never been."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from onkel import KernelClassifier, snapshot
from onkel.cli.checkpoints import Checkpoint
from onkel.cli.main import main
from tests.cli.common import BrokenDownError, breaking, spoken, stopped_after_every_block

RUN = [sys.executable, "-m", "onkel", "run"]
STREAM = ["rings", "--learner", "fogd", "--set", "n_frequencies=20", "--set", "gamma=1"]
OFTEN = ["--every", "256", "--checkpoint", "here.onkel"]
KILLED = {  # what is written and how rows are learned, and how often it is killed
    "rows": (["--limit", "60000"], 12),
    "everything": (["--limit", "60000", "--scores", "scores.txt", "--report", "page.html"], 12),
    "delayed": (["--limit", "12000", "--evaluate", "delayed", "--delay", "300", "--scores", "scores.txt"], 6),
}


def without_times(path):
    report = json.loads(Path(path).read_text())
    for moment in report.get("history", []):
        del moment["seconds"]
    return {key: value for key, value in report.items() if key not in ("seconds", "rows_per_second")}


def started(*arguments):
    return subprocess.Popen(
        [*RUN, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip


def written():
    """When the checkpoint was written last."""
    return os.stat("here.onkel").st_mtime_ns if os.path.exists("here.onkel") else 0


def wait_for_a_new_checkpoint(running, before):
    while running.poll() is None and written() == before:
        time.sleep(0.002)


@pytest.mark.parametrize("kind", KILLED)
def test_a_run_killed_at_random_moments_ends_as_one_that_was_never_stopped(folder, kind):
    (more, kills), output = KILLED[kind], ["--quiet", "--save", "out.onkel", "--json", "out.json"]
    given = [STREAM[0], "--block", "256", *more]
    assert main(["run", *given, *STREAM[1:], *output]) == 0
    names = [name for name in ("out.onkel", "scores.txt") if os.path.exists(name)]
    expected, report = {name: Path(name).read_bytes() for name in names}, without_times("out.json")
    for name in (*names, "out.json"):
        os.unlink(name)
    chance, places = random.Random(0), []
    for kill in range(kills):
        before = written()
        with started(*given, *(["--resume", "here.onkel"] if before else STREAM[1:]), *OFTEN) as running:
            if kill % 3 == 2 and before:
                time.sleep(chance.uniform(0.0, 1.0))  # while it starts, too
            else:
                wait_for_a_new_checkpoint(running, before)
                time.sleep(chance.uniform(0.0, 0.03))
            assert running.poll() is None, running.stderr.read().decode()
            running.kill()
        places.append(KernelClassifier.load("here.onkel").online_.rows_learned)
    assert places == sorted(places)
    assert 0 < places[-1] < int(more[1]) - 300
    assert main(["run", *given, "--resume", "here.onkel", *output]) == 0
    assert {name: Path(name).read_bytes() for name in names} == expected
    assert without_times("out.json") == report


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_a_checkpoint_of_the_last_block(folder, number):
    with started(*STREAM, "--limit", "100000000", *OFTEN, "--every", "20000") as running:
        wait_for_a_new_checkpoint(running, 0)
        running.send_signal(number)
        err = running.stderr.read().decode()
    rows = KernelClassifier.load("here.onkel").online_.rows_learned
    assert running.returncode == 130
    assert spoken(err) == [f"onkel: stopped after {rows:,} rows; --resume here.onkel goes on from there."]


@pytest.mark.parametrize("evaluate", [["rows"], ["blocks"], ["delayed", "--delay", "70"]], ids=lambda words: words[0])
@pytest.mark.parametrize("data", ["binary.libsvm", "wide.libsvm"])
def test_a_run_stopped_after_every_block_ends_as_one_that_was_never_stopped(folder, evaluate, data):
    """Also in further passes, and with CSR rows."""
    Path("wide.libsvm").write_text(Path("binary.libsvm").read_text().replace(" 3:", " 300:"))
    given = ["run", data, "--epochs", "2", "--evaluate", *evaluate, "--block", "64", "--quiet", "--save", "out.onkel"]
    given += ["--scores", "out.txt", "--json", "out.json", "--plots", "plots"]
    assert main([*given, "--learner", "fogd"]) == 0
    expected, report = [Path(name).read_bytes() for name in ("out.onkel", "out.txt")], without_times("out.json")
    os.unlink("out.txt")
    stopped_after_every_block(given, ["--learner", "fogd"])
    assert [Path(name).read_bytes() for name in ("out.onkel", "out.txt")] == expected
    assert without_times("out.json") == report


OTHER_STREAMS = {
    "other rows": (["first.libsvm"], "DATA"),
    "another order": (["binary.libsvm", "--permutation", "1"], "--permutation"),
    "fewer rows": (["binary.libsvm", "--limit", "100"], "DATA, --limit"),
    "blocks": (["binary.libsvm", "--evaluate", "blocks"], "--evaluate"),
    "later labels": (["binary.libsvm", "--evaluate", "delayed"], "--evaluate"),
}


@pytest.mark.parametrize("kind", OTHER_STREAMS)
def test_a_checkpoint_of_another_stream_is_refused(folder, kind, capsys):
    assert main(["run", "binary.libsvm", "--quiet", "--checkpoint", "here.onkel", "--every", "1"]) == 0
    arguments, named = OTHER_STREAMS[kind]
    assert main(["run", *arguments, "--resume", "here.onkel"]) == 2
    assert spoken(capsys.readouterr().err) == [f"onkel: here.onkel is a checkpoint of another stream: {named} differ."]


SCORED = ["--resume", "here.onkel", "--scores", "scores.txt"]


@pytest.fixture
def checkpoint(folder):
    """A checkpoint of the first 100 rows, with scores."""
    given = ["run", "binary.libsvm", "--learner", "fogd", "--block", "100", "--quiet", "--checkpoint", "here.onkel"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Checkpoint, "passed", breaking)
        with pytest.raises(BrokenDownError):
            main([*given, "--scores", "scores.txt"])


@pytest.mark.usefixtures("checkpoint")
def test_scores_that_are_no_longer_there_are_missed(capsys):
    said = ["onkel: scores.txt: it does not hold what was written before the checkpoint."]
    text = Path("scores.txt").read_text()
    for spoil in (lambda: Path("scores.txt").write_text(text[:-1]), lambda: os.unlink("scores.txt")):
        spoil()
        assert main(["run", "binary.libsvm", *SCORED]) == 2
        assert spoken(capsys.readouterr().err) == said


@pytest.mark.usefixtures("folder")
def test_scores_cannot_begin_in_the_middle(capsys):
    assert main(["run", "binary.libsvm", "--quiet", "--checkpoint", "here.onkel", "--every", "1"]) == 0
    assert main(["run", "binary.libsvm", *SCORED]) == 2
    said = "onkel: here.onkel was written without --scores: those of its 300 rows are lost."
    assert spoken(capsys.readouterr().err) == [said]


@pytest.mark.usefixtures("checkpoint")
def test_a_report_that_begins_in_the_middle_says_so(capsys):
    pytest.importorskip("matplotlib")
    assert main(["run", "binary.libsvm", "--resume", "here.onkel", "--report", "page.html", "--json", "-"]) == 0
    out, err = capsys.readouterr()
    said = "here.onkel was written without --report or --plots: speed and weights are those after its 100 rows."
    assert spoken(err) == [f"onkel: {said}"]
    assert json.loads(out)["history"][0]["rows"] == 300


def test_a_finished_run_has_nothing_left_to_learn(folder, capsys):
    given = ["run", "binary.libsvm", "--json", "-"]
    assert main([*given, "--checkpoint", "here.onkel", "--every", "1"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert main([*given, "--resume", "here.onkel"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert (again["rows"], again["mistakes"], again["curve"]) == (first["rows"], first["mistakes"], first["curve"])


def test_a_checkpoint_without_what_it_should_have_is_damaged(folder, capsys):
    assert main(["run", "binary.libsvm", "--quiet", "--checkpoint", "here.onkel", "--every", "1"]) == 0
    content = snapshot.read("here.onkel")
    for key in ("place", "tally", "stream", "waiting", "history", "scores"):
        broken = {**content["extra"]["progress"]}
        del broken[key]
        snapshot.write("bad.onkel", {**content, "extra": {**content["extra"], "progress": broken}})
        assert main(["run", "binary.libsvm", "--resume", "bad.onkel"]) == 2
        assert spoken(capsys.readouterr().err) == ["onkel: bad.onkel: its progress is damaged."]


def test_a_saved_model_goes_on_with_its_temperature(folder, capsys):
    """The log-loss of the second half starts from what the first half taught about probabilities."""
    assert main(["run", "first.libsvm", "--learner", "fogd", "--quiet", "--save", "half.onkel"]) == 0
    assert main(["run", "second.libsvm", "--resume", "half.onkel", "--quiet", "--save", "both.onkel"]) == 0
    assert main(["run", "binary.libsvm", "--learner", "fogd", "--quiet", "--save", "whole.onkel"]) == 0
    both, whole = (KernelClassifier.load(f"{name}.onkel").calibration_ for name in ("both", "whole"))
    assert snapshot.same(both, whole)
