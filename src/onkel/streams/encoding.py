"""From the cells of a table to blocks: categories become numbers."""

from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix

from onkel.streams.block import Block, Labels, Rows, better_dense, csr
from onkel.streams.columns import Category, Plan, hashed


class Text(NamedTuple):
    """A column of text: which of the values each row has; "" is a missing one."""

    codes: NDArray[np.int64]
    values: list[str]


class Cells(NamedTuple):
    """Consecutive rows of a table: numbers (n, m), NaN where missing, one text per category, and labels."""

    numbers: NDArray[np.float64]
    texts: list[Text]
    labels: Labels
    first_line: int = 0


def without_labels(labels: Labels) -> NDArray[np.bool_]:
    """Which of these are none: no finite number, or empty text."""
    return cast(NDArray[np.bool_], ~np.isfinite(labels) if labels.dtype.kind == "f" else labels == "")


def faulty_rows(cells: Cells, plan: Plan, labels_needed: bool = True) -> NDArray[np.bool_]:
    """Which rows hold what cannot be taken: an infinite number, no label, a missing value where that is an error."""
    faulty = without_labels(cells.labels) if labels_needed else np.zeros(len(cells.labels), bool)
    if not np.isfinite(cells.numbers).all():
        refused = np.isinf(cells.numbers) if plan.missing != "error" else ~np.isfinite(cells.numbers)
        faulty = faulty | refused.any(axis=1)
    if plan.missing != "error":
        return faulty
    for text in cells.texts:
        faulty = faulty | np.isin(text.codes, [code for code, value in enumerate(text.values) if not value])
    return faulty


def kept(cells: Cells, rows: NDArray[np.bool_]) -> Cells:
    """Some of the rows."""
    texts = [Text(text.codes[rows], text.values) for text in cells.texts]
    return Cells(cells.numbers[rows], texts, cells.labels[rows], cells.first_line)


class Encoder:
    """Turns cells into blocks.

    Examples
    --------
    >>> from onkel.streams.columns import Choice, checked, planned
    >>> encoder = Encoder(planned(checked(Choice(missing="zero")), ["x", "y"]))
    >>> encoder.block(Cells(np.array([[np.nan], [4.0]]), [], np.zeros(2))).rows.ravel().tolist()
    [0.0, 4.0]
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._n_features = len(plan.features)
        self._dense = better_dense(len(plan.numeric) + len(plan.categories), 1, self._n_features)

    def block(self, cells: Cells) -> Block:
        """The block of these cells; numbers that are missing are NaN still, unless they are zero."""
        numbers = np.nan_to_num(cells.numbers, copy=False) if self._plan.missing == "zero" else cells.numbers
        if not self._plan.categories:
            return Block(numbers, cells.labels, cells.first_line)
        columns = self._category_columns(cells.texts)
        return Block(self._joined(numbers, columns), cells.labels, cells.first_line)

    def _category_columns(self, texts: list[Text]) -> list[NDArray[np.int64]]:
        """Of each category, the feature that each row has; -1 for none."""
        start, hash_start = len(self._plan.numeric), self._n_features - self._plan.n_hashed
        columns = []
        for category, text in zip(self._plan.categories, texts, strict=True):
            if category.how == "values":
                places = _one_hot(category, text, start)
                start += len(category.values)
            else:
                places = _hash(category, text, hash_start, self._plan.hash_columns)
            columns.append(np.array([*places, -1], dtype=np.int64)[text.codes])
        return columns

    def _joined(self, numbers: NDArray[np.float64], columns: list[NDArray[np.int64]]) -> Rows:
        n, m = numbers.shape
        if self._dense:
            rows = np.zeros((n, self._n_features))
            rows[:, :m] = numbers
            for column in columns:
                held = np.flatnonzero(column >= 0)
                rows[held, column[held]] += 1.0
            return rows
        row = np.concatenate([np.repeat(np.arange(n), m), *(np.arange(n) for _ in columns)])
        column = np.concatenate([np.tile(np.arange(m), n), *columns])
        value = np.concatenate([numbers.ravel(), np.ones(n * len(columns))])
        known = column >= 0
        matrix = coo_matrix((value[known], (row[known], column[known])), shape=(n, self._n_features)).tocsr()
        matrix.sum_duplicates()
        return csr(matrix.data, matrix.indices, matrix.indptr, self._n_features)


def _one_hot(category: Category, text: Text, start: int) -> list[int]:
    places = {value: start + place for place, value in enumerate(category.values)}
    return [places.get(value, -1) for value in text.values]


def _hash(category: Category, text: Text, start: int, n_columns: int) -> list[int]:
    return [start + hashed(f"{category.name}={value}", n_columns) if value else -1 for value in text.values]
