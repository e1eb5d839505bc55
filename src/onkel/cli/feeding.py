"""From DATA on the command line to blocks of rows and targets."""

import argparse
import os
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from onkel.cli.choosing import choice_of
from onkel.data import place
from onkel.online import Online
from onkel.snapshot import SnapshotError
from onkel.streams import STREAMS, open_stream, read_ahead
from onkel.streams.block import Block, StreamError, Summary, concatenate, drop, reblock, select, take
from onkel.streams.means import Means
from onkel.streams.opening import name_of, read_once
from onkel.targets import encode, outputs, task_of

MOST_CLASSES = 100
ROWS_PER_CLASS = 10

Values: TypeAlias = dict[str, tuple[str, ...]]  # of one-hot columns


class Feed(NamedTuple):
    """A stream whose task, width and classes are known, and the rows to be predicted after it."""

    blocks: Callable[[int], Iterable[Block]]  # from a row on, whenever it is called
    rows: int | None
    n_features: int
    task: str
    classes: Any  # sorted labels, or None for a regression
    source: str
    test: Any  # another stream, or None
    test_source: str
    stream: Any
    means: Means | None  # of the rows before the first; None where nothing is filled

    @property
    def values(self) -> Values:
        """The values of one-hot columns, which the model has features for."""
        return getattr(self.stream, "values", {})

    @property
    def n_skipped(self) -> int:
        """How many lines of the data were left out in the last pass."""
        return self.stream.faults.count if hasattr(self.stream, "faults") else 0

    def skipped(self) -> list[str]:
        """What was left out, in a sentence for each file."""
        return [*told_of(self.source, self.stream), *told_of(self.test_source, self.test)]

    @property
    def n_classes(self) -> int:
        return 0 if self.classes is None else max(len(self.classes), 2)

    @property
    def n_outputs(self) -> int:
        return 1 if self.classes is None else outputs(self.classes)

    def pairs(self, first: int = 0, means: Means | None = None) -> Iterator[tuple[Any, Any]]:
        """(rows, targets), block by block, from a row on; the means, if there are any, follow the rows."""
        return self.paired(self.blocks(first), means)

    def paired(self, blocks: Iterable[Block], means: Means | None = None) -> Iterator[tuple[Any, Any]]:
        """(rows, targets) of blocks; missing numbers become the means of the rows before."""
        means = self.means.copy() if means is None and self.means else means
        for block in blocks:
            yield means.follow(block.rows) if means else block.rows, self.targets(block, self.source)

    def test_pairs(self, means: Means | None) -> Iterator[tuple[Any, Any]]:
        """(rows, targets) of the rows to be predicted; missing numbers become these means."""
        for block in self.test:
            yield means.fill(block.rows) if means else block.rows, self.targets(block, self.test_source)

    def targets(self, block: Block, source: str) -> Any:
        """The labels of a block as numbers."""
        if self.classes is None:
            if block.labels.dtype.kind in "US":
                raise StreamError(f"{source}: the labels of a regression must be numbers.")
            return np.asarray(block.labels, np.float64)
        try:
            return encode(block.labels, self.classes)
        except ValueError as error:
            strange = np.flatnonzero(~np.isin(block.labels.astype(object), self.classes.astype(object)))
            line = f", near line {block.first_line + int(strange[0])}" if block.first_line and len(strange) else ""
            raise StreamError(f"{source}{line}: {error}") from None


def open_feed(options: argparse.Namespace, online: Online | None, saved: dict[str, Any]) -> Feed:
    """Open DATA, find out what is in it, and put its rows into the wanted order."""
    if options.order and options.permutation is not None:
        raise ValueError("Give --order or --permutation, not both.")
    width = online.setting.n_features if online else options.features
    stream = open_data(options.data, options, width, saved.get("values", {}))
    blocks, summary = _looked_at(stream, options)
    source = name_of(options.data) if options.data else "built-in stream"
    if width is not None and summary.n_features != width:
        raise StreamError(f"{source}: its rows have {summary.n_features} features; {width} are expected.")
    rows = None if summary.rows is None else min(summary.rows, options.limit or summary.rows)
    if options.order or options.permutation is not None:
        blocks, rows = _ordered(take(blocks, options.limit) if options.limit else blocks, options)
    if options.epochs > 1 and options.data and read_once(options.data):
        raise ValueError(f"--epochs needs data that can be read again, which {source} cannot.")

    def opened(first: int) -> Iterable[Block]:
        wanted = take(blocks, options.limit) if options.limit else blocks
        wanted = drop(wanted, first) if first else wanted
        wanted = reblock(wanted, options.block) if options.evaluate == "blocks" else wanted
        return read_ahead(wanted) if blocks is stream and options.data else wanted

    task, found = (online.task, saved.get("classes")) if online else _task(options.task, summary, source)
    means = means_of(stream, options, saved)
    feed = Feed(opened, rows, summary.n_features, task, found, source, None, options.test or "", stream, means)
    if not options.test:
        return feed
    return feed._replace(test=open_data(options.test, options, summary.n_features, feed.values))


