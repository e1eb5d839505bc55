from itertools import chain

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from onkel.streams.block import Block, StreamError, concatenate, csr, dense, reblock, select, summarise, take


def blocks(sizes, layout="dense"):
    """Blocks of these sizes whose rows are numbered through in the first feature and in the label."""
    first = 0
    for size in sizes:
        numbers = np.arange(first, first + size, dtype=np.float64)
        rows = np.stack([numbers, np.zeros(size), -numbers], axis=1)
        made = csr_matrix(rows)
        yield Block(
            csr(made.data, made.indices, made.indptr, 3) if layout == "csr" else rows,
            numbers,
            first + 1,
        )
        first += size


def numbers(parts):
    parts = list(parts)
    for part in parts:
        assert dense(part.rows)[:, 0].tolist() == part.labels.tolist()
    return [part.labels.astype(int).tolist() for part in parts]


@pytest.mark.parametrize("layout", ["dense", "csr"])
@pytest.mark.parametrize("size", [1, 2, 3, 7, 50])
def test_reblock_keeps_all_rows_in_order_and_fills_every_block_but_the_last(layout, size):
    parts = numbers(reblock(blocks([3, 1, 0, 9, 4], layout), size))
    assert list(chain(*parts)) == list(range(17))
    assert all(len(part) == size for part in parts[:-1])
    assert 1 <= len(parts[-1]) <= size


def test_reblock_counts_on_from_the_line_of_a_block():
    assert [part.first_line for part in reblock(blocks([5, 5]), 3)] == [1, 4, 7, 10]


def test_reblock_of_rows_without_lines_has_no_lines():
    unplaced = (block._replace(first_line=0) for block in blocks([5]))
    assert [part.first_line for part in reblock(unplaced, 3)] == [0, 0]


def test_reblock_refuses_blocks_without_rows():
    with pytest.raises(StreamError, match=r"A block must hold at least one row, not 0\."):
        next(reblock(blocks([5]), 0))


@pytest.mark.parametrize("layout", ["dense", "csr"])
@pytest.mark.parametrize("limit", [0, 1, 3, 4, 7, 99])
def test_take_stops_after_the_limit(layout, limit):
    assert list(chain(*numbers(take(blocks([3, 4], layout), limit)))) == list(range(min(limit, 7)))


def test_take_does_not_ask_for_a_block_it_does_not_need():
    def one_block_then_failure():
        yield from blocks([3])
        raise AssertionError("a second block was asked for")

    assert numbers(take(one_block_then_failure(), 3)) == [[0, 1, 2]]


def test_concatenate_joins_arrays_and_matrices_to_a_matrix():
    joined = concatenate([*blocks([3]), *blocks([2], "csr")])
    assert joined.rows.toarray()[:, 0].tolist() == [0, 1, 2, 0, 1]


def test_concatenate_keeps_text_labels():
    parts = [Block(np.zeros((1, 1)), np.array([label])) for label in ("no", "maybe")]
    assert concatenate(parts).labels.tolist() == ["no", "maybe"]


def test_concatenate_of_nothing_is_an_error():
    with pytest.raises(StreamError, match="There are no blocks"):
        concatenate([])


@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_select_orders_rows_and_labels_alike(layout):
    (block,) = blocks([5], layout)
    assert numbers([select(block, np.array([4, 0, 2]))]) == [[4, 0, 2]]


@pytest.mark.parametrize(
    "make",
    [
        lambda parts: concatenate(parts),
        lambda parts: next(reblock(parts, 4)),
        lambda parts: next(take(parts, 2)),
        lambda parts: select(next(parts), np.array([1, 0])),
    ],
)
def test_every_matrix_has_the_same_types(make):
    rows = make(blocks([3, 4], "csr")).rows
    assert (rows.data.dtype, rows.indices.dtype, rows.indptr.dtype) == (np.float64, np.int32, np.int64)


def test_summary_counts_stored_entries_of_matrices_and_all_cells_of_arrays():
    assert summarise(blocks([3])).entries == 9
    assert summarise(blocks([3], "csr")).entries == 4  # the row of zeros stores nothing


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        ([2.0, -1.0, 2.0], (-1.0, 2.0)),
        ([2.0, 0.5], ()),
        (np.arange(1000.0), tuple(range(1000))),
        (np.arange(1001.0), ()),
        (["b", "a", "b"], ("a", "b")),
    ],
)
def test_summary_lists_classes_unless_the_target_is_continuous(labels, classes):
    labels = np.asarray(labels)
    halves = np.array_split(labels, 2)
    assert summarise(Block(np.zeros((len(half), 1)), half) for half in halves).labels == classes


@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_summary_sees_negative_features(layout):
    assert not summarise(blocks([1], layout)).has_negative
    assert summarise(blocks([2], layout)).has_negative
