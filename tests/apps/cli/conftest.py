"""Fixtures of the tests in this folder."""

import io
import json
import sys

import numpy as np
import pytest

from onkel.apps.cli.main import main
from tests.apps.cli.common import DATA, spoken


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with data, in which the command runs."""
    for name, text in DATA.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def onkel_run(folder, capsys):
    """Run the command in this process; returns what it printed. It must succeed without a word on standard error."""

    def run(*arguments):
        code = main(["run", *map(str, arguments)])
        out, err = capsys.readouterr()
        assert (code, spoken(err)) == (0, [])
        return out

    return run


@pytest.fixture
def report(onkel_run):
    """Run the command and return its JSON report."""
    return lambda *arguments: json.loads(onkel_run(*arguments, "--json", "-"))


@pytest.fixture
def scores(onkel_run):
    """Run the command and return its scores."""

    def run(*arguments):
        onkel_run(*arguments, "--scores", "scores.txt", "--quiet")
        return np.loadtxt("scores.txt", ndmin=2)

    return run


@pytest.fixture
def standard_input(monkeypatch):
    def feed(text):
        data = text if isinstance(text, bytes) else text.encode()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    return feed


@pytest.fixture
def refused(folder, capsys):
    """Run a command that must fail: exit code 2, one sentence, nothing written. Returns the sentence."""

    def run(*arguments):
        before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        code = main(["run", *map(str, arguments)])
        out, err = capsys.readouterr()
        lines = spoken(err)
        assert (code, out, len(lines)) == (2, "", 1), err
        assert lines[0].startswith("onkel: ")
        assert lines[0].endswith((".", "--help`."))
        assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
        return lines[0].removeprefix("onkel: ")

    return run


@pytest.fixture
def told(folder, capsys):
    """Run any command, which must succeed; returns what it printed and its sentences on standard error."""

    def run(*arguments):
        code = main([*map(str, arguments)])
        out, err = capsys.readouterr()
        assert code == 0, err
        return out, [line.removeprefix("onkel: ") for line in spoken(err)]

    return run


@pytest.fixture
def sentence(folder, capsys):
    """Run any command, which must fail with one sentence and print nothing else. Returns the sentence."""

    def run(*arguments):
        code = main([*map(str, arguments)])
        out, err = capsys.readouterr()
        assert (code, out, len(spoken(err))) == (2, "", 1), err
        return spoken(err)[0].removeprefix("onkel: ")

    return run
