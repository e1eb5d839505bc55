"""From DATA on the command line to blocks of rows and targets."""

import argparse
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from onkel.apps.cli.column_choice import choice_of
from onkel.apps.cli.layout import joined, laid_out, last_columns
from onkel.apps.cli.task import Labels, chosen, sorted_classes
from onkel.apps.cli.trail import Trail
from onkel.datasets import info, place
from onkel.datasets import names as data_sets
from onkel.files.model_file import Stored
from onkel.model.answers import Answers, ClassAnswers
from onkel.model.columns import Columns, resized
from onkel.recipes import Learner
from onkel.streams import STREAMS, open_stream, read_ahead
from onkel.streams.block import (
    Block,
    StreamError,
    better_dense,
    cut,
    reblock,
    select,
    stored,
    take,
)
from onkel.streams.columns import ColumnChoice
from onkel.streams.opening import name_of, read_once
from onkel.streams.table import Known

LOOK = 4096  # first rows that are looked at where not all can be, whatever the size of blocks


class Feed(NamedTuple):
    """A stream whose width and labels are known, and the rows to be predicted after it."""

    blocks: Callable[..., Iterable[Block]]  # of all rows or, with a trail, from one on, whenever it is called
    rows: int | None
    answers: Answers  # as before the first row, or those of a model that goes on
    columns: Columns
    source: str
    test: Any  # another stream, or None
    test_source: str
    stream: Any
    guessed: str  # a sentence about the task, where it was guessed
    at_once: bool = False  # whether a block is predicted before any of its rows is learned
    as_arrays: bool | None = None  # what the rows of a growing stream are; None: they stay what they are

    @property
    def task(self) -> str:
        return self.answers.task

    @property
    def n_skipped(self) -> int:
        """How many lines of the data were left out in the last pass."""
        return self.stream.faults.count if hasattr(self.stream, "faults") else 0

    def notes(self) -> list[str]:
        """What was left out, in a sentence for each file."""
        return [*told_of(self.source, self.stream), *told_of(self.test_source, self.test)]

    def start(self, learner: Learner, options: argparse.Namespace) -> Stored:
        """A learner at work on the stream, with answers and columns of its own."""
        columns, standardises = self.columns.copy(), learner.plan(self.task).standardise
        missing = "mean" if columns.missing == "mean" and standardises else "error"
        if columns.missing == "mean" and not standardises:
            columns.begin_means()
        dtype, answers = options.dtype or "float32", self.answers.fresh()
        online = learner.start(columns.width, self.task, answers.n_outputs, dtype, options.seed, missing)
        answers.take_scores_of(online)
        return Stored(online, answers, columns, {})

    def pairs(
        self, work: Stored, first: int = 0, idle: Callable[[], AbstractContextManager[Any]] = nullcontext,
        trail: Trail | None = None,
    ) -> Any:  # fmt: skip
        """(rows, targets) and weights if there are some, block by block; from a row on where a `trail` sees all.

        Classes and columns that come new are taken in just before the first row that has them.
        """
        return self.paired(work, waited_for(self.blocks(first, trail), idle))

    def paired(self, work: Stored, blocks: Iterable[Block]) -> Iterator[tuple[Any, ...]]:
        """The same of blocks."""
        for block in (part for whole in blocks for part in laid_out(work, whole, self.as_arrays, self.at_once)):
            labels = block.labels
            with located(work.answers, block, self.source):
                check_whole(work.answers, labels)
                for part in work.answers.parts(work.online, labels, self.at_once):
                    whole = part == slice(0, len(labels))
                    targets, weights = work.answers.weighed(labels[part])
                    # filled now, and not all at once: a checkpoint must not know means of rows after its place
                    rows = work.columns.filled(block.rows if whole else block.rows[part], learns=True)
                    yield (rows, targets, *weights)

    def test_pairs(self, work: Stored) -> Iterator[tuple[Any, Any]]:
        """(rows, targets) of the rows to be predicted; nothing is remembered of them."""
        for block in self.test:
            rows = work.columns.filled(resized(block.rows, work.columns.width, 0.0), learns=False)
            with located(work.answers, block, self.test_source):
                targets = work.answers.targets(block.labels)
            yield rows, targets


def check_whole(answers: Answers, labels: Any) -> None:
    """Refuse a fraction where new classes are taken in and those so far are whole numbers."""
    if answers.grows and answers.classes is not None and answers.classes.dtype.kind == "i":
        fractions = labels[labels != np.trunc(labels)]
        if len(fractions):
            how = "--task regression learns numbers"
            raise ValueError(f"the label {fractions[0]:g} is no whole number, as those before are: {how}.")


