"""Answers that are right as often as they claim, and intervals that hold what they promise."""

import numpy as np
import pytest

from onkel import KernelClassifier, KernelRegressor, auto, fogd
from onkel.core.trees import same
from onkel.evaluation.metrics import Intervals, Probabilities
from onkel.model.answers import plain_answers
from onkel.model.intervals import ROWS, follow, intervals, no_errors


def noted(targets, scores, coverage=0.9, cut=None):
    """The state after a stream, and the interval of each row before it."""
    state, found = no_errors(), []
    for start in range(0, len(targets), cut or len(targets)):
        part = slice(start, start + (cut or len(targets)))
        found.append(np.empty((len(targets[part]), 2)))
        follow(state, targets[part], scores[part, None], coverage, found[-1])
    return state, np.concatenate(found)


def slow_intervals(targets, scores, coverage):
    """Row by row from a sorted copy of the last errors."""
    found = []
    for i in range(len(targets)):
        errors = np.sort((targets - scores)[max(0, i - ROWS) : i])
        tail = int((len(errors) + 1) * (1 - coverage) / 2 + 1e-9)
        ends = (errors[tail - 1], errors[-tail]) if tail else (-np.inf, np.inf)
        found.append([scores[i] + ends[0], scores[i] + ends[1]])
    return np.array(found)


@pytest.mark.parametrize("coverage", [0.5, 0.9, 0.999])
def test_intervals_follow_a_slow_twin(coverage):
    rng = np.random.default_rng(0)
    targets, scores = rng.standard_t(3, 2500), rng.normal(size=2500).round(1)
    assert np.array_equal(noted(targets, scores, coverage)[1], slow_intervals(targets, scores, coverage))


@pytest.mark.parametrize("cut", [1, 7, 1000])
def test_errors_do_not_depend_on_how_the_stream_is_cut(cut):
    rng = np.random.default_rng(1)
    targets, scores = rng.integers(3, size=2200).astype(float), np.zeros(2200)  # many ties
    (state, bounds), (other, same_bounds) = noted(targets, scores), noted(targets, scores, cut=cut)
    assert same(state, other)
    assert np.array_equal(bounds, same_bounds)
    assert np.array_equal(state.ordered, np.sort(state.recent))


@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.95])
def test_intervals_cover_what_they_claim_whatever_the_noise(coverage):
    rng = np.random.default_rng(2)
    targets = rng.exponential(size=20_000)
    _, bounds = noted(targets, np.zeros(20_000), coverage)
    inside = (bounds[:, 0] <= targets) & (targets <= bounds[:, 1])
    assert abs(inside.mean() - coverage) < 0.01


