"""Start-up: what an import costs, and the first use of a learner without and with its compiled code on disk."""

import os
import subprocess
import sys
import tempfile
from statistics import median

from benchmarks.timing import table

IMPORT = "import time; start = time.perf_counter(); import {module}; print(time.perf_counter() - start)"
FIRST_USE = """
import time, numpy as np
from onkel.recipes import make_learner
learner = make_learner("{learner}")
width = {{"gamma": 0.1}} if "gamma" in learner.get_params() else {{}}
online = learner.set_params(**width).start(n_features=5)
rows = np.zeros((3, 5))
start = time.perf_counter()
{use}
print(time.perf_counter() - start)
"""


LEARNERS = (
    "auto",
    "fogd",
    "rrf",
    "rks",
    "fkl",
    "dual_sgd",
    "ogd",
    "nogd",
    "rbp",
    "projectron",
    "bpa_p",
    "bsgd_m",
    "tvm",
)


def seconds(code: str, cache: str) -> float:
    environment = {**os.environ, "ONKEL_CACHE": cache}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def main(quick: bool = False) -> None:
    repeats, lines = 3 if quick else 7, []
    with tempfile.TemporaryDirectory() as cache:
        for module in ("numpy", "onkel", "onkel.recipes", "onkel.sklearn_api"):
            time = median(seconds(IMPORT.format(module=module), cache) for _ in range(repeats))
            lines.append([f"import {module}", f"{time:.2f}"])
    for learner in ("auto", "fogd") if quick else LEARNERS:
        with tempfile.TemporaryDirectory() as cache:
            code = FIRST_USE.format(learner=learner, use="online.learn(rows, np.ones(3))")
            lines.append([f"first use of {learner}, nothing compiled", f"{seconds(code, cache):.2f}"])
            cached = median(seconds(code, cache) for _ in range(repeats))
            lines.append([f"first use of {learner}, compiled code on disk", f"{cached:.2f}"])
    with tempfile.TemporaryDirectory() as cache:
        code = FIRST_USE.format(learner="nogd", use="online.prepare(rows)")
        lines.append(["all that nogd ever needs, nothing compiled", f"{seconds(code, cache):.2f}"])
    table("Start-up", ["", "seconds"], lines)
