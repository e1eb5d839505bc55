"""A third class after two: a learner of the targets -1 and +1 becomes one of several classes, for all recipes."""

import numpy as np
import pytest
from scipy import sparse

from onkel.core import trees
from onkel.core.growing import split
from onkel.core.points import WIDE
from onkel.files.model_file import load_model, save_model
from onkel.files.validation import fresh_model, problem_with
from onkel.integrations.onnx import to_onnx
from onkel.model.growth import grown
from onkel.model.waiting import bare, dressed
from onkel.recipes import (
    auto,
    bkm,
    fkl,
    fogd,
    ik_ogd,
    make_learner,
    multi_rrf,
    nogd,
    ogd,
    one_vs_rest,
    raker,
    rbp,
    rks,
    tvm,
)
from tests.all_recipes.common import close, title
from tests.integrations.onnx.common import answers, rows_like
from tests.tables import CELLS, LAYOUTS, N_FEATURES, VARIATIONS, laid_out, parameters, rows_for, started, stream

STOP = 60
WIDER = N_FEATURES + 3
TWO_ONLY = [name for name, task in CELLS if task == "binary" and "multiclass" not in make_learner(name).tasks]
SEVERAL = [name for name, task in CELLS if task == "binary" and name not in TWO_ONLY]
ADDED_UP = [name for name in SEVERAL if name not in ("auto", "one_vs_rest")]
VARIED = [(name, given) for name, task, given in VARIATIONS if task == "binary" and name in ADDED_UP]

each_of_several = pytest.mark.parametrize("name", SEVERAL)


def sigmoid(f):
    return 1.0 / (1.0 + np.exp(-f))


def three_blobs(late, rows=300):
    """Rows about three points, the third of which is there from row `late` on; and their classes."""
    rng = np.random.default_rng(3)
    y = np.where(np.arange(rows) < late, rng.integers(0, 2, rows), rng.integers(0, 3, rows)).astype(float)
    places = np.array([[2.0, 0.0, 0.0], [-2.0, 0.0, 0.0], [0.0, 2.0, 0.0]])
    return places[y.astype(int)] + 0.3 * rng.normal(size=(rows, 3)), y


def halfway(name, dtype="float64", layout="dense", cut=STOP):
    """A learner of two classes that has learned half of its stream."""
    X, y = stream("binary")
    rows, online = laid_out(X, layout, dtype), started(name, "binary", parameters(name, "binary"), dtype)
    for i in range(0, STOP, cut):
        online.learn(rows[i : min(STOP, i + cut)], y[i : min(STOP, i + cut)])
    return online


def classes_of(y):
    """The targets of rows of three classes, the first two of which are those of -1 and +1."""
    return np.where(np.arange(len(y)) % 5, (y + 1.0) / 2.0, 2.0)


def leaves(tree):
    """All arrays of a model."""
    if isinstance(tree, np.ndarray):
        return [tree]
    return [leaf for part in tree for leaf in leaves(part)] if isinstance(tree, tuple) else []


# ---- what is known stays ----


@each_of_several
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_old_answers_stay_the_answers_when_a_third_class_comes(name, dtype, layout):
    online, rows = halfway(name, dtype, layout), laid_out(stream("binary")[0], layout, dtype)
    f = online.score(rows)[:, 0]
    several = grown(online, N_FEATURES, 3)
    scores = several.score(rows)
    assert (several.task, several.setting.n_outputs, several.rows_learned) == ("multiclass", 3, STOP)
    assert ((scores[:, 1] > scores[:, 0]) == (f > 0.0)).all()
    if name == "auto":  # logarithms of probabilities
        assert np.allclose(np.exp(scores).sum(axis=1), 1.0)
    elif name == "one_vs_rest":
        assert np.array_equal(scores[:, :2], np.array([-f, f]).T)
    else:
        assert np.array_equal(scores[:, :2], np.array([-f / 2, f / 2]).T)


