"""Columns are matched by name between a model and any table; a model remembers how its table was read."""

import json
from pathlib import Path

import numpy as np
import pytest

from onkel import KernelClassifier, KernelRegressor
from onkel.apps.cli.checkpoints import Checkpoint
from onkel.apps.cli.main import main
from onkel.files.model_file import load_model
from tests.apps.cli.common import DATA, LABELS, N_ROWS, BrokenDownError, X, breaking

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

SHORT = ["--learner", "fogd", "--set", "gamma=0.5", "--quiet"]
ENDINGS = ("csv", "parquet", "arrow")
NUMBERS = {"a": X[:, 0].tolist(), "b": X[:, 1].tolist(), "c": X[:, 2].tolist()}
CITIES = np.resize(["Rome", "Oslo", "Bern", "Oslo", "Rome"], N_ROWS).tolist()
FIRST = {**NUMBERS, "y": LABELS["binary"].tolist()}
OTHER = {"y": FIRST["y"], "id": [*range(N_ROWS)], "c": FIRST["c"], "a": FIRST["a"], "b": FIRST["b"]}


def write(columns, name, separator=","):
    """A table of these columns, in the format of the ending."""
    if name.endswith(".parquet"):
        parquet.write_table(pa.table(columns), name)
    elif name.endswith(".arrow"):
        whole = pa.table(columns)
        with pa.OSFile(name, "wb") as sink, pa.ipc.new_file(sink, whole.schema) as writer:
            writer.write_table(whole)
    else:
        cells = zip(*columns.values(), strict=True)
        lines = [separator.join("" if cell is None else str(cell) for cell in row) for row in cells]
        Path(name).write_text("\n".join([separator.join(columns), *lines]) + "\n")


@pytest.fixture
def answers(told):
    """What `onkel predict` prints for a table: scores, and what it says on standard error."""

    def run(name, *more, model="model.onkel"):
        out, said = told("predict", model, name, "--output", "scores", *more)
        return np.loadtxt(out.splitlines(), ndmin=2), said

    return run


@pytest.mark.parametrize("learned", ENDINGS)
@pytest.mark.parametrize("asked", ENDINGS)
def test_a_table_whose_columns_stand_in_another_order_is_answered_the_same(told, answers, learned, asked):
    write(FIRST, f"first.{learned}")
    write({key: OTHER[key] for key in ("c", "y", "b", "a")}, f"other.{asked}")
    told("run", f"first.{learned}", *SHORT, "--save", "model.onkel")
    expected, said = answers(f"first.{learned}")
    found, also_said = answers(f"other.{asked}")
    assert np.array_equal(found, expected)
    assert said == also_said


def test_the_columns_of_test_files_and_of_rows_to_go_on_with_are_found_by_name(told, scores, report):
    write(FIRST, "first.csv")
    write({key: OTHER[key] for key in ("c", "y", "b", "a")}, "other.parquet")
    found = [report("first.csv", *SHORT, "--test", name)["test"] for name in ("first.csv", "other.parquet")]
    assert found[0] == found[1]
    told("run", "first.csv", *SHORT, "--save", "model.onkel")
    expected = scores("first.csv", "--resume", "model.onkel")
    assert np.array_equal(scores("other.parquet", "--resume", "model.onkel"), expected)


@pytest.mark.parametrize("name", ["other.csv", "other.arrow"])
def test_a_checkpoint_goes_on_with_a_table_in_another_order(told, folder, name):
    write(FIRST, "first.csv")
    write({key: OTHER[key] for key in ("c", "y", "b", "a")}, name)
    told("run", "first.csv", *SHORT, "--save", "whole.onkel")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Checkpoint, "passed", breaking)
        with pytest.raises(BrokenDownError):
            main(["run", "first.csv", *SHORT, "--block", "100", "--checkpoint", "here.onkel"])
    told("run", name, "--quiet", "--resume", "here.onkel", "--save", "both.onkel")
    assert Path("both.onkel").read_bytes() == Path("whole.onkel").read_bytes()


def test_extra_columns_are_left_out_and_said_once(told, answers):
    write(FIRST, "first.csv")
    write({**OTHER, "more": CITIES}, "other.csv")
    told("run", "first.csv", *SHORT, "--save", "model.onkel")
    expected, _ = answers("first.csv")
    found, said = answers("other.csv", "--block", 7)
    assert np.array_equal(found, expected)
    lines = [line for line in said if "left out" in line]
    assert lines == ["other.csv: columns that the model has not learned are left out: 'id', 'more'."]
    _, said = told("run", "other.csv", "--resume", "model.onkel", "--quiet", "--epochs", "2", "--test", "first.csv")
    assert said == lines


