"""The estimators as a user of scikit-learn meets them: conventions, streams in pieces, labels, files, bad input."""

import copy
import pickle
import warnings
from io import BytesIO

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csc_matrix, csr_array, csr_matrix
from scipy.special import expit
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from onkel import FeatureMapTransformer, KernelClassifier, KernelRegressor, fogd, gaussian, nogd, ogd, rks
from onkel.recipes import RECIPES
from onkel.snapshot import SnapshotError, same

ESTIMATORS = (KernelClassifier, KernelRegressor)
DRAWS = ("iid", "orthogonal", "sorf", "fastfood", "nystroem")
EVERY_RECIPE = sorted(RECIPES)
# A row with weight 2 is one long step, the same row twice are two short ones.
EXPECTED_FAILURES = dict.fromkeys(
    ["check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"],
    "an online learner makes one step per row",
)


def checked_estimators():
    """All recipes with their width rules, some with a given width; the chi2 kernel takes no negative numbers."""
    for Estimator in ESTIMATORS:
        yield from (Estimator(RECIPES[name]()) for name in EVERY_RECIPE)
        yield Estimator(fogd(gamma=0.5))
        yield Estimator(fogd(kernel="additive_chi2"))
        yield Estimator(ogd(kernel="additive_chi2"))
    for draw in DRAWS:
        yield FeatureMapTransformer(draw, n_frequencies=20)
    yield FeatureMapTransformer(kernel="additive_chi2")


def expected_failures(estimator):
    if isinstance(estimator, FeatureMapTransformer):
        return {}
    chi2 = "additive_chi2" in repr(estimator)
    return EXPECTED_FAILURES | ({"check_decision_proba_consistency": "its rows have negative numbers"} if chi2 else {})


@parametrize_with_checks(list(checked_estimators()), expected_failed_checks=expected_failures)
def test_keeps_the_rules_of_scikit_learn(estimator, check):
    check(estimator)


# ---- data ----


N_ROWS, N_FEATURES = 160, 3  # more rows than a width rule waits for


def rows(n=N_ROWS, seed=0):
    return np.random.default_rng(seed).standard_normal((n, N_FEATURES))


def circle(X):
    """Two classes that no line separates."""
    return (np.sum(X**2, axis=1) > N_FEATURES).astype(int)


def thirds(X):
    return np.digitize(np.sum(X**2, axis=1), [1.5, 3.5])


def wave(X):
    return np.sin(X[:, 0]) + 0.5 * X[:, 1]


X = rows()
TARGETS = {"binary": circle(X), "multiclass": thirds(X), "regression": wave(X)}


def estimator_for(task, learner, **more):
    return (KernelRegressor if task == "regression" else KernelClassifier)(learner, **more)


def classes_for(task):
    return {} if task == "regression" else {"classes": np.unique(TARGETS[task])}


def learned_in_pieces(model, y, cut, first):
    for start in range(0, len(y), cut):
        model.partial_fit(X[start : start + cut], y[start : start + cut], **(first if start == 0 else {}))
    return model


def assert_same_model(one, other):
    assert same(one.online_.model, other.online_.model)
    assert np.array_equal(one.predict(X), other.predict(X))
    if isinstance(one, KernelClassifier):
        assert same(one.calibration_, other.calibration_)
        assert np.array_equal(one.predict_proba(X), other.predict_proba(X))


EVERY_LEARNER = [(name, {}) for name in EVERY_RECIPE] + [
    (name, {"gamma": 0.5}) for name in ("fogd", "nogd", "ogd", "rks")
]


@pytest.fixture(params=EVERY_LEARNER, ids=lambda p: f"{p[0]}-{'given width' if p[1] else 'width rule'}")
def learner(request):
    name, params = request.param
    small = {"budget": 20} if name == "nogd" else {"batch": 10} if name == "rks" else {}
    return RECIPES[name](**params, **small)


# ---- parameters, pipelines, searches ----


def test_clone_copies_the_parameters_but_not_what_was_learned():
    model = KernelClassifier(fogd(n_frequencies=7, gamma=1.0), dtype="float64", epochs=2, random_state=5)
    model.fit(X, TARGETS["binary"])
    copied = clone(model)
    assert copied.get_params() == model.get_params()
    assert not hasattr(copied, "online_")
    assert copied.learner is not model.learner


def test_changing_the_learner_of_a_clone_leaves_the_original_alone():
    model = KernelClassifier(fogd(eta=0.5))
    clone(model).set_params(learner__eta=2.0)
    assert model.learner == fogd(eta=0.5)


def test_parameters_of_the_learner_are_parameters_of_the_estimator():
    model = KernelClassifier(fogd(eta=0.5)).set_params(learner__n_frequencies=9)
    assert model.get_params()["learner__n_frequencies"] == 9
    assert model.learner == fogd(eta=0.5, n_frequencies=9)


