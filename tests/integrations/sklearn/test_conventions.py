"""Data; parameters, pipelines, searches; streams; randomness."""

import copy

import numpy as np
import pytest
from scipy.sparse import csc_matrix, csr_array, csr_matrix
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from onkel import (
    FeatureMapTransformer,
    IsolationTransformer,
    KernelClassifier,
    KernelRegressor,
    auto,
    bpa_p,
    fogd,
    ogd,
    one_vs_rest,
)
from onkel.core.trees import same
from onkel.recipes import RECIPES
from tests.integrations.sklearn.common import (
    DRAWS,
    ESTIMATORS,
    EVERY_RECIPE,
    IN_ORDER,
    N_ROWS,
    TARGETS,
    X,
    assert_same_model,
    estimator_for,
    fits,
    learned_in_pieces,
    rows,
    thirds,
)

# A row with weight 2 is one long step, the same row twice are two short ones.
EXPECTED_FAILURES = dict.fromkeys(
    ["check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"],
    "an online learner makes one step per row",
)


# Of rows that lie dozens of units apart, half are to be answered by those of class 0 alone, whose weight is 1000.
NARROW = "its kernels are meant for rows within [0, 1], so that no answer reaches as far as the next row"
WEIGHED = {
    "raker": NARROW,
    "ada_raker": NARROW,
    "omkl": NARROW,
    "omkr": "steps of squared errors a thousand times as long diverge",
    "bkm": "a step per 200 rows, and the check has 50",
    "fkl": "three passes over the 50 rows of the check follow single rows too closely; in one pass it keeps the rule",
    "omkc": "a vote of kernels, most of them so narrow that no answer reaches as far as the next row",
    "ik_ogd": "a cell per row, and that of class 1 answers for all that is nearest to it",
    "fogd(gamma=0.5)": "a kernel so narrow that no answer reaches as far as the next row",
}


def checked_estimators():
    """All recipes with their width rules, some with a given width; the chi2 kernel takes no negative numbers."""
    for Estimator in ESTIMATORS:
        task = "regression" if Estimator is KernelRegressor else "binary"
        yield from (Estimator(RECIPES[name]()) for name in EVERY_RECIPE if fits(RECIPES[name](), task))
        yield Estimator(fogd(gamma=0.5))
        yield Estimator(fogd(kernel="additive_chi2"))
        yield Estimator(ogd(kernel="additive_chi2", eta=0.1))  # longer steps leave too much to the order of the rows
    for draw in DRAWS:
        yield FeatureMapTransformer(draw, n_frequencies=20)
    yield FeatureMapTransformer(kernel="additive_chi2")
    yield FeatureMapTransformer("nystroem", n_frequencies=5, landmarks="kmeans")
    yield IsolationTransformer(t=10, psi=4)
    yield IsolationTransformer("trees", t=10, psi=4)


def expected_failures(estimator):
    if isinstance(estimator, FeatureMapTransformer | IsolationTransformer):
        return {}
    more = {}
    if "additive_chi2" in repr(estimator):
        more = dict.fromkeys(
            ["check_decision_proba_consistency", "check_class_weight_classifiers"], "its rows have negative numbers"
        )
    weighed = {
        f"KernelClassifier(learner={name if '(' in name else f'{name}()'})": why for name, why in WEIGHED.items()
    }
    if repr(estimator) in weighed:
        more["check_class_weight_classifiers"] = weighed[repr(estimator)]
    return EXPECTED_FAILURES | more


@parametrize_with_checks(list(checked_estimators()), expected_failed_checks=expected_failures)
def test_keeps_the_rules_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    ("Estimator", "task", "sentence"),
    [
        (KernelClassifier, "multiclass", r"^Only binary classification is supported\..*one_vs_rest\(bpa_p\(\)\)"),
        (KernelRegressor, "regression", r"^bpa_p learns classes, not numbers\.$"),
    ],
)
def test_a_task_that_a_recipe_is_not_made_for_is_refused(Estimator, task, sentence):
    with pytest.raises(ValueError, match=sentence):
        Estimator(bpa_p()).fit(X, TARGETS[task])


def test_one_vs_rest_makes_several_classes_of_two():
    model = KernelClassifier(one_vs_rest(bpa_p(budget=30, gamma=0.5)), epochs=3).fit(X, TARGETS["multiclass"])
    assert model.score(X, TARGETS["multiclass"]) > 0.8
    assert model.decision_function(X).shape == (N_ROWS, 3)


def classes_for(task):
    return {} if task == "regression" else {"classes": np.unique(TARGETS[task])}


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


def test_without_a_learner_it_is_auto():
    plain, explicit = (KernelClassifier(learner).fit(X, TARGETS["binary"]) for learner in (None, auto()))
    assert_same_model(plain, explicit)


