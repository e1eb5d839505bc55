"""Bad input; the feature map as a transformer."""

import copy

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from onkel import FeatureMapTransformer, KernelClassifier, KernelRegressor, fogd, nogd, ogd, rks
from onkel.core.trees import same
from tests.integrations.sklearn.common import (
    BAD_ROWS,
    DRAWS,
    ESTIMATORS,
    N_ROWS,
    OTHER_WIDTHS,
    TARGETS,
    X,
    assert_same_model,
    spoilt,
)


@pytest.mark.parametrize("Estimator", ESTIMATORS)
@pytest.mark.parametrize(
    "ask",
    [
        lambda model: model.predict(X),
        lambda model: model.learn_one(X[0], 1),
        lambda model: model.save("nowhere"),
        lambda model: model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X),
        lambda model: model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X),
    ],
)
def test_a_model_that_has_learned_nothing_says_so(Estimator, ask):
    with pytest.raises(NotFittedError, match="is not fitted yet"):
        ask(Estimator(fogd(gamma=1.0)))


def labels_for(rows):
    n = rows.shape[0] if hasattr(rows, "shape") else len(rows)
    return np.resize([0, 1], n)


@pytest.mark.filterwarnings("ignore:overflow encountered in cast")  # has a test of its own below
@pytest.mark.parametrize("kind", BAD_ROWS)
@pytest.mark.parametrize("Estimator", ESTIMATORS)
def test_rows_that_are_no_rows_are_refused(Estimator, kind):
    bad, sentence = BAD_ROWS[kind]
    with pytest.raises(ValueError, match=sentence):
        Estimator(fogd(gamma=1.0)).fit(bad, labels_for(bad))


@pytest.mark.filterwarnings("ignore:overflow encountered in cast")
@pytest.mark.parametrize("kind", BAD_ROWS | OTHER_WIDTHS)
@pytest.mark.parametrize("Estimator", ESTIMATORS)
@pytest.mark.parametrize("how", ["partial_fit", "progress", "predict"])
def test_rows_that_do_not_fit_are_refused_and_change_nothing(Estimator, how, kind):
    bad, sentence = (BAD_ROWS | OTHER_WIDTHS)[kind]
    model = Estimator(fogd(gamma=1.0)).fit(X, TARGETS["binary"])
    before = copy.deepcopy(model.online_.model)
    with pytest.raises(ValueError, match=sentence):
        getattr(model, how)(*((bad,) if how == "predict" else (bad, labels_for(bad))))
    assert same(before, model.online_.model)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("make", [np.asarray, csr_matrix])
def test_numbers_beyond_the_type_are_refused_in_one_sentence_without_a_warning(make):
    with pytest.raises(ValueError, match=r"^Rows must be finite numbers within the range of float32; one is "):
        KernelClassifier(fogd(gamma=1.0)).fit(make(spoilt(1e39)), TARGETS["binary"])
    with pytest.warns(RuntimeWarning, match="A row has a number beyond"):  # and no other one, of NumPy's
        model = KernelClassifier(fogd(gamma=1.0), dtype="float64").fit(make(spoilt(1e39)), TARGETS["binary"])
    assert np.isfinite(model.decision_function(make(spoilt(1e39)))).all()


@pytest.mark.parametrize(
    ("x", "sentence"),
    [
        ([np.nan, 0.0, 0.0], "finite"),
        ([np.inf, 0.0, 0.0], "finite"),
        ([1e39, 0.0, 0.0], "finite"),
        ([1.0, 2.0], "width|features|numbers|shape"),
        ([1.0, 2.0, 3.0, 4.0], "width|features|numbers|shape"),
        ([1.0], "width|features|numbers|shape"),
        ([], "width|features|numbers|shape"),
        (["a", "b", "c"], "could not convert|numbers"),
    ],
)
@pytest.mark.filterwarnings("ignore:overflow encountered in cast")
@pytest.mark.parametrize("Estimator", ESTIMATORS)
@pytest.mark.parametrize("n", [20, N_ROWS], ids=["waiting for a width", "settled"])
def test_learning_one_row_refuses_what_is_no_row(Estimator, n, x, sentence):
    model = Estimator(fogd()).fit(X[:n], TARGETS["binary"][:n])
    before = copy.deepcopy(model.online_.model)
    with pytest.raises(ValueError, match=sentence):
        model.learn_one(x, 1)
    assert same(before, model.online_.model)


