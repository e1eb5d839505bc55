"""The tables that the tests of all recipes run over.

`RECIPE_TABLE` has a row for every recipe: small parameters per task, what it takes where a parameter is None, and what
its naive twin needs. `follow` runs a recipe and its twin side by side. Kernels have explicit widths throughout, so that
a twin needs no rule.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from onkel import kernels
from onkel.recipes import make_learner
from tests import naive
from tests.naive import maps

TASKS = {"binary": 1, "multiclass": 3, "regression": 1}  # with their numbers of outputs
LAYOUTS = ("dense", "csr")
N_FEATURES = 5  # one more than the four columns that a projection takes at a time
N_ROWS = 120

# ---- streams ----


class Stream(NamedTuple):
    """Rows (n, d), dense and float64, about half of their numbers zero, with their targets."""

    X: np.ndarray
    y: np.ndarray


@lru_cache
def stream(task: str, rows: int = N_ROWS, seed: int = 1) -> Stream:
    """A seeded stream whose target is not linear in the row; row 10 is the only one without any number."""
    rng = np.random.default_rng(seed)
    shape = rows, N_FEATURES
    X = np.where(rng.random(shape) < 0.5, rng.normal(size=shape), 0.0)  # no -0.0, which compressed rows cannot hold
    empty = ~X.any(axis=1)
    X[empty, 0] = rng.normal(size=empty.sum())
    X[10:11] = 0.0
    signal = np.sin(2.0 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * X[:, 3] + 0.2 * rng.normal(size=rows)
    if task == "binary":
        return Stream(X, np.where(signal > 0.0, 1.0, -1.0))
    if task == "multiclass":
        return Stream(X, np.digitize(signal, [-0.4, 0.4]).astype(float))
    return Stream(X, signal)


def laid_out(X: np.ndarray, layout: str, dtype: Any = np.float64) -> Any:
    """Rows as an array, or the same as a SciPy matrix of compressed rows."""
    values = np.ascontiguousarray(X, dtype)
    return values if layout == "dense" else sparse.csr_matrix(values)


# ---- recipes and their twins ----


def by_task(binary: Any, multiclass: Any, regression: Any) -> dict[str, Any]:
    return dict(zip(TASKS, (binary, multiclass, regression), strict=True))


class Row(NamedTuple):
    """What the tests know of a recipe.

    defaults[name][task] is the value that its docstring states for a parameter that is None; variations are
    (task, parameters). Where it draws a feature map, the twin learns on the map that the started model drew.
    """

    parameters: dict[str, dict[str, Any]]
    defaults: dict[str, dict[str, Any]]
    variations: list[tuple[str, dict[str, Any]]]
    constant_memory: bool = False
    draws: bool = False


NOT_OF_TWINS = ("kernel", "gamma", "sigma", "n_frequencies", "draw", "step")  # twins take constant steps
LOSSES = [
    ("binary", "hinge"),
    ("binary", "logistic"),
    ("binary", "softmax"),
    ("multiclass", "hinge"),
    ("multiclass", "logistic"),
    ("multiclass", "softmax"),
    ("regression", "squared"),
    ("regression", "absolute"),
    ("regression", "epsilon_insensitive"),
]
MADE_KERNELS = [
    kernels.laplacian(sigma=2.0),
    kernels.cauchy(sigma=1.5),
    kernels.polynomial(degree=3, gamma=0.25, coef0=1.0),
    kernels.linear(),
    kernels.additive_chi2(),
]
GAUSSIAN = {"sigma": 1.5}


def radians(half_turns: Any) -> np.ndarray:
    """Frequencies as the twins take them: models store omega / pi."""
    return np.asarray(half_turns, np.float64) * np.pi


def structured(drawn: Any) -> np.ndarray:
    """Frequencies (d, D) behind a chain of diagonals d_s, H and a permutation P: diag(lengths) H d_2 H d_1 P H d_0."""
    blocks = []
    for diagonals, order, lengths in zip(drawn.diagonals, drawn.order, drawn.lengths, strict=True):
        H = maps.hadamard(len(order))
        matrix = (H * diagonals[0].astype(np.float64))[order]
        for diagonal in diagonals[1:].astype(np.float64):
            matrix = H @ (diagonal[:, None] * matrix)
        blocks.append(radians(lengths)[:, None] * matrix)
    return maps.frequencies(blocks, N_FEATURES, drawn.n_frequencies)


def explicit(drawn: Any) -> Callable[[Any], np.ndarray]:
    """The slow twin of the map that a model drew."""
    if hasattr(drawn, "phases"):
        return maps.phase(radians(drawn.frequencies), radians(drawn.phases))
    if hasattr(drawn, "period"):
        return maps.chi2(drawn.order, drawn.period)
    return maps.fourier(radians(drawn.frequencies) if hasattr(drawn, "frequencies") else structured(drawn))


RECIPE_TABLE = {
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
}

CELLS = [(name, task) for name in RECIPE_TABLE for task in TASKS]
VARIATIONS = [(name, task, given) for name, row in RECIPE_TABLE.items() for task, given in row.variations]
CONSTANT_MEMORY = [name for name, row in RECIPE_TABLE.items() if row.constant_memory]
RANDOM = [name for name, row in RECIPE_TABLE.items() if row.draws]


def parameters(name: str, task: str) -> dict[str, Any]:
    return RECIPE_TABLE[name].parameters[task]


def started(name: str, task: str, given: dict[str, Any], dtype: Any = "float64", seed: int = 0) -> Any:
    """A recipe with these parameters, ready to learn."""
    return make_learner(name, **given).start(N_FEATURES, task, TASKS[task], dtype=dtype, seed=seed)


def twin_parameters(name: str, task: str, learner: Any) -> dict[str, Any]:
    """The parameters of a learner as its twin takes them: no kernel, no size of a map, no None."""
    given = {key: value for key, value in learner.get_params().items() if key not in NOT_OF_TWINS}
    defaults = RECIPE_TABLE[name].defaults
    return {key: defaults[key][task] if value is None else value for key, value in given.items()}


def twin_kernel(kernel: Any, gamma: Any, sigma: Any) -> Callable[[Any, Any], float]:
    """The slow exact kernel of a name and a width, or of a kernel that is already made."""
    if isinstance(kernel, str):
        of_sigma = {"gaussian": lambda s: 0.5 / s**2, "laplacian": lambda s: 1.0 / s, "cauchy": lambda s: 1.0 / s**2}
        width = gamma if sigma is None else of_sigma[kernel](sigma)
        return getattr(maps, kernel)(width)
    slow = {
        kernels.GAUSSIAN: maps.gaussian(kernel.gamma),
        kernels.LAPLACIAN: maps.laplacian(kernel.gamma),
        kernels.CAUCHY: maps.cauchy(kernel.gamma),
        kernels.POLYNOMIAL: maps.polynomial(kernel.gamma, kernel.coef0, kernel.degree),
        kernels.LINEAR: maps.linear(),
        kernels.CHI2: maps.additive_chi2(),
    }
    return slow[kernel.code]


def twin_of(name: str, task: str, online: Any, X: np.ndarray, y: np.ndarray) -> naive.Trace:
    """The trace of the twin of a model that has been started but has learned nothing yet."""
    given = online.learner.get_params()
    basis = (
        explicit(online.model.feature_map)
        if RECIPE_TABLE[name].draws
        else twin_kernel(given["kernel"], given["gamma"], given["sigma"])
    )
    twin = getattr(naive, name)
    return twin(X, y, task, TASKS[task], basis, **twin_parameters(name, task, online.learner))


def rows_for(given: dict[str, Any], X: np.ndarray) -> np.ndarray:
    """The same rows, without signs for the kernel that is defined for numbers >= 0 only."""
    positive = getattr(given.get("kernel"), "code", None) == kernels.CHI2
    return np.abs(X) if positive else X


def state_of(model: Any) -> dict[str, Any]:
    """What is left after the last row, under the names that the twins use."""
    if hasattr(model, "support"):
        count, scale = model.support.count[0], model.support.scale[0]
        state = {
            "rows": model.support.born[:count] - 1,
            "coefficients": scale * model.support.coef[:, :count].T.astype(np.float64),
            "bias": model.offset,
        }
    else:
        weights = model.scale[0] * model.weights.astype(np.float64)
        state = {"weights": weights, "pending": model.memory, "square_norm": np.sum(weights * weights)}
        if hasattr(model.feature_map, "projection"):
            del state["weights"]  # eigenvectors are defined up to their sign
            state["eigenvalues"] = 1.0 / np.sum(np.square(model.feature_map.projection, dtype=np.float64), axis=0)
    threshold = getattr(model.loss, "rho", getattr(model.loss, "epsilon", None))
    return {**state, "threshold": threshold[0]} if isinstance(threshold, np.ndarray) else state