@pytest.mark.parametrize(("name", "given"), VARIED, ids=title)
def test_scores_become_halves_whatever_the_parameters(name, given):
    X, y = stream("binary")
    online, rows = started(name, "binary", given), rows_for(given, X)
    online.learn(rows[:STOP], y[:STOP])
    f = online.score(rows)[:, 0]
    several = grown(online, N_FEATURES, 3)
    shift = 0.5 if given.get("combine") == "vote" else 0.0  # shares of votes, (1 - f) / 2 and (1 + f) / 2
    close(several.score(rows)[:, :2] - shift, np.array([-f / 2, f / 2]).T, 1e-12)
    assert problem_with(several.model, several.learner.start(N_FEATURES, "multiclass", 3, "float64")) == ""


@pytest.mark.parametrize("name", [name for name in SEVERAL if name != "one_vs_rest"])
def test_two_classes_with_a_score_each_have_the_probabilities_that_they_had(name):
    X, _ = stream("binary")
    online = halfway(name)
    two = online.learner.start(N_FEATURES, "multiclass", 2, "float64")
    two.model = dressed(online.model, split(bare(online.model), fresh_model(online.model, two)))
    scores = two.score(X)
    close(sigmoid(scores[:, 1] - scores[:, 0]), sigmoid(online.score(X)[:, 0]), 1e-12)


@each_of_several
def test_nothing_depends_on_how_the_rows_before_were_cut(name):
    X, y = stream("binary")
    whole, cut = (grown(halfway(name, cut=n), N_FEATURES, 3) for n in (STOP, 7))
    assert trees.same(whole.model, cut.model)
    assert trees.same(whole.learn(X, classes_of(y)), cut.learn(X, classes_of(y)))


@each_of_several
@pytest.mark.parametrize("layout", LAYOUTS)
def test_columns_may_come_in_the_same_call(name, layout):
    X, y = stream("binary")
    rows = laid_out(np.pad(X, ((0, 0), (0, WIDER - N_FEATURES))), layout)
    at_once = grown(halfway(name, layout=layout), WIDER, 3)
    first = grown(grown(halfway(name, layout=layout), WIDER, 1), WIDER, 3)
    last = grown(grown(halfway(name, layout=layout), N_FEATURES, 3), WIDER, 3)
    assert trees.same(at_once.model, first.model)
    assert trees.same(at_once.model, last.model)
    assert np.isfinite(at_once.learn(rows, classes_of(y))).all()


@each_of_several
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_model_that_took_in_a_third_class_goes_on_from_its_file_bit_by_bit(name, dtype, tmp_path):
    X, y = stream("binary")
    several = grown(halfway(name, dtype), N_FEATURES, 3)
    save_model(tmp_path / "model", several)
    loaded = load_model(tmp_path / "model").online
    assert trees.same(loaded.model, several.model)
    assert trees.same(loaded.score(X), several.score(X))
    assert trees.same(loaded.learn(X, classes_of(y)), several.learn(X, classes_of(y)))
    assert np.isfinite(several.score(X)).all()


# ---- what comes after ----


@each_of_several
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("late", [1, 150])
def test_the_third_class_is_learned_and_the_others_are_not_lost(name, late, layout):
    X, y = three_blobs(late)
    rows = laid_out(X, layout)
    online = make_learner(name, **parameters(name, "binary")).start(3, dtype="float64")
    online.learn(rows[:late], 2.0 * y[:late] - 1.0)
    several = grown(online, 3, 3)
    assert np.isfinite(several.learn(rows[late:], y[late:])).all()
    right = several.score(rows).argmax(axis=1) == y
    for k in range(3):  # blobs lie thirteen deviations apart; a budget of 12 points need not hold all of one
        assert right[y == k].mean() > 0.75, k


@pytest.mark.parametrize("learner", [rks(n_frequencies=9, batch=9, gamma=1.0), fkl(n_frequencies=9, batch=9)], ids=repr)
def test_a_mini_batch_that_is_under_way_is_finished_as_one_of_two_classes(learner):
    X, y = stream("binary")
    online, same = (learner.start(N_FEATURES, dtype="float64") for _ in range(2))
    online.learn(X[:13], y[:13])
    same.learn(X[:13], y[:13])
    several, nothing = grown(online, N_FEATURES, 3), np.zeros(5)
    several.learn(X[13:18], nothing, nothing)  # rows that do not count end the second batch
    same.learn(X[13:18], y[13:18], nothing)
    f = same.score(X)[:, 0]
    close(several.score(X), np.array([-f / 2, f / 2, 0.0 * f]).T, 1e-12)