def test_an_unknown_parameter_of_the_learner_is_named():
    with pytest.raises(ValueError, match=r"^fogd has no parameter 'budget'; it has n_frequencies, "):
        KernelClassifier(fogd()).set_params(learner__budget=9)


def test_without_a_learner_it_is_fogd():
    plain, explicit = (KernelClassifier(learner).fit(X, TARGETS["binary"]) for learner in (None, fogd()))
    assert_same_model(plain, explicit)


@pytest.mark.parametrize("Estimator", ESTIMATORS)
def test_a_learner_that_no_recipe_made_is_refused(Estimator):
    with pytest.raises(TypeError, match=r"^learner must be made by a recipe, such as onkel\.fogd\(\), not str\.$"):
        Estimator("fogd").fit(X, TARGETS["binary"])


@pytest.mark.parametrize("dtype", ["float16", "int32", "abc", None])
def test_a_dtype_that_is_not_a_float_is_refused(dtype):
    with pytest.raises(ValueError, match=r"^dtype must be float32 or float64, not "):
        KernelClassifier(fogd(gamma=1.0), dtype=dtype).fit(X, TARGETS["binary"])


def test_learns_at_the_end_of_a_pipeline():
    stretched = X * [1.0, 1000.0, 0.001]
    model = make_pipeline(StandardScaler(), KernelClassifier(fogd(gamma=0.5), epochs=5))
    assert model.fit(stretched, TARGETS["binary"]).score(stretched, TARGETS["binary"]) > 0.9


def test_grid_search_reaches_into_the_learner():
    grid = {"learner__n_frequencies": [1, 100], "learner__eta": [1e-9, 0.8]}
    search = GridSearchCV(KernelClassifier(fogd(gamma=0.5), epochs=5), grid, cv=3).fit(X, TARGETS["binary"])
    assert search.best_params_["learner__n_frequencies"] == 100
    assert search.best_estimator_.learner == fogd(gamma=0.5, **strip(search.best_params_))


def strip(params):
    return {name.removeprefix("learner__"): value for name, value in params.items()}


@pytest.mark.parametrize("make", [csr_matrix, csr_array, csc_matrix])
def test_cross_validation_takes_compressed_rows(make):
    model = KernelClassifier(fogd(gamma=0.5), epochs=5)
    sparse, dense = (cross_val_score(model, rows, TARGETS["binary"], cv=3) for rows in (make(X), X))
    assert np.array_equal(sparse, dense)
    assert np.mean(sparse) > 0.8


# ---- streams ----


@pytest.mark.parametrize("task", TARGETS)
@pytest.mark.parametrize("cut", [1, 7, 110])
def test_learning_in_pieces_is_fitting_once(learner, task, cut):
    y = TARGETS[task]
    whole = estimator_for(task, learner).fit(X, y)
    pieces = learned_in_pieces(estimator_for(task, learner), y, cut, classes_for(task))
    assert_same_model(whole, pieces)


@pytest.mark.parametrize("task", TARGETS)
def test_progress_returns_what_predict_would_have_said_before_each_row(learner, task):
    y, first = TARGETS[task], classes_for(task)
    watched, stepped = estimator_for(task, learner), estimator_for(task, learner)
    progress = np.concatenate([watched.progress(X[:20], y[:20], **first), watched.progress(X[20:], y[20:])])
    said = []
    for i in range(N_ROWS):
        if i:
            said.append(stepped.predict(X[i : i + 1])[0])
        stepped.partial_fit(X[i : i + 1], y[i : i + 1], **(first if i == 0 else {}))
    assert np.array_equal(progress[1:], said)
    assert_same_model(watched, stepped)


def test_progress_before_anything_is_known_is_the_first_class():
    model = KernelClassifier(fogd(gamma=1.0))
    assert model.progress(X[:1], ["b"], classes=["b", "a"]).tolist() == ["a"]


@pytest.mark.parametrize("task", TARGETS)
def test_learning_one_row_at_a_time_is_learning_a_block(learner, task):
    y, first = TARGETS[task], classes_for(task)
    block, singly = estimator_for(task, learner), estimator_for(task, learner)
    for model in (block, singly):
        model.partial_fit(X[:1], y[:1], **first)
    block.partial_fit(X[1:], y[1:])
    for x, label in zip(X[1:], y[1:], strict=True):
        singly.learn_one(x, label)
    assert_same_model(block, singly)


def test_learning_one_row_returns_its_scores_from_before():
    model = KernelClassifier(fogd(gamma=1.0)).fit(X, TARGETS["multiclass"])
    before = model.decision_function(X[:1])[0]
    assert np.allclose(model.learn_one(X[0], 2), before, rtol=1e-6)
    assert not np.allclose(model.decision_function(X[:1])[0], before)


