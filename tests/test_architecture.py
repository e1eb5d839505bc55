"""The shape of the package: short files, few questions after types, few frames on the way of a row."""

import ast
import os
import sys
from pathlib import Path

import numpy as np
import pytest

import onkel
from onkel import KernelClassifier, auto
from onkel.apps.cli.main import main

PACKAGE = Path(onkel.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))
each_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
AT_THE_TOP = {"__init__.py", "__main__.py", "river.py", "client.py", "cluster.py"}


def test_only_what_users_import_lies_at_the_top():
    assert {path.name for path in PACKAGE.glob("*.py")} <= AT_THE_TOP


@each_file
def test_no_file_is_longer_than_a_reader_can_hold(path):
    assert len(path.read_text().splitlines()) <= 400


@each_file
def test_types_decide_by_verbs(path):
    calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    assert sum(getattr(call.func, "id", None) == "isinstance" for call in calls) <= 10


@pytest.mark.parametrize("package", sorted({path.parent for path in FILES}), ids=lambda path: path.name)
def test_each_package_says_what_lives_there(package):
    assert ast.get_docstring(ast.parse((package / "__init__.py").read_text()))


class Hops:
    """Python frames in the package, and changes from one of its files to another."""

    def __init__(self, work):
        self.frames, self.changes, self.last = 0, 0, None
        before = sys.getprofile()
        sys.setprofile(self)
        try:
            work()
        finally:
            sys.setprofile(before)

    def __call__(self, frame, event, _):
        file = frame.f_code.co_filename
        if event == "call" and file.startswith(str(PACKAGE) + os.sep):
            self.frames += 1
            self.changes += file != self.last
            self.last = file


rng = np.random.default_rng(0)
X = rng.standard_normal((200, 5)).astype(np.float32)
y = (X[:, 0] > 0.0).astype(int)


def partial_fit():
    model = KernelClassifier().partial_fit(X, y, classes=[0, 1]).partial_fit(X, y)
    return lambda: model.partial_fit(X, y)


def predict_proba():
    model = KernelClassifier().partial_fit(X, y, classes=[0, 1])
    model.predict_proba(X)
    return lambda: model.predict_proba(X)


def learn():
    online, targets = auto().start(5), np.where(y > 0, 1.0, -1.0)
    online.learn(X, targets)
    online.learn(X, targets)
    return lambda: online.learn(X, targets)


def run():
    lines = (f"{label} " + " ".join(f"{j + 1}:{v:.3f}" for j, v in enumerate(row)) for label, row in zip(y, X))  # noqa: B905
    Path("rows.libsvm").write_text("\n".join(lines) + "\n")
    command = ["run", "rows.libsvm", "--quiet"]
    assert main(command) == 0
    return lambda: main(command)


# Few enough to follow a row with a finger; whoever needs more looks for what can go.
MOST = {partial_fit: (95, 60), predict_proba: (72, 40), learn: (50, 32), run: (800, 345)}


@pytest.mark.parametrize("way", MOST, ids=lambda way: way.__name__)
def test_the_way_of_a_row_is_no_longer_than_it_was(way, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    hops = Hops(way())
    assert (hops.frames <= MOST[way][0], hops.changes <= MOST[way][1]) == (True, True), (hops.frames, hops.changes)
