"""What scores mean: labels, order, classes that come new, weights; by the object that every door asks."""

import copy

import numpy as np
import pytest

from onkel import bpa_p, fogd, one_vs_rest
from onkel.model.answers import ClassAnswers, plain_answers
from onkel.model.numbers import NumberAnswers

X = np.random.default_rng(0).normal(size=(200, 3))


def answers_of(classes, **more):
    return ClassAnswers(np.array(classes), **more)


def test_classes_keep_their_type():
    assert answers_of([3, 7]).labels(np.array([[1.0], [-1.0]])).tolist() == [7, 3]
    assert answers_of(["a", "b", "c"]).labels(np.eye(3)).tolist() == ["a", "b", "c"]


@pytest.mark.parametrize("classes", [["a", "b"], ["a", "b", "c"]])
def test_targets_and_numbers_are_there_and_back(classes):
    answers = answers_of(classes, order=np.arange(len(classes))[::-1].copy())
    labels = np.array(classes)
    assert answers.numbers_of(answers.targets(labels)).tolist() == list(range(len(classes)))[::-1]


def test_a_second_class_that_stands_before_the_first_turns_the_sign():
    online, answers = fogd(gamma=1.0).start(3), answers_of(["b"], grows=True)
    for part in answers.parts(online, labels := np.array(["b", "a", "b"])):
        answers.learn(online, X[:3][part], labels[part])
    assert answers.classes.tolist() == ["a", "b"]
    assert answers.targets(np.array(["a", "b"])).tolist() == [1.0, -1.0]
    scores = online.score(X[:3])
    assert answers.ordered(scores).tolist() == (-scores).tolist()
    assert answers.labels(scores).tolist() == ["b" if -f > 0 else "a" for f in scores[:, 0]]


@pytest.mark.parametrize("learner", [fogd(gamma=0.5), one_vs_rest(bpa_p(gamma=0.5, budget=20))], ids=repr)
def test_a_third_class_leaves_the_odds_of_the_two_before_it(learner):
    labels = np.where(X[:, 0] > 0, "no", "yes")
    online, answers = learner.start(3), answers_of(["no", "yes"], grows=True)
    answers.learn(online, X, labels)
    before = answers.probabilities(online.score(X))
    answers.admit(online, np.array(["maybe"]))
    assert (online.task, answers.task, answers.classes.tolist()) == ("multiclass",) * 2 + (["maybe", "no", "yes"],)
    scores = answers.ordered(online.score(X))
    s = np.exp(answers.calibration.moves[0])
    odds = s * (scores[:, 2] - scores[:, 1])
    raw = np.log(before[:, 1] / before[:, 0])
    a, b = np.exp(answers.calibration.moves[1]), answers.calibration.moves[2]
    free = (np.abs(raw) > 0.05) & (np.abs(raw) < 10)  # where the answer is not held back, and rounding says little
    assert free.sum() > 50
    assert np.allclose((np.sign(odds) * (a * np.abs(odds) + b))[free], raw[free], rtol=1e-4, atol=1e-4)
    assert np.array_equal(np.sign(odds)[free], np.sign(raw)[free])


def test_a_class_that_nobody_knew_is_never_the_answer_at_its_first_row():
    for order in (["a", "b", "c"], ["c", "b", "a"], ["b", "c", "a"]):
        online, answers = fogd(gamma=0.5, n_frequencies=5).start(3), answers_of([order[0]], grows=True)
        labels = np.repeat(order, 3)
        for part in answers.parts(online, labels):
            scores = answers.learn(online, X[:9][part], labels[part])
            if part.start:
                assert answers.labels(scores)[0] != labels[part.start]
                assert answers.answered(scores, "second")[0] != answers.numbers(labels[part][:1])[0]


@pytest.mark.parametrize("answers", [plain_answers("binary"), plain_answers("multiclass", 4), NumberAnswers()])
def test_fresh_answers_have_learned_nothing(answers):
    again = copy.deepcopy(answers).fresh()
    assert type(again) is type(answers)
    assert again.content().keys() == answers.content().keys()
    assert again.n_outputs == answers.n_outputs


def test_labels_that_were_never_seen_are_wrong_answers():
    answers, scores = answers_of([1, 2]), np.array([[1.0], [1.0], [-1.0]])
    assert answers.wrong(np.array([2.0, 3.0, 1.0]), scores).tolist() == [0.0, 1.0, 0.0]
    assert answers.wrong(np.array(["2", "1", "x"]), scores).tolist() == [1.0, 1.0, 1.0]