def test_rows_that_particles_hold_become_rows_of_classes():
    X, y = stream("binary")
    online = bkm(n_particles=4, n_frequencies=6, batch=20).start(N_FEATURES)
    online.learn(X[:27], y[:27])
    model = grown(online, N_FEATURES, 3).model.model
    assert model.held[0] == 7
    assert np.array_equal(model.targets[:7], (y[20:27] + 1.0) / 2.0)


def test_both_classes_take_over_the_sums_of_squares_of_adagrad():
    X, y = stream("binary")
    online = fogd(n_frequencies=9, gamma=1.0, step="adagrad").start(N_FEATURES)
    online.learn(X, y)
    known, memory = online.model.memory[0].copy(), grown(online, N_FEATURES, 3).model.memory
    assert np.array_equal(memory, np.array([known, known, np.zeros(18)], np.float32))


@pytest.mark.parametrize("learner", [ogd(), fogd(), one_vs_rest(ogd()), ik_ogd(t=8, psi=4, sample=40)], ids=repr)
def test_rows_that_wait_for_a_width_are_learned_again_as_rows_of_several_classes(learner):
    X, y = stream("binary")
    targets = np.where(np.arange(len(y)) < 20, (y + 1.0) / 2.0, classes_of(y))
    online = learner.start(N_FEATURES, dtype="float64")
    online.learn(X[:20], y[:20])
    f, several = online.score(X)[:, 0], grown(online, N_FEATURES, 3)
    scores = several.score(X)
    assert np.array_equal(2.0 * scores[:, 1] if learner.name != "one_vs_rest" else scores[:, 1], f)
    several.learn(X[20:], targets[20:])
    always = learner.start(N_FEATURES, "multiclass", 3, dtype="float64")
    always.learn(X, targets)
    assert trees.same(several.model, always.model)


def test_a_learner_that_has_seen_nothing_becomes_a_fresh_one():
    for learner in (ogd(), rbp(gamma=1.0), auto(), one_vs_rest(rbp(gamma=1.0)), nogd()):
        several = grown(learner.start(N_FEATURES), N_FEATURES, 3)
        assert problem_with(several.model, learner.start(N_FEATURES, "multiclass", 3)) == ""
        assert several.score(np.ones((1, N_FEATURES))).argmax() == 0


def test_very_wide_rows_take_in_a_third_class(tmp_path):
    X, y = stream("binary")
    rows = sparse.csr_matrix((X.ravel(), np.tile(np.arange(5) * 7000, len(X)), np.arange(0, X.size + 1, 5)))
    rows.resize(len(X), WIDE + 10)
    for learner in (rbp(budget=12, gamma=0.5), fogd(gamma="scale", n_frequencies=20), one_vs_rest(fogd(gamma=1.0))):
        online = learner.start(WIDE + 10)
        online.learn(rows, y)
        f, several = online.score(rows)[:, 0], grown(online, WIDE + 1000, 3)
        wider = sparse.csr_matrix((rows.data, rows.indices, rows.indptr), (len(y), WIDE + 1000))
        assert np.array_equal(several.score(wider)[:, 1] > several.score(wider)[:, 0], f > 0.0)
        save_model(tmp_path / "model", several)
        assert trees.same(load_model(tmp_path / "model")[0].score(wider), several.score(wider))
        assert np.isfinite(several.learn(wider, classes_of(y))).all()


# ---- one model per class ----

INSIDE = [*(make_learner(name, **parameters(name, "binary")) for name in TWO_ONLY if name != "omkc")]
INSIDE += [auto(6), raker(5), multi_rrf(5), nogd(budget=15, gamma=1.0), bkm(n_particles=3, n_frequencies=5, batch=20)]


@pytest.mark.parametrize("learner", INSIDE, ids=repr)
def test_the_model_of_the_first_class_is_the_mirror_image_of_that_of_the_second_and_stays_so(learner):
    X, y = stream("binary")
    online, same = (one_vs_rest(learner).start(N_FEATURES, dtype="float64") for _ in range(2))
    online.learn(X[:STOP], y[:STOP])
    known = same.learn(X, y)[STOP:, 0]
    f, several = online.score(X)[:, 0], grown(online, N_FEATURES, 3)
    scores = several.score(X)
    assert np.array_equal(scores[:, :2], np.array([-f, f]).T)
    first, second, _ = bare(several.model).parts
    assert not any(np.shares_memory(a, b) for a in leaves(first) for b in leaves(second))
    learned = several.learn(X[STOP:], (y[STOP:] + 1.0) / 2.0)  # rows of the first two classes only
    close(learned[:, 1], known, 1e-9)
    close(learned[:, 0], -known, 1e-2 if learner.name == "tvm" else 1e-9)  # it solves up to 1e-3, one side first


