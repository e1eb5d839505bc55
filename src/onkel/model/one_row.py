"""One row at a time, through a chain of machine code that is bound to arrays of its own: no type analysis per call."""

from collections.abc import Callable, Iterable
from functools import partial
from itertools import repeat
from math import fsum
from typing import Any, NamedTuple

import numpy as np

from onkel.core.chains import NOT_PLAIN, chain
from onkel.core.interrupts import uninterrupted
from onkel.core.rows import Dense, all_finite, in_steps, none_negative
from onkel.core.support import LARGEST_SCORE
from onkel.core.undo import Undo
from onkel.learners import verbs
from onkel.model.parts import inner_model, wrapped
from onkel.model.plan import TARGETS
from onkel.pieces import scaler
from onkel.pieces.losses import STEEPEST
from onkel.pieces.scaler import Standardised

NEGATIVE = "Negative values in data: the additive chi2 kernel needs features >= 0."
NOT_FINITE = "A row must consist of finite numbers; one is NaN or too large."
ABSURD = f"A weight or a target is beyond {STEEPEST:g}: losses count up to that, and it may take long to be forgotten."
DIVERGED = (
    "The learner has diverged: its scores are cut off at 1e30. Smaller steps, or rows and targets of ordinary size "
    "(standardise=True, or auto, which scales by itself), prevent it; start anew to forget it."
)
FAR = 1e10
UNSCALED = f"A row has a number beyond {FAR:g}: without standardise=True (auto has it), kernels see nothing else."


class Frame(NamedTuple):
    """The row at hand, as arrays that bound code reads and writes, and what rows and targets must be."""

    target: Any  # (1,)
    importance: Any  # (1,)
    scores: Any  # (1, K), from before the row was learned
    width: int
    raw_dtype: Any  # of the rows that come
    dtype: Any  # of the rows that the model sees
    task: str
    finite: bool
    positive: bool


def frame(setting: Any, task: str, raw_dtype: Any, positive: bool) -> Frame:
    """Arrays for rows of a stream."""
    target, importance, scores = np.zeros(1), np.ones(1), np.zeros((1, setting.n_outputs))
    kind = setting.n_features, raw_dtype, setting.dtype
    return Frame(target, importance, scores, *kind, task, setting.missing == "error", positive)


class Row:
    """How one row is learned and scored, for those who hold the lock of the learner at work.

    `learn` and `score` are what is bound to the arrays of a model that one loop learns; the first call binds it.
    """

    __slots__ = ("learn", "online", "score")

    def __init__(self, online: Any) -> None:
        self.online = online
        self.unbind()

    def unbind(self) -> None:
        """Bind anew at the next call: the model is another one."""
        self.learn: Callable[[Any, float], Any] = self._first_learn
        self.score: Callable[[Any], Any] = self._first_score

    def _first_learn(self, x: Any, y: float) -> Any:
        online = self.online
        if not self._bindable:
            return online.learn_singly(x, y)
        online.model = wrapped(online.model, verbs.roomy(inner_model(online.model), Dense(np.zeros((1, len(x))))))
        self.learn = learning(online.model, online.frame, online.callbacks, self._replace, online.warn)
        return self.learn(x, y)

    def _first_score(self, x: Any) -> Any:
        """The scores, in an array that is used again by the next call."""
        if not self._bindable:
            return self.online.score(np.asarray(x)[None])[0]
        self.score = scoring(self.online.model, self.online.frame)
        return self.score(x)

    @property
    def _bindable(self) -> bool:
        """Whether a single loop learns and scores rows as they come."""
        return not self.online.folds and verbs.is_one_loop(inner_model(self.online.model))

    def _replace(self, other: Any) -> None:
        self.online.model = wrapped(self.online.model, other)


def placing(own: Frame) -> tuple[Any, Callable[[Any], Any]]:
    """An array (1, d), and a function that puts there a row that is not plain, and refuses what is none."""
    kind = np.dtype(own.raw_dtype.type)  # of a copied frame it is another object, which `chain` does not take for plain
    width, values = own.width, np.zeros((1, own.width), kind)
    row = values[0]

    def place(x: Any) -> Any:
        if len(x) != width:  # or a single number would be spread over the row
            raise ValueError(f"A row must be of width {width}; this one has {len(x)} numbers.")
        row[:] = x
        return row

    return values, place


def checking(own: Frame, row: Any) -> dict[str, tuple[Any, ...]]:
    """The calls that look at a row before anything learns it, by what is said of a row that they refuse."""
    found: dict[str, tuple[Any, ...]] = {NOT_FINITE: (all_finite, row)} if own.finite else {}
    return {**found, NEGATIVE: (none_negative, row)} if own.positive else found


