"""A type of model that this package does not know, in one file: it does all that the others do."""

import json

import numpy as np
import pytest

from onkel.apps.cli.main import main
from onkel.core.trees import same
from onkel.files.model_file import load_model, save_model
from onkel.files.snapshot import SnapshotError
from onkel.integrations.onnx import to_onnx
from onkel.integrations.sklearn.estimators import KernelClassifier
from onkel.model.growth import grown
from onkel.model.relevance import relevance
from onkel.recipes import RECIPES
from tests.learners.blended import made_known

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 3))
TARGETS = {
    "binary": np.where(X[:, 0] > 0.0, 1.0, -1.0), "multiclass": np.digitize(X[:, 0], [-0.5, 0.5]).astype(float),
    "regression": np.sin(X[:, 0]),
}  # fmt: skip
OUTPUTS = {"binary": 1, "multiclass": 3, "regression": 1}


@pytest.fixture
def blended():
    yield made_known()
    RECIPES.pop("blended")  # other tests go through all recipes


@pytest.fixture(params=TARGETS)
def online(blended, request):
    return blended().start(3, request.param, OUTPUTS[request.param])


def test_it_learns_and_its_scores_do_not_depend_on_the_cut(online, blended):
    targets = TARGETS[online.task]
    scores = online.learn(X, targets)
    again = blended().start(3, online.task, OUTPUTS[online.task])
    cut = np.concatenate([again.learn(X[i : i + 70], targets[i : i + 70]) for i in range(0, 300, 70)])
    assert same(scores, cut)
    assert same(online.model, again.model)
    assert same(online.score(X[:5])[2], online.score_one(X[2]))
    error = np.mean(np.abs(scores[-100:, 0] - targets[-100:])) if online.task == "regression" else 0.0
    assert error < 0.5


def test_it_is_saved_loaded_and_checked(online, tmp_path):
    online.learn(X, TARGETS[online.task])
    path = tmp_path / "model.onkel"
    save_model(path, online)
    after = load_model(path).online
    assert same(online.model, after.model)
    inner = online.model.model
    online.model = online.model._replace(model=inner._replace(parts=inner.parts[:1]))
    save_model(path, online)
    with pytest.raises(SnapshotError, match="there are 1 models where there should be 2"):
        load_model(path)


def test_it_grows(online):
    online.learn(X, TARGETS[online.task])
    classes = 3 if online.task == "binary" else OUTPUTS[online.task]
    after = grown(online, 5, classes)
    wide = np.pad(X[:10], ((0, 0), (0, 2)))
    before, now = online.score(X[:10]), after.score(wide)
    if online.task == "binary":  # f has become -f/2 and +f/2
        now, before = now[:, :2], np.hstack([-before / 2, before / 2])
    np.testing.assert_allclose(now, before, rtol=1e-4, atol=1e-5)
    assert np.isfinite(after.learn(wide, np.zeros(10))).all()


def test_its_features_count(online):
    online.learn(X, TARGETS[online.task])
    assert relevance(online.model).shape == (3,)


def test_it_is_exported(online):
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    online.learn(X, TARGETS[online.task])
    session = runtime.InferenceSession(to_onnx(online), providers=["CPUExecutionProvider"])
    name = "prediction" if online.task == "regression" else "scores"
    found = session.run([name], {"rows": X})[0].reshape(300, -1)
    np.testing.assert_allclose(found, online.score(X), rtol=1e-4, atol=1e-4)


def test_it_is_a_learner_of_the_estimators(blended):
    model = KernelClassifier(blended(n_frequencies=10)).fit(X, TARGETS["multiclass"])
    assert model.score(X, TARGETS["multiclass"]) > 0.6
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


@pytest.mark.usefixtures("blended")
def test_the_command_line_runs_it_goes_on_with_it_and_reports_on_it(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = np.column_stack([X.round(3), TARGETS["binary"]])
    np.savetxt("rows.csv", rows, delimiter=",", header="a,b,c,y", comments="", fmt="%g")
    pictures = ["--report", "page.html"] if _draws() else []
    start = ["run", "rows.csv", "--learner", "blended", "--set", "share=0.5", "--quiet", "--save", "m.onkel"]
    assert main([*start, *pictures, "--json", "found.json"]) == 0
    assert json.loads((tmp_path / "found.json").read_text())["mistakes"] < 90
    capsys.readouterr()
    assert main(["predict", "m.onkel", "rows.csv"]) == 0
    assert len(capsys.readouterr().out.split()) == 300
    if pictures:
        assert "it is a blend" in (tmp_path / "page.html").read_text()


def _draws():
    try:
        import matplotlib  # noqa: F401
    except ModuleNotFoundError:
        return False
    return True
