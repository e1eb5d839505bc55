"""Runs that are stopped, in any way at any moment, and go on as if they had never been."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from onkel import KernelClassifier
from onkel.apps.cli.checkpoints import Checkpoint
from onkel.apps.cli.main import main
from onkel.core import trees
from onkel.files import snapshot
from onkel.streams import LibsvmFile
from tests.apps.cli.common import BrokenDownError, X, breaking, spoken, stopped_after_every_block

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
    "fewer rows": (["first.libsvm"], "DATA had 300 rows, now 170"),
    "another order": (["binary.libsvm", "--permutation", "1"], "--permutation was not given, now 1"),
    "a limit": (["binary.libsvm", "--limit", "100"], "DATA had 300 rows, now 100; --limit was not given, now 100"),
    "blocks": (["binary.libsvm", "--evaluate", "blocks"], "--evaluate was rows, now blocks 4096"),
    "later labels": (["binary.libsvm", "--evaluate", "delayed"], "--evaluate was rows, now delayed 0"),
    "a built-in stream": (["rings", "--limit", "300"], None),
    "another first row": (["changed-0.libsvm"], "row 1 differs"),
    "another label": (["changed-label.libsvm"], "row 256 differs"),
    "another last row": (["changed-299.libsvm"], "row 300 differs"),
}


@pytest.fixture
def changed(folder):
    """The same rows but for one number, or one label."""
    lines = Path("binary.libsvm").read_text().splitlines(keepends=True)
    for row in (0, 299):
        other = [*lines]
        other[row] = re.sub(r"1:(-?)", r"1:\g<1>9", other[row], count=1)
        assert other[row] != lines[row]
        Path(f"changed-{row}.libsvm").write_text("".join(other))
    sign = "" if lines[255].startswith("-") else "-"
    Path("changed-label.libsvm").write_text("".join([*lines[:255], sign + lines[255].lstrip("-"), *lines[256:]]))


@pytest.mark.usefixtures("changed")
@pytest.mark.parametrize("kind", OTHER_STREAMS)
def test_a_checkpoint_of_another_stream_is_refused_unless_forced(kind, capsys):
    assert main(["run", "binary.libsvm", "--quiet", "--checkpoint", "here.onkel", "--every", "1"]) == 0
    arguments, named = OTHER_STREAMS[kind]
    assert main(["run", *arguments, "--resume", "here.onkel"]) == 2
    said = f"onkel: here.onkel is a checkpoint of another stream: {named}"
    err = spoken(capsys.readouterr().err)
    if named is None:  # its rows are narrower, which nothing can force
        assert len(err) == 1
        return
    assert err == [f"{said}; --force goes on all the same."]
    assert main(["run", *arguments, "--resume", "here.onkel", "--force", "--quiet", "--save", "out.onkel"]) == 0
    assert f"{said}." in spoken(capsys.readouterr().err)
    assert KernelClassifier.load("out.onkel").online_.rows_learned == 300


def test_force_without_a_checkpoint_means_nothing_and_is_refused(refused):
    assert refused("binary.libsvm", "--force") == "--force needs --resume."


@pytest.mark.parametrize("kind", ["libsvm", "wide", "csv", "standard input", "order", "means"])
def test_rows_are_known_again_however_they_are_read(folder, kind, standard_input, capsys):
    """In blocks of another size, dense or compressed, from a file or a pipe: the place is that of the same rows."""
    text, more, name = Path("binary.libsvm").read_text(), [], "data.libsvm"
    if kind == "wide":
        text = text.replace(" 3:", " 300:")
    elif kind == "csv":
        text, name = Path("header.csv").read_text(), "data.csv"
    elif kind == "means":
        text, name, more = (
            re.sub(r"(?m)^[-\d.]+", "", Path("binary.csv").read_text()),
            "data.csv",
            ["--missing", "mean"],
        )
    elif kind == "order":
        more = ["--permutation", "3"]
    Path(name).write_text(text)
    data = "-" if kind == "standard input" else name
    given = ["--learner", "fogd", "--quiet"]
    for block, limit in ((300, 1), (100, 1), (64, 3), (7, 20)):
        standard_input(text)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Checkpoint, "passed", breaking_after(limit))
            with pytest.raises(BrokenDownError):
                main(["run", data, *given, *more, "--block", str(block), "--checkpoint", "here.onkel"])
        rows = KernelClassifier.load("here.onkel").online_.rows_learned
        assert rows in (min(block * limit, 300), 300)  # a pipe may come all at once
        standard_input(text)
        again = ["run", data, *more, "--block", str(31), "--resume", "here.onkel", "--quiet", "--save", "out.onkel"]
        assert main(again) == 0, capsys.readouterr().err
        standard_input(text)
        assert main(["run", data, *given, *more, "--save", "whole.onkel"]) == 0
        assert Path("out.onkel").read_bytes() == Path("whole.onkel").read_bytes()


def breaking_after(count):
    """In place of `Checkpoint.passed`: after so many blocks, leave a checkpoint and break down."""
    left = [count]

    def passed(checkpoint, rows, place):
        left[0] -= 1
        if not left[0]:
            breaking(checkpoint, rows, place)

    return passed


@pytest.mark.usefixtures("checkpoint")
def test_rows_that_were_added_since_are_learned_as_if_they_had_always_been_there(capsys):
    """As of a log that is written to all the time."""
    more = Path("binary.libsvm").read_text() + Path("first.libsvm").read_text()
    Path("binary.libsvm").write_text(more)
    outputs = ["--quiet", "--save", "out.onkel", "--scores", "scores.txt"]
    assert main(["run", "binary.libsvm", "--resume", "here.onkel", *outputs]) == 0
    found = Path("out.onkel").read_bytes(), Path("scores.txt").read_bytes()
    assert main(["run", "binary.libsvm", "--learner", "fogd", "--block", "100", *outputs]) == 0
    assert (Path("out.onkel").read_bytes(), Path("scores.txt").read_bytes()) == found


@pytest.mark.usefixtures("checkpoint")
def test_a_pipe_that_ends_before_the_place_is_another_stream(standard_input, sentence):
    """Of a pipe nobody knows beforehand how many rows it has."""
    standard_input("".join(Path("binary.libsvm").read_text().splitlines(keepends=True)[:60]))
    said = "here.onkel is a checkpoint of another stream: its rows end after 60, and 100 were learned"
    found = sentence("run", "-", "--resume", "here.onkel")
    assert found == f"{said}; --force goes on all the same."


@pytest.mark.parametrize(
    ("option", "named"),
    [
        (["--label", "b"], "--label"),
        (["--columns", "a,b"], "--columns"),
        (["--drop", "c"], "--drop"),
        (["--categorical", "a"], "--categorical"),
        (["--missing", "zero"], "--missing"),
        (["--separator", ";"], "--separator"),
    ],
)
def test_what_the_model_takes_for_label_and_columns_is_named_where_it_differs(option, named, sentence):
    assert main(["run", "header.csv", "--quiet", "--checkpoint", "here.onkel", "--every", "1"]) == 0
    said = sentence("run", "header.csv", "--resume", "here.onkel", *option)
    assert f"{named}: the model was learned with" in said


def test_a_file_that_becomes_shorter_while_it_is_read_loses_nothing(folder, monkeypatch, sentence):
    """What was learned until then is in a checkpoint, and the run is not called whole."""
    summary = LibsvmFile.summary

    def and_cut(stream):
        found = summary(stream)
        Path("data.libsvm").write_text("".join(text.splitlines(keepends=True)[:120]))
        return found

    text = Path("binary.libsvm").read_text()
    Path("data.libsvm").write_text(text)
    monkeypatch.setattr(LibsvmFile, "summary", and_cut)
    given = ["--learner", "fogd", "--block", "50", "--quiet", "--save", "out.onkel"]
    said = sentence("run", "data.libsvm", *given, "--checkpoint", "here.onkel")
    assert said == "data.libsvm: it ended after 120 rows, and had 300 before."
    assert not os.path.exists("out.onkel")
    monkeypatch.undo()
    os.chdir(folder)
    Path("data.libsvm").write_text(text)
    assert main(["run", "data.libsvm", "--resume", "here.onkel", "--quiet", "--save", "out.onkel"]) == 0
    assert main(["run", "data.libsvm", *given[:-1], "whole.onkel"]) == 0
    assert Path("out.onkel").read_bytes() == Path("whole.onkel").read_bytes()


def test_a_bad_line_in_the_middle_leaves_a_checkpoint_of_what_is_before_it(folder, sentence):
    """One beyond the first rows, all of which are looked at before anything is learned."""
    lines = 20 * Path("binary.libsvm").read_text().splitlines(keepends=True)
    Path("data.libsvm").write_text("".join([*lines[:5030], "what?\n", *lines[5030:]]))
    given = ["--learner", "fogd", "--block", "50", "--quiet", "--features", "grow"]  # it is not read twice
    assert "line 5031" in sentence("run", "data.libsvm", *given, "--classes=-1,1", "--checkpoint", "here.onkel")
    assert KernelClassifier.load("here.onkel").online_.rows_learned == 5000
    Path("data.libsvm").write_text("".join(lines))
    assert main(["run", "data.libsvm", "--resume", "here.onkel", "--quiet", "--save", "out.onkel"]) == 0
    assert main(["run", "data.libsvm", *given, "--classes=-1,1", "--save", "whole.onkel"]) == 0
    assert Path("out.onkel").read_bytes() == Path("whole.onkel").read_bytes()


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
    assert trees.same(both, whole)


def test_a_checkpoint_in_the_middle_of_a_block_knows_no_means_of_later_rows(folder):
    """A class that comes after the first look cuts a block, the rest of which is met again when the run goes on."""
    many = 15 * X.tolist()
    rows = [",".join([*map(repr, row[:2]), "" if i % 3 else repr(row[2])]) for i, row in enumerate(many)]
    labels = ["late" if i > 4300 and i % 5 == 0 else f"class {i % 2}" for i in range(len(rows))]
    Path("holes.csv").write_text("".join(f"{row},{label}\n" for row, label in zip(rows, labels, strict=True)))
    given = ["run", "holes.csv", "--missing", "mean", "--quiet", "--save", "out.onkel"]
    start = ["--learner", "fogd", "--set", "standardise=false", "--block", "900", "--classes", "grow"]
    assert main([*given, *start]) == 0
    expected = Path("out.onkel").read_bytes()
    stopped_after_every_block(given, start)
    assert Path("out.onkel").read_bytes() == expected
