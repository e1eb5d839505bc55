"""Start-up: what an import costs, and the first use of a learner without and with its compiled code on disk."""

import os
import subprocess
import sys
import tempfile
from statistics import median

from benchmarks.timing import table
from onkel.recipes import RECIPES, make_learner

IMPORT = "import time; start = time.perf_counter(); import {module}; print(time.perf_counter() - start)"
FIRST_USE = """
import time, numpy as np
from onkel.recipes import make_learner
learner = make_learner("{learner}")
width = {{"gamma": 0.1}} if "gamma" in learner.get_params() else {{}}
online = learner.set_params(**width).start(5, "{task}")
rows = np.zeros((3, 5))
start = time.perf_counter()
{use}
print(time.perf_counter() - start)
"""


def seconds(code: str, cache: str) -> float:
    environment = {**os.environ, "ONKEL_CACHE": cache}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def main(quick: bool = False) -> None:
    repeats, lines = 3, list[list[str]]()
    with tempfile.TemporaryDirectory() as cache:
        for module in ("numpy", "onkel", "onkel.recipes", "onkel.integrations.sklearn.estimators"):
            time = median(seconds(IMPORT.format(module=module), cache) for _ in range(repeats))
            lines.append([f"import {module}", "", f"{time:.2f}"])
    for learner in ("auto", "fogd") if quick else RECIPES:
        with tempfile.TemporaryDirectory() as cache:
            task = make_learner(learner).tasks[0]
            code = FIRST_USE.format(learner=learner, task=task, use="online.learn(rows, np.ones(3))")
            first, *later = (seconds(code, cache) for _ in range(1 + repeats))
            lines.append([learner, f"{first:.2f}", f"{median(later):.2f}"])
    with tempfile.TemporaryDirectory() as cache:
        code = FIRST_USE.format(learner="nogd", task="binary", use="online.prepare(rows)")
        first, *later = (seconds(code, cache) for _ in range(1 + repeats))
        lines.append(["nogd, all that it ever needs", f"{first:.2f}", f"{median(later):.2f}"])
    header = ["seconds until the first rows are learned", "nothing compiled", "compiled code on disk"]
    table("Start-up: imports, and the first use of each learner after its import", header, lines)
