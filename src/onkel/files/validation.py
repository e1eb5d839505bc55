"""Does a model from a file fit its recipe? Compiled code believes every type and shape, so they are checked first.

A model is compared with a fresh one of the same recipe: the same types, the same numbers, arrays of the same type.
Where the sizes of arrays may differ from the fresh ones, they must agree with each other.
"""

from functools import singledispatch
from typing import Any

import numpy as np
from scipy import sparse

from onkel.core.points import Listed
from onkel.core.ranges import wrong_number
from onkel.core.rows import Csr, Dense, unpack
from onkel.core.support import Support
from onkel.files.snapshot import short
from onkel.learners.ensembles.committee import Committee
from onkel.learners.ensembles.experts import Descent, Experts
from onkel.learners.ensembles.one_vs_rest import OneVsRest
from onkel.learners.ensembles.renewed import Renewed
from onkel.learners.expansion import Expansion
from onkel.learners.hybrid import Hybrid
from onkel.learners.linear import Linear
from onkel.learners.mixed import Mixed
from onkel.learners.particles import Particles
from onkel.learners.partitioned import Indexed
from onkel.learners.verbs import compressed_rows_give, stages, with_levels
from onkel.model.online import Online, possible, stand_in
from onkel.model.waiting import Waiting, bare
from onkel.pieces.bandwidth import Sample, awaited, has_rule
from onkel.pieces.budgets.appending import Unbounded
from onkel.pieces.budgets.choices import Oldest
from onkel.pieces.budgets.transfer import ToNeighbour
from onkel.pieces.kernels import Kernel
from onkel.pieces.maps.drawn import Drawn
from onkel.pieces.maps.growing import FEW_FEATURES
from onkel.pieces.maps.hadamard import Hadamard
from onkel.pieces.maps.isolation import Cells, SparseCells, Trees, cell_count
from onkel.pieces.maps.nystroem import Nystroem
from onkel.pieces.readouts.exact import LeastSquares
from onkel.pieces.scaler import Standardised, scaler
from onkel.pieces.steps import has_memory

FREE: dict[type, tuple[str, ...]] = {  # arrays whose last axis may be longer or shorter than in a fresh model
    Support: ("points", "sizes", "coef", "born"),
    Nystroem: ("projection",),
    Linear: ("weights", "memory"),
    Indexed: ("weights",),
    Trees: ("columns", "feature", "threshold", "child", "cell"),
    Cells: ("points", "sizes", "members"),
    Listed: ("columns", "values", "lengths"),
    SparseCells: ("columns", "starts", "owners", "values", "sizes", "members"),
    LeastSquares: ("weights", "inverse"),
}
FREE_AXES: dict[type, int] = {Listed: 2, LeastSquares: 2}  # 1 for the others


def problem_with(model: Any, fresh: Online) -> str:
    """What is wrong with a model of the recipe, task and setting of a fresh learner, or an empty string."""
    if not fresh.learner.plan(fresh.task).standardise:
        return bare_problem(model, fresh)
    if not isinstance(model, Standardised):
        return "the statistics of its rows are missing"
    width = fresh.inner.n_features
    if getattr(getattr(model.scaler, "count", None), "shape", None) != (width,):  # before as many are made
        return f"statistics of {width} columns are missing"
    statistics = difference(model.scaler, scaler(width), False) or wrong_number(model.scaler)
    return statistics or bare_problem(model.model, fresh)


def bare_problem(model: Any, fresh: Online) -> str:
    """The same for a model without what it wears."""
    ruled = has_rule(fresh.learner.plan(fresh.task).kernel)
    if isinstance(model, Waiting):
        return held_problem(model, fresh) if ruled else "it waits for a width that is given"
    width = fresh.inner.n_features
    asked = "" if asks_inside(model, width) else "its trees ask for columns that there are not"
    return misfit(model, fresh_model(model, fresh), ruled, width) or asked or wrong_number(model)


def fresh_model(model: Any, fresh: Online) -> Any:
    """A model of the recipe of a learner that has learned nothing, for rows of the layout that a model has seen.

    Nothing where a model waits for its first row, since that one need not be made.
    """
    seen = bare(model)
    seen = seen.model if isinstance(seen, Waiting) else seen
    if seen is None:
        return ()
    kernel, build, *_ = fresh.learner.plan(fresh.task)
    if compressed_rows_give(seen) and isinstance(kernel, Sample):  # of which nothing has a number per column
        narrow = fresh.inner._replace(n_features=min(fresh.inner.n_features, 2 * FEW_FEATURES))
        return build(stand_in(kernel, sparse.csr_matrix((0, 0)), narrow), fresh.inner)
    return build(stand_in(kernel, np.zeros((0, 0)), fresh.inner) if has_rule(kernel) else kernel, fresh.inner)


