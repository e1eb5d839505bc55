from itertools import islice

import numpy as np
import pytest

from onkel.streams.block import StreamError, concatenate
from onkel.streams.generators import CHUNK_OF_JUMP, CHUNK_ROWS, STREAMS, drifting, friedman


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("block_rows", [7, 1024, 1025, 9999])
def test_rows_do_not_depend_on_the_block_size(name, block_rows):
    expected = concatenate(STREAMS[name](rows=2500))
    blocks = list(STREAMS[name](rows=2500, block_rows=block_rows))
    block = concatenate(blocks)
    assert np.array_equal(block.rows, expected.rows)
    assert np.array_equal(block.labels, expected.labels)
    assert all(len(part.labels) == block_rows for part in blocks[:-1])


@pytest.mark.parametrize("name", STREAMS)
def test_a_longer_stream_starts_like_a_shorter_one(name):
    short, long = (concatenate(STREAMS[name](rows=rows)) for rows in (1500, 2500))
    assert np.array_equal(long.labels[:1500], short.labels)


@pytest.mark.parametrize("name", STREAMS)
def test_the_seed_decides(name):
    first, again, other = (concatenate(STREAMS[name](rows=10, seed=seed)).rows for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("name", STREAMS)
def test_chunks_differ(name):
    rows = concatenate(STREAMS[name](rows=2 * CHUNK_ROWS)).rows
    assert not np.array_equal(rows[:CHUNK_ROWS], rows[CHUNK_ROWS:])


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_can_be_endless(name):
    endless = STREAMS[name](rows=None, block_rows=3000)
    assert [len(block.labels) for block in islice(endless, 3)] == [3000] * 3
    with pytest.raises(StreamError, match=r"^An endless stream has no summary; give the number of rows\.$"):
        endless.summary()


@pytest.mark.parametrize(
    ("name", "n_features", "labels"),
    [("blobs", 8, (0, 1, 2, 3, 4)), ("drifting", 10, (-1, 1)), ("friedman", 10, ()), ("rings", 2, (-1, 1))],
)
def test_the_summary_tells_the_task(name, n_features, labels):
    summary = STREAMS[name](rows=2000).summary()
    assert (summary.rows, summary.n_features, summary.labels) == (2000, n_features, labels)


def nearest_neighbour_errors(learned, asked):
    distances = ((asked.rows[:, None, :] - learned.rows) ** 2).sum(axis=2)
    return float(np.mean(learned.labels[distances.argmin(axis=1)] != asked.labels))


def test_the_concept_of_drifting_moves_slowly_and_jumps_once():
    chunks = list(islice(drifting(rows=None, block_rows=CHUNK_ROWS), CHUNK_OF_JUMP + 1))
    soon = nearest_neighbour_errors(chunks[0], chunks[1])
    later = nearest_neighbour_errors(chunks[0], chunks[40])
    before_jump = nearest_neighbour_errors(chunks[CHUNK_OF_JUMP - 2], chunks[CHUNK_OF_JUMP - 1])
    after_jump = nearest_neighbour_errors(chunks[CHUNK_OF_JUMP - 1], chunks[CHUNK_OF_JUMP])
    assert soon + 0.05 < later
    assert before_jump + 0.05 < after_jump


def test_the_classes_of_drifting_are_about_equally_frequent():
    assert abs(concatenate(drifting(rows=20_000)).labels.mean()) < 0.1


def test_friedman_is_its_formula_and_noise_of_variance_one():
    block = concatenate(friedman(rows=20_000))
    x = block.rows.T
    signal = 10 * np.sin(np.pi * x[0] * x[1]) + 20 * (x[2] - 0.5) ** 2 + 10 * x[3] + 5 * x[4]
    noise = block.labels - signal
    assert abs(noise.mean()) < 0.05
    assert abs(noise.std() - 1.0) < 0.05


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seed": -1}, "The seed must not be negative, but is -1."),
        ({"rows": 0}, "A stream must have at least one row, not 0."),
        ({"block_rows": 0}, "A block must hold at least one row, not 0."),
    ],
)
def test_senseless_settings_are_refused(options, message):
    with pytest.raises(StreamError) as caught:
        drifting(**options)
    assert str(caught.value) == message