@pytest.mark.parametrize("task", TARGETS)
def test_predicting_changes_nothing(learner, task):
    model = estimator_for(task, learner)
    for n in (20, N_ROWS):
        model.fit(X[:n], TARGETS[task][:n])
        before = copy.deepcopy(model.online_.model)
        model.predict(X)
        if task != "regression":
            model.decision_function(X)
            model.predict_proba(X)
        assert same(before, model.online_.model)


@pytest.mark.parametrize("task", TARGETS)
def test_compressed_rows_are_learned_like_dense_ones(task):
    thin = np.where(np.abs(X) > 0.5, X, 0.0)
    dense, sparse = (estimator_for(task, fogd(gamma=0.5)).fit(rows, TARGETS[task]) for rows in (thin, csr_matrix(thin)))
    assert_same_model(dense, sparse)


@pytest.mark.parametrize("layouts", [(np.asarray, csr_matrix), (csr_matrix, np.asarray)], ids=["dense", "compressed"])
@pytest.mark.parametrize("gamma", ["scale", 0.5])
def test_the_layout_of_rows_may_change_in_the_middle_of_a_stream(layouts, gamma):
    y = TARGETS["binary"]
    mixed, plain = KernelClassifier(fogd(gamma=gamma)), KernelClassifier(fogd(gamma=gamma))
    for start, stop, layout in ((0, 10, layouts[0]), (10, 100, layouts[1]), (100, N_ROWS, layouts[0])):
        mixed.partial_fit(layout(X[start:stop]), y[start:stop], classes=[0, 1])
        plain.partial_fit(X[start:stop], y[start:stop], classes=[0, 1])
    assert np.allclose(mixed.decision_function(X), plain.decision_function(X), atol=1e-4)


@pytest.mark.parametrize("Estimator", ESTIMATORS)
def test_epochs_are_passes_over_the_same_rows(Estimator):
    y = TARGETS["binary"]
    thrice, once = (Estimator(fogd(gamma=0.5), epochs=n).fit(X, y) for n in (3, 1))
    once.partial_fit(X, y).partial_fit(X, y)
    assert_same_model(thrice, once)


@pytest.mark.parametrize("Estimator", ESTIMATORS)
@pytest.mark.parametrize("epochs", [0, -1, 1.5, "two", None])
def test_epochs_must_be_a_positive_whole_number(Estimator, epochs):
    with pytest.raises(ValueError, match=r"^epochs must be a positive whole number, not "):
        Estimator(fogd(gamma=0.5), epochs=epochs).fit(X, TARGETS["binary"])


@pytest.mark.parametrize("Estimator", ESTIMATORS)
def test_fit_forgets_what_was_learned_before(Estimator):
    other = rows(seed=1)
    model = Estimator(fogd(gamma=0.5)).fit(other, thirds(other)).fit(X, TARGETS["binary"])
    assert_same_model(model, Estimator(fogd(gamma=0.5)).fit(X, TARGETS["binary"]))


# ---- randomness ----


def decisions(random_state):
    return KernelClassifier(fogd(gamma=0.5), random_state=random_state).fit(X, TARGETS["binary"]).decision_function(X)


@pytest.mark.parametrize("make", [lambda: 3, lambda: np.int64(3), lambda: np.random.RandomState(3)])
def test_the_same_seed_gives_the_same_model(make):
    assert np.array_equal(decisions(make()), decisions(make()))


def test_other_seeds_give_other_models():
    assert not np.array_equal(decisions(3), decisions(4))


def test_no_seed_gives_another_model_each_time():
    assert not np.array_equal(decisions(None), decisions(None))


def test_a_random_state_that_is_used_again_has_moved_on():
    state = np.random.RandomState(3)
    assert not np.array_equal(decisions(state), decisions(state))


def test_a_random_state_that_is_none_is_refused():
    with pytest.raises(ValueError, match="cannot be used to seed"):
        decisions("abc")


# ---- labels ----


LABELS = {
    "text": ["no", "yes"],
    "long and short text": ["a", "a longer one", "ab"],
    "text objects": np.array(["no", "yes"], object),
    "booleans": [False, True],
    "negative numbers": [-7, -3],
    "three numbers": [-5, 0, 40],
    "small integers": np.array([1, 2, 3], np.int8),
    "bytes of integers": np.array([0, 255], np.uint8),
    "short integers": np.array([-300, 300], np.int16),
    "unsigned integers": np.array([0, 4_000_000_000], np.uint32),
    "whole floats": [0.0, 1.0],
    "single precision floats": np.array([-1.0, 1.0], np.float32),
}


@pytest.fixture(params=LABELS)
def labelled(request):
    """Labels of one kind and the classifier that learned them."""
    classes = np.asarray(LABELS[request.param])
    y = classes[(circle(X) if len(classes) == 2 else thirds(X))]
    return y, KernelClassifier(fogd(gamma=0.5), epochs=5).fit(X, y)


