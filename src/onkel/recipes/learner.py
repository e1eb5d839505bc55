"""What a recipe makes: a learner with named parameters, ready to be started on a stream."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, overload

import numpy as np

from onkel.core.points import WIDE
from onkel.core.trees import nbytes
from onkel.model.online import Online, Plan, Setting, stand_in
from onkel.pieces.bandwidth import has_rule
from onkel.pieces.kernels import needs_positive

TASKS = ("binary", "multiclass", "regression")
DTYPES = ("float32", "float64")
INNER = "learner"  # the parameter by which a recipe takes another one
WORN = "standardise"  # the parameter that every recipe has besides its own
RECIPES: dict[str, Callable[..., "Learner"]] = {}
MANY_CLASSES = 1000  # up to which nobody asks how large a model becomes
MOST_BYTES = 256 << 20  # of a model of more, and of what it says of some rows
SOME_ROWS = 1000
_tasks: dict[str, tuple[str, ...]] = {}

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

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks that the recipe is made for."""
        return _tasks[self.name]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; those of a learner inside as ``learner__name``."""
        nested = inner(self._params[INNER]).get_params() if deep and INNER in self._params else {}
        return {**self._params, **{f"{INNER}__{key}": value for key, value in nested.items()}}

    def set_params(self, **params: Any) -> "Learner":
        """Change parameters; an unknown name is an error."""
        nested = {key: value for key, value in params.items() if INNER in self._params and key.startswith(f"{INNER}__")}
        own = {key: value for key, value in params.items() if key not in nested}
        for key in own:
            if key not in self._params:
                raise ValueError(f"{self.name} has no parameter {key!r}; it has {', '.join(self._params)}.")
        self._params = {**self._params, **own}
        if nested:
            changed = inner(self._params[INNER]).__sklearn_clone__()
            self._params[INNER] = changed.set_params(**{k.removeprefix(f"{INNER}__"): v for k, v in nested.items()})
        return self

    def plan(self, task: str) -> Plan:
        """The composition for a task: binary, multiclass or regression."""
        if task not in TASKS:
            raise ValueError(f"task must be one of {', '.join(TASKS)}, not {task!r}.")
        if task not in self.tasks:
            raise ValueError(_unfit(self.name, task))
        own = {key: value for key, value in self._params.items() if key != WORN}
        plan, worn = self._compose(task, **own), self._params[WORN]
        if not isinstance(worn, bool):
            raise ValueError(f"{WORN} must be True or False, not {worn!r}.")
        if worn and needs_positive(plan.kernel):
            raise ValueError(f"{WORN}=True makes features negative, and the additive chi2 kernel needs features >= 0.")
        return plan._replace(standardise=plan.standardise or worn)

    def start(
        self,
        n_features: int,
        task: str = "binary",
        n_outputs: int = 1,
        dtype: Any = "float32",
        seed: int = 0,
        missing: str = "error",
    ) -> Online:
        """Begin on a stream of rows with that many features. Several classes need `n_outputs` = their number.

        ``missing="mean"`` takes a NaN for the mean of its column, and an infinite number for a very large one; it needs
        a learner that standardises its rows.
        """
        if str(dtype) not in DTYPES and getattr(dtype, "__name__", None) not in DTYPES:
            raise ValueError(f"dtype must be float32 or float64, not {dtype!r}.")
        if (n_outputs > 1) != (task == "multiclass"):
            raise ValueError("n_outputs is the number of classes for task='multiclass', and 1 otherwise.")
        if missing not in ("error", "mean"):
            raise ValueError(f"missing must be error or mean, not {missing!r}.")
        if missing == "mean" and not self.plan(task).standardise:
            raise ValueError(f"missing='mean' needs a learner with {WORN}=True.")
        self._check_size(Setting(min(int(n_features), WIDE), int(n_outputs), np.dtype(dtype), int(seed), missing), task)
        return Online(self, task, Setting(int(n_features), int(n_outputs), np.dtype(dtype), int(seed), missing))

    def _check_size(self, setting: Setting, task: str) -> None:
        """Refuse so many classes that their model could not be held; two small ones show what a class takes."""
        if setting.n_outputs <= MANY_CLASSES:
            return
        few, more = (self._bytes(setting._replace(n_outputs=count), task) for count in (4, 8))
        size = ((more - few) // 4 + 8 * SOME_ROWS) * setting.n_outputs
        if size > MOST_BYTES:
            what = f"A model of {setting.n_outputs:,} classes and {setting.n_features:,} columns"
            held = f"takes {size >> 20:,} MB with its scores of {SOME_ROWS:,} rows, and may take {MOST_BYTES >> 20}"
            raise ValueError(f"{what} {held}: join classes, choose a smaller learner, or learn numbers (regression).")

    def _bytes(self, setting: Setting, task: str) -> int:
        """Bytes of the arrays of a fresh model, with a stand-in for a kernel that is to be found first."""
        plan = self.plan(task)
        rows = np.zeros((0, setting.n_features))
        kernel = stand_in(plan.kernel, rows, setting) if has_rule(plan.kernel) else plan.kernel
        return nbytes(plan.build(kernel, setting))

    def __sklearn_clone__(self) -> "Learner":
        return Learner(self._compose, dict(self._params))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Learner) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        defaults = parameters(self.name)
        changed = [f"{k}={v!r}" for k, v in self._params.items() if repr(v) != repr(defaults[k])]
        return f"{self.name}({', '.join(changed)})"

    def __reduce__(self) -> Any:
        return _remade, (self.name, self._params)


def _remade(name: str, params: dict[str, Any]) -> Learner:
    return RECIPES[name](**params)


def parameters(name: str) -> dict[str, Any]:
    """The parameters of a recipe with their defaults."""
    return {p.name: p.default for p in inspect.signature(RECIPES[name]).parameters.values()}


@overload
def recipe(compose: Composer) -> Callable[..., Learner]: ...
@overload
def recipe(
    compose: None = None, *, tasks: tuple[str, ...] = ..., standardise: bool = ...
) -> Callable[[Composer], Callable[..., Learner]]: ...
def recipe(compose: Composer | None = None, *, tasks: tuple[str, ...] = TASKS, standardise: bool = False) -> Any:
    """Turn ``compose(task, parameters) -> Plan`` into a public function of the parameters that returns a learner.

    ``@recipe(tasks=("binary",))`` says that it is made for these tasks alone. Every recipe has the parameter
    `standardise` besides: whether rows are standardised as they come; the one given here is its default.
    """
    worn = inspect.Parameter(WORN, inspect.Parameter.KEYWORD_ONLY, default=standardise, annotation=bool)

    def public(composer: Composer) -> Callable[..., Learner]:
        signature = inspect.signature(composer)
        _, *own = signature.parameters.values()
        shown = signature.replace(parameters=[*own, worn], return_annotation=Learner)

        @wraps(composer)
        def make(*args: Any, **kwargs: Any) -> Learner:
            bound = shown.bind(*args, **kwargs)
            bound.apply_defaults()
            return Learner(composer, dict(bound.arguments))

        make.__signature__ = shown  # type: ignore[attr-defined]
        RECIPES[composer.__name__], _tasks[composer.__name__] = make, tasks
        return make

    return public if compose is None else public(compose)


def _unfit(name: str, task: str) -> str:
    if task == "regression":
        return f"{name} learns classes, not numbers."
    return (
        "Only binary classification is supported. The type of the target is multiclass. "
        f"({name} knows two classes; one_vs_rest({name}()) learns one model for each of several.)"
    )


def make_learner(name: str, **params: Any) -> Learner:
    """The learner of a recipe by its name.

    >>> make_learner("ogd", eta=0.5)
    ogd(eta=0.5)
    >>> make_learner("one_vs_rest", learner="tvm", learner__budget=20)
    one_vs_rest(learner=tvm(budget=20))
    """
    if name not in RECIPES:
        raise ValueError(f"There is no learner {name!r}; there are {', '.join(sorted(RECIPES))}.")
    return RECIPES[name]().set_params(**params)


def inner(learner: Any) -> Learner:
    """The learner inside another one: what a recipe returns, or the name of a recipe."""
    if isinstance(learner, str):
        return make_learner(learner)
    if not isinstance(learner, Learner):
        raise ValueError(f"learner must be what a recipe returns, or its name, not {learner!r}.")
    return learner
