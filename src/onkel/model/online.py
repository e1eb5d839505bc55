"""A learner at work: its model, and the calls that change it."""

import copy
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from onkel.core.interrupts import Pace, whole
from onkel.core.locks import in_turn, new_turn
from onkel.core.points import WIDE
from onkel.core.randomness import derive, reservoir
from onkel.core.rows import Block, Dense, is_sparse, join, pack, row_count, some, typed, unpack
from onkel.core.support import LARGEST_SCORE
from onkel.core.threads import over_rows
from onkel.core.trees import kept, writable
from onkel.learners import verbs
from onkel.model import one_row
from onkel.model.one_row import ABSURD, DIVERGED, FAR, NEGATIVE, TARGETS, UNSCALED
from onkel.model.waiting import Waiting, Whole, bare, dressed, learned
from onkel.pieces.bandwidth import Sample, awaited, has_rule, settle
from onkel.pieces.hashing import folded
from onkel.pieces.kernels import needs_positive
from onkel.pieces.losses import STEEPEST
from onkel.pieces.scaler import Standardised, as_it_stands, scaler, standardised

Scores = NDArray[np.float64]
Then = Callable[[slice, Scores], object]
BOUND = ("learned_one", "scored_one")  # methods whose place is taken by machine code that is bound to a model


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


def thinned(held: Waiting, size: int, setting: Setting) -> Waiting:
    """At most `size` of the rows held, each row of the stream with the same chance, whatever the cut of the stream."""
    if len(held.numbers) <= size:
        return held
    kept = reservoir(derive(setting.seed, 7), held.numbers, size)
    rows = pack(unpack(held.block)[kept], setting.dtype)
    return held._replace(
        block=rows, targets=held.targets[kept], importance=held.importance[kept], numbers=held.numbers[kept]
    )


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