def misfit(model: Any, first: Any, ruled: bool, n_features: int) -> str:
    """Why a model is not what a fresh one becomes by learning, or an empty string."""
    if isinstance(first, Experts) and type(model) is Experts:
        first = with_levels(first, model)
    together = isinstance(first, OneVsRest | Committee | Experts) and type(model) is type(first)
    if together and isinstance(model.parts, tuple):
        if len(model.parts) != len(first.parts):
            return f"there are {len(model.parts)} models where there should be {len(first.parts)}"
        pairs = zip(model.parts, first.parts, strict=True)
        of_parts = (misfit(part, fresh, ruled, n_features) for part, fresh in pairs)
        rest = difference(model._replace(parts=None), first._replace(parts=None), ruled)
        found, given = (getattr(getattr(one, "combination", None), "rates", np.zeros(0)) for one in (model, first))
        other = "" if rest or np.allclose(found, given) else "its levels have other rates than its recipe gives them"
        return rest or other or next(filter(None, of_parts), "") or disagreement(model)
    if isinstance(first, Renewed) and type(model) is Renewed:
        return renewed_problem(model, first, ruled, n_features)
    for expected in stages(first):
        if type(model) is type(expected):
            return difference(model, expected, ruled) or resized(model, expected) or disagreement(model)
    return f"a {type(model).__name__} is not what {type(first).__name__} becomes"


def renewed_problem(model: Renewed, first: Renewed, ruled: bool, n_features: int) -> str:
    """What is wrong with partitions that are renewed, or with the rows held for the next one."""
    numbers, inner = model.numbers, first.model
    if not isinstance(numbers, np.ndarray) or numbers.dtype != np.int64 or numbers.ndim != 1:
        return "the numbers of the rows held are missing"
    held = rows_problem(model.block, len(numbers), n_features, unpack(first.block).dtype)
    rule = "" if model.rule == first.rule and len(numbers) <= model.rule.psi else "its rule of renewal is another one"
    return rule or held or misfit(model.model, inner, ruled, n_features)


def resized(model: Any, expected: Any) -> str:
    """Whether a support has another size than its budget, which only an unbounded one may have."""
    growing = isinstance(expected, Expansion) and isinstance(expected.budget, Unbounded)
    bounded = isinstance(expected, Expansion | Hybrid) and not growing
    if bounded and model.support.sizes.shape != expected.support.sizes.shape:
        return "its support has another size than its budget"
    return ""


def held_problem(held: Waiting, fresh: Online) -> str:
    """What is wrong with rows that are held until the width of the kernel is settled."""
    block, setting, n = held.block, fresh.inner, len(held.targets)
    same_type = Waiting(None, np.zeros(n), np.zeros(n), np.zeros(n, np.int64), np.zeros(1, np.int64), None)
    plain = difference(held._replace(block=None, model=None), same_type, False)
    plain = plain or wrong_number(held._replace(block=None, model=None))
    limit = awaited(fresh.learner.plan(fresh.task).kernel)
    if not plain and not (n <= limit.size and n <= held.seen[0] < limit.over):
        return f"{n} rows are held of {held.seen[0]}"
    if plain or not possible(held.targets, fresh.task, setting.n_outputs):
        return plain or "a target is not such as the task has"
    fits = rows_problem(block, n, setting.n_features, setting.dtype)
    if fits or held.model is None:
        return fits or ("" if n == 0 else "its model is missing")
    return bare_problem(held.model, fresh) if type(held.model) is not Waiting else "a held model holds rows itself"


def rows_problem(block: Any, n: int, d: int, dtype: Any) -> str:
    """What is wrong with n rows of d columns."""
    if isinstance(block, Dense):
        return difference(block, Dense(np.broadcast_to(np.zeros((), dtype), (n, d))), False)  # of no memory
    if not isinstance(block, Csr) or not all(isinstance(part, np.ndarray) for part in block[:3]):
        return "its rows are missing"
    stored = len(block.data)
    same_type = Csr(np.zeros(stored, dtype), np.zeros(stored, np.int32), np.zeros(n + 1, np.int64), d)
    problem = difference(block, same_type, False)
    if problem:
        return problem
    inside = stored == 0 or (block.indices.min() >= 0 and block.indices.max() < d)
    ordered = block.indptr[0] == 0 and (np.diff(block.indptr) >= 0).all() and block.indptr[-1] == stored
    return "" if inside and ordered else "its rows point outside"


