"""Rows of the table of recipes for learners with many kernels or many particles."""

import numpy as np

from onkel.pieces import kernels
from tests.recipe_rows import LOSSES, Row, by_task

TWO = (kernels.gaussian(sigma=0.7), kernels.gaussian(sigma=2.0))
MANY = (*TWO, kernels.laplacian(sigma=2.0), kernels.cauchy(sigma=1.5))
EXACT = (*MANY, kernels.polynomial(degree=2, gamma=0.5, coef0=1.0), kernels.linear())
FEW = {"n_frequencies": 7, "kernels": TWO}
SMALL = {"n_particles": 4, "n_frequencies": 6, "batch": 20, "eta": 0.05}
WEIGHTED = {"loss": by_task("logistic", "softmax", "squared")}

EXPERT_TABLE = {
    "raker": Row(
        parameters=by_task(FEW, FEW, FEW),
        defaults=WEIGHTED,
        variations=[(task, {**FEW, "loss": loss, "lam": 0.1}) for task, loss in LOSSES]
        + [
            ("binary", {"n_frequencies": 5, "kernels": MANY, "hedge": 2.0, "eta": 0.1}),
            ("regression", {"n_frequencies": 5, "kernels": TWO[:1], "epsilon": 0.2}),
        ],
        constant_memory=True,
        draws=True,
        any_kernel=False,
    ),
    "ada_raker": Row(
        parameters=by_task(FEW, FEW, FEW),
        defaults=WEIGHTED,
        variations=[(task, {**FEW, "loss": loss, "lam": 0.1, "eta": 0.3}) for task, loss in LOSSES],
        draws=True,
        any_kernel=False,
    ),
    "omkc": Row(
        parameters=by_task({"kernels": TWO}),
        defaults={},
        variations=[
            ("binary", {"kernels": EXACT, "beta": 0.8}),
            ("binary", {"kernels": TWO, "beta": 0.8, "update": "some", "least": 0.1}),
            ("binary", {"kernels": EXACT, "beta": 0.8, "combine": "some", "least": 0.1}),
            ("binary", {"kernels": EXACT, "beta": 0.8, "combine": "some", "update": "some", "least": 0.3}),
        ],
        any_kernel=False,
    ),
    "omkl": Row(
        parameters=by_task(*[{"kernels": TWO}] * 3),
        defaults=WEIGHTED,
        variations=[("binary", {"kernels": EXACT, "loss": "hinge", "eta": 0.1}), ("regression", {"epsilon": 0.2})],
        any_kernel=False,
    ),
    "omkr": Row(
        parameters=by_task({"kernels": TWO}, None, {"kernels": TWO}),
        defaults={"eta_weights": by_task(0.1, None, 0.1)},
        variations=[("regression", {"kernels": EXACT[:4], "eta": 0.1, "eta_weights": 0.01, "epsilon": 0.1})],
        any_kernel=False,
    ),
    "bkm": Row(
        parameters=by_task(SMALL, SMALL, SMALL),
        defaults={
            "loss": by_task("logistic", "softmax", "squared"),
            "horizon": by_task(np.inf, np.inf, np.inf),
            "eta": by_task(0.04, 0.04, 0.005),
        },
        variations=[(task, {**SMALL, "loss": loss}) for task, loss in LOSSES]
        + [
            ("binary", {**SMALL, "widths": "fixed"}),
            ("multiclass", {**SMALL, "gradient": "mean", "features": "scaled", "prior": True}),
            ("binary", {**SMALL, "n_particles": 1, "horizon": None}),
            ("multiclass", {**SMALL, "horizon": 2.0, "eta": None}),
            ("regression", {**SMALL, "eta": None}),
            ("binary", {**SMALL, "tail": 0.0}),
            ("regression", {**SMALL, "batch": 1, "decay": 0.0, "start": 0.3, "spread": 0.1}),
        ],
        constant_memory=True,
        draws=True,
        any_kernel=False,
        same_bits=False,
    ),
}
