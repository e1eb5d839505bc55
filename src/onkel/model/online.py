"""A learner at work: its model, and the calls that change it."""

import copy
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onkel.core.interrupts import Pace
from onkel.core.locks import learning, locked, new_lock
from onkel.core.points import WIDE
from onkel.core.rows import Block, is_sparse, pack, some, typed
from onkel.core.support import LARGEST_SCORE
from onkel.core.threads import over_rows
from onkel.core.trees import writable
from onkel.learners import verbs
from onkel.model import one_row
from onkel.model.one_row import ABSURD, DIVERGED, FAR, NEGATIVE, UNSCALED
from onkel.model.parts import Whole, inner_model, learned, wrapped
from onkel.model.plan import TARGETS, Planner, Setting, fresh, possible, stand_in
from onkel.model.waiting import Waiting, empty, hold
from onkel.pieces.bandwidth import has_rule
from onkel.pieces.hashing import folded
from onkel.pieces.kernels import needs_positive
from onkel.pieces.losses import STEEPEST
from onkel.pieces.scaler import Standardised, as_it_stands, scaler, standardised

Scores = NDArray[np.float64]
Then = Callable[[slice, Scores], object]
LEFT_BEHIND = ("lock", "row", "plan")  # locks, bound machine code and functions stay in their process


