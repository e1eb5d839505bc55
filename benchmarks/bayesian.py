"""The Bayesian kernel machine beside Table 2 of its paper, `rrf` and LIBSVM; its calibration; the time of a step.

``python -m benchmarks bayesian [--quick]``. The data sets are not part of the project; missing ones are named.
"""

from benchmarks.timing import interleaved, table  # isort: skip (sets the number of threads before NumPy is imported)

from collections.abc import Iterator
from itertools import islice
from time import process_time
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, vstack

from benchmarks.datasets import FOLDER
from onkel import KernelClassifier
from onkel.core.borrowed import row
from onkel.core.rows import Dense, project
from onkel.core.verbs import entry_point
from onkel.pieces.maps.fourier import turn
from onkel.recipes import bkm, rrf
from onkel.streams import LibsvmFile

PAPER = {"a9a": 84.45, "ijcnn1": 97.42, "cod-rna": 96.13, "connect-4": 78.87, "skin": 99.91, "poker": 50.52}
EPOCHS = {"a9a": 20, "ijcnn1": 20, "cod-rna": 20, "connect-4": 12, "skin": 5, "poker": 20}  # the authors': 20
FEW = 10_000  # rows that LIBSVM gets at most: its time grows with their square
FIFTHS = 3  # of the rows, held out in turn where there is no test part: accuracies differ by up to 0.3 between them


def load(name: str) -> Iterator[tuple[Any, Any, Any, Any]]:
    """Training and test rows and labels; where there is no test part, as often as there are random fifths."""
    paths = [path for end in ("", ".t") if (path := FOLDER / f"{name}{end}.libsvm.xz").exists()]
    width = max(LibsvmFile(path).summary().n_features for path in paths)
    read = [list(LibsvmFile(path, n_features=width, dense=False)) for path in paths]
    parts: list[Any] = [vstack([csr_matrix(b.rows) for b in part], format="csr").toarray() for part in read]
    labels = [np.concatenate([b.labels for b in part]) for part in read]
    for split in range(1 if len(parts) == 2 else FIFTHS):
        order = np.random.default_rng(split).permutation(len(labels[0]))
        X, y = parts[0][order], labels[0][order]
        cut = len(y) if len(parts) == 2 else len(y) * 4 // 5
        yield X[:cut], y[:cut], *((parts[1], labels[1]) if len(parts) == 2 else (X[cut:], y[cut:]))


def timed(model: Any, X: Any, y: Any) -> float:
    """CPU seconds of fitting."""
    clock = process_time()
    model.fit(X, y)
    return process_time() - clock


def accuracies(quick: bool) -> None:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    header = ["", "paper", "ours - paper", "bkm", "rrf", "SVC", "bkm, s", "rrf, s", "SVC, s", "passes", "splits"]
    lines, errors = list[list[str]](), list[list[str]]()
    for name, printed in PAPER.items():
        if not (FOLDER / f"{name}.libsvm.xz").exists():
            lines.append([name, "not there", *[""] * (len(header) - 2)])
            continue
        epochs, found = 1 if quick else EPOCHS[name], list[list[float]]()
        for X, y, Z, z in islice(load(name), 1 if quick else None):
            rows = slice(0, 4_000 if quick else None)
            bayes = KernelClassifier(bkm(), epochs=epochs)
            learned = KernelClassifier(rrf(n_frequencies=400), epochs=epochs)
            machine = make_pipeline(StandardScaler(), SVC(C=10.0))
            seconds = [timed(model, X[rows], y[rows]) for model in (bayes, learned)]
            seconds.append(timed(machine, X[rows][:FEW], y[rows][:FEW]))
            found.append([*(100 * float(model.score(Z, z)) for model in (bayes, learned, machine)), *seconds])
        mean = np.mean(found, axis=0)
        cells = [f"{a:.2f}" for a in mean[:3]] + [f"{s:.0f}" for s in mean[3:]]
        lines.append([name, f"{printed:.2f}", f"{mean[0] - printed:+.2f}", *cells, str(epochs), str(len(found))])
        errors.append([name, *calibrated(bayes, Z, z)])
    table(
        f"Test accuracy in %, CPU seconds; SVC on at most {FEW:,} rows, without a search for its parameters",
        header,
        lines,
    )
    table("bkm on the test rows", ["", "ECE", "spread, right", "spread, wrong"], errors)


def calibrated(model: Any, Z: Any, z: Any) -> list[str]:
    """Expected calibration error in 15 bins, and how much particles disagree where the answer is right and wrong."""
    chances = model.predict_proba(Z)
    sure, right = chances.max(axis=1), model.predict(Z) == z
    bins = np.minimum((sure * 15).astype(int), 14)
    gaps = [abs(sure[bins == b].mean() - right[bins == b].mean()) * np.mean(bins == b) for b in set(bins.tolist())]
    spread = model.predict_spread(Z)
    spread = spread if spread.ndim == 1 else spread.max(axis=1)
    wrong = spread[~right].mean() if (~right).any() else 0.0
    return [f"{sum(gaps):.3f}", f"{spread[right].mean():.2f}", f"{wrong:.2f}"]


@entry_point
def bare(rows: Any, noise: Any, phases: Any, features: Any, times: int) -> None:
    """Projections and sines of a mini-batch, as often as there are particles; nothing else."""
    for _ in range(times):
        project(Dense(rows), 0, rows.shape[0], noise, phases)
        for b in range(rows.shape[0]):
            turn(row(phases, b), row(features, b), noise.shape[1])


def step_ratio(quick: bool) -> float:
    """One step of S = 100 particles on 200 rows, D = 400, d = 22, against its bare projections and sines."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 22)).astype(np.float32), rng.choice([-1.0, 1.0], 200)
    online = bkm(standardise=False).start(22)
    phases, features = np.zeros((200, 400), np.float32), np.zeros((200, 800), np.float32)
    noise = online.model.noise
    found = interleaved(
        {"step": lambda: online.learn(X, y), "bare": lambda: bare(X, noise, phases, features, 100)}, 5 if quick else 15
    )
    return found["step"] / found["bare"]


def main(quick: bool = False) -> None:
    lines = [["a step / its projections and sines", f"{step_ratio(quick):.2f}"]]
    table("S = 100, batch 200, D = 400, d = 22, two classes, float32", ["", "ratio"], lines)
    accuracies(quick)
