"""As a process of its own."""

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from onkel import auto
from onkel.streams import concatenate, open_stream
from tests.apps.cli.common import DATA, N_ROWS, OUTPUT, by_hand, spoken

COMMANDS = {"module": [sys.executable, "-m", "onkel"], "script": [str(Path(sys.executable).with_name("onkel"))]}


def process(*arguments, command="module", **more):
    return subprocess.run(
        [*COMMANDS[command], *map(str, arguments)], capture_output=True, text=True, timeout=120, **more
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_the_command_runs(folder, command):
    done = process("run", "binary.libsvm", "--scores", "scores.txt", command=command)
    assert (done.returncode, spoken(done.stderr)) == (0, [])
    assert "mistake rate" in done.stdout
    assert np.array_equal(np.loadtxt("scores.txt", ndmin=2), by_hand("binary"))


def test_the_command_takes_rows_from_a_pipe(folder):
    done = process("run", "-", "--json", "-", input=DATA["binary.libsvm"])
    assert (done.returncode, spoken(done.stderr)) == (0, [])
    assert json.loads(done.stdout)["rows"] == N_ROWS


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (["nowhere.libsvm"], "nowhere.libsvm"),
        (["huge.libsvm", "--learner", "fogd"], "huge.libsvm"),
        (["binary.libsvm", "--set", "sigma=abc"], "sigma"),
        (["binary.libsvm", "--save", "nowhere/model"], "nowhere"),
    ],
)
def test_the_command_fails_with_one_line_and_code_2(folder, arguments, name):
    Path("huge.libsvm").write_text(DATA["binary.libsvm"] + "1 1:1e39\n")
    done = process("run", *arguments)
    assert (done.returncode, done.stdout, len(spoken(done.stderr))) == (2, "", 1), done.stderr
    assert name in done.stderr


def test_the_command_stops_quietly_when_nobody_reads_on(folder):
    with subprocess.Popen(
        [*COMMANDS["module"], "run", "binary.libsvm", "--json", "-"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        running.stdout.close()
        err = running.stderr.read().decode()
    assert spoken(err) == []
    assert running.returncode == 141


def test_the_command_stops_on_an_interrupt_and_leaves_nothing_behind(folder):
    before = set(os.listdir(folder))
    with subprocess.Popen(
        [*COMMANDS["module"], "run", "-", *OUTPUT[:4], "--block", "50"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # ignored where tests run in the background
    ) as running:  # fmt: skip
        running.stdin.write(20 * DATA["binary.libsvm"].encode())
        running.stdin.flush()
        end = time.monotonic() + 60
        while set(os.listdir(folder)) == before and time.monotonic() < end:
            time.sleep(0.02)  # until it has begun to write
        running.send_signal(signal.SIGINT)
        err = running.stderr.read().decode()
    assert running.returncode == 130
    assert spoken(err) == ["onkel: stopped."]
    assert set(os.listdir(folder)) == before


def on_a_terminal(*arguments):
    """What the command shows on a terminal, and what it writes to a standard output that is none."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*COMMANDS["module"], "run", *arguments],
        stdout=subprocess.PIPE,
        stderr=theirs,
        env=os.environ | {"TERM": "xterm"},
    ) as running:
        os.close(theirs)
        shown = b""
        while select.select([ours], [], [], 120)[0]:
            try:
                part = os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            shown += part
        out = running.stdout.read().decode()
    os.close(ours)
    assert running.returncode == 0
    return shown.decode(), out


def test_a_progress_line_is_shown_on_a_terminal(folder):
    shown, out = on_a_terminal("rings", "--limit", "60000", "--block", "500")
    assert "rows/s" in shown
    assert "60,000 rows" in shown
    assert "last 1,000:" in shown
    assert "error" in shown
    assert "rows/s" not in out
    assert "mistake rate" in out


@pytest.mark.parametrize("option", ["--quiet", "--json"])
def test_there_is_no_progress_line_when_it_is_not_wanted(folder, option):
    shown, _ = on_a_terminal("rings", "--limit", "2000", *([option] if option == "--quiet" else [option, "-"]))
    assert "rows/s" not in shown


def test_there_is_no_progress_line_without_a_terminal(folder):
    done = process("run", "rings", "--limit", "2000")
    assert spoken(done.stderr) == []


def test_the_built_in_stream_of_the_command_is_that_of_the_library(scores):
    block = concatenate(open_stream("rings", rows=200, seed=0))
    expected = auto().start(2).learn(block.rows, block.labels)
    assert np.array_equal(scores("rings", "--limit", 200), expected)
