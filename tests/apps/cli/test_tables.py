"""`onkel run` on tables: which columns are read, as what, and what becomes of bad lines."""

import json

import numpy as np
import pytest

from onkel.apps.cli.main import main
from onkel.streams import StreamError
from tests.apps.cli.common import LABELS, N_ROWS, X, by_hand, libsvm, spoken

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

COLORS = np.where(X[:, 0] > 0.0, "red", "blue")
SHORT = ["--learner", "fogd", "--set", "gamma=0.5"]


@pytest.fixture
def table(folder):
    """The rows of the other tests among other columns, as CSV and as Parquet."""
    columns = {"id": [f"no {n}" for n in range(N_ROWS)], "a": X[:, 0], "color": COLORS, "b": X[:, 1], "c": X[:, 2]}
    columns["y"] = LABELS["binary"]
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    (folder / "table.csv").write_text("\n".join(lines))
    whole = pa.table(columns)
    parquet.write_table(whole, folder / "table.parquet")
    (folder / "parts").mkdir()
    parquet.write_table(whole.slice(0, 100), folder / "parts" / "1.parquet", row_group_size=30)
    with pa.OSFile(str(folder / "parts" / "2.arrow"), "wb") as sink, pa.ipc.new_file(sink, whole.schema) as writer:
        writer.write_table(whole.slice(100))
    return folder


@pytest.mark.usefixtures("table")
@pytest.mark.parametrize("source", ["table.csv", "table.parquet", "parts"])
@pytest.mark.parametrize("chosen", [["--columns", "a,b", "--columns", "c"], ["--drop", "id,2"]])
def test_columns_are_chosen_by_name_or_position(scores, source, chosen):
    assert np.array_equal(scores(source, *chosen), by_hand("binary"))


@pytest.mark.usefixtures("table")
def test_a_table_is_learned_the_same_from_every_format(scores):
    options = ["--drop", "id", "--categorical", "color", "--hash-columns", "4", *SHORT]
    first = scores("table.csv", *options)
    assert np.array_equal(scores("table.parquet", *options), first)
    assert np.array_equal(scores("parts", *options, "--block", "7"), first)
    assert not np.array_equal(first, scores("table.csv", "--columns", "a,b,c", *SHORT))


@pytest.mark.usefixtures("table")
def test_one_hot_values_are_kept_for_test_files_and_for_going_on(onkel_run, scores, report, folder):
    text = (folder / "table.csv").read_text().splitlines()
    reds = [line for line in text if ",red," in line]
    (folder / "reds.csv").write_text("\n".join([text[0], *reds]))
    options = ["--drop", "id", "--categorical", "color=onehot"]
    found = report("table.csv", *options, "--test", "reds.csv", *SHORT)
    assert found["test"]["rows"] == len(reds)
    onkel_run("table.csv", *options, *SHORT, "--save", "model.onkel")
    alone = scores("reds.csv", *options, "--resume", "model.onkel")
    given = scores("reds.csv", "--drop", "id", "--categorical", "color=blue|red", "--resume", "model.onkel")
    assert np.array_equal(alone, given)


def test_going_on_with_other_one_hot_columns_is_refused(table, onkel_run, refused):
    onkel_run("table.csv", "--drop", "id", "--categorical", "color=onehot", "--save", "model.onkel", *SHORT)
    expected = "table.csv, line 1: --categorical: the model was learned with 2=blue|red; leave it out."
    assert refused("table.csv", "--categorical", "2=hash", "--resume", "model.onkel") == expected
    expected = "table.csv, line 1: --categorical: the model was learned with numbers there; leave it out."
    assert refused("table.csv", "--categorical", "a", "--resume", "model.onkel") == expected


def test_missing_values_are_what_is_asked_for(scores, refused, folder):
    rows = zip(X.round(1).tolist(), LABELS["binary"], strict=True)
    lines = (f"{'' if n % 7 == 3 else a},{b},{c},{y}\n" for n, ((a, b, c), y) in enumerate(rows))
    (folder / "holes.csv").write_text("".join(lines))
    zeros = X.round(1).copy()
    zeros[3::7, 0] = 0.0
    (folder / "zeros.libsvm").write_text(libsvm(LABELS["binary"], zeros))
    assert np.array_equal(scores("holes.csv", "--missing", "zero", *SHORT), scores("zeros.libsvm", *SHORT))
    assert not np.array_equal(scores("holes.csv", "--missing", "mean", *SHORT), scores("zeros.libsvm", *SHORT))
    assert refused("holes.csv") == "holes.csv, line 4: column 1 is empty."


