"""One tiny model file of every recipe and task, and of everything else that a model file can hold."""

import contextlib
import io
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from onkel import gaussian
from onkel.apps.cli.main import main as onkel
from onkel.files.model_file import save_model
from onkel.files.snapshot import VERSION
from onkel.model.answers import ClassAnswers, NumberAnswers
from onkel.model.columns import Columns
from tests.tables import CELLS, N_FEATURES, parameters, rows_for, started, stream

LEARNED = 40  # rows
NAMES = ("blue", "green", "red")
TWO = (gaussian(sigma=1.0), gaussian(sigma=2.0))
MORE = {  # name of a file: recipe, task, parameters and what else is asked for
    "fogd fastfood": ("fogd", "binary", {"n_frequencies": 13, "draw": "fastfood", "sigma": 1.5}, {}),
    "fogd held": ("fogd", "multiclass", {"n_frequencies": 5}, {"rows": 6}),
    "rrf mixture": ("rrf", "binary", {"n_frequencies": 12, "kernel": "mixture", "n_components": 3}, {}),
    "rrf mean": ("rrf", "regression", {"n_frequencies": 5}, {"missing": "mean", "dtype": "float64"}),
    "ik_ogd trees": ("ik_ogd", "binary", {"partition": "trees", "t": 7, "psi": 4, "sample": 16, "max_depth": 2}, {}),
    "ik_ogd trees refresh": ("ik_ogd", "binary", {"partition": "trees", "t": 3, "psi": 4, "refresh": 7}, {}),
    "ik_ogd refresh": ("ik_ogd", "binary", {"t": 3, "psi": 4, "sample": 16, "refresh": 7}, {}),
    "nogd before": ("nogd", "binary", {"budget": 50, "rank": 7, "sigma": 1.5}, {}),
    "norma published": ("norma", "regression", {"published": True, "sigma": 1.5}, {}),
    "omkc lazy": ("omkc", "binary", {"update": "some", "combine": "some", "kernels": TWO}, {}),
    "ada_raker reference": (
        "ada_raker", "binary", {"n_frequencies": 5, "schedule": "reference", "eta": 0.1, "rounds": 4}, {"rows": 3},
    ),
    "rbp csr": ("rbp", "binary", {"budget": 5, "sigma": 1.5}, {"layout": "csr", "width": 40_000}),
    "nogd csr": ("nogd", "binary", {"budget": 5, "rank": 3, "sigma": 1.5}, {"layout": "csr", "width": 40_000}),
    "fogd csr": ("fogd", "binary", {"n_frequencies": 5, "sigma": 1.5}, {"layout": "csr", "width": 40_000}),
    "ik_ogd csr": ("ik_ogd", "binary", {"t": 3, "psi": 4, "sample": 16}, {"layout": "csr", "width": 40_000}),
    "open": ("fogd", "multiclass", {"n_frequencies": 5, "sigma": 1.5}, {"open": "balanced"}),
    "weighed": ("fogd", "multiclass", {"n_frequencies": 5, "sigma": 1.5}, {"open": {"red": 2.0, "green": 0.5}}),
}  # fmt: skip
RUNS = {  # name of a checkpoint: what `onkel run` is given
    "run binary": ("classes", ["--evaluate", "delayed", "--delay", "7"]),
    "run report": (
        "classes",
        [
            "--evaluate",
            "blocks",
            "--block",
            "20",
            "--report",
            "{folder}/report.html",
            "--scores",
            "{folder}/scores.txt",
        ],
    ),
    "run regression": ("numbers", ["--evaluate", "blocks", "--block", "20"]),
    "run table": ("table", ["--categorical", "colour", "--missing", "mean"]),
}
GOLDEN = Path(__file__).parent / "golden"
OLDER = {  # files of earlier versions, which become content of this one before it is checked
    f"{path.parent.name} {path.stem}": path
    for path in sorted(GOLDEN.glob("v*/*.onkel"))
    if path.parent.name != f"v{VERSION}"
}


def names() -> list[str]:
    """Names of all files."""
    return [*(f"{name} {task}" for name, task in CELLS), *MORE, *RUNS, *OLDER]


