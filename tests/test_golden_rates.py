"""Where the runs of the authors' code cannot be followed row by row, because rounding decides in them: error rates."""

from statistics import mean, stdev

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from benchmarks import table5
from onkel import FeatureMapTransformer
from onkel.model.targets import decide
from onkel.pieces import kernels
from onkel.recipes import make_learner
from tests.test_golden import NOT_REPRODUCIBLE, RUNS, data, mistakes
from tests.traces import needs_all, scaled_german

ORDERS = 20
TABLE_7 = {"projectron": (22.7, 4.4), "projectron_pp": (23.1, 6.1)}  # dna: mean and standard deviation in percent
TOOLBOX = [  # recipe, parameters, budget, error on the rows after one pass over them
    ("bsgd_r", {"strategy": "random"}, 10, 0.415),  # "smallest" is a tie: rounding decides
    ("bsgd_r", {"strategy": "random"}, 50, 0.373),
    ("bsgd_m", {"search": "golden"}, 10, 0.272),
    ("bsgd_m", {"search": "golden"}, 50, 0.224),
]


@pytest.mark.parametrize(("which", "recipe"), NOT_REPRODUCIBLE)
def test_projections_make_as_many_mistakes_as_the_paper_says(which, recipe):
    run = RUNS[which]
    rates = []
    for number in range(1, ORDERS + 1):
        X, y, _ = data(which, number)
        online = make_learner(recipe, sigma=run.sigma, budget=run.budget).start(X.shape[1], run.task, 3)
        rates.append(100.0 * len(mistakes(run.task, online.learn(X, y), y)) / len(y))
    paper, spread = TABLE_7[recipe]
    assert abs(mean(rates) - paper) < 2.0 * spread
    assert stdev(rates) < spread  # the guard keeps the inverse from breaking down


def scaled():
    X, y = scaled_german()
    return X, (y > 0).astype(float)


def error(online, X, y):
    return float(np.mean(decide(online.score(X)) != y))


@pytest.mark.parametrize(("recipe", "given", "budget", "expected"), TOOLBOX)
def test_budgeted_gradient_descent_errs_as_often_as_the_toolbox(recipe, given, budget, expected):
    X, y = scaled()
    errors = []
    for seed in range(ORDERS):
        order = np.random.default_rng(seed).permutation(len(y)) if seed else np.arange(len(y))
        learner = make_learner(recipe, budget=budget, lam=0.001, gamma=0.5, first="published", **given)
        online = learner.start(X.shape[1], "multiclass", 2, "float64", seed)
        online.learn(X[order], y[order])
        errors.append(error(online, X, y))
    found = mean(errors) if "strategy" in given else errors[0]  # in the order of the toolbox's run
    assert abs(found - expected) < 2.0 * stdev(errors)


def test_a_linear_machine_on_landmarks_errs_as_often_as_the_toolbox():
    X, y = scaled()
    errors = []
    for seed in range(ORDERS):
        chosen = np.random.default_rng(seed).choice(len(y), 20, replace=False)
        features = FeatureMapTransformer("nystroem", n_frequencies=20, kernel=kernels.gaussian(gamma=0.5))
        Z = features.fit(X[chosen]).transform(X)
        errors.append(float(np.mean(LinearSVC(C=10.0).fit(Z, y).predict(Z) != y)))
    assert abs(mean(errors) - 0.262) < 2.0 * stdev(errors)


@needs_all
def test_the_command_gives_table_5():
    for line in table5.lines():
        allowed = 2.0 if line.name in ("RBP", "BOGD") else 1.5  # what they remove is random
        assert abs(line.off) <= allowed, line