@contextmanager
def located(answers: Answers, block: Block, source: str) -> Iterator[None]:
    """What is wrong with a label is said with its place."""
    try:
        yield
    except StreamError:
        raise
    except ValueError as error:
        labels, classes = block.labels.astype(object), answers.classes
        known = np.ones(len(labels), bool) if classes is None else np.isin(labels, classes.astype(object))
        strange = np.flatnonzero(~known)
        line = f", near line {block.first_line + int(strange[0])}" if block.first_line and len(strange) else ""
        raise StreamError(f"{source}{line}: {error}") from None


def waited_for(blocks: Iterable[Block], idle: Callable[[], AbstractContextManager[Any]]) -> Iterator[Block]:
    """The same blocks; nothing is under way while the next one is waited for."""
    rest = iter(blocks)
    while True:
        with idle():
            block = next(rest, None)
        if block is None:
            return
        yield block


def open_feed(options: argparse.Namespace, saved: Stored | None = None) -> Feed:
    """Open DATA, find out what is in it, and put its rows into the wanted order."""
    if options.order and options.permutation is not None:
        raise ValueError("Give --order or --permutation, not both.")
    source = name_of(options.data) if options.data else "built-in stream"
    stream = open_data(options.data, options, saved)
    blocks, seen = _looked_at(stream, options, saved)
    width = None if saved is None else saved.columns.width
    if saved is not None and seen.n_features != width and not getattr(stream, "grows", False):
        raise StreamError(f"{source}: its rows have {seen.n_features} features; {width} are expected.")
    rows = None if seen.rows is None else min(seen.rows, options.limit or seen.rows)
    if options.order or options.permutation is not None:
        blocks, rows = _ordered(take(blocks, options.limit) if options.limit else blocks, options)
    if options.epochs > 1 and options.data and read_once(options.data):
        raise ValueError(f"--epochs needs data that can be read again, which {source} cannot.")

    def opened(first: int = 0, trail: Trail | None = None) -> Iterable[Block]:
        wanted = take(blocks, options.limit) if options.limit else blocks
        wanted = read_ahead(wanted) if blocks is stream and options.data else wanted
        wanted = trail.passed_over(wanted, first) if trail and first else wanted
        wanted = reblock(wanted, options.block) if options.evaluate == "blocks" else wanted
        return trail.follow(wanted, first) if trail else wanted

    if saved is not None:
        answers, columns, said = saved.answers, saved.columns, ""
    else:
        answers, said = _answers(options, seen, source)
        columns = _columns(options, stream, seen.n_features)
    at_once = options.evaluate == "blocks"
    feed = Feed(opened, rows, answers, columns, source, None, options.test or "", stream, said, at_once, seen.as_arrays)
    if not options.test:
        return feed
    known = Stored(None, answers, columns, {})  # type: ignore[arg-type]
    how = None if columns.plan is None else ColumnChoice()
    return feed._replace(test=open_data(options.test, options, known, choice=how))


def open_data(
    source: str | None, options: argparse.Namespace, saved: Stored | None, labels: bool = True,
    choice: ColumnChoice | None = None,
) -> Any:  # fmt: skip
    """Open what a command line names: a file, a built-in stream, or a data set that is here.

    What is saved says how it is read; rows need no `labels` where nothing is learned. The `choice` of columns is what
    the options ask for, unless another is given.
    """
    values = {} if saved is None else saved.extra.get("values", {})
    more: dict[str, Any] = {"format": options.format, **(choice_of(options, values) if choice is None else choice)}
    known, width, grows = Known(labels=labels), None, grows_columns(options)
    if saved is not None:
        columns, classes = saved.columns, saved.answers.classes
        text = None if classes is None else classes.dtype.kind in "USO"
        known, width, grows = Known(columns.plan, columns.missing, text, labels), columns.width, columns.grows
        if columns.plan is None and more.get("missing", columns.missing) != columns.missing:
            raise ValueError(f"The model was learned with --missing {columns.missing}: leave it out.")
    elif isinstance(options.features, int):
        width = options.features
    if known.plan is None and more.get("missing") in ("zero", "mean"):
        more["missing"] = "nan"  # filled as rows are learned, in whatever order
    found = None if source is None or source in STREAMS or os.path.exists(source) else place(source)
    if found is not None:
        width = found.n_features if width is None else width
        own: dict[str, Any] = {"format": found.format}
        own |= {} if found.format == "libsvm" or known.plan is not None else {"label": found.label}
        source, more = str(found.path), {**own, **{key: value for key, value in more.items() if value is not None}}
    made_up = source is None or source in STREAMS
    rows = {"rows": options.limit} if made_up and options.limit else {}
    seed = getattr(options, "seed", 0)
    return open_stream(
        source, block_rows=options.block, n_features=width, seed=seed, on_error=options.on_error, known=known,
        grows=grows, **rows, **more,
    )  # fmt: skip


def grows_columns(options: argparse.Namespace) -> bool:
    """Whether new columns are taken in: where that is asked for, and on standard input."""
    asked = getattr(options, "features", None)
    return asked == "grow" or (asked is None and options.data is not None and read_once(options.data))