@pytest.mark.parametrize(
    ("name", "place"),
    [("less.csv", "less.csv, line 1"), ("less.parquet", "less.parquet"), ("less.arrow", "less.arrow")],
)
def test_a_missing_column_is_named_beside_those_that_are_there(told, sentence, name, place):
    write(FIRST, "first.csv")
    write({"c": OTHER["c"], "y": OTHER["y"], "a": OTHER["a"]}, name)
    told("run", "first.csv", *SHORT, "--save", "model.onkel")
    expected = f"{place}: there is no column 'b'; there are 'c', 'y', 'a'."
    assert sentence("predict", "model.onkel", name) == expected
    assert sentence("run", name, "--resume", "model.onkel") == expected
    assert sentence("run", "first.csv", "--test", name) == expected


def test_positions_count_where_one_side_has_no_names_and_the_width_must_fit(told, answers, sentence):
    write(FIRST, "first.csv")
    told("run", "first.csv", *SHORT, "--save", "model.onkel")
    told("run", "binary.csv", *SHORT, "--save", "nameless.onkel")
    told("run", "binary.libsvm", *SHORT, "--save", "libsvm.onkel")
    expected, _ = answers("first.csv")
    Path("wide.csv").write_text("1,2,3,4,5,1\n")
    Path("wide.libsvm").write_text("1 5:1\n")
    write({key: [0.5, 1.5] for key in "vwxyz"}, "wide.parquet")
    for model in ("model.onkel", "nameless.onkel", "libsvm.onkel"):
        for name in ("binary.csv", "binary.libsvm", "first.csv"):
            assert np.array_equal(answers(name, model=model)[0], expected), (model, name)
        for name in ("wide.csv", "wide.libsvm", "wide.parquet"):
            assert sentence("predict", model, name).startswith("wide"), (model, name)


def test_a_model_knows_its_names_in_python(told):
    write({key: FIRST[key] for key in ("b", "y", "a", "c")}, "first.csv")
    told("run", "first.csv", "--label", "y", *SHORT, "--save", "model.onkel")
    model = KernelClassifier.load("model.onkel")
    assert model.feature_names_in_.tolist() == ["b", "a", "c"]
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(NUMBERS)
    expected = model.decision_function(frame[["b", "a", "c"]])
    assert np.array_equal(model.decision_function(frame), expected)
    row = {"c": X[0, 2], "b": X[0, 1], "a": X[0, 0]}
    assert model.predict_one(row) == model.predict(frame[:1])[0]


def test_the_label_is_remembered_by_name_even_where_it_was_the_last_column_by_default(told, answers):
    write(FIRST, "first.csv")
    write({key: OTHER[key] for key in ("y", "c", "b", "a")}, "other.csv")
    told("run", "first.csv", *SHORT, "--save", "model.onkel")
    assert answers("other.csv")[1] == answers("first.csv")[1] != []


def test_how_a_table_was_read_need_not_be_said_again(told, answers, report):
    columns = {"label": LABELS["text"].tolist(), "id": [*range(N_ROWS)], **NUMBERS, "city": CITIES}
    columns["b"] = [None if n % 9 == 4 else value for n, value in enumerate(columns["b"])]
    write(columns, "first.csv", ";")
    other = {key: columns[key] for key in ("city", "c", "id", "b", "label", "a")}
    write(other, "other.parquet")
    write(other, "other.csv", "\t")
    given = ["--label", "label", "--drop", "id", "--categorical", "city=hash", "--hash-columns", "8"]
    given += ["--missing", "mean", "--separator", ";"]
    found = report("first.csv", *given, *SHORT, "--save", "model.onkel", "--test", "other.parquet")["test"]
    expected, said = answers("first.csv")
    assert f"{found['mistakes']} mistakes" in said[-1]
    for name in ("first.csv", "other.parquet", "other.csv"):
        assert np.array_equal(answers(name)[0], expected), name
    assert np.array_equal(answers("first.csv", *given)[0], expected)  # the same again is no contradiction
    told("run", "other.parquet", "--resume", "model.onkel", "--quiet")


