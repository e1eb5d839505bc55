"""Data; options."""

import os
import threading
from pathlib import Path

import numpy as np
import pytest

from onkel import auto, make_learner, prequential
from onkel.recipes import RECIPES
from onkel.streams import STREAMS
from tests.apps.cli.common import (
    DATA,
    LABELS,
    N_FEATURES,
    N_ROWS,
    OUTPUT,
    OUTPUTS,
    PACK,
    TARGETS,
    X,
    by_hand,
    csv,
    libsvm,
)


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


MOST_MISTAKES = {
    **{"abrupt": 0.2, "gradual": 0.2, "recurring": 0.2, "sparse": 0.45},
    **{"blobs": 0.5, "drifting": 0.4, "rings": 0.2, "spirals": 0.45},
}


@pytest.mark.parametrize("name", STREAMS)
def test_built_in_streams_are_learned(report, name):
    found = report(name, "--limit", 2000)
    assert found["rows"] == 2000
    if name in ("friedman", "waves"):
        assert found["task"] == "regression"
        assert found["curve"][-1]["window_error"] < found["curve"][0]["error"]
    else:
        assert found["mistake_rate"] < MOST_MISTAKES[name]


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


FOGD = ("--learner", "fogd")


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
    assert np.array_equal(scores("binary.libsvm", *FOGD, "--set", setting), by_hand("binary", name="fogd", **expected))


def test_the_last_of_two_values_counts(scores):
    found = scores("binary.libsvm", *FOGD, "--set", "gamma=0.5", "--set", "gamma=2")
    assert np.array_equal(found, by_hand("binary", name="fogd", gamma=2))


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
        ([0.5, *range(40)], "regression"),
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
    online, expected = auto().start(N_FEATURES), []
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
        auto().start(N_FEATURES), blocks, mode="delayed", delay=delay, watch=lambda _, __, s: expected.append(s)
    )
    assert np.array_equal(found, expected[0])


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
def test_other_rows_are_predicted_by_the_final_model(report, task):
    Path("test.libsvm").write_text(libsvm(LABELS[task][:99], X[:99]))
    found = report(f"{task}.libsvm", "--test", "test.libsvm")["test"]
    online = auto().start(N_FEATURES, task, OUTPUTS[task])
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
