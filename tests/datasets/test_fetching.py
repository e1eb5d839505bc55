"""Files appear whole and verified, or not at all, and nothing that has arrived is fetched twice."""

import hashlib
import json
import os
import socket
import sys
import threading

import pytest

from onkel.datasets import DataError, File
from onkel.datasets.fetching import download
from tests.datasets.conftest import TRAIN

if sys.platform != "win32":
    import fcntl

SUM = hashlib.sha256(TRAIN).hexdigest()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "inner" / "file"


@pytest.fixture
def file(server):
    return File(f"{server.address}/train")


def left(path):
    """Names of the files next to a path."""
    return sorted(found.name for found in path.parent.iterdir())


def failure(file, path):
    with pytest.raises(DataError) as caught:
        download(file, path)
    return str(caught.value)


def test_a_file_is_fetched_whole_and_its_checksum_is_remembered(file, path):
    download(file, path)
    assert path.read_bytes() == TRAIN
    assert left(path) == ["file", "file.json"]
    assert json.loads((path.parent / "file.json").read_text())["sha256"] == SUM


def test_progress_is_told_up_to_the_last_byte(file, path):
    told = []
    download(file, path, lambda done, total: told.append((done, total)))
    assert told[-1] == (len(TRAIN), len(TRAIN))
    assert told == sorted(told)
    assert len(told) > 2


def test_a_file_that_is_here_is_not_asked_for_again(server, file, path):
    download(file, path)
    download(file, path)
    assert len(server.requests) == 1


def test_a_broken_connection_is_taken_up_where_it_broke(server, file, path):
    server.cuts = [10_000, 40_000]
    download(file, path)
    assert path.read_bytes() == TRAIN
    assert [request.get("Range") for request in server.requests] == [None, "bytes=10000-", "bytes=40000-"]


def stopped(file, path, after):
    """Fetch a file until a person stops it."""

    def watch(done, total):
        if done >= after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        download(file, path, watch)


def test_what_has_arrived_before_an_interrupt_is_kept_and_only_the_rest_is_asked_for(server, file, path):
    stopped(file, path, after=20_000)
    assert left(path) == ["file.json", "file.part"]
    kept = (path.parent / "file.part").read_bytes()
    assert len(kept) >= 20_000
    assert kept == TRAIN[: len(kept)]
    download(file, path)
    assert path.read_bytes() == TRAIN
    assert server.requests[-1]["Range"] == f"bytes={len(kept)}-"
    assert left(path) == ["file", "file.json"]


def test_a_part_that_is_complete_already_needs_no_bytes(file, path):
    stopped(file, path, after=len(TRAIN))
    download(file, path)
    assert path.read_bytes() == TRAIN


def test_a_server_without_ranges_sends_everything_again(server, file, path):
    server.ranges = False
    stopped(file, path, after=20_000)
    download(file, path)
    assert path.read_bytes() == TRAIN


def test_bytes_of_two_versions_are_never_mixed(server, file, path):
    stopped(file, path, after=20_000)
    server.contents["/train"], server.tag = TRAIN[::-1], '"two"'
    download(file, path)
    assert path.read_bytes() == TRAIN[::-1]


DATE = "Mon, 05 Jan 2015 10:00:00 GMT"


@pytest.mark.parametrize(
    ("tag", "date", "expected"),
    [('"one"', "", '"one"'), ('"one"', DATE, '"one"'), ('W/"one"', DATE, DATE), ("", DATE, DATE), ('W/"1"', "", None)],
)
def test_the_version_is_a_strong_etag_or_else_a_date(server, file, path, tag, date, expected):
    server.tag, server.date = tag, date
    stopped(file, path, after=20_000)
    download(file, path)
    assert server.requests[-1].get("If-Range") == expected
    assert ("Range" in server.requests[-1]) == (expected is not None)
    assert path.read_bytes() == TRAIN


def test_without_a_version_and_a_checksum_a_fetch_starts_over(server, file, path):
    server.tag = ""
    stopped(file, path, after=20_000)
    server.contents["/train"] = TRAIN[::-1]
    download(file, path)
    assert path.read_bytes() == TRAIN[::-1]


def test_with_a_checksum_a_fetch_goes_on_without_a_version(server, file, path):
    server.tag = ""
    stopped(file, path, after=20_000)
    download(file._replace(sha256=SUM), path)
    assert path.read_bytes() == TRAIN
    assert "Range" in server.requests[-1]


def test_a_file_that_has_become_shorter_is_fetched_anew(server, file, path):
    stopped(file, path, after=20_000)
    server.contents["/train"] = TRAIN[:9000]
    download(file, path)
    assert path.read_bytes() == TRAIN[:9000]


def test_known_sizes_and_checksums_that_fit_are_accepted(file, path):
    download(file._replace(size=len(TRAIN), sha256=SUM), path)
    assert path.read_bytes() == TRAIN


def test_a_wrong_size_is_refused_before_anything_comes(file, path):
    said = failure(file._replace(size=7), path)
    assert said == f"{file.address}: {len(TRAIN):,} bytes would come, but 7 are expected."
    assert left(path) == ["file.json"]


def test_too_few_bytes_are_thrown_away(file, path):
    said = failure(file._replace(size=10**6), path)
    assert said == f"{file.address}: {len(TRAIN):,} bytes came, but 1,000,000 are expected; they were thrown away."
    assert left(path) == ["file.json"]


def test_a_wrong_checksum_is_refused_and_nothing_is_kept(file, path):
    said = failure(file._replace(sha256="0" * 64), path)
    assert said == f"{file.address}: the SHA-256 of what came is {SUM}, not {'0' * 64}; it was thrown away."
    assert left(path) == ["file.json"]


