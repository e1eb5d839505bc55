"""`onkel predict`: rows need no labels, and are answered as soon as they have come."""

import json
import os
import select
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from tests.apps.cli.common import DATA, LABELS, N_ROWS, X, csv, libsvm

SHORT = ["--learner", "fogd", "--set", "gamma=0.5", "--quiet"]
PATIENCE = 60  # seconds, of which the first answer needs a few
BARE = {
    "bare.libsvm": "".join(line.split(" ", 1)[1] + "\n" for line in DATA["binary.libsvm"].splitlines()),
    "bare.csv": "".join(line.rsplit(",", 1)[0] + "\n" for line in DATA["binary.csv"].splitlines()),
    "empty.csv": "".join(line.rsplit(",", 1)[0] + ",\n" for line in DATA["binary.csv"].splitlines()),
}
BARE["named.csv"] = "a,b,c\n" + BARE["bare.csv"]
BARE["holes.csv"] = "a,b,c,place\n" + BARE["empty.csv"]


@pytest.fixture
def bare(folder):
    """The rows of the other tests without labels, in several formats."""
    for name, text in BARE.items():
        (folder / name).write_text(text)
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    numbers = {name: X[:, j] for j, name in enumerate("abc")}
    parquet.write_table(pa.table(numbers), "bare.parquet")
    for name, kind in (("nulls", pa.float64()), ("text", pa.string())):
        parquet.write_table(pa.table({**numbers, "place": pa.nulls(N_ROWS, kind)}), f"{name}.parquet")
    with pa.OSFile("bare.arrow", "wb") as sink:
        whole = pa.table(numbers)
        with pa.ipc.new_file(sink, whole.schema) as writer:
            writer.write_table(whole)
    return folder


NAMELESS = ["bare.libsvm", "bare.csv", "empty.csv"]
NAMED = ["named.csv", "holes.csv", "bare.parquet", "nulls.parquet", "text.parquet", "bare.arrow"]


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize("name", [*NAMELESS, *NAMED])
@pytest.mark.parametrize("learned", ["text.csv", "header.csv", "binary.csv", "binary.libsvm", "regression.libsvm"])
def test_rows_without_labels_are_answered_like_those_with(told, learned, name):
    told("run", learned, *SHORT, "--save", "model.onkel")
    expected, _ = told("predict", "model.onkel", learned)
    assert told("predict", "model.onkel", name) == (expected, [])


def test_a_line_with_a_label_and_one_without_may_follow_each_other(told):
    told("run", "binary.libsvm", *SHORT, "--save", "model.onkel")
    Path("some.libsvm").write_text("1 1:0.5 2:1\n1:0.5 2:1\n# nothing\n-1 1:0.5 2:1\n2:1e0\n")
    out, said = told("predict", "model.onkel", "some.libsvm")
    lines = out.splitlines()
    assert len(lines) == 4
    assert lines[0] == lines[1] == lines[2]
    assert said == ["2 rows with labels: 1 mistakes, 50.00 %."]


def test_some_cells_of_a_label_column_may_be_empty(told):
    told("run", "header.csv", *SHORT, "--save", "model.onkel")
    rows = DATA["header.csv"].splitlines()
    rows[2::2] = [row.rsplit(",", 1)[0] + "," for row in rows[2::2]]
    Path("some.csv").write_text("\n".join(rows))
    expected, _ = told("predict", "model.onkel", "header.csv")
    out, said = told("predict", "model.onkel", "some.csv")
    wrong = np.array(expected.split())[::2] != LABELS["text"][::2]
    assert out == expected
    assert said == [f"150 rows with labels: {wrong.sum()} mistakes, {100 * wrong.mean():.2f} %."]


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
def test_the_error_is_told_where_rows_have_labels_but_never_on_standard_output(told, task):
    told("run", f"{task}.csv", *SHORT, "--save", "model.onkel")
    out, said = told("predict", "model.onkel", f"{task}.csv")
    answers = np.array(out.split(), float)
    assert len(answers) == N_ROWS
    found = json.loads(told("predict", "model.onkel", f"{task}.csv", "--json", "-")[0])
    assert found["rows_with_labels"] == N_ROWS
    if task == "regression":
        mse = np.mean((answers - LABELS[task]) ** 2)
        assert found["mse"] == pytest.approx(mse)
        assert said == [f"300 rows with labels: MSE {mse:.6g}, RMSE {np.sqrt(mse):.6g}."]
    else:
        wrong = int(np.sum(answers != LABELS[task]))
        assert (found["mistakes"], found["mistake_rate"]) == (wrong, wrong / N_ROWS)
        assert said == [f"300 rows with labels: {wrong} mistakes, {100 * wrong / N_ROWS:.2f} %."]


