"""`onkel reproduce` as a person calls it."""

import json
import subprocess
import sys

import pytest

from onkel.apps.cli.main import main
from onkel.apps.reproduce import EXPERIMENTS, FIGURES
from onkel.apps.reproduce.spec import entry
from tests.apps.cli.common import spoken


@pytest.fixture
def told(home, capsys):
    def run(*arguments, code=0):
        assert main(["reproduce", *map(str, arguments)]) == code
        out, err = capsys.readouterr()
        return out if code == 0 else (out, spoken(err))

    return run


def test_the_experiments_are_listed(told):
    assert [row.split()[0] for row in told().splitlines()] == [*EXPERIMENTS, *FIGURES]


def test_page_and_json_and_table_agree(told, home, few, onlookers):
    few("lsokl-table5", OGD=None, NOGD="a reason")
    shown = told("lsokl-table5", "--datasets", "german,w7a", "--runs", 2, "--json", "a.json", "--page", "a.md")
    found, page = json.loads((home / "a.json").read_text()), (home / "a.md").read_text()
    ogd, nogd = found["lines"]
    assert (ogd["paper"]["value"], nogd["ours"], nogd["remark"]) == (29.5, None, "a reason")
    for text in (f"{ogd['ours']['mean']:.2f} +- {ogd['ours']['std']:.2f}", "29.5 +- 0.5", f"{ogd['difference']:+.1f}"):
        assert f"| {text} |" in page
        assert f" {text} " in shown
    assert f"| {ogd['remark']} |" in page
    assert shown.count(ogd["remark"]) == 1
    assert found["absent"]["w7a"] in page
    assert found["absent"]["w7a"] in shown
    assert (found["runs"], found["paper_runs"], found["quick"]) == (2, 20, False)
    assert "2 runs (the paper: 20), all rows." in page
    assert "`ogd(eta=0.2, sigma=8)`" in page


def test_better_and_worse_follow_the_direction_of_the_metric(told, few, onlookers):
    few("lsokl-table5", OGD=None)
    assert "worse: 60 rows here, 1,000 there" in told("lsokl-table5", "--datasets", "german")  # more mistakes
    few("bkm-table2", BKM=None)
    assert "worse: 60 rows here, 32,561 there" in told("bkm-table2", "--datasets", "a9a")  # less accuracy


def test_a_quick_run_says_that_it_is_quick(told, home, few, onlookers):
    few("lsokl-table5", OGD=None)
    shown = told("lsokl-table5", "--datasets", "german", "--quick", "--page", "a.md")
    said = "Quick: only to see that it works, not to be compared. 2 runs (the paper: 20), at most 1,000 rows"
    assert said in shown
    assert said in (home / "a.md").read_text()
    assert json.loads(told("lsokl-table5", "--datasets", "german", "--quick", "--json", "-"))["quick"] is True


def test_a_limit_is_said(told, few, onlookers):
    few("lsokl-table5", OGD=None)
    shown = told("lsokl-table5", "--datasets", "german", "--runs", 1, "--limit", 30)
    assert "1 run (the paper: 20), at most 30 rows of each data set." in shown
    assert "30 rows here, 1,000 there" in shown


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nothing"], "There is no experiment 'nothing'; there are lsokl-table3, "),
        (["lsokl-table5", "--datasets", "german,moon"], "The table has no data set 'moon'; it has german, "),
        (["rrf-figure1", "--datasets", "moon"], "The figure has no data set 'moon'; it has cod-rna."),
        (["rrf-figure1", "--page", "nowhere/a.md"], "nowhere: No such file or directory."),
        (["lsokl-table5", "--page", "nowhere/a.md"], "nowhere: No such file or directory."),
        (["lsokl-table5", "--json", "nowhere/a.json"], "nowhere: No such file or directory."),
        (["lsokl-table5", "--runs", "0"], "Argument --runs: 0 is not a positive whole number."),
    ],
)
def test_a_mistake_is_one_sentence(told, onlookers, arguments, said):
    out, err = told(*arguments, code=2)
    assert (out, len(err), onlookers) == ("", 1, [])
    assert err[0].startswith(f"onkel: {said}")


def test_learners_and_machines_learn(told, few):
    few("bkm-table2", BKM=entry("ogd", gamma=0.5), LIBSVM=entry("svc", C=(1.0, 10.0), gamma=0.5))
    lines = json.loads(told("bkm-table2", "--datasets", "a9a", "--runs", 2, "--json", "-"))["lines"]
    assert [(one["learner"], one["runs"]) for one in lines] == [("ogd", 2), ("svc", 1)]  # the second is not random
    assert all(80.0 < one["ours"]["mean"] <= 100.0 for one in lines)


def test_kernels_and_their_feature_maps_learn(told, few):
    given = {"partition": "cells", "t": 10, "psi": 8, "C": 1.0}
    few(
        "ik-table8",
        **{
            "LIBSVM IKa": entry("ik_svc", **given),
            "LIBSVM chi2": entry("chi2_svc", C=1.0),
            "LIBLINEAR chi2": entry("chi2_svm", C=1.0),
            "LIBLINEAR IKa": entry("ik_svm", **given),
        },
    )
    lines = json.loads(told("ik-table8", "--datasets", "a9a", "--runs", 1, "--json", "-"))["lines"]
    assert [one["learner"] for one in lines] == ["ik_svc", "chi2_svc", "chi2_svm", "ik_svm"]
    assert all(one["ours"]["mean"] > 0.6 for one in lines)


def test_it_runs_as_a_process(home):
    (home / "housing.libsvm").rename(home / "casp.libsvm")  # for which the table has fewer algorithms
    command = [sys.executable, "-m", "onkel", "reproduce", "lsokl-table9", "--datasets", "casp,mg", "--quick"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert (done.returncode, spoken(done.stderr)) == (0, [])
    lines = done.stdout.splitlines()
    learned = ["RBP", "Forgetron", "Projectron", "BOGD", "FOGD", "NOGD"]
    assert [row.split()[:2] for row in lines[2:8]] == [["casp", name] for name in learned]
    assert lines[-1].startswith("mg: mg is not here")
