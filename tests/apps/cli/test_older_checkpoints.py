"""Checkpoints that version 3 of the format left after 20 of 40 rows go on to the end."""

import json
import shutil
from pathlib import Path

import pytest

from onkel.apps.cli.main import main
from tests.files.golden.rows import LABELS, ROWS

OLD = Path(__file__).parent / "v3"
GIVEN = {
    "class": ([], ["--learner", "auto", "--set", "n_frequencies=4"]),
    "number": (
        ["--label", "2", "--columns", "0,1", "--missing", "mean"],
        ["--learner", "fogd", "--set", "gamma=0.5", "--set", "n_frequencies=4"],
    ),
    "delayed": (
        ["--evaluate", "delayed", "--delay", "5"],
        ["--learner", "fogd", "--set", "gamma=0.5", "--set", "n_frequencies=4"],
    ),
}


@pytest.mark.parametrize("name", GIVEN)
def test_a_checkpoint_of_version_3_ends_as_the_whole_run_does(name, folder, capsys):
    lines = (",".join([*map(repr, row), label]) for row, label in zip(ROWS.tolist(), LABELS, strict=True))
    (folder / "rows.csv").write_text("".join(f"{line}\n" for line in lines))
    shutil.copy(OLD / f"{name}.onkel", folder / "here.onkel")
    again, first = GIVEN[name]
    found = []
    for how in (["--resume", "here.onkel"], first):
        assert main(["run", "rows.csv", *again, *how, "--block", "10", "--json", "-"]) == 0
        found.append(json.loads(capsys.readouterr().out))
    resumed, whole = found
    assert resumed["rows"] == whole["rows"] == 40
    for key in ("mistakes", "confusion"):
        assert resumed.get(key) == whole.get(key)
    for key in {"log_loss", "mse", "calibration_error"} & whole.keys():
        assert resumed[key] == pytest.approx(whole[key], rel=1e-3)
