"""Classes and columns that come new, missing numbers, weights of classes: what goes beyond scikit-learn's rules."""

import copy

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone

from onkel import KernelClassifier, KernelRegressor, auto, bpa_p, ogd, one_vs_rest
from onkel.core.trees import same
from onkel.files.snapshot import flatten
from onkel.integrations.sklearn.rows import BLOCK
from onkel.model.class_weights import HEAVIEST
from onkel.model.columns import Columns
from onkel.streams.imputation import Means
from tests.integrations.sklearn.common import (
    FOGD,
    GAPS,
    IN_ORDER,
    LATE,
    N_ROWS,
    TARGETS,
    X,
    Y,
    assert_same_model,
    thirds,
    wave,
)

LEARNERS = [FOGD, ogd(gamma=0.5), ogd(), auto(n_frequencies=6), one_vs_rest(bpa_p(gamma=0.5, budget=20))]
each_learner = pytest.mark.parametrize("learner", LEARNERS, ids=repr)
each_cut = pytest.mark.parametrize("cut", [1, 7, 50])

MISSING = ("zero", "mean")


def in_pieces(model, rows, labels, cut, how="progress"):
    """What was predicted for each row before it was learned, in blocks of `cut` rows."""
    starts = range(0, len(labels), cut)
    return np.concatenate([getattr(model, how)(rows[i : i + cut], labels[i : i + cut]) for i in starts])


# ---- classes ----


@each_learner
def test_classes_come_in_any_row_and_stand_sorted(learner):
    model = KernelClassifier(learner, classes="grow")
    model.partial_fit(X[:40], LATE[:40])
    assert model.classes_.tolist() == ["low", "middle"]
    model.partial_fit(X[40:], LATE[40:])
    assert model.classes_.tolist() == ["high", "low", "middle"]
    assert model.predict_proba(X).shape == (N_ROWS, 3)
    assert np.array_equal(model.predict(X), model.classes_[model.predict_proba(X).argmax(axis=1)])
    assert np.array_equal(model.predict(X), model.classes_[model.decision_function(X).argmax(axis=1)])
    assert [model.predict_one(x) for x in X] == model.predict(X).tolist()
    assert np.allclose([model.predict_proba_one(x) for x in X[:20]], model.predict_proba(X[:20]))


@each_cut
@each_learner
def test_a_class_comes_at_its_row_however_the_stream_is_cut(learner, cut):
    whole, pieces = (KernelClassifier(learner, classes="grow") for _ in range(2))
    expected = whole.progress(X, LATE)
    assert in_pieces(pieces, X, LATE, cut).tolist() == expected.tolist()
    assert_same_model(pieces, whole)


@each_learner
def test_rows_one_by_one_are_a_block(learner):
    whole = KernelClassifier(learner, classes="grow").partial_fit(X, LATE)
    singly = KernelClassifier(learner, classes="grow").partial_fit(X[:1], LATE[:1])
    for x, label in zip(X[1:], LATE[1:], strict=True):
        singly.learn_one(x, label)
    assert_same_model(singly, whole)


@each_learner
def test_the_answer_to_a_row_of_a_new_class_is_a_class_known_before(learner):
    model = KernelClassifier(learner, classes="grow")
    for i in range(N_ROWS):
        expected = LATE[i] if i == 0 else model.predict(X[i : i + 1])[0]
        assert model.progress(X[i : i + 1], LATE[i : i + 1])[0] == expected
    assert set(model.classes_) == set(LATE)


def test_classes_that_were_announced_are_known_from_the_start():
    model = KernelClassifier(FOGD, classes="grow").partial_fit(X[:1], ["low"], classes=["low", "high"])
    assert model.classes_.tolist() == ["high", "low"]
    model.partial_fit(X[:1], ["middle"], classes=["none", "low"])
    assert model.classes_.tolist() == ["high", "low", "middle", "none"]
    with pytest.raises(ValueError, match=r"^The label 3 is not among the classes 'high', 'low', 'middle', 'none'\.$"):
        model.partial_fit(X[:1], ["low"], classes=[3])


def test_two_classes_that_grew_have_one_score_as_two_classes_have():
    model = KernelClassifier(FOGD, classes="grow").partial_fit(X[:40], LATE[:40])
    scores = model.decision_function(X)
    assert scores.shape == (N_ROWS,)
    assert np.array_equal(model.predict(X), np.where(scores > 0.0, "middle", "low"))


def test_a_single_class_is_the_answer_until_another_one_comes():
    model = KernelClassifier(FOGD, classes="grow").partial_fit(X, np.full(N_ROWS, 7))
    assert model.predict(X[:2]).tolist() == [7, 7]
    assert model.predict_one(X[0]) == 7
    assert model.predict_proba(X[:2]).tolist() == [[1.0], [1.0]]
    assert model.progress(X[:1], [3]).tolist() == [7]


