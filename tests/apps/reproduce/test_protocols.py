"""What learners are shown, and what becomes of data sets that are not there."""

import numpy as np
import pytest

from onkel.apps.reproduce import EXPERIMENTS, reproduce
from onkel.apps.reproduce.loading import load
from onkel.apps.reproduce.published import Published, published
from onkel.apps.reproduce.results import Line, Result
from onkel.apps.reproduce.spec import entry, source
from onkel.evaluation.prequential import Spread
from tests.apps.reproduce.conftest import ROWS, made_up


def line(ours, paper, algorithm="a", seconds=1.0, note=""):
    return Line("set", algorithm, "ogd", {}, 2, 9, ours, paper, seconds, note)


def test_absent_data_sets_are_listed_and_not_faked(home, few, onlookers):
    few("lsokl-table5", OGD=None)
    result = reproduce("lsokl-table5", runs=1)
    assert set(result.absent) == set(EXPERIMENTS["lsokl-table5"].sources) - {"german", "a9a", "codrna"}
    assert {one.dataset for one in result.lines} == {"german", "a9a", "codrna"}
    assert "`onkel data fetch w7a` gets it" in result.absent["w7a"]


def test_an_algorithm_without_a_learner_has_its_reason_and_no_figure(home, few, onlookers):
    few("lsokl-table5", OGD="nobody knows how")
    (found,) = reproduce("lsokl-table5", ["german"]).lines
    assert (found.ours, found.remark, onlookers) == (None, "nobody knows how", [])


def test_all_algorithms_see_the_same_permutations(home, few, onlookers):
    few("lsokl-table5", Perceptron=None, OGD=None)
    reproduce("lsokl-table5", ["german"], runs=3)
    X, _ = made_up(0)
    orders = {}
    for name, _, seed, rows, _ in onlookers:
        orders.setdefault(name, []).append((seed, rows))
    (_, first), *mine = orders["perceptron"]
    assert [seed for seed, _ in mine] == [0, 1, 2]
    for (seed, rows), (other_seed, other) in zip(orders["perceptron"], orders["ogd"], strict=True):
        assert seed == other_seed
        assert np.array_equal(rows, other)
        assert np.allclose(np.sort(rows, axis=0), np.sort(np.c_[X, np.zeros((ROWS, rows.shape[1] - 4))], axis=0))
    shown = [first, *(rows for _, rows in mine)]
    assert all(not np.array_equal(shown[i], shown[j]) for i in range(4) for j in range(i))


def test_parameters_are_chosen_on_the_permutation_that_no_run_has(home, few, onlookers):
    few("lsokl-table5", OGD=entry("ogd", eta=(0.1, 0.2)))
    (found,) = reproduce("lsokl-table5", ["german"], runs=2).lines
    assert [given["eta"] for _, given, *_ in onlookers][1:] == [0.1, 0.2, 0.1, 0.1]  # of equal ones the first
    assert found.parameters == {"eta": 0.1}
    assert found.runs == 2


def test_the_mean_and_the_sample_deviation_are_those_of_the_runs(home, few, onlookers):
    few("lsokl-table5", OGD=None)
    (found,) = reproduce("lsokl-table5", ["german"], runs=2).lines
    assert found.ours == Spread(pytest.approx(100.0 * np.mean(made_up(0)[1] < 0)), 0.0)


def test_a_stream_of_both_parts_has_all_rows_and_is_compared_with_a_reason(home, few, onlookers):
    few("lsokl-table5", OGD=None)
    (found,) = reproduce("lsokl-table5", ["a9a"], runs=1).lines
    assert found.rows == 2 * ROWS
    assert found.far
    assert found.remark == "120 rows here, 48,842 there"


def test_a_stream_of_the_test_part_needs_it(home, few, onlookers):
    few("lsokl-table7", OGD=None)
    (home / "mnist.libsvm").write_text((home / "a9a.libsvm").read_text())
    assert set(reproduce("lsokl-table7", ["mnist"], runs=1).absent) == {"mnist"}
    (home / "mnist.t.libsvm").write_text((home / "a9a.t.libsvm").read_text())
    result = reproduce("lsokl-table7", ["mnist"], runs=1)
    assert (result.absent, result.data[0].rows) == ({}, ROWS)
    assert np.allclose(np.sort(onlookers[-1][3][:, :4], axis=0), np.sort(made_up(2)[0] / 255.0, axis=0))