def refuse(done: int, checks: dict[str, tuple[Any, ...]]) -> None:
    """Say what is wrong with a row that came no further than a check, if that is so."""
    if done < len(checks):
        raise ValueError(list(checks)[done])


def wanted(own: Frame) -> dict[str, tuple[Any, ...]]:
    """The call that looks at a target, by what is said of one that it refuses."""
    largest = float(np.finfo(np.float64).max)
    first, last, step = {
        "binary": (-1.0, 1.0, 2.0),
        "multiclass": (0.0, own.scores.shape[1] - 1.0, 1.0),
        "regression": (-largest, largest, 0.0),
    }[own.task]
    return {f"A target must be {TARGETS[own.task]}.": (in_steps, own.target, first, last, step)}


def remarks(own: Frame, row: Any, standardised: bool) -> dict[str, tuple[Any, ...]]:
    """The calls that look at a row once it is learned, by what is said of one that no learner should have to see."""

    def beyond(numbers: Any, limit: float) -> tuple[Any, ...]:
        return in_steps, numbers, -limit, limit, 0.0

    largest = float(np.nextafter(LARGEST_SCORE, 0.0))
    found = {} if standardised or not own.finite else {UNSCALED: beyond(row, FAR)}
    return {**found, ABSURD: beyond(own.target, STEEPEST), DIVERGED: beyond(own.scores[0], largest)}


def learning(
    model: Any, own: Frame, callbacks: tuple[tuple[Any, ...], ...], replace: Callable[[Any], None],
    remark: Callable[[str], None],
) -> Callable[[Any, float], Any]:  # fmt: skip
    """A function that learns one row and returns the scores from before; a model that outgrows itself is replaced.

    Callbacks, calls of compiled code, follow each row; what is out of the ordinary is remarked on.
    """
    values, place = placing(own)
    seen, inner, checks = Dense(values), model, {**wanted(own), **checking(own, values[0])}
    calls, answer, after = list(checks.values()), own.scores[0].copy, list(callbacks)
    if isinstance(model, Standardised):
        raw, seen, inner = seen, Dense(np.zeros(values.shape, own.dtype)), model.model
        calls.append((scaler.apply, model.scaler, raw, seen))
        after.insert(0, (scaler.count_rows, model.scaler, raw, own.importance))  # once the row is learned for sure
    rest = inner, seen, 0, own.target, own.importance, own.scores
    calls += [(verbs.LOOPS[type(inner)][0], *rest), *after]
    n_learned, odd = len(calls), remarks(own, values[0], isinstance(model, Standardised))
    calls += odd.values()

    def otherwise(done: int, x: Any, y: Any) -> Any:
        if done == NOT_PLAIN:
            return learn(place(x), number(y, own.task))
        refuse(done, checks)
        if done >= n_learned:
            remark(list(odd)[done - n_learned])
            return answer()
        with uninterrupted():
            replace(verbs.learn(*rest))  # there was no room, which the slow path makes
            follow(after)
        return answer()

    learn = chain(values[0], own.target, calls, answer, otherwise)
    return learn


def follow(calls: Iterable[tuple[Any, ...]]) -> None:
    """Make the calls that follow a row once it is learned: none of them may be left out."""
    for entry, *arguments in calls:
        Undo().surely(tuple(arguments), partial(entry, *arguments))


def number(y: Any, task: str) -> float:
    """A target as a number, if it is one."""
    try:
        return fsum((y,))  # `float` would read text
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"A target must be {TARGETS[task]}.") from None


def scoring(model: Any, own: Frame) -> Callable[[Any], Any]:
    """A function that returns the scores of one row, in an array that is used again."""
    (values, place), scores = placing(own), np.zeros(own.scores.shape)
    seen, inner, checks = Dense(values), model, checking(own, values[0])
    calls = list(checks.values())
    if isinstance(model, Standardised):
        raw, seen, inner = seen, Dense(np.zeros(values.shape, own.dtype)), model.model
        calls.append((scaler.apply, model.scaler, raw, seen))
    calls.append((verbs.LOOPS[type(inner)][1], verbs.answering(inner), seen, scores))

    def otherwise(done: int, x: Any) -> Any:
        if done == NOT_PLAIN:
            return score(place(x))
        refuse(done, checks)
        verbs.score(inner, seen, scores)  # which says what is wrong
        return scores[0]

    score = chain(values[0], None, calls, repeat(scores[0]).__next__, otherwise)
    return score
