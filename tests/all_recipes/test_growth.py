"""New columns and new classes in the middle of a stream, for all recipes."""

import numpy as np
import pytest
from scipy import sparse

from onkel.core import trees
from onkel.core.points import WIDE
from onkel.files.model_file import load_model, save_model
from onkel.files.validation import problem_with
from onkel.model.growth import grown
from onkel.pieces.kernels import gaussian
from onkel.recipes import auto, bsgd_m, fogd, ik_ogd, make_learner, multi_rrf, nogd, ogd, one_vs_rest, rbp, rks
from tests.all_recipes.common import close, each_cell, title
from tests.tables import N_FEATURES, TASKS, VARIATIONS, parameters, rows_for, started, stream

STOP = 60
WIDER = N_FEATURES + 3
ROUNDED = ("auto",)  # sums that the compiler orders


def wide(X, width=WIDER):
    """The same rows with columns of zeros behind."""
    return np.pad(X, ((0, 0), (0, width - X.shape[1])))


def halfway(name, task):
    """Scores of a learner after half of its stream, and the learner with more columns and one class more."""
    X, y = stream(task)
    online = started(name, task, parameters(name, task), "float32")
    online.learn(X[:STOP], y[:STOP])
    known = online.score(X)
    return known, grown(online, WIDER, TASKS[task] + (task == "multiclass"))


@each_cell
def test_known_classes_keep_their_scores_when_columns_and_classes_come(name, task):
    X, _ = stream(task)
    known, more = halfway(name, task)
    found = more.score(wide(X))
    assert found.shape == (len(X), more.setting.n_outputs)
    if (name, task) == ("auto", "multiclass"):  # probabilities: the new class gets a share of each readout
        assert np.allclose(np.exp(found).sum(axis=1), 1.0)
    elif name in ROUNDED:
        close(found, known, 1e-6)
    else:
        assert trees.same(np.ascontiguousarray(found[:, : TASKS[task]]), known)


def keeps_scores(name, task, given):
    """Whether columns can come new, and scores do not add up to one over the classes."""
    shared = task == "multiclass" and (name == "auto" or given.get("combine") == "vote")
    return not shared and given.get("draw") not in ("sorf", "fastfood")


@pytest.mark.parametrize(("name", "task", "given"), [v for v in VARIATIONS if keeps_scores(*v)], ids=title)
def test_known_classes_keep_their_scores_whatever_the_parameters(name, task, given):
    X, y = stream(task)
    rows = rows_for(given, X)
    online = started(name, task, given)
    online.learn(rows[:STOP], y[:STOP])
    known, more = online.score(rows), grown(online, WIDER, TASKS[task] + (task == "multiclass"))
    close(more.score(wide(rows))[:, : TASKS[task]], known, 1e-12)
    assert problem_with(more.model, more.learner.start(WIDER, task, more.setting.n_outputs, "float64")) == ""


@each_cell
def test_a_model_that_grew_goes_on_from_its_file_bit_by_bit(name, task, tmp_path):
    X, y = stream(task)
    rows, targets = wide(X)[STOP:], y[STOP:].copy()
    rows[:, -1] = X[STOP:, 0]
    if task == "multiclass":
        targets[::5] = 3.0
    _, more = halfway(name, task)
    save_model(tmp_path / "model", more)
    loaded = load_model(tmp_path / "model").online
    assert trees.same(loaded.model, more.model)
    assert trees.same(loaded.learn(rows, targets), more.learn(rows, targets))
    assert trees.same(loaded.model, more.model)
    assert np.isfinite(more.score(rows)).all()


@pytest.mark.parametrize("name", ["fogd", "rks", "perceptron", "rbp", "projectron", "bogd", "omkl", "nogd", "dual_sgd"])
def test_a_column_that_comes_late_is_as_if_it_had_always_been_there(name):
    X, y = stream("multiclass")
    rows = wide(X)
    rows[STOP:, 6] = X[STOP:, 1]
    early = make_learner(name, **parameters(name, "multiclass")).start(WIDER, "multiclass", 3)
    expected = early.learn(rows, y)
    late = started(name, "multiclass", parameters(name, "multiclass"), "float32")
    late.learn(X[:STOP], y[:STOP])
    assert trees.same(grown(late, WIDER, 3).learn(rows[STOP:], y[STOP:]), np.ascontiguousarray(expected[STOP:]))


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian", "cauchy"])
@pytest.mark.parametrize("recipe", [fogd, rks])
def test_the_width_that_a_rule_settled_holds_for_new_columns(recipe, kernel):
    X, y = stream("binary")
    online = recipe(n_frequencies=2000, kernel=kernel, gamma="scale").start(N_FEATURES)
    online.learn(X[:STOP], y[:STOP])
    old, new = np.split(np.abs(grown(online, 2 * N_FEATURES, 1).model.feature_map.frequencies), 2)
    assert np.median(new) == pytest.approx(np.median(old), rel=0.05)