def test_a_damaged_file_is_fetched_again(file, path):
    download(file, path)
    path.write_bytes(TRAIN[:-1] + b"?")
    download(file, path)
    assert path.read_bytes() == TRAIN


def test_another_file_than_the_first_is_refused_until_that_is_forgotten(server, file, path):
    download(file, path)
    path.unlink()
    server.contents["/train"], server.tag = TRAIN[::-1], '"two"'
    note = path.parent / "file.json"
    said = failure(file, path)
    assert said == f"{file.address}: this is not the file that was fetched first; remove {note} to take it."
    assert left(path) == ["file.json"]
    note.unlink()
    download(file, path)
    assert path.read_bytes() == TRAIN[::-1]


def test_a_file_that_somebody_else_put_there_is_taken_as_it_is(server, file, path):
    path.parent.mkdir()
    path.write_bytes(b"mine")
    download(file, path)
    assert path.read_bytes() == b"mine"
    assert server.requests == []


def test_a_note_that_makes_no_sense_is_as_none(file, path):
    path.parent.mkdir()
    (path.parent / "file.json").write_text("[1")
    download(file, path)
    assert path.read_bytes() == TRAIN


@pytest.mark.parametrize(
    ("code", "what"),
    [(404, "the server has no such file (HTTP 404)."), (403, "the server refuses to send it (HTTP 403).")],
)
def test_a_refusal_is_one_sentence_at_the_first_try(server, file, path, code, what):
    server.codes = [code]
    assert failure(file, path) == f"{file.address}: {what}"
    assert left(path) == []
    assert len(server.requests) == 1


def test_a_server_that_is_busy_for_a_while_is_asked_again(server, file, path):
    server.codes = [503, 500]
    download(file, path)
    assert path.read_bytes() == TRAIN


def test_a_server_that_stays_busy_is_given_up(server, file, path):
    server.codes = [503] * 9
    assert failure(file, path) == f"{file.address}: the server is out of order (HTTP 503)."
    assert len(server.requests) == 3


def test_a_server_that_breaks_off_for_good_leaves_what_it_sent(server, file, path):
    server.cuts = [10_000] * 9
    said = failure(file, path)
    of = f"the connection broke after 10,000 of {len(TRAIN):,} bytes"
    assert said == f"{file.address}: {of}; 10,000 bytes are kept, and the next fetch goes on from there."
    assert left(path) == ["file.json", "file.part"]


def test_tries_are_counted_only_while_nothing_arrives(server, file, path):
    server.cuts = [5000 * i for i in range(1, 10)]
    download(file, path)
    assert path.read_bytes() == TRAIN


def test_a_refused_connection_is_one_sentence(server, path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # nobody listens there
        address = f"http://127.0.0.1:{taken.getsockname()[1]}/train"
        said = failure(File(address), path)
    assert said == f"{address}: the server cannot be reached (Connection refused)."
    assert left(path) == []


def test_a_server_that_says_nothing_is_given_up(server, path, monkeypatch):
    monkeypatch.setattr("onkel.datasets.http.TIMEOUT", 0.05)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(9)
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/train"
        said = failure(File(address), path)
    assert said == f"{address}: the server cannot be reached (no answer within 0.05 seconds)."


def test_of_two_fetches_at_once_one_waits_and_finds_the_file(server, file, path):
    begun, may_go_on = threading.Event(), threading.Event()

    def slowly(done, total):
        begun.set()
        assert may_go_on.wait(20)

    first = threading.Thread(target=download, args=(file, path, slowly))
    second = threading.Thread(target=download, args=(file, path))
    first.start()
    assert begun.wait(20)
    second.start()
    second.join(0.2)
    assert second.is_alive()
    may_go_on.set()
    first.join(20)
    second.join(20)
    assert path.read_bytes() == TRAIN
    assert left(path) == ["file", "file.json"]
    assert len(server.requests) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="there is no lock on Windows")
def test_a_lock_that_was_removed_and_made_again_is_waited_for_too(file, path):
    path.parent.mkdir()
    lock = path.parent / "file.lock"
    with open(lock, "ab") as old:
        fcntl.flock(old, fcntl.LOCK_EX)
        waiting = threading.Thread(target=download, args=(file, path))
        waiting.start()
        waiting.join(0.3)
        lock.unlink()
        with open(lock, "ab") as new:
            fcntl.flock(new, fcntl.LOCK_EX)
            old.close()
            waiting.join(0.3)
            assert waiting.is_alive()
            assert not path.exists()
    waiting.join(20)
    assert path.read_bytes() == TRAIN


@pytest.mark.skipif(sys.platform == "win32", reason="there is no lock")
def test_a_lock_that_vanishes_while_it_is_looked_at_is_taken_anew(server, file, path, monkeypatch):
    of, removed = os.fstat, []

    def remove_first(number):
        if not removed:
            removed.append(path.with_name("file.lock").unlink())
        return of(number)

    monkeypatch.setattr(os, "fstat", remove_first)
    download(file, path)
    assert removed
    assert path.read_bytes() == TRAIN
    assert left(path) == ["file", "file.json"]


@pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")
def test_many_fetches_at_once_make_one_whole_file(server, file, path):
    server.cuts = [9000, 30_000, 50_000]
    threads = [threading.Thread(target=download, args=(file, path)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert path.read_bytes() == TRAIN
    assert left(path) == ["file", "file.json"]
    assert len(server.requests) == 4