class Online:
    """A model that learns row by row and always gives the scores it had before each row.

    Made by ``learner.start(n_features=...)``. Results do not depend on how the rows are cut into calls.

    >>> from onkel.recipes import fogd
    >>> online = fogd(n_frequencies=50, gamma=1.0).start(n_features=2)
    >>> online.learn([[0.0, 1.0], [1.0, 0.0]], [1.0, -1.0]).shape
    (2, 1)
    """

    def __init__(self, learner: "Planner", task: str, setting: Setting, model: Any = None) -> None:
        self.learner, self.task, self.setting = learner, task, setting
        self.plan = plan = learner.plan(task)
        self.folds = plan.folds and setting.n_features > WIDE
        self.inner = setting._replace(n_features=WIDE) if self.folds else setting  # what the model knows of the stream
        self._positive = needs_positive(plan.kernel)
        self.row = one_row.Row(self)
        self.probable = plan.probable
        self._raw_dtype = np.dtype(np.float64) if plan.standardise else setting.dtype
        self.model = self._first() if model is None else model
        self.frame = one_row.frame(setting, task, self._raw_dtype, self._positive)
        self.callbacks: tuple[tuple[Any, ...], ...] = ()
        self.lock = new_lock(self)
        self.pace, self.whole, self.warned = Pace(), Whole(), False

    @property
    def model(self) -> Any:
        """The tree of named tuples that learns."""
        return self._model

    @model.setter
    def model(self, model: Any) -> None:
        if self.__dict__.get("_model") is not model:
            self._model = model
            self.row.unbind()

    def become(self, other: "Online") -> None:
        """Go on as another learner does, under the lock that threads wait for."""
        if other is self:
            return
        self.__dict__.update(other.__dict__, row=one_row.Row(self))

    def fresh(self, kernel: Any) -> Any:
        """A model of the plan that knows nothing, without a scaler."""
        return fresh(self.plan, kernel, self.inner)

    def _first(self) -> Any:
        """The model before the first row."""
        model = empty(self.inner) if has_rule(self.plan.kernel) else self.fresh(self.plan.kernel)
        return Standardised(scaler(self.inner.n_features), model) if self.plan.standardise else model

    def prepare(self, rows: Any) -> None:
        """Compile, or load from the cache, what rows of this layout need; learns nothing."""
        block, model = self._block(rows[:0]), self.model
        if isinstance(model, Standardised):
            as_it_stands(model.scaler, block, self.setting.dtype)
            block, model = standardised(model.scaler, block, np.zeros(0), self.setting.dtype), model.model
        if isinstance(model, Waiting):
            model = self.fresh(stand_in(self.plan.kernel, rows, self.inner))
        verbs.prepare(model, block, np.zeros((0, self.setting.n_outputs)))

    @property
    def rows_learned(self) -> int:
        """Number of rows learned so far."""
        return learned(self._model)

    @learning
    def learn(self, rows: Any, targets: Any, importance: Any = None, then: Then | None = None) -> Scores:
        """Learn rows one after the other; returns the scores (n, K) that each had before it was learned.

        ``then(part, scores)`` is called with each part of the rows, a slice, once it is learned. Ctrl-C, and all else
        that fails, leave a model that has learned the rows of these parts and no others.
        """
        block, targets, importance = self._pack(rows, targets, importance)
        scores = np.zeros((len(targets), self.setting.n_outputs))
        for part in self.pace.slices(len(scores), block[0].size / max(1, len(scores))):
            here = block if part.stop - part.start == len(scores) else some(block, part)
            before = learned(self._model)
            try:
                self.model = self._learned(self._model, here, targets[part], importance[part], scores[part])
            finally:
                done = slice(part.start, part.start + learned(self._model) - before)
                if then is not None and done.stop > done.start:
                    then(done, scores[done])
            if scores[part].max() >= LARGEST_SCORE or scores[part].min() <= -LARGEST_SCORE:
                self.warn(DIVERGED)
        return scores

    def warn(self, sentence: str) -> None:
        """Say once what the learner goes on with all the same."""
        if not self.warned:
            self.warned = True
            warnings.warn(sentence, RuntimeWarning, stacklevel=4)

    def _learned(self, model: Any, block: Block, targets: Scores, importance: Scores, scores: Scores) -> Any:
        """The model after these rows; writes the scores that they had before."""
        if isinstance(model, Standardised):
            learn = lambda seen: self._learned(model.model, seen, targets, importance, scores)  # noqa: E731
            return wrapped(model, self.whole.standardised(model, block, importance, self.setting.dtype, learn))
        first = 0
        while first < len(scores) and isinstance(model, Waiting):
            model, first = hold(model, self.plan, self.inner, block, first, targets, importance, scores)
        return self.whole.learn(model, block, first, targets, importance, scores) if first < len(scores) else model

    @locked
    def score(self, rows: Any) -> Scores:
        """Scores (n, K); changes nothing. Many rows are shared out among threads, with all that is done to them."""
        rows, model = self._shaped(rows), inner_model(self.model)
        scores = np.zeros((rows.shape[0], self.setting.n_outputs))
        model = model.model if isinstance(model, Waiting) else model

        def work(part: slice) -> None:
            whole = part.stop - part.start == len(scores)  # cutting compressed rows copies them
            block = self.seen(rows if whole else rows[part])
            if model is not None:
                verbs.score(model, block, scores[part])

        over_rows(work, len(scores), self.pace.rows)
        return scores

    @locked
    def spread(self, rows: Any) -> Scores:
        """How much the particles of a model disagree about each score (n, K): their standard deviation."""
        rows, model = self._shaped(rows), inner_model(self.model)
        found = np.zeros((rows.shape[0], self.setting.n_outputs))
        over_rows(lambda part: verbs.disagree(model, self.seen(rows[part]), found[part]), len(found), self.pace.rows)
        return found

    def seen(self, rows: Any) -> Block:
        """Rows as the model sees them: folded and standardised, if it is one of those."""
        block = self._block(rows)
        return (
            as_it_stands(self.model.scaler, block, self.setting.dtype)
            if isinstance(self.model, Standardised)
            else block
        )

    def learn_one(self, x: Any, y: float) -> Scores:
        """Learn one row of numbers; returns its scores (K,) from before."""
        with self.lock:
            return self.row.learn(x, y)

    def score_one(self, x: Any) -> Scores:
        """The scores (K,) of one row of numbers; changes nothing."""
        with self.lock:
            return self.row.score(x).copy()

    def watch(self, *callback: Any) -> None:
        """Let an entry point, called with these arguments, follow each row that is learned alone; it reads `frame`."""
        self.callbacks = (callback,)
        self.row.unbind()

    def learn_singly(self, x: Any, y: float) -> Scores:
        """Learn a row as a block of one."""

        def then(_: slice, scores: Scores) -> None:
            self.frame.target[0], self.frame.scores[:] = y, scores
            one_row.follow(self.callbacks)

        return self.learn(np.asarray(x)[None], np.array([y]), then=then)[0]

    def _pack(self, rows: Any, targets: Any, importance: Any) -> tuple[Block, Scores, Scores]:
        rows = self._shaped(rows)
        block, n = self._packed(rows), rows.shape[0]
        wanted = typed(targets, np.float64)
        weights = np.ones(n) if importance is None else typed(importance, np.float64)
        if wanted.shape != (n,) or weights.shape != (n,):
            raise ValueError(f"{n} rows need {n} targets and as many weights.")
        if not possible(wanted, self.task, self.setting.n_outputs):
            raise ValueError(f"Targets must be {TARGETS[self.task]}.")
        if importance is not None and not (np.isfinite(weights).all() and (weights >= 0.0).all()):
            raise ValueError("Weights must be finite numbers that are not negative.")
        if n and max(weights.max(), wanted.max(), -wanted.min()) > STEEPEST:
            self.warn(ABSURD)
        return block, wanted, weights

    def _shaped(self, rows: Any) -> Any:
        """Rows of the right width that can be cut; compressed ones by row."""
        rows = rows if hasattr(rows, "shape") else np.asarray(rows)
        if len(rows.shape) != 2 or rows.shape[1] != self.setting.n_features:
            raise ValueError(f"Rows must be of width {self.setting.n_features}; the shape given is {rows.shape}.")
        return rows.tocsr() if is_sparse(rows) else rows

    def _block(self, rows: Any) -> Block:
        return self._packed(self._shaped(rows))

    def _packed(self, rows: Any) -> Block:
        """Rows of the right shape as compiled code takes them, if they are such as can be learned."""
        block = pack(rows, self._raw_dtype)
        numbers = block[0]
        if self.setting.missing == "error" and numbers.size:
            largest = max(numbers.max(), -numbers.min())  # NaN, where a number is
            if not largest < np.inf:
                kind = self._raw_dtype.name
                raise ValueError(f"Rows must be finite numbers within the range of {kind}; one is NaN or too large.")
            if largest > FAR and not isinstance(self.model, Standardised):
                self.warn(UNSCALED)
        if self._positive and numbers.size and numbers.min() < 0:
            raise ValueError(NEGATIVE)
        return folded(block) if self.folds else block

    def __getstate__(self) -> dict[str, Any]:
        with self.lock:
            state = {key: value for key, value in self.__dict__.items() if key not in LEFT_BEHIND}
            # Copied here and now: another thread may learn before what is returned is pickled or copied.
            return {**state, "_model": copy.deepcopy(self._model), "frame": copy.deepcopy(self.frame), "callbacks": ()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        plan = state["learner"].plan(state["task"])
        self.__dict__.update(writable(state), lock=new_lock(self), row=one_row.Row(self), plan=plan)