@pytest.mark.parametrize("Estimator", ESTIMATORS)
def test_a_learner_that_no_recipe_made_is_refused(Estimator):
    with pytest.raises(TypeError, match=r"^learner must be made by a recipe, such as onkel\.auto\(\), not int\.$"):
        Estimator(7).fit(X, TARGETS["binary"])
    with pytest.raises(ValueError, match=r"^There is no learner 'nothing'; there are ada_raker, auto, "):
        Estimator("nothing").fit(X, TARGETS["binary"])


@pytest.mark.parametrize("Estimator", ESTIMATORS)
def test_a_learner_may_be_called_by_its_name(Estimator):
    named, made = (Estimator(learner).fit(X, TARGETS["binary"]) for learner in ("fogd", fogd()))
    assert_same_model(named, made)


@pytest.mark.parametrize("learner", [None, "auto", auto()], ids=repr)
@pytest.mark.parametrize("Estimator", ESTIMATORS)
def test_grid_search_reaches_into_the_default_learner(Estimator, learner):
    grid = {"learner__n_frequencies": [2, 12], "epochs": [2]}
    search = GridSearchCV(Estimator(learner), grid, cv=2).fit(X, TARGETS["binary"])
    assert search.best_estimator_.learner == auto(n_frequencies=search.best_params_["learner__n_frequencies"])
    assert search.best_estimator_.get_params()["learner__n_frequencies"] in (2, 12)
    assert Estimator(learner).get_params()["learner__n_frequencies"] == auto().get_params()["n_frequencies"]


@pytest.mark.parametrize("Estimator", ESTIMATORS)
def test_a_parameter_of_the_default_learner_leaves_the_default_alone(Estimator):
    model = Estimator().set_params(learner__n_frequencies=5)
    assert model.learner == auto(n_frequencies=5)
    assert Estimator().learner is None
    assert Estimator("fogd").set_params(learner__eta=0.5).learner == fogd(eta=0.5)


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


@pytest.mark.parametrize("task", TARGETS)
@pytest.mark.parametrize("cut", [1, 7, 110])
def test_learning_in_pieces_is_fitting_once(learner, task, cut):
    y = TARGETS[task]
    whole = estimator_for(task, learner, **IN_ORDER).fit(X, y)
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


@pytest.mark.parametrize("task", TARGETS)
def test_predicting_one_row_at_a_time_is_predicting_a_block(learner, task):
    model = estimator_for(task, learner).fit(X, TARGETS[task])
    assert [model.predict_one(x) for x in X] == model.predict(X).tolist()


def test_predicting_one_row_with_a_model_of_one_class_or_none():
    with pytest.raises(NotFittedError):
        KernelClassifier().predict_one(X[0])
    with pytest.raises(NotFittedError):
        KernelRegressor().predict_one(X[0])
    single = KernelClassifier(fogd(gamma=1.0)).partial_fit(X, np.ones(len(X)), classes=[1])
    assert single.predict_one(X[0]) == 1


def test_a_model_fitted_anew_forgets_the_labels_of_single_rows():
    model = KernelClassifier(fogd(gamma=1.0)).fit(X, TARGETS["binary"])
    model.learn_one(X[0], TARGETS["binary"][0])
    renamed = np.where(TARGETS["binary"] == TARGETS["binary"][0], "this", "that")
    model.fit(X, renamed).learn_one(X[0], "this")
    assert model.predict_one(X[0]) in {"this", "that"}
    with pytest.raises(ValueError, match="not among the classes"):
        model.learn_one(X[0], TARGETS["binary"][0])


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
    thrice, once = (Estimator(fogd(gamma=0.5), shuffle=False, epochs=n).fit(X, y) for n in (3, 1))
    sure = copy.deepcopy(once.answers_.content())
    once.partial_fit(X, y).partial_fit(X, y)
    assert same(thrice.online_.model, once.online_.model)
    found = thrice.answers_.content()  # rows that were learned before say nothing about how sure answers are
    assert all(same(found[key], sure[key]) for key in ("calibration", "errors") if key in sure)


@pytest.mark.parametrize("Estimator", ESTIMATORS)
@pytest.mark.parametrize("epochs", [0, -1, 1.5, "two", None])
def test_epochs_must_be_a_positive_whole_number_or_auto(Estimator, epochs):
    with pytest.raises(ValueError, match=r"^epochs must be (a positive whole number|one of auto), not "):
        Estimator(fogd(gamma=0.5), epochs=epochs).fit(X, TARGETS["binary"])


@pytest.mark.parametrize("Estimator", ESTIMATORS)
def test_fit_forgets_what_was_learned_before(Estimator):
    other = rows(seed=1)
    model = Estimator(fogd(gamma=0.5)).fit(other, thirds(other)).fit(X, TARGETS["binary"])
    assert_same_model(model, Estimator(fogd(gamma=0.5)).fit(X, TARGETS["binary"]))


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
