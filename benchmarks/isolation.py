"""Isolation kernels beside Tables 5 and 7 of their paper, its claims as ratios, and the speed of the maps.

``python -m benchmarks isolation [--quick]``. The data sets are not part of the project; missing ones are named.
"""

from benchmarks.timing import interleaved, table  # isort: skip (sets the number of threads before NumPy is imported)

from collections.abc import Callable
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix, vstack

from benchmarks.datasets import FOLDER
from benchmarks.wide import COLUMNS, blocks
from onkel.core.borrowed import row
from onkel.core.rows import pack
from onkel.core.verbs import entry_point
from onkel.evaluation.prequential import chosen, prequential
from onkel.integrations.sklearn.transformers import ik_svm
from onkel.learners.partitioned import predict
from onkel.pieces.maps.growing import cells, trees
from onkel.pieces.maps.indexing import index_map
from onkel.recipes import ik_ogd, make_learner, nogd
from onkel.streams import LibsvmFile

BLOCK = 1000  # rows that are predicted, then learned
PSI = {"trees": (16, 64, 256, 1024, 4096), "cells": (16, 64, 256, 1024, 4096)}
SAMPLE = {"trees": 65_536, "cells": 65_536}  # rows that partitions are made from
FIRST = 10_000  # rows on which psi is chosen, at least; otherwise a tenth of all
PAPER = {  # accuracies of Table 5 (OGD with trees, with cells) and of Table 7 (SVM with cells)
    "mnist": (0.95, 0.98, 0.99),
    "a9a": (0.84, 0.84, 0.84),
    "covtype": (0.86, 0.92, 0.93),
    "ijcnn1": (0.95, 0.97, 0.98),
    "reuters_moneyfx": (None, None, None),
}
COVTYPE_TRAINING = 464_810


class Split(NamedTuple):
    """Rows and labels (-1, 1), in random order, for training and for testing."""

    X: Any
    y: Any
    Z: Any
    z: Any


def load(name: str) -> Split:
    """The two classes of the paper, features within [0, 1] where the originals are not."""
    paths = [path for end in ("", ".t") if (path := FOLDER / f"{name}{end}.libsvm.xz").exists()]
    width = max(LibsvmFile(path).summary().n_features for path in paths)
    read = [list(LibsvmFile(path, n_features=width, dense=False)) for path in paths]
    parts: list[Any] = [vstack([csr_matrix(block.rows) for block in part], format="csr") for part in read]
    labels = [np.concatenate([block.labels for block in part]) for part in read]
    if name != "reuters_moneyfx":
        parts = [part.toarray().astype(np.float32) for part in parts]
    if name == "mnist":
        parts = [part / np.float32(255) for part in parts]
        labels = [np.isin(part, (3, 4, 6, 7, 9)) for part in labels]
    elif name == "covtype":
        labels = [part == 2 for part in labels]
        parts[0] = (parts[0] - parts[0].min(axis=0)) / np.maximum(np.ptp(parts[0], axis=0), 1)
    else:
        labels = [part == part.max() for part in labels]
    signs = [np.where(part, 1.0, -1.0) for part in labels]
    order = np.random.default_rng(0).permutation(len(signs[0]))
    X, y = parts[0][order], signs[0][order]
    if len(parts) == 1:
        return Split(X[:COVTYPE_TRAINING], y[:COVTYPE_TRAINING], X[COVTYPE_TRAINING:], y[COVTYPE_TRAINING:])
    return Split(X, y, parts[1], signs[1])


def right(scores: Any, labels: Any) -> float:
    return float(np.mean((scores[:, 0] >= 0.0) == (labels > 0.0)))


def beside(found: float, printed: float | None) -> str:
    return f"{found:.3f}" if printed is None else f"{found:.3f} ({printed:.2f})"


