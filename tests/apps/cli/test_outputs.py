"""What it writes; saving and going on."""

import json
import os
import threading
from pathlib import Path

import numpy as np
import pytest

from onkel import KernelClassifier
from onkel.core.trees import same
from onkel.files.model_file import load_model
from onkel.recipes import RECIPES
from tests.apps.cli.common import DATA, LABELS, N_ROWS, TARGETS, X, by_hand, libsvm

KEYS = {"learner", "parameters", "rows", "seconds", "rows_per_second", "curve", "task", "model_bytes", "rows_learned"}


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
def test_the_report_has_everything(report, task):
    found = report(f"{task}.libsvm")
    more = {"mse", "rmse", "mae"} if task == "regression" else {"mistakes", "mistake_rate", "log_loss", "recall"}
    assert found.keys() >= KEYS | more
    assert (found["learner"], found["rows"], found["rows_learned"]) == ("auto", N_ROWS, N_ROWS)
    assert found["rows_per_second"] == pytest.approx(N_ROWS / found["seconds"])
    assert [point["rows"] for point in found["curve"]] == [100, 200, 300]
    assert all(point.keys() == {"rows", "error", "window_error"} for point in found["curve"])


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
def test_the_error_is_that_of_the_scores(report, scores, task):
    found, rows = report(f"{task}.libsvm"), scores(f"{task}.libsvm")
    if task == "regression":
        assert found["mse"] == pytest.approx(np.mean((rows[:, 0] - TARGETS[task]) ** 2))
    else:
        chosen = np.argmax(rows, axis=1) if task == "multiclass" else np.where(rows[:, 0] >= 0, 1.0, -1.0)
        assert found["mistakes"] == np.sum(chosen != TARGETS[task])
        assert found["mistake_rate"] == pytest.approx(found["mistakes"] / N_ROWS)


def test_the_report_can_be_a_file(onkel_run):
    out = onkel_run("binary.libsvm", "--json", "report.json")
    found = json.loads(Path("report.json").read_text())
    assert found["rows"] == N_ROWS
    assert f"{100 * found['mistake_rate']:.2f} %" in out


def test_on_standard_output_there_is_only_the_report(onkel_run):
    assert json.loads(onkel_run("binary.libsvm", "--json", "-"))["rows"] == N_ROWS
    assert json.loads(onkel_run("binary.libsvm", "--json", "-", "--quiet"))["rows"] == N_ROWS


def test_a_short_table_ends_the_run(onkel_run):
    lines = onkel_run("multiclass.libsvm", "--test", "multiclass.libsvm").splitlines()
    names = [line.split("  ")[0] for line in lines]
    for name in ("learner", "task", "rows", "mistakes", "mistake rate", "rows per second", "test mistake rate"):
        assert name in names
    assert len(lines) < 20


@pytest.mark.parametrize("labels", [[1, 2], [1, 2, 3]])
def test_the_table_counts_classes(onkel_run, labels):
    Path("data.libsvm").write_text(libsvm(np.resize(labels, N_ROWS)))
    assert f"{len(labels)} classes" in onkel_run("data.libsvm")


def test_quiet_says_nothing(onkel_run):
    assert onkel_run("binary.libsvm", "--quiet", "--json", "report.json") == ""


def test_scores_have_one_line_per_row_and_one_number_per_class(onkel_run):
    onkel_run("multiclass.libsvm", "--scores", "scores.txt")
    lines = Path("scores.txt").read_text().splitlines()
    assert len(lines) == N_ROWS
    assert {len(line.split()) for line in lines} == {3}


def test_scores_can_go_where_nothing_can_be_replaced(onkel_run, folder):
    os.mkfifo("pipe")
    found = []
    reader = threading.Thread(target=lambda: found.append(Path("pipe").read_text()), daemon=True)
    reader.start()
    onkel_run("binary.libsvm", "--scores", "pipe", "--quiet")
    reader.join(2)
    assert Path("pipe").is_fifo()
    assert len(found[0].splitlines()) == N_ROWS


def test_nothing_is_left_but_what_was_asked_for(onkel_run, folder):
    before = set(os.listdir(folder))
    onkel_run("binary.libsvm", "--json", "a.json", "--save", "a.onkel", "--scores", "a.txt")
    assert set(os.listdir(folder)) - before == {"a.json", "a.onkel", "a.txt"}


@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.parametrize("limit", [10, 170])
def test_going_on_with_a_saved_model_is_never_having_stopped(onkel_run, scores, name, limit):
    Path("a.libsvm").write_text(libsvm(LABELS["binary"][:limit], X[:limit]))
    Path("b.libsvm").write_text(libsvm(LABELS["binary"][limit:], X[limit:]))
    whole = scores("binary.libsvm", "--learner", name, "--save", "whole.onkel")
    first = scores("a.libsvm", "--learner", name, "--save", "half.onkel")
    second = scores("b.libsvm", "--resume", "half.onkel", "--save", "half.onkel")
    assert np.array_equal(np.concatenate([first, second]), whole)
    assert same(load_model("half.onkel")[0].model, load_model("whole.onkel")[0].model)
    assert load_model("half.onkel")[0].rows_learned == N_ROWS


@pytest.mark.parametrize("name", ["multiclass.libsvm", "regression.csv", "text.csv"])
def test_going_on_keeps_the_task_and_the_classes(onkel_run, report, name):
    onkel_run(name, "--save", "model.onkel", "--dtype", "float64")
    some = "".join(DATA[name].splitlines(keepends=True)[:5])  # too few rows to see the task from
    Path(f"some-{name}").write_text(some)
    found, whole = report(f"some-{name}", "--resume", "model.onkel"), report(name)
    assert found["task"] == whole["task"]
    assert (found["rows"], found["rows_learned"]) == (5, 305)


def test_going_on_from_standard_input(onkel_run, scores, standard_input):
    whole = scores("binary.libsvm")
    onkel_run("first.libsvm", "--save", "model.onkel")
    standard_input(DATA["second.libsvm"])
    assert np.array_equal(scores("-", "--resume", "model.onkel"), whole[170:])


def test_a_classifier_that_was_saved_in_python_can_go_on(scores):
    model = KernelClassifier().partial_fit(X[:170], LABELS["binary"][:170], classes=[-1, 1])
    model.save("model.onkel")
    assert np.array_equal(scores("second.libsvm", "--resume", "model.onkel"), by_hand("binary")[170:])


@pytest.mark.parametrize("more", [[], ["--permutation", "1"], ["--limit", "200"]])
def test_several_passes_report_the_errors_of_the_first_and_learn_all(report, more):
    common = ["binary.libsvm", "--learner", "fogd", "--test", "binary.libsvm", *more]
    first, third = report(*common), report(*common, "--epochs", "3")
    assert first["rows"] == third["rows"] == (200 if "--limit" in more else N_ROWS)
    assert first["mistakes"] == third["mistakes"]
    assert third["rows_learned"] == 3 * first["rows_learned"] == 3 * first["rows"]
    assert third["test"]["mistakes"] <= first["test"]["mistakes"]


def test_several_passes_over_what_can_be_read_only_once_are_refused(refused, standard_input):
    standard_input(DATA["binary.libsvm"])
    assert "--epochs needs data that can be read again" in refused("-", "--format", "libsvm", "--epochs", 2)