@pytest.mark.parametrize("target", [np.nan, np.inf, "a", None])
def test_learning_one_row_refuses_a_target_that_is_no_number(target):
    model = KernelRegressor(fogd(gamma=1.0)).fit(X, TARGETS["regression"])
    with pytest.raises((ValueError, TypeError), match=r"finite|float"):
        model.learn_one(X[0], target)


@pytest.mark.parametrize("how", ["fit", "partial_fit", "progress"])
@pytest.mark.parametrize("Estimator", ESTIMATORS)
@pytest.mark.parametrize(
    ("y", "sentence"),
    [
        (TARGETS["binary"][:-1], "inconsistent numbers of samples|160 rows need 160 targets"),
        (np.full(N_ROWS, np.nan), "NaN|nan|finite"),
        (np.full(N_ROWS, np.inf), "infinity|finite|not among the classes"),
        (np.ones((N_ROWS, 2)), "1d array|1-d|targets|multioutput|Unknown label"),
    ],
)
def test_labels_that_do_not_fit_are_refused(Estimator, how, y, sentence):
    model = Estimator(fogd(gamma=1.0)).fit(X, TARGETS["binary"])
    with pytest.raises(ValueError, match=sentence):
        getattr(model, how)(X, y)


@pytest.mark.parametrize("Estimator", ESTIMATORS)
def test_a_first_piece_that_is_refused_can_be_tried_again(Estimator):
    first = {} if Estimator is KernelRegressor else {"classes": [0, 1]}
    model = Estimator(fogd(gamma=1.0))
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(spoilt(np.nan), TARGETS["binary"], **first)
    model.partial_fit(X, TARGETS["binary"], **first)
    assert_same_model(model, Estimator(fogd(gamma=1.0), shuffle=False, epochs=1).fit(X, TARGETS["binary"]))


BAD_PARAMETERS = [
    (fogd, {"n_frequencies": 0}, "n_frequencies must be a positive whole number, not 0."),
    (fogd, {"n_frequencies": 2.5}, "n_frequencies must be a positive whole number, not 2.5."),
    (fogd, {"n_frequencies": "many"}, "n_frequencies must be a positive whole number, not 'many'."),
    (fogd, {"n_frequencies": None}, "n_frequencies must be a positive whole number, not None."),
    (fogd, {"eta": -1}, "eta must be a positive number, not -1."),
    (fogd, {"eta": np.nan}, "eta must be a positive number, not nan."),
    (fogd, {"lam": -1}, "lam must be at least 0 and below 1 / eta, not -1."),
    (fogd, {"epsilon": -1}, "epsilon must be at least 0, not -1."),
    (fogd, {"epsilon": "small"}, "epsilon must be at least 0, not 'small'."),
    (fogd, {"sigma": 0}, "sigma must be a positive number, not 0."),
    (fogd, {"sigma": "wide"}, "sigma must be a positive number, not 'wide'."),
    (fogd, {"gamma": "auto"}, "gamma must be a number or one of scale, median, not 'auto'."),
    (fogd, {"gamma": 1.0, "sigma": 1.0}, "Give gamma or sigma, not both."),
    (fogd, {"loss": "foo"}, "loss for classification must be one of hinge, logistic, softmax, not 'foo'."),
    (fogd, {"loss": "squared"}, "loss for classification must be one of hinge, logistic, softmax, not 'squared'."),
    (fogd, {"kernel": "linear"}, "Random features need a gaussian, laplacian, cauchy or additive_chi2 kernel."),
    (fogd, {"draw": "foo"}, "draw must be one of iid, orthogonal, sorf, fastfood, not 'foo'."),
    (nogd, {"budget": "many"}, "budget must be a positive whole number, not 'many'."),
    (nogd, {"rank": -1}, "rank must be a positive whole number, not -1."),
    (rks, {"batch": 0}, "batch must be a positive whole number, not 0."),
]


@pytest.mark.parametrize(("make", "params", "sentence"), BAD_PARAMETERS)
def test_a_bad_parameter_is_named_at_the_first_rows(make, params, sentence):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 (the sentence is compared below)
        KernelClassifier(make(**params)).fit(X[:5], TARGETS["binary"][:5])
    assert str(caught.value) == sentence


