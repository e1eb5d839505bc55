"""What the tests know of every recipe: a row of `RECIPE_TABLE`. A recipe without a row is an error."""

from typing import Any

from onkel.pieces import kernels
from tests.expert_table import EXPERT_TABLE
from tests.recipe_rows import LOSSES as LOSSES
from tests.recipe_rows import N_ROWS as N_ROWS
from tests.recipe_rows import TASKS as TASKS
from tests.recipe_rows import Row, by_task

MADE_KERNELS = [
    kernels.laplacian(sigma=2.0),
    kernels.cauchy(sigma=1.5),
    kernels.polynomial(degree=3, gamma=0.25, coef0=1.0),
    kernels.linear(),
    kernels.additive_chi2(),
]
GAUSSIAN = {"sigma": 1.5}
FEW = {"n_frequencies": 21}
LEARNED = {
    "eta": by_task(0.5, 0.5, 0.1),
    "loss": by_task("hinge", "hinge", "squared"),
    "epsilon": by_task(0.0, 0.0, 0.0),
}
SMALL = {"budget": 12, **GAUSSIAN}
STEEP = {"lam": 0.05, **SMALL}


def at_the_edges(task: str, given: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Budgets of one and two rows, one larger than the stream, a kernel without a width, and one that underflows."""
    return [(task, {**given, "budget": budget, **GAUSSIAN}) for budget in (1, 2, N_ROWS + 1)] + [
        (task, {**given, "budget": 12, "kernel": kernels.polynomial(degree=2, gamma=0.5, coef0=1.0)}),
        (task, {**given, "budget": 12, "sigma": 0.2}),
    ]


RECIPE_TABLE = {
    **EXPERT_TABLE,
    "perceptron": Row(
        parameters=by_task(GAUSSIAN, GAUSSIAN, GAUSSIAN),
        defaults={"eta": by_task(1.0, 1.0, 0.1)},
        variations=[
            ("binary", {"eta": 0.3, "gamma": 2.0}),
            ("regression", {"eta": 0.3, "epsilon": 0.0, **GAUSSIAN}),
            ("multiclass", {"kernel": "laplacian", "sigma": 3.0}),
        ],
    ),
    "passive_aggressive": Row(
        parameters=by_task({"C": 0.5, **GAUSSIAN}, {"C": 0.3, **GAUSSIAN}, {"C": 0.5, **GAUSSIAN}),
        defaults={},
        variations=[
            (task, {"C": C, "variant": variant, **GAUSSIAN})
            for task in TASKS
            for C, variant in [(0.2, "PA-I"), (1.0, "PA"), (0.2, "PA-II"), (5.0, "PA-II")]
        ]
        + [("binary", {"kernel": kernel}) for kernel in MADE_KERNELS],
    ),
    "ogd": Row(
        parameters=by_task(GAUSSIAN, GAUSSIAN, GAUSSIAN),
        defaults={"eta": by_task(0.2, 0.5, 0.1), "loss": by_task("hinge", "hinge", "squared")},
        variations=[(task, {"loss": loss, "eta": 0.4, "lam": 0.1, **GAUSSIAN}) for task, loss in LOSSES]
        + [("binary", {"kernel": kernel, "eta": 0.1}) for kernel in MADE_KERNELS]
        + [
            ("binary", {"eta": 2.0, "lam": 0.45, **GAUSSIAN}),  # forgets nine tenths per row: scale is folded in often
            ("regression", {"epsilon": 0.0, "eta": 0.5, **GAUSSIAN}),
        ],
    ),
    "norma": Row(
        parameters=by_task(GAUSSIAN, GAUSSIAN, GAUSSIAN),
        defaults={"start": by_task(0.0, 0.0, 0.1), "bias": by_task(True, True, False)},
        variations=[
            (task, {"eta": 0.2, "lam": 0.1, "nu": 0.3, "bias": bias, "published": published, **GAUSSIAN})
            for task in TASKS
            for bias in (True, False)
            for published in (True, False)
        ]
        + [("binary", {"start": 0.5, "lam": 0.0, **GAUSSIAN}), ("regression", {"start": 0.0, **GAUSSIAN})],
    ),
    "fogd": Row(
        parameters=by_task(*[{"n_frequencies": 37, **GAUSSIAN}] * 3),
        defaults={"eta": by_task(0.8, 4.0, 0.27), "loss": by_task("hinge", "hinge", "squared")},
        variations=[
            (task, {"n_frequencies": 37, "loss": loss, "eta": 0.4, "lam": 0.1, **GAUSSIAN}) for task, loss in LOSSES
        ]
        + [
            ("binary", {"n_frequencies": 16, "draw": "orthogonal", **GAUSSIAN}),
            ("binary", {"n_frequencies": 16, "draw": "sorf", **GAUSSIAN}),
            ("binary", {"n_frequencies": 13, "draw": "fastfood", **GAUSSIAN}),
            ("binary", {"kernel": kernels.additive_chi2()}),
            ("binary", {"n_frequencies": 16, "kernel": "laplacian", "sigma": 3.0}),
            ("binary", {"n_frequencies": 1, "kernel": "cauchy", "sigma": 3.0}),
            ("binary", {"n_frequencies": 16, "eta": 2.0, "lam": 0.45, **GAUSSIAN}),
        ],
        constant_memory=True,
        draws=True,
    ),
    "nogd": Row(
        parameters=by_task(*[{"budget": 20, "rank": 7, **GAUSSIAN}] * 3),
        defaults={
            "rank": by_task(20, 20, 20),  # a fifth of the default budget
            "eta": by_task(0.2, 0.5, 0.1),
            "loss": by_task("hinge", "hinge", "squared"),
        },
        variations=[
            (task, {"budget": 20, "rank": 7, "loss": loss, "eta": 0.4, "lam": 0.1, **GAUSSIAN}) for task, loss in LOSSES
        ]
        + [(task, {"budget": 15, "rank": 15, "lam": 0.1, **GAUSSIAN}) for task in TASKS]
        + [(task, {"budget": N_ROWS + 1, **GAUSSIAN, "rank": 3}) for task in TASKS]
        + [
            ("binary", {"budget": 1, "rank": 1, **GAUSSIAN}),
            ("binary", {"budget": 20, "rank": 40, "kernel": kernels.polynomial(degree=2), "eta": 0.05}),
            ("binary", {"budget": 20, "rank": 20, "kernel": kernels.linear(), "eta": 0.05}),  # five directions in all
            ("regression", {"budget": 10, "rank": 4, "kernel": "laplacian", "sigma": 3.0}),
            ("binary", {"sigma": 0.2}),
        ],
        constant_memory=True,
    ),
    "rks": Row(
        parameters=by_task(*[{"n_frequencies": 37, "batch": 9, **GAUSSIAN}] * 3),
        defaults={"loss": by_task("hinge", "hinge", "squared")},
        variations=[
            (task, {"n_frequencies": 21, "batch": 5, "loss": loss, "eta": 0.4, "lam": 0.1, **GAUSSIAN})
            for task, loss in LOSSES
        ]
        + [
            ("binary", {"n_frequencies": 21, "batch": 1, "eta": 0.4, **GAUSSIAN}),
            ("regression", {"n_frequencies": 21, "batch": N_ROWS - 1, **GAUSSIAN}),
            ("regression", {"n_frequencies": 21, "batch": 5, "epsilon": 0.3, **GAUSSIAN}),
        ],
        constant_memory=True,
        draws=True,
    ),
    "rrf": Row(
        parameters=by_task(*[{"n_frequencies": 21}] * 3),
        defaults=LEARNED,
        variations=[
            (task, {"n_frequencies": 21, "loss": loss, "lam": 0.1, "epsilon": 0.05, **given})
            for task, loss in LOSSES
            for given in ({"step": "constant", "eta": 0.4, "start": 0.8}, {"step": "adagrad", "eta": 0.2})
        ]
        + [
            ("binary", {"n_frequencies": 21, "kernel": "laplacian"}),
            ("binary", {"n_frequencies": 21, "kernel": "cauchy", "eta_widths": 0.3, "standardise": False}),
            ("multiclass", {"n_frequencies": 12, "kernel": "mixture", "n_components": 3}),
            ("regression", {"n_frequencies": 12, "kernel": "mixture", "n_components": 2, "step": "constant"}),
            ("binary", {"n_frequencies": 21, "start": 6e-5, "eta_widths": 0.5}),  # widths at their limits
        ],
        constant_memory=True,
        draws=True,
        any_kernel=False,
    ),
    "fkl": Row(
        parameters=by_task(*[{"n_frequencies": 21, "batch": 9}] * 3),
        defaults=LEARNED,
        variations=[
            (task, {"n_frequencies": 21, "batch": 5, "loss": loss, "eta": 0.4, "lam": 0.1, "epsilon": 0.05})
            for task, loss in LOSSES
        ]
        + [("binary", {"n_frequencies": 21, "batch": 1, "start": 0.5, "eta_widths": 0.5})],
        constant_memory=True,
        draws=True,
        any_kernel=False,
    ),
    "multi_rrf": Row(
        parameters=by_task(*[{"n_frequencies": 11, "starts": (0.1, 0.5, 2.0)}] * 3),
        defaults=LEARNED,
        variations=[
            (task, {"n_frequencies": 11, "starts": (0.1, 0.5, 2.0), "combine": "vote"})
            for task in ("binary", "multiclass")
        ],
        constant_memory=True,
        draws=True,
        any_kernel=False,
    ),
    "dual_sgd": Row(
        parameters=by_task(*[{"budget": 12, "merge": 5, "lam": 0.05, **FEW, **GAUSSIAN}] * 3),
        defaults=LEARNED,
        variations=[
            (task, {"budget": 9, "merge": 3, "loss": loss, "lam": 0.1, "epsilon": 0.05, **FEW, **GAUSSIAN})
            for task, loss in LOSSES
        ]
        + [
            ("binary", {"budget": 4, "merge": 9, "lam": 0.05, "kernel": "laplacian", "sigma": 3.0, **FEW}),
            ("binary", {"budget": 1, "merge": 1, "lam": 0.05, **FEW, **GAUSSIAN}),
            ("multiclass", {"budget": N_ROWS + 1, "lam": 0.05, **FEW, **GAUSSIAN}),
        ],
        constant_memory=True,
        draws=True,
        any_kernel=False,
    ),
    "ik_ogd": Row(
        parameters=by_task(*[{"t": 8, "psi": 4, "sample": 16}] * 3),  # eta / t is exact
        defaults={"eta": by_task(0.5, 0.5, 0.1), "loss": by_task("hinge", "hinge", "squared")},
        variations=[
            (task, {"partition": partition, "t": 7, "psi": 6, "sample": 20, "loss": loss, "eta": 0.4, "lam": 0.1})
            for task, loss in LOSSES
            for partition in ("cells", "trees")
        ]
        + [
            ("binary", {"t": 7, "psi": 4, "sample": 16, "metric": "cityblock", "scale": "none", "eta": 0.5}),
            ("binary", {"partition": "trees", "t": 7, "psi": 9, "sample": 16, "max_depth": 2}),
            ("binary", {"t": 7, "psi": 50, "sample": 33}),  # more rows than the first samples have
            ("binary", {"t": 3, "psi": 6, "sample": 20, "refresh": 9, "eta": 1.5}),
            ("multiclass", {"t": 3, "psi": 6, "sample": 20, "refresh": 9, "partition": "trees", "eta": 1.5}),
        ],
        constant_memory=True,
        draws=True,
        any_kernel=False,
    ),
    "auto": Row(
        parameters=by_task(*[{"n_frequencies": 6}] * 3),
        defaults={},
        variations=[(task, {"n_frequencies": n, "standardise": n > 1}) for task in TASKS for n in (1, 40)],
        constant_memory=True,
        draws=True,
        any_kernel=False,
        same_bits=False,
    ),
    "budget_perceptron": Row(
        parameters=by_task(SMALL),
        defaults={},
        variations=[("binary", {**SMALL, "beta": 0.5}), *at_the_edges("binary", {})],
        constant_memory=True,
    ),
    "rbp": Row(
        parameters=by_task(SMALL, SMALL, SMALL),
        defaults={"eta": by_task(1.0, 1.0, 0.1)},
        variations=[("regression", {**SMALL, "eta": 0.3, "epsilon": 0.0}), *at_the_edges("multiclass", {})],
        constant_memory=True,
        removes_at_random=True,
    ),
    "forgetron": Row(
        parameters=by_task(SMALL, SMALL, SMALL),
        defaults={"eta": by_task(1.0, 1.0, 0.1)},
        variations=[(task, {**SMALL, "root": "published", "epsilon": 0.05}) for task in TASKS]
        + at_the_edges("binary", {}),
        constant_memory=True,
    ),
    "projectron": Row(
        parameters=by_task(SMALL, SMALL, SMALL),
        defaults={"eta": by_task(1.0, 1.0, 0.1)},
        variations=[
            ("binary", {**SMALL, "threshold": 0.4}),
            ("regression", {**SMALL, "eta": 0.3, "epsilon": 0.0}),
            ("multiclass", {**SMALL, "guard": 0.3}),
            *at_the_edges("binary", {}),
        ],
        constant_memory=True,
    ),
    "projectron_pp": Row(
        parameters=by_task(SMALL, SMALL),
        defaults={},
        variations=[
            ("binary", {**SMALL, "threshold": 0.4}),
            ("multiclass", {**SMALL, "guard": 0.3}),
            *at_the_edges("binary", {}),
        ],
        constant_memory=True,
    ),
    "bpa_s": Row(
        parameters=by_task(SMALL, SMALL),
        defaults={},
        variations=[
            ("binary", {**SMALL, "C": 0.3}),
            ("multiclass", {**SMALL, "C": 0.3}),
            *at_the_edges("binary", {"C": 0.5}),
        ],
        constant_memory=True,
    ),
    "bpa_nn": Row(
        parameters=by_task(SMALL),
        defaults={},
        variations=[("binary", {**SMALL, "C": 0.3}), *at_the_edges("binary", {"C": 0.5})],
        constant_memory=True,
    ),
    "bpa_p": Row(
        parameters=by_task(SMALL),
        defaults={},
        variations=[
            ("binary", {**SMALL, "C": 0.3}),
            ("binary", {**SMALL, "guard": 0.3}),
            *at_the_edges("binary", {"C": 0.5}),
        ],
        constant_memory=True,
    ),
    "bogd": Row(
        parameters=by_task(SMALL, SMALL, SMALL),
        defaults={"eta": by_task(0.2, 0.5, 0.1)},
        variations=[
            (task, {**SMALL, "eta": 0.4, "lam": 0.1, **given})
            for task in TASKS
            for given in ({"removal": "oldest"}, {"clip": 1.5}, {"clip": 1e6})
        ]
        + at_the_edges("binary", {}),
        constant_memory=True,
        removes_at_random=True,
    ),
    "bogd_pp": Row(
        parameters=by_task(SMALL),
        defaults={},
        variations=[("binary", {**SMALL, "eta": 0.4, "lam": 0.1, "clip": 1.5}), *at_the_edges("binary", {})],
        constant_memory=True,
        removes_at_random=True,
    ),
    "bsgd_r": Row(
        parameters=by_task(STEEP, STEEP),
        defaults={},
        variations=[
            (task, {**STEEP, **given})
            for task in ("binary", "multiclass")
            for given in ({"strategy": "oldest"}, {"strategy": "random"}, {"first": "published"})
        ]
        + at_the_edges("binary", {"lam": 0.05}),
        constant_memory=True,
    ),
    "bsgd_p": Row(
        parameters=by_task(STEEP, STEEP),
        defaults={},
        variations=[(task, {**STEEP, "first": "published", "guard": 0.3}) for task in ("binary", "multiclass")]
        + at_the_edges("binary", {"lam": 0.05}),
        constant_memory=True,
    ),
    "bsgd_m": Row(
        parameters=by_task(STEEP, STEEP),
        defaults={},
        variations=[
            (task, {**STEEP, **given})
            for task in ("binary", "multiclass")
            for given in ({"search": "golden"}, {"first": "published"})
        ]
        + [("binary", {"lam": 0.05, "budget": budget, "sigma": 1.5}) for budget in (1, 2, N_ROWS + 1)],
        constant_memory=True,
        any_kernel=False,
    ),
    "tvm": Row(
        parameters=by_task(SMALL),
        defaults={},
        variations=[
            ("binary", {**SMALL, "C": 0.3, "band": 0.5}),
            ("binary", {**SMALL, "far": 0.5, "sweeps": 3}),
            *at_the_edges("binary", {}),
        ],
        constant_memory=True,
    ),
    "one_vs_rest": Row(
        parameters=by_task(*[{"learner": "budget_perceptron", "learner__budget": 12, "learner__sigma": 1.5}] * 2),
        defaults={},
        variations=[("multiclass", {"learner": "perceptron", "learner__eta": 0.5, "learner__sigma": 1.5})],
    ),
}
