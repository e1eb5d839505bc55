"""The tables that the tests of all recipes run over.

`tests.recipe_table` has a row for every recipe: small parameters per task, what it takes where a parameter is None, and
what its naive twin needs. Kernels have explicit widths throughout, so that
a twin needs no rule.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from onkel.core import randomness
from onkel.model.waiting import bare
from onkel.pieces import kernels
from onkel.pieces.maps.growing import cells, trees
from onkel.recipes import Learner, make_learner
from onkel.recipes.isolation import METRICS
from tests import naive
from tests.naive import maps
from tests.naive.experts import KernelPerceptron
from tests.naive.ik_ogd import leaves, nearest_cells
from tests.naive.scaling import standardised
from tests.recipe_table import N_ROWS, RECIPE_TABLE, TASKS

LAYOUTS = ("dense", "csr")
N_FEATURES = 5  # one more than the four columns that a projection takes at a time

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

NOT_OF_TWINS = (
    "kernel",
    "gamma",
    "sigma",
    "n_frequencies",
    "draw",
    "n_components",
    "standardise",
    "kernels",
    "schedule",
    "rounds",
)
OF_PARTICLES = ("n_particles", "widths", "start", "spread", "gradient", "features")
OF_PARTITIONS = ("partition", "psi", "metric", "max_depth", "choose", "over", "refresh")


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


CELLS = [(name, task) for name, row in RECIPE_TABLE.items() for task in row.parameters]
VARIATIONS = [(name, task, given) for name, row in RECIPE_TABLE.items() for task, given in row.variations]
WITH_A_RULE = [
    n
    for n in RECIPE_TABLE
    if "gamma" in {key.split("__")[-1] for key in make_learner(n).get_params()} and n != "omkc"  # its widths are given
]
CONSTANT_MEMORY = [name for name, row in RECIPE_TABLE.items() if row.constant_memory]
RANDOM = [name for name, row in RECIPE_TABLE.items() if row.draws or row.removes_at_random]


def parameters(name: str, task: str) -> dict[str, Any]:
    return RECIPE_TABLE[name].parameters[task]


def started(name: str, task: str, given: dict[str, Any], dtype: Any = "float64", seed: int = 0) -> Any:
    """A recipe with these parameters, ready to learn."""
    return make_learner(name, **given).start(N_FEATURES, task, TASKS[task], dtype=dtype, seed=seed)


def prefixed(name: str, given: dict[str, Any]) -> dict[str, Any]:
    """Parameters of the expansion or map behind a recipe: of the learner inside, where there is one."""
    inside = "learner" in RECIPE_TABLE[name].parameters["binary"]
    return {f"learner__{key}": value for key, value in given.items()} if inside else given


def flat(given: dict[str, Any]) -> dict[str, Any]:
    """All parameters under their own names: those of a learner inside without their prefix."""
    plain = {key.removeprefix("learner__"): value for key, value in given.items()}
    return {key: value.name if isinstance(value, Learner) else value for key, value in plain.items()}


def twin_parameters(name: str, task: str, learner: Any, basis: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a learner as its twin takes them besides its basis: no kernel, no size of a map, no None."""
    known = {*NOT_OF_TWINS, *OF_PARTITIONS, *basis, *({"start"} if "starts" in basis else {})}
    known |= {*OF_PARTICLES} if name == "bkm" else set()
    known |= {"ada_raker": {"beta"}, "omkc": {"learner", "eta", "epsilon"}, "omkr": {"loss"}}.get(name, set())
    given = {key: value for key, value in flat(learner.get_params()).items() if key not in known}
    if not signature(getattr(naive, name)).parameters.keys() & {"step", "rest"}:
        given.pop("step", None)  # such twins take constant steps
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


def twin_of(name: str, task: str, online: Any, X: np.ndarray, y: np.ndarray, layout: str = "dense") -> naive.Trace:
    """The trace of the twin of a model that has been started but has learned nothing yet."""
    model = bare(online.model)
    rows = X if model is online.model else standardised(X, layout)
    twin, basis = basis_of(name, model, flat(online.learner.get_params()), online.setting)
    given = twin_parameters(name, task, online.learner, basis)
    return twin(rows, y, task, TASKS[task], **basis, **given, **chances(twin, model))


