"""What all streams from tables share, be they CSV text or Arrow: one plan of the columns, one encoder, one summary."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import NamedTuple, cast

from onkel.streams.block import Block, StreamError, Summary, at_line, reblock, summarise
from onkel.streams.columns import Choice, Column, Plan, checked
from onkel.streams.encoding import Cells, Encoder
from onkel.streams.lines import Faults, OnError
from onkel.streams.means import Means
from onkel.streams.opening import Source, name_of, read_once

MOST_VALUES = 2**16  # of a one-hot column


class Opened(NamedTuple):
    """A table of which only the columns are known yet, and the line that told them (0: none)."""

    plan: Plan
    cells: Iterator[Cells]
    line: int = 0


class Reading(NamedTuple):
    """How a table is read, besides its columns."""

    n_features: int | None
    block_rows: int
    on_error: OnError


class TableStream(ABC):
    """Rows of a table, in constant memory; `open` says how cells are got out of it."""

    unit = "line"  # what is counted where something is wrong

    def __init__(self, source: Source, choice: Choice, reading: Reading) -> None:
        if reading.block_rows < 1:
            raise StreamError(f"A block must hold at least one row, not {reading.block_rows}.")
        self.source = source
        self.choice = checked(choice)
        self.n_features, self.block_rows, self.on_error = reading
        self.faults = Faults(reading.on_error, self.unit)
        self._summary: Summary | None = None
        self._values: dict[int, tuple[str, ...]] | None = None
        self._plan: Plan | None = None
        self._opened: Opened | None = None
        self._gone = False

    @abstractmethod
    def open(self, faults: Faults) -> Opened:
        """Open the table from its first row on."""

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the features; columns without a name are called x1, x2, ... after their position."""
        return self._known_plan().features

    @property
    def values(self) -> dict[Column, tuple[str, ...]]:
        """The values that have a feature of their own, for each one-hot column, as it was asked for."""
        plan = self._known_plan()
        found = zip(self.choice.categorical, plan.categories, strict=True)
        return {column: category.values for column, category in found if category.how == "values"}

    def means(self) -> Means:
        """Means of its numbers before the first row."""
        return Means(len(self._known_plan().numeric))

    def __iter__(self) -> Iterator[Block]:
        """Yield the rows, block by block."""
        opened = self._next_opened()
        self._opened = None
        blocks = reblock(self._blocks(opened), self.block_rows)
        if opened.plan.missing != "mean":
            return blocks
        means = self.means()
        return (block._replace(rows=means.follow(block.rows)) for block in blocks)

    def summary(self) -> Summary:
        """Read the whole table once, without keeping its rows; later calls repeat the answer."""
        if self._summary is None:
            if read_once(self.source):
                raise StreamError(f"{name_of(self.source)}: it can be read only once, so it has no summary.")
            self._summary = summarise(self)
        return self._summary

    def _blocks(self, opened: Opened) -> Iterator[Block]:
        encoder = Encoder(opened.plan)
        empty = True
        for cells in opened.cells:
            empty = False
            yield encoder.block(cells)
        if empty:
            raise StreamError(f"{name_of(self.source)}: there are no rows in it.")

    def _next_opened(self) -> Opened:
        """The table before its first row, with the values of one-hot columns filled in."""
        if self._opened is not None:
            return self._opened
        name = name_of(self.source)
        if self._gone:
            raise StreamError(f"{name}: it can be read only once.")
        self._gone = read_once(self.source)
        self.faults = Faults(self.on_error, self.unit)
        opened = self.open(self.faults)
        if any(category.how == "find values" for category in opened.plan.categories):
            opened = opened._replace(plan=self._with_values(opened.plan))
        wide = len(opened.plan.features)
        if not wide:
            raise StreamError(f"{name}: no column holds a value.")
        if self.n_features not in (None, wide):
            what = f"{wide} features where {self.n_features} were asked for."
            raise at_line(name, opened.line, what) if opened.line else StreamError(f"{name}: {what}")
        self._plan = opened.plan
        return opened

    def _known_plan(self) -> Plan:
        if self._plan is None:
            opened = self._next_opened()
            if read_once(self.source):
                self._opened = opened  # what was read of it cannot be read again
        return cast(Plan, self._plan)

    def _with_values(self, plan: Plan) -> Plan:
        """The plan with the values that the whole table holds."""
        if self._values is None:
            if self._gone:
                name = name_of(self.source)
                raise StreamError(f"{name}: it can be read only once, so the values of one-hot columns must be given.")
            self._values = self._look_for_values()
        found = self._values
        return plan._replace(
            categories=tuple(
                c._replace(how="values", values=found[c.position]) if c.how == "find values" else c
                for c in plan.categories
            )
        )

    def _look_for_values(self) -> dict[int, tuple[str, ...]]:
        plan, pieces, _ = self.open(Faults(self.on_error, self.unit))
        found: list[set[str]] = [set() for _ in plan.categories]
        for cells in pieces:
            for category, seen, text in zip(plan.categories, found, cells.texts, strict=True):
                if category.how == "find values":
                    seen.update(text.values)
                    if len(seen) > MOST_VALUES:
                        what = f"column {category.name!r} has more than {MOST_VALUES} values: hash it."
                        raise StreamError(f"{name_of(self.source)}: {what}")
        return {c.position: tuple(sorted(seen - {""})) for c, seen in zip(plan.categories, found, strict=True)}