@pytest.mark.parametrize("learner", [*INSIDE, make_learner("omkc")], ids=repr)
def test_models_of_new_classes_stand_beside_the_old_ones_in_a_file(learner, tmp_path):
    X, y = stream("binary")
    online = one_vs_rest(learner).start(N_FEATURES)
    online.learn(X[:STOP], y[:STOP])
    several = grown(online, WIDER, 4)
    save_model(tmp_path / "model", several)
    rows = np.pad(X, ((0, 0), (0, 3)))
    assert trees.same(load_model(tmp_path / "model")[0].score(rows), several.score(rows))
    assert np.isfinite(several.learn(rows, classes_of(y))).all()


@pytest.mark.parametrize("together", [True, False])
def test_one_model_per_class_keeps_the_width_that_a_rule_has_settled(together):
    X, y = stream("binary")
    online = one_vs_rest(fogd(n_frequencies=2000, gamma="scale")).start(N_FEATURES)
    online.learn(X[:STOP], y[:STOP])
    several = online if together else grown(online, N_FEATURES, 3)
    for part in grown(several, 2 * N_FEATURES, 3).model.parts:
        old, new = np.split(np.abs(part.feature_map.frequencies), 2)
        assert np.median(new) == pytest.approx(np.median(old), rel=0.05)


@pytest.mark.parametrize("partition", ["cells", "trees"])
@pytest.mark.parametrize("refresh", [None, 20])
def test_the_model_of_a_new_class_has_the_partitions_of_the_others(partition, refresh, tmp_path):
    X, y = three_blobs(150)
    online = one_vs_rest(ik_ogd(partition, t=20, psi=8, sample=64, refresh=refresh)).start(3)
    online.learn(X[:150], 2.0 * y[:150] - 1.0)
    several = grown(online, 3, 3)
    several.learn(X[150:], y[150:])
    assert (several.score(X).argmax(axis=1) == y).mean() > 0.9
    save_model(tmp_path / "model", several)
    assert trees.same(load_model(tmp_path / "model")[0].score(X), several.score(X))


# ---- what is refused ----


@pytest.mark.parametrize("name", TWO_ONLY)
def test_a_recipe_of_two_classes_says_what_learns_several(name):
    sentence = rf"^A third class came: {name} learns two classes only; one_vs_rest\({name}\(\)\) learns several\.$"
    with pytest.raises(ValueError, match=sentence):
        grown(halfway(name), N_FEATURES, 3)


def test_numbers_of_outputs_that_no_task_has_are_refused():
    for task, n_outputs in (("binary", 2), ("regression", 3)):
        with pytest.raises(ValueError, match=r"^n_outputs is the number of classes, or 1 for numbers and for two"):
            grown(rbp(gamma=1.0).start(N_FEATURES, task), N_FEATURES, n_outputs)


# ---- ONNX ----


@pytest.mark.parametrize(
    "learner",
    [auto(6), rbp(gamma=1.0), nogd(budget=15, gamma=1.0), raker(5), bkm(n_particles=3), one_vs_rest(tvm(gamma=1.0))],
    ids=repr,
)
def test_an_onnx_file_of_a_model_that_took_in_a_third_class_answers_as_it_does(learner):
    X, y = stream("binary")
    online = learner.start(N_FEATURES)
    online.learn(X[:STOP], y[:STOP])
    several = grown(online, N_FEATURES, 3)
    several.learn(X[STOP:], classes_of(y)[STOP:])
    found, expected = answers(to_onnx(several), rows_like(X)), several.score(rows_like(X))
    close(found["scores"], expected, 1e-5)
    sure = np.sort(expected, axis=1)[:, -1] - np.sort(expected, axis=1)[:, -2] > 1e-4
    assert np.array_equal(found["label"][sure], expected.argmax(axis=1)[sure])
