"""From DATA on the command line to blocks of rows and targets."""

import argparse
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from onkel.online import Online
from onkel.streams import open_stream
from onkel.streams.block import Block, StreamError, Summary, concatenate, reblock, select, take
from onkel.targets import encode, outputs, task_of

MOST_CLASSES = 100
ROWS_PER_CLASS = 10


class Feed(NamedTuple):
    """A stream whose task, width and classes are known."""

    blocks: Iterable[Block]
    rows: int | None
    n_features: int
    task: str
    classes: Any  # sorted labels, or None for a regression
    source: str

    @property
    def n_classes(self) -> int:
        return 0 if self.classes is None else max(len(self.classes), 2)

    @property
    def n_outputs(self) -> int:
        return 1 if self.classes is None else outputs(self.classes)

    def pairs(self) -> Iterator[tuple[Any, Any]]:
        """(rows, targets), block by block."""
        for block in self.blocks:
            yield block.rows, self._targets(block)

    def other(self, path: str, options: argparse.Namespace) -> Iterator[tuple[Any, Any]]:
        """(rows, targets) of another file with the same columns and classes."""
        stream = _open(path, options, self.n_features)
        for block in stream:
            yield block.rows, self._targets(block, path)

    def _targets(self, block: Block, source: str | None = None) -> Any:
        try:
            if self.classes is None:
                return np.asarray(block.labels, np.float64)
            return encode(block.labels.astype(self.classes.dtype), self.classes)
        except ValueError as error:
            if self.classes is None:
                raise StreamError(f"{source or self.source}: the labels of a regression must be numbers.") from None
            line = _line_of_stranger(block, self.classes)
            raise StreamError(f"{source or self.source}{line}: {error}") from None


def _line_of_stranger(block: Block, classes: Any) -> str:
    strange = np.flatnonzero(~np.isin(block.labels.astype(classes.dtype), classes))
    return f", near line {block.first_line + int(strange[0])}" if block.first_line and len(strange) else ""


def open_feed(options: argparse.Namespace, online: Online | None, classes: Any) -> Feed:
    """Open DATA, find out what is in it, and put its rows into the wanted order."""
    stream = _open(options.data, options, online.setting.n_features if online else options.features)
    blocks, summary = _looked_at(stream, options)
    blocks = take(blocks, options.limit) if options.limit else blocks
    rows = None if summary.rows is None else min(summary.rows, options.limit or summary.rows)
    if options.order or options.permutation is not None:
        blocks = _ordered(blocks, options)
    if options.evaluate == "blocks":
        blocks = reblock(blocks, options.block)
    source = options.data or "built-in stream"
    if online is not None:
        return Feed(blocks, rows, online.setting.n_features, online.task, classes, source)
    task, found = _task(options.task, summary)
    return Feed(blocks, rows, summary.n_features, task, found, source)


def _open(source: str | None, options: argparse.Namespace, n_features: int | None) -> Any:
    label = options.label
    if label is not None and label.lstrip("-").isdigit():
        label = int(label)
    more = {} if label is None else {"label": label}
    return open_stream(
        source, block_rows=options.block, n_features=n_features, format=options.format, seed=options.seed, **more
    )


class _Seen(NamedTuple):
    rows: int | None
    n_features: int
    labels: tuple[Any, ...]


def _looked_at(stream: Any, options: argparse.Namespace) -> tuple[Iterable[Block], Any]:
    """The blocks and what is in them: all of a file, the first block of standard input."""
    if options.data != "-":
        summary: Summary = stream.summary()
        if not summary.rows:
            raise StreamError(f"{options.data}: there are no rows.")
        return stream, summary
    rest = iter(stream)
    first = next(rest, None)
    if first is None or not len(first.labels):
        raise StreamError("-: there are no rows.")
    labels = np.unique(first.labels)
    whole = labels.dtype.kind in "US" or np.array_equal(labels, np.round(labels))
    return chain([first], rest), _Seen(None, first.rows.shape[1], tuple(labels.tolist()) if whole else ())


def _task(task: str, summary: Any) -> tuple[str, Any]:
    """The task and its classes. Whole numbers, few of them and each with enough rows, are taken for classes."""
    labels, rows = summary.labels, summary.rows or np.inf
    few = 0 < len(labels) <= MOST_CLASSES and rows >= ROWS_PER_CLASS * len(labels)
    if task == "regression" or (task == "auto" and not (len(labels) in (1, 2) or few)):
        return "regression", None
    if not labels:
        raise ValueError(f"--task {task} needs labels that are classes; these are fractions, or more than 1,000.")
    classes = np.asarray(labels)
    if task == "binary" and len(classes) > 2:
        raise ValueError(f"--task binary needs two classes; there are {len(classes)}.")
    return task_of(classes) if task != "multiclass" or len(classes) > 2 else "binary", classes


def _ordered(blocks: Iterable[Block], options: argparse.Namespace) -> Iterator[Block]:
    """All rows in memory, in the wanted order, in blocks again."""
    whole = concatenate(blocks)
    n = len(whole.labels)
    if options.order:
        order = _read_order(options.order, n)
    else:
        order = np.random.default_rng(options.permutation).permutation(n)
    return iter(reblock([select(whole, order)], options.block))


def _read_order(path: str, n: int) -> Any:
    try:
        order = np.array(Path(path).read_text().split(), np.int64)
    except (ValueError, UnicodeDecodeError):
        raise StreamError(f"{path}: an order consists of whole numbers only.") from None
    outside = np.flatnonzero((order < 0) | (order >= n))
    if len(outside):
        raise StreamError(f"{path}: row number {order[outside[0]]} is outside 0 to {n - 1}.")
    return order
