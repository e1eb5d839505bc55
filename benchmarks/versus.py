"""Whole learners beside other programs on the same rows: rows per CPU-second, error, peak memory.

``python -m benchmarks peers [--quick]``. Each contestant has a process of its own, so that its memory can be told.
Errors are progressive, but for those that learn all rows at once: theirs are those of the last fifth.
"""

from benchmarks.timing import table  # isort: skip (sets the number of threads before NumPy is imported)

import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from sklearn.datasets import dump_svmlight_file  # here, for it not to count as memory of whoever needs it first

from benchmarks import accuracy
from benchmarks.datasets import FOLDER, NAMES, Task, load
from benchmarks.peers import PEERS, Run, in_batches, repeated, vowpal, with_dicts
from onkel.recipes import make_learner
from onkel.streams import LibsvmFile

TASKS = ("letter", "ijcnn1", "casp", "a9a")
FEW = 2_000  # rows for those that are very slow
Contestant = Callable[[Task], Run | None]


def from_file(name: str) -> Contestant:
    """One of our learners on a LIBSVM file, reading included."""

    def run(task: Task) -> Run:
        n_features = task.rows.shape[1]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.libsvm"
            dump_svmlight_file(task.rows, task.targets, str(path), zero_based=False)
            found: list[Any] = []

            def stream() -> LibsvmFile:
                return LibsvmFile(path, n_features=n_features, dense=isinstance(task.rows, np.ndarray))

            next(iter(stream()))
            make_learner(name).start(n_features, task.kind, task.n_outputs).prepare(task.rows)

            def seconds() -> float:
                found.clear()
                clock = process_time()
                online = make_learner(name).start(n_features, task.kind, task.n_outputs)
                for block in stream():
                    found.append(online.learn(block.rows, block.labels))
                return process_time() - clock

            time = repeated(seconds)
        return task.decide(np.concatenate(found)), time

    return run


def batches(nystroem: bool, size: int) -> Contestant:
    """A map of scikit-learn's with SGD in batches of a size."""

    def run(task: Task) -> Run:
        from sklearn.kernel_approximation import Nystroem, RBFSampler

        gamma = 1.0 / task.rows.shape[1]
        task = task.first(FEW) if size == 1 else task
        if nystroem:
            sampler: Any = Nystroem(n_components=100, gamma=gamma, random_state=1).fit(task.rows[:100])
        else:
            sampler = RBFSampler(n_components=800, gamma=gamma, random_state=1).fit(task.rows[:1])
        return in_batches(task, sampler, size)

    return run


def all_at_once(linear: bool) -> Contestant:
    """scikit-learn's SVM on four fifths of the rows, or a linear one on random features; predicts the others."""

    def run(task: Task) -> Run:
        from sklearn.kernel_approximation import RBFSampler
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler
        from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR

        task, back = task.unit()
        real, cut = task.kind == "regression", len(task.targets) * 4 // 5
        scale = StandardScaler(with_mean=isinstance(task.rows, np.ndarray))
        kernel = SVR(C=1.0) if real else SVC(C=10.0)
        sampler = RBFSampler(n_components=800, gamma=1.0 / task.rows.shape[1], random_state=1)
        model = make_pipeline(scale, sampler, LinearSVR() if real else LinearSVC()) if linear else None
        model = model or make_pipeline(scale, kernel)
        clock = process_time()
        model.fit(task.rows[:cut], task.targets[:cut])
        seconds = process_time() - clock
        predictions = np.full(len(task.targets), np.nan)
        predictions[cut:] = model.predict(task.rows[cut:])
        return back(predictions), seconds

    return run


def river_linear(features: bool) -> Contestant:
    """river's linear model on standardised features, or on random ones of these."""

    def run(task: Task) -> Run:
        from river import feature_extraction, linear_model, multiclass, preprocessing

        task, back = task.unit()
        model: Any = linear_model.LinearRegression() if task.kind == "regression" else linear_model.LogisticRegression()
        if task.kind == "multiclass":
            model = multiclass.OneVsRestClassifier(model)
        if features:
            gamma = 1.0 / task.rows.shape[1]
            model = feature_extraction.RBFSampler(n_components=100, gamma=gamma, seed=1) | model
        predictions, seconds = with_dicts(task.first(FEW), preprocessing.StandardScaler() | model)
        return back(predictions), seconds

    return run


