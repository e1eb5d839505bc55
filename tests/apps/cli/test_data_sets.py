"""`onkel data`, mostly as a process of its own, and data sets that are learned by their names."""

import json
import os
import pty
import signal
import subprocess
import sys
import threading
import time

import pytest

from onkel import datasets
from onkel.apps.cli.main import main
from onkel.datasets import folders
from tests.apps.cli.common import DATA, spoken
from tests.datasets.conftest import TEST, TRAIN, cache, server

__all__ = ["cache", "server"]  # fixtures

WITH_TINY = """
import sys
from onkel.apps.cli.main import main
from onkel.datasets import DataSet, File
from onkel.datasets.table import SETS
SETS["tiny"] = DataSet("tiny", "binary", 5000, 2, 3, 2, File(sys.argv[1] + "/train", 0.1), File(sys.argv[1] + "/test"))
sys.exit(main(sys.argv[2:]))
"""


@pytest.fixture
def given(folder, monkeypatch, cache):
    """A folder for ONKEL_DATA with german and a9a of the test data, and an empty cache."""
    home = folder / "given"
    home.mkdir()
    (home / "german.libsvm").write_text(DATA["binary.libsvm"])
    (home / "a9a.libsvm").write_text(DATA["first.libsvm"])
    (home / "a9a.t.libsvm").write_text(DATA["second.libsvm"])
    monkeypatch.setenv("ONKEL_DATA", str(home))
    return home


def process(*arguments, **more):
    command = [sys.executable, "-m", "onkel", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **more)


def with_tiny(server, *arguments):
    command = [sys.executable, "-c", WITH_TINY, server.address, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


@pytest.fixture
def here(capsys):
    """Run the command in this process."""

    def run(*arguments):
        code = main(list(arguments))
        return subprocess.CompletedProcess(arguments, code, *capsys.readouterr())

    return run


def said(done):
    """The one sentence of a command that failed."""
    assert (done.returncode, done.stdout, len(spoken(done.stderr))) == (2, "", 1), done.stderr
    return spoken(done.stderr)[0].removeprefix("onkel: ")


def test_the_list_names_every_set_and_says_what_is_here(given):
    done = process("data", "list")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines[1:]] == datasets.names()
    assert [line.split()[0] for line in lines if " yes " in line] == ["a9a", "german"]


def test_the_list_as_json_holds_everything(given, here):
    sets = {one["name"]: one for one in json.loads(here("data", "list", "--json", "-").stdout)}
    assert list(sets) == datasets.names()
    assert sets["german"]["here"] == {"train": str(given / "german.libsvm"), "test": None}
    assert sets["w8a"]["here"] is None
    assert sets["w8a"]["train"]["address"].endswith("/binary/w8a")
    assert sets["elec2"]["train"] is None


def test_info_tells_addresses_and_where_the_files_are(given, here):
    done = here("data", "info", "a9a")
    assert (done.returncode, done.stderr) == (0, "")
    for part in ("32,561 to learn, 16,281 to test", "binary/a9a.t, about 1.2 MB", given / "a9a.t.libsvm", "ting2021"):
        assert str(part) in done.stdout
    assert json.loads(here("data", "info", "a9a", "--json", "-").stdout)["rows"] == 32_561


def test_info_of_what_is_not_here_says_how_to_get_it(given, here):
    assert "no: `onkel data fetch ijcnn1` gets it (4.0 MB)." in here("data", "info", "ijcnn1").stdout
    assert "no: it has to be got by hand" in here("data", "info", "kddcup08").stdout


@pytest.mark.parametrize("action", ["info", "fetch"])
def test_an_unknown_set_is_one_sentence(given, here, action):
    expected = "There is no data set 'a9b'; did you mean a9a? `onkel data list` names them all."
    assert said(here("data", action, "a9b")) == expected


@pytest.mark.parametrize("arguments", [[], ["sell"], ["info"], ["list", "a9a"]])
def test_a_senseless_command_is_one_sentence(given, here, arguments):
    assert said(here("data", *arguments)).endswith("--help`.")


