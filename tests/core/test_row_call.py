"""Calls of compiled code for arguments that stay the same."""

import gc
import sys
from typing import Any, NamedTuple

import numpy as np
import pytest

from onkel.core.chains import NOT_PLAIN, chain
from onkel.core.numba_internals import row_call
from onkel.core.numba_internals.c_api import layout_is_known
from onkel.core.rows import all_finite
from onkel.core.verbs import entry_point


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


def counting(row, target, *calls):
    """A chain that says how many calls went well."""
    return chain(row, target, calls, lambda: len(calls), lambda k, *_: k)


def chained(*calls):
    """A function that makes the calls of a chain, for a row of which nothing is known."""
    step = counting(np.zeros(1), np.zeros(1), *calls)
    return lambda: step(np.ones(1), 0.0)


@pytest.mark.parametrize("kind", ARRAYS)
def test_arguments_of_every_kind_arrive_as_in_a_plain_call(kind):
    outer = Outer(Inner(7, True, None, -0.25, np.arange(5, dtype=np.int32)), (3, 2.5), ARRAYS[kind])
    expected, found, large = np.zeros(14), np.zeros(14), np.uint64(2**64 - 2)
    describe(outer, -4, np.float32(1.5), large, expected)
    assert chained((describe, outer, -4, np.float32(1.5), large, found))() == 1
    assert found.tolist() == expected.tolist()
    assert expected[:6].tolist() == [7.0, 1.0, -0.25, 1.0, 3.0, 2.5]


def test_a_chain_stops_at_the_first_call_that_gives_zero():
    first, second, third = (np.zeros(1, np.int64) for _ in range(3))
    run = chained((note, first), (count_to, second, 3), (note, third))
    assert [run() for _ in range(4)] == [3, 3, 1, 3]
    assert (first[0], second[0], third[0]) == (4, 4, 3)


def test_a_chain_stops_at_a_call_that_fails():
    first, second = np.zeros(1, np.int64), np.zeros(1, np.int64)
    run = chained((refuse, first), (note, second))
    assert [run(), run()] == [2, 0]
    assert second[0] == 1


def test_chains_of_the_same_types_have_their_own_arrays_and_keep_them():
    counters = [np.zeros(1, np.int64) for _ in range(3)]
    runs = [chained((note, counter)) for counter in counters]
    for run in runs[:2]:
        run()
    assert [counter[0] for counter in counters] == [1, 1, 0]
    alone = chained((note, np.zeros(1, np.int64)))
    row_call._chained.cache_clear()  # as when there are many others
    gc.collect()
    assert alone() == 1


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_plain_rows_are_copied_and_their_targets_with_them(kind):
    row, target, counter = np.zeros(3, kind), np.zeros(1), np.zeros(1, np.int64)
    step = counting(row, target, (note, counter))
    fixed = np.array([1.0, 2.0, 4.5])
    fixed.flags.writeable = False
    table = np.array([[0.0, 7.0, 1.0], [0.0, 8.0, 1.0], [0.0, 9.5, 1.0]], np.float32)
    for x, y in ((fixed, 1.0), (table[:, 1], 2), (table[::-1, 1], np.float32(0.5)), (fixed[::-1], True)):
        assert step(x, y) == 1
        assert (row.tolist(), target[0]) == (x.tolist(), y)
    assert step((1, np.float32(0.1), True), -1) == 1
    assert (row.tolist(), target[0]) == (np.array([1, np.float32(0.1), True], kind).tolist(), -1.0)
    assert counter[0] == 5


class Kin(np.ndarray):
    """An array that may be anything."""


NOT_PLAIN_ROWS = {
    "wider": np.ones(3),
    "a table": np.ones((2, 2)),
    "a number": np.array(1.0),
    "whole numbers": np.array([1, 2]),
    "text": np.array(["a", "b"]),
    "objects": np.array([1.0, 2.0], object),
    "the other end first": np.array([1.0, 2.0], ">f8"),
    "across words": np.frombuffer(b"\0" * 17, np.float64, 2, 1),
    "kin": np.ones(2).view(Kin),
    "a list": [1.0, 2.0],
    "a longer tuple": (1.0, 2.0, 3.0),
    "nothing": None,
}


@pytest.mark.parametrize("x", NOT_PLAIN_ROWS.values(), ids=NOT_PLAIN_ROWS)
def test_rows_that_are_not_plain_leave_everything_as_it_is(x):
    row, target, counter = np.zeros(2), np.zeros(1), np.zeros(1, np.int64)
    assert counting(row, target, (note, counter))(x, 1.0) == NOT_PLAIN
    assert (row.tolist(), target[0], counter[0]) == ([0.0, 0.0], 0.0, 0)


@pytest.mark.parametrize("x", [(0.0, "two"), (0.0, None), (0.0, np.ones(2))], ids=["text", "nothing", "a row"])
def test_a_tuple_of_other_things_than_numbers_makes_no_call(x):
    counter = np.zeros(1, np.int64)
    assert counting(np.zeros(2), np.zeros(1), (note, counter))(x, 1.0) == NOT_PLAIN
    assert counter[0] == 0


@pytest.mark.parametrize("y", ["one", None, np.ones(2)], ids=["text", "nothing", "a row"])
def test_a_target_that_is_no_number_makes_no_call(y):
    target, counter = np.zeros(1), np.zeros(1, np.int64)
    assert counting(np.zeros(2), target, (note, counter))(np.ones(2), y) == NOT_PLAIN
    assert (target[0], counter[0]) == (0.0, 0)


def test_a_chain_without_a_target_takes_a_row_alone():
    row, counter = np.zeros(2), np.zeros(1, np.int64)
    step = counting(row, None, (note, counter))
    assert (step(np.ones(2)), step([1.0, 2.0])) == (1, NOT_PLAIN)
    assert (row.tolist(), counter[0]) == ([1.0, 1.0], 1)


def test_what_is_done_otherwise_is_given_what_the_chain_was_given():
    x, y = [1.0, 2.0], object()
    told = chain(np.zeros(2), np.zeros(1), [], lambda: None, lambda *given: given)(x, y)
    assert (told[0], told[1] is x, told[2] is y) == (NOT_PLAIN, True, True)


def fail(*_):
    raise LookupError("as it should")


def test_what_fails_after_a_chain_fails():
    row, target = np.ones(1), np.zeros(1)
    for act in (chain(row, target, [], fail, lambda *_: 0), chain(row, target, [(all_finite, row)], lambda: 0, fail)):
        with pytest.raises(LookupError, match="as it should"):
            act(np.array([np.nan]), 0.0)
    with pytest.raises(TypeError):
        chain(row, target, [], lambda: 0, fail)(row)


def test_a_chain_keeps_nothing_of_what_it_is_given_or_answers():
    x, y, found, count = np.ones(1), 1e300, object(), 10**6
    step = chain(np.ones(1), np.zeros(1), [], lambda: found, lambda *_: found)
    held = [sys.getrefcount(thing) for thing in (x, y, found, NOT_PLAIN)]
    for _ in range(100):
        assert step(x, y) is found
        assert step([count], y) is found
    assert [sys.getrefcount(thing) for thing in (x, y, found, NOT_PLAIN)] == held


def test_arrays_are_laid_out_as_machine_code_takes_them_to_be():
    assert layout_is_known()
