"""onnxruntime's answers are ours: all recipes, tasks, layouts and kinds of classes."""

import json

import numpy as np
import onnx
import pandas as pd
import pytest
from scipy import sparse

from onkel import KernelClassifier, KernelRegressor, auto, fogd, make_learner, multi_rrf, nogd, ogd, one_vs_rest, rrf
from onkel.integrations.onnx import to_onnx
from onkel.integrations.onnx.maps import written_out
from onkel.streams import concatenate, open_stream
from tests.all_recipes.common import close, each_cell
from tests.integrations.onnx.common import answers, assert_same_answers, rows_like
from tests.tables import N_FEATURES, VARIATIONS, parameters, started, stream, structured

REFUSED = {"ik_ogd"}
MAPS = [(name, task, given) for name, task, given in VARIATIONS if name in ("fogd", "rrf", "multi_rrf", "nogd", "omkc")]


def assert_same_scores(online, X):
    rows = rows_like(X, online._positive)
    found, expected = answers(to_onnx(online), rows), online.score(rows)
    if online.task == "regression":
        close(found["prediction"], expected[:, 0], 1e-5)
        return
    close(found["scores"], expected, 1e-5)
    decided = expected.argmax(axis=1) if expected.shape[1] > 1 else (expected[:, 0] > 0.0).astype(int)
    assert found["label"].tolist() == decided.tolist()
    close(found["probabilities"].sum(axis=1), np.ones(len(rows)), 1e-12)


@each_cell
def test_every_recipe_is_exported_or_refused_in_a_sentence(name, task):
    online = started(name, task, parameters(name, task), "float32")
    X, y = stream(task)
    online.learn(X, y)
    if name in REFUSED:
        with pytest.raises(
            ValueError, match=r"^A model of the type Indexed has no form in ONNX and is not exported\.$"
        ):
            to_onnx(online)
    else:
        assert_same_scores(online, X)


@pytest.mark.parametrize(("name", "task", "given"), MAPS)
def test_every_map_and_kernel_gives_the_same_scores_in_double_precision(name, task, given):
    online = started(name, task, given)
    X, y = stream(task)
    X = np.abs(X) if online._positive else X
    online.learn(X, y)
    rows = rows_like(X, online._positive)
    found = answers(to_onnx(online), rows)
    close(found["prediction"][:, None] if task == "regression" else found["scores"], online.score(rows), 1e-9)


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_similarities_end_where_ours_end(dtype, kernel):
    online = make_learner("ogd", kernel=kernel, sigma=1.0).start(1, dtype=dtype)
    online.learn(np.zeros((1, 1)), [1.0])
    last, steps = (87.0, 0.0) if dtype == "float32" else (745.0, 5e-324)
    exponents = np.concatenate([np.linspace(0.0, 1.1 * last, 1_000), [1e4, 1e9]])
    rows = (np.sqrt(2.0 * exponents) if kernel == "gaussian" else exponents)[:, None].astype(dtype)
    found, expected = answers(to_onnx(online), rows)["scores"], online.score(rows)
    assert (expected[-50:] == 0.0).all()
    np.testing.assert_array_equal(found == 0.0, expected == 0.0)
    np.testing.assert_allclose(found, expected, rtol=2e-5 if dtype == "float32" else 1e-12, atol=steps)


@pytest.mark.parametrize("name", ["perceptron", "ogd", "forgetron", "projectron", "bsgd_m", "nogd", "tvm"])
def test_rows_without_similarities_get_the_same_answers(name):
    online = started(name, "binary", parameters(name, "binary"), "float32")
    X, y = stream("binary")
    online.learn(X, y)
    rows = 1e3 + X
    assert (online.score(rows) == online.score(2.0 * rows)).all()  # nothing is left but an offset
    assert_same_scores(online, rows)
    np.testing.assert_array_equal(answers(to_onnx(online), rows)["scores"], online.score(rows))