def test_fetch_says_where_the_files_are_and_nothing_else(server, cache):
    done = with_tiny(server, "data", "fetch", "tiny")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [str(cache / "tiny.libsvm"), str(cache / "tiny.t.libsvm")]
    assert [(cache / name).read_bytes() for name in ("tiny.libsvm", "tiny.t.libsvm")] == [TRAIN, TEST]


def test_fetch_is_silent_when_asked_to_be_and_takes_a_folder(server, cache, tmp_path):
    done = with_tiny(server, "data", "fetch", "tiny", "--to", tmp_path / "mine", "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "mine" / "tiny.libsvm").read_bytes() == TRAIN
    assert not cache.exists()


def test_a_fetch_that_fails_is_one_sentence(server, cache):
    del server.contents["/test"]
    expected = f"{server.address}/test: the server has no such file (HTTP 404)."
    assert said(with_tiny(server, "data", "fetch", "tiny")) == expected


def test_a_folder_that_cannot_be_made_is_named(server, cache, tmp_path):
    (tmp_path / "file").touch()
    done = with_tiny(server, "data", "fetch", "tiny", "--to", tmp_path / "file" / "inner")
    assert str(tmp_path / "file") in said(done)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_fetch_that_is_stopped_keeps_what_it_has_and_goes_on_later(server, cache, how):
    server.pause = threading.Event()  # the server holds back its last bytes
    command = [sys.executable, "-c", WITH_TINY, server.address, "data", "fetch", "tiny"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as running:  # fmt: skip
        end = time.monotonic() + 60
        while not (cache / "tiny.libsvm.part").exists() and time.monotonic() < end:
            time.sleep(0.02)
        running.send_signal(how)
        said = running.stderr.read()
    server.pause.set()
    if how == signal.SIGINT:
        assert (running.returncode, said) == (130, "onkel: stopped.\n")
    assert not (cache / "tiny.libsvm").exists()
    assert with_tiny(server, "data", "fetch", "tiny").returncode == 0
    assert sorted(path.name for path in cache.iterdir()) == [
        "tiny.libsvm", "tiny.libsvm.json", "tiny.t.libsvm", "tiny.t.libsvm.json"
    ]  # fmt: skip
    assert (cache / "tiny.libsvm").read_bytes() == TRAIN


def test_there_is_a_progress_bar_on_a_terminal(server, cache):
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", WITH_TINY, server.address, "data", "fetch", "tiny"]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, env=environment) as running:
        out = running.stdout.read().decode()
    os.close(theirs)
    shown = os.read(ours, 2**16).decode()
    os.close(ours)
    assert running.returncode == 0
    assert "tiny.libsvm" in shown
    assert out.splitlines() == [str(cache / "tiny.libsvm"), str(cache / "tiny.t.libsvm")]


def test_a_set_is_learned_by_its_name_and_tested_on_its_test_part(given, report):
    by_name = report("a9a", "--test", "a9a.t", "--learner", "fogd")
    by_path = report("first.libsvm", "--test", "second.libsvm", "--learner", "fogd", "--features", 123)
    assert by_name["rows"] == 170
    assert by_name["test"]["rows"] == 130
    for key in ("mistakes", "test"):
        assert by_name[key] == by_path[key]


def test_a_file_of_that_name_comes_first(given, folder, report):
    (folder / "a9a").write_text(DATA["binary.libsvm"])
    assert report("a9a", "--learner", "fogd")["rows"] == 300


def test_a_set_that_is_not_here_is_one_sentence(given, refused):
    assert refused("w7a") == "w7a is not here yet: `onkel data fetch w7a` gets it (3.4 MB)."
    assert refused("german", "--test", "german.t") == "german has no test part."


def test_a_csv_set_is_learned_by_its_name(given, report):
    rows = "".join(f"{i % 7},{i},2,3,4,5,6,7,8,9\n" for i in range(90))
    (given / "casp.csv").write_text("RMSD,F1,F2,F3,F4,F5,F6,F7,F8,F9\n" + rows)
    assert report("casp", "--learner", "fogd", "--task", "regression")["rows"] == 90
    assert folders.find(datasets.info("casp")).train == given / "casp.csv"
