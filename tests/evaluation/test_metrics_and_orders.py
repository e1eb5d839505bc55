"""Metrics; the cut and the curve; the three orders; permutations."""

import copy
from math import exp, log, sqrt

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn import metrics

from onkel import perceptron
from onkel.core.trees import same
from onkel.evaluation import prequential as evaluate
from onkel.evaluation.metrics import ConfusionMatrix, auc
from onkel.evaluation.prequential import POINTS, Spread, Tally, over_permutations, prequential, spread
from onkel.model.answers import plain_answers
from onkel.model.calibration import RATE
from tests.evaluation.common import LEARNERS, N_FEATURES, N_ROWS, TASKS, started, stream

TIMES = ("seconds", "rows_per_second")


def made_up(task, n=700, seed=0):
    """Targets, and scores that have something to do with them; some scores are tied."""
    random = np.random.default_rng(seed)
    if task == "regression":
        targets = random.standard_normal(n)
        return targets, (targets + 0.5 * random.standard_normal(n))[:, None]
    classes = random.integers(TASKS[task], size=n)
    if task == "binary":
        targets = 2.0 * classes - 1.0
        return targets, np.round(targets + 2.0 * random.standard_normal(n), 1)[:, None]
    scores = random.standard_normal((n, TASKS[task])).round(1)
    scores[np.arange(n), classes] += 1.0
    return classes.astype(float), scores


def tallied(task, targets, scores, cut=None, window=1000):
    tally = Tally(plain_answers(task, TASKS[task]), window)
    for start in range(0, len(targets), cut or len(targets)):
        here = slice(start, start + (cut or len(targets)))
        tally.update(targets[here], scores[here])
    return tally


def chosen(task, scores):
    """The class that scores stand for; a single score of 0 stands for the second."""
    return (scores[:, 0] >= 0.0).astype(int) if task == "binary" else np.argmax(scores, axis=1)


def truth(task, targets):
    return ((targets + 1) / 2 if task == "binary" else targets).astype(int)


@pytest.mark.parametrize("task", ["binary", "multiclass"])
def test_mistakes_recall_and_confusion_are_those_of_scikit_learn(task):
    targets, scores = made_up(task)
    report = tallied(task, targets, scores).report()
    labels, predicted = truth(task, targets), chosen(task, scores)
    assert report["rows"] == len(targets)
    assert report["mistakes"] == np.sum(labels != predicted)
    assert report["mistake_rate"] == pytest.approx(1.0 - metrics.accuracy_score(labels, predicted), abs=1e-12)
    assert report["recall"] == pytest.approx(metrics.recall_score(labels, predicted, average=None))
    assert report["confusion"] == metrics.confusion_matrix(labels, predicted).tolist()


def test_errors_of_a_regression_are_those_of_scikit_learn():
    targets, scores = made_up("regression")
    report = tallied("regression", targets, scores).report()
    assert report["mse"] == pytest.approx(metrics.mean_squared_error(targets, scores[:, 0]))
    assert report["rmse"] == pytest.approx(metrics.root_mean_squared_error(targets, scores[:, 0]))
    assert report["mae"] == pytest.approx(metrics.mean_absolute_error(targets, scores[:, 0]))
    assert "mistakes" not in report


@pytest.mark.parametrize("window", [10, 300, 1000])
def test_auc_is_that_of_scikit_learn_over_the_last_rows(window):
    targets, scores = made_up("binary")
    report = tallied("binary", targets, scores, cut=64, window=window).report()
    expected = metrics.roc_auc_score(targets[-window:], scores[-window:, 0])
    assert report["auc_window"] == pytest.approx(expected, abs=1e-12)


def test_several_classes_have_no_auc():
    assert "auc_window" not in tallied("multiclass", *made_up("multiclass")).report()


@pytest.mark.parametrize(
    ("positive", "scores", "expected"),
    [
        ([True, False], [1.0, 0.0], 1.0),
        ([True, False], [0.0, 1.0], 0.0),
        ([True, False], [0.5, 0.5], 0.5),
        ([True, True], [0.5, 0.5], None),
        ([False], [0.5], None),
        ([], [], None),
    ],
)
def test_auc_counts_ties_half_and_needs_both_classes(positive, scores, expected):
    assert auc(np.array(positive, bool), np.array(scores)) == expected


