"""Rows that are scored side by side."""

import threading
from time import sleep

import numpy as np
import pytest
from scipy import sparse

from onkel.core import threads, trees
from onkel.core.interrupts import LONGEST
from onkel.core.rows import pack
from onkel.evaluation.prequential import cross_validated, over_permutations
from onkel.pieces import kernels
from onkel.pieces.maps.drawing import draw_map
from onkel.pieces.maps.lifting import features_of
from onkel.recipes import make_learner
from tests.all_recipes.common import each_cell
from tests.tables import LAYOUTS, laid_out, parameters, started, stream


@pytest.fixture
def few_are_many(monkeypatch):
    """Even a few rows are worth waking threads for."""
    monkeypatch.setattr(threads, "MANY", 4)
    monkeypatch.setattr(threads, "WORTH", 0.0)
    monkeypatch.setattr(threads, "TRIAL", 2)


@pytest.mark.usefixtures("few_are_many")
@pytest.mark.parametrize("layout", LAYOUTS)
@each_cell
def test_the_number_of_threads_changes_no_bit_of_the_scores(name, task, layout, monkeypatch):
    X, y = stream(task)
    rows = laid_out(X, layout)
    online = started(name, task, parameters(name, task))
    online.learn(rows, y)
    found = []
    for count in ("1", "2", "3"):
        monkeypatch.setenv("ONKEL_THREADS", count)
        found.append(online.score(rows))
    assert np.abs(found[0]).max() > 0.0
    assert trees.same(found[1], found[0])
    assert trees.same(found[2], found[0])


@pytest.mark.parametrize(("n", "count", "cuts"), [(0, 2, 1), (1, 2, 1), (5, 2, 3), (5, 3, 4), (7, 8, 9)])
@pytest.mark.usefixtures("few_are_many")
def test_every_row_is_in_one_share(n, count, cuts, monkeypatch):
    monkeypatch.setenv("ONKEL_THREADS", str(count))
    shares = []
    threads.over_rows(shares.append, n)
    assert sorted(k for share in shares for k in range(n)[share]) == list(range(n))
    assert len(shares) == cuts


@pytest.mark.parametrize("count", [1, 2])
def test_rows_that_take_long_are_cut_so_that_control_c_waits_for_a_few_only(count, monkeypatch):
    monkeypatch.setenv("ONKEL_THREADS", str(count))
    done = []

    def work(rows):
        if len(done) == 9:
            raise KeyboardInterrupt
        until = threads.thread_time() + 1e-5 * (rows.stop - rows.start)
        while threads.thread_time() < until:
            pass
        done.append(rows.stop - rows.start)

    with pytest.raises(KeyboardInterrupt):
        threads.over_rows(work, 1_000_000)
    assert len(done) <= 9 + count - 1
    assert max(done) * 1e-5 <= 5 * LONGEST  # a part takes longer where another program has the processor


def test_a_learner_that_is_slow_is_not_asked_for_many_rows_first():
    shares = []
    threads.over_rows(shares.append, 100, trial=3)
    assert shares == [slice(0, 3), slice(3, 100)]


def test_many_rows_that_take_no_time_are_not_shared_out(monkeypatch):
    monkeypatch.setenv("ONKEL_THREADS", "2")
    monkeypatch.setattr(threads, "WORTH", 1e9)
    shares = []
    threads.over_rows(shares.append, threads.MANY)
    assert shares == [slice(0, threads.TRIAL), slice(threads.TRIAL, threads.MANY)]


@pytest.mark.usefixtures("few_are_many")
@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_number_of_threads_changes_no_bit_of_the_features(layout, monkeypatch):
    X, _ = stream("binary")
    block = pack(laid_out(X, layout), np.float64)
    made = draw_map(kernels.gaussian(gamma=1.0), X.shape[1], 16, "iid", np.float64, 0)
    monkeypatch.setenv("ONKEL_THREADS", "1")
    alone = features_of(made, block)
    monkeypatch.setenv("ONKEL_THREADS", "2")
    assert trees.same(features_of(made, block), alone)


def test_orders_and_folds_side_by_side_give_the_same_figures(monkeypatch):
    X, y = stream("binary")
    learner, rng = make_learner("fogd", n_frequencies=4, gamma=1.0), np.random.default_rng(0)
    orders = [rng.permutation(len(y)) for _ in range(3)]
    found = []
    for count in ("1", "2"):
        monkeypatch.setenv("ONKEL_THREADS", count)
        found.append((over_permutations(learner, X, y, orders)["mistake_rate"], cross_validated(learner, X, y)))
    assert found[0] == found[1]