def test_fit_learns_what_pieces_learn_and_forgets_classes():
    model = KernelClassifier(FOGD, classes="grow", **IN_ORDER).fit(X, LATE)
    assert_same_model(clone(model).partial_fit(X, LATE), model)
    assert model.fit(X, np.arange(N_ROWS) % 2).classes_.tolist() == [0, 1]


def test_a_recipe_of_two_classes_is_refused():
    sentence = r"^classes='grow' needs a learner of several classes: one_vs_rest\(bpa_p\(\)\) is one\.$"
    with pytest.raises(ValueError, match=sentence):
        KernelClassifier(bpa_p(), classes="grow").fit(X, LATE)


@pytest.mark.parametrize("strange", [[3], [np.nan], [0.5]])
def test_a_label_that_is_no_class_of_the_kind_known_is_refused(strange):
    model = KernelClassifier(FOGD, classes="grow").partial_fit(X, LATE if strange == [3] else thirds(X))
    before = copy.deepcopy(model.online_.model)
    with pytest.raises(ValueError, match=r"is not among the classes|NaN|Unknown label type"):
        model.partial_fit(X[:1], strange)
    assert same(before, model.online_.model)


@pytest.mark.parametrize("name", ["classes", "features"])
def test_an_unknown_word_is_refused(name):
    with pytest.raises(ValueError, match=rf"^{name} must be one of grow, not 'shrink'\.$"):
        KernelClassifier(FOGD, **{name: "shrink"}).fit(X, Y)


# ---- columns ----


@pytest.mark.parametrize("learner", LEARNERS[:4], ids=repr)
def test_wider_rows_widen_the_model_and_narrower_ones_are_filled_with_zeros(learner):
    model = KernelRegressor(learner, features="grow").partial_fit(X[:80, :2], wave(X)[:80])
    known = model.predict(X[:, :2])
    model.partial_fit(X[80:], wave(X)[80:])
    assert model.n_features_in_ == 3
    filled = np.column_stack([X[:, :2], np.zeros(N_ROWS)])
    assert np.array_equal(model.predict(X[:, :2]), model.predict(filled))
    assert np.array_equal(model.predict(csr_matrix(X[:, :2])), model.predict(csr_matrix(filled)))
    assert not np.array_equal(model.predict(X[:, :2]), known)


@pytest.mark.parametrize("make", [np.asarray, csr_matrix])
def test_columns_beyond_those_learned_do_not_change_a_prediction(make):
    model = KernelClassifier(FOGD, features="grow").fit(make(X[:, :2]), Y)
    assert np.array_equal(model.predict(make(X)), model.predict(make(X[:, :2])))
    assert model.n_features_in_ == 2


def test_columns_are_found_by_name_in_any_order():
    table = pd.DataFrame(X, columns=["weight", "age", "height"])
    one = KernelClassifier(FOGD, features="grow").fit(table, Y)
    other = KernelClassifier(FOGD, features="grow").fit(table[["height", "weight", "age"]], Y)
    assert one.feature_names_in_.tolist() == ["age", "height", "weight"]
    assert np.array_equal(one.predict(table), other.predict(table))
    assert np.array_equal(one.predict(table.assign(new=1.0)), one.predict(table))
    assert np.array_equal(one.predict(table.drop(columns="age")), one.predict(table.assign(age=0.0)))
    one.partial_fit(table.assign(beauty=1.0), Y)
    assert one.feature_names_in_.tolist() == ["age", "height", "weight", "beauty"]


def test_dicts_are_rows_of_a_table():
    table = pd.DataFrame(X, columns=["b", "a", "c"])
    dicts = table.to_dict("records")
    whole = KernelClassifier(FOGD, features="grow", classes="grow").partial_fit(table, LATE)
    singly = KernelClassifier(FOGD, features="grow", classes="grow")
    for x, label in zip(dicts, LATE, strict=True):
        singly.learn_one(dict(reversed(x.items())), label)
    assert same(singly.online_.model, whole.online_.model)
    assert [singly.predict_one(x) for x in dicts] == whole.predict(table).tolist()
    singly.learn_one({"new": 1.0, "a": 2.0}, "low")
    whole.partial_fit(pd.DataFrame({"a": [2.0], "new": [1.0]}), ["low"])
    assert same(singly.online_.model, whole.online_.model)


