"""The naive twins and slow maps print the worked numbers of the specification.

Where the specification does not print the inputs of a map, they were recovered from the printed numbers (comments
below); they are determined up to choices that give the very same numbers.
"""

import numpy as np
import pytest

from tests import naive
from tests.naive import maps, merging
from tests.naive.bogd_pp import removal_probabilities
from tests.naive.common import slopes
from tests.naive.forgetron import shrinkage
from tests.naive.worked import C8, CASES, R8, X8, Y8, U, build, by_age, by_rows, consequences
from tests.naive.worked_budgets import BSGD_M_PRINTED

TOLERANCE = 1e-7
TASKS = {
    "binary": (Y8, 1, ["hinge", "logistic", "softmax"]),
    "multiclass": (C8, 3, ["hinge", "logistic", "softmax"]),
    "regression": (R8, 1, ["squared", "absolute", "epsilon_insensitive"]),
}
TASK_LOSSES = [(task, loss) for task, (_, _, losses) in TASKS.items() for loss in losses]


def close(actual, expected, tolerance=TOLERANCE):
    np.testing.assert_allclose(actual, expected, rtol=0.0, atol=tolerance)


def run(case):
    parameters = dict(case.parameters)
    if "uniforms" in parameters:
        parameters["choose"] = by_age(parameters.pop("uniforms"))
    return getattr(naive, case.twin)(case.X, case.y, case.task, case.outputs, build(case.kernel), **parameters)


# ---- learners ----


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_twin_prints_the_worked_numbers(case):
    trace = run(case)
    assert trace.scores.shape == (len(case.X), case.outputs)
    if case.scores is not None:
        close(trace.scores, case.scores)
    observed = {**trace.state, **consequences(case, trace.scores)}
    printed = case.state
    if "rows" in printed:
        observed, printed = by_rows(observed), by_rows(printed)
    for entry, expected in printed.items():
        assert np.shape(observed[entry]) == np.shape(expected), entry
        close(observed[entry], expected)


@pytest.mark.parametrize(
    ("Q", "M", "delta", "mu", "phi"),
    [
        (0.0, 3, 1.0, 1.2, 1.0),
        (0.0, 3, 1.0, 0.3, 0.625),
        (1.8, 5, 0.6, 0.9, 1.0),
        (2.34375, 6, 0.48235656, 1.5, 1.0),
        (0.9, 2, 1.0, 0.5, 0.01874999999999999),
    ],
)
@pytest.mark.parametrize("root", ["exact", "published"])
def test_forgetron_prints_the_worked_shrinkages(root, Q, M, delta, mu, phi):
    close(shrinkage(Q, M, delta, mu, root), phi, 1e-14)


def test_bogd_pp_prints_the_worked_probabilities():
    p = removal_probabilities([0.5, 0.25, 1.0])
    close(p, [0.35714286, 0.42857143, 0.21428571])
    close(1.0 / (1.0 - np.array(p)), [1.55555556, 1.75, 1.27272727])


MERGES = [
    (0.6, 1.0, 0.5, 0.71321, 1.344443, 0.042473),
    (0.6, 1.0, 1.0, 0.5, 1.760223, 0.101613),
    (0.6, 1.0, -0.3, 1.17680, 0.836285, 0.030627),
    (0.1, 0.2, 1.0, 0.02165, 1.020994, 0.037571),
]


@pytest.fixture
def printed_sections(monkeypatch):
    """The numbers of golden sections that the printed mergings were made with."""
    monkeypatch.setattr(merging, "STEPS_WITHIN", 18)
    monkeypatch.setattr(merging, "STEPS_BEYOND", 22)


@pytest.mark.parametrize(("kappa", "a_i", "a_j", "h", "a_z", "degradation"), MERGES)
def test_golden_sections_print_the_worked_mergings(kappa, a_i, a_j, h, a_z, degradation):
    found = merging.merged("golden", kappa, np.array([a_i]), np.array([a_j]))
    close(found[0], h, 1e-4)
    close([found[1][0], found[2]], [a_z, degradation], 5.1e-7)  # six digits are printed


@pytest.mark.parametrize(("kappa", "a_i", "a_j", "h", "a_z", "degradation"), MERGES)
@pytest.mark.usefixtures("printed_sections")
def test_the_printed_number_of_golden_sections_prints_h_too(kappa, a_i, a_j, h, a_z, degradation):
    close(merging.merged("golden", kappa, np.array([a_i]), np.array([a_j]))[0], h, 5.1e-6)