@pytest.mark.usefixtures("few_are_many")
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    ("name", "task"),
    [("raker", "regression"), ("ada_raker", "binary"), ("omkl", "regression"), ("multi_rrf", "multiclass"),
     ("one_vs_rest", "multiclass")],
)  # fmt: skip
def test_parts_that_take_turns_learn_the_same_bits(name, task, layout, monkeypatch):
    X, y = stream(task)
    rows, found = laid_out(X, layout), []
    for count in ("1", "2", "3"):
        monkeypatch.setenv("ONKEL_THREADS", count)
        online = started(name, task, parameters(name, task))
        found.append((online.learn(rows, y), online.model))
    assert trees.same(found[1], found[0])
    assert trees.same(found[2], found[0])


@pytest.mark.usefixtures("few_are_many")
@pytest.mark.parametrize(("parts", "count"), [(1, 2), (2, 2), (3, 2), (5, 3), (2, 4)])
@pytest.mark.parametrize(("first", "n"), [(0, 0), (0, 3), (2, 30), (30, 30)])
def test_every_part_has_every_row_once_and_in_order(parts, count, first, n, monkeypatch):
    monkeypatch.setenv("ONKEL_THREADS", str(count))

    def work(k, seen, rows):
        return [*seen, *((k, i) for i in range(n)[rows])]

    found = threads.in_turns(work, [[] for _ in range(parts)], first, n)
    assert found == [[(k, i) for i in range(first, n)] for k in range(parts)]


@pytest.mark.usefixtures("few_are_many")
def test_three_parts_take_turns_in_two_threads(monkeypatch):
    monkeypatch.setenv("ONKEL_THREADS", "2")
    cuts = threads.in_turns(lambda k, seen, rows: [*seen, rows.start], [[], [], []], 0, 80)
    assert cuts == [[0, *range(2, 80, 10)], *[list(range(0, 80, 10))] * 2]


@pytest.mark.parametrize(("seconds", "count"), [(0.0, 2), (1e9, 1)])
def test_threads_are_woken_for_what_takes_long_enough(seconds, count, monkeypatch):
    monkeypatch.setenv("ONKEL_THREADS", "2")
    monkeypatch.setattr(threads, "WORTH", seconds)
    together = threading.Barrier(count)  # passed only where as many threads are at work

    def work(k, part, rows):
        if k > 0:
            together.wait(timeout=10.0)
        return threading.get_ident()

    assert len(set(threads.in_turns(work, [0, 0, 0], 0, 10)[1:])) == count


def test_an_error_in_a_thread_is_not_lost(monkeypatch):
    monkeypatch.setenv("ONKEL_THREADS", "2")

    def work(k, part, rows):
        if k == 1:
            raise ValueError("part 1 is broken")
        return part

    with pytest.raises(ValueError, match="part 1 is broken"):
        threads.in_turns(work, [0, 1, 2], 0, 10)


@pytest.mark.usefixtures("few_are_many")
@pytest.mark.parametrize(("parts", "count"), [(1, 1), (3, 1), (3, 2), (2, 2), (5, 3)])
def test_what_trails_has_every_row_once_in_order_and_behind_all_parts(parts, count, monkeypatch):
    monkeypatch.setenv("ONKEL_THREADS", str(count))
    n, trailed, ahead = 200, [], np.zeros(parts, int)

    def work(k, part, rows):
        sleep(1e-4 * (k + 1))
        ahead[k] = rows.stop
        passed(k, rows.stop)
        return part

    def trail(rows):
        assert ahead.min() >= rows.stop
        sleep(3e-4)  # long enough for others to come by meanwhile
        trailed.extend(range(n)[rows])

    passed = threads.trailing(trail, parts)
    threads.in_turns(work, [None] * parts, 0, n)
    assert trailed == list(range(n))


@pytest.mark.usefixtures("few_are_many")
def test_bad_rows_among_many_are_refused_in_the_words_for_one_block(monkeypatch):
    monkeypatch.setenv("ONKEL_THREADS", "2")
    X, y = stream("binary")
    online = started("fogd", "binary", parameters("fogd", "binary"))
    online.learn(X, y)
    bad = X.copy()
    bad[-1, -1] = np.nan
    with pytest.raises(ValueError, match="one is NaN or too large"):
        online.score(bad)
    wide = np.hstack([X, X])
    with pytest.raises(ValueError, match=f"the shape given is \\({wide.shape[0]}, {wide.shape[1]}\\)"):
        online.score(wide)


@pytest.mark.usefixtures("few_are_many")
@pytest.mark.parametrize("layout", [sparse.coo_matrix, sparse.csc_matrix, sparse.csr_array])
def test_sparse_matrices_that_cannot_be_cut_by_row_are_scored_all_the_same(layout, monkeypatch):
    monkeypatch.setenv("ONKEL_THREADS", "2")
    X, y = stream("binary")
    online = started("fogd", "binary", parameters("fogd", "binary"))
    online.learn(X, y)
    assert trees.same(online.score(layout(X)), online.score(X))