@pytest.fixture
def skipping(folder, capsys):
    """Run the command with --on-error skip: its report, and what it said on standard error."""

    def run(*arguments):
        assert main(["run", *arguments, "--on-error", "skip", "--json", "-"]) == 0
        out, err = capsys.readouterr()
        return json.loads(out), spoken(err)

    return run


@pytest.mark.parametrize(
    ("name", "bad", "fault"),
    [
        ("binary.libsvm", "1 0:1", "feature index 0 is below 1."),
        ("binary.csv", "1,2,3", "3 cells where the first line has 4."),
    ],
)
@pytest.mark.parametrize("more", [[], ["--epochs", "2"], ["--block", "16"], ["--permutation", "3"]])
def test_bad_lines_are_left_out_and_counted(skipping, refused, folder, name, bad, fault, more):
    clean = skipping(name, *more)[0]
    assert clean["rows_skipped"] == 0
    text = (folder / name).read_text().splitlines()
    text.insert(200, bad)
    text.insert(100, bad)
    (folder / name).write_text("\n".join(text))
    report, said = skipping(name, *more)
    assert (report["rows"], report["rows_skipped"]) == (N_ROWS, 2)
    assert (report["mistakes"], report["curve"]) == (clean["mistakes"], clean["curve"])
    assert said == [f"onkel: {name}: 2 bad lines skipped; the first: {name}, line 101: {fault}"]
    assert refused(name) == f"{name}, line 101: {fault}"


def test_bad_lines_of_standard_input_and_of_a_test_file_are_counted_too(skipping, standard_input, folder):
    (folder / "test.libsvm").write_text("x\n" + libsvm(LABELS["binary"][:9], X[:9]))
    standard_input(libsvm(LABELS["binary"]) + "1 2:x\n")
    _, said = skipping("-", "--test", "test.libsvm", *SHORT)
    assert said == [
        f"onkel: standard input: 1 bad line skipped; the first: standard input, line {N_ROWS + 1}: "
        "'2:x' is not of the form index:value.",
        "onkel: test.libsvm: 1 bad line skipped; the first: test.libsvm, line 1: the label 'x' is not a number.",
    ]


def test_files_without_lines_have_bad_rows(table, skipping):
    whole = parquet.read_table("table.parquet", columns=["a", "b", "y"])
    holes = pa.array([None if n in (7, 20) else value for n, value in enumerate(whole["a"].to_pylist())])
    parquet.write_table(whole.set_column(0, "a", holes), "holes.parquet")
    report, said = skipping("holes.parquet", *SHORT)
    assert (report["rows"], report["rows_skipped"]) == (N_ROWS - 2, 2)
    first = "holes.parquet, row 8: column 'a' is empty."
    assert said == [f"onkel: holes.parquet: 2 bad rows skipped; the first: {first}"]


def test_names_of_folders_are_columns(table, scores):
    whole = parquet.read_table("table.parquet", columns=["a", "b", "c", "y"])
    for month, rows in ((1, whole.slice(0, 120)), (2, whole.slice(120))):
        (table / "by-month" / f"month={month:02}").mkdir(parents=True)
        parquet.write_table(rows, table / "by-month" / f"month={month:02}" / "rows.parquet")
    months = pa.array([1] * 120 + [2] * (N_ROWS - 120))
    parquet.write_table(whole.add_column(0, "month", months), "flat.parquet")
    assert np.array_equal(scores("by-month", *SHORT), scores("flat.parquet", *SHORT))
    assert np.array_equal(scores("by-month", "--drop", "month"), by_hand("binary"))


def test_nothing_is_said_where_nothing_was_left_out(skipping):
    assert skipping("binary.csv", *SHORT)[1] == []


def test_libsvm_text_has_no_columns_to_choose(refused):
    expected = "binary.libsvm: LIBSVM text has no columns to choose (drop, missing)."
    assert refused("binary.libsvm", "--drop", "1", "--missing", "mean") == expected


def test_parquet_is_not_read_from_standard_input(refused, standard_input):
    standard_input("")
    expected = "standard input: Parquet and Arrow files can be read from a path only."
    assert refused("-", "--format", "parquet") == expected


def test_an_error_while_reading_ahead_is_the_error_of_the_command(refused, monkeypatch, folder):
    from onkel.streams.csv import CsvFile

    iterate = CsvFile.__iter__
    passes = []

    def breaking(stream):
        passes.append(stream)
        for block in iterate(stream):
            yield block
            if len(passes) > 1:  # the first pass is the summary
                raise StreamError("binary.csv: it broke.")

    monkeypatch.setattr(CsvFile, "__iter__", breaking)
    assert refused("binary.csv", "--block", "50", *SHORT) == "binary.csv: it broke."
