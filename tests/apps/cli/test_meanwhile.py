"""What happens to data and clocks while a run is under way."""

import json
import math
import os
import random
from pathlib import Path

import pytest

from onkel.apps.cli.main import main
from onkel.files.model_file import load_model
from onkel.streams import CsvFile, LibsvmFile

GIVEN = ["--learner", "fogd", "--block", "50", "--quiet"]


def test_clocks_that_jump_change_no_bit_and_no_report(folder, monkeypatch):
    pytest.importorskip("matplotlib")
    command = ["run", "binary.libsvm", *GIVEN, "--checkpoint", "here.onkel", "--every", "1"]
    written = ("out.onkel", "out.txt")
    command += ["--save", written[0], "--scores", written[1], "--json", "out.json", "--report", "page.html"]
    assert main(command) == 0
    expected = {name: Path(name).read_bytes() for name in written}
    chance = random.Random(0)

    def jumping():
        return chance.uniform(-1e9, 1e9)

    for clock in (
        "onkel.evaluation.prequential.perf_counter",
        "onkel.apps.cli.display.perf_counter",
        "time.time",
        "time.monotonic",
    ):
        monkeypatch.setattr(clock, jumping)
    assert main(command) == 0
    monkeypatch.undo()
    os.chdir(folder)
    assert {name: Path(name).read_bytes() for name in written} == expected
    report = json.loads(Path("out.json").read_text())
    assert report["seconds"] >= 0.0
    assert math.isfinite(report["rows_per_second"])
    seconds = [moment["seconds"] for moment in report["history"]]
    assert seconds == sorted(seconds)
    assert load_model("here.onkel").online.rows_learned == 300


@pytest.mark.parametrize(("kind", "name"), [(LibsvmFile, "data.libsvm"), (CsvFile, "data.csv")])
def test_a_file_that_vanishes_before_it_is_learned_is_named(kind, name, folder, monkeypatch, sentence):
    Path(name).write_text(Path(f"binary{Path(name).suffix}").read_text())
    summary = kind.summary

    def and_gone(stream):
        found = summary(stream)
        Path(name).unlink(missing_ok=True)
        return found

    monkeypatch.setattr(kind, "summary", and_gone)
    before = {*os.listdir(folder)} - {name}
    assert sentence("run", name, *GIVEN, "--save", "out.onkel") == f"{name}: there is no such file."
    assert {*os.listdir(folder)} == before


def test_a_file_that_vanishes_between_two_passes_loses_nothing(folder, monkeypatch, sentence):
    text = Path("binary.libsvm").read_text()
    Path("data.libsvm").write_text(text)
    opened, times = LibsvmFile.__iter__, []

    def and_gone(stream):
        times.append(1)
        if len(times) == 2:
            Path("data.libsvm").unlink()
        return opened(stream)

    monkeypatch.setattr(LibsvmFile, "__iter__", and_gone)
    passes = ["--epochs", "2", "--save", "out.onkel"]
    said = sentence("run", "data.libsvm", *GIVEN, *passes, "--checkpoint", "here.onkel")
    assert said == "data.libsvm: there is no such file."
    monkeypatch.setattr(LibsvmFile, "__iter__", opened)
    Path("data.libsvm").write_text(text)
    assert load_model("here.onkel").online.rows_learned == 300
    assert main(["run", "data.libsvm", "--quiet", *passes, "--resume", "here.onkel"]) == 0
    found = Path("out.onkel").read_bytes()
    assert main(["run", "data.libsvm", *GIVEN, *passes]) == 0
    assert Path("out.onkel").read_bytes() == found


def test_a_file_that_grows_while_it_is_learned_is_learned_to_its_end(folder, monkeypatch):
    """Those that write a log need not wait."""
    lines = Path("binary.libsvm").read_text().splitlines(keepends=True)
    Path("data.libsvm").write_text("".join(lines[:200]))
    summary = LibsvmFile.summary

    def and_more(stream):
        found = summary(stream)
        Path("data.libsvm").write_text("".join(lines))
        return found

    monkeypatch.setattr(LibsvmFile, "summary", and_more)
    assert main(["run", "data.libsvm", *GIVEN, "--save", "out.onkel"]) == 0
    assert main(["run", "binary.libsvm", *GIVEN, "--save", "whole.onkel"]) == 0
    assert Path("out.onkel").read_bytes() == Path("whole.onkel").read_bytes()