def test_dicts_need_the_names_of_a_model_whose_columns_are_fixed():
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    model = KernelRegressor(FOGD).fit(table, wave(X))
    for x, row in zip(X, table.to_dict("records"), strict=True):
        assert model.predict_one(row) == model.predict_one(x)
    with pytest.warns(UserWarning, match=r"^Columns that the model has not learned are left out: 'd'\.$"):
        assert model.predict_one({"d": 1.0, "c": 3.0, "a": 1.0, "b": 2.0}) == model.predict_one([1.0, 2.0, 3.0])
    for how in (model.predict_one, lambda x: model.learn_one(x, 1.0)):
        with pytest.raises(ValueError, match=r"^The column 'c' is missing; there are 'b', 'a', 'd'\.$"):
            how({"b": 1.0, "a": 1.0, "d": 1.0})
    with pytest.raises(ValueError, match=r"^A row as a dict needs names of columns: learn rows with names first\.$"):
        KernelRegressor(FOGD).fit(X, wave(X)).learn_one({"a": 1.0}, 1.0)


def test_two_columns_of_the_same_name_are_refused():
    with pytest.raises(ValueError, match=r"^Two columns have the same name\.$"):
        Columns(grows=True, names=()).take_in(["a", "b", "a"])


def test_rows_with_names_and_without_are_not_mixed():
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    with pytest.raises(ValueError, match=r"^The columns of the first rows had names, unlike these\.$"):
        KernelClassifier(FOGD, features="grow").fit(table, Y).partial_fit(X, Y)
    with pytest.raises(ValueError, match=r"^The columns of the first rows had no names, unlike these\.$"):
        KernelClassifier(FOGD, features="grow").fit(X, Y).partial_fit(table, Y)


# ---- missing numbers ----


@pytest.mark.parametrize("Estimator", [KernelClassifier, KernelRegressor])
def test_missing_numbers_are_refused_unless_they_stand_for_something(Estimator):
    with pytest.raises(ValueError, match="NaN"):
        Estimator(FOGD).fit(GAPS, TARGETS["binary"])
    with pytest.raises(ValueError, match=r"^missing must be one of error, zero, mean, not 'most'\.$"):
        Estimator(FOGD, missing="most").fit(X, TARGETS["binary"])
    with pytest.raises(ValueError, match=r"infinity|infinite"):
        Estimator(FOGD, missing="mean").fit(np.where(np.isnan(GAPS), np.inf, X), TARGETS["binary"])


@pytest.mark.parametrize("missing", MISSING)
@each_cut
@each_learner
def test_no_missing_number_gets_into_a_model_whatever_the_cut(learner, missing, cut):
    whole, pieces = (KernelClassifier(learner, classes="grow", missing=missing) for _ in range(2))
    expected = whole.progress(GAPS, Y)
    assert in_pieces(pieces, GAPS, Y, cut).tolist() == expected.tolist()
    assert same(pieces.online_.model, whole.online_.model)
    assert np.isfinite(whole.predict_proba(GAPS)).all()
    flatten(whole.online_.model, [])  # which refuses what is not finite


def test_zero_and_mean_are_what_they_say():
    zero = KernelRegressor(FOGD, missing="zero").partial_fit(GAPS, wave(X))
    assert same(zero.online_.model, KernelRegressor(FOGD).partial_fit(np.nan_to_num(GAPS), wave(X)).online_.model)
    mean = KernelRegressor(FOGD, missing="mean")
    mean.partial_fit([[1.0, 5.0], [3.0, np.nan]], [0.0, 1.0])
    plain = KernelRegressor(FOGD).partial_fit([[1.0, 5.0], [3.0, 5.0]], [0.0, 1.0])
    assert same(mean.online_.model, plain.online_.model)
    assert mean.predict([[np.nan, 1.0]]) == plain.predict([[2.0, 1.0]])
    assert mean.predict_one([np.nan, 1.0]) == plain.predict_one([2.0, 1.0])


@pytest.mark.parametrize("make", [np.asarray, csr_matrix])
@pytest.mark.parametrize("missing", MISSING)
def test_missing_numbers_of_compressed_rows_are_the_stored_ones(make, missing):
    rows = np.array([[1.0, np.nan, 0.0], [3.0, 2.0, np.nan], [np.nan, 0.0, 1.0]])
    model = KernelRegressor(FOGD, missing=missing).partial_fit(make(rows), [0.0, 1.0, 2.0])
    filled = [[1.0, 0.0, 0.0], [3.0, 2.0, 0.0], [2.0 if missing == "mean" else 0.0, 0.0, 1.0]]
    plain = KernelRegressor(FOGD).partial_fit(make(np.array(filled)), [0.0, 1.0, 2.0])
    assert same(model.online_.model, plain.online_.model)


def test_a_name_that_a_row_does_not_have_is_missing():
    rows = [{"a": 1.0, "b": 4.0}, {"b": 2.0}, {"a": 3.0, "c": 1.0}]
    model = KernelRegressor(FOGD, features="grow", missing="mean")
    for x in rows:
        model.learn_one(x, 1.0)
    assert model.predict_one({"c": 1.0}) == model.predict_one({"a": 2.0, "b": 3.0, "c": 1.0})