@pytest.mark.parametrize(("kappa", "a_i", "a_j", "h", "a_z", "degradation"), [MERGES[0], MERGES[1], MERGES[3]])
def test_the_table_prints_the_worked_mergings_of_one_sign(kappa, a_i, a_j, h, a_z, degradation):
    found = merging.merged("table", kappa, np.array([a_i]), np.array([a_j]))
    close(found[0], h, 1e-4)
    close([found[1][0], found[2]], [a_z, degradation], 5.1e-7)


@pytest.mark.usefixtures("printed_sections")
def test_bsgd_m_prints_the_worked_run_if_merged_points_stay_between_the_two(monkeypatch):
    plain = merging.place
    monkeypatch.setattr(merging, "STEPS_WITHIN", 18)  # as the printed run has them
    monkeypatch.setattr(merging, "STEPS_BEYOND", 22)
    monkeypatch.setattr(merging, "place", lambda h, x_i, x_j: plain(min(max(h, 0.0), 1.0), x_i, x_j))
    scores = run(BSGD_M_PRINTED).scores
    close(scores[:6], BSGD_M_PRINTED.scores[:6])  # then two coefficients add up to 0, and rounding decides


# ---- kernels and maps ----


def test_gaussian_prints_the_worked_similarities():
    kernel = maps.gaussian(0.5)
    similarities = [kernel(X8[0], X8[1]), kernel(X8[0], X8[2]), kernel(X8[1], X8[2])]
    close(similarities, [0.36787944117144233, 0.6065306597126334, 0.6065306597126334], 1e-15)


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        (maps.gaussian(0.5), 0.119433),
        (maps.gaussian(0.5 / 0.7**2), 0.013079),
        (maps.laplacian(1.0), 0.082085),
        (maps.laplacian(1.0 / 0.7), 0.028116),
        (maps.cauchy(1.0), 0.16),
        (maps.cauchy(1.0 / 0.7**2), 0.072263),
    ],
)
def test_kernels_print_the_worked_values_at_one_difference(kernel, expected):
    close(kernel(np.array([2.0, -0.5]), np.zeros(2)), expected, 5.1e-7)  # six digits are printed


def test_fourier_prints_the_worked_features():
    unscaled = [0.87758256, 0.54030231, 0.96891242, 0.47942554, -0.84147098, 0.24740396]
    scaled = [0.50667253, 0.31194368, 0.55940185, 0.27679646, -0.4858235, 0.14283874]
    close(np.sqrt(3.0) * maps.fourier(U)(X8[0]), unscaled)
    close(maps.fourier(U)(X8[0]), scaled)


def test_phases_in_quadrature_give_the_same_similarities_as_fourier():
    b = np.array([0.3, 1.0, 2.0])
    z, expected = maps.phase(np.hstack([U, U]), np.concatenate([b, b - np.pi / 2])), maps.fourier(U)
    close([z(X8[0]) @ z(s) for s in X8], [expected(X8[0]) @ expected(s) for s in X8], 1e-12)


@pytest.mark.parametrize(
    ("count", "eigenvalues", "row", "square_norm_of_rank_2"),
    [
        (3, [2.06120405, 0.63212056, 0.30667539], 3, 0.22862256616221832),
        # the second set of landmarks is recovered: of all fours of the eight points only 0..3 gives both numbers
        (4, [2.2256913, 1.06293679, 0.48927763, 0.22209428], 6, 0.8424126482695284),
    ],
)
def test_nystroem_prints_the_worked_numbers(count, eigenvalues, row, square_norm_of_rank_2):
    kernel, points = maps.gaussian(0.5), X8[:count]
    close(maps.nystroem_matrix(points, kernel, count, 1e-8)[1], eigenvalues)
    z = maps.nystroem(points, kernel, 2, 1e-8)(X8[row])
    assert len(z) == 2
    close(z @ z, square_norm_of_rank_2)


def test_nystroem_of_full_rank_reproduces_the_kernel():
    kernel, points = maps.gaussian(0.5), X8[:4]
    z = maps.nystroem(points, kernel, 4, 1e-8)
    close([[z(a) @ z(b) for a in points] for b in points], [[kernel(a, b) for a in points] for b in points], 1e-12)
    close(z(X8[6]) @ z(X8[6]), 0.9639447711619408)


