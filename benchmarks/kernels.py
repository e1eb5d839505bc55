"""Every hot loop beside the least time that the machine needs for its work, measured in the same run.

A bound counts what a loop cannot do without: its multiply-adds at the rate of a loop of nothing else, or reading its
arrays from where they fit if that takes longer, its quotients (a square root counts as one), and its sines and powers
of two at the rate of our own.
"""

from benchmarks.timing import interleaved, table  # isort: skip (sets the number of threads before NumPy is imported)

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks import bayesian, budgets, experts, fogd, isolation, learned, machine
from benchmarks.fogd import D_IN, GAMMA, SINCOS
from benchmarks.machine import Limits, beside_limits
from onkel.core.borrowed import row
from onkel.core.rows import Dense, pack
from onkel.core.verbs import entry_point
from onkel.learners import linear, verbs
from onkel.pieces import scaler
from onkel.pieces.maps.growing import cells, trees
from onkel.pieces.maps.indexing import index_map
from onkel.recipes import make_learner

Line = list[str]
FAR = np.float32(1e4)  # times as far apart as rows with similarities


def at_work(
    name: str, X: Any, y: Any, dtype: str, margin: float = 1.0, **given: Any
) -> tuple[Callable[[], object], Callable[[], float]]:
    """A run over the rows with a model that has seen them, and the share of rows below the margin in the last run."""
    online = make_learner(name, **given).start(X.shape[1], dtype=dtype)
    online.learn(X, y)
    block, importance, out = pack(X, np.dtype(dtype)), np.ones(len(y)), np.zeros((len(y), 1))
    run = verbs.LOOPS[type(online.model)][0].bind(online.model, block, 0, y, importance, out)
    return lambda: run(online.model, block, 0, y, importance, out), lambda: float(np.mean(out[:, 0] * y < margin))


def line(title: str, row: float, bound: float, aim: float) -> Line:
    wanted = f"{100 * aim:.0f} %" if aim else ""
    return [title, f"{1e9 * row:,.0f}", f"{1e9 * bound:,.0f}", f"{100 * bound / row:.0f} %", wanted]


def fixed_widths(quick: bool) -> list[Line]:
    """FOGD: projection, sine and cosine, scores, and updates of the share of rows that have one."""
    lines = []
    for dtype, aims in (("float32", (0.38, 0.45, 0.38)), ("float64", (0.40, 0.40, 0.40))):
        for D, aim in zip((100, 400, 4000), aims, strict=True):
            n = (200_000 if quick else 800_000) // D
            X, y = fogd.data(n)
            run, share = at_work("fogd", X, y, dtype, n_frequencies=D, gamma=GAMMA)
            time, limits = beside_limits({"ours": run}, np.dtype(dtype), 2048, 7 if quick else 21)
            bound = limits.fma * D * (D_IN + SINCOS + 2 + 2 * share())
            lines.append(line(f"fogd, d = {D_IN}, D = {D}, {dtype}", time["ours"] / n, bound, aim))
    return lines


def learned_widths(quick: bool) -> list[Line]:
    """RRF: as FOGD row by row, and the slopes of the widths, for which the noise is read once more."""
    d, D, n = 90, 400, 1_000 if quick else 4_000
    X = np.random.default_rng(0).normal(size=(n, d)).astype(np.float32)
    y = np.where(X[:, 0] * X[:, 1] + 0.5 * X[:, 2] > 0, 1.0, -1.0)
    run, share = at_work("rrf", X, y, "float32", n_frequencies=D, **{**learned.PRINTED, "start": 0.1, "loss": "hinge"})
    time, limits = beside_limits({"ours": run}, np.dtype(np.float32), d * D, 7 if quick else 21)
    work = D * (d + SINCOS + 2) + share() * D * (d + 4)
    bound = max(limits.fma * work, limits.read * d * D * (1.0 + share()))
    return [line(f"rrf as printed, d = {d}, D = {D}, float32", time["ours"] / n, bound, 0.40)]


def supports(quick: bool) -> list[Line]:
    """Budgets: products with all points, and a power of two for each."""
    lines = []
    for B in (100, 1000):
        n = 4_000
        run = budgets.ours("rbp", B, n, fogd.data)
        time, limits = beside_limits({"ours": run}, np.dtype(np.float32), D_IN * B, 7 if quick else 21)
        bound = B * (D_IN * max(limits.fma, limits.read) + limits.power)
        lines.append(line(f"rbp, d = {D_IN}, B = {B}, float32", time["ours"] / n, bound, 0.50))
    return lines


