"""Labels; feature names; weights; scores and probabilities; copies and files."""

import copy
import pickle
import warnings
from io import BytesIO

import joblib
import numpy as np
import pytest
from scipy.special import expit
from sklearn.base import clone
from sklearn.metrics import log_loss

from onkel import KernelClassifier, KernelRegressor, fogd, gaussian, ogd
from onkel.core.trees import same
from onkel.files.snapshot import SnapshotError
from tests.integrations.sklearn.common import (
    ESTIMATORS,
    IN_ORDER,
    N_FEATURES,
    N_ROWS,
    TARGETS,
    X,
    assert_same_model,
    circle,
    estimator_for,
    learned_in_pieces,
    thirds,
)


def test_predictions_are_labels_of_the_same_kind(labelled):
    y, model = labelled
    predicted = model.predict(X)
    assert model.classes_.tolist() == sorted(set(y.tolist()))
    assert predicted.dtype.kind in (y.dtype.kind, "U")  # objects that are text may become text
    assert np.mean(predicted == y) > 0.9


def test_labels_of_every_kind_come_in_pieces(labelled):
    y, whole = labelled
    pieces = learned_in_pieces(KernelClassifier(fogd(gamma=0.5)), y, 50, {"classes": np.unique(y)})
    assert_same_model(pieces, clone(whole).set_params(**IN_ORDER).fit(X, y))


def test_labels_of_every_kind_survive_a_file(labelled, tmp_path):
    y, model = labelled
    model.save(tmp_path / "model")
    loaded = KernelClassifier.load(tmp_path / "model")
    assert loaded.classes_.tolist() == model.classes_.tolist()
    assert loaded.classes_.dtype.kind in (model.classes_.dtype.kind, "U")
    assert_same_model(loaded, model)
    assert_same_model(loaded.partial_fit(X, y), model.partial_fit(X, y))


@pytest.mark.parametrize(
    ("classes", "strange", "shown"),
    [
        ([0, 1], 7, "7"),
        ([0, 1], -1, "-1"),
        ([0, 1, 2], 7, "7"),
        (["a", "b"], "c", "'c'"),
        (["a", "b"], "ab", "'ab'"),
        ([False, True], 2, "2"),
        ([0.0, 1.0], 0.5, "0.5"),
    ],
)
@pytest.mark.parametrize("how", ["progress", "partial_fit", "learn_one"])
def test_a_class_that_was_not_announced_is_refused(classes, strange, shown, how):
    model = KernelClassifier(fogd(gamma=1.0)).partial_fit(X[: len(classes)], classes, classes=classes)
    before = copy.deepcopy(model.online_.model)
    listed = ", ".join(map(repr, classes))
    with pytest.raises(ValueError) as caught:  # noqa: PT011 (the sentence is compared below)
        getattr(model, how)(*((X[0], strange) if how == "learn_one" else (X[:1], [strange])))
    assert str(caught.value) == f"The label {shown} is not among the classes {listed}."
    assert same(before, model.online_.model)


@pytest.mark.parametrize(("classes", "labels"), [([0, 1], ["a", "b"]), (["a", "b"], [0, 1])])
def test_labels_of_another_kind_than_the_classes_are_refused(classes, labels):
    model = KernelClassifier(fogd(gamma=1.0)).partial_fit(X[:2], classes, classes=classes)
    with pytest.raises(ValueError, match="is not among the classes"):
        model.partial_fit(X[:2], labels)


def test_many_classes_are_not_all_listed():
    model = KernelClassifier(fogd(gamma=1.0)).partial_fit(X[:1], [0], classes=range(30))
    with pytest.raises(ValueError, match=r"0, 1, 2, 3, 4, 5, 6, 7, 8, 9, \.\.\. \(30 in all\)\.$"):
        model.partial_fit(X[:1], [31])


@pytest.mark.parametrize("how", ["progress", "partial_fit"])
def test_the_first_piece_needs_all_classes(how):
    with pytest.raises(ValueError, match=r"^classes must be given in the first call: all labels that will ever come"):
        getattr(KernelClassifier(fogd(gamma=1.0)), how)(X, TARGETS["binary"])