CONTESTANTS: dict[str, Contestant] = {
    "onkel auto, LIBSVM file": from_file("auto"),
    **{f"onkel {name}": accuracy.ours(name) for name in ("auto", "rrf", "fogd", "nogd")},
    **{name: peer.run for name, peer in PEERS.items() if name in ("VW", "VW -q ::", "VW --nn 20")},
    "VW, cache": vowpal(cached=True),
    "VW -q ::, cache": vowpal("-q", "::", cached=True),
    "VW --nn 20, cache": vowpal("--nn", "20", cached=True),
    "VW --ksvm": lambda task: _ksvm(task.first(FEW)) if task.kind == "binary" else None,
    **{f"RBFSampler + SGD, batch {size}": batches(nystroem=False, size=size) for size in (1, 100, 1000)},
    **{f"Nystroem + SGD, batch {size}": batches(nystroem=True, size=size) for size in (1, 100, 1000)},
    "SVC, all at once": all_at_once(linear=False),
    "RBFSampler + LinearSVC, all at once": all_at_once(linear=True),
    "river linear": river_linear(features=False),
    "river RBFSampler": river_linear(features=True),
    "river ARF": PEERS["river ARF"].run,
}
_ksvm = vowpal("--ksvm", "--kernel", "rbf", "--bandwidth", "5", "--l2", "1e-3")


def measured(name: str, task: Task) -> dict[str, Any] | None:
    """What a contestant does, with the memory that it took beyond what was there before."""
    before = in_use()
    done = CONTESTANTS[name](task)
    if done is None:
        return None
    predictions, seconds = done
    losses = task.losses(predictions)
    known = losses[~np.isnan(predictions)]
    return {"rows": len(losses), "seconds": seconds, "error": float(np.mean(known)), "memory": peak() - before}


def in_use() -> float:
    """Memory of this process in MB, the mark from which its peak is told anew; before, reading the rows had set it."""
    with suppress(OSError):  # elsewhere than on Linux the peak is that of the whole process
        Path("/proc/self/clear_refs").write_text("5")
    return peak()


def peak() -> float:
    """Largest memory of this process since the mark, in MB."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform != "darwin" else 1024**2)
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def apart(name: str, task: str, rows: int) -> dict[str, Any] | None:
    """The same in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.versus", name, task, str(rows)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"failed": done.stderr.strip().splitlines()[-1][:60]}
    found: dict[str, Any] | None = json.loads(done.stdout.splitlines()[-1])
    return found


def contest(quick: bool) -> None:
    rows = FEW if quick else 20_000
    for task in TASKS[:1] if quick else TASKS:
        lines, ours = [], None
        for name in CONTESTANTS:
            if name.startswith("onkel"):
                apart(name, task, FEW)  # compiled code is on disk then: the compiler is not memory of a learner
            found = apart(name, task, rows)
            if found is None:
                continue
            if "failed" in found:
                lines.append([name, found["failed"], "", "", "", ""])
                continue
            rate = found["rows"] / found["seconds"]
            ours = ours or rate
            cells = [f"{found['rows']:,}", f"{rate:,.0f}", accuracy.short(found["error"]), f"{found['memory']:.0f}"]
            lines.append([name, *cells, f"{ours / rate:.2f}"])
        header = ["", "rows", "rows/CPU-s", "error", "MB", "times the time of onkel auto, LIBSVM file"]
        table(f"{task}: whole learners, one core", header, lines)


def from_files(quick: bool) -> None:
    """`auto` from a file on all data sets, beside Vowpal Wabbit's net and its products of features."""
    lines, rows = [], FEW if quick else 20_000
    better = {"VW -q ::": [0, 0], "VW --nn 20": [0, 0]}
    for task in NAMES[:4] if quick else NAMES:
        found = {name: apart(name, task, rows) or {} for name in ("onkel auto, LIBSVM file", *better)}
        ours = found["onkel auto, LIBSVM file"]
        cells = [task, f"{ours['rows'] / ours['seconds']:,.0f}", accuracy.short(ours["error"])]
        for name, wins in better.items():
            rate, error = found[name]["rows"] / found[name]["seconds"], found[name]["error"]
            wins[0] += ours["rows"] / ours["seconds"] > rate
            wins[1] += ours["error"] < error
            fewer = "" if found[name]["rows"] == ours["rows"] else f" ({found[name]['rows']:,})"
            cells += [f"{rate:,.0f}", accuracy.short(error) + fewer]
        lines.append(cells)
    header = [
        "",
        "auto, rows/CPU-s",
        "error",
        *(f"{name}{part}" for name in better for part in (", rows/CPU-s", ", error")),
    ]
    table(f"From files, reading included; at most {rows:,} rows (fewer in brackets)", header, lines)
    for name, (faster, sharper) in better.items():
        print(f"auto is faster than {name} on {faster} and has a lower error on {sharper} of {len(lines)} tasks.")


def main(quick: bool = False) -> None:
    if not FOLDER.exists():
        print(f"The data sets are not in {FOLDER.parent.name}/{FOLDER.name} next to the project.")
        return
    contest(quick)
    from_files(quick)


if __name__ == "__main__":
    asked, set_name, most = sys.argv[1:]
    print(json.dumps(measured(asked, load(set_name, FOLDER, int(most)))))
