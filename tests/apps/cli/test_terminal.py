"""Names and labels come from strangers: a terminal shows them and obeys none, and pipes get them as they are."""

import io
import json
import re
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

import onkel.apps.cli
from onkel import datasets
from onkel.apps.cli import compare, reproduce
from onkel.apps.cli.display import Display
from onkel.apps.cli.main import main
from onkel.core.terminal import complain, printable, show
from tests.apps.cli.common import X, csv, spoken

EVIL = "\x1b]0;owned\x07\x1b[2J\x9b31m\r\u202e\u2066b\x00\x7f\u2028c"
NAME = EVIL.replace("\x00", "")  # no file can be called so
OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


class Terminal(io.StringIO):
    """Standard output that a person looks at."""

    def isatty(self):
        return True


def at_a_terminal(monkeypatch):
    """From here on: pytest puts its own standard output back when a test begins."""
    made = Terminal()
    monkeypatch.setattr(sys, "stdout", made)
    return made


@given(st.text())
def test_whatever_is_printable_obeys_no_letter_and_loses_none(text):
    shown = printable(text)
    assert not OBEYED.search(shown)
    assert "\n" not in shown
    unpack = re.compile(r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8})|([nrt]))")
    whole = unpack.sub(
        lambda m: {"n": "\n", "r": "\r", "t": "\t"}.get(m[4]) or chr(int(m[1] or m[2] or m[3], 16)), shown
    )
    assert whole == text or "\\" in text


@pytest.mark.parametrize(
    "text", ["", "a.csv", "Ünïcode", "中文 文件.csv", "עברית", "می\u200cخواهم", "👩\u200d🔬", "[bold]x[/bold]"]
)
def test_names_in_any_language_stay_as_they_are(text):
    assert printable(text) == text


def test_the_text_of_a_sentence_is_one_line(capsys):
    complain("a\nb\r\n\x1b[1mc")
    assert capsys.readouterr().err == "onkel: a\\nb\\r\\n\\x1b[1mc\n"


def test_a_program_without_a_console_says_nothing(monkeypatch, capsys):
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", None)
        complain("nobody hears it")
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    "command",
    [
        ["run", f"{NAME}.csv"],
        ["run", f"{NAME}.libsvm", "--save", f"{NAME}/no/where"],
        ["run", "--learner", EVIL],
        ["run", "--set", f"{EVIL}=1"],
        ["run", "--set", f"kernel={EVIL}", "--learner", "fogd"],
        ["run", "--resume", f"{NAME}.onkel"],
        ["run", "binary.csv", "--label", EVIL],
        ["run", f"--{EVIL}"],
        [EVIL],
        ["compare", "binary.csv", "--learners", f"fogd,{EVIL}"],
        ["compare", "binary.csv", "--learners", f"fogd:{EVIL}"],
        ["tune", "binary.csv", "--learner", "fogd", "--grid", EVIL],
        ["predict", f"{NAME}.onkel", "binary.csv"],
        ["export", f"{NAME}.onkel", "--onnx", "model.onnx"],
        ["describe", EVIL],
        ["data", "info", EVIL],
        ["data", "fetch", EVIL],
        ["reproduce", EVIL],
        ["warm", EVIL],
    ],
)
def test_what_is_wrong_is_said_without_obeying_it(folder, capsys, command):
    assert main([part.replace("\x00", "") for part in command]) == 2
    (line,) = spoken(capsys.readouterr().err)
    assert line.startswith("onkel: ")
    assert not OBEYED.search(line)


BAD = {
    "evil.csv": csv(["near", "far"], X[:2], header=f"a,b,{EVIL},place\n").replace("far", "far,1"),
    "text.csv": csv(["near", "far"], X[:2], header=f"a,b,{EVIL},place\n").replace(repr(X[0, 2].item()), EVIL),
    "lines.libsvm": f"1 1:1\n{EVIL} 1:1\n",
    "cells.libsvm": f"1 1:1\n1 1:{EVIL}\n",
}


@pytest.mark.parametrize("name", BAD)
def test_what_stands_in_a_file_is_said_without_obeying_it(folder, capsys, name):
    Path(name).write_text(BAD[name], newline="")
    assert main(["run", name]) == 2
    (line,) = spoken(capsys.readouterr().err)
    assert not OBEYED.search(line)


@pytest.fixture
def model(folder):
    """A model whose two classes are called as no terminal would like it, and the rows it has learned."""
    labels = np.where(X[:, 0] > 0.0, "\x1b[31mup\x07", "down\u202e")
    Path("evil.csv").write_text(csv(labels))
    arguments = ["run", "evil.csv", "--learner", "perceptron", "--quiet", "--save", "model.onkel"]
    assert main(arguments) == 0
    return ["predict", "model.onkel", "evil.csv"]