@pytest.mark.parametrize("more", [["--label", "y"], ["--drop", "id"], ["--label", "y", "--missing", "zero"]])
def test_what_was_said_of_a_column_that_is_not_there_is_no_contradiction(told, answers, more):
    write({"id": [*range(N_ROWS)], **FIRST}, "first.csv")
    write(NUMBERS, "new.csv")
    Path("nameless.csv").write_text("".join(f"{n},{a},{b},{c}\n" for n, (a, b, c) in enumerate(X.tolist())))
    told("run", "first.csv", "--drop", "id", "--missing", "zero", *SHORT, "--save", "model.onkel")
    expected, _ = answers("first.csv")
    for name in ("new.csv", "nameless.csv"):
        found, said = answers(name, *(more if name == "new.csv" else ["--label", "-1"]))
        assert np.array_equal(found, expected)
        assert said == []


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--label", "c"], "--label: the model was learned with 'y'"),
        (["--columns", "a,b"], "--columns: the model was learned with a, c, city"),
        (["--drop", "a"], "--drop: the model was learned with column 'a'"),
        (["--categorical", "city"], None),
        (["--categorical", "city=hash"], "--categorical: the model was learned with city=Bern|Oslo|Rome"),
        (["--categorical", "a"], "--categorical: the model was learned with numbers there"),
        (["--missing", "mean"], "--missing: the model was learned with --missing zero"),
        (["--separator", ";"], "--separator: the model was learned with ','"),
        (["--drop", "b"], None),
    ],
)
def test_what_contradicts_how_a_model_was_learned_is_one_sentence(told, sentence, more, said):
    write({"a": FIRST["a"], "b": FIRST["b"], "c": FIRST["c"], "city": CITIES, "y": FIRST["y"]}, "first.csv")
    told(
        "run", "first.csv", "--drop", "b", "--categorical", "city", "--missing", "zero", *SHORT, "--save", "model.onkel"
    )
    for command in (
        ["predict", "model.onkel", "first.csv"],
        ["run", "first.csv", "--resume", "model.onkel", "--quiet"],
    ):
        if said is None:
            told(*command, *more)
        else:
            place = "first.csv" if "--separator" in more else "first.csv, line 1"
            assert sentence(*command, *more) == f"{place}: {said}; leave it out."


def test_a_column_may_be_called_like_a_number(told, answers):
    write({"3": FIRST["a"], "1": FIRST["b"], "2": FIRST["c"], "y": FIRST["y"]}, "first.csv")
    write({"1": FIRST["b"], "2": FIRST["c"], "3": FIRST["a"]}, "other.csv")
    told("run", "first.csv", *SHORT, "--save", "model.onkel")
    assert np.array_equal(answers("other.csv")[0], answers("first.csv")[0])
    Path("nameless.csv").write_text("3,0.5,1\n1,2,0.25\n")
    write({"3": [3, 1], "1": [0.5, 2], "2": [1, 0.25]}, "named.csv")
    assert np.array_equal(answers("nameless.csv")[0], answers("named.csv")[0])


def test_a_name_goes_before_a_position_where_a_column_is_called_like_a_number(told, scores):
    write({"3": FIRST["a"], "x": FIRST["b"], "0": FIRST["c"], "y": FIRST["y"]}, "first.csv")
    write({"x": FIRST["b"], "y": FIRST["y"]}, "less.csv")
    expected = scores("less.csv", *SHORT)
    assert np.array_equal(scores("first.csv", "--drop", "3,0", *SHORT), expected)
    Path("nameless.csv").write_text("".join(f"{a},{b},{y}\n" for a, b, y in [(0, 1, 1), (1, 0, -1)] * 20))
    Path("one.csv").write_text("".join(f"{b},{y}\n" for b, y in [(1, 1), (0, -1)] * 20))
    assert np.array_equal(scores("nameless.csv", "--drop", "0", *SHORT), scores("one.csv", *SHORT))


def test_headers_with_a_name_twice_or_without_one_are_told_apart(told, answers):
    text = DATA["binary.csv"]
    Path("first.csv").write_text("a,,a,y\n" + text)
    told("run", "first.csv", *SHORT, "--save", "model.onkel")
    assert load_model("model.onkel").columns.names == ["a", "x2", "a.1"]
    assert np.array_equal(answers("first.csv")[0], answers("binary.csv")[0])
    write({"a.1": FIRST["c"], "x2": FIRST["b"], "a": FIRST["a"]}, "other.csv")
    assert np.array_equal(answers("other.csv")[0], answers("binary.csv")[0])


@pytest.mark.parametrize(("separator", "asked"), [(";", []), ("\t", []), ("|", ["--separator", "|"])])
def test_cells_may_be_separated_otherwise(told, answers, separator, asked):
    write(FIRST, "first.csv", separator)
    write({key: OTHER[key] for key in ("c", "b", "a")}, "other.csv", separator)
    told("run", "first.csv", *asked, *SHORT, "--save", "model.onkel")
    expected, _ = answers("first.csv")
    assert np.array_equal(answers("other.csv")[0], expected)
    write({key: OTHER[key] for key in ("c", "b", "a")}, "comma.csv")
    assert np.array_equal(answers("comma.csv")[0], expected)