def open_data(source: str | None, options: argparse.Namespace, n_features: int | None, values: Values) -> Any:
    """Open what a command line names: a file, a built-in stream, or a data set that is here."""
    more = {"n_features": n_features, "format": options.format, **choice_of(options, values)}
    more |= {"missing": "nan"} if options.missing == "mean" else {}  # filled as rows are learned, in whatever order
    found = None if source is None or source in STREAMS or os.path.exists(source) else place(source)
    if found is not None:
        own: dict[str, Any] = {"n_features": found.n_features, "format": found.format}
        own |= {} if found.format == "libsvm" else {"label": found.label}
        source, more = str(found.path), {**own, **{key: value for key, value in more.items() if value is not None}}
    seed = getattr(options, "seed", 0)
    return open_stream(source, block_rows=options.block, seed=seed, on_error=options.on_error, **more)


def told_of(source: str, stream: Any) -> list[str]:
    """What was left out of a stream, in a sentence, if anything was."""
    return [f"{source}: {stream.faults}"] if hasattr(stream, "faults") and stream.faults.count else []


def means_of(stream: Any, options: argparse.Namespace, saved: dict[str, Any]) -> Means | None:
    """The means that missing numbers become, if that is wanted: those saved with a model, or of no rows yet."""
    if options.missing != "mean" or not hasattr(stream, "means"):
        return None
    means = stream.means()
    if saved.get("means") is None:
        return means
    try:
        found = Means.of(saved["means"])
    except (ValueError, TypeError):
        raise SnapshotError("The means of its columns in the model file are damaged.") from None
    if len(found.sums) != len(means.sums):
        raise ValueError("The model has means of other columns: --columns, --drop, --categorical must be as they were.")
    return found


class _Seen(NamedTuple):
    rows: int | None
    n_features: int
    labels: tuple[Any, ...]


def _looked_at(stream: Any, options: argparse.Namespace) -> tuple[Iterable[Block], Any]:
    """The blocks and what is in them: all of a file, the first block of what can be read only once."""
    if options.data is None or not read_once(options.data):
        summary: Summary = stream.summary()
        if not summary.rows:
            raise StreamError(f"{options.data}: there are no rows.")
        return stream, summary
    rest = iter(stream)
    first = next(rest, None)
    if first is None or not len(first.labels):
        raise StreamError(f"{name_of(options.data)}: there are no rows.")
    labels = np.unique(first.labels)
    whole = labels.dtype.kind in "US" or np.array_equal(labels, np.round(labels))
    return chain([first], rest), _Seen(None, first.rows.shape[1], tuple(labels.tolist()) if whole else ())


def _task(task: str, summary: Any, source: str) -> tuple[str, Any]:
    """The task and its classes. Text is always classes; so are whole numbers, few and each with enough rows."""
    labels, rows = summary.labels, summary.rows or np.inf
    text = len(labels) > 0 and isinstance(labels[0], str)
    few = 0 < len(labels) <= MOST_CLASSES and rows >= ROWS_PER_CLASS * len(labels)
    if task == "regression" or (task == "auto" and not (text or len(labels) in (1, 2) or few)):
        return "regression", None
    if not labels:
        raise ValueError(f"--task {task} needs labels that are classes; these are fractions, or more than 1,000.")
    if len(labels) == 1:
        raise StreamError(f"{source}: all rows have the label {labels[0]!r}; two classes are needed to tell apart.")
    if task == "binary" and len(labels) > 2:
        raise ValueError(f"--task binary needs two classes; there are {len(labels)}.")
    classes = np.asarray(labels)
    return task_of(classes), classes


def _ordered(blocks: Iterable[Block], options: argparse.Namespace) -> tuple[list[Block], int]:
    """All rows in memory, in the wanted order, in blocks again; and their number."""
    whole = concatenate(blocks)
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
