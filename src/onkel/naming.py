"""The columns of a stream: their names, those that come new, and what stands in for missing numbers."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from operator import itemgetter
from typing import Any

import numpy as np
from scipy import sparse

from onkel.points import WIDE
from onkel.rows import is_sparse
from onkel.streams.means import Means

MISSING = ("error", "zero", "mean")


class Columns:
    """Where the numbers of rows go.

    New names take the next columns, those of one row in their alphabetical order, so that no result depends on the
    order of the names in a dict or a table. A name that a row does not have is missing: it is 0, or the mean with
    ``missing="mean"``. Means are those of the rows before.

    >>> columns = Columns(grows=True, names=())
    >>> columns.take_in({"b": 1.0, "a": 2.0}), columns.take_in({"a": 2.0}), columns.take_in({"c": 3.0})
    (True, False, True)
    >>> columns.row({"c": 3.0, "a": 2.0}).tolist()
    [2.0, 0.0, 3.0]
    """

    def __init__(
        self, grows: bool, missing: str = "error", names: Iterable[Any] | None = None, width: int = 0,
        own_means: bool = False,
    ) -> None:  # fmt: skip
        if missing not in MISSING:
            raise ValueError(f"missing must be one of {', '.join(MISSING)}, not {missing!r}.")
        self.grows, self.missing = grows, missing
        self.places = None if names is None else {name: j for j, name in enumerate(names)}
        self.width = max(1, width if self.places is None else len(self.places))
        if own_means and self.width > WIDE:
            raise ValueError(f"missing='mean' of more than {WIDE} columns needs a learner with standardise=True.")
        self.means = Means(self.width) if own_means else None
        self._pick = picking(self.places)

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
        for name, value in x.items():
            if name in self.places:
                row[self.places[name]] = value
            elif not self.grows:
                raise ValueError(f"The feature {name!r} is not known; features='grow' takes new ones.")
        if not self.grows and self.missing == "error":
            (lost, *_) = (name for name in self.places if name not in x)
            raise ValueError(f"The feature {lost!r} is missing; missing='zero' or 'mean' says what it is then.")
        return row

    def filled(self, rows: Any, learns: bool) -> Any:
        """The rows with something in place of what is missing; where rows are standardised, that is done there."""
        if self.missing == "zero":
            return without_gaps(rows)
        if self.means is None:
            return rows
        return self.means.follow(rows) if learns else self.means.fill(rows)

    def filled_row(self, x: Any, learns: bool) -> Any:
        """The same for one row."""
        row = np.asarray(x, np.float64)[None]
        if np.isinf(row).any():
            raise ValueError("A row must consist of finite numbers; one is infinite.")
        return self.filled(row, learns)[0]


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