@pytest.mark.parametrize("draw", DRAWS)
def test_inner_products_of_features_come_close_to_the_kernel(draw):
    wide = np.random.default_rng(0).standard_normal((50, 32))  # sorf has too few directions in few dimensions
    made = FeatureMapTransformer(draw, n_frequencies=4096, gamma=0.02).fit(wide)
    Z = made.transform(wide)
    exact = np.exp(-0.02 * np.sum((wide[:, None] - wide[None]) ** 2, axis=2))
    assert np.allclose(Z @ Z.T, exact, atol=0.1)
    assert Z.shape[1] == len(made.get_feature_names_out())


@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_features_do_not_depend_on_the_layout_of_the_rows(draw, dtype):
    made = FeatureMapTransformer(draw, n_frequencies=20, dtype=dtype).fit(X)
    dense, sparse = made.transform(X), made.transform(csr_matrix(X))
    assert np.array_equal(dense, sparse)
    assert dense.dtype == dtype


def test_a_rank_bounds_the_features_of_landmarks():
    assert FeatureMapTransformer("nystroem", n_frequencies=30, rank=5).fit_transform(X).shape == (N_ROWS, 5)


def test_features_feed_a_linear_model_in_a_pipeline():
    model = make_pipeline(FeatureMapTransformer(n_frequencies=100, gamma=0.5), LogisticRegression())
    assert model.fit(X, TARGETS["binary"]).score(X, TARGETS["binary"]) > 0.9


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"draw": "foo"}, "draw must be one of iid, orthogonal, sorf, fastfood, nystroem, not 'foo'."),
        ({"n_frequencies": 0}, "n_frequencies must be a positive whole number, not 0."),
        ({"kernel": "foo"}, "kernel must be one of gaussian, laplacian, cauchy, polynomial, linear, additive_chi2, "),
        ({"kernel": "linear"}, "Random features need a gaussian, laplacian, cauchy or additive_chi2 kernel."),
        ({"gamma": -1}, "gamma must be a positive number, not -1."),
        ({"sigma": "wide"}, "sigma must be a positive number, not 'wide'."),
        ({"dtype": "int8"}, "dtype must be float32 or float64, not 'int8'."),
        ({"draw": "nystroem", "rank": -1}, "rank must be a positive whole number, not -1."),
    ],
)
def test_a_bad_parameter_of_the_map_is_named(params, sentence):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 (the sentence is compared below)
        FeatureMapTransformer(**params).fit(X)
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize(
    "make",
    [
        lambda: FeatureMapTransformer(kernel="additive_chi2"),
        lambda: FeatureMapTransformer("nystroem", kernel="additive_chi2"),
        *(lambda E=E, r=r: E(r(kernel="additive_chi2")) for E in ESTIMATORS for r in (fogd, ogd)),
    ],
)
def test_the_chi2_kernel_refuses_negative_numbers_from_the_first_row_to_the_last(make):
    positive, y = np.abs(X), TARGETS["binary"]
    model = make()
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        model.fit(X, y)
    model.fit(positive, y)
    ask = model.transform if isinstance(model, FeatureMapTransformer) else model.predict
    assert np.isfinite(ask(positive)).all()
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        ask(X)


NO_TARGETS = {"text": "one", "nothing": None, "a row": np.ones(2), "nan": np.nan, "inf": np.inf, "endless": 10**400}
OUTPUTS = {"binary": 1, "multiclass": 2, "regression": 1}
REFUSED = [(task, name, target) for task in OUTPUTS for name, target in NO_TARGETS.items()]
REFUSED += [
    ("binary", "between", 0.5),
    ("multiclass", "between", 0.5),
    ("binary", "other", 0),
    ("multiclass", "other", 2),
]


@pytest.mark.parametrize(("task", "target"), [pytest.param(t, y, id=f"{t}-{name}") for t, name, y in REFUSED])
def test_a_target_that_is_none_is_refused_and_nothing_is_learned(task, target):
    online = fogd(gamma=0.5).start(2, task, OUTPUTS[task])
    online.learn_one(np.ones(2), 1.0)
    before = copy.deepcopy(online.model)
    for row in (np.zeros(2), [0.0, 0.0]):  # that machine code takes, and that it does not
        with pytest.raises(ValueError, match=r"^A target must be .+\.$"):
            online.learn_one(row, target)
    assert same(online.model, before)
