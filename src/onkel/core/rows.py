"""Rows of a block, dense or compressed: the only file that knows how they lie in memory.

`extent` and `entry` walk the stored numbers of a row; everything else is written once on top of them, and a number
that is not stored adds exactly nothing, so dense and compressed rows give the same bits.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from onkel.core.borrowed import row
from onkel.core.verbs import SUM, compiled, entry_point, verb

COLUMNS = 4  # of a projection taken at a time: four multiply-adds per load and store of the result
LINE = 64  # bytes of a cache line
ROWS = 3  # of a tile: 3 x 4 factors and 4 loads fit 16 vector registers


class Dense(NamedTuple):
    """All numbers of all rows."""

    values: Any  # (n, d)


class Csr(NamedTuple):
    """The stored numbers of each row, with their columns (compressed sparse rows)."""

    data: Any
    indices: Any  # int32
    indptr: Any  # int64
    width: int


Block = Dense | Csr


class Stretched(NamedTuple):
    """The rows of a block, each column times its factor, and everything times a common one."""

    block: Any
    factors: Any  # (d,)
    common: Any


@verb
def row_count(block: Any) -> int:
    """Number of rows."""


@verb
def extent(block: Any, i: int) -> Any:
    """First and last (exclusive) position of the stored numbers of row i."""


@verb
def entry(block: Any, i: int, p: int) -> Any:
    """Column and value at position p of row i."""


@row_count.of(Dense)
def _(block: Dense) -> int:
    return block.values.shape[0]


@extent.of(Dense)
def _(block: Dense, i: int) -> Any:
    return 0, block.values.shape[1]


@entry.of(Dense)
def _(block: Dense, i: int, p: int) -> Any:
    return p, block.values[i, p]


@row_count.of(Csr)
def _(block: Csr) -> int:
    return block.indptr.shape[0] - 1


@extent.of(Csr)
def _(block: Csr, i: int) -> Any:
    return block.indptr[i], block.indptr[i + 1]


@entry.of(Csr)
def _(block: Csr, i: int, p: int) -> Any:
    return np.int64(block.indices[p]), block.data[p]


@extent.of(Stretched)
def _(block: Stretched, i: int) -> Any:
    return extent(block.block, i)


@entry.of(Stretched)
def _(block: Stretched, i: int, p: int) -> Any:
    j, x = entry(block.block, i, p)
    return j, block.common * block.factors[j] * x


@compiled
def square_norm(block: Any, i: int) -> Any:
    """Sum of the squares of row i, in float64 and in the order of the columns."""
    first, last = extent(block, i)
    total = 0.0
    for p in range(first, last):
        _, x = entry(block, i, p)
        total += np.float64(x) * np.float64(x)
    return total


@compiled
def scatter(block: Any, i: int, out: Any) -> None:
    """Write row i into a full vector of zeros."""
    first, last = extent(block, i)
    out[:] = 0
    for p in range(first, last):
        j, x = entry(block, i, p)
        out[j] = x


@compiled
def project_row(block: Any, i: int, matrix: Any, n: int, out: Any) -> None:
    """out[:n] = x_i . matrix[:, :n], always added up column by column, so the bits depend on the row alone."""
    first, last = extent(block, i)
    whole = last - (last - first) % 4
    if whole == first:
        for k in range(n):
            out[k] = 0
    for p in range(first, whole, 4):
        j0, x0 = entry(block, i, p)
        j1, x1 = entry(block, i, p + 1)
        j2, x2 = entry(block, i, p + 2)
        j3, x3 = entry(block, i, p + 3)
        m0, m1, m2, m3 = row(matrix, j0), row(matrix, j1), row(matrix, j2), row(matrix, j3)
        if p == first:
            zero = out.dtype.type(0)
            for k in range(n):
                out[k] = zero + x0 * m0[k] + x1 * m1[k] + x2 * m2[k] + x3 * m3[k]
        else:
            for k in range(n):
                out[k] = out[k] + x0 * m0[k] + x1 * m1[k] + x2 * m2[k] + x3 * m3[k]
    if last - whole >= 2:
        j0, x0 = entry(block, i, whole)
        j1, x1 = entry(block, i, whole + 1)
        m0, m1 = row(matrix, j0), row(matrix, j1)
        for k in range(n):
            out[k] = out[k] + x0 * m0[k] + x1 * m1[k]
        whole += 2
    if whole < last:
        j, x = entry(block, i, whole)
        m = row(matrix, j)
        for k in range(n):
            out[k] = out[k] + x * m[k]


@verb
def project(block: Any, first: int, count: int, matrix: Any, out: Any) -> None:
    """out[r] = x_(first + r) . matrix for a tile of rows; the same bits as `project_row`, row by row."""


@compiled(heavy=True)
def _project_tile(values: Any, first: int, count: int, matrix: Any, out: Any) -> None:
    """Three rows and four columns at a time: each loaded factor serves three rows."""
    n, d = matrix.shape[1], values.shape[1]
    whole, triples = d - d % COLUMNS, count - count % ROWS
    for r in range(0, triples, ROWS):
        a, b, c = row(out, r), row(out, r + 1), row(out, r + 2)
        x, y, z = row(values, first + r), row(values, first + r + 1), row(values, first + r + 2)
        for k in range(n):
            a[k] = 0
            b[k] = 0
            c[k] = 0
        for j in range(0, whole, COLUMNS):
            m0, m1, m2, m3 = row(matrix, j), row(matrix, j + 1), row(matrix, j + 2), row(matrix, j + 3)
            x0, x1, x2, x3 = x[j], x[j + 1], x[j + 2], x[j + 3]
            y0, y1, y2, y3 = y[j], y[j + 1], y[j + 2], y[j + 3]
            z0, z1, z2, z3 = z[j], z[j + 1], z[j + 2], z[j + 3]
            for k in range(n):
                f0, f1, f2, f3 = m0[k], m1[k], m2[k], m3[k]  # before any store, or each row would load them anew
                u = a[k] + x0 * f0 + x1 * f1 + x2 * f2 + x3 * f3
                v = b[k] + y0 * f0 + y1 * f1 + y2 * f2 + y3 * f3
                w = c[k] + z0 * f0 + z1 * f1 + z2 * f2 + z3 * f3
                a[k], b[k], c[k] = u, v, w
        for j in range(whole, d):
            m = row(matrix, j)
            x0, y0, z0 = x[j], y[j], z[j]
            for k in range(n):
                f0 = m[k]
                u, v, w = a[k] + x0 * f0, b[k] + y0 * f0, c[k] + z0 * f0
                a[k], b[k], c[k] = u, v, w
    for r in range(triples, count):
        project_row(Dense(values), first + r, matrix, n, row(out, r))


@project.of(Dense)
def _(block: Dense, first: int, count: int, matrix: Any, out: Any) -> None:
    _project_tile(block.values, first, count, matrix, out)


@project.of(Csr)
def _(block: Csr, first: int, count: int, matrix: Any, out: Any) -> None:
    n = matrix.shape[1]
    for r in range(count):
        project_row(block, first + r, matrix, n, row(out, r))


@compiled(flags=SUM)
def dot(a: Any, b: Any, n: int) -> Any:
    """a[:n] . b[:n]: the one reduction in which the compiler may choose the order."""
    total = a.dtype.type(0)
    for k in range(n):
        total += a[k] * b[k]
    return total


def aligned_zeros(shape: tuple[int, ...], dtype: Any) -> Any:
    """Zeros that begin at the start of a cache line: vectors that lie across two lines are loaded at half the speed."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    room = np.zeros(size + LINE, np.uint8)
    start = -room.__array_interface__["data"][0] % LINE
    return room[start : start + size].view(dtype).reshape(shape)