def test_a_limit_draws_the_same_rows_each_time(home):
    a, b = (load(source("german", 1000), False, 20).block for _ in range(2))
    assert len(a.labels) == 20
    assert np.array_equal(a.rows, b.rows)


def test_without_a_test_part_a_fifth_is_held_out_and_that_is_said(home, few, onlookers):
    few("bkm-table2", BKM=None)
    result = reproduce("bkm-table2", ["a9a", "cod-rna"], runs=1)
    origins = {one.dataset: (one.rows, one.test) for one in result.data}
    assert origins == {"a9a": (60, "official"), "cod-rna": (48, "a random fifth of the rows (no test part here)")}
    assert len(onlookers) == 2 * (1 + 20)  # a rehearsal and passes


def test_held_out_rows_are_not_learned(home):
    task = load(source("cod-rna", 48), True, None)
    learned, kept = ({tuple(row) for row in np.asarray(block.rows)} for block in (task.block, task.test))
    assert not learned & kept
    assert len(learned | kept) == ROWS


def test_features_and_targets_of_a_regression_are_within_0_and_1(home):
    task = load(source("housing", 506, scale="unit"), False, None)
    assert (task.block.rows.min(), task.block.rows.max()) == (0.0, 1.0)
    assert (task.block.labels.min(), task.block.labels.max()) == (0.0, 1.0)
    assert task.start == {"task": "regression", "n_outputs": 1}


def test_two_classes_can_be_made_of_many(home):
    task = load(source("german", 1000, positive=(-1.0,)), False, None)
    assert np.array_equal(task.block.labels, -made_up(0)[1])


def test_two_classes_can_be_made_of_a_number(home):
    task = load(source("housing", 506, above=0.0), False, None)
    assert np.array_equal(task.block.labels, np.where(made_up(4)[0][:, 0] > 0.0, 1.0, -1.0))
    assert task.start == {"task": "binary", "n_outputs": 1}


@pytest.mark.parametrize(
    ("ours", "paper", "difference"),
    [
        (Spread(30.5, 0.1), Published(29.5, 0.5, None, 0.05), 2.0),
        (Spread(29.0, 9.0), Published(29.5, 0.5, None, 0.05), -1.0),
        (Spread(0.03, 0.004), Published(0.01, 0.0, None, 0.005), 4.0),  # the paper prints 0.00: its rounding
        (Spread(0.86, 0.02), Published(0.84, None, None, 0.005), 1.0),  # the paper prints none: ours
    ],
)
def test_differences_are_in_standard_deviations(ours, paper, difference):
    assert line(ours, paper).difference == pytest.approx(difference)


def test_only_what_is_far_needs_a_reason():
    paper = Published(29.5, 0.5, None, 0.05)
    assert line(Spread(30.4, 0.0), paper, note="why").remark == ""
    assert line(Spread(31.0, 0.0), paper, note="why").remark == "why"
    assert line(Spread(31.0, 0.0), paper).remark == "unexplained"


def test_times_are_relative_to_the_first_algorithm_with_both():
    spread = Spread(1.0, 0.1)
    lines = [
        line(None, Published(1.0, 0.1, 5.0, 0.05), "not learned", 0.0),
        line(spread, Published(1.0, 0.1, 2.0, 0.05), "first", 4.0),
        line(spread, Published(1.0, 0.1, 3.0, 0.05), "second", 1.0),
        line(spread, Published(1.0, 0.1, None, 0.05), "no time", 8.0),
    ]
    result = Result("lsokl-table5", [], lines, {}, 1, None, False)
    assert [result.relative(one) for one in lines] == [(None, None), (1.0, 1.0), (0.25, 1.5), (2.0, None)]


def test_the_paper_is_quoted_as_it_is_printed():
    assert published("ik-table5")["mnist", "IKi-OGD"] == Published(0.95, None, 4.0, 0.005)
    assert published("lsokl-table9")["housing", "OGD"] == Published(0.04017, 0.00043, 0.028, pytest.approx(5e-6))