def test_classes_may_be_repeated_but_not_changed():
    model = KernelClassifier(fogd(gamma=1.0)).partial_fit(X[:2], [0, 1], classes=[0, 1])
    model.partial_fit(X[:2], [0, 1], classes=[1, 0])
    with pytest.raises(ValueError, match=r"^classes is not the same as in the first call\.$"):
        model.partial_fit(X[:2], [0, 1], classes=[0, 1, 2])


@pytest.mark.parametrize("label", ["only", 0, 1, True])
@pytest.mark.parametrize("n_frequencies", [2, 50])  # so few frequencies that a similarity can be negative
def test_one_class_only_is_always_predicted(label, n_frequencies):
    y = np.full(N_ROWS, label)
    model = KernelClassifier(fogd(gamma=5.0, n_frequencies=n_frequencies))
    assert model.progress(X, y, classes=[label]).tolist() == y.tolist()
    assert model.fit(X, y).predict(X).tolist() == y.tolist()
    assert model.predict_proba(X).tolist() == [[1.0]] * N_ROWS


def test_fractions_are_not_classes():
    with pytest.raises(ValueError, match=r"Unknown label type: continuous"):
        KernelClassifier(fogd(gamma=1.0)).fit(X, TARGETS["regression"])


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("Estimator", ESTIMATORS)
def test_columns_are_found_by_their_names(Estimator, frame):
    model = Estimator(fogd(gamma=1.0)).fit(frame, TARGETS["binary"])
    other = copy.deepcopy(model)
    assert model.feature_names_in_.tolist() == ["age", "height", "weight"]
    turned = frame[["height", "weight", "age"]]
    assert np.array_equal(model.predict(turned), model.predict(frame))
    with pytest.warns(UserWarning, match=r"^Columns that the model has not learned are left out: 'id'\.$"):
        assert np.array_equal(model.predict(turned.assign(id=7.0)), model.predict(frame))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it was said once
        model.predict(turned.assign(id=7.0))
    sentence = r"^The column 'age' is missing; there are 'years', 'height', 'weight'\.$"
    for how in (model.partial_fit, model.progress):
        with pytest.raises(ValueError, match=sentence):
            how(frame.rename(columns={"age": "years"}), TARGETS["binary"])
    assert_same_model(model.partial_fit(turned, TARGETS["binary"]), other.partial_fit(frame, TARGETS["binary"]))


@pytest.mark.parametrize("Estimator", ESTIMATORS)
def test_rows_without_names_after_rows_with_names_are_warned_of(Estimator, frame):
    model = Estimator(fogd(gamma=1.0)).fit(frame, TARGETS["binary"])
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        predicted = model.predict(X)
    assert np.array_equal(predicted, model.predict(frame))


@pytest.mark.parametrize("Estimator", ESTIMATORS)
def test_rows_with_names_after_rows_without_names_are_warned_of(Estimator, frame):
    model = Estimator(fogd(gamma=1.0)).fit(X, TARGETS["binary"])
    with pytest.warns(UserWarning, match="X has feature names, but"):
        model.predict(frame)


@pytest.mark.parametrize("Estimator", ESTIMATORS)
def test_feature_names_survive_a_file(Estimator, frame, tmp_path):
    model = Estimator(fogd(gamma=1.0)).fit(frame, TARGETS["binary"])
    model.save(tmp_path / "model")
    loaded = Estimator.load(tmp_path / "model")
    assert loaded.feature_names_in_.tolist() == model.feature_names_in_.tolist()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array_equal(loaded.predict(frame), model.predict(frame))


@pytest.mark.parametrize("Estimator", ESTIMATORS)
def test_weights_of_one_change_nothing(Estimator):
    plain, weighted = (
        Estimator(fogd(gamma=0.5)).fit(X, TARGETS["binary"], sample_weight=weights) for weights in (None, np.ones(160))
    )
    assert_same_model(plain, weighted)


