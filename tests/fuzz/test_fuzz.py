"""A short run of the fuzzer; `python tools/fuzz.py` makes long ones, docs/reliability.md has their table."""

from unittest import mock

import pytest

from tests.fuzz import running, seeds

pytestmark = pytest.mark.filterwarnings("ignore:Duplicate name")  # that is what is tried
INPUTS = 1500


def test_any_bytes_are_a_model_or_refused():
    files = seeds.model_files()
    assert {running.load(data) for data in files} == {"loaded"}
    found = running.fuzz_models(files, INPUTS)
    assert found.counts["loaded"] > 0.05 * INPUTS  # so that what is behind the first checks is tried, too
    assert found.slowest < running.LONGEST


READERS = {
    "libsvm": lambda: seeds.LIBSVM,
    "csv": lambda: seeds.CSV,
    "parquet": seeds.parquet_files,
    "arrow": seeds.arrow_files,
}


@pytest.mark.parametrize("format", READERS)
def test_any_bytes_are_rows_or_one_sentence(format, tmp_path):
    found = running.fuzz_reader(tmp_path, format, READERS[format](), INPUTS)
    assert found.counts["read"] > 0
    assert found.counts["refused in a sentence"] > 0


def test_any_bytes_are_rows_or_one_sentence_without_pyarrow(tmp_path):
    with mock.patch("onkel.streams.arrow.has_pyarrow", return_value=False):
        found = running.fuzz_reader(tmp_path, "csv", seeds.CSV, INPUTS)
    assert found.counts["read"] > 0


def test_a_failure_is_kept_with_its_input():
    def fail(data):
        raise ZeroDivisionError(data)

    found = running.fuzz(lambda random: b"x", fail, 3, keep_going=True)
    assert [data for data, _ in found.failures] == [b"x"] * 3
    with pytest.raises(ZeroDivisionError):
        running.fuzz(lambda random: b"x", fail, 3)