def test_nystroem_drops_the_eigenvalue_of_a_repeated_landmark():
    points = np.concatenate([X8[:3], X8[:1]])
    assert len(maps.nystroem(points, maps.gaussian(0.5), 4, 1e-8)(X8[6])) == 3


# recovered: of histograms in steps of .05 these (up to order and inputs that meet a 0) give all seven numbers
HISTOGRAMS = np.array([[0.2, 0.5, 0.3], [0.4, 0.1, 0.0]])


@pytest.mark.parametrize(
    ("order", "period", "expected", "tolerance"),
    [
        (0, 0.8, 0.405160, 5.1e-7),
        (1, 0.8, 0.483175, 5.1e-7),
        (2, 0.5, 0.439055, 5.1e-7),
        (3, 0.4, 0.435642, 5.1e-7),
        (0, 0.8, 0.40515960817967844, TOLERANCE),
        (1, 0.5, 0.42103073650002887, TOLERANCE),
        (2, 0.4, 0.4315261152212693, TOLERANCE),
    ],
)
def test_chi2_map_prints_the_worked_approximations(order, period, expected, tolerance):
    x, s = map(maps.chi2(order, period), HISTOGRAMS)
    assert len(x) == 3 * (2 * order + 1)
    close(x @ s, expected, tolerance)


def test_chi2_prints_the_worked_kernel_value_and_features():
    close(maps.additive_chi2()(*HISTOGRAMS), 0.433333, 5.1e-7)
    close(maps.chi2(1, 0.8)(np.array([0.2])), [0.4, 0.06342498, -0.21790134])


def test_sorf_prints_the_worked_matrix():
    # recovered: eight of the 64 choices of signs give this matrix
    W = maps.sorf_matrix([[1, -1], [1, 1], [-1, 1]])
    close(W, [[-1, -1], [-1, 1]])


def test_fastfood_prints_the_worked_matrix():
    # recovered: lengths are printed, gains are determined up to a factor, signs and permutation up to a symmetry of H
    V = maps.fastfood_matrix([1, -1, 1, 1], [2, 0, 3, 1], [0.5, -1.0, 1.5, 0.2], [1.8, 2.1, 1.5, 2.4])
    close(
        V,
        [
            [0.57401352, 1.05235813, -1.33936489, -0.09566892],
            [1.56259237, -0.11161374, -0.66968244, 1.22775115],
            [-0.87696511, -0.4783446, -0.0797241, -1.11613741],
            [0.12755856, -1.78581985, 1.40314417, -0.76535136],
        ],
    )
    close(np.linalg.norm(V, axis=1), [1.8, 2.1, 1.5, 2.4])


# ---- identities for what no worked number covers ----


def value(loss, task, y, f, epsilon):
    """The losses whose slopes the twins use."""
    if task == "regression":
        error = abs(f[0] - y)
        return {"squared": 0.5 * error**2, "absolute": error, "epsilon_insensitive": max(0.0, error - epsilon)}[loss]
    if task == "binary":
        m = y * f[0]
    elif loss == "softmax":
        return np.log(np.sum(np.exp(f))) - f[int(y)]
    else:
        m = f[int(y)] - max(np.delete(f, int(y)))
    return max(0.0, 1.0 - m) if loss == "hinge" else np.log1p(np.exp(-m))


@pytest.mark.parametrize(("task", "loss"), TASK_LOSSES)
def test_slopes_are_the_derivatives_of_the_loss(task, loss):
    targets, outputs, _ = TASKS[task]
    points = np.random.default_rng(1).normal(size=(20, outputs))
    for y in np.unique(targets):
        for f in points:
            if loss == "squared" and abs(y - f[0]) < 0.3:
                continue  # silent near the target by design, whatever its derivative
            nudges = 1e-6 * np.eye(outputs)
            central = [value(loss, task, y, f + h, 0.3) - value(loss, task, y, f - h, 0.3) for h in nudges]
            close(slopes(loss, task, y, f, 0.3), np.array(central) / 2e-6, 1e-6)


@pytest.mark.parametrize(("task", "loss"), TASK_LOSSES)
def test_linear_features_and_the_linear_kernel_learn_the_same_scores(task, loss):
    y, outputs, _ = TASKS[task]
    parameters = {"eta": 0.3, "lam": 0.2, "loss": loss, "epsilon": 0.1}
    held = naive.ogd(X8, y, task, outputs, maps.linear(), **parameters)
    weights = naive.fogd(X8, y, task, outputs, lambda x: x, **parameters)
    close(held.scores, weights.scores, 1e-12)
    close(held.state["coefficients"].T @ X8[held.state["rows"]], weights.state["weights"], 1e-12)


