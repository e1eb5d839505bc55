"""The commands beside `run`, as a person calls them."""

import json
import os
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from onkel import KernelClassifier, KernelRegressor, make_learner
from onkel.apps.cli.describe import NAMES, bibliography, described, home_of
from onkel.apps.cli.main import main
from onkel.recipes import RECIPES
from tests.apps.cli.common import LABELS, N_ROWS, X, spoken

FOGD = ["--learner", "fogd", "--set", "n_frequencies=20", "--set", "gamma=1"]


@pytest.fixture
def told(capsys):
    """Run a command; its standard output."""

    def run(*arguments, code=0):
        assert main([*map(str, arguments)]) == code, capsys.readouterr().err
        return capsys.readouterr().out

    return run


@pytest.mark.parametrize("name", sorted(RECIPES))
def test_every_learner_is_described_with_its_files_and_what_to_cite(name, told):
    found = json.loads(told("describe", name, "--json", "-"))
    assert found["files"][0].startswith("onkel/recipes/")
    assert all((Path(__file__).parents[3] / "src" / path).is_file() for path in found["files"])
    assert not any(path.endswith("__init__.py") for path in found["files"])
    assert found["references"]
    assert set(found["parameters"]) == set(RECIPES[name]().get_params(deep=False))
    shown = told("describe", name)
    assert all(entry in shown for entry in found["references"])


@pytest.mark.parametrize("name", sorted(RECIPES))
def test_the_pieces_of_a_learner_are_where_its_description_says(name):
    text = described(name)["description"].partition("Pieces:")[2].partition("Tasks:")[0]
    pieces = [dotted for dotted in NAMES.findall(text) if home_of(dotted)]
    assert pieces
    for dotted in pieces:
        module, _, piece = dotted.rpartition(".")
        assert home_of(dotted).endswith(f".{module}")
        assert hasattr(import_module(home_of(dotted)), piece)


def test_all_learners_are_listed_in_a_line_each(told):
    assert [line.split()[0] for line in told("describe").splitlines()] == sorted(RECIPES)


def test_only_what_is_cited_is_in_the_bibliography():
    cited = {entry for name in RECIPES for entry in described(name)["references"]}
    assert cited <= set(bibliography().values())


def test_an_unknown_learner_is_not_described(capsys):
    assert main(["describe", "nobody"]) == 2
    assert spoken(capsys.readouterr().err)[0].startswith("onkel: There is no learner 'nobody'; there are ")


@pytest.mark.parametrize("task", ["binary", "multiclass", "text", "regression"])
def test_predictions_are_those_of_the_estimator(folder, task, told):
    main(["run", f"{task}.csv", *FOGD, "--quiet", "--save", "model.onkel"])
    model = (KernelRegressor if task == "regression" else KernelClassifier).load("model.onkel")
    lines = told("predict", "model.onkel", f"{task}.csv").split()
    assert lines == [str(label) for label in model.predict(X).tolist()]
    if task != "regression":
        chances = told("predict", "model.onkel", f"{task}.csv", "--output", "probabilities")
        assert np.array_equal(np.loadtxt(chances.splitlines()), model.predict_proba(X))


def test_predictions_can_go_to_a_file_and_stop_early(folder, told):
    main(["run", "binary.libsvm", *FOGD, "--quiet", "--save", "model.onkel"])
    assert told("predict", "model.onkel", "binary.libsvm", "--limit", 7, "--to", "found.txt") == ""
    assert len(Path("found.txt").read_text().split()) == 7


