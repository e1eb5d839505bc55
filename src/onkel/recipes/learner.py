"""What a recipe makes: a learner with named parameters, ready to be started on a stream."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from onkel.online import Online, Plan, Setting

TASKS = ("binary", "multiclass", "regression")
DTYPES = ("float32", "float64")
RECIPES: dict[str, Callable[..., "Learner"]] = {}

Composer = Callable[..., Plan]


class Learner:
    """A recipe with its parameters. Equal parameters make equal learners; `start` makes one that learns.

    It follows scikit-learn's rules for parameters, so that ``learner__eta`` works in a grid search.
    """

    def __init__(self, compose: Composer, params: dict[str, Any]) -> None:
        self._compose, self._params = compose, params

    @property
    def name(self) -> str:
        """The name of the recipe."""
        return self._compose.__name__

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name."""
        return dict(self._params)

    def set_params(self, **params: Any) -> "Learner":
        """Change parameters; an unknown name is an error."""
        for key in params:
            if key not in self._params:
                raise ValueError(f"{self.name} has no parameter {key!r}; it has {', '.join(self._params)}.")
        self._params = {**self._params, **params}
        return self

    def plan(self, task: str) -> Plan:
        """The composition for a task: binary, multiclass or regression."""
        if task not in TASKS:
            raise ValueError(f"task must be one of {', '.join(TASKS)}, not {task!r}.")
        return self._compose(task, **self._params)

    def start(
        self, n_features: int, task: str = "binary", n_outputs: int = 1, dtype: Any = "float32", seed: int = 0
    ) -> Online:
        """Begin on a stream of rows with that many features. Several classes need `n_outputs` = their number."""
        if str(dtype) not in DTYPES and getattr(dtype, "__name__", None) not in DTYPES:
            raise ValueError(f"dtype must be float32 or float64, not {dtype!r}.")
        if (n_outputs > 1) != (task == "multiclass"):
            raise ValueError("n_outputs is the number of classes for task='multiclass', and 1 otherwise.")
        return Online(self, task, Setting(int(n_features), int(n_outputs), np.dtype(dtype), int(seed)))

    def __sklearn_clone__(self) -> "Learner":
        return Learner(self._compose, dict(self._params))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Learner) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        defaults = parameters(self._compose)
        changed = [f"{k}={v!r}" for k, v in self._params.items() if repr(v) != repr(defaults[k])]
        return f"{self.name}({', '.join(changed)})"

    def __reduce__(self) -> Any:
        return _remade, (self.name, self._params)


def _remade(name: str, params: dict[str, Any]) -> Learner:
    return RECIPES[name](**params)


def parameters(compose: Composer) -> dict[str, Any]:
    """The parameters of a recipe with their defaults."""
    return {p.name: p.default for p in list(inspect.signature(compose).parameters.values())[1:]}


def recipe(compose: Composer) -> Callable[..., Learner]:
    """Turn ``compose(task, parameters) -> Plan`` into a public function of the parameters that returns a learner."""
    signature = inspect.signature(compose)
    public = signature.replace(parameters=list(signature.parameters.values())[1:], return_annotation=Learner)

    @wraps(compose)
    def make(*args: Any, **kwargs: Any) -> Learner:
        bound = public.bind(*args, **kwargs)
        bound.apply_defaults()
        return Learner(compose, dict(bound.arguments))

    make.__signature__ = public  # type: ignore[attr-defined]
    RECIPES[compose.__name__] = make
    return make


def make_learner(name: str, **params: Any) -> Learner:
    """The learner of a recipe by its name.

    >>> make_learner("ogd", eta=0.5)
    ogd(eta=0.5)
    """
    if name not in RECIPES:
        raise ValueError(f"There is no learner {name!r}; there are {', '.join(sorted(RECIPES))}.")
    known = inspect.signature(RECIPES[name]).parameters
    for key in params:
        if key not in known:
            raise ValueError(f"{name} has no parameter {key!r}; it has {', '.join(known)}.")
    return RECIPES[name](**params)