def test_a_class_that_never_came_has_no_recall():
    matrix = ConfusionMatrix(plain_answers("multiclass", 3), "second")
    matrix.update(np.array([0.0, 2.0]), np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]))
    assert matrix.report() == {"recall": [1.0, None, 0.0], "confusion": [[1, 0, 0], [0, 0, 0], [0, 1, 0]]}


def slow_log_loss(task, targets, scores):
    """Row by row: P = softmax(s f), its largest made q; then an Adagrad step of log s, a and b along their slopes."""
    moves, energy, total = [0.0, 0.0, 0.0], [1e-6, 1e-6, 1e-6], 0.0
    for target, f in zip(targets, scores, strict=True):
        g, a, b = moves
        both = [-f[0] / 2, f[0] / 2] if task == "binary" else list(f)  # sigmoid is the softmax of these two
        label = int(target > 0) if task == "binary" else int(target)
        powers = [exp(exp(g) * value) for value in both]
        chances = [power / sum(powers) for power in powers]
        best = both.index(max(both))
        p, second = chances[best], max(chance for k, chance in enumerate(chances) if k != best)
        far, level = log(p / (1 - p)), second / (1 - p + second)
        free = 1 / (1 + exp(-(exp(a) * far + b)))
        q = max(free, level + 1e-3 * (p - level))
        total -= log(q if label == best else chances[label] * (1 - q) / (1 - p))
        mean = sum(chance * value for chance, value in zip(chances, both, strict=True))
        wrong = free - (label == best)
        for k, slope in enumerate([exp(g) * (mean - both[label]), wrong * exp(a) * far, wrong]):
            energy[k] += slope**2
            moves[k] -= RATE * slope / sqrt(energy[k])
    return total / len(targets)


@pytest.mark.parametrize("task", ["binary", "multiclass"])
def test_log_loss_is_that_of_probabilities_calibrated_on_the_rows_before(task):
    targets, scores = made_up(task)
    assert tallied(task, targets, scores).report()["log_loss"] == pytest.approx(slow_log_loss(task, targets, scores))


@pytest.mark.parametrize("task", ["binary", "multiclass"])
def test_log_loss_is_finite_however_wrong_the_scores_are(task):
    targets, scores = made_up(task)
    assert np.isfinite(tallied(task, targets, -1e30 * scores).report()["log_loss"])


@pytest.mark.parametrize("task", TASKS)
def test_a_report_before_the_first_row_has_no_numbers_that_are_none(task):
    report = Tally(plain_answers(task, TASKS[task])).report()
    assert report["rows"] == 0
    assert report["curve"] == []
    assert all(np.isfinite(value) for value in report.values() if isinstance(value, int | float))


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("cut", [1, 7, 100, 699])
def test_reports_do_not_depend_on_how_the_stream_is_cut(task, cut):
    targets, scores = made_up(task)
    assert tallied(task, targets, scores, cut).report() == tallied(task, targets, scores).report()


@pytest.mark.parametrize("cut", [7, 999, 30_000])
@pytest.mark.parametrize("n", [50, 100, 20_000, 20_100, 50_050])
def test_a_curve_has_few_points_at_even_distances_with_the_right_errors(n, cut):
    random = np.random.default_rng(0)
    targets = np.zeros(n)
    scores = random.standard_normal((n, 1))
    tally = Tally(plain_answers("regression"), window=150)
    for start in range(0, n, cut):
        tally.update(targets[start : start + cut], scores[start : start + cut])
    curve = tally.report()["curve"]
    places = [point["rows"] for point in curve]
    lost = scores[:, 0] ** 2
    assert len(curve) <= POINTS + 1
    assert places[-1] == n
    assert len(set(np.diff([0, *places[:-1]]))) <= 1
    assert [p["error"] for p in curve] == pytest.approx([np.mean(lost[:i]) for i in places])
    assert [p["window_error"] for p in curve] == pytest.approx([np.mean(lost[max(0, i - 150) : i]) for i in places])


