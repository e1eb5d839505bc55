"""Partitions of isolation kernels: what trees and cells promise, and the kernel that they give."""

import numpy as np
import pytest
from scipy import sparse

from onkel.core.randomness import derive
from onkel.core.rows import pack
from onkel.core.trees import nbytes
from onkel.pieces.maps import indexing
from onkel.pieces.maps.growing import cells, chosen_rows, trees
from onkel.pieces.maps.isolation import Cells, SparseCells, cell_count
from tests.naive.ik_ogd import leaves, nearest_cells

DTYPES = [np.float64, np.float32]
LAYOUTS = {"dense": np.asarray, "compressed": sparse.csr_matrix}


def index_map(partitions, rows, dtype=np.float64):
    return indexing.index_map(partitions, pack(rows, np.dtype(dtype)))


def rows_of(n=60, d=5, seed=0):
    """Rows of which half of the numbers are zero; the last two are equal."""
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, d)) < 0.5, rng.normal(size=(n, d)), 0.0)
    X[-1] = X[-2]
    return X


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_every_leaf_holds_one_row_of_its_sample_or_equal_ones(layout, dtype):
    X = rows_of().astype(dtype)
    made = trees(layout(X), 7, 20, None, dtype, 3)
    found = index_map(made, layout(X), dtype)
    for i, chosen in enumerate(chosen_rows(len(X), 7, 20, derive(3, 0))):
        by_leaf = {}
        for place in chosen:
            by_leaf.setdefault(found[place, i], []).append(X[place])
        assert all(np.ptp(rows, axis=0).max() == 0.0 for rows in by_leaf.values())
        leaves_of_tree = np.unique(found[chosen, i])
        assert len(leaves_of_tree) == len(np.unique(X[chosen], axis=0))


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_trees_are_walked_as_the_slow_twin_walks_them(layout):
    X, new = rows_of(), rows_of(40, seed=9)
    made = trees(layout(X), 9, 16, None, np.float64, 1)
    phi = leaves(*made[:6])
    np.testing.assert_array_equal(index_map(made, layout(new)), [phi(x) for x in new])
    assert index_map(made, layout(new)).max() < cell_count(made)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_largest_numbers_stay_in_their_leaves(dtype):
    X = rows_of().astype(dtype)
    made, top = trees(X, 5, 16, None, dtype, 1), np.full((9, 5), np.finfo(dtype).max, dtype)
    phi = leaves(*made[:6])
    np.testing.assert_array_equal(index_map(made, top, dtype), [phi(x) for x in top])
    leaf = made.child == np.arange(len(made.child))
    made.threshold[leaf] = np.finfo(dtype).min  # what a leaf would compare with must not matter
    np.testing.assert_array_equal(index_map(made, top, dtype), [phi(x) for x in top])


def test_trees_may_be_kept_shallow():
    made = trees(rows_of(), 9, 32, 2, np.float64, 1)
    assert made.depths.max() == 2
    assert cell_count(made) <= 9 * 4


@pytest.mark.parametrize("metric", [1, 2])
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_cells_are_those_of_the_nearest_row(layout, metric):
    X, new = rows_of(), rows_of(40, seed=9)
    made = cells(layout(X), 9, 16, metric, np.float64, 1)
    assert isinstance(made, Cells)
    phi = nearest_cells(made.points.T, made.members, metric)
    expected = np.array([phi(x) for x in new]) + 16 * np.arange(9)
    np.testing.assert_array_equal(index_map(made, layout(new)), expected)


@pytest.mark.parametrize("metric", [1, 2])
def test_wide_rows_have_the_same_cells_in_memory_of_what_is_stored(metric):
    wide = sparse.random(50, 100_000, 0.0005, "csr", random_state=0)
    few = np.unique(wide.indices)
    made = cells(wide, 9, 16, metric, np.float64, 1)
    assert isinstance(made, SparseCells)
    assert nbytes(made) < 100 * wide.nnz
    dense = cells(wide[:, few].toarray(), 9, 16, metric, np.float64, 1)
    np.testing.assert_array_equal(index_map(made, wide), index_map(dense, wide[:, few].toarray()))


def test_trees_of_wide_rows_take_memory_of_what_is_stored():
    wide = sparse.random(50, 1_000_000, 0.0001, "csr", random_state=0)
    made = trees(wide, 5, 32, None, np.float64, 1)
    assert nbytes(made) < 20_000
    assert len(np.unique(index_map(made, wide)[:, 0])) > 10


def test_the_share_of_equal_cells_is_the_kernel_and_falls_with_the_distance():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(2000, 2))
    near, far = np.array([[0.5, 0.5], [0.52, 0.5]]), np.array([[0.1, 0.1], [0.9, 0.9]])
    for made in (trees(X, 400, 16, None, np.float64, 0), cells(X, 400, 16, 2, np.float64, 0)):
        alike = [np.mean(np.equal(*index_map(made, pair))) for pair in (near, far)]
        assert alike[0] > 0.8
        assert alike[1] < 0.02


MAKES = [lambda X: trees(X, 3, 50, None, np.float64, 0), lambda X: cells(X, 3, 50, 2, np.float64, 0)]


@pytest.mark.parametrize("make", MAKES, ids=["trees", "cells"])
def test_more_rows_than_there_are_and_rows_that_are_all_equal_are_no_problem(make):
    few = rows_of(4)
    assert index_map(make(few), few).shape == (4, 3)
    equal = np.ones((6, 2))
    assert len(np.unique(index_map(make(equal), equal)[:, 0])) == 1
    assert len(np.unique(index_map(make(np.zeros((1, 2))), equal)[:, 0])) == 1
