"""Trials of tricks: once for all processes with the same versions."""

import os
import sys

import numba
import pytest

from onkel.core.numba_internals import selftest, tricks

pytestmark = pytest.mark.skipif(
    bool(numba.config.DISABLE_JIT) or not tricks.used("pipeline"),  # type: ignore[attr-defined]
    reason="nothing is tried",
)


@pytest.fixture
def trials(monkeypatch):
    """Trials that were made: in processes that have made none before."""
    made, compile_some = [], selftest._compile

    def noted():
        made.append(None)
        compile_some()

    monkeypatch.setattr(selftest, "_compile", noted)
    monkeypatch.setattr(selftest, "_found", {})
    return made


def in_new_process(folder):
    selftest._found.clear()
    return selftest.tried(folder)


def test_a_process_tries_once(trials, tmp_path):
    assert [selftest.tried(tmp_path) for _ in range(3)] == [tmp_path] * 3
    assert len(trials) == 1


def test_what_went_well_is_not_tried_again_by_the_next_process(trials, tmp_path):
    for _ in range(3):
        in_new_process(tmp_path)
    assert len(trials) == 1
    (mark,) = tmp_path.iterdir()
    assert mark.stat().st_size == 0


def test_another_version_is_tried(trials, tmp_path, monkeypatch):
    in_new_process(tmp_path)
    for module in (numba, sys.modules["llvmlite"], selftest.np):
        with monkeypatch.context() as patched:
            patched.setattr(module, "__version__", "0.0.1")
            in_new_process(tmp_path)
    assert len(trials) == 4


def test_where_nothing_can_be_written_every_process_tries(trials, tmp_path, capsys):
    for folder in (None, tmp_path / "missing", None):
        in_new_process(folder)
    assert len(trials) == 3
    assert capsys.readouterr().err == ""


def test_a_trial_that_fails_is_said_and_not_written_down(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(selftest, "_found", {})
    monkeypatch.setattr(selftest, "_compile", lambda: selftest._check(False, "nothing works"))
    monkeypatch.setattr(tricks, "_plain", set())
    monkeypatch.setattr("onkel.core.cache._said", set())
    in_new_process(tmp_path)
    in_new_process(tmp_path)
    assert os.listdir(tmp_path) == []
    assert tricks.trick("pipeline") is None
    said = capsys.readouterr().err
    assert said.count("onkel: ") == 1
    assert "(AssertionError: nothing works): its plain ways are used" in said
