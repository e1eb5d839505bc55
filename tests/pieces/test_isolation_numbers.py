"""Worked numbers of the isolation kernel: index maps are given, weights and scores follow."""

import numpy as np
import pytest

from onkel.core.rows import Dense
from onkel.learners.partitioned import indexed
from onkel.learners.partitioned import learn as learn_rows
from onkel.pieces import losses, steps
from onkel.pieces.maps.isolation import Cells
from tests.naive.ik_ogd import dual_ogd
from tests.naive.worked_case import Y8

CELLS = [[0, 0, 0], [1, 0, 2], [0, 0, 2], [2, 2, 1], [0, 1, 0], [2, 2, 1], [0, 0, 0], [1, 0, 2]]
TREES = [[2, 2, 1], [1, 1, 2], [2, 2, 2], [0, 1, 0], [2, 0, 1], [0, 0, 0], [2, 2, 1], [1, 2, 2]]
PRINTED = {
    "cells as printed": (CELLS, 1.0, [0, 0.5, 0, 0, 0.5, 1.5, 1, -2]),
    "trees as printed": (TREES, 1.0, [0, 0, 0.5, -0.5, 0.5, 1.5, 1.5, -1.5]),
    "cells": (CELLS, 1 / 3, [0, 0.16666667, 0, 0, 0.16666667, 0.5, 0.33333333, -0.5]),
    "trees": (TREES, 1 / 3, [0, 0, 0.16666667, -0.16666667, 0.16666667, 0.5, 0.5, -0.33333333]),
}
WEIGHTS = {
    "cells as printed": [[0.5, -0.5, 0], [-0.5, 0.5, 0], [1, 0, -1]],
    "trees as printed": [[0, -0.5, 0.5], [0, 0, 0], [0, 1, -1]],
}


def centred(index_map):
    """Cells around the middles of the rows that share them; rows are the corners e_1 .. e_8, so each is in its own."""
    phi = np.array(index_map)
    points = np.array([np.mean(np.eye(8)[phi[:, i] == c], axis=0) for i in range(3) for c in range(3)])
    return Cells(2, np.ascontiguousarray(points.T), 0.5 * np.sum(points**2, axis=1), np.arange(9).reshape(3, 3))


@pytest.mark.parametrize("name", PRINTED)
def test_scores_and_weights_are_the_worked_ones(name):
    index_map, norm, expected = PRINTED[name]
    model = indexed(centred(index_map), losses.hinge(), steps.constant(0.5), norm, 1, np.float64)
    scores = np.zeros((8, 1))
    learn_rows(model, Dense(np.eye(8)), 0, np.asarray(Y8, float), np.ones(8), scores)
    np.testing.assert_allclose(scores[:, 0], expected, rtol=0.0, atol=1e-8)
    if name in WEIGHTS:
        np.testing.assert_allclose(model.weights.reshape(3, 3), WEIGHTS[name], rtol=0.0, atol=1e-8)


@pytest.mark.parametrize("index_map", [CELLS, TREES], ids=["cells", "trees"])
def test_the_primal_is_gradient_descent_in_the_dual(index_map):
    model = indexed(centred(index_map), losses.hinge(), steps.constant(0.5), 1 / 3, 1, np.float64)
    scores = np.zeros((8, 1))
    learn_rows(model, Dense(np.eye(8)), 0, np.asarray(Y8, float), np.ones(8), scores)
    np.testing.assert_allclose(scores[:, 0], dual_ogd(range(8), Y8, lambda r: index_map[r], 0.5), rtol=0.0, atol=1e-12)