REFUSED = {
    "chances of numbers": (
        ["number.onkel", "regression.libsvm", "--output", "probabilities"],
        "no probabilities",
    ),
    "spread without particles": (["class.onkel", "binary.libsvm", "--output", "spread"], "Only a learner of particles"),
    "rows of another width": (["class.onkel", "wide.libsvm"], "wide.libsvm"),
    "no model": (["binary.libsvm", "binary.libsvm"], "not an onkel model"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_cannot_be_predicted_is_said_in_one_sentence(folder, kind, capsys):
    Path("wide.libsvm").write_text("1 9:1\n")
    main(["run", "binary.libsvm", *FOGD, "--quiet", "--save", "class.onkel"])
    main(["run", "regression.libsvm", *FOGD, "--quiet", "--save", "number.onkel"])
    arguments, part = REFUSED[kind]
    assert main(["predict", *arguments, "--to", "found.txt"]) == 2
    (sentence,) = spoken(capsys.readouterr().err)
    assert part in sentence
    assert not os.path.exists("found.txt")


def test_learners_are_compared_on_the_same_orders(folder, told):
    given = "fogd:n_frequencies=20:gamma=1,perceptron:gamma=1"
    report = json.loads(told("compare", "binary.libsvm", "--learners", given, "--permutations", 3, "--json", "-"))
    by_hand = []
    for number in range(3):
        order = np.random.default_rng(number).permutation(N_ROWS)
        online = make_learner("perceptron", gamma=1).start(3)
        scores = online.learn(X[order], LABELS["binary"][order].astype(float))[:, 0]
        by_hand.append(np.mean((scores >= 0) != (LABELS["binary"][order] > 0)))
    one, other = report["learners"]
    assert other["error"] == pytest.approx(np.mean(by_hand))
    assert other["error_std"] == pytest.approx(np.std(by_hand, ddof=1))
    assert (one["support"], other["support"] > 0) == (0, True)


def test_a_comparison_is_shown_as_a_table(folder, told):
    shown = told("compare", "regression.csv", "--learners", "fogd,ogd", "--quiet") + told(
        "compare", "regression.csv", "--learners", "fogd:sigma=1,ogd:sigma=1"
    )
    assert [line.split()[0] for line in shown.splitlines()] == ["learner", "fogd:sigma=1", "ogd:sigma=1"]
    assert "MSE" in shown


def test_a_learner_that_does_not_fit_is_refused_before_the_first_runs(folder, capsys):
    assert main(["compare", "multiclass.csv", "--learners", "fogd,tvm", "--json", "out.json"]) == 2
    assert "tvm knows two classes" in capsys.readouterr().err
    assert not os.path.exists("out.json")


def test_tuning_looks_at_the_first_rows_only_and_its_result_can_be_run(folder, told):
    given = ["tune", "binary.libsvm", "--learner", "fogd", "--set", "n_frequencies=20", "--grid", "sigma=0.5,1,2"]
    assert told(*given, "--rows", 150, "--json", "best.json").startswith("fogd(")
    found = json.loads(Path("best.json").read_text())
    errors = []
    for sigma in (0.5, 1, 2):
        online = make_learner("fogd", n_frequencies=20, sigma=sigma).start(3)
        scores = online.learn(X[:150], LABELS["binary"][:150].astype(float))[:, 0]
        errors.append(float(np.mean((scores >= 0) != (LABELS["binary"][:150] > 0))))
    assert [trial["error"] for trial in found["tried"]] == pytest.approx(errors)
    assert found["parameters"]["sigma"] == (0.5, 1, 2)[int(np.argmin(errors))]
    report = json.loads(told("run", "binary.libsvm", "--tuned", "best.json", "--json", "-"))
    assert (report["learner"], report["parameters"]["sigma"]) == ("fogd", found["parameters"]["sigma"])
    assert report["parameters"]["n_frequencies"] == 20


def test_ranges_are_searched_and_kept(folder, told):
    pytest.importorskip("optuna")
    given = ["tune", "binary.libsvm", "--learner", "fogd", "--range", "sigma=0.5:2.0", "--range", "n_frequencies=4:16"]
    found = json.loads(told(*given, "--trials", 5, "--to", "-"))
    tried = [trial["parameters"] for trial in found["tried"]]
    assert len(tried) == 5
    assert all(0.5 <= one["sigma"] <= 2.0 and one["n_frequencies"] in range(4, 17) for one in tried)


@pytest.mark.parametrize(
    ("given", "part"),
    [
        ([], "--grid or --range"),
        (["--grid", "eta"], "KEY=A,B,C"),
        (["--range", "eta=1:0.1"], "0 < LOW < HIGH"),
        (["--range", "eta=a:b"], "0 < LOW < HIGH"),
        (["--grid", "nothing=1,2"], "no parameter 'nothing'"),
    ],
)
def test_what_cannot_be_tuned_is_said_in_one_sentence(folder, given, part, capsys):
    assert main(["tune", "binary.libsvm", "--learner", "fogd", *given]) == 2
    (sentence,) = spoken(capsys.readouterr().err)
    assert part in sentence


def test_a_file_that_tune_did_not_write_is_refused(folder, capsys):
    Path("odd.json").write_text("[1]")
    assert main(["run", "binary.libsvm", "--tuned", "odd.json"]) == 2
    assert spoken(capsys.readouterr().err) == ["onkel: odd.json: this is not what `onkel tune` writes."]
    assert main(["run", "binary.libsvm", "--tuned", "odd.json", "--learner", "fogd"]) == 2
    assert spoken(capsys.readouterr().err) == ["onkel: --tuned brings its own learner: leave out --learner."]


@pytest.mark.slow
def test_warm_leaves_nothing_to_compile(tmp_path, monkeypatch):
    environment = os.environ | {"ONKEL_CACHE": str(tmp_path)}
    given = ["fogd", "--task", "binary", "--layout", "dense"]
    onkel = [sys.executable, "-m", "onkel"]
    first = subprocess.run([*onkel, "warm", *given], env=environment, capture_output=True, text=True, check=True)
    assert first.stdout.split()[:3] == ["fogd", "binary", "dense"]
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nbc")}
    assert kept
    subprocess.run([*onkel, "warm", *given, "--quiet"], env=environment, capture_output=True, check=True)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nbc")} == kept


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_completion_knows_every_command(shell, told):
    pytest.importorskip("shtab")
    script = told("completion", shell)
    assert all(command in script for command in ("compare", "describe", "predict", "tune", "warm"))


def test_completion_for_fish_knows_commands_options_and_values(told):
    lines = told("completion", "fish").splitlines()
    assert all(line.startswith("complete -c onkel -n '__fish_") for line in lines)
    assert len(set(lines)) == len(lines)
    seen = "__fish_seen_subcommand_from"
    at = f"complete -c onkel -n '{seen}"
    assert f"{at} run' -l seed -r -d 'seed of everything random (default 0)'" in lines
    assert f"{at} run' -l dtype -x -a 'float32 float64' -d 'type of the model\\'s numbers (default float32)'" in lines
    assert f"{at} run' -l quiet -d 'no progress line and no table'" in lines
    assert f"{at} data; and {seen} fetch' -l to -r -d 'where to put it (default: the cache)'" in lines
    assert f"{at} data; and not {seen} list info fetch' -f -a list -d 'name all data sets'" in lines
    assert any(line.endswith("-f -a compare -d 'several learners on the same rows'") for line in lines)


@pytest.mark.skipif(shutil.which("fish") is None, reason="there is no fish here")
def test_fish_completes(told):
    script = told("completion", "fish") + "complete -C 'onkel da'; complete -C 'onkel run --dty'"
    done = subprocess.run(["fish", "--no-config", "-c", script], capture_output=True, text=True, check=True)
    assert [line.split("\t")[0] for line in done.stdout.splitlines()] == ["data", "--dtype"]


@pytest.mark.parametrize(
    "command", ["run", "compare", "tune", "predict", "describe", "reproduce", "warm", "completion"]
)
def test_help_has_examples(command, capsys):
    with pytest.raises(SystemExit) as stop:
        main([command, "--help"])
    assert stop.value.code == 0
    assert "examples:\n  onkel " in capsys.readouterr().out