def test_refused_rows_leave_the_means_alone():
    model = KernelClassifier(FOGD, missing="mean").partial_fit(GAPS, TARGETS["binary"], classes=[0, 1])
    before = model.predict_proba(GAPS)
    with pytest.raises(ValueError, match="is not among the classes"):
        model.partial_fit(100.0 * X, np.full(N_ROWS, 7))
    assert np.array_equal(model.predict_proba(GAPS), before)


# ---- weights of classes ----


def slow_weights(labels):
    """Rows so far / (classes so far * rows of the class so far), within one more than these and the limit."""
    seen = {}
    for i, label in enumerate(labels):
        seen[label] = seen.get(label, 0) + 1
        yield min((i + 1) / (len(seen) * seen[label]), seen[label] + 1.0, HEAVIEST)


@pytest.mark.parametrize("classes", [None, "grow"])
@each_cut
def test_balanced_weights_are_those_of_the_rows_so_far(classes, cut):
    labels = np.where(np.arange(N_ROWS) % 9 == 8, "rare", np.where(np.arange(N_ROWS) > 100, "late", "often"))
    first = {} if classes else {"classes": np.unique(labels)}
    weighed = KernelClassifier(FOGD, classes=classes, class_weight="balanced")
    for i in range(0, N_ROWS, cut):
        weighed.partial_fit(X[i : i + cut], labels[i : i + cut], **(first if i == 0 else {}))
    plain = KernelClassifier(FOGD, classes=classes)
    plain.partial_fit(X, labels, sample_weight=np.array(list(slow_weights(labels))), **first)
    assert_same_model(weighed, plain)


def test_balanced_weights_hold_for_rows_one_by_one_and_multiply_those_of_rows():
    y, own = TARGETS["binary"], np.linspace(0.5, 2.0, N_ROWS)
    start = KernelClassifier(FOGD, class_weight="balanced").partial_fit(X[:1], y[:1], classes=[0, 1])
    block = copy.deepcopy(start).partial_fit(X[1:], y[1:])
    for x, label in zip(X[1:], y[1:], strict=True):
        start.learn_one(x, label)
    assert_same_model(start, block)
    both = KernelClassifier(FOGD, class_weight="balanced", **IN_ORDER).fit(X, y, own)
    weights = own * np.array(list(slow_weights(y)))
    assert_same_model(both, KernelClassifier(FOGD, **IN_ORDER).fit(X, y, weights))


def test_weights_of_a_dict_are_those_of_its_labels():
    given = {"low": 3.0, "high": 0.5}
    weights = np.array([given.get(label, 1.0) for label in LATE])
    for classes in (None, "grow"):
        model = KernelClassifier(FOGD, classes=classes, class_weight=given).fit(X, LATE)
        assert_same_model(model, KernelClassifier(FOGD, classes=classes).fit(X, LATE, weights))


def test_a_rare_class_is_found_more_often_with_balanced_weights():
    random = np.random.default_rng(0)
    rows = random.standard_normal((3000, 2))
    y = (rows[:, 0] + 0.7 * random.standard_normal(3000) > 2.2).astype(int)
    found = [
        KernelClassifier(auto(n_frequencies=6), class_weight=w).fit(rows, y).predict(rows) for w in (None, "balanced")
    ]
    assert found[1][y == 1].mean() > found[0][y == 1].mean() + 0.2


@pytest.mark.parametrize("weight", ["even", {0: -1.0}, {0: "a"}, 3])
def test_weights_that_are_none_are_refused(weight):
    with pytest.raises(ValueError, match=r"^class_weight must be "):
        KernelClassifier(FOGD, class_weight=weight).fit(X, TARGETS["binary"])


def test_the_error_of_a_row_that_brings_a_column_counts():
    model = KernelRegressor(FOGD, features="grow")
    for row in ({"a": 1.0}, {"a": 2.0, "b": 1.0}, {"a": 3.0}):
        model.learn_one(row, 1.0)
    assert model.errors_.count[0] == model.online_.rows_learned == 3


def test_gaps_of_many_rows_are_filled_block_by_block(monkeypatch):
    seen, follow, n = [], Means.follow, 3 * BLOCK + 1
    monkeypatch.setattr(Means, "follow", lambda self, rows: seen.append(len(rows)) or follow(self, rows))
    rows = np.where(np.arange(2 * n).reshape(-1, 2) % 7 == 0, np.nan, 1.0)
    model = KernelRegressor(FOGD, missing="mean")
    assert len(model.progress(rows, np.ones(n))) == n
    assert max(seen) <= BLOCK
    assert model._columns.means.counts.tolist() == (~np.isnan(rows)).sum(axis=0).tolist()
