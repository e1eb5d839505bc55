"""A score of exactly 0, or of next to nothing, means the same at every door; papers' counts have their own rule."""

import json

import numpy as np
import onnxruntime
import pytest

from onkel import KernelClassifier, fogd, perceptron
from onkel.apps.cli.main import main
from onkel.evaluation import prequential
from onkel.evaluation.metrics import errors
from onkel.integrations.river import KernelClassifier as RiverClassifier
from onkel.model.answers import ClassAnswers
from onkel.model.calibration import Calibration, calibration, probabilities

NEAR = np.array([[0.0, 0.0], [0.0, 0.1], [0.1, 0.0]])
LABELS = np.array(["yes", "no", "yes"])
FAR = np.array([[1e3, 1e3]])  # where all similarities are 0


@pytest.fixture
def model():
    return KernelClassifier(perceptron(gamma=1.0)).fit(NEAR, LABELS)


def onnx_says(model, rows):
    session = onnxruntime.InferenceSession(model.to_onnx(), providers=["CPUExecutionProvider"])
    label, scores, chances = session.run(["label", "scores", "probabilities"], {"rows": rows})
    return label.tolist(), scores.ravel().tolist(), chances


def test_a_score_of_zero_is_the_first_class_in_every_face(model, tmp_path, capsys):
    assert model.decision_function(FAR).tolist() == [0.0]
    assert model.predict(FAR).tolist() == ["no"]
    assert model.predict_one(FAR[0]) == "no"
    assert model.predict_proba(FAR).argmax(axis=1).tolist() == [0]
    assert model.predict_proba_one(FAR[0]).argmax() == 0
    label, scores, chances = onnx_says(model, FAR)
    assert (label, scores, chances.argmax(axis=1).tolist()) == (["no"], [0.0], [0])

    model.save(tmp_path / "model")
    assert KernelClassifier.load(tmp_path / "model").predict(FAR).tolist() == ["no"]
    (tmp_path / "far.csv").write_text("1000,1000\n")
    assert main(["predict", str(tmp_path / "model"), str(tmp_path / "far.csv")]) == 0
    assert capsys.readouterr().out == "no\n"


@pytest.mark.parametrize("labels", [["no", "yes", "yes"], ["yes", "no", "yes"], ["yes", "no", "maybe"]])
def test_so_it_is_where_classes_came_new_in_whatever_order(labels, tmp_path, capsys):
    model, river = KernelClassifier(perceptron(gamma=1.0), classes="grow"), RiverClassifier(perceptron(gamma=1.0))
    model.partial_fit(NEAR, labels)
    for (a, b), label in zip(NEAR, labels, strict=True):
        river.learn_one({"a": a, "b": b}, label)
    first = min(labels)
    assert model.predict(FAR).tolist() == [first]
    assert river.predict_one({"a": 1e3, "b": 1e3}) == model.predict_one(FAR[0]) == first
    assert onnx_says(model, FAR)[0] == [first]
    model.save(tmp_path / "model")
    (tmp_path / "far.csv").write_text("1000,1000\n")
    assert main(["predict", str(tmp_path / "model"), str(tmp_path / "far.csv")]) == 0
    assert capsys.readouterr().out == f"{first}\n"


@pytest.mark.parametrize("tiny", [5e-324, 1e-300, 1e-17, 1e-9])
@pytest.mark.parametrize("moves", [(0.0, 0.0, 0.0), (3.0, -2.0, -5.0), (-8.0, 1.0, 4.0)])
def test_the_largest_probability_is_that_of_the_answer_however_small_the_score(tiny, moves):
    state = Calibration(np.array(moves), calibration().energy)
    two, three = np.array([[tiny], [-tiny], [0.0]]), np.array([[0.0, tiny, 0.0], [tiny, 0.0, 0.0], [0.0, 0.0, 0.0]])
    assert probabilities(state, two).argmax(axis=1).tolist() == [1, 0, 0]
    assert probabilities(state, three).argmax(axis=1).tolist() == [1, 0, 0]
    assert ClassAnswers(np.array([0, 1])).labels(two).tolist() == [1, 0, 0]
    assert ClassAnswers(np.arange(3)).labels(three).tolist() == [1, 0, 0]


def test_the_export_answers_with_the_largest_probability_too():
    rows = np.random.default_rng(0).normal(size=(300, 2))
    model = KernelClassifier(fogd(n_frequencies=3, gamma=0.5, eta=1e-300), dtype="float64", classes="grow")
    model.partial_fit(rows, np.resize(["b", "a"], 300))
    label, _, chances = onnx_says(model, rows)
    assert label == model.predict(rows).tolist() == model.classes_[chances.argmax(axis=1)].tolist()


def test_papers_count_a_score_of_zero_as_the_second_class_and_say_so(tmp_path, capsys):
    targets, scores = np.array([1.0, -1.0]), np.zeros((2, 1))
    assert errors("binary", targets, scores).tolist() == [0.0, 1.0]
    assert errors("binary", targets, scores, ties="first").tolist() == [1.0, 0.0]
    far = "".join(f"{label},{1000 * i},0\n" for i, label in enumerate(["a", "b", "b", "b"]))
    (tmp_path / "far.csv").write_text(far)
    given = ["--label", "0", "--learner", "perceptron", "--set", "gamma=1", "--json", "-"]
    assert main(["run", str(tmp_path / "far.csv"), *given, "--test", str(tmp_path / "far.csv")]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["mistakes"], report["ties"]) == (1, "second class")
    assert report["test"]["ties"] == "first class"
    online = perceptron(gamma=1.0).start(2)
    assert prequential.prequential(online, [(np.zeros((1, 2)), np.array([1.0]))])["ties"] == "second class"
