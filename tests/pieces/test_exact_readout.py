"""The exact readout, also where what it came with is no inverse of anything."""

import numpy as np
import pytest

from onkel.core.borrowed import row
from onkel.core.ranges import contradiction
from onkel.core.verbs import entry_point
from onkel.pieces.readouts.exact import least_squares, solve


@entry_point
def solve_all(readout, rows, gain):
    for i in range(rows.shape[0]):
        solve(readout, 0.1, 1.0, row(rows, i), gain)


@pytest.mark.parametrize("corner", [0.0, -0.0, 1e-45, 5e-324])
def test_an_inverse_that_rounding_or_a_file_has_spoilt_is_one_again_after_a_row(corner):
    """Its diagonal would go below 0, and a model that was saved then could never be loaded."""
    chance = np.random.default_rng(0)
    readout = least_squares(3, 20, 0.99, 0.1)
    m = len(readout.weights)
    solve_all(readout, chance.normal(size=(30, m)), np.zeros(m))
    readout.inverse[-1, -1] = corner
    assert contradiction(readout) == ""
    for _ in range(30):
        solve_all(readout, chance.normal(size=(1, m)), np.zeros(m))
        assert contradiction(readout) == ""