def changes_of_supports(quick: bool) -> list[Line]:
    """Budgets that project, merge, or hand points over to features, where a share of the rows has them do so."""
    lines, n, B, D, repeats = [], 2_000, 100, 400, 5 if quick else 15
    X, y = fogd.data(n)
    real, double = np.dtype(np.float32), np.dtype(np.float64)

    def similar(limits: Limits) -> float:
        return B * (D_IN * max(limits.fma, limits.read) + limits.power)

    run, share = at_work("projectron", X, y, "float32", 0.0, budget=B, gamma=GAMMA, guard=0.0)
    time, limits = beside_limits({"ours": run}, real, D_IN * B, repeats)
    _, of_inverse = beside_limits({}, double, B * B, repeats)
    bound = similar(limits) + share() * B * B * max(of_inverse.fma, of_inverse.read)
    lines.append(line(f"projectron, d = {D_IN}, B = {B}, float32", time["ours"] / n, bound, 0.0))

    run, share = at_work("bsgd_m", X, y, "float32", budget=B, gamma=GAMMA)
    time, limits = beside_limits({"ours": run}, real, D_IN * B, repeats)
    merging = share() * B * (D_IN * max(limits.fma, limits.read) + 3 * limits.power)
    lines.append(line(f"bsgd_m, d = {D_IN}, B = {B}, float32", time["ours"] / n, similar(limits) + merging, 0.0))

    run, share = at_work("dual_sgd", X, y, "float32", budget=B, n_frequencies=D, gamma=GAMMA)
    time, limits = beside_limits({"ours": run}, real, D_IN * D, repeats)
    features = limits.fma * D * (D_IN + SINCOS + 2) * (1.0 + share())  # one point goes for each that comes
    title = f"dual_sgd, d = {D_IN}, B = {B}, D = {D}, float32"
    lines.append(line(title, time["ours"] / n, similar(limits) + features, 0.0))
    return lines


def standardising(quick: bool) -> list[Line]:
    """Rows by the statistics of those before: four quotients and roots to place each column, four to count it in."""
    X, _ = fogd.data(4_000)
    block, counted = pack(X, np.float64), np.ones(len(X))
    state, out = scaler.scaler(D_IN), Dense(np.empty(X.shape, np.float32))
    run = {"ours": lambda: scaler.learn(state, block, counted, out)}
    time, limits = beside_limits(run, np.dtype(np.float64), 2048, 7 if quick else 21)
    return [line(f"standardising, d = {D_IN}, float64", time["ours"] / len(X), 8 * D_IN * limits.quotient, 0.0)]


def composites(quick: bool) -> list[Line]:
    """Loops of several parts: what each part cannot do without, added up."""
    lines, n, repeats = [], 4_000, 7 if quick else 21
    X, y = fogd.data(n)
    D, B, rank, filled = 256, 100, 20, 20

    noisy, wanted = budgets.noisy(n)  # or readouts that are sure of a row would not learn from it
    run, _ = at_work("auto", noisy, wanted, "float32", n_frequencies=D, standardise=False)
    time, limits = beside_limits({"ours": run}, np.dtype(np.float32), D_IN * D, repeats)
    answers = limits.fma * D * (D_IN + SINCOS + 3 * 2)  # three readouts of 2 D features
    readouts = D * 3 * (10 * limits.fma + 4 * limits.quotient)  # Adagrad: a quotient and a root for each feature
    frequencies = 2 * D_IN * D * max(limits.fma, limits.read) + 2 * D * limits.quotient
    lines.append(line(f"auto, d = {D_IN}, D = {D}, float32", time["ours"] / n, answers + readouts + frequencies, 0.0))

    run, share = at_work("nogd", X, y, "float32", budget=B, rank=rank, gamma=GAMMA)
    time, limits = beside_limits({"ours": run}, np.dtype(np.float32), D_IN * B, repeats)
    bound = limits.fma * (B * (D_IN + rank) + rank * (1 + share())) + limits.power * B
    lines.append(line(f"nogd, d = {D_IN}, B = {B}, k = {rank}, float32", time["ours"] / n, bound, 0.0))

    thin = sparse.random(n, 200, filled / 200, "csr", np.float32, random_state=0)
    run, share = at_work("fogd", thin, y, "float32", n_frequencies=400, gamma=GAMMA)
    time, limits = beside_limits({"ours": run}, np.dtype(np.float32), 200 * 400, repeats)
    bound = 400 * (filled * max(limits.fma, limits.read) + limits.fma * (SINCOS + 2 + 2 * share()))
    lines.append(line(f"fogd, CSR, {filled} of 200 columns, D = 400, float32", time["ours"] / n, bound, 0.0))
    return lines


