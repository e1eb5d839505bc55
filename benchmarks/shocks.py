"""What becomes of every recipe after rows that no learner should have to see: ``python -m benchmarks shocks [--quick]``.

Each learns 600 ordinary rows, then a shock, then 6,000 ordinary rows again. A learner has recovered when a window of
200 rows is learned about as well as by its twin that had no shock; the table says after how many rows, for the worst of
float32 and float64, dense and compressed rows. `never` stands where that did not happen, with `warned` where it said so.
"""

from benchmarks.timing import table  # isort: skip (sets the number of threads before NumPy is imported)

import sys
import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from onkel.recipes import RECIPES
from tests.tables import RECIPE_TABLE, parameters

BEFORE, AFTER, WINDOW, FEATURES = 600, 6000, 200, 5
TASKS = {"binary": 1, "multiclass": 3, "regression": 1}


class Shock(NamedTuple):
    """Rows, targets and weights after the first ordinary ones; `lasting` where all rows to come are like that."""

    title: str
    factor: float = 1.0  # of the rows
    target: float = 1.0  # factor of targets of a regression
    weight: float = 1.0
    rows: int = 3
    lasting: bool = False


SHOCKS = [
    Shock("weights of 1e100", weight=1e100),
    Shock("targets of 1e300", target=1e300),
    Shock("rows of 1e-40", factor=1e-40, rows=50),
    Shock("rows of 1e38", factor=1e37),
    Shock("all rows 1e12 times as large", factor=1e12, lasting=True),
    Shock("all rows 1e-12 times as large", factor=1e-12, lasting=True),
]


def stream(task: str) -> tuple[Any, Any]:
    """Ordinary rows: two of five numbers matter."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(BEFORE + AFTER, FEATURES))
    signal = np.sin(2.0 * X[:, 0]) + X[:, 1]
    if task == "regression":
        return X, signal
    if task == "binary":
        return X, np.where(signal > 0.0, 1.0, -1.0)
    return X, np.digitize(signal, [-0.6, 0.6]).astype(float)


def errors(task: str, y: Any, scores: Any) -> Any:
    if task == "regression":
        with np.errstate(over="ignore"):
            return (scores[:, 0] - y) ** 2
    answers = np.where(scores[:, 0] > 0, 1.0, -1.0) if task == "binary" else scores.argmax(axis=1)
    return (answers != y).astype(float)


def run(name: str, task: str, dtype: str, layout: str, shock: Shock | None) -> tuple[Any, Any, list[str]]:
    """Errors of the rows after the shock, the learner, and what it warned of."""
    X, y = stream(task)
    rows, targets, weights = X.copy(), y.copy(), np.ones(len(y))
    if shock is not None:
        hit = slice(BEFORE, None if shock.lasting else BEFORE + shock.rows)
        rows[hit] *= shock.factor
        weights[hit] = shock.weight
        if task == "regression":
            targets[hit] *= shock.target
    online = RECIPES[name](**parameters(name, task)).start(FEATURES, task, TASKS[task], dtype=dtype)
    laid_out = sparse.csr_matrix(rows) if layout == "csr" else rows
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        scores = np.concatenate(
            [
                online.learn(laid_out[i : i + 300], targets[i : i + 300], weights[i : i + 300])
                for i in range(0, len(y), 300)
            ]
        )
    if not np.isfinite(scores).all():
        raise AssertionError(f"{name}, {task}: a score is not finite")
    first = BEFORE + (0 if shock is None or shock.lasting else shock.rows)
    return errors(task, y[first:], scores[first:]), online, [str(one.message) for one in said]


def recovered(task: str, found: Any, undisturbed: Any) -> int | None:
    """Rows until a window is learned as well as without a shock; None where that never happens."""
    n = min(len(found), len(undisturbed))
    slack = 1.0 if task == "regression" else 0.06
    for last in range(WINDOW, n + 1, WINDOW):
        here = found[len(found) - n :][last - WINDOW : last].mean()
        there = undisturbed[len(undisturbed) - n :][last - WINDOW : last].mean()
        if here <= 1.3 * there + slack * (0.15 if task == "regression" else 1.0):
            return last
    return None


def main(quick: bool = False) -> str:
    """The table."""
    wanted = [name for name in RECIPE_TABLE if not quick or name in ("auto", "fogd", "ogd")]
    chosen = [argument for argument in sys.argv if argument in RECIPE_TABLE]
    lines = []
    for name in chosen or wanted:
        for task in RECIPE_TABLE[name].parameters:
            line = [f"{name}, {task}"]
            cells = [(dtype, layout) for dtype in ("float32", "float64") for layout in ("dense", "csr")]
            plain = {cell: run(name, task, *cell, None)[0] for cell in cells}
            for shock in SHOCKS:
                worst: list[Any] = []
                told = True
                for cell in cells:
                    found, online, said = run(name, task, *cell, shock)
                    after = recovered(task, found, plain[cell])
                    worst.append(np.inf if after is None else after)
                    told = told and (after is not None or bool(said))
                most = max(worst)
                line.append(f"{most:,.0f}" if most < np.inf else "never, " + ("warned" if told else "silent") + f" {sum(w == np.inf for w in worst)}/4")
            lines.append(line)
            print(line, file=sys.stderr, flush=True)
    return table(["", *(shock.title for shock in SHOCKS)], lines)


if __name__ == "__main__":
    print(main())