@entry_point
def all_finite(numbers: Any) -> bool:
    """Whether no number is NaN or infinite."""
    fine = True
    for k in range(numbers.shape[0]):
        fine = fine and np.isfinite(numbers[k])
    return fine


@entry_point
def none_negative(numbers: Any) -> bool:
    """Whether no number is below 0."""
    fine = True
    for k in range(numbers.shape[0]):
        fine = fine and not numbers[k] < 0
    return fine


@entry_point
def in_steps(numbers: Any, first: float, last: float, step: float) -> bool:
    """Whether all numbers are from first to last and, with a step that is not 0, a whole number of steps from first."""
    fine = True
    for k in range(numbers.shape[0]):
        away = numbers[k] - first
        fine = fine and first <= numbers[k] <= last and (step == 0.0 or away == step * np.floor(away / step))
    return fine


def is_sparse(rows: Any) -> bool:
    """Whether rows are a SciPy sparse matrix or array."""
    return bool(sparse.issparse(rows))


def pack(rows: Any, dtype: Any) -> Block:
    """A block from an array or a SciPy matrix: contiguous, of the wanted type, compressed rows sorted and summed."""
    if not is_sparse(rows):
        return Dense(typed(rows, dtype))
    csr = rows.tocsr()
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    return Csr(
        typed(csr.data, dtype),
        typed(csr.indices, np.int32),
        typed(csr.indptr, np.int64),
        int(csr.shape[1]),
    )


def typed(numbers: Any, dtype: Any) -> Any:
    """A contiguous array of the type; numbers beyond its range become infinite, for the caller to see.

    Compiled code only reads it, also where it could write to it: one of another type would be compiled for anew.
    """
    with np.errstate(over="ignore"):
        found = np.ascontiguousarray(numbers, dtype)
    return found if found.flags.writeable else np.asarray(_Unlocked(found))


class _Unlocked:
    """A read-only array that says that it is none."""

    def __init__(self, array: Any) -> None:
        where, _ = array.__array_interface__["data"]
        self.array, self.__array_interface__ = array, {**array.__array_interface__, "data": (where, False)}


def some(block: Block, rows: slice) -> Block:
    """Some rows of a block that follow each other; their numbers are not copied."""
    if isinstance(block, Dense):
        return Dense(block.values[rows])
    begin, end = block.indptr[rows.start], block.indptr[rows.stop]
    indptr = block.indptr[rows.start : rows.stop + 1] - begin
    return block._replace(data=block.data[begin:end], indices=block.indices[begin:end], indptr=indptr)


def unpack(block: Block) -> Any:
    """The array or SciPy matrix behind a block."""
    if isinstance(block, Dense):
        return block.values
    return sparse.csr_matrix((block.data, block.indices, block.indptr), shape=(len(block.indptr) - 1, block.width))


def join(first: Block, second: Block) -> Block:
    """Two blocks, one after the other, in the layout of the first."""
    a, b = unpack(first), unpack(second)
    if isinstance(first, Dense):
        return Dense(np.concatenate([a, np.asarray(b.todense()) if is_sparse(b) else b]))
    return pack(sparse.vstack([a, sparse.csr_matrix(b)], format="csr"), first.data.dtype)