def test_a_table_of_one_feature_needs_no_label_column(told, answers):
    write({"a": FIRST["a"], "y": FIRST["y"]}, "first.csv")
    told("run", "first.csv", *SHORT, "--save", "model.onkel")
    expected, _ = answers("first.csv")
    for name in ("alone.csv", "alone.parquet"):
        write({"a": FIRST["a"]}, name)
        assert np.array_equal(answers(name)[0], expected)
    Path("nameless.csv").write_text("".join(f"{a}\n" for a in FIRST["a"]))
    assert np.array_equal(answers("nameless.csv")[0], expected)


@pytest.mark.parametrize("how", ["onehot", "hash"])
@pytest.mark.parametrize("name", ["other.csv", "other.parquet"])
def test_columns_of_text_are_found_by_name_too(told, answers, how, name):
    write({"city": CITIES, **FIRST}, "first.csv")
    write({"c": FIRST["c"][:4], "city": CITIES[:4], "b": FIRST["b"][:4], "a": FIRST["a"][:4]}, name)
    told("run", "first.csv", "--categorical", f"city={how}", *SHORT, "--save", "model.onkel")
    assert np.array_equal(answers(name)[0], answers("first.csv", "--limit", 4)[0])


@pytest.mark.parametrize("missing", ["mean", "zero"])
@pytest.mark.parametrize("learner", ["auto", "fogd"])
@pytest.mark.parametrize("task", ["binary", "regression"])
def test_missing_numbers_are_answered_the_same_in_python(told, missing, learner, task):
    holes = X.copy()
    holes[3::7, 0] = holes[::5, 2] = np.nan
    columns = {name: [None if np.isnan(x) else x for x in holes[:, j]] for j, name in enumerate("abc")}
    write({**columns, "y": LABELS[task].tolist()}, "holes.csv")
    told(
        "run", "holes.csv", "--missing", missing, "--learner", learner, "--task", task, "--quiet", "--save", "one.onkel"
    )
    out, _ = told("predict", "one.onkel", "holes.csv", "--output", "scores")
    expected = np.loadtxt(out.splitlines())
    kind = KernelRegressor if task == "regression" else KernelClassifier
    model = kind.load("one.onkel")
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(holes, columns=list("abc"))
    answer = model.predict if task == "regression" else model.decision_function
    assert np.array_equal(answer(frame), expected)
    model.save("two.onkel")
    assert told("predict", "two.onkel", "holes.csv", "--output", "scores")[0] == out
    assert load_model("two.onkel").columns.missing == missing


@pytest.mark.parametrize("name", ["other.csv", "other.arrow"])
def test_a_model_of_a_data_frame_answers_a_table(told, answers, name):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(NUMBERS)
    model = KernelClassifier(dtype="float64").fit(frame, LABELS["text"])
    model.save("model.onkel")
    write({"c": FIRST["c"], "place": LABELS["text"].tolist(), "a": FIRST["a"], "b": FIRST["b"]}, name)
    assert np.array_equal(answers(name)[0][:, 0], model.decision_function(frame))
    mistakes = int(np.sum(model.predict(frame) != LABELS["text"]))
    assert answers(name, "--label", "place")[1][-1].startswith(f"{N_ROWS} rows with labels: {mistakes} mistakes")


@pytest.mark.parametrize("missing", ["zero", "mean"])
def test_a_model_of_an_array_with_gaps_answers_every_format(told, answers, missing):
    holes = X.copy()
    holes[3::7, 0] = np.nan
    KernelClassifier("fogd", missing=missing).fit(holes, LABELS["binary"]).save("model.onkel")
    Path("new.csv").write_text("1,2,3\n-1,0.5,1\n")
    Path("new.libsvm").write_text("1:1 2:2 3:3\n1:-1 2:0.5 3:1\n")
    assert np.array_equal(answers("new.csv")[0], answers("new.libsvm")[0])


def test_a_model_and_its_names_are_in_the_report_and_in_an_export(told, report, folder):
    pytest.importorskip("onnx")
    write(FIRST, "first.csv")
    assert report("first.csv", *SHORT, "--save", "model.onkel")["feature_names"] == ["a", "b", "c"]
    out, _ = told("export", "model.onkel", "--onnx", "model.onnx", "--json", "-")
    assert json.loads(out)["feature_names"] == ["a", "b", "c"]