def test_reporting_changes_nothing():
    targets, scores = made_up("binary")
    tally = tallied("binary", targets[:350], scores[:350])
    first = tally.report()
    assert tally.report() == first
    tally.update(targets[350:], scores[350:])
    assert tally.report() == tallied("binary", targets, scores).report()


def test_a_restored_tally_goes_on_as_if_there_had_been_no_stop():
    targets, scores = made_up("binary")
    stopped = tallied("binary", targets[:350], scores[:350])
    other = Tally(copy.deepcopy(stopped.answers))  # which a file keeps, too
    other.restore(stopped.state())
    other.update(targets[350:], scores[350:])
    assert other.report() == tallied("binary", targets, scores).report()


@pytest.mark.parametrize("damage", [{"spacing": 0}, {"spacing": -100}, {"spacing": 100.0}, {"rows": -1}])
def test_numbers_that_would_lead_compiled_code_astray_are_refused(damage):
    targets, scores = made_up("binary")
    state = tallied("binary", targets, scores).state()
    with pytest.raises(ValueError, match=f"{next(iter(damage))} of its errors must be whole numbers from [01] to"):
        Tally(plain_answers("binary")).restore(state | damage)


def pieces(rows, targets, cut):
    return [(rows[i : i + cut], targets[i : i + cut]) for i in range(0, rows.shape[0], cut)]


def scores_of(online, blocks, **how):
    seen = []
    report = prequential(online, blocks, TASKS[online.task], watch=lambda _, __, scores: seen.append(scores), **how)
    return np.concatenate(seen), report


def without_times(report):
    return {key: value for key, value in report.items() if key not in TIMES}


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("cut", [1, 7, N_ROWS])
def test_rows_are_predicted_by_what_was_learned_before_each(learner, task, cut):
    rows, targets = stream(task)
    evaluated, plain = started(learner, task), started(learner, task)
    scores, report = scores_of(evaluated, pieces(rows, targets, cut))
    expected = plain.learn(rows, targets)
    assert np.array_equal(scores, expected)
    assert same(evaluated.model, plain.model)
    assert without_times(report) == tallied(task, targets, expected).report()


@pytest.mark.parametrize("task", TASKS)
def test_blocks_are_predicted_by_the_model_from_before_the_block(learner, task):
    rows, targets = stream(task)
    evaluated, plain = started(learner, task), started(learner, task)
    scores, report = scores_of(evaluated, pieces(rows, targets, 20), mode="blocks")
    expected = []
    for some, known in pieces(rows, targets, 20):
        expected.append(copy.deepcopy(plain).score(some))
        plain.learn(some, known)
    assert np.array_equal(scores, np.concatenate(expected))
    assert same(evaluated.model, plain.model)
    assert report["rows"] == N_ROWS


@pytest.mark.parametrize("task", TASKS)
def test_without_a_delay_delayed_labels_are_those_of_rows(learner, task):
    rows, targets = stream(task)
    evaluated, plain = started(learner, task), started(learner, task)
    scores, _ = scores_of(evaluated, pieces(rows, targets, 20), mode="delayed")
    assert np.array_equal(scores, plain.learn(rows, targets))
    assert same(evaluated.model, plain.model)


@pytest.mark.parametrize("layout", [np.asarray, csr_matrix])
@pytest.mark.parametrize("delay", [1, 5, 1000])
@pytest.mark.parametrize("cut", [1, 7, N_ROWS])
def test_delayed_labels_arrive_that_many_rows_later(learner, delay, cut, layout):
    rows, targets = stream("binary")
    evaluated, plain = started(learner, "binary"), started(learner, "binary")
    scores, _ = scores_of(evaluated, pieces(layout(rows), targets, cut), mode="delayed", delay=delay)
    expected = np.zeros((N_ROWS, 1))
    for i in range(N_ROWS):
        if i > delay:
            known = i - delay - 1
            plain.learn(rows[known : known + 1], targets[known : known + 1])
        expected[i] = plain.score(rows[i : i + 1])[0]
    for known in range(max(N_ROWS - delay - 1, 0), N_ROWS):
        plain.learn(rows[known : known + 1], targets[known : known + 1])
    assert np.allclose(scores, expected, atol=1e-5)
    assert evaluated.rows_learned == plain.rows_learned == N_ROWS