def test_predictions_are_labels_of_the_same_kind(labelled):
    y, model = labelled
    predicted = model.predict(X)
    assert model.classes_.tolist() == sorted(set(y.tolist()))
    assert predicted.dtype.kind in (y.dtype.kind, "U")  # objects that are text may become text
    assert np.mean(predicted == y) > 0.9


def test_labels_of_every_kind_come_in_pieces(labelled):
    y, whole = labelled
    pieces = learned_in_pieces(KernelClassifier(fogd(gamma=0.5)), y, 50, {"classes": np.unique(y)})
    assert_same_model(pieces, clone(whole).set_params(epochs=1).fit(X, y))


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


# ---- feature names ----


@pytest.fixture
def frame():
    return pd.DataFrame(X, columns=["age", "height", "weight"])


@pytest.mark.parametrize("Estimator", ESTIMATORS)
def test_feature_names_are_remembered_and_compared(Estimator, frame):
    model = Estimator(fogd(gamma=1.0)).fit(frame, TARGETS["binary"])
    assert model.feature_names_in_.tolist() == ["age", "height", "weight"]
    with pytest.raises(ValueError, match="The feature names should match those that were passed during fit"):
        model.predict(frame[["height", "age", "weight"]])
    with pytest.raises(ValueError, match="The feature names should match those that were passed during fit"):
        model.partial_fit(frame.rename(columns={"age": "years"}), TARGETS["binary"])


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


# ---- weights ----


@pytest.mark.parametrize("Estimator", ESTIMATORS)
def test_weights_of_one_change_nothing(Estimator):
    plain, weighted = (
        Estimator(fogd(gamma=0.5)).fit(X, TARGETS["binary"], sample_weight=weights) for weights in (None, np.ones(160))
    )
    assert_same_model(plain, weighted)


@pytest.mark.parametrize("Estimator", ESTIMATORS)
def test_rows_of_weight_zero_teach_nothing(Estimator):
    weights = np.arange(N_ROWS) % 2
    with_zeros = Estimator(fogd(gamma=0.5)).fit(X, TARGETS["binary"], sample_weight=weights)
    without = Estimator(fogd(gamma=0.5)).fit(X[1::2], TARGETS["binary"][1::2])
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


# ---- scores and probabilities ----


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


# ---- copies and files ----


def copies(model, tmp_path):
    yield pickle.loads(pickle.dumps(model))
    yield copy.deepcopy(model)
    file = BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    yield joblib.load(file)
    model.save(tmp_path / "model")
    yield type(model).load(tmp_path / "model")


@pytest.mark.parametrize("task", TARGETS)
@pytest.mark.parametrize("n", [20, 130])
def test_a_copy_goes_on_exactly_like_the_original(learner, task, n, tmp_path):
    y = TARGETS[task]
    model = estimator_for(task, learner, random_state=3).fit(X[:n], y[:n])
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


# ---- bad input ----


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


def spoilt(value):
    bad = X.copy()
    bad[5, 1] = value
    return bad


FINITE_ROWS = {
    "NaN": (spoilt(np.nan), "NaN"),
    "infinity": (spoilt(np.inf), "infinity|NaN or too large"),
    "no rows": (np.ones((0, N_FEATURES)), "Found array with 0 sample"),
    "beyond float32": (spoilt(1e39), "within the range of float32"),
}
BAD_ROWS = {
    **FINITE_ROWS,
    "one dimension": (np.ones(N_FEATURES), "Expected 2D array, got 1D array instead"),
    "three dimensions": (np.ones((2, 2, 2)), "dim 3"),
    "text": (np.full((N_ROWS, N_FEATURES), "a"), "could not convert string to float|dtype"),
    "complex": (np.ones((N_ROWS, N_FEATURES), complex), "Complex data not supported"),
    "lists of other lengths": ([[1.0, 2.0, 3.0], [1.0]], "inhomogeneous"),
    **{f"{kind}, compressed": (csr_matrix(bad), sentence) for kind, (bad, sentence) in FINITE_ROWS.items()},
    **{f"{kind}, a list": (bad.tolist(), sentence) for kind, (bad, sentence) in FINITE_ROWS.items() if len(bad)},
}
OTHER_WIDTHS = {
    f"{layout} {width}": (make(np.ones((N_ROWS, width))), f"has {width} features?, but .* is expecting 3|of width 3")
    for layout, make in (("dense", np.asarray), ("compressed", csr_matrix), ("list", np.ndarray.tolist))
    for width in (1, 2, 4)
}


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
    assert_same_model(model, Estimator(fogd(gamma=1.0)).fit(X, TARGETS["binary"]))


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


# ---- the feature map as a transformer ----


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