class Planner(Protocol):
    """What can compose a plan for a task; called anew for each model, so that models share no state."""

    @property
    def name(self) -> str: ...

    @property
    def tasks(self) -> tuple[str, ...]: ...

    def plan(self, task: str) -> Plan: ...


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
        plan = learner.plan(task)
        self.folds = plan.folds and setting.n_features > WIDE
        self.inner = setting._replace(n_features=WIDE) if self.folds else setting  # what the model knows of the stream
        self._positive = needs_positive(plan.kernel)
        self.probable = plan.probable
        self._raw_dtype = np.dtype(np.float64) if plan.standardise else setting.dtype
        self.model = self._fresh() if model is None else model
        self.frame = one_row.frame(setting, task, self._raw_dtype, self._positive)
        self.witnesses: tuple[tuple[Any, ...], ...] = ()
        self.turn = new_turn(self)
        self.pace, self.whole, self.warned = Pace(), Whole(), False

    @property
    def model(self) -> Any:
        """The tree of named tuples that learns."""
        return self._model

    @model.setter
    def model(self, model: Any) -> None:
        if self.__dict__.get("_model") is not model:
            self._model = model
            self._unbind(*BOUND)

    def become(self, other: "Online") -> None:
        """Go on as another learner does, under the lock that threads wait for."""
        if other is self:
            return
        for name in self.__dict__.keys() - other.__dict__.keys():
            del self.__dict__[name]  # what was bound to the old model
        self.__dict__.update(other.__dict__)

    def _fresh(self) -> Any:
        kernel, build, standardise, *_ = self.learner.plan(self.task)
        if has_rule(kernel):
            nothing = np.zeros((0, self.inner.n_features), self.inner.dtype)
            model: Any = Waiting(
                Dense(nothing), np.zeros(0), np.zeros(0), np.zeros(0, np.int64), np.zeros(1, np.int64), None
            )
        else:
            model = build(kernel, self.inner)
        return Standardised(scaler(self.inner.n_features), model) if standardise else model

    def prepare(self, rows: Any) -> None:
        """Compile, or load from the cache, what rows of this layout need; learns nothing."""
        block, model = self._block(rows[:0]), self.model
        if isinstance(model, Standardised):
            as_it_stands(model.scaler, block, self.setting.dtype)
            block, model = standardised(model.scaler, block, np.zeros(0), self.setting.dtype), model.model
        if isinstance(model, Waiting):
            kernel, build, *_ = self.learner.plan(self.task)
            model = build(stand_in(kernel, rows, self.inner), self.inner)
        verbs.prepare(model, block, np.zeros((0, self.setting.n_outputs)))

    @property
    def rows_learned(self) -> int:
        """Number of rows learned so far."""
        return learned(self.model)

    @in_turn
    @whole
    def learn(self, rows: Any, targets: Any, importance: Any = None, then: Then | None = None) -> Scores:
        """Learn rows one after the other; returns the scores (n, K) that each had before it was learned.

        ``then(part, scores)`` is called with each part of the rows, a slice, once it is learned. Ctrl-C, and all else
        that fails, leave a model that has learned the rows of these parts and no others.
        """
        block, targets, importance = self._pack(rows, targets, importance)
        scores = np.zeros((row_count(block), self.setting.n_outputs))
        for part in self.pace.slices(len(scores), block[0].size / max(1, len(scores))):
            here = block if part.stop - part.start == len(scores) else some(block, part)
            before = learned(self.model)
            try:
                self.model = self._learned(self.model, here, targets[part], importance[part], scores[part])
            finally:
                done = slice(part.start, part.start + learned(self.model) - before)
                if then is not None and done.stop > done.start:
                    then(done, scores[done])
            if scores[part].max() >= LARGEST_SCORE or scores[part].min() <= -LARGEST_SCORE:
                self._warn(DIVERGED)
        return scores

    def _warn(self, sentence: str) -> None:
        """Say once what the learner goes on with all the same."""
        if not self.warned:
            self.warned = True
            warnings.warn(sentence, RuntimeWarning, stacklevel=4)

    def _learned(self, model: Any, block: Block, targets: Scores, importance: Scores, scores: Scores) -> Any:
        """The model after these rows; writes the scores that they had before."""
        if isinstance(model, Standardised):
            learn = lambda seen: self._learned(model.model, seen, targets, importance, scores)  # noqa: E731
            return dressed(model, self.whole.standardised(model, block, importance, self.setting.dtype, learn))
        first = 0
        while first < len(scores) and isinstance(model, Waiting):
            model, first = self._hold(model, block, first, targets, importance, scores)
        return self.whole.learn(model, block, first, targets, importance, scores) if first < len(scores) else model

    @in_turn
    def score(self, rows: Any) -> Scores:
        """Scores (n, K); changes nothing. Many rows are shared out among threads, with all that is done to them."""
        rows, model = self._shaped(rows), bare(self.model)
        scores = np.zeros((rows.shape[0], self.setting.n_outputs))
        model = model.model if isinstance(model, Waiting) else model

        def work(part: slice) -> None:
            whole = part.stop - part.start == len(scores)  # cutting compressed rows copies them
            block = self.seen(rows if whole else rows[part])
            if model is not None:
                verbs.score(model, block, scores[part])

        over_rows(work, len(scores), self.pace.rows)
        return scores

    @in_turn
    def spread(self, rows: Any) -> Scores:
        """How much the particles of a model disagree about each score (n, K): their standard deviation."""
        rows, model = self._shaped(rows), bare(self.model)
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
        with self.turn:
            return self.learned_one(x, y)

    def score_one(self, x: Any) -> Scores:
        """The scores (K,) of one row of numbers; changes nothing."""
        with self.turn:
            return self.scored_one(x).copy()

    def watch(self, *witness: Any) -> None:
        """Let an entry point, called with these arguments, follow each row that is learned alone; it reads `frame`."""
        self.witnesses = (witness,)
        self._unbind("learned_one")

    def _unbind(self, *names: str) -> None:
        """Let the methods of these names be methods again."""
        for name in names:
            self.__dict__.pop(name, None)

    def learned_one(self, x: Any, y: float) -> Scores:
        """As `learn_one`, for those whose turn it is.

        For a model that a single loop learns, what is bound to its arrays takes the place of this method.
        """
        if not self._bindable:
            return self._learn_singly(x, y)
        self.model = dressed(self.model, verbs.roomy(bare(self.model), Dense(np.zeros((1, len(x))))))
        bound = one_row.learning(self.model, self.frame, self.witnesses, self._replace_model, self._warn)
        self.__dict__["learned_one"] = bound
        return bound(x, y)

    def scored_one(self, x: Any) -> Scores:
        """As `score_one`, for those whose turn it is: the array is used again by the next call.

        As with `learned_one`, what is bound to the model takes its place.
        """
        if not self._bindable:
            return self.score(np.asarray(x)[None])[0]
        bound = self.__dict__["scored_one"] = one_row.scoring(self.model, self.frame)
        return bound(x)

    def _learn_singly(self, x: Any, y: float) -> Scores:
        """Learn a row as a block of one."""

        def then(_: slice, scores: Scores) -> None:
            self.frame.target[0], self.frame.scores[:] = y, scores
            one_row.follow(self.witnesses)

        return self.learn(np.asarray(x)[None], np.array([y]), then=then)[0]

    @property
    def _bindable(self) -> bool:
        """Whether a single loop learns and scores rows as they come."""
        return not self.folds and one_row.bindable(self.model)

    def _replace_model(self, other: Any) -> None:
        self.model = dressed(self.model, other)

    def _pack(self, rows: Any, targets: Any, importance: Any) -> tuple[Block, Scores, Scores]:
        block = self._block(rows)
        n = int(row_count(block))
        wanted = typed(targets, np.float64)
        weights = np.ones(n) if importance is None else typed(importance, np.float64)
        if wanted.shape != (n,) or weights.shape != (n,):
            raise ValueError(f"{n} rows need {n} targets and as many weights.")
        if not possible(wanted, self.task, self.setting.n_outputs):
            raise ValueError(f"Targets must be {TARGETS[self.task]}.")
        if importance is not None and not (np.isfinite(weights).all() and (weights >= 0.0).all()):
            raise ValueError("Weights must be finite numbers that are not negative.")
        if n and max(weights.max(), wanted.max(), -wanted.min()) > STEEPEST:
            self._warn(ABSURD)
        return block, wanted, weights

    def _shaped(self, rows: Any) -> Any:
        """Rows of the right width that can be cut; compressed ones by row."""
        rows = rows if hasattr(rows, "shape") else np.asarray(rows)
        if len(rows.shape) != 2 or rows.shape[1] != self.setting.n_features:
            raise ValueError(f"Rows must be of width {self.setting.n_features}; the shape given is {rows.shape}.")
        return rows.tocsr() if is_sparse(rows) else rows

    def _block(self, rows: Any) -> Block:
        block = pack(self._shaped(rows), self._raw_dtype)
        numbers = block[0]
        if self.setting.missing == "error" and numbers.size:
            largest = max(numbers.max(), -numbers.min())  # NaN, where a number is
            if not largest < np.inf:
                kind = self._raw_dtype.name
                raise ValueError(f"Rows must be finite numbers within the range of {kind}; one is NaN or too large.")
            if largest > FAR and not isinstance(self.model, Standardised):
                self._warn(UNSCALED)
        if self._positive and numbers.size and numbers.min() < 0:
            raise ValueError(NEGATIVE)
        return folded(block) if self.folds else block

    def _hold(
        self, held: Waiting, block: Block, first: int, targets: Scores, importance: Scores, scores: Scores
    ) -> tuple[Any, int]:
        """Learn and hold rows until the width is settled the next time; the model and the row to go on from."""
        kernel, *_ = self.learner.plan(self.task)
        count, limit = int(held.seen[0]), awaited(kernel)
        due = min(1 << count.bit_length(), limit.over)  # the next power of two, and the end
        last = min(len(targets), first + due - count)
        part, here = pack(unpack(block)[first:last].copy(), self.setting.dtype), slice(first, last)
        own = targets[here].copy(), importance[here].copy()  # the caller may use its arrays again
        model = kept(held.model)  # what is held stays as it is until all of this went well
        if model is not None:
            model = verbs.learn(model, part, 0, *own, scores[here])
        held = Waiting(
            join(held.block, part) if count else part,
            np.concatenate([held.targets, own[0]]),
            np.concatenate([held.importance, own[1]]),
            np.concatenate([held.numbers, np.arange(count, count + last - first)]),
            held.seen + (last - first),
            model,
        )
        held = thinned(held, limit.size, self.setting)
        return (self._settled(held, limit.over) if held.seen[0] == due else held), last

    def _settled(self, held: Waiting, over: int) -> Any:
        """What the rows held give: a fresh model that has learned them; final when there are enough."""
        kernel, build, *_ = self.learner.plan(self.task)
        scores = np.zeros((len(held.targets), self.setting.n_outputs))
        model = build(settle(kernel, unpack(held.block)), self.inner)
        model = verbs.learn(model, held.block, 0, held.targets, held.importance, scores)
        if held.seen[0] < over:
            return held._replace(model=model)
        model.clock[:] = held.seen
        return model

    def __getstate__(self) -> dict[str, Any]:
        with self.turn:  # bound machine code and locks stay in their process
            kept = {key: value for key, value in self.__dict__.items() if key not in ("turn", *BOUND)}
            # Copied here and now: another thread may learn before what is returned is pickled or copied.
            return {**kept, "_model": copy.deepcopy(self._model), "frame": copy.deepcopy(self.frame), "witnesses": ()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(writable(state), turn=new_turn(self))