def partitions_of(rows: np.ndarray, given: dict[str, Any], setting: Any) -> Callable[[Any], list[int]]:
    """The slow twin of the partitions that a model makes of these rows."""
    t, psi, typed = given["t"], given["psi"], rows.astype(setting.dtype)
    if given["partition"] == "trees":
        return leaves(*trees(typed, t, psi, given["max_depth"], setting.dtype, setting.seed)[:6])
    metric = METRICS[given["metric"]]
    made = cells(typed, t, psi, metric, setting.dtype, setting.seed)
    return nearest_cells(made.points.T.astype(np.float64), made.members, metric)


def renewed_partition(size: int, rows: np.ndarray, count: int, given: dict[str, Any], setting: Any) -> Any:
    """The slow twin of the partition that is made in renewal `count`, from psi of the rows since the last one."""
    if size < given["psi"] and given["partition"] == "cells":
        return None
    places = np.arange((count - 1) * len(rows), count * len(rows))
    kept = np.sort(np.argsort(randomness.keys(randomness.derive(setting.seed, 8), places))[: given["psi"]])
    seed = randomness.derive(setting.seed, 1000 + count)
    phi = partitions_of(rows[kept], {**given, "t": 1}, setting._replace(seed=seed))
    return lambda x: phi(x)[0]


def basis_of(name: str, model: Any, given: dict[str, Any], setting: Any) -> tuple[Any, dict[str, Any]]:
    """The twin of a model, and what it begins with: its kernel, or what the model drew."""
    if name == "ik_ogd":
        fit = {"fit": lambda rows: partitions_of(rows, given, setting)}
        renew = {"refresh": given["refresh"], "renew": lambda *since: renewed_partition(*since, given, setting)}
        return naive.ik_ogd, fit | (renew if given["refresh"] else {})
    if name in ("raker", "ada_raker", "omkc", "omkl", "omkr"):
        return getattr(naive, name), experts_of(name, model)
    if name == "bkm":
        choices = {"learn_widths": given["widths"] == "learned", "total": given["gradient"] == "sum"}
        start = {"noise": radians(model.noise), "W0": model.weights.copy(), "gamma0": model.widths.copy()}
        return naive.bkm, {**start, **choices, "scaled": given["features"] == "scaled"}
    if name == "auto":
        return naive.auto, {"noise": radians(model.feature_map.frequencies)}
    if name == "multi_rrf":
        maps = [part.feature_map for part in model.parts]
        starts = [np.exp(drawn.widths.logs) for drawn in maps]
        return naive.multi_rrf, {"noises": [radians(drawn.noise) for drawn in maps], "starts": starts}
    if name == "rrf" and given["kernel"] == "mixture":
        drawn = model.feature_map
        start = {"means": drawn.means.copy(), "starts": np.exp(drawn.logs), "logits": drawn.logits.copy()}
        return naive.spectral_mixture, {"noises": list(radians(drawn.noise)), **start}
    if name in ("rrf", "fkl"):
        drawn = model.feature_map
        phases = {"phases": radians(drawn.phases)} if name == "fkl" else {}
        return getattr(naive, name), {"noise": radians(drawn.noise), "start": np.exp(drawn.widths.logs), **phases}
    features = {"features": explicit(model.feature_map)} if RECIPE_TABLE[name].draws else {}
    kernel = {"kernel": twin_kernel(given["kernel"], given["gamma"], given["sigma"])}
    if name == "dual_sgd":
        return naive.dual_sgd, {**kernel, **features}
    return getattr(naive, name), features or kernel


def experts_of(name: str, model: Any) -> dict[str, Any]:
    """What the twins of experts begin with: maps or kernels, and which multiple of the loss they mean."""
    parts = model.parts[0].parts if name == "ada_raker" else model.parts
    if name == "omkc":
        slow = [twin_kernel(part.kernel, None, None) for part in parts]
        makers = [lambda kernel=kernel: KernelPerceptron(kernel) for kernel in slow]
        return {"experts": makers}
    factor = {"factor": float(parts[0].loss.factor)}
    if name in ("raker", "ada_raker"):
        return {"maps": [explicit(part.feature_map) for part in parts], **factor}
    return {"kernels": [twin_kernel(part.kernel, None, None) for part in parts], **factor}


def uniforms(state: int) -> Iterator[float]:
    """The numbers in [0, 1) of a generator in that state (splitmix64)."""
    while True:
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) % 2**64
        yield ((z ^ (z >> 31)) >> 11) / 2**53


