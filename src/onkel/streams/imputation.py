"""Running means of the columns of a table: what stands in for missing numbers."""

import numpy as np
from numpy.typing import NDArray

from onkel.core.ranges import COUNT, refuse, violation
from onkel.streams.block import Rows, csr


class Means:
    """Sums and counts of the first columns of a stream, those that hold numbers; a NaN there is a missing one.

    Examples
    --------
    >>> means = Means(1)
    >>> means.follow(np.array([[np.nan], [4.0], [np.nan], [8.0], [np.nan]])).ravel().tolist()
    [0.0, 4.0, 4.0, 8.0, 6.0]
    >>> means.fill(np.array([[np.nan], [100.0], [np.nan]])).ravel().tolist()
    [6.0, 100.0, 6.0]
    """

    def __init__(self, n_columns: int) -> None:
        self.sums, self.counts = np.zeros(n_columns), np.zeros(n_columns)

    def copy(self) -> "Means":
        """The same means, which can go their own way."""
        return Means.of(self.state())

    def state(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """All they are made of."""
        return tuple(self.sums.tolist()), tuple(self.counts.tolist())

    @staticmethod
    def of(state: tuple[tuple[float, ...], tuple[float, ...]]) -> "Means":
        """Means from their state."""
        sums, counts = (np.array(part, np.float64) for part in state)
        if sums.ndim != 1 or sums.shape != counts.shape:
            raise ValueError("These are no means.")
        refuse(violation({"counts": counts}, {"counts": COUNT}).format("its means"))
        found = Means(0)
        found.sums, found.counts = sums, counts
        return found

    def follow(self, rows: Rows) -> Rows:
        """The rows, filled with the means of all rows before each, which are then counted in."""
        numbers = self._numbers(rows)
        known = ~np.isnan(numbers)
        with np.errstate(over="ignore", invalid="ignore"):
            # Added up one by one from the first row on, so that no bit depends on how the stream is cut.
            sums = np.cumsum(np.vstack([self.sums, np.where(known, numbers, 0.0)]), axis=0)
        counts = np.cumsum(np.vstack([self.counts, known]), axis=0)
        filled = _filled(rows, numbers, _means(sums[:-1], counts[:-1]))
        self.sums, self.counts = sums[-1], counts[-1]  # last: what fails before has changed nothing
        return filled

    def fill(self, rows: Rows) -> Rows:
        """The rows, filled with the means as they are; nothing is counted in."""
        numbers = self._numbers(rows)
        return _filled(rows, numbers, np.broadcast_to(_means(self.sums, self.counts), numbers.shape))

    def _numbers(self, rows: Rows) -> NDArray[np.float64]:
        first = rows[:, : len(self.sums)]
        return first if isinstance(first, np.ndarray) else first.toarray()


def _means(sums: NDArray[np.float64], counts: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.nan_to_num(sums / np.maximum(counts, 1.0))  # sums of huge numbers may be infinite


def _filled(rows: Rows, numbers: NDArray[np.float64], means: NDArray[np.float64]) -> Rows:
    """The rows with means where these numbers of theirs are missing."""
    missing = np.isnan(numbers)
    if not missing.any():
        return rows
    if isinstance(rows, np.ndarray):
        filled = rows.copy()
        filled[:, : numbers.shape[1]][missing] = means[missing]
        return filled
    values = rows.data.copy()
    values[np.isnan(values)] = means[missing]  # entries of a row stand in the order of its columns
    return csr(values, rows.indices, rows.indptr, rows.shape[1])
