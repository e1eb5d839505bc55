"""What all streams from tables share, be they CSV text or Arrow: one plan of the columns, one encoder, one summary."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from onkel.streams.block import Block, StreamError, Summary, at_line, reblock, summarise
from onkel.streams.columns import FEW_VALUES, Category, Choice, Column, ColumnChoice, Plan, checked, distinct, planned
from onkel.streams.encoding import Cells, Encoder
from onkel.streams.imputation import Means
from onkel.streams.lines import Faults, OnError
from onkel.streams.matching import contradiction, left_out, matched
from onkel.streams.opening import Source, name_of, read_once

MOST_VALUES = 2**16  # of a one-hot column


class Opened(NamedTuple):
    """A table of which only the columns are known yet, and the line that told them (0: none)."""

    plan: Plan
    cells: Iterator[Cells]
    line: int = 0


class Known(NamedTuple):
    """What a model knows of the rows that are to come."""

    plan: Plan | None = None  # of the table that it has learned
    missing: str = "error"  # what it takes a missing number for
    text_labels: bool | None = None  # whether its labels are text; None: it does not say
    labels: bool = True  # whether every row must have a label


NOTHING_KNOWN = Known()


class Reading(NamedTuple):
    """How a table is read, besides its columns."""

    n_features: int | None
    block_rows: int
    on_error: OnError
    known: Known = NOTHING_KNOWN


class TableStream(ABC):
    """Rows of a table, in constant memory; `open` says how cells are got out of it."""

    unit = "line"  # what is counted where something is wrong

    def __init__(self, source: Source, choice: ColumnChoice, reading: Reading) -> None:
        if reading.block_rows < 1:
            raise StreamError(f"A block must hold at least one row, not {reading.block_rows}.")
        self.source = source
        self.asked, self.choice = choice, checked(Choice(**choice))
        self.n_features, self.block_rows, self.on_error, self.known = reading
        self.faults = Faults(reading.on_error, self.unit)
        self._summary: Summary | None = None
        self._values: dict[int, tuple[str, ...] | None] | None = None
        self._plan: Plan | None = None
        self._opened: Opened | None = None
        self._gone = False

    @abstractmethod
    def open(self, faults: Faults) -> Opened:
        """Open the table from its first row on."""

    def plan_for(self, names: Sequence[str], named: bool) -> Plan:
        """What becomes of the columns of this table."""
        own = distinct(names) if named else [f"x{number + 1}" for number in range(len(names))]
        before = self.known.plan
        if before is None:
            plan = self._labelled(planned(self._without_label(len(own)), own, named))
            return plan if self.known.missing == "error" else plan._replace(missing="nan")
        plan = self._labelled(matched(before, own, named, self.asked.get("label")))
        asked: dict[str, Any] = {**self.asked}
        if "categorical" in asked:
            asked["categorical"] = self.choice.categorical
        said = contradiction(asked, plan, before, self.known.missing)
        if said:
            raise StreamError(said)
        return plan._replace(missing=cast(Any, "error" if self.known.missing == "error" else "nan"))

    def _without_label(self, width: int) -> Choice:
        """The choice, for a table that is as wide as the rows of a model: there is no label, unless one is named."""
        if self.known.labels or "label" in self.asked or width != self.n_features:
            return self.choice
        return self.choice._replace(label=None)

    def _labelled(self, plan: Plan) -> Plan:
        if plan.label is None and self.known.labels:
            raise StreamError("there are no labels to learn: --label names their column.")
        return plan

    @property
    def left_out(self) -> list[str]:
        """Names of the columns that a model which has learned another table does not use."""
        plan = self._known_plan()
        return [] if self.known.plan is None else left_out(plan, self.known.plan)

    @property
    def plan(self) -> Plan:
        """What becomes of its columns."""
        return self._known_plan()

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
        made = self._blocks(opened)
        # What has come through a pipe is handed on: nobody knows when the next row comes.
        blocks = made if read_once(self.source) else reblock(made, self.block_rows)
        if opened.plan.missing != "mean":
            return blocks
        means = self.means()
        return (block._replace(rows=means.follow(block.rows)) for block in blocks)

    @property
    def prompt(self) -> bool:
        """Whether rows are wanted as soon as they have come, and not in blocks of one size."""
        return not self.known.labels and read_once(self.source)

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
        if any(category.how.startswith("find") for category in opened.plan.categories):
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
        if self._values is None and self._gone:
            if any(category.how == "find values" for category in plan.categories):
                name = name_of(self.source)
                raise StreamError(f"{name}: it can be read only once, so the values of one-hot columns must be given.")
            self._values = dict.fromkeys((category.position for category in plan.categories), None)
        elif self._values is None:
            self._values = self._look_for_values()
        return plan._replace(categories=tuple(_found(category, self._values) for category in plan.categories))

    def _look_for_values(self) -> dict[int, tuple[str, ...] | None]:
        """The values of each column, None where there are too many to be one-hot without being asked for."""
        plan, pieces, _ = self.open(Faults(self.on_error, self.unit))
        found: list[set[str] | None] = [set() if c.how.startswith("find") else None for c in plan.categories]
        for cells in pieces:
            for place, (category, text) in enumerate(zip(plan.categories, cells.texts, strict=True)):
                if (seen := found[place]) is None:
                    continue
                seen.update(text.values)
                if category.how == "find few values" and len(seen - {""}) > FEW_VALUES:
                    found[place] = None
                elif len(seen) > MOST_VALUES:
                    what = f"column {category.name!r} has more than {MOST_VALUES} values: hash it."
                    raise StreamError(f"{name_of(self.source)}: {what}")
        pairs = zip(plan.categories, found, strict=True)
        return {c.position: None if seen is None else tuple(sorted(seen - {""})) for c, seen in pairs}


def _found(category: Category, values: Mapping[int, tuple[str, ...] | None]) -> Category:
    """A category whose values are known now, or that is hashed because there are too many."""
    if not category.how.startswith("find"):
        return category
    own = values[category.position]
    return category._replace(how="hash") if own is None else category._replace(how="values", values=own)