@pytest.mark.parametrize("Estimator", ESTIMATORS)
def test_rows_of_weight_zero_teach_nothing(Estimator):
    weights = np.arange(N_ROWS) % 2
    with_zeros = Estimator(fogd(gamma=0.5), **IN_ORDER).fit(X, TARGETS["binary"], sample_weight=weights)
    without = Estimator(fogd(gamma=0.5), **IN_ORDER).fit(X[1::2], TARGETS["binary"][1::2])
    assert np.array_equal(with_zeros.predict(X), without.predict(X))
    assert same(with_zeros.online_.model.weights, without.online_.model.weights)


def test_the_weight_is_the_length_of_the_step():
    scores = [
        KernelClassifier(fogd(gamma=0.5, eta=0.1)).partial_fit(X[:1], [1], [0, 1], [weight]).decision_function(X[:1])
        for weight in (1.0, 3.0)
    ]
    assert scores[1] == pytest.approx(3.0 * scores[0])


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        (np.ones(3), "sample_weight.shape"),
        (np.ones((N_ROWS, 1)), "must be 1D"),
        (-np.ones(N_ROWS), "Negative values in data"),
        (np.full(N_ROWS, np.nan), "NaN"),
        (np.full(N_ROWS, np.inf), "infinity"),
    ],
)
@pytest.mark.parametrize("Estimator", ESTIMATORS)
@pytest.mark.parametrize("how", ["fit", "partial_fit", "progress"])
def test_weights_that_do_not_fit_are_refused(Estimator, how, weights, sentence):
    model = Estimator(fogd(gamma=0.5)).fit(X, TARGETS["binary"])
    with pytest.raises(ValueError, match=sentence):
        getattr(model, how)(X, TARGETS["binary"], sample_weight=weights)


def test_two_classes_have_one_score_and_more_have_one_each():
    shapes = [
        KernelClassifier(fogd(gamma=0.5)).fit(X, TARGETS[task]).decision_function(X).shape
        for task in ("binary", "multiclass")
    ]
    assert shapes == [(N_ROWS,), (N_ROWS, 3)]


@pytest.mark.parametrize("task", ["binary", "multiclass"])
def test_the_prediction_is_the_class_with_the_largest_score_and_probability(learner, task):
    model = KernelClassifier(learner, epochs=2).fit(X, TARGETS[task])
    scores, chances = model.decision_function(X), model.predict_proba(X)
    largest = np.argmax(scores, axis=1) if task == "multiclass" else (scores > 0).astype(int)
    assert chances.shape == (N_ROWS, len(model.classes_))
    assert np.allclose(chances.sum(axis=1), 1.0, atol=1e-12)
    assert np.all((chances >= 0.0) & (chances <= 1.0))
    assert np.array_equal(model.predict(X), model.classes_[largest])
    assert np.array_equal(model.predict(X), model.classes_[np.argmax(chances, axis=1)])


def noisy(n, seed, n_classes):
    """Labels of which a fifth is wrong."""
    random = np.random.default_rng(seed)
    rows = random.standard_normal((n, N_FEATURES))
    labels = circle(rows) if n_classes == 2 else thirds(rows)
    return rows, np.where(random.random(n) < 0.2, random.integers(n_classes, size=n), labels)


def sigmoid_loss(truth, scores, slope=1.0):
    second = expit(slope * scores)
    return log_loss(truth, np.column_stack([1.0 - second, second]))


@pytest.mark.parametrize("learner", [fogd(gamma=0.5, eta=5.0), ogd(gamma=0.5), ogd(gamma=0.5, eta=2.0)], ids=repr)
def test_probabilities_are_better_than_the_sigmoid_of_the_score(learner):
    rows, labels = noisy(4000, 0, 2)
    asked, truth = noisy(2000, 1, 2)
    model = KernelClassifier(learner).fit(rows, labels)
    found, scores = log_loss(truth, model.predict_proba(asked)), model.decision_function(asked)
    assert found < sigmoid_loss(truth, scores)
    assert found < 1.02 * min(sigmoid_loss(truth, scores, slope) for slope in np.logspace(-2, 2, 101))