def told_of(source: str, stream: Any) -> list[str]:
    """What was left out of a stream, in a sentence, if anything was."""
    lines = [f"{source}: {stream.faults}"] if hasattr(stream, "faults") and stream.faults.count else []
    unknown = getattr(stream, "left_out", [])
    names = ", ".join(map(repr, unknown[:10])) + ", ..." * (len(unknown) > 10)
    return [*lines, *([f"{source}: columns that the model has not learned are left out: {names}."] if unknown else [])]


class _Seen(NamedTuple):
    rows: int | None
    n_features: int
    labels: Labels
    as_arrays: bool | None = None


def _looked_at(stream: Any, options: argparse.Namespace, saved: Stored | None) -> tuple[Iterable[Block], _Seen]:
    """The blocks and what is in them: all of a file, the first rows of what grows or can be read only once."""
    once = options.data is not None and read_once(options.data)
    growing = "grow" in (options.classes, options.features) or (saved is not None and saved.columns.grows)
    if not (once or growing):
        summary = stream.summary()
        if not summary.rows:
            raise StreamError(f"{options.data}: there are no rows.")
        return stream, _Seen(summary.rows, summary.n_features, Labels(summary.labels, summary.rows))
    rest = iter(take(stream, options.limit) if options.limit else stream)
    taken, held = list[Block](), 0
    while held < LOOK and (block := next(rest, None)) is not None:
        taken.append(block)
        held += len(block.labels)
    if not held:
        raise StreamError(f"{name_of(options.data)}: there are no rows.")
    head = joined(taken)
    held = min(held, LOOK)
    first = cut(head, 0, held)
    labels = np.unique(first.labels)
    whole = labels.dtype.kind in "US" or np.array_equal(labels, np.floor(labels))
    found, width, as_arrays = Labels(tuple(labels.tolist()) if whole else (), held), first.rows.shape[1], None
    if getattr(stream, "grows", False):
        width = max(1, int(last_columns(first.rows).max(initial=0)))
        as_arrays = better_dense(int(np.count_nonzero(stored(first.rows))), held, width)
    return (chain(reblock([head], options.block), rest) if once else stream), _Seen(None, width, found, as_arrays)


def _answers(options: argparse.Namespace, seen: _Seen, source: str) -> tuple[Answers, str]:
    """What labels are, and whether new ones may come."""
    once = options.data is not None and read_once(options.data)
    grows = options.classes == "grow" or (options.classes is None and once)
    if isinstance(options.classes, list):
        if options.task == "regression":
            raise ValueError("--classes and --task regression contradict each other: leave one of them out.")
        return ClassAnswers(_given(options.classes, seen.labels)), ""
    task, name = options.task, (options.data or "").removesuffix(".t")
    if task == "auto" and name in data_sets() and not os.path.exists(options.data):
        task = info(name).task
    answers, said = chosen(task, seen.labels, source, alone=grows)
    if isinstance(answers, ClassAnswers):
        answers.grows = grows
    return answers, said


def _given(names: list[str], labels: Labels) -> Any:
    """The classes that are asked for, as numbers where the labels of the stream are numbers."""
    text = bool(labels.values) and isinstance(labels.values[0], str)
    try:
        classes = sorted_classes(names if text else [float(name) for name in names])
    except ValueError:
        raise ValueError(f"--classes {','.join(names)}: the labels of the data are numbers.") from None
    if len(classes) < 2:
        raise ValueError("--classes needs at least two classes: grow, or all of them with commas between them.")
    return classes


def _columns(options: argparse.Namespace, stream: Any, width: int) -> Columns:
    """What the columns of a stream are, before its first row."""
    plan, missing = getattr(stream, "plan", None), options.missing or "error"
    if plan is None:
        return Columns(getattr(stream, "grows", False), missing, None, width)
    names = plan.features if plan.named else None
    return Columns(False, missing, names, len(plan.features), table=plan._replace(missing="error"))


def _ordered(blocks: Iterable[Block], options: argparse.Namespace) -> tuple[list[Block], int]:
    """All rows in memory, in the wanted order, in blocks again; and their number."""
    whole = joined(blocks)
    n = len(whole.labels)
    if options.order:
        order = _read_order(options.order, n)
    else:
        order = np.random.default_rng(options.permutation).permutation(n)
    return [*reblock([select(whole, order)], options.block)], len(order)


def _read_order(path: str, n: int) -> Any:
    try:
        order = np.array(Path(path).read_text().split(), np.int64)
    except (ValueError, OverflowError):
        raise StreamError(f"{path}: an order consists of whole numbers only.") from None
    if not len(order):
        raise StreamError(f"{path}: there are no row numbers.")
    outside = np.flatnonzero((order < 0) | (order >= n))
    if len(outside):
        raise StreamError(f"{path}: row number {order[outside[0]]} is outside 0 to {n - 1}.")
    return order
