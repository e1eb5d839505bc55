"""What the columns of a model mean: their names, the table they were read from, and what a missing number stands for.

Rows are matched by name wherever both sides have names: their order does not matter, and columns that the model does
not know are left out. Positions count where one side has no names.
"""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from functools import partial
from operator import itemgetter
from typing import Any, cast

import numpy as np
from scipy import sparse

from onkel.core.points import WIDE
from onkel.core.rows import is_sparse
from onkel.streams.columns import MOST_HASHED, Category, Plan, shown
from onkel.streams.imputation import Means
from onkel.streams.matching import LISTED, plan_of_names

MISSING = ("error", "zero", "mean")


class Columns:
    """Where the numbers of rows go.

    New names take the next columns, those of one row in their alphabetical order, so that no result depends on the
    order of the names in a dict or a table. A name that a row does not have is missing: it is 0, or the mean with
    ``missing="mean"``. Means are those of the rows before. `table` says how a table is read, where one was learned.

    >>> columns = Columns(grows=True, names=())
    >>> columns.take_in({"b": 1.0, "a": 2.0}), columns.take_in({"a": 2.0}), columns.take_in({"c": 3.0})
    (True, False, True)
    >>> columns.row({"c": 3.0, "a": 2.0}).tolist()
    [2.0, 0.0, 3.0]
    """

    def __init__(
        self, grows: bool = False, missing: str = "error", names: Iterable[Any] | None = None, width: int = 0,
        own_means: bool = False, table: Plan | None = None,
    ) -> None:  # fmt: skip
        if missing not in MISSING:
            raise ValueError(f"missing must be one of {', '.join(MISSING)}, not {missing!r}.")
        self.grows, self.missing = grows, missing
        self.places = None if names is None else {name: j for j, name in enumerate(names)}
        self.width = max(1, width if self.places is None else len(self.places))
        self.table = table
        self.means: Means | None = None
        if own_means:
            self.begin_means()
        self.plain = self.places is None and not grows and missing == "error"  # rows of one width, as they are
        self._pick, self._said = picking(self.places), False

    def begin_means(self) -> None:
        """Keep means of the columns that hold numbers, from now on."""
        if self.width > WIDE:
            raise ValueError(f"missing='mean' of more than {WIDE} columns needs a learner with standardise=True.")
        self.means = Means(self.width if self.table is None else len(self.table.numeric))

    @property
    def names(self) -> list[Any] | None:
        """The names, in the order of the columns; None where there are none."""
        return None if self.places is None else list(self.places)

    @property
    def plan(self) -> Plan | None:
        """How a table is read for the model; None where it knows neither a table nor names."""
        if self.table is not None or self.places is None:
            return self.table
        return plan_of_names([str(name) for name in self.places])

    def copy(self) -> "Columns":
        """The same columns, which can go their own way."""
        found = Columns(self.grows, self.missing, self.places, self.width, table=self.table)
        found.means = None if self.means is None else self.means.copy()
        return found

    @property
    def absent(self) -> float:
        """What a name that a row does not have stands for."""
        return np.nan if self.missing == "mean" else 0.0

    def take_in(self, names: Iterable[Any] | None, width: int = 0) -> bool:
        """Make room for these names, or for rows of that width; whether any is new."""
        new: list[Any] = []
        if names is not None and self.places is not None:
            new = sorted((name for name in names if name not in self.places), key=repr)
            if len(set(new)) < len(new):
                raise ValueError("Two columns have the same name.")
            self.places.update({name: j for j, name in enumerate(new, start=len(self.places))})
            width, self._pick = len(self.places), picking(self.places) if new else self._pick
        more, self.width = max(0, width - self.width), max(width, self.width)
        if self.means is not None and more:
            self.means.sums, self.means.counts = (np.pad(a, (0, more)) for a in (self.means.sums, self.means.counts))
        return bool(new or more)

    def laid_out(self, rows: Any, names: Any) -> Any:
        """Rows of an array, or of a SciPy matrix, in these columns; those that are not among them are left out."""
        if (names is None) != (self.places is None):
            raise ValueError(f"The columns of the first rows had {'no ' * (self.places is None)}names, unlike these.")
        if names is None or self.places is None:
            return resized(rows, self.width, self.absent)
        known = [(i, self.places[name]) for i, name in enumerate(names) if name in self.places]
        if len(known) < len(names):
            self._say_left_out(name for name in names if name not in self.places)
        if not self.grows and len(known) < len(self.places):
            self._refuse_without(names)
        if known == [(i, i) for i in range(rows.shape[1])] and len(known) == self.width:
            return rows
        out = np.full((len(rows), self.width), self.absent, rows.dtype)
        out[:, [j for _, j in known]] = rows[:, [i for i, _ in known]]
        return out

    def picked(self, x: Mapping[Any, Any]) -> Any:
        """The numbers of a row that has exactly the names of the columns, in their order; None of any other row."""
        if len(x) == self.width:
            try:
                return self._pick(x)
            except KeyError:
                pass  # as many names, but others
        return None

    def row(self, x: Any) -> Any:
        """The numbers of one row in the order of the columns: of a dict by name, else as they stand."""
        if isinstance(x, Mapping):
            return self._by_name(x) if (found := self.picked(x)) is None else found
        if self.grows and len(x) != self.width:
            return resized(np.asarray(x)[None], self.width, self.absent)[0]
        return x

    def _by_name(self, x: Mapping[Any, Any]) -> Any:
        if self.places is None:
            raise ValueError("The columns have no names: a row as a dict needs a model that learned rows with names.")
        row = np.full(self.width, self.absent)
        held = [name for name in x if name in self.places]
        for name in held:
            row[self.places[name]] = x[name]
        if len(held) < len(x):
            self._say_left_out(name for name in x if name not in self.places)
        if len(held) < self.width and not self.grows and self.missing == "error":
            self._refuse_without(list(x))
        return row

    def _refuse_without(self, names: Sequence[Any]) -> None:
        """Say which column is not among these, and what is there."""
        lost = next(name for name in cast(dict[Any, int], self.places) if name not in names)
        there = ", ".join(shown(str(name)) for name in names[:LISTED]) + ", ..." * (len(names) > LISTED)
        raise ValueError(f"The column {lost!r} is missing; there are {there or 'none'}.")

    def _say_left_out(self, names: Iterable[Any]) -> None:
        """Say once that columns are left out, unless they come and go by design."""
        if not (self._said or self.grows):
            self._said = True
            listed = ", ".join(shown(str(name)) for name, _ in zip(names, range(LISTED), strict=False))
            warnings.warn(f"Columns that the model has not learned are left out: {listed}.", stacklevel=2)

    def filled(self, rows: Any, learns: bool) -> Any:
        """The rows with something in place of what is missing; where rows are standardised, that is done there."""
        if self.missing == "zero":
            return without_gaps(rows)
        if self.means is None:
            return rows
        return self.means.follow(rows) if learns else self.means.fill(rows)

    @contextmanager
    def followed(self, rows: Any, learned: Callable[[], int]) -> Iterator[Any]:
        """Rows filled by what was known before each, for a model that learns them inside.

        If that fails, only those are counted in that it has learned; `learned` tells their number.
        """
        before, at = copy(self.means), learned()
        try:
            yield self.filled(rows, learns=True)
        except BaseException:
            self.means = before
            self.filled(rows[: learned() - at], learns=True)
            raise

    def filled_row(self, x: Any) -> Any:
        """One row, filled by what is known so far."""
        row = np.asarray(x, np.float64)[None]
        if np.isinf(row).any():
            raise ValueError("A row must consist of finite numbers; one is infinite.")
        return self.filled(row, learns=False)[0]

    def count_row(self, x: Any) -> None:
        """Count a row in that was filled and learned."""
        if self.means is not None:
            self.means.follow(np.asarray(x, np.float64)[None])

    def state(self) -> dict[str, Any]:
        """What columns that come new may change."""
        return {**vars(self), "places": None if self.places is None else dict(self.places), "means": copy(self.means)}

    def restore(self, state: dict[str, Any]) -> None:
        """Be as before new columns came."""
        vars(self).update(state)

    def content(self) -> dict[str, Any]:
        """What a file holds of them; a ValueError where names are no text."""
        names = self.names
        if names is not None and not all(isinstance(name, str) for name in names):
            raise ValueError("Names of columns that are not text cannot be saved.")
        means = None if self.means is None else (self.means.sums, self.means.counts)
        return {
            "names": None if names is None else np.array(names, np.str_), "grows": self.grows, "missing": self.missing,
            "means": means, "table": None if self.table is None else _table_content(self.table),
        }  # fmt: skip


