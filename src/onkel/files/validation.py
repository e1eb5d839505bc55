"""Does a model from a file fit its recipe? All of it is held against a fresh learner before any compiled code sees it.

What single pieces and models have to say is next to them (`core.checking`).
"""

from typing import Any

import numpy as np
from scipy import sparse

from onkel.core.checking import asks_inside, difference, misfit, rows_problem
from onkel.core.ranges import wrong_number
from onkel.learners.verbs import compressed_rows_give
from onkel.model.online import Online, possible, stand_in
from onkel.model.waiting import Waiting, bare
from onkel.pieces.bandwidth import Sample, awaited, has_rule
from onkel.pieces.maps.growing import FEW_FEATURES
from onkel.pieces.scaler import Standardised, scaler


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
    return misfit(fresh_model(model, fresh), model, ruled, width) or asked or wrong_number(model)


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
