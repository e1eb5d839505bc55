"""`onkel run` as a user runs it: every option, every kind of data, and one sentence for everything that is wrong."""

import bz2
import gzip
import io
import json
import lzma
import os
import pty
import select
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import zstandard

import onkel
from onkel import KernelClassifier, fogd, make_learner, prequential, snapshot
from onkel.cli.main import main
from onkel.online import Online
from onkel.recipes import RECIPES
from onkel.snapshot import same
from onkel.stored import load_model
from onkel.streams import STREAMS, concatenate, open_stream

pytestmark = pytest.mark.filterwarnings("error")  # on a terminal, a warning would be one more line

N_ROWS, N_FEATURES = 300, 3
COMPILING = "onkel: compiling for this machine (once; kept on disk) ..."
KEYS = {"learner", "parameters", "rows", "seconds", "rows_per_second", "curve", "task", "model_bytes", "rows_learned"}
PACK = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zst": zstandard.compress}

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((N_ROWS, N_FEATURES)).round(4)
SIZE = np.sum(X**2, axis=1)
LABELS = {
    "binary": np.where(SIZE > 3.0, 1, -1),
    "multiclass": np.digitize(SIZE, [1.5, 3.5]),
    "regression": np.sin(X[:, 0]).round(4),
    "text": np.where(SIZE > 3.0, "far", "near"),
}
TARGETS = {
    "binary": LABELS["binary"].astype(float),
    "multiclass": LABELS["multiclass"].astype(float),
    "regression": LABELS["regression"],
    "text": np.where(SIZE > 3.0, -1.0, 1.0),  # far comes before near
}
OUTPUTS = {"binary": 1, "multiclass": 3, "regression": 1, "text": 1}


def libsvm(labels, rows=X):
    return "".join(
        f"{label} " + " ".join(f"{j + 1}:{value!r}" for j, value in enumerate(row) if value) + "\n"
        for label, row in zip(labels, rows.tolist(), strict=True)
    )


def csv(labels, rows=X, header=""):
    lines = (",".join(map(repr, row)) + f",{label}\n" for label, row in zip(labels, rows.tolist(), strict=True))
    return header + "".join(lines)