def difference(found: Any, expected: Any, ruled: bool, free: int = 0) -> str:
    """The first place where a tree differs from another in a way that learning cannot explain."""
    if isinstance(expected, np.ndarray):
        return array_difference(found, expected, free)
    if type(found) is not type(expected):
        return f"a {type(found).__name__} stands in place of a {type(expected).__name__}"
    if not hasattr(expected, "_fields"):
        return "" if found == expected else f"{short(found)} stands in place of {short(expected)}"
    if ruled and isinstance(expected, Kernel | Drawn):
        expected = with_width(expected, found)
    if isinstance(expected, LeastSquares) and type(found.frequencies) is int:  # as many as before new columns came
        expected = expected._replace(frequencies=found.frequencies)
    free_names, axes = free_arrays(expected), FREE_AXES.get(type(expected), 1)
    for name, a, b in zip(expected._fields, found, expected, strict=True):
        problem = difference(a, b, ruled, axes if name in free_names else 0)
        if problem:
            return problem
    return ""


def with_width(expected: Any, found: Any) -> Any:
    """The same piece with the width that a rule has settled, if that is one."""
    name = "gamma" if isinstance(expected, Kernel) else "spread"
    width = getattr(found, name)
    return expected._replace(**{name: width}) if isinstance(width, float) and 0.0 < width < np.inf else expected


def free_arrays(piece: Any) -> tuple[str, ...]:
    """Names of the arrays of a piece whose last axis may differ: of a linear model only where its map may differ."""
    if isinstance(piece, Linear) and not isinstance(piece.feature_map, Nystroem):
        return ()
    return FREE.get(type(piece), ())


def array_difference(found: Any, expected: Any, free: int) -> str:
    if not isinstance(found, np.ndarray) or found.dtype != expected.dtype or found.ndim != expected.ndim:
        return f"an array of type {expected.dtype} with {expected.ndim} axes is expected where something else is found"
    held_fast = slice(max(0, expected.ndim - free))
    if found.shape[held_fast] != expected.shape[held_fast]:
        return f"an array of shape {expected.shape} is expected where one of shape {found.shape} is found"
    return ""


@singledispatch
def disagreement(model: Any) -> str:
    """What is wrong with sizes that may change, or with numbers that compiled code uses as positions."""
    return ""


@disagreement.register
def _(model: Expansion) -> str:
    problem = ragged(model.support)
    if problem:
        return problem
    return "" if inside(model.budget, len(model.support.sizes)) else "its budget points outside the support"


@disagreement.register
def _(model: Experts) -> str:
    """Weights that are divided by their sum must have one; those of `Descent` may be anything."""
    weights = getattr(model.combination, "weights", None)
    if weights is None or isinstance(model.combination, Descent):
        return ""
    with np.errstate(over="ignore"):
        usable = weights.min() >= 0.0 and 0.0 < weights.sum() < np.inf
    return "" if usable else "its experts have no weights that add up"


@disagreement.register
def _(model: Hybrid) -> str:
    return ragged(model.support)


@disagreement.register
def _(model: Indexed) -> str:
    partitions, cells = model.partitions, model.weights.shape[1]
    fits = rooted(partitions) if isinstance(partitions, Trees) else centred(partitions)
    return "" if fits and cell_count(partitions) == cells else "its partitions point outside"


@disagreement.register
def _(model: Mixed) -> str:
    exact, most = model.exact, model.feature_map.frequencies.shape[1]
    if not isinstance(exact, LeastSquares):
        return ""
    m = 2 * exact.frequencies + exact.columns
    fits = 0 <= exact.frequencies <= most and exact.weights.shape == (m,) and exact.inverse.shape == (m, m)
    return "" if fits else "its exact readout is of several sizes"


@disagreement.register
def _(model: Particles) -> str:
    return "" if 0 <= model.held[0] < len(model.rows) else f"{model.held[0]} rows are held of {len(model.rows)}"


def within(places: Any, count: int) -> bool:
    """Whether all places are from 0 to count - 1, and there is at least one."""
    return bool(places.size and places.min() >= 0 and places.max() < count)


