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
from tests.cli.common import spoken

RUN = [sys.executable, "-m", "onkel", "run"]
STREAM = ["rings", "--learner", "fogd", "--set", "n_frequencies=20", "--set", "gamma=1", "--limit", "60000"]
OFTEN = ["--block", "256", "--every", "256", "--checkpoint", "here.onkel"]
KILLS = 30


class BrokenDownError(Exception):
    pass


def without_times(path):
    report = json.loads(Path(path).read_text())
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


def test_a_run_killed_at_random_moments_ends_as_one_that_was_never_stopped(folder):
    assert main(["run", *STREAM, "--quiet", "--save", "whole.onkel", "--json", "whole.json"]) == 0
    chance, places = random.Random(0), []
    for kill in range(KILLS):
        before = written()
        resume = ["--resume", "here.onkel"] if before else STREAM[1:-2]
        with started(STREAM[0], *STREAM[-2:], *resume, *OFTEN) as running:
            if kill % 3 == 2 and before:
                time.sleep(chance.uniform(0.0, 1.0))  # while it starts, too
            else:
                wait_for_a_new_checkpoint(running, before)
                time.sleep(chance.uniform(0.0, 0.03))
            assert running.poll() is None, running.stderr.read().decode()
            running.kill()
        places.append(KernelClassifier.load("here.onkel").online_.rows_learned)
    assert places == sorted(places)
    assert places[-1] < 60_000
    ending = ["--resume", "here.onkel", "--quiet", "--save", "out.onkel", "--json", "out.json"]
    assert main(["run", STREAM[0], *STREAM[-2:], *ending]) == 0
    assert Path("out.onkel").read_bytes() == Path("whole.onkel").read_bytes()
    assert without_times("out.json") == without_times("whole.json")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_a_checkpoint_of_the_last_block(folder, number):
    with started(*STREAM[:-1], "100000000", *OFTEN, "--every", "20000") as running:
        wait_for_a_new_checkpoint(running, 0)
        running.send_signal(number)
        err = running.stderr.read().decode()
    rows = KernelClassifier.load("here.onkel").online_.rows_learned
    assert running.returncode == 130
    assert spoken(err) == [f"onkel: stopped after {rows:,} rows; --resume here.onkel goes on from there."]


@pytest.mark.parametrize("evaluate", ["rows", "blocks"])
def test_further_passes_go_on_in_the_middle(folder, evaluate, monkeypatch):
    """The place in the stream counts passes too."""
    given = ["run", "binary.libsvm", "--epochs", "3", "--evaluate", evaluate, "--block", "64", "--quiet"]
    assert main([*given, "--save", "whole.onkel", "--json", "whole.json"]) == 0
    passed, left = Checkpoint.passed, [3, 4, 1, 1]  # blocks until it breaks down, each time

    def limited(self, rows, place):
        passed(self, rows, place)
        left[0] -= 1
        if left[0] == 0:
            del left[0]
            raise BrokenDownError

    monkeypatch.setattr(Checkpoint, "passed", limited)
    resume = []
    for _ in range(3):
        with pytest.raises(BrokenDownError):
            main([*given, "--checkpoint", "here.onkel", "--every", "1", *resume])
        resume = ["--resume", "here.onkel"]
    assert main([*given, *resume, "--save", "out.onkel", "--json", "out.json"]) == 0
    assert Path("out.onkel").read_bytes() == Path("whole.onkel").read_bytes()
    assert without_times("out.json") == without_times("whole.json")


OTHER_STREAMS = {
    "other rows": (["first.libsvm"], "DATA"),
    "another order": (["binary.libsvm", "--permutation", "1"], "--permutation"),
    "fewer rows": (["binary.libsvm", "--limit", "100"], "DATA, --limit"),
    "blocks": (["binary.libsvm", "--evaluate", "blocks"], "--evaluate"),
}


@pytest.mark.parametrize("kind", OTHER_STREAMS)
def test_a_checkpoint_of_another_stream_is_refused(folder, kind, capsys):
    assert main(["run", "binary.libsvm", "--quiet", "--checkpoint", "here.onkel", "--every", "1"]) == 0
    arguments, named = OTHER_STREAMS[kind]
    assert main(["run", *arguments, "--resume", "here.onkel"]) == 2
    assert spoken(capsys.readouterr().err) == [f"onkel: here.onkel is a checkpoint of another stream: {named} differ."]


@pytest.mark.parametrize("given", [["--scores", "s.txt"], ["--evaluate", "delayed"]])
def test_what_a_checkpoint_cannot_hold_is_refused_before_anything_is_learned(folder, given, capsys):
    assert main(["run", "binary.libsvm", "--checkpoint", "here.onkel", *given]) == 2
    assert given[0] in capsys.readouterr().err
    assert not os.path.exists("here.onkel")


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
    for key in ("place", "tally", "stream"):
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
    assert both.log_slope[0] == whole.log_slope[0]
