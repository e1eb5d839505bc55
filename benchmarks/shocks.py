"""What becomes of every recipe after rows that no learner should have to see: ``python -m benchmarks shocks``.

Each learns 600 ordinary rows, then a shock, then ordinary rows again. A learner has recovered when a window of 200 rows
is learned about as well as by its twin that had no shock: the table says after how many rows, for the worst of float32
and float64, dense and compressed rows. `no` stands where 3,000 rows (`auto`: 9,000) were not enough, `no, said` where
it warned. All models are saved and loaded afterwards, and all scores are finite; whatever is not so ends the run.
"""

from benchmarks.timing import table  # isort: skip (sets the number of threads before NumPy is imported)

import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from onkel.core.trees import same
from onkel.files.model_file import load_model, save_model
from onkel.recipes import make_learner
from tests.tables import RECIPE_TABLE, parameters

BEFORE, AFTER, WINDOW, FEATURES, BLOCK = 600, 3000, 200, 5, 300
LONG = 9000  # rows that `auto` is given
TASKS = {"binary": 1, "multiclass": 3, "regression": 1}
CELLS = [(dtype, layout) for dtype in ("float32", "float64") for layout in ("dense", "csr")]
ABOUT = 1.3, {"binary": 0.06, "multiclass": 0.06, "regression": 0.15}  # times the error of the twin, and so much more


class Shock(NamedTuple):
    """Rows of another kind: factors of their numbers and targets, their weight, and how many there are."""

    title: str
    factor: float = 1.0
    target: float = 1.0  # of a regression
    weight: float = 1.0
    rows: int = 3


SHOCKS = [
    Shock("3 weights of 1e100", weight=1e100),
    Shock("3 targets of 1e300", target=1e300),
    Shock("50 rows of 1e-40", factor=1e-40, rows=50),
    Shock("3 rows of 1e38", factor=3e37),
    Shock("300 rows, 1e12 times", factor=1e12, rows=300),
    Shock("300 rows, 1e-12 times", factor=1e-12, rows=300),
]
FOR_GOOD = [Shock("all rows 1e12 times", factor=1e12, rows=0), Shock("all rows 1e-12 times", factor=1e-12, rows=0)]


def stream(task: str, rows: int) -> tuple[Any, Any]:
    """Ordinary rows: two of five numbers matter."""
    X = np.random.default_rng(5).normal(size=(rows, FEATURES))
    signal = np.sin(2.0 * X[:, 0]) + X[:, 1]
    if task == "regression":
        return X, signal
    return X, np.where(signal > 0.0, 1.0, -1.0) if task == "binary" else np.digitize(signal, [-0.6, 0.6]) * 1.0


def errors(task: str, y: Any, scores: Any) -> Any:
    """The error of each row."""
    if task == "regression":
        return (scores[:, 0] - y) ** 2
    answers = np.where(scores[:, 0] > 0.0, 1.0, -1.0) if task == "binary" else scores.argmax(axis=1)
    return (answers != y).astype(float)


class Outcome(NamedTuple):
    """Errors of all rows, the learner afterwards, and whether it warned."""

    errors: Any
    online: Any
    warned: bool


def learned(name: str, task: str, dtype: str, layout: str, shock: Shock | None = None, after: int = AFTER) -> Outcome:
    """A learner after a stream with a shock in it."""
    X, y = stream(task, BEFORE + after)
    hit = slice(BEFORE, BEFORE + shock.rows if shock and shock.rows else None)
    rows, targets, weights = X.copy(), y.copy(), np.ones(len(y))
    if shock is not None:
        rows[hit] *= shock.factor
        weights[hit] = shock.weight
        targets[hit] *= shock.target if task == "regression" else 1.0
    given = sparse.csr_matrix(rows) if layout == "csr" else rows
    online = make_learner(name, **parameters(name, task)).start(FEATURES, task, TASKS[task], dtype=dtype)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        parts = [slice(a, a + BLOCK) for a in range(0, len(y), BLOCK)]
        scores = np.concatenate([online.learn(given[part], targets[part], weights[part]) for part in parts])
    if not np.isfinite(scores).all():
        raise AssertionError(f"{name}, {task}, {shock}: a score is not finite.")
    return Outcome(errors(task, y, scores), online, bool(said))


def kept_in_a_file(online: Any) -> bool:
    """Whether a learner can be saved and loaded."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onkel"
        save_model(path, online)
        return same(load_model(path).online.model, online.model)


def rows_to_recover(task: str, found: Any, undisturbed: Any, shock: Shock) -> int | None:
    """How many ordinary rows it takes; None where there were too few."""
    factor, more = ABOUT[0], ABOUT[1][task]
    start = BEFORE + shock.rows
    for last in range(start + WINDOW, len(found) + 1, WINDOW):
        window = slice(last - WINDOW, last)
        if found[window].mean() <= factor * undisturbed[window].mean() + more:
            return last - start
    return None


def after_shock(name: str, task: str, shock: Shock, after: int = AFTER, cells: Any = CELLS) -> str:
    """What the table says: rows until the worst of all has recovered."""
    needed, told = list[int | None](), True
    for cell in cells:
        found = learned(name, task, *cell, shock, after)
        needed.append(rows_to_recover(task, found.errors, learned(name, task, *cell, None, after).errors, shock))
        told = told and (found.warned or needed[-1] is not None)
        if not kept_in_a_file(found.online):
            raise AssertionError(f"{name}, {task}, {shock}: a file holds another model.")
    known = [rows for rows in needed if rows is not None]
    if len(known) < len(needed):
        return "no, said" if told else "no"
    return f"{max(known):,}"


def main(quick: bool = False) -> None:
    """Print the table."""
    lines = []
    for name in ("auto", "fogd", "rbp") if quick else RECIPE_TABLE:
        for task in RECIPE_TABLE[name].parameters:
            after = LONG if name == "auto" else AFTER
            lines.append([f"{name}, {task}", *(after_shock(name, task, shock, after) for shock in SHOCKS)])
            print(*lines[-1], sep=" | ", file=sys.stderr, flush=True)
    header = ["", *(shock.title for shock in SHOCKS)]
    table("Shocks: rows until a learner has recovered", header, lines)
    tasks = RECIPE_TABLE["auto"].parameters
    more = [[f"auto, {task}", *(after_shock("auto", task, shock, LONG) for shock in FOR_GOOD)] for task in tasks]
    table("For good: rows until `auto` has recovered", ["", *(shock.title for shock in FOR_GOOD)], more)
