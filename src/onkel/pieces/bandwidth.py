"""Rules by which the first rows of a stream decide about a model: the width of its kernel, or its partitions."""

from typing import Any, NamedTuple

import numpy as np

from onkel.core.rows import is_sparse
from onkel.pieces.kernels import CAUCHY, GAUSSIAN, LAPLACIAN, Kernel

FIRST_ROWS = 32  # a width rule looks at that many rows, a power of two, before the width is kept


class Sample(NamedTuple):
    """A model that is made from `size` rows, drawn with equal chances from the first `over` rows."""

    size: int
    over: int


def has_rule(kernel: Any) -> bool:
    """Whether the kernel, or what stands in its place, still waits for rows."""
    return isinstance(kernel, Sample) or isinstance(getattr(kernel, "gamma", None), str)


def awaited(kernel: Any) -> Sample:
    """The rows that it waits for: how many are kept, and of how many."""
    return kernel if isinstance(kernel, Sample) else Sample(FIRST_ROWS, FIRST_ROWS)


def settle(kernel: Any, rows: Any) -> Any:
    """The kernel with its rule replaced by a number; in place of a `Sample`, the rows themselves.

    ``"scale"``: gamma = 1 / (d v) with v the variance of all numbers (Laplacian: its root), as in scikit-learn.
    ``"median"``: sigma = the median distance between two rows.

    >>> from onkel.pieces.kernels import gaussian
    >>> settle(gaussian(gamma="scale"), np.array([[0.0, 2.0], [2.0, 0.0]])).gamma
    0.5
    """
    if isinstance(kernel, Sample):
        return rows
    rule = _scale if kernel.gamma == "scale" else _median
    gamma = rule(kernel, rows) if rows.shape[0] else 0.0
    usable = np.isfinite(gamma) and gamma > 0.0
    return kernel._replace(gamma=float(gamma) if usable else 1.0)  # constant rows have no width


def _scale(kernel: Kernel, rows: Any) -> float:
    variance = _variance(rows)
    spread = np.sqrt(variance) if kernel.code == LAPLACIAN else variance
    return float(1.0 / (rows.shape[1] * spread)) if spread > 0.0 else 0.0


def _variance(rows: Any) -> float:
    """Variance of all numbers, from those that are not 0: the same bits for dense and compressed rows."""
    cells = rows.shape[0] * rows.shape[1]
    numbers = np.asarray(rows.data if is_sparse(rows) else rows, np.float64)
    numbers = numbers[numbers != 0.0]
    mean = numbers.sum() / cells
    return float((((numbers - mean) ** 2).sum() + (cells - len(numbers)) * mean**2) / cells)


def _median(kernel: Kernel, rows: Any) -> float:
    from scipy.spatial.distance import pdist  # slow to import, and rarely needed

    dense = np.asarray(rows.todense() if is_sparse(rows) else rows, np.float64)
    if len(dense) < 2:
        return 0.0
    distance = float(np.median(pdist(dense, "cityblock" if kernel.code == LAPLACIAN else "euclidean")))
    if distance == 0.0:
        return 0.0
    sigma_to_gamma = {GAUSSIAN: 0.5 / distance**2, LAPLACIAN: 1.0 / distance, CAUCHY: dense.shape[1] / distance**2}
    return sigma_to_gamma[kernel.code]