def tables(quick: bool) -> None:
    """One pass over the training part, then the test part; psi by cross-validation on the first training rows."""
    lines = []
    for name, (with_trees, with_cells, with_svm) in PAPER.items():
        if not (FOLDER / f"{name}.libsvm.xz").exists():
            lines.append([name, "not there", *[""] * 7])
            continue
        split = load(name)
        X, y = (split.X[:20_000], split.y[:20_000]) if quick else (split.X, split.y)
        line, first = [name], slice(0, 2_000 if quick else max(FIRST, len(y) // 10))
        for partition, printed in (("trees", with_trees), ("cells", with_cells)):
            sample, clock = min(SAMPLE[partition], len(y)), process_time()
            grid = [ik_ogd(partition=partition, psi=psi, sample=sample) for psi in PSI[partition]]
            best = chosen(grid, X[first], y[first])
            online = best.start(X.shape[1])
            online.learn(X, y)
            accuracy = right(online.score(split.Z), split.z)
            psi = best.get_params()["psi"]
            line += [beside(accuracy, printed), str(psi), f"{process_time() - clock:.0f}"]
        svm = ik_svm("cells", psi=psi).fit(X[:100_000], y[:100_000])
        line += [beside(float(svm.score(split.Z, split.z)), with_svm), str(min(len(y), 100_000))]
        lines.append(line)
    header = ["", "OGD, trees", "psi", "CPU s", "OGD, cells", "psi", "CPU s", "SVM, cells", "rows"]
    table("Accuracy on the test part, in brackets that of the paper (Tables 5 and 7)", header, lines)


def online_setting(quick: bool) -> None:
    """Figure 3: blocks of 1,000 rows are predicted, then learned; accuracy so far."""
    if not (FOLDER / "covtype.libsvm.xz").exists():
        return
    split, marks, lines = load("covtype"), (1, 10, 20, 50, 100, 116), []
    count, start = (20_000, 16_384) if quick else (COVTYPE_TRAINING, 65_536)
    given = {"sample": start, "psi": 1024}
    contestants = {
        "ik_ogd, trees": ik_ogd(partition="trees", **given),
        "nogd, Laplacian": nogd(kernel="laplacian", eta=0.5),
    }
    for title, learner in contestants.items():
        online, so_far, clock = learner.start(split.X.shape[1]), [], process_time()
        online.learn(split.X[:count], split.y[:count])
        rest = [(split.Z[i : i + BLOCK], split.z[i : i + BLOCK]) for i in range(0, len(split.z), BLOCK)]
        prequential(online, rest, mode="blocks", watch=lambda tally, *_, s=so_far: s.append(1.0 - tally.error))
        picked = [f"{so_far[min(mark, len(so_far)) - 1]:.3f}" for mark in marks]
        lines.append([title, *picked, f"{process_time() - clock:.0f}"])
    header = ["covtype", *[f"block {mark}" for mark in marks], "CPU s"]
    table(f"Online setting: accuracy so far, after {count:,} rows for a start", header, lines)


def claims(quick: bool) -> None:
    """What the paper says about time, as ratios in one run."""
    wide = faster_than_nogd(quick)
    table("Claim: faster than NOGD on wide rows", ["time of nogd (B = 100) / time of ik_ogd with trees", "ratio"], wide)
    rng, repeats = np.random.default_rng(0), 3 if quick else 9
    X, y = rng.normal(size=(4000, 22)).astype(np.float32), rng.choice([-1.0, 1.0], 4000)
    counts, sizes = (25, 100, 400, 1600), (16, 64, 256, 1024, 4096)
    by_t = timed([{"t": t, "psi": 64} for t in counts], X, y, repeats)
    by_psi = timed([{"t": 100, "psi": psi} for psi in sizes], X, y, repeats)
    exponent = np.polyfit(np.log(counts), np.log([whole for whole, _ in by_t]), 1)[0]
    lines = [[f"{t}", f"{whole / by_t[0][0]:.1f}"] for t, (whole, _) in zip(counts, by_t, strict=True)]
    table(f"Claim: time sublinear in t (here: t to the power of {exponent:.2f})", ["t", "score"], lines)
    first = by_psi[0]
    lines = [
        [f"{psi}", f"{whole / first[0]:.1f}", f"{summing / first[1]:.1f}"]
        for psi, (whole, summing) in zip(sizes, by_psi, strict=True)
    ]
    table(
        "Claim: a sum over cells costs the same for every psi (the map does not)", ["psi", "map and sum", "sum"], lines
    )


def timed(settings: list[dict[str, int]], X: Any, y: Any, repeats: int) -> list[tuple[float, float]]:
    """Seconds to score the rows with trees, and those of the sums alone, the cells being known."""
    runs: dict[str, Callable[[], object]] = {}
    block = pack(X, np.float32)
    for key, given in enumerate(settings):
        online = ik_ogd(partition="trees", sample=len(X), **given).start(X.shape[1])
        online.learn(X, y)
        runs[f"{key} score"] = lambda online=online: online.score(X)
        known, room = index_map(online.model.partitions, block), np.zeros((len(X), 1))
        runs[f"{key} sum"] = lambda model=online.model, known=known, room=room: add_up(model, known, room)
    found = interleaved(runs, repeats)
    return [(found[f"{key} score"], found[f"{key} sum"]) for key in range(len(settings))]


@entry_point
def add_up(model: Any, known: Any, scores: Any) -> None:
    """Scores of rows whose cells are known."""
    for i in range(known.shape[0]):
        predict(model, row(known, i), row(scores, i))


def cut(X: Any, y: Any) -> list[tuple[Any, Any]]:
    """Blocks of 2,000 rows."""
    return [(X[i : i + 2000], y[i : i + 2000]) for i in range(0, len(y), 2000)]


def faster_than_nogd(quick: bool) -> list[list[str]]:
    """Ratios of the time that learning takes once partitions and landmarks are there, on rows of many columns."""
    streams = {f"{COLUMNS:,} columns": list(blocks(6_000 if quick else 20_000))}
    if (FOLDER / "reuters_moneyfx.libsvm.xz").exists():
        split = load("reuters_moneyfx")
        streams[f"reuters_moneyfx, {split.X.shape[1]:,} columns"] = cut(split.X, split.y)
    if (FOLDER / "mnist.libsvm.xz").exists():
        split = load("mnist")
        streams[f"mnist, {split.X.shape[1]:,} columns"] = cut(split.X[:20_000], split.y[:20_000])
    lines = []
    for title, parts in streams.items():
        seconds = {}
        for name, given in (("nogd", {"kernel": "laplacian"}), ("ik_ogd", {"partition": "trees", "sample": 1024})):
            online = make_learner(name, **given).start(parts[0][0].shape[1])
            online.learn(*parts[0])
            clock = process_time()
            for X, y in parts[1:]:
                online.learn(X, y)
            seconds[name] = process_time() - clock
        lines.append([title, f"{seconds['nogd'] / seconds['ik_ogd']:.1f}"])
    return lines


def numpy_trees(made: Any, X: Any) -> Any:
    """All rows down each tree, level by level."""
    seen, here = np.c_[X[:, made.columns], np.full(len(X), -np.inf, X.dtype)], np.arange(len(X))
    out = np.empty((len(X), len(made.roots)), np.int64)
    for i, root in enumerate(made.roots):
        node = np.full(len(X), root)
        for _ in range(made.depths[i]):
            node = made.child[node] + (seen[here, made.feature[node]] >= made.threshold[node])
        out[:, i] = made.cell[node]
    return out


@entry_point
def walk_trees(made: Any, X: Any, out: Any) -> None:
    """One walk after the other, each step after the last."""
    m = made.columns.shape[0]
    for i in range(X.shape[0]):
        for t in range(made.roots.shape[0]):
            node = made.roots[t]
            while made.feature[node] < m:
                right = X[i, made.columns[made.feature[node]]] >= made.threshold[node]
                node = made.child[node] + (1 if right else 0)
            out[i, t] = made.cell[node]


def speed(quick: bool) -> None:
    """The maps alone, float32, one core, beside NumPy."""
    rng, lines = np.random.default_rng(0), []
    X, Z = (rng.normal(size=(n, 22)).astype(np.float32) for n in (8192, 4096))
    block, repeats = pack(Z, np.float32), 3 if quick else 9
    made = trees(X, 100, 256, None, np.float32, 0)
    assert (numpy_trees(made, Z) == index_map(made, block)).all()
    found = interleaved({"ours": lambda: index_map(made, block), "NumPy": lambda: numpy_trees(made, Z)}, repeats)
    lines.append(["trees, psi = 256", f"{found['NumPy'] / found['ours']:.1f}", "level by level"])
    for psi in (64, 256):
        near = cells(X, 100, psi, 2, np.float32, 0)
        points, sizes = np.ascontiguousarray(near.points[:, near.members.ravel()]), near.sizes[near.members.ravel()]

        def by_blas(points: Any = points, sizes: Any = sizes, psi: int = psi) -> Any:
            return (sizes - Z @ points).reshape(len(Z), 100, psi).argmin(axis=2)

        found = interleaved({"ours": lambda near=near: index_map(near, block), "NumPy": by_blas}, repeats)
        lines.append([f"cells, psi = {psi}", f"{found['NumPy'] / found['ours']:.1f}", "BLAS and argmin"])
    table("Maps, t = 100, d = 22: how many times as fast as NumPy", ["", "ratio", "NumPy"], lines)


def main(quick: bool = False) -> None:
    speed(quick)
    claims(quick)
    online_setting(quick)
    tables(quick)