@lru_cache
def one_of_each() -> frozenset[str]:
    """Names of files that hold every kind of array and number: one of each recipe, and all others of today."""
    first = {name: f"{name} {task}" for name, task in reversed(CELLS)}
    return frozenset([*first.values(), *MORE, *RUNS])


@lru_cache
def file_of(name: str) -> bytes:
    """The bytes of the file of that name."""
    if name in RUNS:
        return checkpoint(*RUNS[name])
    if name in OLDER:
        return OLDER[name].read_bytes()
    if name in MORE:
        recipe, task, given, more = MORE[name]
        return made(recipe, task, given, **more)
    recipe, task = name.rsplit(" ", 1)
    return made(recipe, task, parameters(recipe, task), rows=3 if recipe == "ada_raker" else LEARNED)  # levels grow


def made(
    recipe: str, task: str, given: dict[str, Any], *, rows: int = LEARNED, dtype: str = "float32",
    missing: str = "error", layout: str = "dense", width: int = N_FEATURES, open: Any = None,
) -> bytes:  # fmt: skip
    """The file of a model that has learned some rows, whose answers have a meaning of their own."""
    X, y = stream(task)
    X = rows_for(given, X)
    online = started(recipe, task, given, dtype)
    if (missing, width) != ("error", N_FEATURES):
        online = online.learner.start(width, task, online.setting.n_outputs, dtype=dtype, missing=missing)
    answers: Any = NumberAnswers()
    if task != "regression":
        weight = None if open is None else open
        classes = np.array(NAMES[:2] if task == "binary" else NAMES)
        answers = ClassAnswers(classes, task, class_weight=weight, grows=open is not None)
        y = classes[(y > 0.0).astype(int) if task == "binary" else y.astype(int)]
    answers.take_scores_of(online)
    answers.learn(online, laid_out(X[:rows], layout, width), y[:rows])
    columns = Columns(width=width, names=[f"c{j}" for j in range(width)] if width == N_FEATURES else None)
    if open is not None:
        columns = Columns(True, "mean", columns.names, own_means=True)
        columns.filled(X[:rows], learns=True)
    out = io.BytesIO()
    save_model(out, online, answers, columns, {"fit": {"epochs": 2, "shuffle": True}})
    return out.getvalue()


def laid_out(X: np.ndarray, layout: str, width: int) -> Any:
    """Rows of that width, their columns far apart."""
    if layout == "dense":
        return X
    from scipy import sparse

    rows = sparse.lil_matrix((len(X), width))
    rows[:, :: width // X.shape[1]] = X[:, : len(range(0, width, width // X.shape[1]))]
    return rows.tocsr()


def data_of(kind: str, path: Path) -> Path:
    """A small file of rows."""
    X, y = stream("regression" if kind == "numbers" else "binary")
    lines = ["a,b,c,d,e,colour,y"] if kind == "table" else ["a,b,c,d,e,y"]
    for i, (x, label) in enumerate(zip(X[:60].round(3), y[:60], strict=True)):
        cells = ["" if kind == "table" and (i + j) % 7 == 3 else str(v) for j, v in enumerate(x)]
        cells += ["red" if i % 3 else "blue"] if kind == "table" else []
        lines.append(",".join([*cells, str(round(float(label), 3)) if kind == "numbers" else NAMES[int(label > 0)]]))
    path.write_text("\n".join(lines) + "\n")
    return path


def run(kind: str, given: list[str], folder: Path, more: list[str]) -> int:
    """A run of the command line over such a file; what it ends with."""
    path = data_of(kind, folder / "rows.csv")
    words = [word.format(folder=folder) for word in given]
    task = ["--task", "regression"] if kind == "numbers" else []
    learner = ["--learner", "fogd", "--set", "n_frequencies=4", "--set", "gamma=0.5"]
    start = [] if "--resume" in more else [*task, *learner]
    return onkel(["run", str(path), *start, *words, "--quiet", *more])


def checkpoint(kind: str, given: list[str]) -> bytes:
    """A checkpoint in the middle of a run."""
    with tempfile.TemporaryDirectory() as name, contextlib.redirect_stdout(io.StringIO()):
        folder = Path(name)
        found = folder / "checkpoint"
        assert run(kind, given, folder, ["--checkpoint", str(found), "--every", "30"]) == 0
        return found.read_bytes()