def test_intervals_follow_noise_that_changes():
    rng = np.random.default_rng(3)
    targets = rng.normal(size=40_000) * np.where(np.arange(40_000) // 10_000 % 2, 5.0, 1.0)
    _, bounds = noted(targets, np.zeros(40_000))
    inside = (bounds[:, 0] <= targets) & (targets <= bounds[:, 1])
    assert abs(inside.mean() - 0.9) < 0.02
    assert abs(inside[11_000:20_000].mean() - 0.9) < 0.02
    width = bounds[:, 1] - bounds[:, 0]
    assert width[15_000:20_000].mean() > 4 * width[5_000:10_000].mean()


def curve(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2.0, 2.0, size=(n, 2))
    return X, np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.2 * rng.normal(size=n)


def test_a_regressor_gives_intervals_that_hold_for_new_rows(tmp_path):
    X, y = curve(4000)
    Z, z = curve(4000, seed=1)
    shares = []
    for seed in range(4):  # one order of the rows is off by up to 0.045
        model = KernelRegressor(random_state=seed).fit(X, y)
        low, high = model.predict_interval(Z, 0.8).T
        shares.append(np.mean((low <= z) & (z <= high)))
    assert abs(np.mean(shares) - 0.8) < 0.03
    assert np.all(low < model.predict(Z))
    assert np.all(model.predict(Z) < high)
    model.save(tmp_path / "model.onkel")
    again = KernelRegressor.load(tmp_path / "model.onkel")
    assert np.array_equal(again.predict_interval(Z, 0.8), np.column_stack([low, high]))
    assert same(again.partial_fit(Z, z).errors_, model.partial_fit(Z, z).errors_)


def test_one_row_at_a_time_gives_the_same_intervals():
    X, y = curve(60)
    learner = fogd(gamma=1.0, n_frequencies=8)
    whole, singly = (KernelRegressor(learner).partial_fit(X[:10], y[:10]) for _ in range(2))
    whole.partial_fit(X[10:], y[10:])
    for x, target in zip(X[10:], y[10:], strict=True):
        singly.learn_one(x, target)
    assert np.array_equal(whole.predict_interval(X), singly.predict_interval(X))


def test_before_there_are_enough_rows_an_interval_is_infinite():
    X, y = curve(18)
    model = KernelRegressor(fogd(gamma=1.0, n_frequencies=8)).partial_fit(X, y)
    assert np.isinf(model.predict_interval(X, 0.9)).all()
    assert np.isfinite(model.partial_fit(X[:1], y[:1]).predict_interval(X, 0.9)).all()


@pytest.mark.parametrize("coverage", [0.0, 1.0, 90, float("nan"), "most"])
def test_a_coverage_that_is_none_is_refused_in_a_sentence(coverage):
    with pytest.raises(ValueError, match=r"^coverage must be a number between 0 and 1, not .*\.$"):
        intervals(no_errors(), np.zeros(1), coverage)


def drawn(n, sharpen, classes, seed=0):
    """Scores whose softmax is right only after `sharpen`, and labels drawn from the right probabilities."""
    rng = np.random.default_rng(seed)
    logits = 1.5 * rng.normal(size=(n, classes))
    chances = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    labels = (chances.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    if classes == 2:
        return np.where(labels > 0, 1.0, -1.0), sharpen(logits[:, 1:] - logits[:, :1])
    return labels.astype(float), sharpen(logits)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("sharpen", [lambda f: 20.0 * f, lambda f: 0.05 * f, lambda f: np.sign(f) * np.abs(f) ** 2])
def test_answers_are_right_as_often_as_they_claim(classes, sharpen):
    targets, scores = drawn(20_000, sharpen, classes)
    metric = Probabilities(plain_answers("binary" if classes == 2 else "multiclass", classes))
    metric.update(targets[:5000], scores[:5000])
    early = {key: metric.report()[key] for key in ("calibration_error", "log_loss")}
    later = Probabilities(metric._answers)
    later.update(targets[5000:], scores[5000:])
    assert later.report()["calibration_error"] < 0.03
    assert later.report()["log_loss"] < early["log_loss"]


def test_a_report_of_reliability_adds_up():
    targets, scores = drawn(3000, lambda f: f, 3)
    metric = Probabilities(plain_answers("multiclass", 3, probable=True))
    metric.update(targets, scores)
    bins = metric.report()["reliability"]
    assert sum(one["rows"] for one in bins) == 3000
    mean = sum(one["rows"] * abs(one["claimed"] - one["right"]) for one in bins) / 3000
    assert metric.report()["calibration_error"] == pytest.approx(mean)
    right = sum(one["rows"] * one["right"] for one in bins)
    assert right == pytest.approx(np.sum(np.argmax(scores, axis=1) == targets))


def test_what_is_likelier_scores_higher_and_rows_add_up_to_one():
    targets, scores = drawn(2000, lambda f: np.sign(f) * np.abs(f) ** 2, 4)
    X = scores + np.random.default_rng(1).normal(size=scores.shape)
    model = KernelClassifier(fogd(gamma=0.1, n_frequencies=20)).fit(X, targets)
    chances, found = model.predict_proba(X), model.decision_function(X)
    assert np.allclose(chances.sum(axis=1), 1.0)
    assert np.array_equal(np.argsort(chances, axis=1, kind="stable"), np.argsort(found, axis=1, kind="stable"))


def test_the_share_of_covered_rows_is_reported():
    rng = np.random.default_rng(4)
    metric = Intervals(plain_answers("regression"))
    assert metric.report() == {}
    metric.update(rng.normal(size=5000), np.zeros((5000, 1)))
    report = metric.report()
    assert abs(report["coverage"] - 0.9) < 0.02
    assert report["interval_width"] == pytest.approx(2 * 1.645, rel=0.05)
    assert metric.rows == 5000 - 19


def test_of_scores_that_are_probabilities_the_temperature_stays():
    X, y = curve(300)
    model = KernelClassifier(auto()).fit(X, y > 0)
    assert abs(model.calibration_.moves[0]) < 1e-100
    assert model.calibration_.moves[1:].all()
    moves, odds = model.calibration_.moves, model.decision_function(X)
    sure = 1.0 / (1.0 + np.exp(-np.exp(moves[1]) * np.abs(odds) - moves[2]))
    found = model.predict_proba(X).max(axis=1)
    assert np.allclose(found[sure > 0.51], sure[sure > 0.51], rtol=0.0, atol=1e-12)
