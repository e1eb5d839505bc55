"""river's pipelines and evaluations, and row by row the same as the scikit-learn face."""

import pickle

import numpy as np
import pandas as pd
import pytest
from river import compose, datasets, evaluate, linear_model, metrics, preprocessing, stats

from onkel import KernelClassifier as Classifier
from onkel import KernelRegressor as Regressor
from onkel.core.trees import same
from onkel.integrations.river import KernelClassifier, KernelRegressor
from onkel.recipes import bpa_p, fogd, make_learner
from tests.tables import RECIPE_TABLE, parameters, stream

NAMES = list("ecbda")
FOGD = fogd(n_frequencies=37, sigma=1.5)


def dicts(X):
    return [dict(zip(NAMES, row, strict=True)) for row in X.tolist()]


@pytest.mark.parametrize("name", [n for n, row in RECIPE_TABLE.items() if "multiclass" in row.parameters])
def test_a_classifier_is_that_of_the_scikit_learn_face_row_by_row(name):
    X, y = stream("multiclass")
    labels, learner = (
        np.array(["one", "two", "three"])[y.astype(int)],
        make_learner(name, **parameters(name, "multiclass")),
    )
    face, river = Classifier(learner, classes="grow"), KernelClassifier(learner)
    rows = X[:, np.argsort(NAMES)]  # the names of the first row stand in their alphabetical order
    before = face.progress(rows[:60], labels[:60])
    for x, label, expected in zip(dicts(X)[:60], labels[:60].tolist(), before.tolist(), strict=True):
        assert river.predict_one(x) in (expected, None)
        river.learn_one(x, label)
    assert same(river._model.online_.model, face.online_.model)
    for x, row in zip(dicts(X)[:20], rows, strict=False):
        found = river.predict_proba_one(x)
        assert list(found) == face.classes_.tolist()
        assert list(found.values()) == face.predict_proba(row[None])[0].tolist()


@pytest.mark.parametrize("name", [n for n, row in RECIPE_TABLE.items() if "regression" in row.parameters])
def test_a_regressor_is_that_of_the_scikit_learn_face_row_by_row(name):
    X, y = stream("regression")
    learner = make_learner(name, **parameters(name, "regression"))
    face, river = Regressor(learner), KernelRegressor(learner)
    rows = X[:, np.argsort(NAMES)]
    face.partial_fit(rows[:60], y[:60])
    for x, target in zip(dicts(X)[:60], y[:60].tolist(), strict=True):
        river.learn_one(x, target)
    assert same(river._model.online_.model, face.online_.model)
    assert [river.predict_one(x) for x in dicts(X)[:20]] == [face.predict(row[None])[0] for row in rows[:20]]


@pytest.mark.parametrize("name", [n for n, row in RECIPE_TABLE.items() if "multiclass" not in row.parameters])
def test_a_recipe_of_two_classes_is_that_of_the_scikit_learn_face_row_by_row(name):
    X, y = stream("binary")
    learner = make_learner(name, **parameters(name, "binary"))
    face, river, rows = Classifier(learner), KernelClassifier(learner), X[:, np.argsort(NAMES)]
    before = face.progress(rows[:60], y[:60] > 0.0, classes=[False, True]).tolist()
    before[0] = False  # nothing is known yet
    for x, label, expected in zip(dicts(X)[:60], (y[:60] > 0.0).tolist(), before, strict=True):
        assert river.predict_one(x) == expected
        river.learn_one(x, label)
    assert same(river._model.online_.model, face.online_.model)


@pytest.mark.parametrize("cut", [1, 9, 60])
@pytest.mark.parametrize("learner", [FOGD, bpa_p(budget=12, sigma=1.5)], ids=repr)
def test_tables_are_rows(learner, cut):
    X, y = stream("binary")
    table, labels = pd.DataFrame(X, columns=NAMES)[:60], pd.Series(y > 0.0)[:60]
    one, many = KernelClassifier(learner), KernelClassifier(learner)
    for x, label in zip(dicts(X)[:60], labels, strict=True):
        one.learn_one(x, label)
    for i in range(0, 60, cut):
        many.learn_many(table[i : i + cut], labels[i : i + cut])
    assert same(one._model.online_.model, many._model.online_.model)
    assert many.predict_many(table).tolist() == [one.predict_one(x) for x in dicts(X)[:60]]
    found = many.predict_proba_many(table)
    assert found.columns.tolist() == [False, True]
    assert found.index.equals(table.index)


def test_tables_whose_names_are_no_text_are_rows_too():
    X, y = stream("regression")
    model = KernelRegressor(FOGD)
    model.learn_many(pd.DataFrame(X), pd.Series(y))
    named = KernelRegressor(FOGD)
    named.learn_many(pd.DataFrame(X, columns=list("abcde")), pd.Series(y))
    assert same(model._model.online_.model, named._model.online_.model)
    assert model.predict_many(pd.DataFrame(X)).tolist() == [named.predict_one(x) for x in map(renamed, X)]


def renamed(row):
    return dict(zip("abcde", row.tolist(), strict=True))


