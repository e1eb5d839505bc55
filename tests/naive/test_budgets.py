"""Identities of the budgeted twins, for what no worked number covers."""

import numpy as np
import pytest

from tests import naive
from tests.naive import maps, merging
from tests.naive.bogd_pp import removal_probabilities
from tests.naive.worked import C8, X8, Y8


def close(actual, expected, tolerance=1e-7):
    np.testing.assert_allclose(actual, expected, rtol=0.0, atol=tolerance)


QUADRATIC = maps.polynomial(1.0, 0.5, 2)  # six monomials in two inputs, so six points span everything
MANY = np.random.default_rng(3).normal(size=(40, 2))


@pytest.mark.parametrize(
    ("twin", "parameters", "unlimited", "its_parameters"),
    [
        ("projectron", {"eta": 0.7, "epsilon": 0.1}, "perceptron", {"eta": 0.7, "epsilon": 0.1}),
        ("bpa_p", {"C": 0.3}, "passive_aggressive", {"C": 0.3}),
        ("bsgd_p", {"lam": 0.5}, "bsgd_r", {"lam": 0.5, "budget": 1000}),
    ],
)
def test_projecting_learners_lose_nothing_when_the_support_spans_everything(
    twin, parameters, unlimited, its_parameters
):
    y = np.sign(MANY[:, 0] * MANY[:, 1] + 0.3)
    projected = getattr(naive, twin)(MANY, y, "binary", 1, QUADRATIC, budget=6, guard=1e-10, **parameters)
    kept = getattr(naive, unlimited)(MANY, y, "binary", 1, QUADRATIC, **its_parameters)
    assert len(projected.state["rows"]) == 6
    close(projected.scores, kept.scores, 1e-6)


def test_bogd_pp_keeps_the_expected_scores():
    kernel, parameters = maps.gaussian(0.5), {"eta": 0.5, "lam": 0.1}
    X, y = X8[[0, 1, 4, 5, 6]], Y8[[0, 1, 4, 5, 6]]
    p = removal_probabilities([0.95**2, 0.95, 1.0])
    middles = np.cumsum(p) - np.array(p) / 2.0
    draws = [iter([u, 0.5]) for u in middles]
    runs = [naive.bogd_pp(X, y, "binary", 1, kernel, budget=3, uniforms=u, **parameters).scores for u in draws]
    unlimited = naive.bogd(X, y, "binary", 1, kernel, budget=9, epsilon=0.0, **parameters).scores
    close(sum(chance * scores for chance, scores in zip(p, runs, strict=True)), unlimited, 1e-12)


def test_the_merging_table_holds_global_maximisers():
    h = np.linspace(0.0, 1.0, 100001)
    for m, kappa in [(1, 1), (1, 399), (60, 4), (150, 30), (199, 53), (200, 54), (200, 55), (200, 300), (120, 200)]:
        m, kappa = m / 400, kappa / 400
        values = m * kappa ** ((1.0 - h) ** 2) + (1.0 - m) * kappa ** (h**2)
        found = merging.best(m, kappa)
        assert 0.0 <= found <= 0.5
        assert merging.value(m, 1.0 - m, kappa, found) >= np.max(values) - 1e-14
    assert [merging.best(0.0, 0.3), merging.best(0.3, 0.0), merging.best(0.3, 1.0)] == [0.0, 0.0, 0.3]


def test_tvm_that_forgets_nothing_is_the_support_vector_machine():
    kernel, C = maps.gaussian(0.5), 2.0
    state = naive.tvm(X8, Y8, "binary", 1, kernel, budget=8, C=C, band=np.inf, sweeps=1000).state
    close(state["points"], X8)
    alpha = Y8 * state["coefficients"][:, 0]
    margins = Y8 * [sum(a * kernel(x, s) for a, s in zip(state["coefficients"][:, 0], X8, strict=True)) for x in X8]
    assert np.all((alpha >= 0.0) & (alpha <= C))
    assert np.all(margins[alpha < C] > 1.0 - 2e-3)
    assert np.all(margins[alpha > 0.0] < 1.0 + 2e-3)
    assert 0 < np.sum((alpha > 0.0) & (alpha < C)) < 8  # both kinds of support vectors occur