@pytest.mark.parametrize("learner", [ogd(), fogd(), one_vs_rest(ogd()), ik_ogd(t=8, psi=4, sample=100)], ids=repr)
def test_a_model_that_still_waits_for_rows_grows_with_the_rows_it_holds(learner):
    X, y = stream("multiclass")
    online = learner.start(N_FEATURES, "multiclass", 3)
    online.learn(X[:20], y[:20])
    known, more = online.score(X), grown(online, WIDER, 4)
    close(more.score(wide(X))[:, :3], known, 1e-6)
    assert more.rows_learned == 20
    scores = more.learn(wide(X)[20:], np.where(np.arange(100) % 5, y[20:], 3.0))
    assert np.isfinite(scores).all()
    assert more.rows_learned == 120


@pytest.mark.parametrize("learner", [ik_ogd(t=8, psi=4, sample=16, refresh=9), nogd(budget=9)], ids=repr)
def test_compressed_rows_that_are_kept_grow_too(learner):
    X, y = stream("binary")
    online = learner.start(N_FEATURES, dtype="float64")
    online.learn(sparse.csr_matrix(X[:STOP]), y[:STOP])
    known, more = online.score(sparse.csr_matrix(X)), grown(online, WIDER, 1)
    assert trees.same(more.score(sparse.csr_matrix(wide(X))), known)
    assert np.isfinite(more.learn(sparse.csr_matrix(wide(X)), y)).all()


def test_very_wide_rows_grow_wider():
    X, y = stream("binary")
    for learner in (rbp(budget=12, gamma=0.5), fogd(gamma=1.0, n_frequencies=20), auto(n_frequencies=6)):
        online = learner.start(WIDE + 10)
        rows = sparse.csr_matrix((X.ravel(), np.tile(np.arange(5) * 7000, len(X)), np.arange(0, X.size + 1, 5)))
        rows.resize(len(X), WIDE + 10)
        online.learn(rows, y)
        known, more = online.score(rows), grown(online, WIDE + 1000, 1)
        rows.resize(len(X), WIDE + 1000)
        assert trees.same(more.score(rows), known)


def test_the_exact_readout_takes_new_columns_and_begins_anew_where_rows_are_too_wide(tmp_path):
    X, y = stream("regression")
    online = auto(n_frequencies=6).start(N_FEATURES, "regression")
    online.learn(X, y)
    known = online.score(X)
    for width in (6, 9, 30):
        online = grown(online, width, 1)
        assert (online.model.model.exact.columns == 0) == (width == 30)
        save_model(tmp_path / "model", online)
        assert trees.same(load_model(tmp_path / "model")[0].score(wide(X, width)), online.score(wide(X, width)))
        if width < 30:
            close(online.score(wide(X, width)), known, 1e-5)
    assert np.isfinite(online.learn(wide(X, 30), y)).all()


@pytest.mark.parametrize("draw", ["sorf", "fastfood"])
def test_a_map_that_mixes_all_columns_refuses_new_ones_but_takes_new_classes(draw):
    online = fogd(draw=draw, gamma=1.0).start(3, "multiclass", 2)
    assert grown(online, 3, 3).score(np.ones((1, 3))).shape == (1, 3)
    for begun in (online, fogd(draw=draw, gamma=1.0).start(1, "multiclass", 2)):
        with pytest.raises(ValueError, match=r"^Its random features mix all columns, .* use draw='iid' for"):
            grown(begun, 4, 2)


def test_growing_beyond_what_arrays_hold_is_refused():
    for learner in (ogd(kernel=gaussian(1.0)), bsgd_m(gamma=1.0)):
        with pytest.raises(ValueError, match=rf"cannot grow beyond {WIDE}: begin with all of them\.$"):
            grown(learner.start(3), WIDE + 1, 1)


def test_new_classes_of_a_vote_get_their_share():
    X, y = stream("multiclass")
    online = multi_rrf(n_frequencies=11, starts=(0.1, 0.5, 2.0), combine="vote").start(N_FEATURES, "multiclass", 3)
    online.learn(X, y)
    assert np.allclose(grown(online, N_FEATURES, 4).score(X).sum(axis=1), 1.0)
