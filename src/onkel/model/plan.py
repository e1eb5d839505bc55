"""What a recipe composes for a stream: the plan of a model, and what must be known before the first row."""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy import sparse

from onkel.core.rows import is_sparse
from onkel.core.trees import kept
from onkel.pieces.bandwidth import Sample

TARGETS = {
    "binary": "-1 or 1",
    "multiclass": "numbers of classes: 0, 1, ...",
    "regression": "finite numbers",
}


class Setting(NamedTuple):
    """What a learner must know of a stream before its first row."""

    n_features: int
    n_outputs: int = 1
    dtype: Any = np.dtype(np.float32)
    seed: int = 0
    missing: str = "error"  # or "mean": what a NaN stands for


class Plan(NamedTuple):
    """A composition: its kernel, and how to make a model once the width of the kernel is a number."""

    kernel: Any
    build: Callable[[Any, Setting], Any]
    standardise: bool = False  # whether the model sees its rows standardised
    probable: bool = False  # whether its scores are log-odds, or logarithms of probabilities, as they come
    folds: bool = False  # whether very wide rows are folded for it


class Planner(Protocol):
    """What can compose a plan for a task."""

    @property
    def name(self) -> str: ...

    @property
    def tasks(self) -> tuple[str, ...]: ...

    def plan(self, task: str) -> Plan: ...


def fresh(plan: Plan, kernel: Any, setting: Setting) -> Any:
    """A model that knows nothing, in arrays of its own: some pieces of a plan are made only once, and learn."""
    return kept(plan.build(kernel, setting))


def stand_in(kernel: Any, rows: Any, setting: Setting) -> Any:
    """What a rule might give, for a model of which only the types count."""
    if not isinstance(kernel, Sample):
        return kernel._replace(gamma=1.0)
    width = setting.n_features
    return (
        sparse.csr_matrix((1, width), dtype=setting.dtype) if is_sparse(rows) else np.zeros((1, width), setting.dtype)
    )


def possible(targets: Any, task: str, n_outputs: int) -> bool:
    """Whether all targets are such as the task has. Compiled code takes the target of a class for a position."""
    if task == "binary":
        return bool((np.abs(targets) == 1.0).all())
    if task == "multiclass":
        return bool(((targets >= 0.0) & (targets < n_outputs) & (targets == np.floor(targets))).all())
    return bool(np.isfinite(targets).all())
