"""Extremes in every array and number of a file of every recipe: a part of the cases that `tools/extremes.py` tries."""

import pytest

from onkel.recipes import RECIPES
from tests.files import extreme_files, extremes
from tests.fuzz.surviving import surviving

EVERY = 13  # of the cases one is tried; each array and each number has more than so many
SHARDS = 4


def test_every_recipe_has_a_file():
    assert {name.split(" ")[0] for name in extreme_files.names()} >= RECIPES.keys()


def test_the_part_that_is_tried_touches_every_array_and_number():
    left, number = {}, 0
    for name in [name for name in extreme_files.names() if name in extreme_files.one_of_each()]:
        left[name], number = extremes.places_left_out(name, number, EVERY)
    assert {name: places for name, places in left.items() if places} == {}


@pytest.mark.parametrize("shard", range(SHARDS))
def test_an_extreme_in_a_file_is_refused_in_a_sentence_or_works(shard):
    """One that crashes, hangs, gives NaN, reversed intervals or probabilities that do not add up is a failure."""
    wanted = extreme_files.names()[shard::SHARDS]
    *failures, counts = surviving(extremes.try_all, lambda: (wanted, EVERY), patience=20.0, memory=2 << 30)
    assert failures == []
    assert counts["works"] > 100
    assert counts["refused"] > 100
