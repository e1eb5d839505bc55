"""Isolation kernels: partitions of the space made from the data themselves."""

from typing import Any

import numpy as np

from onkel.core.parameters import one_of, positive
from onkel.core.rows import pack
from onkel.learners.ensembles.renewed import Renewed, Rule, make
from onkel.learners.partitioned import indexed
from onkel.model.online import Plan, Setting
from onkel.pieces.bandwidth import Sample
from onkel.recipes.common import by_task, make_loss, make_step
from onkel.recipes.learner import recipe

METRICS = {"euclidean": 2, "cityblock": 1}


@recipe
def ik_ogd(
    task: str,
    partition: str = "cells",
    t: int = 100,
    psi: int = 64,
    eta: float | None = None,
    lam: float = 0.0,
    loss: Any = None,
    epsilon: float = 0.1,
    step: Any = "constant",
    scale: str = "sqrt_t",
    sample: int = 4096,
    choose: str = "first",
    over: int | None = None,
    metric: str = "euclidean",
    max_depth: int | None = None,
    refresh: int | None = None,
) -> Plan:
    r"""Online gradient descent with an Isolation Kernel, in the primal: one weight per cell of t random partitions.

    k(x, y) = (1 / t) #{i: x and y in the same cell of partition i}; f(x) = <w, Phi(x)>, Phi the indicators of the t
    cells of x; w <- (1 - eta lam) w - eta l' Phi(x) [Alg. 2]. A partition comes from psi rows of the sample: the
    nearest of them (`partition="cells"`, by `metric`), or a tree that isolates each (`partition="trees"`).

    The sample is the first `sample` rows, or (`choose="reservoir"`) as many drawn from the first `over` rows, each with
    the same chance. Partitions are made anew at 1, 2, 4, ... rows, and the rows of the sample learned again; then they
    stay. `refresh`, for streams that drift: every so many rows the oldest partition is made anew from psi rows drawn
    from those, its weights 0.

    Pieces: maps.isolation.Cells, SparseCells or Trees, losses.hinge (squared for regression) or another, steps.constant
    or another without memory. Tasks: binary, multiclass (ours), regression (ours). Constant memory.
    Differs from the paper: Phi carries the 1 / sqrt(t) that its kernel has and its Alg. 2 lacks, so that this is `ogd`
    with k, and its accuracies come out; `scale="none"` is Alg. 2 as printed, in which steps are t times as long. Its
    alpha c is a double sign. `eta` is 0.5 unless given, 0.1 for regression.

    >>> model = ik_ogd(t=5, psi=2, sample=2).start(1)
    >>> model.learn([[0.0], [1.0], [0.1]], [1.0, -1.0, 1.0]).shape
    (3, 1)

    References: ting2021, lu2016
    """
    count, size = positive("t", t, integer=True), positive("psi", psi, integer=True)
    one_of("partition", partition, ("cells", "trees"))
    one_of("scale", scale, ("sqrt_t", "none"))
    distance = METRICS[one_of("metric", metric, tuple(METRICS))]
    depth = None if max_depth is None else positive("max_depth", max_depth, integer=True)
    scaled = scale == "sqrt_t"
    rule = make_step(step, by_task(task, 0.5, 0.5, 0.1) if eta is None else eta, lam)
    period = 0 if refresh is None else positive("refresh", refresh, integer=True)
    if period and min(period, sample) < size:
        raise ValueError(f"A partition is made from psi = {size} rows: refresh and sample must be at least that.")
    made, held = make_loss(task, loss, epsilon), sampled(sample, choose, over)

    def build(rows: Any, setting: Setting) -> Any:
        how = Rule(period, size, partition, distance, depth, setting.seed)
        norm = 1.0 / count if scaled else 1.0
        partitions = make(how, rows, count, setting.dtype, setting.seed)
        model = indexed(partitions, made, rule, norm, setting.n_outputs, setting.dtype)
        if not period:
            return model
        return Renewed(how, model, pack(rows[:0], setting.dtype), np.zeros(0, np.int64))

    return Plan(held, build)


def sampled(sample: Any, choose: Any, over: Any) -> Sample:
    """The rows to make partitions from."""
    size = positive("sample", sample, integer=True)
    if one_of("choose", choose, ("first", "reservoir")) == "first":
        if over is not None:
            raise ValueError("over goes with choose='reservoir'.")
        return Sample(size, size)
    until = positive("over", 10 * size if over is None else over, integer=True)
    if until < size:
        raise ValueError(f"over must be at least sample, not {over!r}.")
    return Sample(size, until)
