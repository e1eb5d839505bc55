"""The lists of CONTRIBUTING.md and the code of docs/extending.md: whoever follows them has nothing else to change."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.guide import code

ROOT = Path(__file__).parents[1]
PIECES = {
    "loss": ("regression", "huber_ogd(gamma=1.0)", "Huber"),
    "budget": ("binary", "first_come(budget=5, gamma=1.0)", "FirstCome"),
    "map": ("regression", "parabola()", "Squares"),
}
LEARN = """
import sys
import numpy as np
import mine
from onkel import KernelClassifier, KernelRegressor
from onkel.files.model_file import load_model, save_model

task, made, piece = sys.argv[1:]
X = np.linspace(-1.0, 1.0, 40)[:, None]
y = X[:, 0] ** 2 if task == "regression" else np.where(X[:, 0] > 0.2, 1.0, -1.0)
learner = eval(f"mine.{made}")
online = learner.start(1, task, dtype="float64")
online.learn(X[::2], y[::2])
assert piece in repr(online.model), online.model
save_model("model.onkel", online)
again = load_model("model.onkel")[0]
assert np.array_equal(again.learn(X[1::2], y[1::2]), online.learn(X[1::2], y[1::2]))
face = KernelRegressor(learner) if task == "regression" else KernelClassifier(learner)
print(*face.fit(X, y).predict(X))
"""


def run(folder, *arguments, **environment):
    path = os.pathsep.join([str(folder), str(ROOT / "src")])
    settings = {**os.environ, "PYTHONPATH": path, "ONKEL_CACHE": str(folder / "cache"), **environment}
    done = subprocess.run([sys.executable, *arguments], cwd=folder, env=settings, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("without", ["1", pytest.param("0", marks=pytest.mark.slow)], ids=["Python", "compiled"])
def test_a_piece_is_one_module(tmp_path, piece, without):
    (tmp_path / "mine.py").write_text(code()["mine.py"])
    predicted = run(tmp_path, "-c", LEARN, *PIECES[piece], NUMBA_DISABLE_JIT=without).split()
    assert len(predicted) == 40
    assert len(set(predicted)) > 1


@pytest.fixture
def package(tmp_path):
    """A copy of the package with the files of the guide."""
    shutil.copytree(ROOT / "src" / "onkel", tmp_path / "onkel", ignore=shutil.ignore_patterns("__pycache__"))
    for name, text in code().items():
        if name.startswith("src/"):
            path = tmp_path / name.removeprefix("src/")
            assert not path.exists()
            path.write_text(text)
    rows = (f'{{"x": [{n % 7}, {n % 3}], "y": {n % 2}}}\n' for n in range(300))
    (tmp_path / "rows.jsonl").write_text("".join(rows))
    return tmp_path


def test_a_reader_and_a_command_are_one_file_each(package):
    plain = {"NUMBA_DISABLE_JIT": "1"}
    read = "from onkel import open_stream; print(*[len(b.labels) for b in open_stream('rows.jsonl', block_rows=200)])"
    assert run(package, "-c", read, **plain).split() == ["200", "100"]
    learn = "-m", "onkel", "run", "rows.jsonl", "--learner", "perceptron", "--save", "model.onkel"
    assert re.search(r"rows +300", run(package, *learn, **plain))
    assert len(run(package, "-m", "onkel", "predict", "model.onkel", "rows.jsonl", **plain).split()) == 300
    assert run(package, "-m", "onkel", "count", "rows.jsonl", "--format", "jsonl", **plain) == "300\n"
    assert "count the rows of a stream" in run(package, "-m", "onkel", "--help", **plain)