def test_a_negative_delay_is_refused():
    rows, targets = stream("binary")
    with pytest.raises(ValueError, match="delay"):
        prequential(started(LEARNERS["fogd"], "binary"), [(rows, targets)], mode="delayed", delay=-1)


def test_an_unknown_order_is_refused():
    with pytest.raises(ValueError, match=r"^mode must be one of rows, blocks, delayed, not 'batch'\.$"):
        prequential(started(LEARNERS["fogd"], "binary"), [], mode="batch")


def test_watchers_see_every_block_after_it_was_counted():
    rows, targets = stream("binary")
    seen = []
    prequential(
        started(LEARNERS["fogd"], "binary"),
        pieces(rows, targets, 40),
        watch=lambda tally, targets, scores: seen.append((tally.rows, len(targets), scores.shape)),
    )
    assert seen == [(40, 40, (40, 1)), (80, 40, (40, 1)), (90, 10, (10, 1))]


def test_a_report_tells_the_time(monkeypatch):
    clock = iter([10.0, 12.0])
    monkeypatch.setattr(evaluate, "perf_counter", lambda: next(clock))
    rows, targets = stream("binary")
    report = prequential(started(LEARNERS["fogd"], "binary"), [(rows, targets)])
    assert (report["seconds"], report["rows_per_second"]) == (2.0, 45.0)


def test_a_stream_without_rows_has_a_report():
    report = prequential(started(LEARNERS["fogd"], "binary"), [])
    assert (report["rows"], report["mistakes"], report["curve"]) == (0, 0, [])


def test_the_spread_is_the_sample_standard_deviation():
    assert spread([1.0, 2.0, 4.0]) == Spread(pytest.approx(7 / 3), pytest.approx(np.std([1.0, 2.0, 4.0], ddof=1)))
    assert spread([5.0]) == Spread(5.0, 0.0)


@pytest.mark.parametrize("layout", [np.asarray, csr_matrix])
def test_permutations_are_fresh_runs_over_the_rows_in_other_orders(layout):
    rows, targets = stream("binary")
    orders = [np.random.default_rng(seed).permutation(N_ROWS) for seed in range(4)]
    found = over_permutations(LEARNERS["fogd"], layout(rows), targets, orders, seed=3)
    rates = []
    for order in orders:
        online = LEARNERS["fogd"].start(N_FEATURES, seed=3)
        scores = online.learn(layout(rows[order]), targets[order])
        rates.append(np.mean((scores[:, 0] >= 0) != (targets[order] > 0)))
    assert found["mistake_rate"].mean == pytest.approx(np.mean(rates))
    assert found["mistake_rate"].std == pytest.approx(np.std(rates, ddof=1))
    assert found["rows"] == Spread(N_ROWS, 0.0)
    assert {"mistakes", "log_loss", "auc_window", "seconds"} <= set(found)
    assert not {"recall", "confusion", "curve"} & set(found)


def test_permutations_of_several_classes_and_of_regressions_have_their_metrics():
    orders = [np.arange(N_ROWS), np.arange(N_ROWS)[::-1]]
    rows, targets = stream("multiclass")
    several = over_permutations(LEARNERS["fogd"], rows, targets, orders, 4, task="multiclass", n_outputs=4)
    rows, targets = stream("regression")
    errors = over_permutations(LEARNERS["fogd"], rows, targets, orders, 0, task="regression")
    assert several["mistake_rate"].std > 0.0
    assert errors["rmse"].mean == pytest.approx(errors["mse"].mean ** 0.5, rel=0.1)


def test_permutations_survive_a_metric_that_one_of_them_does_not_have():
    rows = np.zeros((4, 1))
    orders = [np.array([0, 1]), np.array([0, 2])]  # the second has one class only, so no AUC
    found = over_permutations(perceptron(gamma=1.0), rows, np.array([1.0, -1.0, 1.0, 1.0]), orders)
    assert found["mistakes"].mean == 0.5