DATA = {
    **{f"{task}.libsvm": libsvm(LABELS[task]) for task in ("binary", "multiclass", "regression")},
    **{f"{task}.csv": csv(LABELS[task]) for task in LABELS},
    "first.libsvm": libsvm(LABELS["binary"][:170], X[:170]),
    "second.libsvm": libsvm(LABELS["binary"][170:], X[170:]),
    "header.csv": csv(LABELS["text"], header="a,b,c,place\n"),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with data, in which the command runs."""
    for name, text in DATA.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def onkel_run(folder, capsys):
    """Run the command in this process; returns what it printed. It must succeed without a word on standard error."""

    def run(*arguments):
        code = main(["run", *map(str, arguments)])
        out, err = capsys.readouterr()
        assert (code, spoken(err)) == (0, [])
        return out

    return run


def spoken(err):
    return [line for line in err.splitlines() if line != COMPILING]


@pytest.fixture
def report(onkel_run):
    """Run the command and return its JSON report."""
    return lambda *arguments: json.loads(onkel_run(*arguments, "--json", "-"))


@pytest.fixture
def scores(onkel_run):
    """Run the command and return its scores."""

    def run(*arguments):
        onkel_run(*arguments, "--scores", "scores.txt", "--quiet")
        return np.loadtxt("scores.txt", ndmin=2)

    return run


@pytest.fixture
def standard_input(monkeypatch):
    def feed(text):
        data = text if isinstance(text, bytes) else text.encode()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    return feed


def by_hand(task, order=slice(None), name="fogd", dtype="float32", seed=0, **params):
    """Scores without the command line."""
    kind = {"text": "binary"}.get(task, task)
    online = make_learner(name, **params).start(N_FEATURES, kind, OUTPUTS[task], dtype, seed)
    return online.learn(X[order], TARGETS[task][order])


# ---- data ----


@pytest.mark.parametrize("task", LABELS)
@pytest.mark.parametrize("ending", ["libsvm", "csv"])
def test_scores_are_those_from_before_each_row_was_learned(scores, task, ending):
    if f"{task}.{ending}" not in DATA:
        pytest.skip("LIBSVM labels are numbers")
    assert np.array_equal(scores(f"{task}.{ending}"), by_hand(task))


@pytest.mark.parametrize("ending", PACK)
@pytest.mark.parametrize("name", ["binary.libsvm", "text.csv"])
def test_compressed_files_are_read(scores, name, ending):
    Path(name + ending).write_bytes(PACK[ending](DATA[name].encode()))
    assert np.array_equal(scores(name + ending), by_hand(name.split(".")[0]))


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("binary.libsvm", []),
        ("multiclass.libsvm", []),
        ("regression.libsvm", []),
        ("text.csv", ["--format", "csv"]),
        ("binary.libsvm", ["--block", "50"]),
    ],
)
def test_standard_input_is_read(scores, standard_input, name, options):
    standard_input(DATA[name])
    assert np.array_equal(scores("-", *options), by_hand(name.split(".")[0]))


def test_a_pipe_with_a_name_is_read_like_standard_input(scores):
    os.mkfifo("pipe")
    writer = threading.Thread(target=lambda: Path("pipe").write_text(DATA["binary.libsvm"]), daemon=True)
    writer.start()
    assert np.array_equal(scores("pipe"), by_hand("binary"))


@pytest.mark.parametrize("name", STREAMS)
def test_built_in_streams_are_learned(report, name):
    found = report(name, "--limit", 2000)
    assert found["rows"] == 2000
    if name == "friedman":
        assert found["task"] == "regression"
        assert found["curve"][-1]["window_error"] < found["curve"][0]["error"]
    else:
        assert found["mistake_rate"] < {"blobs": 0.5, "drifting": 0.4, "rings": 0.2}[name]


def test_without_data_it_is_the_drifting_stream(report):
    nothing, named = report("--limit", 500), report("drifting", "--limit", 500)
    assert nothing["mistakes"] == named["mistakes"]
    assert nothing["task"] == "binary"


@pytest.mark.parametrize("label", ["place", "3", "-1"])
def test_the_label_column_is_given_by_name_or_position(scores, label):
    assert np.array_equal(scores("header.csv", "--label", label), by_hand("text"))


def test_the_label_column_may_be_the_first(scores):
    lines = (line.rpartition(",") for line in DATA["text.csv"].splitlines())
    Path("turned.csv").write_text("".join(f"{label},{rest}\n" for rest, _, label in lines))
    assert np.array_equal(scores("turned.csv", "--label", "0"), by_hand("text"))


def test_the_format_is_given_where_the_ending_does_not_tell(scores):
    Path("data.txt").write_text(DATA["text.csv"])
    assert np.array_equal(scores("data.txt", "--format", "csv"), by_hand("text"))


def test_the_number_of_features_can_be_larger_than_the_largest_index(report):
    narrow, wide = report("binary.libsvm"), report("binary.libsvm", "--features", 50)
    assert wide["model_bytes"] > narrow["model_bytes"]


# ---- options ----


@pytest.mark.parametrize("name", RECIPES)
def test_every_learner_learns(report, name):
    found = report("binary.libsvm", "--learner", name)
    assert found["learner"] == name
    assert found["mistakes"] < N_ROWS / 2
    assert found["parameters"].keys() == make_learner(name).get_params().keys()


def test_parameters_reach_the_learner(scores, report):
    options = ["--learner", "nogd", "--set", "budget=30", "--set", "gamma=0.5", "--set", "loss=logistic"]
    expected = by_hand("binary", name="nogd", budget=30, gamma=0.5, loss="logistic")
    assert np.array_equal(scores("binary.libsvm", *options), expected)
    found = report("binary.libsvm", *options)["parameters"]
    assert (found["budget"], found["gamma"], found["loss"], found["eta"]) == (30, 0.5, "logistic", None)


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("gamma=0.5", {"gamma": 0.5}),
        ("gamma=median", {"gamma": "median"}),
        ("gamma = 0.5", {"gamma": 0.5}),
        ("sigma=1e1", {"sigma": 10.0}),
        ("sigma=none", {"sigma": None}),
        ("n_frequencies=12", {"n_frequencies": 12}),
        ("kernel=laplacian", {"kernel": "laplacian"}),
    ],
)
def test_values_are_numbers_words_or_text(scores, setting, expected):
    assert np.array_equal(scores("binary.libsvm", "--set", setting), by_hand("binary", **expected))


def test_the_last_of_two_values_counts(scores):
    found = scores("binary.libsvm", "--set", "gamma=0.5", "--set", "gamma=2")
    assert np.array_equal(found, by_hand("binary", gamma=2))


TASKS = [
    ("binary.libsvm", "auto", "binary"),
    ("binary.libsvm", "binary", "binary"),
    ("binary.libsvm", "multiclass", "binary"),
    ("binary.libsvm", "regression", "regression"),
    ("multiclass.libsvm", "auto", "multiclass"),
    ("multiclass.libsvm", "multiclass", "multiclass"),
    ("multiclass.libsvm", "regression", "regression"),
    ("regression.libsvm", "auto", "regression"),
    ("regression.libsvm", "regression", "regression"),
    ("text.csv", "auto", "binary"),
    ("text.csv", "binary", "binary"),
]


@pytest.mark.parametrize(("name", "asked", "found"), TASKS)
def test_the_task_is_asked_for_or_seen_from_the_labels(report, name, asked, found):
    result = report(name, "--task", asked)
    assert result["task"] == found
    assert ("mse" in result) == (found == "regression")
    assert ("mistake_rate" in result) == (found != "regression")


@pytest.mark.parametrize(
    ("labels", "task"),
    [
        ([0, 1], "binary"),
        ([0, 1, 2], "multiclass"),
        ([0.5, 1], "regression"),
        (range(40), "regression"),  # whole numbers, too many for 300 rows
        (["a", "b"], "binary"),
        (["a", "b", "c"], "multiclass"),
    ],
)
def test_few_labels_are_classes_and_many_numbers_are_not(report, labels, task):
    Path("data.csv").write_text(csv(np.resize(np.array(labels), N_ROWS)))
    assert report("data.csv")["task"] == task


def test_text_is_never_a_regression(report):
    Path("data.csv").write_text(csv(["a", "b", "c", "d"] * 3, X[:12]))
    assert report("data.csv")["task"] == "multiclass"


def test_one_class_only_is_refused(refused):
    Path("one.libsvm").write_text(libsvm([1] * 20, X[:20]))
    found = refused("one.libsvm", *OUTPUT)
    assert found == "one.libsvm: all rows have the label 1.0; two classes are needed to tell apart."


def test_an_order_is_followed(scores):
    order = np.random.default_rng(5).permutation(N_ROWS)
    Path("order.txt").write_text("\n".join(map(str, order)))
    assert np.array_equal(scores("binary.libsvm", "--order", "order.txt"), by_hand("binary", order))


@pytest.mark.parametrize("text", ["3 1 2", "3\t1\n2\n\n", "3 3 3"])
def test_an_order_may_leave_rows_out_and_repeat_them(scores, report, text):
    Path("order.txt").write_text(text)
    order = np.array(text.split(), int)
    assert np.array_equal(scores("binary.libsvm", "--order", "order.txt"), by_hand("binary", order))
    assert report("binary.libsvm", "--order", "order.txt")["rows"] == 3


@pytest.mark.parametrize("number", [0, 7])
def test_a_permutation_is_one_of_many_random_orders(scores, number):
    order = np.random.default_rng(number).permutation(N_ROWS)
    assert np.array_equal(scores("binary.libsvm", "--permutation", number), by_hand("binary", order))


def test_the_seed_decides_what_is_drawn(scores):
    first, again, other = (scores("binary.libsvm", "--seed", seed) for seed in (3, 3, 4))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert np.array_equal(first, by_hand("binary", seed=3))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_type_of_the_model_is_chosen(scores, dtype):
    assert np.array_equal(scores("binary.libsvm", "--dtype", dtype), by_hand("binary", dtype=dtype))


@pytest.mark.parametrize("limit", [1, 33, 300, 1000])
def test_a_limit_stops_the_stream(scores, report, limit):
    n = min(limit, N_ROWS)
    assert np.array_equal(scores("binary.libsvm", "--limit", limit), by_hand("binary")[:n])
    assert report("binary.libsvm", "--limit", limit)["rows"] == n


@pytest.mark.parametrize("block", [1, 7, 5000])
@pytest.mark.parametrize("source", ["binary.libsvm", "multiclass.csv", "rings"])
def test_scores_do_not_depend_on_the_rows_read_at_a_time(scores, source, block):
    assert np.array_equal(
        scores(source, "--limit", 300, "--block", block, "--learner", "nogd"),
        scores(source, "--limit", 300, "--learner", "nogd"),
    )


def test_whole_blocks_can_be_predicted_before_they_are_learned(scores):
    found = scores("binary.libsvm", "--evaluate", "blocks", "--block", 40)
    online, expected = fogd().start(N_FEATURES), []
    for start in range(0, N_ROWS, 40):
        here = slice(start, start + 40)
        expected.append(online.score(X[here]))
        online.learn(X[here], TARGETS["binary"][here])
    assert np.array_equal(found, np.concatenate(expected))


@pytest.mark.parametrize("delay", [0, 25])
def test_labels_can_be_delayed(scores, delay):
    found = scores("binary.libsvm", "--evaluate", "delayed", "--delay", delay)
    expected = []
    blocks = [(X, TARGETS["binary"])]
    prequential(
        fogd().start(N_FEATURES), blocks, mode="delayed", delay=delay, watch=lambda _, __, s: expected.append(s)
    )
    assert np.array_equal(found, expected[0])


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
def test_other_rows_are_predicted_by_the_final_model(report, task):
    Path("test.libsvm").write_text(libsvm(LABELS[task][:99], X[:99]))
    found = report(f"{task}.libsvm", "--test", "test.libsvm")["test"]
    online = fogd().start(N_FEATURES, task, OUTPUTS[task])
    online.learn(X, TARGETS[task])
    outputs, targets = online.score(X[:99]), TARGETS[task][:99]
    assert found["rows"] == 99
    if task == "regression":
        assert found["mse"] == pytest.approx(np.mean((outputs[:, 0] - targets) ** 2))
    else:
        chosen = np.argmax(outputs, axis=1) if task == "multiclass" else np.where(outputs[:, 0] >= 0, 1.0, -1.0)
        assert found["mistakes"] == np.sum(chosen != targets)


def test_a_test_file_may_lack_the_last_features_and_some_classes(report):
    Path("test.libsvm").write_text("1 1:0.5\n1 2:0.5\n")
    assert report("multiclass.libsvm", "--test", "test.libsvm")["test"]["rows"] == 2


# ---- what it writes ----


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
def test_the_report_has_everything(report, task):
    found = report(f"{task}.libsvm")
    more = {"mse", "rmse", "mae"} if task == "regression" else {"mistakes", "mistake_rate", "log_loss", "recall"}
    assert found.keys() >= KEYS | more
    assert (found["learner"], found["rows"], found["rows_learned"]) == ("fogd", N_ROWS, N_ROWS)
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


# ---- saving and going on ----


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
    model = KernelClassifier(fogd()).fit(X[:170], LABELS["binary"][:170])
    model.save("model.onkel")
    assert np.array_equal(scores("second.libsvm", "--resume", "model.onkel"), by_hand("binary")[170:])


# ---- what is wrong, in one sentence ----


@pytest.fixture
def refused(folder, capsys):
    """Run a command that must fail: exit code 2, one sentence, nothing written. Returns the sentence."""

    def run(*arguments):
        before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        code = main(["run", *map(str, arguments)])
        out, err = capsys.readouterr()
        lines = spoken(err)
        assert (code, out, len(lines)) == (2, "", 1), err
        assert lines[0].startswith("onkel: ")
        assert lines[0].endswith((".", "--help`."))
        assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
        return lines[0].removeprefix("onkel: ")

    return run


OUTPUT = ["--scores", "out.txt", "--json", "out.json", "--save", "out.onkel"]
BAD_LINES = {
    "bad.libsvm": ("1 2:x\n", "bad.libsvm, line 301: '2:x' is not of the form index:value."),
    "nan.libsvm": ("1 2:nan\n", "nan.libsvm, line 301: the value of feature 2 is nan; only finite numbers "),
    "inf.libsvm": ("1 2:1e999\n", "inf.libsvm, line 301: the value of feature 2 is inf; only finite numbers "),
    "label.libsvm": ("1:1 2:1\n", "label.libsvm, line 301: the label is missing."),
    "text.libsvm": ("yes 2:1\n", "text.libsvm, line 301: the label 'yes' is not a number."),
    "huge.libsvm": ("1 1:1e39\n", "huge.libsvm"),
    "bad.csv": ("1,2,x,near\n", "bad.csv, line 301: column 3 holds 'x', which is not a number."),
    "nan.csv": ("1,2,nan,near\n", "nan.csv, line 301: column 3 is nan; only finite numbers are accepted."),
    "empty.csv": ("1,2,,near\n", "empty.csv, line 301: column 3 is empty."),
    "label.csv": ("1,2,3,\n", "label.csv, line 301: column 4 is empty."),
    "short.csv": ("1,2,near\n", "short.csv, line 301: 3 cells where the first line has 4."),
}


@pytest.mark.parametrize("name", BAD_LINES)
@pytest.mark.parametrize("block", [100, 4096])
def test_a_bad_line_is_named(refused, name, block):
    line, sentence = BAD_LINES[name]
    Path(name).write_text(DATA["binary.libsvm" if name.endswith("libsvm") else "text.csv"] + line)
    assert refused(name, "--block", block, *OUTPUT).startswith(sentence)


@pytest.mark.parametrize("name", [name for name in BAD_LINES if name != "huge.libsvm"])
def test_a_bad_line_of_standard_input_is_named(refused, standard_input, name):
    line, sentence = BAD_LINES[name]
    kind = name.rpartition(".")[2]
    standard_input(DATA["binary.libsvm" if kind == "libsvm" else "text.csv"] + line)
    found = refused("-", "--format", kind, "--block", 100, *OUTPUT)
    assert found.startswith(sentence.replace(name, "standard input"))


@pytest.mark.parametrize("ending", PACK)
@pytest.mark.parametrize("cut", [20, 0.5])
def test_a_compressed_file_that_is_cut_off_is_named(refused, ending, cut):
    data = PACK[ending](DATA["binary.libsvm"].encode() * 20)
    Path(f"cut.libsvm{ending}").write_bytes(data[: int(len(data) * cut) if cut < 1 else -cut])
    assert refused(f"cut.libsvm{ending}", *OUTPUT) == f"cut.libsvm{ending}: the compressed file ends early."


@pytest.mark.parametrize("ending", PACK)
def test_a_file_that_is_not_compressed_as_its_name_says_is_named(refused, ending):
    Path(f"plain.libsvm{ending}").write_text(DATA["binary.libsvm"])
    assert refused(f"plain.libsvm{ending}").startswith(f"plain.libsvm{ending}: the compressed file is damaged")


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("empty.libsvm", "", "empty.libsvm: the file is empty."),
        ("empty.csv", "", "empty.csv: the file is empty."),
        ("blank.libsvm", "\n\n# a comment\n", "blank.libsvm: there are no rows in it."),
        ("header.csv", "a,b,c,place\n", "header.csv: there are no rows in it."),
        (
            "labels.libsvm",
            "1\n-1\n",
            "labels.libsvm: no row has a feature, so their number must be given (--features).",
        ),
    ],
)
def test_a_file_without_rows_is_named(refused, name, content, sentence):
    Path(name).write_text(content)
    assert refused(name, *OUTPUT) == sentence


@pytest.mark.parametrize("format", ["libsvm", "csv"])
def test_an_empty_standard_input_is_named(refused, standard_input, format):
    standard_input("")
    assert refused("-", "--format", format, *OUTPUT) == "standard input: there are no rows in it."


def test_a_missing_file_is_named(refused):
    expected = "'nowhere.libsvm' is neither a file nor a built-in stream (blobs, drifting, friedman, rings)."
    assert refused("nowhere.libsvm", *OUTPUT) == expected


def test_a_folder_is_named(refused):
    Path("inner").mkdir()
    assert refused("inner") == "inner: this is a folder, not a file."


BAD_PARAMETERS = [
    ("fogd", "eta=-1", "eta must be a positive number, not -1."),
    ("fogd", "eta=0", "eta must be a positive number, not 0."),
    ("fogd", "eta=nan", "eta must be a positive number, not nan."),
    ("fogd", "eta=abc", "eta must be a positive number, not 'abc'."),
    ("fogd", "lam=abc", "lam must be at least 0 and below 1 / eta, not 'abc'."),
    ("fogd", "sigma=abc", "sigma must be a positive number, not 'abc'."),
    ("fogd", "sigma=-1", "sigma must be a positive number, not -1."),
    ("fogd", "gamma=abc", "gamma must be a number or one of scale, median, not 'abc'."),
    ("fogd", "loss=foo", "loss for classification must be one of hinge, logistic, softmax, not 'foo'."),
    ("fogd", "loss=squared", "loss for classification must be one of hinge, logistic, softmax, not 'squared'."),
    ("fogd", "loss=3", "loss for classification must be one of hinge, logistic, softmax, not 3."),
    ("fogd", "epsilon=abc", "epsilon must be at least 0, not 'abc'."),
    ("fogd", "n_frequencies=abc", "n_frequencies must be a positive whole number, not 'abc'."),
    ("fogd", "n_frequencies=none", "n_frequencies must be a positive whole number, not None."),
    ("fogd", "n_frequencies=1.5", "n_frequencies must be a positive whole number, not 1.5."),
    ("fogd", "draw=foo", "draw must be one of iid, orthogonal, sorf, fastfood, not 'foo'."),
    ("fogd", "kernel=foo", "kernel must be one of gaussian, laplacian, cauchy, polynomial, linear, additive_chi2, not"),
    ("fogd", "kernel=3", "kernel must be one of gaussian, laplacian, cauchy, polynomial, linear, additive_chi2, not 3"),
    ("fogd", "kernel=linear", "Random features need a gaussian, laplacian, cauchy or additive_chi2 kernel."),
    ("fogd", "step=foo", "step must be one of constant, inverse_sqrt, adagrad, inverse_time, not 'foo'."),
    ("fogd", "step=3", "step must be one of constant, inverse_sqrt, adagrad, inverse_time, not 3."),
    ("fogd", "budget=3", "fogd has no parameter 'budget'; it has n_frequencies, eta, "),
    ("fogd", "eta", "--set takes KEY=VALUE, not 'eta'."),
    ("nogd", "budget=abc", "budget must be a positive whole number, not 'abc'."),
    ("nogd", "rank=0", "rank must be a positive whole number, not 0."),
    ("nogd", "cut=abc", "cut must be a positive number, not 'abc'."),
    ("norma", "nu=abc", "nu must lie between 0 and 1, not 'abc'."),
    ("norma", "nu=1", "nu must lie between 0 and 1, not 1."),
    ("norma", "start=abc", "start must be a "),
    ("norma", "start=nan", "start must be a "),
    ("passive_aggressive", "C=none", "C must be a positive number, not None."),
    ("passive_aggressive", "variant=foo", "variant must be one of PA, PA-I, PA-II, not 'foo'."),
    ("rks", "batch=abc", "batch must be a positive whole number, not 'abc'."),
    ("foo", "eta=1", "There is no learner 'foo'; there are fogd, nogd, norma, ogd, passive_aggressive, perceptron, "),
]


@pytest.mark.parametrize(("name", "setting", "sentence"), BAD_PARAMETERS)
def test_a_bad_parameter_is_named(refused, name, setting, sentence):
    assert refused("binary.libsvm", "--learner", name, "--set", setting, *OUTPUT).startswith(sentence)


@pytest.mark.parametrize("name", ["perceptron", "passive_aggressive", "ogd"])
@pytest.mark.parametrize("value", ["abc", "-1", "nan"])
def test_a_bad_tube_of_a_regression_is_named(refused, name, value):
    found = refused("regression.libsvm", "--learner", name, "--set", f"epsilon={value}", *OUTPUT)
    assert found.startswith("epsilon must be at least 0, not ")


BAD_OPTIONS = [
    (["--limit", "abc"], "--limit", "abc"),
    (["--limit", "0"], "--limit", "0 is not a positive whole number"),
    (["--block", "-3"], "--block", "-3 is not a positive whole number"),
    (["--block", "1.5"], "--block", "1.5"),
    (["--features", "0"], "--features", "0 is not a positive whole number"),
    (["--seed", "abc"], "--seed", "abc"),
    (["--permutation", "-1"], "permutation", "-1"),
    (["--permutation", "abc"], "--permutation", "abc"),
    (["--evaluate", "delayed", "--delay", "-1"], "delay", "-1"),
    (["--dtype", "float16"], "--dtype", "float16"),
    (["--task", "ranking"], "--task", "ranking"),
    (["--evaluate", "never"], "--evaluate", "never"),
    (["--format", "arff"], "--format", "arff"),
    (["--unheard-of"], "--unheard-of", ""),
    (["more.libsvm"], "more.libsvm", ""),
    (["--save"], "--save", "argument"),
]


@pytest.mark.parametrize(("options", "name", "value"), BAD_OPTIONS)
def test_a_bad_option_is_named(refused, options, name, value):
    found = refused("binary.libsvm", *options)
    assert name in found
    assert value in found
    assert "_count" not in found  # a name inside the program means nothing to its user


def test_an_abbreviated_option_of_another_meaning_is_not_guessed(refused):
    assert "--s" in refused("binary.libsvm", "--s", "x")


@pytest.mark.parametrize(
    ("name", "task", "sentence"),
    [
        ("multiclass.libsvm", "binary", "--task binary needs two classes; there are 3."),
        ("regression.libsvm", "binary", "--task binary needs labels that are classes; these are fractions, or more "),
        ("regression.libsvm", "multiclass", "--task multiclass needs labels that are classes; these are fractions, "),
        ("text.csv", "regression", "text.csv"),
    ],
)
def test_labels_that_do_not_fit_the_task_are_refused(refused, name, task, sentence):
    found = refused(name, "--task", task, *OUTPUT)
    assert found.startswith(sentence)
    assert task != "regression" or found.endswith(": the labels of a regression must be numbers.")


@pytest.mark.parametrize(
    ("order", "sentence"),
    [
        ("1 2 x", "order.txt: an order consists of whole numbers only."),
        ("1.5", "order.txt: an order consists of whole numbers only."),
        ("1 2 300", "order.txt: row number 300 is outside 0 to 299."),
        ("-1", "order.txt: row number -1 is outside 0 to 299."),
        ("99999999999999999999", "order.txt: "),
        ("", "order.txt: "),
    ],
)
def test_a_bad_order_is_named(refused, order, sentence):
    Path("order.txt").write_text(order)
    assert refused("binary.libsvm", "--order", "order.txt", *OUTPUT).startswith(sentence)


@pytest.mark.parametrize("option", ["--order", "--test", "--resume"])
def test_another_missing_file_is_named_before_anything_is_learned(refused, option, monkeypatch):
    monkeypatch.setattr(Online, "learn", lambda *_: pytest.fail("something was learned"))
    assert "nowhere.txt" in refused("binary.libsvm", option, "nowhere.txt", *OUTPUT)


UNKNOWN = {
    "test.libsvm": ("binary.libsvm", "1 1:1\n-1 1:1\n2 1:1\n", "2.0", "-1.0, 1.0"),
    "three.libsvm": ("multiclass.libsvm", "1 1:1\n1 1:1\n3 1:1\n", "3.0", "0.0, 1.0, 2.0"),
    "short.csv": ("text.csv", "1,2,3,far\n1,2,3,near\n1,2,3,on\n", "'on'", "'far', 'near'"),
    "long.csv": ("text.csv", "1,2,3,far\n1,2,3,near\n1,2,3,nearby\n", "'nearby'", "'far', 'near'"),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_an_unknown_class_in_a_test_file_is_named(refused, name):
    data, text, label, classes = UNKNOWN[name]
    Path(name).write_text(text)
    found = refused(data, "--test", name, *OUTPUT)
    assert found.startswith((f"{name}, line 3: ", f"{name}, near line 3: "))
    assert found.endswith(f"he label {label} is not among the classes {classes}.")


@pytest.mark.parametrize("name", UNKNOWN)
def test_an_unknown_class_later_on_standard_input_is_named(refused, standard_input, name):
    data, text, label, classes = UNKNOWN[name]
    standard_input(DATA[data] + text)
    found = refused("-", "--format", name.rpartition(".")[2], "--block", 50, *OUTPUT)
    assert found.startswith(("standard input, line 303: ", "standard input, near line 303: "))
    assert found.endswith(f"he label {label} is not among the classes {classes}.")


@pytest.mark.parametrize("name", UNKNOWN)
def test_an_unknown_class_after_going_on_is_named(refused, onkel_run, name):
    data, text, label, classes = UNKNOWN[name]
    onkel_run(data, "--save", "model.onkel", "--quiet")
    Path(name).write_text(text)
    found = refused(name, "--resume", "model.onkel", *OUTPUT)
    assert found.startswith((f"{name}, line 3: ", f"{name}, near line 3: "))
    assert found.endswith(f"he label {label} is not among the classes {classes}.")


@pytest.mark.parametrize(("data", "other"), [("binary.libsvm", "text.csv"), ("text.csv", "binary.libsvm")])
def test_labels_of_another_kind_in_a_test_file_are_named(refused, data, other):
    found = refused(data, "--test", other)
    assert found.startswith(other)
    assert "not among the classes" in found


def test_a_test_file_of_another_width_is_named(refused):
    Path("wide.libsvm").write_text("1 1:1 9:1\n")
    assert refused("binary.libsvm", "--test", "wide.libsvm", *OUTPUT).startswith(
        "wide.libsvm, line 1: feature index 9 "
    )


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "this is not an onkel model, or it is damaged or cut off."),
        (b"hello", "this is not an onkel model, or it is damaged or cut off."),
    ],
)
def test_a_file_that_is_no_model_is_named(refused, content, sentence):
    Path("model.onkel").write_bytes(content)
    assert refused("binary.libsvm", "--resume", "model.onkel", *OUTPUT) == f"model.onkel: {sentence}"


@pytest.mark.parametrize("damage", [lambda data: data[:-30], lambda data: data[:900] + b"\xff" + data[901:]])
def test_a_damaged_model_is_named(refused, onkel_run, damage):
    onkel_run("binary.libsvm", "--save", "model.onkel", "--quiet")
    Path("model.onkel").write_bytes(damage(Path("model.onkel").read_bytes()))
    assert refused("binary.libsvm", "--resume", "model.onkel", *OUTPUT).startswith("model.onkel: ")


def test_a_model_of_a_later_version_is_named(refused, onkel_run, monkeypatch):
    with monkeypatch.context() as later:
        later.setattr(snapshot, "VERSION", 9)
        onkel_run("binary.libsvm", "--save", "model.onkel", "--quiet")
    found = refused("binary.libsvm", "--resume", "model.onkel", *OUTPUT)
    assert found == "model.onkel: its format has version 9; this onkel reads version 1."


@pytest.mark.parametrize(
    ("name", "text"),
    [("wide.libsvm", "1 1:1 9:1\n"), ("wide.csv", "1,2,3,4,1\n"), ("narrow.csv", "1,2,1\n")],
)
def test_going_on_with_rows_of_another_width_is_refused(refused, onkel_run, name, text):
    onkel_run("binary.libsvm", "--save", "model.onkel", "--quiet")
    Path(name).write_text(text)
    assert refused(name, "--resume", "model.onkel", *OUTPUT).startswith(f"{name}, line 1: ")


def test_going_on_with_a_built_in_stream_of_another_width_is_refused(refused, onkel_run):
    onkel_run("binary.libsvm", "--save", "model.onkel", "--quiet")
    found = refused("rings", "--resume", "model.onkel", *OUTPUT)
    assert "2" in found
    assert "3" in found
    assert "(0, 2)" not in found  # the rings have rows


@pytest.mark.parametrize(
    "options",
    [["--learner", "ogd"], ["--set", "eta=1"], ["--dtype", "float64"], ["--task", "regression"], ["--features", "9"]],
)
def test_options_that_a_saved_model_answers_are_refused(refused, onkel_run, options):
    onkel_run("binary.libsvm", "--save", "model.onkel", "--quiet")
    assert "--resume" in refused("binary.libsvm", "--resume", "model.onkel", *options)


@pytest.mark.parametrize("option", ["--scores", "--json", "--save"])
@pytest.mark.parametrize("target", ["nowhere/out", ".", "inner"])
def test_an_output_that_cannot_be_written_is_named_before_anything_is_learned(refused, option, target, monkeypatch):
    Path("inner").mkdir()
    monkeypatch.setattr(Online, "learn", lambda *_: pytest.fail("something was learned"))
    found = refused("binary.libsvm", *OUTPUT, option, target)
    assert found.startswith((target.partition("/")[0], str(Path(target).absolute())))
    assert ".part" not in found


def test_the_chi2_kernel_refuses_negative_values(refused):
    found = refused("binary.libsvm", "--set", "kernel=additive_chi2", *OUTPUT)
    assert "chi2" in found
    assert "egative" in found


def test_labels_too_large_to_be_squared_are_refused_or_reported(folder, capsys):
    Path("large.libsvm").write_text(libsvm(1e200 * LABELS["regression"]))
    code = main(["run", "large.libsvm", "--json", "out.json", "--quiet"])
    lines = spoken(capsys.readouterr().err)
    assert (code, len(lines)) in ((0, 0), (2, 1))
    assert code == 0 or lines[0].startswith("onkel: large.libsvm")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "onkel: The following arguments are required: COMMAND. See `onkel --help`."),
        (["learn"], "onkel: Argument COMMAND: invalid choice: 'learn' (choose from 'run'). See `onkel --help`."),
    ],
)
def test_a_command_is_needed(arguments, sentence, capsys):
    assert main(arguments) == 2
    assert capsys.readouterr().err == sentence + "\n"


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["--version"]])
def test_help_is_not_an_error(arguments, capsys):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    out, err = capsys.readouterr()
    assert (caught.value.code, err) == (0, "")
    assert "``" not in out
    if arguments == ["--version"]:
        assert out == f"onkel {onkel.__version__}\n"
    if arguments[0] == "run":
        assert all(name in out for name in RECIPES)
        assert "onkel run a9a" in out


def test_a_stop_in_the_middle_leaves_nothing_behind(folder, capsys, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    before = set(os.listdir(folder))
    monkeypatch.setattr(Online, "learn", interrupt)
    assert main(["run", "binary.libsvm", *OUTPUT]) == 130
    assert spoken(capsys.readouterr().err) == ["onkel: stopped."]
    assert set(os.listdir(folder)) == before


def test_too_little_memory_is_said_in_a_sentence(refused, monkeypatch):
    def exhaust(*_):
        raise MemoryError

    monkeypatch.setattr(Online, "learn", exhaust)
    assert refused("binary.libsvm", *OUTPUT) == "there is not enough memory for a model of this size."


# ---- as a process of its own ----


COMMANDS = {"module": [sys.executable, "-m", "onkel"], "script": [str(Path(sys.executable).with_name("onkel"))]}


def process(*arguments, command="module", **more):
    return subprocess.run(
        [*COMMANDS[command], *map(str, arguments)], capture_output=True, text=True, timeout=120, **more
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_the_command_runs(folder, command):
    done = process("run", "binary.libsvm", "--scores", "scores.txt", command=command)
    assert (done.returncode, spoken(done.stderr)) == (0, [])
    assert "mistake rate" in done.stdout
    assert np.array_equal(np.loadtxt("scores.txt", ndmin=2), by_hand("binary"))


def test_the_command_takes_rows_from_a_pipe(folder):
    done = process("run", "-", "--json", "-", input=DATA["binary.libsvm"])
    assert (done.returncode, spoken(done.stderr)) == (0, [])
    assert json.loads(done.stdout)["rows"] == N_ROWS


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (["nowhere.libsvm"], "nowhere.libsvm"),
        (["huge.libsvm"], "huge.libsvm"),
        (["binary.libsvm", "--set", "sigma=abc"], "sigma"),
        (["binary.libsvm", "--save", "nowhere/model"], "nowhere"),
    ],
)
def test_the_command_fails_with_one_line_and_code_2(folder, arguments, name):
    Path("huge.libsvm").write_text(DATA["binary.libsvm"] + "1 1:1e39\n")
    done = process("run", *arguments)
    assert (done.returncode, done.stdout, len(spoken(done.stderr))) == (2, "", 1), done.stderr
    assert name in done.stderr


def test_the_command_stops_quietly_when_nobody_reads_on(folder):
    with subprocess.Popen(
        [*COMMANDS["module"], "run", "binary.libsvm", "--json", "-"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        running.stdout.close()
        err = running.stderr.read().decode()
    assert "Traceback" not in err
    assert len(spoken(err)) <= 1


def test_the_command_stops_on_an_interrupt_and_leaves_nothing_behind(folder):
    before = set(os.listdir(folder))
    with subprocess.Popen(
        [*COMMANDS["module"], "run", "-", *OUTPUT, "--block", "50"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as running:  # fmt: skip
        running.stdin.write(DATA["binary.libsvm"].encode())
        running.stdin.flush()
        end = time.monotonic() + 60
        while set(os.listdir(folder)) == before and time.monotonic() < end:
            time.sleep(0.02)  # until it has begun to write
        running.send_signal(signal.SIGINT)
        err = running.stderr.read().decode()
    assert running.returncode == 130
    assert spoken(err) == ["onkel: stopped."]
    assert set(os.listdir(folder)) == before


def on_a_terminal(*arguments):
    """What the command shows on a terminal, and what it writes to a standard output that is none."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*COMMANDS["module"], "run", *arguments],
        stdout=subprocess.PIPE,
        stderr=theirs,
        env=os.environ | {"TERM": "xterm"},
    ) as running:
        os.close(theirs)
        shown = b""
        while select.select([ours], [], [], 120)[0]:
            try:
                part = os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            shown += part
        out = running.stdout.read().decode()
    os.close(ours)
    assert running.returncode == 0
    return shown.decode(), out


def test_a_progress_line_is_shown_on_a_terminal(folder):
    shown, out = on_a_terminal("rings", "--limit", "60000", "--block", "500")
    assert "rows/s" in shown
    assert "60,000 rows" in shown
    assert "last 1,000:" in shown
    assert "error" in shown
    assert "rows/s" not in out
    assert "mistake rate" in out


@pytest.mark.parametrize("option", ["--quiet", "--json"])
def test_there_is_no_progress_line_when_it_is_not_wanted(folder, option):
    shown, _ = on_a_terminal("rings", "--limit", "2000", *([option] if option == "--quiet" else [option, "-"]))
    assert "rows/s" not in shown


def test_there_is_no_progress_line_without_a_terminal(folder):
    done = process("run", "rings", "--limit", "2000")
    assert spoken(done.stderr) == []


def test_the_built_in_stream_of_the_command_is_that_of_the_library(scores):
    block = concatenate(open_stream("rings", rows=200, seed=0))
    expected = fogd().start(2).learn(block.rows, block.labels)
    assert np.array_equal(scores("rings", "--limit", 200), expected)