@pytest.mark.parametrize(("task", "loss"), TASK_LOSSES)
def test_rks_with_batches_of_one_row_is_fogd(task, loss):
    y, outputs, _ = TASKS[task]
    z = maps.phase(U, [0.3, 1.0, 2.0])
    parameters = {"eta": 0.3, "lam": 0.2, "loss": loss, "epsilon": 0.1}
    close(
        naive.rks(X8, y, task, outputs, z, batch=1, **parameters).scores,
        naive.fogd(X8, y, task, outputs, z, **parameters).scores,
        1e-12,
    )


def test_rks_moves_only_at_the_end_of_a_batch():
    z = maps.phase(U, [0.3, 1.0, 2.0])
    trace = naive.rks(X8, Y8, "binary", 1, z, eta=0.3, lam=0.2, batch=3, loss="hinge", epsilon=0.0)
    Z = np.array([z(x) for x in X8])
    first = 0.1 * Y8[:3] @ Z[:3]  # all hinge slopes are -y at f = 0
    second = 0.94 * first + 0.1 * (Y8[3:6] * (Y8[3:6] * (Z[3:6] @ first) < 1.0)) @ Z[3:6]
    close(trace.scores[:, 0], np.concatenate([np.zeros(3), Z[3:6] @ first, Z[6:] @ second]), 1e-12)
    close(trace.state["weights"][0], second, 1e-12)


@pytest.mark.parametrize("task", TASKS)
def test_nogd_whose_landmarks_span_everything_is_ogd(task):
    y, outputs, (loss, *_) = TASKS[task]
    kernel = maps.polynomial(1.0, 0.5, 2)  # six monomials in two inputs, and six landmarks
    parameters = {"eta": 0.3, "lam": 0.2, "loss": loss, "epsilon": 0.0}
    X, y = np.concatenate([X8, X8[::-1] + 0.1]), np.concatenate([y, y[::-1]])
    held = naive.ogd(X, y, task, outputs, kernel, **parameters)
    mapped = naive.nogd(X, y, task, outputs, kernel, budget=6, rank=6, cut=1e-12, **parameters)
    assert mapped.state["weights"].shape == (outputs, 6)
    close(mapped.scores, held.scores, 1e-9)


@pytest.mark.parametrize("variant", ["PA", "PA-I", "PA-II"])
@pytest.mark.parametrize("task", TASKS)
def test_passive_aggressive_without_a_cap_repairs_the_loss(task, variant):
    y, outputs, _ = TASKS[task]
    kernel = maps.gaussian(0.5)
    X, y = np.concatenate([X8[:1], X8[:1]]), np.array([y[-1], y[-1]])
    scores = naive.passive_aggressive(X, y, task, outputs, kernel, C=1e12, variant=variant, epsilon=0.1).scores
    repaired = {"binary": [-1.0], "multiclass": [-0.5, 0.5, 0.0], "regression": [0.6]}[task]
    close(scores[1], repaired, 1e-9)


def test_norma_descends_in_its_margin_unless_published():
    parameters = {"eta": 0.3, "lam": 0.1, "nu": 0.4, "start": 0.0, "bias": True}
    paths = [
        naive.norma(X8[:1], Y8[:1], "binary", 1, maps.gaussian(0.5), published=published, **parameters)
        for published in (False, True)
    ]
    close([trace.state["threshold"] for trace in paths], [-0.18, 0.18], 1e-12)  # one error: rho -+ eta (1 - nu)


def test_norma_keeps_its_tube_open_unless_published():
    parameters = {"eta": 0.3, "lam": 0.1, "nu": 0.4, "start": 0.1, "bias": False}
    kernel, still = maps.gaussian(0.5), np.zeros(2)
    clipped, unclipped = (
        naive.norma(X8[:2], still, "regression", 1, kernel, published=published, **parameters).state["path"]
        for published in (False, True)
    )
    close(clipped, [0.0, 0.0], 1e-12)
    close(unclipped, [-0.02, 0.16], 1e-12)  # -0.02: nothing fits in, so even a perfect prediction is an error
