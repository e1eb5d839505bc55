import numpy as np
import pytest
from scipy import sparse

from onkel.streams import StreamError, concatenate
from onkel.streams.block import dense
from onkel.streams.columns import hashed
from onkel.streams.memory import ArrayStream, DictStream
from tests.streams.common import complaint

X = np.random.default_rng(1).standard_normal((10, 3))
Y = np.arange(10) % 2


@pytest.mark.parametrize("block_rows", [1, 3, 10, 100])
@pytest.mark.parametrize("make", [np.asarray, list, sparse.csr_matrix, sparse.csc_matrix, sparse.coo_array])
def test_arrays_of_all_kinds_give_their_rows(make, block_rows):
    blocks = list(ArrayStream(make(X), Y, block_rows))
    assert [len(block.labels) for block in blocks[:-1]] == [block_rows] * (len(blocks) - 1)
    whole = concatenate(blocks)
    assert dense(whole.rows).tolist() == X.tolist()
    assert whole.labels.tolist() == Y.tolist()


def test_blocks_have_the_types_that_compiled_code_expects():
    for block in ArrayStream(sparse.csr_matrix(X.astype(np.float32)), Y, block_rows=4):
        assert (block.rows.data.dtype, block.rows.indices.dtype, block.rows.indptr.dtype) == (
            np.float64,
            np.int32,
            np.int64,
        )
        assert block.labels.dtype == np.float64
    for block in ArrayStream(np.asfortranarray(X.astype(np.int8)), Y):
        assert block.rows.dtype == np.float64
        assert block.rows.flags.c_contiguous


def test_sparse_rows_that_are_out_of_order_or_doubled_are_put_right():
    matrix = sparse.csr_matrix((np.array([1.0, 2.0, 3.0]), np.array([2, 0, 2]), np.array([0, 3])), shape=(1, 3))
    (block,) = ArrayStream(matrix, [1])
    assert block.rows.indices.tolist() == [0, 2]
    assert block.rows.data.tolist() == [2, 4]
    assert matrix.data.tolist() == [1, 2, 3]  # the caller's matrix stays as it is


def test_an_array_on_disk_is_read_block_by_block(tmp_path):
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert concatenate(ArrayStream(mapped, Y, 3)).rows.tolist() == X.tolist()


def test_labels_may_be_text():
    for labels in (["a", "b"], np.array(["a", "b"], dtype=object)):
        (block,) = ArrayStream(X[:2], labels)
        assert block.labels.tolist() == ["a", "b"]
        assert block.labels.dtype.kind == "U"
    assert ArrayStream(X[:2], ["b", "a"]).summary().labels == ("a", "b")


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (X, Y[:3], "Rows (n, d) and labels (n,) are needed, not arrays of shapes (10, 3) and (3,)."),
        (X[0], Y, "Rows (n, d) and labels (n,) are needed, not arrays of shapes (3,) and (10,)."),
        ([["a"]], [1], "Rows must hold numbers, not <U1."),
        ([[1.0], [np.nan]], [1, 1], "Row 1: only finite numbers are accepted."),
        (sparse.csr_matrix([[1.0], [np.inf]]), [1, 1], "Row 1: only finite numbers are accepted."),
        ([[1.0], [1.0]], [1, np.inf], "Row 1: only finite numbers are accepted."),
        ([[1.0]], np.array([None]), "Row 0: only finite numbers are accepted."),
        ([[1.0], [1.0]], np.array(["a", 1], dtype=object), "Labels must be numbers or text, and not both."),
    ],
)
def test_arrays_that_do_not_fit_are_refused_in_one_sentence(X, y, message):
    with pytest.raises(StreamError) as caught:
        list(ArrayStream(X, y))
    assert str(caught.value) == message


PEOPLE = [
    ({"age": 31, "city": "Rome", "tall": True}, "yes"),
    ({"city": "Oslo", "age": 42.5}, "no"),
    ({"age": None, "city": "Bern", "shoe": 40}, "no"),
    ({}, "no"),
]


@pytest.mark.parametrize("block_rows", [1, 2, 100])
def test_listed_features_have_their_columns_and_others_are_left_out(block_rows):
    stream = DictStream(PEOPLE, features=["tall", "city=Oslo", "age", "city=Rome"], block_rows=block_rows)
    whole = concatenate(stream)
    assert whole.rows.tolist() == [[1, 0, 31, 1], [0, 1, 42.5, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
    assert whole.labels.tolist() == ["yes", "no", "no", "no"]
    assert stream.summary().n_features == 4


def test_names_are_hashed_to_the_same_columns_in_every_run():
    (block,) = DictStream(PEOPLE, hash_columns=4096)
    assert block.rows.shape == (4, 4096)
    assert block.rows[0, hashed("city=Rome", 4096)] == 1
    assert block.rows[2, hashed("shoe", 4096)] == 40
    assert hashed("city=Rome", 1024) == 727  # must never change


def test_what_falls_on_one_column_adds_up():
    assert concatenate(DictStream(PEOPLE, hash_columns=1)).rows.ravel().tolist() == [33, 43.5, 41, 0]


def test_an_iterator_is_gone_through_once_and_only_as_far_as_asked():
    asked = []

    def people():
        for pair in PEOPLE:
            asked.append(pair)
            yield pair

    stream = DictStream(people(), features=["age"], block_rows=2)
    with pytest.raises(StreamError, match=r"^The pairs can be gone through only once, so they have no summary\.$"):
        stream.summary()
    blocks = iter(stream)
    assert next(blocks).rows.tolist() == [[31], [42.5]]
    assert len(asked) == 2
    assert complaint(stream) == "The pairs can be gone through only once."


def test_rows_that_are_no_numbers_are_refused_with_their_number():
    good = ({"a": 1}, 0)
    stream = DictStream([good, good, ({"a": [1]}, 0)], features=["a"], block_rows=2)
    assert complaint(stream) == "Row 2: feature 'a' is [1], neither a number nor text."
    stream = DictStream([good, ({"a": float("nan")}, 0)], features=["a"], block_rows=1)
    assert complaint(stream) == "Row 1: only finite numbers are accepted."


def test_senseless_sizes_are_refused():
    with pytest.raises(StreamError, match=r"^A block must hold at least one row, not 0\.$"):
        ArrayStream(X, Y, block_rows=0)
    with pytest.raises(StreamError, match=r"^Rows must have at least one feature\.$"):
        DictStream(PEOPLE, features=[])