def partitions(quick: bool) -> list[Line]:
    """The maps of isolation kernels beside one walk after the other, and beside the products of their distances."""
    rng, lines, repeats = np.random.default_rng(0), [], 3 if quick else 9
    X, Z = (rng.normal(size=(n, D_IN)).astype(np.float32) for n in (8192, 4096))
    block, made = pack(Z, np.float32), trees(X, 100, 256, None, np.float32, 0)
    found = np.zeros((len(Z), 100), np.int64)
    isolation.walk_trees(made, Z, found)
    assert (found == index_map(made, block)).all()
    contest: dict[str, Callable[[], object]] = {
        "ours": lambda: index_map(made, block),
        "naive": lambda: isolation.walk_trees(made, Z, found),
    }
    y = np.where(Z[:, 0] > 0, 1.0, -1.0)
    contest["learner"], _ = at_work("ik_ogd", Z, y, "float32", partition="trees", t=100, psi=256, sample=4096)
    time = interleaved(contest, repeats)
    lines.append(["trees, t = 100, psi = 256", ratio(time["naive"] / time["ours"]), "one walk after the other", ">= 2"])
    lines.append(["ik_ogd, t = 100, psi = 256", ratio(time["ours"] / time["learner"]), "its trees alone", ""])
    for psi in (64, 256):
        near = cells(X, 100, psi, 2, np.float32, 0)
        points = np.ascontiguousarray(near.points[:, near.members.ravel()])
        contest = {
            "ours": lambda near=near: index_map(near, block),
            "BLAS": lambda points=points: Z @ points,
        }
        time = interleaved(contest, repeats)
        title = f"cells, t = 100, psi = {psi}"
        lines.append([title, ratio(time["BLAS"] / time["ours"]), "BLAS, products alone", ">= 0.67"])
    return lines


def ratio(number: float) -> str:
    return f"{number:.2f}"


def many(quick: bool) -> list[Line]:
    """A step of particles beside its projections and sines, experts beside one of them."""
    lines = [["bkm, S = 100, batch 200, D = 400", ratio(1.0 / bayesian.step_ratio(quick)), "its projections and sines"]]
    lines.append(["raker, three kernels", ratio(1.0 / experts.raker_ratio(quick)), "one fogd"])
    return [[*cells, aim] for cells, aim in zip(lines, (">= 0.40", ">= 0.30"), strict=True)]


@entry_point
def one_by_one(model: Any, block: Any, targets: Any, work: Any, features: Any, scores: Any, slopes: Any) -> None:
    """The loop of linear learners with tiles of one row, as a map that changes with every row must have them."""
    for i in range(targets.shape[0]):
        linear.lift(model.feature_map, block, i, 1, work, features)
        linear.predict(model, row(features, 0), row(scores, i))
        linear.update(model, block, i, row(features, 0), targets[i], 1.0, row(scores, i), slopes, row(work, 0))


def rows_with_learned_widths(quick: bool) -> list[Line]:
    """RRF beside FOGD that takes its rows one by one."""
    n, D, start = 8_000, learned.D, float(np.sqrt(2 * GAMMA))
    X, y = fogd.data(n)
    online = make_learner("fogd", n_frequencies=D, gamma=GAMMA).start(D_IN)
    online.learn(X, y)
    own = (pack(X, np.float32), y, np.empty((1, D), np.float32), np.empty((1, 2 * D), np.float32))
    room = np.zeros((n, 1)), np.zeros(1)
    contest = {
        "fogd": lambda: one_by_one(online.model, *own, *room),
        "rrf as printed": learned.ours("rrf", n, **{**learned.PRINTED, "start": start}),
        "rrf, Adagrad": learned.ours("rrf", n, start=start, standardise=False),
    }
    time = interleaved(contest, 5 if quick else 21)
    return [
        [f"{name}, d = {D_IN}, D = {D}", ratio(time["fogd"] / time[name]), "fogd, row by row", aim]
        for name, aim in (("rrf as printed", ">= 0.67"), ("rrf, Adagrad", ""))
    ]


def far_apart(quick: bool) -> list[Line]:
    """Rows so far apart that every similarity is 0, beside near ones; labels are noise, so that as many are learned."""
    lines, n, repeats = [], 2_000, 7 if quick else 21
    X, y = budgets.noisy(n)
    contestants: list[tuple[str, dict[str, Any]]] = [
        ("rbp", {"budget": 100}),
        ("rbp", {"budget": 1000}),
        ("bsgd_m", {"budget": 100, "lam": 1.0}),  # scores so small that all rows are learned
    ]
    for name, given in contestants:
        for dtype in ("float32", "float64"):
            near, far = (at_work(name, rows, y, dtype, gamma=GAMMA, **given) for rows in (X, FAR * X))
            time = interleaved({"near": near[0], "far": far[0]}, repeats)
            title = f"{name}, B = {given['budget']}, {dtype}"
            lines.append([title, ratio(time["far"] / time["near"]), "rows with similarities", "<= 1.30"])
    return lines


def main(quick: bool = False) -> None:
    machine.main(quick)
    header = ["", "ns/row", "bound", "of the bound", "aim"]
    lines = fixed_widths(quick) + learned_widths(quick) + supports(quick) + composites(quick)
    lines += changes_of_supports(quick) + standardising(quick)
    table("Hot loops, one core: time per row against the machine's bound", header, lines)
    header = ["", "times as fast", "as", "aim"]
    table("Hot loops, one core: ratios", header, rows_with_learned_widths(quick) + partitions(quick) + many(quick))
    header = ["", "times as long", "as", "aim"]
    table("Rows so far apart that all similarities are 0, one core", header, far_apart(quick))