def test_tvm_merges_the_closest_pair_into_its_weighted_mean():
    X, y = np.array([[0.0, 0.0], [4.0, 0.0], [0.1, 0.0], [4.0, 0.4]]), np.array([1.0, -1.0, -1.0, -1.0])
    state = naive.tvm(X, y, "binary", 1, maps.gaussian(0.5), budget=2, band=np.inf, far=np.inf).state
    close(state["points"], [[0.05, 0.0], [4.0, 0.2]], 1e-12)
    assert state["rows"].tolist() == [0, 1]


def test_tvm_drops_who_is_far_from_the_boundary():
    X, y = np.array([[0.0, 0.0], [4.0, 0.0], [0.1, 0.0]]), np.array([1.0, -1.0, -1.0])
    state = naive.tvm(X, y, "binary", 1, maps.gaussian(0.5), budget=2, band=np.inf, far=0.9).state
    assert state["rows"].tolist() == [2, 1]  # slots 0 and 1 have |f| = 1; the newcomer moves into the first


@pytest.mark.parametrize(
    ("learner", "parameters"),
    [("perceptron", {}), ("bpa_s", {"budget": 3}), ("bsgd_p", {"budget": 3, "lam": 0.5})],
)
def test_one_vs_rest_runs_one_binary_learner_per_class(learner, parameters):
    kernel = maps.gaussian(0.5)
    trace = naive.one_vs_rest(X8, C8, "multiclass", 3, kernel, learner=learner, **parameters)
    last = getattr(naive, learner)(X8, np.where(C8 == 2, 1.0, -1.0), "binary", 1, kernel, **parameters)
    close(trace.scores[:, 2:], last.scores)
    close(trace.state["coefficients of 2"], last.state["coefficients"])


# ---- BPA: the short rule against the literal objective ----


def least_objective(K, a, t, y, C, r, V):
    """min over beta on V of |f' - f|^2 / 2 + C max(0, 1 - y f'(x_t)), f' = f - a_r phi_r + sum_V beta phi.

    Solved for two slopes of the hinge: with multiplier tau, beta = K_V^-1 (a_r k_r + tau y k_t); tau is scanned.
    """
    f_t, least = a @ K[: len(a), t], np.inf
    for tau in np.linspace(0.0, C, 2001):
        move = np.zeros(len(K))
        move[V] = np.linalg.solve(K[np.ix_(V, V)], a[r] * K[V, r] + tau * y * K[V, t])
        move[r] -= a[r]
        least = min(least, 0.5 * move @ K @ move + C * max(0.0, 1.0 - y * (f_t + move @ K[:, t])))
    return least


@pytest.mark.parametrize("twin", ["bpa_s", "bpa_nn", "bpa_p"])
def test_bpa_drops_who_the_literal_objective_drops(twin):
    kernel, B, C, checked = maps.gaussian(0.5), 4, 0.7, 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(B + 1, 2)), rng.choice([-1.0, 1.0], size=B + 1)
        before = getattr(naive, twin)(X[:B], y[:B], "binary", 1, kernel, budget=B, C=C)
        after = getattr(naive, twin)(X, y, "binary", 1, kernel, budget=B, C=C)
        if before.state["rows"].tolist() != [0, 1, 2, 3] or B not in after.state["rows"]:
            continue  # a row without loss: nobody goes
        K = np.array([[kernel(x, s) for s in X] for x in X])
        others = [[j for j in range(B) if j != r] for r in range(B)]
        nearest = [[max(others[r], key=lambda j: K[r, j])] for r in range(B)]
        helpers = {"bpa_s": [[]] * B, "bpa_nn": nearest, "bpa_p": others}[twin]
        a = before.state["coefficients"][:, 0]
        objectives = [least_objective(K, a, B, y[B], C, r, [*helpers[r], B]) for r in range(B)]
        assert np.argmin(objectives) == list(after.state["rows"]).index(B)
        checked += 1
    assert checked > 3
