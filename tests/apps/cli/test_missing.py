"""Missing numbers that become the mean of the rows learned before: in runs, in stopped ones, and in predictions."""

import json
from pathlib import Path

import numpy as np
import pytest

from onkel.apps.cli.main import main
from tests.apps.cli.common import LABELS, N_ROWS, X, spoken, stopped_after_every_block

GIVEN = ["--missing", "mean", "--learner", "fogd", "--set", "gamma=0.5", "--quiet"]
ON = [*GIVEN[:2], "--quiet"]
HALF = 170
Y = LABELS["binary"]
HOLES = X.round(2).copy()
HOLES[3::7, 0] = HOLES[::5, 2] = np.nan
NEW = np.array([[np.nan, 1.5, np.nan], [np.nan, np.nan, np.nan], [0.5, -1.0, 2.0]])


def filled(rows):
    """The rows with the means of those before in place of what is missing, and the means in the end."""
    sums, counts, made = np.zeros(rows.shape[1]), np.zeros(rows.shape[1]), rows.copy()
    for i, j in np.ndindex(*rows.shape):
        if np.isnan(rows[i, j]):
            made[i, j] = sums[j] / max(counts[j], 1.0)
        else:
            sums[j], counts[j] = sums[j] + rows[i, j], counts[j] + 1.0
    return made, sums / counts


def table(rows, labels):
    cells = (["" if np.isnan(value) else repr(value) for value in row] for row in rows.tolist())
    return "".join(",".join([*row, str(label)]) + "\n" for row, label in zip(cells, labels, strict=True))


@pytest.fixture
def holes(folder):
    """Tables with holes, whole and in halves, and the same with the means that belong there."""
    whole, means = filled(HOLES)
    new = np.where(np.isnan(NEW), means, NEW)
    parts = {"holes": (HOLES, Y), "one": (HOLES[:HALF], Y[:HALF]), "two": (HOLES[HALF:], Y[HALF:]), "whole": (whole, Y)}
    for name, (rows, labels) in (parts | {"new": (NEW, [1, 1, -1]), "new-whole": (new, [1, 1, -1])}).items():
        (folder / f"{name}.csv").write_text(table(rows, labels))
    return folder


@pytest.fixture
def told(holes, capsys):
    """Run a command that must succeed; what it printed."""

    def run(*arguments):
        code = main([*map(str, arguments)])
        out, err = capsys.readouterr()
        assert (code, [line for line in spoken(err) if "rows with labels" not in line]) == (0, [])
        return out

    return run


def test_a_prediction_uses_the_means_of_the_rows_learned(told):
    told("run", "holes.csv", *GIVEN, "--save", "model.onkel")
    found = told("predict", "model.onkel", "new.csv", *GIVEN[:2], "--output", "scores")
    assert found == told("predict", "model.onkel", "new-whole.csv", "--output", "scores")
    one_by_one = told("predict", "model.onkel", "new.csv", *GIVEN[:2], "--output", "scores", "--block", 1)
    assert one_by_one == found


def test_so_do_the_errors_on_a_test_file(told):
    holes = json.loads(told("run", "holes.csv", *GIVEN, "--test", "new.csv", "--json", "-"))
    whole = json.loads(told("run", "whole.csv", *GIVEN, "--test", "new-whole.csv", "--json", "-"))
    assert holes["test"] == whole["test"]


def test_a_saved_model_goes_on_with_its_means(told):
    told("run", "holes.csv", *GIVEN, "--save", "whole.onkel")
    told("run", "one.csv", *GIVEN, "--save", "half.onkel")
    told("run", "two.csv", *ON, "--resume", "half.onkel", "--save", "both.onkel")
    assert Path("both.onkel").read_bytes() == Path("whole.onkel").read_bytes()


@pytest.mark.parametrize("more", [[], ["--epochs", "2"], ["--permutation", "3"], ["--limit", "131"]])
def test_a_run_that_stopped_goes_on_with_its_means(told, more):
    given = [*more, "--block", "32"]
    told("run", "holes.csv", *given, *GIVEN, "--save", "whole.onkel")

    stopped_after_every_block(["run", "holes.csv", *given, *ON, "--save", "out.onkel"], GIVEN[2:])
    assert Path("out.onkel").read_bytes() == Path("whole.onkel").read_bytes()


def test_in_another_order_means_are_those_of_the_rows_learned_before(told):
    order = np.random.default_rng(3).permutation(N_ROWS)
    Path("ordered.csv").write_text(table(HOLES[order], Y[order]))
    told("run", "ordered.csv", *GIVEN, "--save", "ordered.onkel")
    told("run", "holes.csv", "--permutation", "3", *GIVEN, "--save", "permuted.onkel")
    assert Path("permuted.onkel").read_bytes() == Path("ordered.onkel").read_bytes()


def test_every_learner_of_a_comparison_starts_without_means(told):
    for more in ([], ["--permutations", "2"]):
        given = ["compare", "holes.csv", *GIVEN[:2], *more, "--json", "-"]
        first, second = json.loads(told(*given, "--learners", "fogd:gamma=0.5,fogd:gamma=0.50"))["learners"]
        assert first["error"] == second["error"]


def test_a_model_without_means_cannot_fill_in(told, capsys):
    told("run", "whole.csv", *GIVEN[2:], "--save", "model.onkel")
    assert main(["predict", "model.onkel", "new.csv", *GIVEN[:2]]) == 2
    said = "onkel: new.csv, line 1: --missing: the model was learned with --missing error; leave it out."
    assert spoken(capsys.readouterr().err) == [said]