@pytest.mark.parametrize("draw", ["sorf", "fastfood"])
def test_structured_frequencies_are_written_out(draw):
    online = started("fogd", "binary", {"n_frequencies": 13, "draw": draw, "sigma": 1.5})
    drawn = online.model.feature_map
    np.testing.assert_allclose(np.pi * written_out(drawn, N_FEATURES), structured(drawn), rtol=1e-12)


CLASSES = {
    "numbers": np.array([3, 7]),
    "text": np.array(["near", "far"]),
    "several": np.array(["a", "bé", "日本"]),
    "floating numbers": np.array([-1.0, 1.0, 2.0]),
    "truth": np.array([False, True]),
}


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix])
def test_classifiers_give_labels_of_any_kind_with_their_probabilities(kind, layout):
    X, y = stream("multiclass" if len(CLASSES[kind]) > 2 else "binary")
    labels = CLASSES[kind][np.unique(y, return_inverse=True)[1]]
    for learner in (auto(n_frequencies=6), rrf(n_frequencies=21)):
        model = KernelClassifier(learner).fit(layout(X), labels)
        rows = rows_like(X)
        assert_same_answers(model, model.to_onnx(), rows, layout(rows))


def test_a_regression_gives_predictions():
    X, y = stream("regression")
    model = KernelRegressor(auto(n_frequencies=40)).fit(X, y)
    assert_same_answers(model, model.to_onnx(), rows_like(X))


def test_a_single_class_is_always_the_answer():
    X, _ = stream("binary")
    model = KernelClassifier(fogd(n_frequencies=37, sigma=1.5)).fit(X, np.full(len(X), 5))
    assert_same_answers(model, model.to_onnx(), rows_like(X))


@pytest.mark.parametrize("learner", [one_vs_rest(fogd(n_frequencies=37, sigma=1.5)), multi_rrf(n_frequencies=11)])
def test_models_of_models_are_exported(learner):
    X, y = stream("multiclass")
    model = KernelClassifier(learner).fit(X, y.astype(int))
    assert_same_answers(model, model.to_onnx(), rows_like(X))


@pytest.mark.parametrize("size", [1e-30, 1e6, 1e30, 1e200])
def test_standardised_rows_may_be_of_any_size(size):
    X, y = stream("binary")
    model = KernelClassifier(auto(n_frequencies=6)).fit(X, y)
    assert_same_answers(model, model.to_onnx(), size * np.random.default_rng(0).normal(size=(60, N_FEATURES)))


def test_noise_on_a_large_number_survives():
    random = np.random.default_rng(0)
    X = 1e6 + 1e-3 * random.normal(size=(200, 3))
    model = KernelClassifier(auto(n_frequencies=6)).fit(X, X[:, 0] > 1e6)
    assert_same_answers(model, model.to_onnx(), X)
    assert np.ptp(answers(model.to_onnx(), X)["scores"]) > 1.0


def test_a_missing_number_is_taken_for_the_mean():
    X, y = stream("binary")
    rows = X.copy()
    rows[::3, 1], rows[5, 2] = np.nan, np.inf
    online = auto(n_frequencies=6).start(N_FEATURES, missing="mean")
    online.learn(rows, y)
    close(answers(to_onnx(online), rows)["scores"], online.score(rows), 1e-5)
    for missing in ("mean", "zero"):
        model = KernelClassifier(fogd(n_frequencies=37, sigma=1.5), missing=missing)
        model.fit(np.where(np.isinf(rows), np.nan, rows), y)
        assert_same_answers(model, model.to_onnx(), np.where(np.isinf(rows), np.nan, rows))


