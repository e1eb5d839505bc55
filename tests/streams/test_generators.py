import hashlib
from itertools import islice

import numpy as np
import pytest

from onkel.streams.block import StreamError, concatenate, csr
from onkel.streams.generated import CHUNK_ROWS, random_of
from onkel.streams.generators import CHUNK_OF_JUMP, STREAMS, drifting, friedman, sparse, spirals


def same(rows, others):
    """Whether two arrays, or two CSR matrices, hold the same numbers in the same places."""
    if isinstance(rows, np.ndarray):
        return np.array_equal(rows, others)
    return rows.shape == others.shape and all(
        np.array_equal(getattr(rows, part), getattr(others, part)) for part in ("data", "indices", "indptr")
    )


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("block_rows", [7, 1024, 1025, 9999])
def test_rows_do_not_depend_on_the_block_size(name, block_rows):
    expected = concatenate(STREAMS[name](rows=2500))
    blocks = list(STREAMS[name](rows=2500, block_rows=block_rows))
    block = concatenate(blocks)
    assert same(block.rows, expected.rows)
    assert np.array_equal(block.labels, expected.labels)
    assert all(len(part.labels) == block_rows for part in blocks[:-1])


@pytest.mark.parametrize("name", STREAMS)
def test_a_longer_stream_starts_like_a_shorter_one(name):
    short, long = (concatenate(STREAMS[name](rows=rows)) for rows in (1500, 2500))
    assert np.array_equal(long.labels[:1500], short.labels)


@pytest.mark.parametrize("name", STREAMS)
def test_the_seed_decides(name):
    first, again, other = (concatenate(STREAMS[name](rows=10, seed=seed)).rows for seed in (1, 1, 2))
    assert same(first, again)
    assert not same(first, other)


@pytest.mark.parametrize("name", STREAMS)
def test_chunks_differ(name):
    rows = concatenate(STREAMS[name](rows=2 * CHUNK_ROWS)).rows
    assert not same(rows[:CHUNK_ROWS], rows[CHUNK_ROWS:])


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_can_be_endless(name):
    endless = STREAMS[name](rows=None, block_rows=3000)
    assert [len(block.labels) for block in islice(endless, 3)] == [3000] * 3
    with pytest.raises(StreamError, match=r"^An endless stream has no summary; give the number of rows\.$"):
        endless.summary()


@pytest.mark.parametrize(
    ("name", "n_features", "labels"),
    [
        ("abrupt", 5, (-1, 1)),
        ("blobs", 8, (0, 1, 2, 3, 4)),
        ("drifting", 10, (-1, 1)),
        ("friedman", 10, ()),
        ("gradual", 5, (-1, 1)),
        ("recurring", 5, (-1, 1)),
        ("rings", 2, (-1, 1)),
        ("sparse", 100_000, (-1, 1)),
        ("spirals", 2, (-1, 1)),
        ("waves", 5, ()),
    ],
)
def test_the_summary_tells_the_task(name, n_features, labels):
    summary = STREAMS[name](rows=2000).summary()
    assert (summary.rows, summary.n_features, summary.labels) == (2000, n_features, labels)


@pytest.mark.parametrize("name", [name for name in STREAMS if name not in ("friedman", "waves")])
@pytest.mark.parametrize("seed", range(5))
def test_no_class_is_rare(name, seed):
    labels = concatenate(STREAMS[name](rows=5000, seed=seed)).labels
    shares = np.unique(labels, return_counts=True)[1] / 5000
    assert shares.min() > 0.5 / len(shares) / 2


@pytest.mark.parametrize(
    ("name", "digest"),
    [("blobs", "844628650781703d"), ("drifting", "1c19d75e89a7f50e"), ("friedman", "d4c25779fe0531d4"),
     ("rings", "3798b549f3749971")],
)  # fmt: skip
def test_the_rows_of_the_first_four_streams_stay_what_they_were(name, digest):
    seen = hashlib.sha256()
    for block in STREAMS[name](rows=110_000, seed=3):
        seen.update(block.rows.tobytes())
        seen.update(block.labels.tobytes())
    assert seen.hexdigest()[:16] == digest


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


def arms(block, turns):
    """How far each row is from the nearest point of its own arm, and of the other one."""
    radii = np.linspace(0.0, 1.0, 2000)
    angles = 2.0 * np.pi * turns * radii
    arm = 3.0 * radii[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    signed = block.labels[:, None] * block.rows  # half a turn is a change of sign
    own, other = (
        np.sqrt(((rows[:, None, :] - arm) ** 2).sum(axis=2).min(axis=1)) for rows in (signed, -signed)
    )  # fmt: skip
    return own, other


@pytest.mark.parametrize("turns", [1, 2.5])
def test_rows_of_spirals_lie_along_the_arm_of_their_class(turns):
    own, other = arms(concatenate(spirals(rows=1000, turns=turns)), turns)
    assert own.max() < 0.5
    assert np.mean(own < other) > 0.97


@pytest.mark.parametrize(("n_features", "per_row"), [(100_000, 50), (1000, 7), (5, 5), (1, 1)])
def test_sparse_stores_as_many_numbers_per_row_as_asked_for_each_in_a_column_of_its_own(n_features, per_row):
    for block in sparse(rows=3000, n_features=n_features, per_row=per_row, block_rows=700):
        matrix = csr(block.rows.data, block.rows.indices, block.rows.indptr, n_features)
        assert matrix.shape == (len(block.labels), n_features)
        assert np.array_equal(np.diff(matrix.indptr), np.full(len(block.labels), per_row))
        columns = matrix.indices.reshape(-1, per_row)
        assert np.all(np.diff(columns, axis=1) > 0)
        assert columns.min() >= 0
        assert columns.max() < n_features
        assert matrix.data.min() > 0.0


def test_few_columns_of_sparse_are_frequent_and_all_of_them_can_occur():
    counts = np.zeros(1000)
    for block in sparse(rows=20_000, n_features=1000, per_row=10):
        counts += np.bincount(block.rows.indices, minlength=1000)
    assert counts.min() > 0
    assert counts[:100].sum() > 0.5 * counts.sum()


def test_the_labels_of_sparse_are_linear_but_for_one_in_twenty():
    weights = random_of(1, None).standard_normal(60)
    block = concatenate(sparse(rows=20_000, n_features=60, per_row=20))
    assert 0.045 < np.mean(np.sign(block.rows @ weights) != block.labels) < 0.055


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


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("abrupt", {"at": -1}, "The row of the change must not be negative, but is -1."),
        ("gradual", {"at": -1}, "The row of the change must not be negative, but is -1."),
        ("gradual", {"length": 0}, "A length must be at least one row, not 0."),
        ("recurring", {"length": 0}, "A length must be at least one row, not 0."),
        ("recurring", {"concepts": 1}, "There must be at least 2 concepts, not 1."),
        ("waves", {"period": 0}, "The period must be a positive number of rows, not 0."),
        ("sparse", {"per_row": 0}, "A row must store from 1 to 100000 numbers, not 0."),
        ("sparse", {"n_features": 5, "per_row": 6}, "A row must store from 1 to 5 numbers, not 6."),
        ("spirals", {"turns": 0}, "The number of turns must be positive, not 0."),
    ],
)
def test_senseless_parameters_are_refused(name, options, message):
    with pytest.raises(StreamError) as caught:
        STREAMS[name](**options)
    assert str(caught.value) == message
