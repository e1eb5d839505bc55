"""Rows that claim a great many columns, and labels of a great many classes: small models, or one sentence."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from onkel import KernelClassifier, fogd, make_learner
from onkel.model.growth import grown

MEGABYTES = 1 << 20


def peak_of(work):
    """The most memory that NumPy and Python had for it."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", ["auto", "fogd", "ogd", "ik_ogd"])
def test_memory_is_that_of_what_is_stored_however_far_the_columns_are(name):
    width = 2**31 - 1
    X = sparse.csr_matrix((np.ones(4), np.array([0, width - 1, 1, 2]), np.array([0, 2, 3, 4])), (3, width))

    def learn():
        online = make_learner(name).start(width)
        for _ in range(200):  # enough to find its kernel
            online.learn(X, np.array([1.0, -1.0, 1.0]))

    assert peak_of(learn) < 400 * MEGABYTES


SMALL = fogd(n_frequencies=5)  # so that scores take more than the model


@pytest.mark.parametrize("name", ["auto", "fogd", SMALL, "bkm", "one_vs_rest"], ids=str)
def test_more_classes_than_a_model_can_hold_are_refused_in_one_sentence(name):
    labels = np.arange(100_000)

    def begin():
        with pytest.raises(ValueError, match=r"A model of 100,000 classes and 3 columns takes [\d,]+ MB") as refused:
            KernelClassifier(name).partial_fit(np.zeros((2, 3)), [0, 1], classes=labels)
        assert str(refused.value).endswith("or learn numbers (regression).")
        assert "\n" not in str(refused.value)

    assert peak_of(begin) < 400 * MEGABYTES


def test_thousands_of_classes_are_learned_where_there_is_room_for_them():
    model = KernelClassifier("fogd").partial_fit(np.zeros((2, 3)), [0, 4999], classes=np.arange(5000))
    assert model.predict(np.zeros((1, 3)))[0] in range(5000)


def test_new_classes_are_taken_in_up_to_a_thousand():
    online = make_learner("fogd", n_frequencies=5, gamma=1.0).start(2, "multiclass", 999)
    online = grown(online, 2, 1000)
    with pytest.raises(ValueError, match="More than 1,000 classes are not taken in one by one"):
        grown(online, 2, 1001)


def test_rows_of_too_many_new_classes_are_refused_before_one_is_learned():
    model = KernelClassifier(SMALL, classes="grow").partial_fit(np.zeros((2, 3)), [0, 1])

    def learn():
        with pytest.raises(ValueError, match="More than 1,000 classes are not taken in one by one"):
            model.partial_fit(np.zeros((100_000, 3)), np.arange(100_000))

    assert peak_of(learn) < 100 * MEGABYTES
    assert (model.online_.rows_learned, model.online_.setting.n_outputs) == (2, 2)


def test_a_parquet_file_of_too_many_columns_is_refused_before_its_footer_is_read(tmp_path, monkeypatch):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    from onkel.streams import arrow_files, open_stream

    for width in (20, 5000):
        names = [f"c{i}" for i in range(width)]
        table = pa.table({**{name: [1.0, 2.0] for name in names}, "answer": ["a", "b"]})
        parquet.write_table(table, tmp_path / "wide.parquet")
        assert arrow_files.parquet_columns(tmp_path / "wide.parquet") == width + 1
    monkeypatch.setattr(arrow_files, "MOST_COLUMNS", 1000)
    monkeypatch.setattr("onkel.streams.columns.MOST_COLUMNS", 1000)
    monkeypatch.setattr(parquet, "ParquetFile", None)
    with pytest.raises(ValueError, match="a table has at most 1,000 columns, this one 5,001"):
        open_stream(tmp_path / "wide.parquet").summary()
