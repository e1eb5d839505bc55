"""The pieces of docs/extending.md, run as a user would: from a module of one's own, in fresh processes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.guide import code

USE = """
import numpy as np
from mine import huber_ogd, Huber
from onkel import KernelRegressor, make_learner
from onkel.files.model_file import load_model, save_model

X, y = np.linspace(-1, 1, 40)[:, None], np.linspace(0, 5, 40)
online = make_learner("huber_ogd", width=2.0, gamma=1.0).start(1, task="regression", dtype="float64")
before = online.learn(X[:20], y[:20])
save_model("model.onkel", online)
rest = online.learn(X[20:], y[20:])
assert np.array_equal(load_model("model.onkel")[0].learn(X[20:], y[20:]), rest)
assert len(KernelRegressor(huber_ogd(gamma=1.0)).fit(X, y).predict(X)) == 40
print(repr(float(rest[-1, 0])))
"""


def run(folder: Path, **environment: str) -> float:
    settings = {**os.environ, "ONKEL_CACHE": str(folder / "cache"), "PYTHONPATH": str(folder), **environment}
    done = subprocess.run([sys.executable, "-c", USE], cwd=folder, env=settings, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return float(done.stdout)


def test_a_piece_of_ones_own_compiles_saves_and_is_compiled_anew_when_it_is_edited(tmp_path):
    module = tmp_path / "mine.py"
    module.write_text(code()["mine.py"])
    compiled = run(tmp_path)
    assert run(tmp_path) == compiled  # from the cache
    assert run(tmp_path, NUMBA_DISABLE_JIT="1") == pytest.approx(compiled, rel=1e-12)
    module.write_text(code()["mine.py"].replace("slopes[0] = min(", "slopes[0] = 0.5 * min("))
    edited = run(tmp_path)
    assert edited == pytest.approx(run(tmp_path, NUMBA_DISABLE_JIT="1"), rel=1e-12)
    assert edited != pytest.approx(compiled, rel=1e-3)