def test_labels_are_escaped_on_a_terminal(model, monkeypatch):
    terminal = at_a_terminal(monkeypatch)
    assert main(model) == 0
    assert set(terminal.getvalue().split("\n")) == {"\\x1b[31mup\\x07", "down\\u202e", ""}


def test_labels_are_exact_in_a_pipe_and_in_a_file(model, capsys):
    assert main([*model, "--to", "labels.txt"]) == 0
    capsys.readouterr()
    assert main(model) == 0
    piped = capsys.readouterr().out
    assert set(piped.split("\n")) == {"\x1b[31mup\x07", "down\u202e", ""}
    assert Path("labels.txt").read_text() == piped


def test_json_has_no_letter_that_a_terminal_obeys(model, monkeypatch):
    terminal = at_a_terminal(monkeypatch)
    assert main([*model, "--json", "-"]) == 0
    assert not OBEYED.search(terminal.getvalue())
    assert set(json.loads(terminal.getvalue())["predictions"]) == {"\x1b[31mup\x07", "down\u202e"}


def report(**more):
    return {
        "learner": f"[bold]{EVIL}[/bold]", "parameters": {"kernel": f"[red]{EVIL}[/]", "widths": "[link=x]y"},
        "task": "binary", "rows": 3, "rows_per_second": 1.0, "model_bytes": 10, **more,
    }  # fmt: skip


def test_the_table_of_a_run_interprets_no_name(monkeypatch):
    shown = io.StringIO()
    monkeypatch.setattr(sys, "stdout", shown)
    monkeypatch.setenv("COLUMNS", "400")
    Display.table(report(), None)
    assert not OBEYED.search(shown.getvalue())
    assert all(text in shown.getvalue() for text in ("[bold]\\x1b", "[/bold]", "[red]\\x1b", "widths=[link=x]y"))


def test_the_table_of_compare_interprets_no_name():
    line = {"learner": f"[bold]{EVIL}[/bold]", "error": 0.5, "seconds": 1.0, "rows_per_second": 1.0}
    line |= {"support": 1, "model_bytes": 1}
    shown = io.StringIO()
    made = compare.table({"task": "binary", "permutations": 0, "learners": [line]})
    Console(file=shown, highlight=False, width=400).print(made)
    assert not OBEYED.search(shown.getvalue())
    assert "[bold]\\x1b" in shown.getvalue()
    assert "[/bold]" in shown.getvalue()


def test_the_progress_line_interprets_no_name():
    assert not OBEYED.search(Display(None, True, f"[bold]{EVIL}").title)
    assert Display(None, True, "[bold]x").title == "[bold]x: "


def test_places_of_data_sets_are_escaped_on_a_terminal_and_exact_in_a_pipe(tmp_path, monkeypatch, capsys):
    place = tmp_path / NAME
    place.mkdir()
    (place / "a9a.libsvm").write_text("1 1:1\n")
    monkeypatch.setenv("ONKEL_DATA", str(place))
    assert main(["data", "info", "a9a"]) == 0
    assert str(place) in capsys.readouterr().out
    terminal = at_a_terminal(monkeypatch)
    assert main(["data", "info", "a9a"]) == main(["data", "list"]) == 0
    monkeypatch.setattr(datasets, "fetch", lambda *_: datasets.find("a9a"))
    assert main(["data", "fetch", "a9a"]) == 0
    assert terminal.getvalue().count("\\x1b[2J") == 2
    assert not OBEYED.search(terminal.getvalue())


def test_who_waits_is_told_names_that_nothing_obeys(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    reproduce.say(EVIL, "fogd")
    assert not OBEYED.search(sys.stderr.getvalue().strip().removeprefix("\x1b[K"))


def test_text_of_several_lines_keeps_them_on_a_terminal(monkeypatch):
    terminal = at_a_terminal(monkeypatch)
    show("a\n\tb\x1b[1m")
    assert terminal.getvalue() == "a\n\tb\\x1b[1m\n"


def test_nothing_else_writes_to_standard_error():
    """But for the line of `reproduce`, which begins with a sequence of its own."""
    folder = Path(onkel.apps.cli.__file__).parent
    found = [
        path.name for path in folder.glob("*.py") if re.search(r"file=sys\.stderr|stderr\.write", path.read_text())
    ]
    assert found == ["reproduce.py"]


@pytest.mark.usefixtures("model")
def test_a_page_is_escaped_on_a_terminal(monkeypatch):
    pytest.importorskip("matplotlib")
    terminal = at_a_terminal(monkeypatch)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of those who draw, too: they would hold the letters
        assert main(["run", "evil.csv", "--learner", "perceptron", "--report", "-"]) == 0
    assert "</html>" in terminal.getvalue()
    assert not OBEYED.search(terminal.getvalue())
