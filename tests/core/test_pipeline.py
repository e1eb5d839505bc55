"""Compiled helpers: what is inlined and what is not. Speed hangs on it, and no result would tell."""

import re

import numba
import numpy as np
import pytest

from onkel.core.borrowed import row
from onkel.core.verbs import compiled
from onkel.pieces.maps.fourier import turn

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")  # type: ignore[attr-defined]


@compiled
def light(phases, features):
    turn(row(phases, 0), row(features, 0), phases.shape[1])


@numba.njit
def entry(phases, features):
    light(phases, features)


def test_a_heavy_helper_is_a_function_of_its_own_also_within_a_light_one_that_is_not():
    entry(np.zeros((1, 16), np.float32), np.zeros((1, 32), np.float32))
    (text,) = entry.inspect_asm().values()
    names = " ".join(re.findall(r"^(_ZN\w+):", text, re.MULTILINE))
    assert "4turn" in names
    assert "5light" not in names
