"""Rows in memory as a paper has them."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onkel import datasets
from onkel.apps.reproduce.spec import Source
from onkel.model.targets import encode, outputs, task_of
from onkel.streams.block import Block, concatenate, dense, select

SAMPLE_SEED = 1_000_001  # of the rows taken where there is a limit; not among the seeds of the runs
SPLIT_SEED = 1_000_002
TEST_SHARE = 5  # one row of so many is for testing where there is no test part


class Task(NamedTuple):
    """Rows with targets, and how to start a learner on them."""

    block: Block  # the labels are targets
    test: Block | None
    test_origin: str
    start: dict[str, Any]
    passes: int
    ordered: bool = False

    @property
    def n_features(self) -> int:
        return int(self.block.rows.shape[1])

    def part(self, order: Any) -> tuple[Any, Any]:
        """(rows, targets) in an order."""
        chosen = select(self.block, order)
        return chosen.rows, chosen.labels


def load(source: Source, held_out: bool, limit: int | None) -> Task:
    """Read a data set that is here; without a test part, a seeded random fifth of the rows is held out."""
    train, test = datasets.load(source.name)
    block, after = concatenate(train), None if test is None else concatenate(test)
    if not held_out:
        block, after, origin = stream(source.parts, block, after), None, ""
        limit = min(limit or source.rows, source.rows)
    elif after is None:
        order = np.random.default_rng(SPLIT_SEED).permutation(len(block.labels))
        cut = len(order) // TEST_SHARE
        block, after = select(block, order[cut:]), select(block, order[:cut])
        origin = "a random fifth of the rows (no test part here)"
    else:
        origin = "official"
    if source.ordered:
        block = select(block, np.arange(min(limit or source.rows, len(block.labels))))
    block, after = sampled(block, limit), None if after is None else sampled(after, limit)
    block, after = scaled(block, after, source.scale)
    return as_task(block, after, origin, source)


def stream(parts: str, train: Block, test: Block | None) -> Block:
    """The rows of a stream: of "both" parts those that are here."""
    if test is None or parts == "train":
        return train
    return test if parts == "test" else concatenate([train, test])


def sampled(block: Block, limit: int | None) -> Block:
    """At most `limit` rows, drawn at random; the same ones each time."""
    n = len(block.labels)
    if limit is None or limit >= n:
        return block
    return select(block, np.random.default_rng(SAMPLE_SEED).permutation(n)[:limit])


def scaled(block: Block, test: Block | None, scale: str) -> tuple[Block, Block | None]:
    """Features within [0, 1] ("unit") or [-1, 1] ("signed") by the ranges of the rows to learn, or over 255 ("bytes").

    >>> scaled(Block(np.array([[1.0], [3.0], [2.0]]), np.zeros(3)), None, "signed")[0].rows.ravel().tolist()
    [-1.0, 1.0, 0.0]
    """
    if not scale:
        return block, test
    rows = dense(block.rows)
    low, width = (0.0, np.array(255.0)) if scale == "bytes" else (rows.min(axis=0), np.ptp(rows, axis=0))
    width = np.where(width > 0.0, width, 1.0)

    def placed(part: Block) -> Block:
        unit = (dense(part.rows) - low) / width
        return part._replace(rows=2.0 * unit - 1.0 if scale == "signed" else unit)

    return placed(block), None if test is None else placed(test)


def as_task(block: Block, test: Block | None, origin: str, source: Source) -> Task:
    """Labels as targets: numbers of a regression within [0, 1], classes as -1 and 1 or as whole numbers."""
    parts = [block] if test is None else [block, test]
    labels: list[NDArray[Any]] = [part.labels for part in parts]
    if source.above is not None:
        labels = [part > source.above for part in labels]
    elif source.positive:
        labels = [np.isin(part, source.positive) for part in labels]
    if source.above is None and datasets.info(source.name).task == "regression":
        low, width = labels[0].min(), np.ptp(labels[0]) or 1.0
        targets, start = [(part - low) / width for part in labels], {"task": "regression", "n_outputs": 1}
    else:
        classes = np.unique(np.concatenate(labels))
        targets = [encode(part, classes) for part in labels]
        start = {"task": task_of(classes), "n_outputs": outputs(classes)}
    made = [part._replace(labels=y) for part, y in zip(parts, targets, strict=True)]
    return Task(made[0], made[1] if test is not None else None, origin, start, source.passes, source.ordered)