@pytest.mark.usefixtures("bare")
def test_without_labels_there_is_no_error_to_tell(told):
    told("run", "binary.csv", *SHORT, "--save", "model.onkel")
    found = json.loads(told("predict", "model.onkel", "bare.csv", "--json", "-")[0])
    assert found.keys().isdisjoint({"rows_with_labels", "mistakes", "mistake_rate"})
    assert len(found["predictions"]) == N_ROWS


def test_a_label_that_the_model_does_not_know_counts_as_a_mistake(told):
    told("run", "header.csv", *SHORT, "--save", "model.onkel")
    Path("new.csv").write_text("a,b,c,place\n1,2,3,elsewhere\n")
    assert told("predict", "model.onkel", "new.csv")[1] == ["1 rows with labels: 1 mistakes, 100.00 %."]


def test_rows_to_learn_or_to_test_on_need_labels(bare, told, sentence):
    told("run", "header.csv", *SHORT, "--save", "model.onkel")
    expected = "named.csv, line 1: there are no labels to learn: --label names their column."
    assert sentence("run", "named.csv", "--resume", "model.onkel") == expected
    assert sentence("run", "header.csv", "--test", "named.csv", "--quiet") == expected
    assert sentence("run", "bare.libsvm").startswith("bare.libsvm, line 1: ")


@contextmanager
def answering(*arguments, to=subprocess.PIPE):
    """`onkel predict` as a process whose standard input stays open."""
    command = [sys.executable, "-m", "onkel", "predict", "model.onkel", *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=to, stderr=subprocess.PIPE) as running:
        try:
            yield running
        finally:
            running.kill()


def answer(file):
    """The next line that comes, if one does."""
    found = b""
    while not found.endswith(b"\n"):
        assert select.select([file], [], [], PATIENCE)[0], "no answer has come"
        found += os.read(file.fileno(), 1)
    return found.decode().rstrip("\n")


SPOKEN = {  # a header if there is one, and rows
    "libsvm": ("libsvm", "", libsvm(LABELS["binary"])),
    "libsvm without labels": ("libsvm", "", BARE["bare.libsvm"]),
    "csv": ("csv", "", DATA["binary.csv"]),
    "csv without labels": ("csv", "", BARE["bare.csv"]),
    "csv with a header": ("csv", "a,b,c,place\n", csv(LABELS["binary"])),
    "csv with a header, without labels": ("csv", "a,b,c\n", BARE["bare.csv"]),
    "csv in another order": ("csv", "c,b,a\n", "".join(f"{c},{b},{a}\n" for a, b, c in X.tolist())),
}


@pytest.mark.parametrize("kind", SPOKEN)
def test_a_row_on_a_pipe_is_answered_before_the_next_one_comes(told, folder, kind):
    form, header, text = SPOKEN[kind]
    (folder / "learned.csv").write_text("a,b,c,place\n" + DATA["binary.csv"])
    told("run", "learned.csv" if header else f"binary.{form}", *SHORT, "--save", "model.onkel")
    expected = told("predict", "model.onkel", "binary.libsvm")[0].splitlines()
    with answering("-", "--format", form) as running:
        running.stdin.write(header.encode())
        for number, line in enumerate(text.splitlines(keepends=True)[:5]):
            running.stdin.write(line[:4].encode())  # a line may come in pieces
            running.stdin.flush()
            running.stdin.write(line[4:].encode())
            running.stdin.flush()
            assert answer(running.stdout) == expected[number]
        running.stdin.write("".join(text.splitlines(keepends=True)[5:]).encode())
        running.stdin.close()
        assert running.stdout.read().decode().splitlines() == expected[5:]
        assert running.wait() == 0


def test_a_row_is_answered_at_once_into_another_pipe(told, folder):
    told("run", "binary.libsvm", *SHORT, "--save", "model.onkel")
    expected = told("predict", "model.onkel", "binary.libsvm")[0].splitlines()
    os.mkfifo("asked")
    os.mkfifo("answered")
    found = []

    def talk():
        with open("answered") as answered, open("asked", "w") as asked:
            for line in DATA["binary.libsvm"].splitlines(keepends=True)[:3]:
                asked.write(line)
                asked.flush()
                found.append(answered.readline().rstrip("\n"))

    talking = threading.Thread(target=talk, daemon=True)
    talking.start()
    with answering("asked", "--to", "answered") as running:
        talking.join(PATIENCE)
        running.wait(PATIENCE)
    assert found == expected[:3]


def test_what_comes_at_once_is_answered_like_what_comes_slowly(told, standard_input):
    told("run", "header.csv", *SHORT, "--save", "model.onkel")
    expected = told("predict", "model.onkel", "header.csv")
    for block in (4096, 7):
        standard_input(DATA["header.csv"])
        assert told("predict", "model.onkel", "-", "--format", "csv", "--block", block) == expected