def test_probabilities_of_several_classes_are_better_than_the_softmax_of_the_scores():
    rows, labels = noisy(4000, 0, 3)
    asked, truth = noisy(2000, 1, 3)
    model = KernelClassifier(fogd(gamma=0.5)).fit(rows, labels)
    powers = np.exp(model.decision_function(asked))
    assert log_loss(truth, model.predict_proba(asked)) < log_loss(truth, powers / powers.sum(axis=1, keepdims=True))


def test_probabilities_are_finite_when_a_stream_is_never_wrong():
    easy, labels = np.repeat([[0.0], [9.0]], 500, axis=0), np.repeat([0, 1], 500)
    model = KernelClassifier(fogd(gamma=1.0, eta=100.0), epochs=20).fit(easy, labels)
    chances = model.predict_proba([[0.0], [9.0], [4.5]])
    assert np.isfinite(chances).all()
    assert chances[0, 0] > 0.99
    assert chances[1, 1] > 0.99


def copies(model, tmp_path):
    yield pickle.loads(pickle.dumps(model))
    yield copy.deepcopy(model)
    file = BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    yield joblib.load(file)
    joblib.dump(model, tmp_path / "mapped")
    yield joblib.load(tmp_path / "mapped", mmap_mode="r")
    model.save(tmp_path / "model")
    yield type(model).load(tmp_path / "model")


@pytest.mark.parametrize("task", TARGETS)
@pytest.mark.parametrize("n", [20, 130])
def test_a_copy_goes_on_exactly_like_the_original(learner, task, n, tmp_path):
    y = TARGETS[task]
    model = estimator_for(task, learner, random_state=3, **IN_ORDER).fit(X[:n], y[:n])
    model.learn_one(X[0], y[0])  # so that there is machine code bound to the model
    made = list(copies(model, tmp_path))
    model.partial_fit(X[n:], y[n:])
    for copied in made:
        assert copied.online_.rows_learned == n + 1
        assert_same_model(copied.partial_fit(X[n:], y[n:]), model)


def test_a_copy_learns_apart_from_the_original():
    model = KernelClassifier(fogd(gamma=0.5)).fit(X, TARGETS["binary"])
    before = model.decision_function(X)
    copy.deepcopy(model).partial_fit(X, TARGETS["binary"])
    assert np.array_equal(model.decision_function(X), before)


def test_a_file_holds_the_parameters_too(tmp_path):
    model = KernelClassifier(fogd(gamma=0.5, n_frequencies=9), dtype="float64", epochs=2, random_state=7)
    model.fit(X, TARGETS["binary"]).save(tmp_path / "model")
    loaded = KernelClassifier.load(tmp_path / "model")
    assert loaded.get_params() == model.get_params()
    assert loaded.n_features_in_ == N_FEATURES
    assert_same_model(clone(loaded).fit(X, TARGETS["binary"]), model)


@pytest.mark.parametrize("kernel", [gaussian(sigma=2.0), "laplacian", "cauchy"], ids=repr)
def test_a_kernel_survives_a_file(kernel, tmp_path):
    model = KernelRegressor(ogd(kernel=kernel)).fit(X, TARGETS["regression"])
    model.save(tmp_path / "model")
    assert_same_model(KernelRegressor.load(tmp_path / "model"), model)


def test_a_model_of_the_other_kind_is_refused(tmp_path):
    KernelRegressor(fogd(gamma=0.5)).fit(X, TARGETS["regression"]).save(tmp_path / "model")
    with pytest.raises(ValueError, match=r"model: this model is not a KernelClassifier but a KernelRegressor\.$"):
        KernelClassifier.load(tmp_path / "model")


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"hello"])
def test_a_file_that_is_no_model_is_refused(content, tmp_path):
    (tmp_path / "model").write_bytes(content)
    with pytest.raises(SnapshotError, match=r"model: this is not an onkel model, or it is damaged or cut off\.$"):
        KernelClassifier.load(tmp_path / "model")
