"""What recipes share: defaults by task, losses by name, checked numbers."""

from collections.abc import Callable
from typing import Any

import numpy as np

from onkel.core.parameters import at_least_zero, is_number, positive
from onkel.core.points import WIDE
from onkel.core.randomness import generator
from onkel.learners.expansion import Rules, expansion
from onkel.model.online import Plan, Setting
from onkel.pieces import losses, steps
from onkel.pieces.budgets.appending import Unbounded
from onkel.pieces.budgets.choices import Oldest, Random
from onkel.pieces.budgets.span import Span, empty_span
from onkel.pieces.steps import has_memory

CLASSIFICATION = {"hinge": losses.hinge, "logistic": losses.logistic, "softmax": losses.softmax}
REGRESSION = {
    "squared": lambda epsilon: losses.squared(epsilon),
    "absolute": lambda _: losses.absolute(),
    "epsilon_insensitive": losses.epsilon_insensitive,
}
FIRST_CAPACITY = 256


def by_task(task: str, binary: Any, multiclass: Any, regression: Any) -> Any:
    """The value for a task."""
    return {"binary": binary, "multiclass": multiclass, "regression": regression}[task]


def step_size(eta: Any, lam: Any = 0.0) -> tuple[float, float]:
    """A checked step and penalty: eta lam < 1, or forgetting would turn into growing."""
    eta = positive("eta", eta)
    if not (is_number(lam) and lam >= 0 and eta * lam < 1):
        raise ValueError(f"lam must be at least 0 and below 1 / eta, not {lam!r}.")
    return eta, float(lam)


def tube(epsilon: Any) -> float:
    """A checked half-width of the zone in which nothing is lost."""
    return at_least_zero("epsilon", epsilon)


def mistakes_only(task: str, epsilon: Any) -> Any:
    """The loss of the perceptron family: a slope on mistakes, or outside epsilon."""
    width = tube(epsilon)
    return losses.epsilon_insensitive(width) if task == "regression" else losses.perceptron()


def make_step(step: Any, eta: Any, lam: Any, explicit: bool = False) -> Any:
    """The step rule of a name with its checked numbers; a rule that is already made passes through.

    Adagrad keeps a number per weight, so it needs explicit features.
    """
    if hasattr(step, "_fields"):
        if has_memory(step) and not explicit:
            raise ValueError(f"{step} keeps a number per weight and needs a learner with explicit features.")
        return step
    rules = {"constant": steps.constant, "inverse_sqrt": steps.inverse_sqrt}
    rules |= {"adagrad": steps.adagrad} if explicit else {}
    if step == "inverse_time":
        return steps.inverse_time(positive("lam", lam))
    if step not in rules:
        raise ValueError(f"step must be one of {', '.join([*rules, 'inverse_time'])}, not {step!r}.")
    return rules[step](*step_size(eta, lam))


def make_loss(task: str, loss: Any, epsilon: float) -> Any:
    """The loss of a name (None: hinge, or squared for regression); a loss that is already made passes through."""
    if hasattr(loss, "_fields"):
        return loss
    tube(epsilon)
    known: dict[str, Any] = REGRESSION if task == "regression" else CLASSIFICATION
    name = loss or by_task(task, "hinge", "hinge", "squared")
    if name not in known:
        kind = "regression" if task == "regression" else "classification"
        raise ValueError(f"loss for {kind} must be one of {', '.join(known)}, not {loss!r}.")
    return known[name](epsilon) if task == "regression" else known[name]()


def keep_all(kernel: Any, loss: Any, step: Any, offset_rate: float = 0.0) -> Plan:
    """An expansion that keeps every row with a slope."""

    def build(settled: Any, setting: Setting) -> Any:
        rules = Rules(settled, loss, step, Unbounded(growth=2), FIRST_CAPACITY, offset_rate)
        return expansion(rules, setting.n_features, setting.n_outputs, setting.dtype)

    return Plan(kernel, build)


def keep_some(kernel: Any, loss: Any, step: Any, capacity: int, budget: Callable[[Setting], Any]) -> Plan:
    """An expansion over at most `capacity` rows; `budget(setting)` says which."""

    def build(settled: Any, setting: Setting) -> Any:
        rules = Rules(settled, loss, step, budget(setting), capacity)
        return expansion(rules, setting.n_features, setting.n_outputs, setting.dtype)

    return Plan(kernel, build)


def narrow(name: str, setting: Setting) -> Setting:
    """A checked setting, for learners that fill their points up by merging them."""
    if setting.n_features > WIDE:
        raise ValueError(f"{name} merges points, which fills them up: it takes at most {WIDE} columns.")
    return setting


def oldest() -> Oldest:
    """A fresh rule by which the oldest point goes."""
    return Oldest(np.zeros(1, np.int64))


def at_random(setting: Setting) -> Random:
    """A fresh rule by which any point may go."""
    return Random(generator(setting.seed))


def guarded(capacity: int, guard: float, setting: Setting) -> Span:
    """An empty span; in single precision similarities are known to 1e-7, so points must lie farther apart."""
    return empty_span(capacity, max(guard, 1e3 * float(np.finfo(setting.dtype).eps)))