def rooted(trees: Trees) -> bool:
    """Whether the arrays of trees fit together and point inside."""
    columns, feature, threshold, child, cell, roots, depths = trees
    nodes = len(child)
    if not len(feature) == len(threshold) == len(cell) == nodes or not within(depths, nodes):
        return False
    leaf = child == np.arange(nodes)  # its own child, and there is no second one
    asked = (feature[leaf] == len(columns)).all() and (feature[~leaf] < len(columns)).all()
    both = (child + ~leaf < nodes).all()
    inside = both and asked and within(child, nodes) and within(roots, nodes) and min(feature.min(), cell.min()) >= 0
    return bool(inside and apart(trees, leaf))


def apart(trees: Trees, leaf: Any) -> bool:
    """Whether trees follow each other, none leads into another one, and the cells of each are one after the other."""
    roots, child = trees.roots, trees.child.astype(np.int64)
    if roots[0] != 0 or (np.diff(roots) <= 0).any():
        return False
    own = np.searchsorted(roots, np.arange(len(child)), side="right")  # the tree of each node
    if (own[child] != own).any() or (own[child + ~leaf] != own).any():
        return False
    order = np.argsort(trees.cell[leaf], kind="stable")
    numbered = np.array_equal(trees.cell[leaf][order], np.arange(leaf.sum()))
    return numbered and bool((np.diff(own[leaf][order]) >= 0).all())


def asks_inside(model: Any, n_features: int) -> bool:
    """Whether all trees of a model ask for columns that there are."""
    if isinstance(model, Trees):
        columns = model.columns
        return bool(isinstance(columns, np.ndarray) and (columns.size == 0 or within(columns, n_features)))
    return all(asks_inside(part, n_features) for part in model) if isinstance(model, tuple) else True


def centred(cells: Any) -> bool:
    """Whether the arrays of cells fit together and point inside."""
    m = len(cells.sizes)
    if isinstance(cells, Cells):
        return within(cells.members, m) and cells.points.shape[1] == m
    _, columns, starts, owners, values, _, members = cells
    ordered = len(starts) == len(columns) + 1 and starts[0] == 0 and (np.diff(starts) >= 0).all()
    inside = len(owners) == len(values) and (len(owners) == 0 or within(owners, m))
    return bool(within(members, m) and ordered and inside and starts[-1] == len(values))


def ragged(support: Support) -> str:
    """Whether the arrays of a support are of several sizes, or too small for its points."""
    points, sizes, coef, born, count, _ = support
    capacity = len(sizes)
    if not (kept_well(points, capacity) and coef.shape[1] == len(born) == capacity):
        return "its support is of several sizes"
    return "" if 0 <= count[0] <= capacity else f"{count[0]} rows are kept in room for {capacity}"


def kept_well(points: Any, capacity: int) -> bool:
    """Whether points are as many as they should be, and lists of them fit together and point inside."""
    if not isinstance(points, Listed):
        return bool(points.shape[1] == capacity)
    columns, values, lengths, width = points
    if columns.shape != values.shape or len(columns) != capacity or len(lengths) != capacity:
        return False
    room = columns.shape[1]
    here = np.arange(room) < lengths[:, None]
    ordered = (np.diff(columns, axis=1) > 0) | ~here[:, 1:]
    found = columns[here]
    return bool(within(lengths, room + 1) and ordered.all() and (found.size == 0 or within(found, width)))


def inside(piece: Any, capacity: int) -> bool:
    """Whether all slots that a budget points to are there."""
    if isinstance(piece, Oldest):
        return bool(0 <= piece.next[0] < capacity)
    if isinstance(piece, ToNeighbour):
        return bool((piece.nearest >= 0).all() and (piece.nearest < capacity).all())
    return all(inside(part, capacity) for part in piece) if hasattr(piece, "_fields") else True


@disagreement.register
def _(model: Linear) -> str:
    feature_map, weights = model.feature_map, model.weights
    if isinstance(feature_map, Nystroem):
        wide, memory = feature_map.projection.shape[1], model.memory.shape[1]
        fits = weights.shape[1] == wide and memory == (wide if has_memory(model.step) else 0)
        fits = fits and kept_well(feature_map.points, len(feature_map.sizes))
        return "" if fits else "its landmarks and its weights do not fit"
    if isinstance(feature_map, Hadamard):
        p = feature_map.order.shape[1]
        return "" if (np.sort(feature_map.order, axis=1) == np.arange(p)).all() else "its order is no permutation"
    return ""
