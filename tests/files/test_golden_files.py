"""Files of every version of the format are read for good, and answer as they did when they were written."""

from pathlib import Path

import numpy as np
import pytest

from onkel import KernelClassifier, KernelRegressor, bkm
from onkel.core import trees
from onkel.files import snapshot
from onkel.files.model_file import load_model, restored, save_model
from tests.files.golden.rows import LABELS, NUMBERS, ROWS

VERSIONS = sorted(path for path in (Path(__file__).parent / "golden").iterdir() if path.name.startswith("v"))
FILES = [path for folder in VERSIONS for path in sorted(folder.glob("*.onkel"))]
OF_THIS_VERSION = [path for path in FILES if path.parent.name == f"v{snapshot.VERSION}"]
each_file = pytest.mark.parametrize("file", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")


def test_there_are_files_of_every_version():
    assert [folder.name for folder in VERSIONS] == [f"v{k}" for k in range(1, snapshot.VERSION + 1)]
    assert len(FILES) >= 10


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@each_file
def test_a_file_answers_as_it_did_when_it_was_written(file):
    online = load_model(file).online
    expected = np.load(file.parent / "scores.npz")[file.stem]
    np.testing.assert_allclose(online.score(ROWS), expected, rtol=0.0, atol=1e-4 * max(1.0, np.abs(expected).max()))
    model = (KernelRegressor if online.task == "regression" else KernelClassifier).load(file)
    assert len(model.predict(ROWS)) == len(ROWS)


@each_file
def test_a_file_goes_on_learning(file, path):
    online, answers, columns, extra = load_model(file)
    targets = answers.targets(NUMBERS if online.task == "regression" else LABELS)
    assert np.isfinite(online.learn(ROWS, targets)).all()
    save_model(path, online, answers, columns, extra)
    assert trees.same(load_model(path).online.model, online.model)


@pytest.mark.parametrize(
    "file", [path for path in FILES if path.parent.name == f"v{snapshot.VERSION}"], ids=lambda p: p.stem
)
def test_what_this_version_wrote_is_written_again_byte_for_byte(file, path):
    save_model(path, *load_model(file))
    assert path.read_bytes() == file.read_bytes()


def test_what_older_files_do_not_know_is_as_before_the_first_row():
    older = Path(__file__).parent / "golden" / "v1"
    model, number = KernelClassifier.load(older / "fogd.onkel"), KernelRegressor.load(older / "auto_regression.onkel")
    assert model.calibration_.moves.shape == (3,)
    assert model.calibration_.moves[0] != 0.0
    assert model.calibration_.moves[1:].tolist() == [0.0, 0.0]
    assert np.isinf(number.predict_interval(ROWS)).all()


def test_particles_of_older_files_go_on_with_steps_of_the_same_length(path):
    """They may say that the length was the default, which is another one now."""
    online = bkm(n_particles=2, n_frequencies=3, batch=4).start(3)
    online.learn(ROWS, np.where(LABELS == "near", 1.0, -1.0))
    save_model(path, online)
    content = snapshot.read(path)
    dressed = content["model"]
    older = dressed._replace(model=dressed.model._replace(rate=0.02, steady=None, tail=0.0))
    kept = {key: value for key, value in content["parameters"].items() if key != "tail"}
    again = restored(snapshot.UPGRADES[2]({**content, "model": older, "parameters": kept})).online
    assert (again.model.model.rate, again.model.model.tail, again.learner.get_params()["eta"]) == (0.02, 0.0, 0.02)
    assert trees.same(again.model.model.steady, online.model.model.weights)
