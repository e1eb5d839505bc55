"""Calls of compiled code for arguments that stay the same."""

import gc
from typing import Any, NamedTuple

import numpy as np
import pytest

from onkel.chaining import chain
from onkel.dispatch import entry_point


class Inner(NamedTuple):
    code: int
    flag: bool
    nothing: Any
    rate: float
    numbers: Any


class Outer(NamedTuple):
    inner: Inner
    pair: tuple
    table: Any


@entry_point
def describe(outer, whole, single, large, out):
    """Everything that can be known of the arguments."""
    out[0], out[1], out[2] = outer.inner.code, 1.0 if outer.inner.flag else 0.0, outer.inner.rate
    out[3] = 1.0 if outer.inner.nothing is None else 0.0
    out[4], out[5] = outer.pair[0], outer.pair[1]
    out[6], out[7], out[8] = outer.table.shape[0], outer.table.shape[1], outer.table.size
    out[9], out[10] = outer.table[1, 2], outer.inner.numbers[3]
    out[11], out[12], out[13] = whole, single, large >> 1


@entry_point
def count_to(counter, limit):
    """Adds one; 0 at the limit."""
    counter[0] += 1
    return limit - counter[0]


@entry_point
def note(counter):
    counter[0] += 1


@entry_point
def refuse(counter):
    if counter[0] > 0:
        raise ValueError("no more")
    counter[0] += 1
    return True


ARRAYS = {
    "contiguous": np.arange(12.0).reshape(3, 4),
    "columns": np.asfortranarray(np.arange(12.0).reshape(3, 4)),
    "strided": np.arange(48.0).reshape(6, 8)[::2, ::2],
    "backwards": np.arange(12.0).reshape(3, 4)[::-1, ::-1],
    "float32": np.arange(12, dtype=np.float32).reshape(3, 4),
    "whole numbers": np.arange(12).reshape(3, 4),
}


@pytest.mark.parametrize("kind", ARRAYS)
def test_arguments_of_every_kind_arrive_as_in_a_plain_call(kind):
    outer = Outer(Inner(7, True, None, -0.25, np.arange(5, dtype=np.int32)), (3, 2.5), ARRAYS[kind])
    expected, found, large = np.zeros(14), np.zeros(14), np.uint64(2**64 - 2)
    describe(outer, -4, np.float32(1.5), large, expected)
    assert chain((describe, outer, -4, np.float32(1.5), large, found))() == 1
    assert found.tolist() == expected.tolist()
    assert expected[:6].tolist() == [7.0, 1.0, -0.25, 1.0, 3.0, 2.5]


def test_a_chain_stops_at_the_first_call_that_gives_zero():
    first, second, third = (np.zeros(1, np.int64) for _ in range(3))
    run = chain((note, first), (count_to, second, 3), (note, third))
    assert [run() for _ in range(4)] == [3, 3, 1, 3]
    assert (first[0], second[0], third[0]) == (4, 4, 3)


def test_a_chain_stops_at_a_call_that_fails():
    first, second = np.zeros(1, np.int64), np.zeros(1, np.int64)
    run = chain((refuse, first), (note, second))
    assert [run(), run()] == [2, 0]
    assert second[0] == 1


def test_chains_of_the_same_types_have_their_own_arrays_and_keep_them():
    counters = [np.zeros(1, np.int64) for _ in range(3)]
    runs = [chain((note, counter)) for counter in counters]
    for run in runs[:2]:
        run()
    assert [counter[0] for counter in counters] == [1, 1, 0]
    alone = chain((note, np.zeros(1, np.int64)))
    gc.collect()
    kept = alone.kept[1][0][1] if hasattr(alone, "kept") else None
    assert alone() == 1
    assert kept is None or kept[0] == 1