@pytest.mark.parametrize("learner", [fogd(n_frequencies=37, sigma=1.5), auto(n_frequencies=6)], ids=repr)
@pytest.mark.parametrize("classes", [["b", "a"], ["c", "a", "b"], ["only"]])
def test_models_of_open_worlds_are_exported_as_they_stand(learner, classes):
    X, _ = stream("binary")
    labels = np.resize(classes, len(X))
    model = KernelClassifier(learner, classes="grow", features="grow", missing="mean", class_weight="balanced")
    model.partial_fit(X[:, :3], labels).partial_fit(X, labels)
    rows = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    assert_same_answers(model, model.to_onnx(), rows)


@pytest.mark.parametrize("learner", [fogd(n_frequencies=37), ogd()])
def test_a_model_whose_width_is_not_settled_is_exported_as_it_stands(learner):
    X, y = stream("binary")
    online = learner.start(N_FEATURES)
    with pytest.raises(ValueError, match=r"^The model has not learned any row yet: there is nothing to export\.$"):
        to_onnx(online)
    online.learn(X[:5], y[:5])
    assert_same_scores(online, X)


@pytest.mark.parametrize("name", ["fogd", "ogd", "nogd", "auto", "rrf", "bkm", "dual_sgd"])
def test_a_model_that_knows_nothing_yet_says_so_too(name):
    online = started(name, "binary", parameters(name, "binary"), "float32")
    X = stream("binary").X
    close(answers(to_onnx(online), X)["scores"], online.score(X), 1e-6)


@pytest.mark.parametrize("name", ["fogd", "nogd", "auto"])
def test_very_wide_rows_are_refused(name):
    online = make_learner(name).start(50_000)
    with pytest.raises(ValueError, match=r"^Rows of ONNX are dense: a model of 50,000 columns, .* is not exported\.$"):
        to_onnx(online)


def test_a_file_says_what_it_is():
    X, y = stream("binary")
    table = pd.DataFrame(X, columns=list("abcde"))
    model = KernelClassifier(nogd(budget=20, rank=7, sigma=1.5)).fit(table, np.where(y > 0, "yes", "no"))
    graph = onnx.load_from_string(model.to_onnx())
    onnx.checker.check_model(graph, full_check=True)
    notes = {entry.key: entry.value for entry in graph.metadata_props}
    assert notes["learner"] == "nogd(budget=20, rank=7, sigma=1.5)"
    assert (notes["task"], json.loads(notes["classes"])) == ("binary", ["no", "yes"])
    assert json.loads(notes["feature_names"]) == list("abcde")
    assert (graph.producer_name, graph.producer_version) == ("onkel", notes["onkel_version"])


def test_without_onnx_there_is_a_sentence(monkeypatch):
    X, y = stream("binary")
    model = KernelClassifier(fogd(n_frequencies=37, sigma=1.5)).fit(X, y)
    monkeypatch.setitem(__import__("sys").modules, "onnx", None)
    with pytest.raises(ValueError, match=r"^Exporting needs the package onnx: `pip install onkel\[onnx\]`\.$"):
        model.to_onnx()


def test_rows_of_a_real_kind_give_the_same_answers(tmp_path):
    """Columns of very different sizes, whole numbers, and a column that is almost always 0."""
    random = np.random.default_rng(1)
    X = np.column_stack([
        random.integers(0, 5, 400), random.lognormal(8, 2, 400), random.normal(1e5, 1e-2, 400),
        np.where(random.random(400) < 0.95, 0.0, random.exponential(size=400)), np.full(400, 7.0),
    ])  # fmt: skip
    y = (X[:, 0] + np.log(X[:, 1]) > 10).astype(int)
    lines = "".join(f"{label} " + " ".join(f"{j + 1}:{v!r}" for j, v in enumerate(row) if v) + "\n"
                    for label, row in zip(y, X.tolist(), strict=True))  # fmt: skip
    (tmp_path / "real.libsvm").write_text(lines)
    compressed = sparse.csr_matrix(concatenate(open_stream(tmp_path / "real.libsvm")).rows)
    for rows in (X, compressed):
        model = KernelClassifier().fit(rows, y)
        assert_same_answers(model, model.to_onnx(), X, rows)
