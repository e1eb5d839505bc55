import threading
import time

import numpy as np
import pytest

from onkel.streams import StreamError, concatenate, rings
from onkel.streams.ahead import read_ahead
from onkel.streams.block import Block


def block(number):
    return Block(np.full((1, 1), float(number)), np.array([float(number)]))


def readers():
    return [thread for thread in threading.enumerate() if thread.name.startswith("onkel-reader")]


@pytest.fixture(autouse=True)
def _no_thread_is_left():
    yield
    assert readers() == []


@pytest.mark.parametrize("blocks", [1, 2, 7])
def test_the_rows_are_the_same(blocks):
    stream = rings(rows=1000, block_rows=64)
    plain, ahead = concatenate(stream), concatenate(read_ahead(stream, blocks))
    assert plain.rows.tobytes() == ahead.rows.tobytes()
    assert plain.labels.tolist() == ahead.labels.tolist()


def test_no_blocks_at_all_are_none():
    assert list(read_ahead([])) == []


def test_blocks_are_read_while_others_are_used():
    read = []

    def numbers():
        for number in range(10):
            read.append(number)
            yield block(number)

    ahead = read_ahead(numbers(), blocks=2)
    assert next(ahead).labels.tolist() == [0]
    deadline = time.monotonic() + 10
    while len(read) < 3 and time.monotonic() < deadline:
        time.sleep(0.001)
    time.sleep(0.02)
    assert read == [0, 1, 2]  # the one that was asked for, and two ahead: no more are held in memory
    ahead.close()


def test_an_error_of_the_reader_comes_after_the_blocks_before_it():
    def broken():
        yield block(0)
        yield block(1)
        raise StreamError("data.csv, line 3: broken.")

    ahead = read_ahead(broken(), blocks=3)
    assert [next(ahead).labels.tolist() for _ in range(2)] == [[0], [1]]
    with pytest.raises(StreamError, match=r"^data\.csv, line 3: broken\.$"):
        next(ahead)
    assert list(ahead) == []


@pytest.mark.parametrize("used", [0, 1, 3])
def test_closing_stops_the_reader_and_closes_its_file(used):
    closed = []

    def endless():
        try:
            number = 0
            while True:
                yield block(number)
                number += 1
        finally:
            closed.append(True)

    ahead = read_ahead(endless())
    for _ in range(used):
        next(ahead)
    ahead.close()
    assert readers() == []
    assert closed == ([True] if used else [])


def test_an_error_of_the_consumer_stops_the_reader():
    def consume():
        for _ in read_ahead(block(number) for number in range(1000)):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        consume()
