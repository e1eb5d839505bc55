"""The corpus, a short run of the fuzzer, and its machinery; `tools/fuzz.py` makes long runs: docs/reliability.md."""

import os
import signal
import time
from collections import Counter

import pytest

from tests.fuzz import fuzzing, seeds
from tests.fuzz.corpus import FOLDER, corpus, packed
from tests.fuzz.record import add_to, digest, recorded
from tests.fuzz.running import READERS
from tests.fuzz.surviving import Lost, surviving

INPUTS = 1500


def results(name, inputs=INPUTS):
    """What came of inputs of a reader."""
    counts, failures = Counter(), []
    for found in surviving(fuzzing.fuzz, lambda: (name, inputs, 0, corpus(name))):
        if isinstance(found, fuzzing.Progress):
            counts.update(found.counts)
        elif not isinstance(found, fuzzing.Kept):
            failures.append(found)
    assert failures == []
    assert sum(counts.values()) == inputs
    return counts


def test_the_corpus_is_answered_or_refused_in_one_sentence():
    known = [(name, data) for name in READERS for data in [*seeds.seeds_of(name), *corpus(name)]]
    found = [*surviving(fuzzing.replay, lambda: (known,))]
    assert [one for one in found if not isinstance(one, fuzzing.Progress)] == []
    assert sum(found[-1].counts.values()) == len(known)


def test_the_corpus_is_small():
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 1 << 21


def test_every_seed_is_a_model():
    use = fuzzing.running.load
    assert {use(data) for data in seeds.model_files()} == {"loaded"}


def test_any_bytes_are_a_model_or_refused():
    assert results("models")["answered"] > 0.05 * INPUTS  # so that what is behind the first checks is tried, too


@pytest.mark.parametrize("name", [name for name in READERS if name != "models"])
def test_any_bytes_are_rows_or_one_sentence(name):
    assert results(name, INPUTS // 2)["answered"] > 0


def crash(board, send, first, inputs):
    """Dies of the second input, hangs at the fourth, and runs out of memory at the sixth."""
    for number in range(first, inputs):
        board.write(number, b"input %d" % number)
        if number == 1:
            os.kill(os.getpid(), signal.SIGSEGV)
        if number == 3:
            time.sleep(60)
        if number == 5:
            os.abort()
        send(number)


def test_a_child_that_dies_or_hangs_is_a_failure_and_the_others_go_on():
    found = [*surviving(crash, lambda: (7,), patience=1.0)]
    assert [one for one in found if not isinstance(one, Lost)] == [0, 2, 4, 6]
    lost = [one for one in found if isinstance(one, Lost)]
    assert [(one.number, one.data, one.how) for one in lost] == [
        (1, b"input 1", "it died of SIGSEGV"), (3, b"input 3", "it hung"), (5, b"input 5", "it died of SIGABRT"),
    ]  # fmt: skip


def test_what_reaches_something_new_is_kept_and_mutated_further():
    kept = []
    fuzzing.fuzz(Board(), lambda found: kept.append(found), 0, "libsvm", 400, 0, [])
    new = [one.data for one in kept if isinstance(one, fuzzing.Kept)]
    assert new
    again = []
    fuzzing.fuzz(Board(), lambda found: again.append(found), 0, "libsvm", 0, 0, new)
    assert again == []


class Board:
    """Where nobody looks."""

    def write(self, number, data):
        pass


def test_an_error_that_nobody_expects_is_a_failure():
    def use(data):
        raise ZeroDivisionError("no")

    assert fuzzing.attempt(fuzzing.Seen(), use, b"x", False) == ("ZeroDivisionError: no", False)


def test_an_archive_of_the_same_inputs_has_the_same_bytes():
    assert packed([b"a", b"bb"]) == packed([b"a", b"bb"])


def test_runs_add_up_while_the_code_is_the_same(tmp_path):
    path = tmp_path / "record.json"
    for _ in range(2):
        add_to(path, "models", Counter(answered=1, refused=2), 0.01, 100, 1.0)
    known, said = recorded(path)
    assert (known["readers"]["models"]["inputs"], known["readers"]["models"]["refused"], said) == (6, 4, "")
    path.write_text(path.read_text().replace(digest(), "0" * 64))
    known, said = recorded(path)
    assert known["readers"] == {}
    assert said.endswith("its 6 inputs no longer count.")