def chances(twin: Any, model: Any) -> dict[str, Any]:
    """The random numbers that a started model will draw, in the form in which its twin takes them."""
    asked = signature(twin).parameters.keys() & {"choose", "uniforms"}
    if not asked:
        return {}
    budget = getattr(model, "budget", None) or model.combination
    state = getattr(budget, "state", getattr(getattr(budget, "rule", None), "state", [0]))
    numbers = uniforms(int(state[0]))
    return {"uniforms": numbers} if "uniforms" in asked else {"choose": lambda rows: int(next(numbers) * len(rows))}


def rows_for(given: dict[str, Any], X: np.ndarray) -> np.ndarray:
    """The same rows, without signs for the kernel that is defined for numbers >= 0 only."""
    positive = getattr(given.get("kernel"), "code", None) == kernels.CHI2
    return np.abs(X) if positive else X


def learned_numbers(feature_map: Any) -> dict[str, Any]:
    """What a map has learned, under the names that the twins use."""
    if hasattr(feature_map, "means"):
        return {"log_widths": feature_map.logs, "means": feature_map.means, "logits": feature_map.logits}
    return {"log_widths": feature_map.widths.logs} if hasattr(feature_map, "widths") else {}


def in_order(state: dict[str, Any]) -> dict[str, Any]:
    """The points from old to new."""
    order = np.argsort(state["rows"])
    return {**state, **{entry: state[entry][order] for entry in ("rows", "points", "coefficients")}}


def state_of_experts(model: Any) -> dict[str, Any]:
    """The weights of the experts, and what linear experts have learned."""
    combination = model.combination
    logs = getattr(combination, "log_weights", None)
    shares = combination.weights if logs is None else np.exp(logs - np.max(logs)) / np.sum(np.exp(logs - np.max(logs)))
    found = {} if hasattr(combination, "round") else {"shares": shares}  # those of levels are of the round to come
    for p, part in enumerate(model.parts):
        if hasattr(part, "combination"):
            found |= {f"{entry} of level {p}": value for entry, value in state_of_experts(part).items()}
        elif hasattr(part, "feature_map"):
            found[f"weights of {p}"] = part.scale[0] * part.weights.astype(np.float64)
    return found


def state_of(model: Any) -> dict[str, Any]:
    """What is left after the last row, under the names that the twins use."""
    model = bare(model)
    if hasattr(model, "heads"):
        exact = {"exact": model.exact.weights} if hasattr(model.exact, "weights") else {}
        noise, heads = radians(model.feature_map.frequencies), model.heads
        readouts = {"weights": heads.weights, "linear": heads.linear, "bias": heads.bias}
        widths = {
            "noise": noise,
            "log_widths": model.feature_map.log_widths,
            "log_shares": model.log_shares - max(model.log_shares),
        }
        return {**readouts, **widths, **exact}
    if hasattr(model, "rule"):
        return state_of(model.model)
    if hasattr(model, "partitions"):
        return {"square_sum": np.sum(np.square(model.scale[0] * model.weights, dtype=np.float64))}
    if hasattr(model, "combination"):
        return state_of_experts(model)
    if hasattr(model, "noise") and hasattr(model, "energy"):
        return {"weights": model.weights, "steady": model.steady, "widths": model.widths}
    if hasattr(model, "parts"):
        states = enumerate(map(state_of, model.parts))
        return {f"{entry} of {k}": value for k, state in states for entry, value in state.items()}
    if hasattr(model, "support"):
        count, scale = model.support.count[0], model.support.scale[0]
        state = {
            "rows": model.support.born[:count] - 1,
            "points": model.support.points[:, :count].T,
            "coefficients": scale * model.support.coef[:, :count].T.astype(np.float64),
        }
        if hasattr(model, "feature_map"):  # points that have left live on in its features
            return in_order({**state, "weights": model.scale[0] * model.weights.astype(np.float64)})
        state["bias"] = model.offset
    else:
        weights = model.scale[0] * model.weights.astype(np.float64)
        state = {"weights": weights, "pending": model.memory, "square_norm": np.sum(weights * weights)}
        state |= learned_numbers(model.feature_map)
        if hasattr(model.feature_map, "projection"):
            del state["weights"]  # eigenvectors are defined up to their sign
            state["eigenvalues"] = 1.0 / np.sum(np.square(model.feature_map.projection, dtype=np.float64), axis=0)
    threshold = getattr(model.loss, "rho", getattr(model.loss, "epsilon", None))
    return {**state, "threshold": threshold[0]} if isinstance(threshold, np.ndarray) else state