@pytest.mark.parametrize("learner", [FOGD, bpa_p(sigma=1.5)], ids=repr)
def test_before_the_first_row_nothing_is_known(learner):
    model, two = KernelClassifier(learner), learner is not FOGD
    table = pd.DataFrame({"a": [1.0, 2.0]})
    assert model.predict_one({"a": 1.0}) is (False if two else None)
    assert model.predict_proba_one({"a": 1.0}) == ({False: 0.5, True: 0.5} if two else {})
    assert model.predict_many(table).tolist() == [False if two else None] * 2
    assert model.predict_proba_many(table).shape == (2, 2 if two else 0)
    assert KernelRegressor(FOGD).predict_one({"a": 1.0}) == 0.0
    assert KernelRegressor(FOGD).predict_many(table).tolist() == [0.0, 0.0]


def test_features_and_classes_come_and_go():
    model = KernelClassifier(FOGD)
    model.learn_one({}, "nothing")
    model.learn_one({"a": 1.0}, "a")
    model.learn_one({"b": 1.0, 7: 2.0}, "b")
    model.learn_one({"a": 1, "b": True}, "c")
    assert model._model.feature_names_in_.tolist() == ["a", "b", 7]
    assert list(model.predict_proba_one({"new": 1.0, "a": 1.0})) == ["a", "b", "c", "nothing"]
    assert model.predict_proba_one({"new": 1.0, "a": 1.0}) == model.predict_proba_one({"a": 1.0})


def test_missing_numbers_are_refused_or_stand_for_something():
    for value in (float("nan"), None):
        with pytest.raises(ValueError, match="NaN"):
            KernelRegressor(FOGD).learn_one({"a": value}, 1.0)
        for missing in ("zero", "mean"):
            model = KernelRegressor(FOGD, missing)
            model.learn_one({"a": value, "b": 2.0}, 1.0)
            assert np.isfinite(model.predict_one({"a": value}))
    with pytest.raises(ValueError, match="could not convert string to float: 'red'"):
        KernelRegressor(FOGD).learn_one({"a": "red"}, 1.0)


def test_a_label_beyond_two_classes_is_refused_where_a_recipe_knows_two():
    model = KernelClassifier(bpa_p(sigma=1.5))
    model.learn_one({"a": 1.0}, True)
    with pytest.raises(ValueError, match=r"^The label 'three' is not among the classes False, True\.$"):
        model.learn_one({"a": 1.0}, "three")


def test_learns_at_the_end_of_a_pipeline():
    model = (
        compose.Select("age_of_domain", "long_url", "https") | preprocessing.StandardScaler() | KernelClassifier(FOGD)
    )
    assert evaluate.progressive_val_score(datasets.Phishing().take(400), model, metrics.ROCAUC()).get() > 0.6
    union = compose.TransformerUnion(
        compose.SelectType(float), compose.SelectType(str) | preprocessing.OneHotEncoder()
    ) | KernelRegressor(FOGD)
    union.learn_one({"a": 1.0, "colour": "red"}, 1.0)
    union.learn_one({"a": 1.0, "colour": "green"}, 0.0)
    assert union["KernelRegressor"]._model.n_features_in_ == 3


def test_is_better_than_a_linear_model_in_progressive_validation():
    def accuracy(model):
        return evaluate.progressive_val_score(datasets.ImageSegments().take(1000), model, metrics.Accuracy()).get()

    linear = preprocessing.StandardScaler() | linear_model.SoftmaxRegression()
    assert accuracy(KernelClassifier(make_learner("auto", n_frequencies=64))) > accuracy(linear) + 0.05


def test_is_better_than_the_mean_in_progressive_validation():
    model, mean, of_mean = KernelRegressor(make_learner("auto", n_frequencies=64)), stats.Mean(), metrics.MAE()
    found = evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    for _, y in datasets.TrumpApproval():
        of_mean.update(y, mean.get())
        mean.update(y)
    assert found.get() < 0.5 * of_mean.get()


def test_a_learner_that_no_recipe_made_is_refused():
    with pytest.raises(TypeError, match=r"^learner must be made by a recipe, such as onkel\.auto\(\), not int\.$"):
        KernelClassifier(7)


def test_a_pickled_model_goes_on_bit_by_bit():
    X, y = stream("regression")
    model = KernelRegressor(FOGD, missing="mean")
    for x, target in zip(dicts(X)[:50], y, strict=False):
        model.learn_one(x, target)
    copied = pickle.loads(pickle.dumps(model))
    for one in (model, copied):
        for x, target in zip(dicts(X)[50:], y[50:], strict=True):
            one.learn_one(x, target)
    assert same(copied._model.online_.model, model._model.online_.model)


@pytest.mark.parametrize("kind", [KernelClassifier, KernelRegressor])
def test_memory_is_that_of_the_model_not_of_the_compiler(kind):
    model = kind(FOGD)
    for i, x in enumerate(dicts(np.random.default_rng(0).normal(size=(20, 5)))):
        model.learn_one(x, i % 2)
        model.predict_one(x)
    assert 37 * 2 * 4 < model._raw_memory_usage < 100_000