def columns_from(content: dict[str, Any], width: int) -> Columns:
    """The columns in a file, for rows of that width; a ValueError where they do not fit."""
    names, grows, means, table = (content[key] for key in ("names", "grows", "means", "table"))
    if not (names is None or (isinstance(names, np.ndarray) and names.shape == (width,) and names.dtype.kind == "U")):
        raise ValueError("Its names are those of other columns.")
    listed = None if names is None else names.tolist()
    if type(grows) is not bool or (listed is not None and len(set(listed)) < len(listed)):
        raise ValueError("Its names are none.")
    found = Columns(grows, content["missing"], listed, width, table=None if table is None else _table_from(table))
    if found.table is not None and found.table.n_features != width:
        raise ValueError("Its table has another number of features.")
    if means is not None:
        found.means = Means.of(means)
        if len(found.means.sums) > width or not np.isfinite(found.means.sums).all():
            raise ValueError("Its means are those of other columns.")
    return found


def _table_content(table: Plan) -> dict[str, Any]:
    """A plan as a file holds it."""
    fields = table._asdict()
    return {**fields, "categories": tuple(category._asdict() for category in table.categories)}


def _table_from(content: dict[str, Any]) -> Plan:
    """The plan that a file holds; a ValueError or TypeError where it is none."""
    table = Plan(**{**content, "categories": tuple(Category(**category) for category in content["categories"])})
    text = [*table.names, table.missing, table.separator, *(c.name for c in table.categories)]
    text += [value for category in table.categories for value in category.values]
    at = [*table.numeric, *(category.position for category in table.categories)]
    places = at if table.label is None else [*at, table.label]
    inside = all(type(place) is int and 0 <= place < len(table.names) for place in places)
    ways = all(category.how in ("hash", "values") for category in table.categories)
    right = all(isinstance(part, str) for part in text) and type(table.named) is bool and table.missing in MISSING
    if not (inside and ways and right and len({*places}) == len(places) and type(table.hash_columns) is int):
        raise ValueError("Its table is damaged.")
    if not 0 < table.hash_columns <= MOST_HASHED:
        raise ValueError("Its table is damaged.")
    return table


def picking(places: dict[Any, int] | None) -> Callable[[Mapping[Any, Any]], Any]:
    """A function that gives the numbers of a row with exactly these names, in their order."""
    if places is None or len(places) == 0:
        return itemgetter(object())  # which no row has
    return itemgetter(*places) if len(places) > 1 else partial(_single, *places)


def _single(name: Any, x: Mapping[Any, Any]) -> Any:
    return (x[name],)


def resized(rows: Any, width: int, absent: float) -> Any:
    """Rows cut or filled up to a width."""
    more = width - rows.shape[1]
    if more == 0:
        return rows
    if more < 0:
        return rows[:, :width]
    if is_sparse(rows):
        return sparse.csr_matrix((rows.data, rows.indices, rows.indptr), (rows.shape[0], width))
    return np.pad(rows, ((0, 0), (0, more)), constant_values=absent)


def without_gaps(rows: Any) -> Any:
    """Rows with 0 in place of NaN."""
    if not is_sparse(rows):
        return np.where(np.isnan(rows), rows.dtype.type(0), rows)
    return sparse.csr_matrix((without_gaps(rows.data), rows.indices, rows.indptr), rows.shape)
