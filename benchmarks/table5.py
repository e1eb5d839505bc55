"""Table 5 of Lu et al. (2016) for the data set german: our command over the 20 orders that came with it.

Takes the folder that holds `data/german.libsvm.xz`, `spec/golden/german_perms.txt` and `spec/tables`.
"""

import csv
import json
import tempfile
from pathlib import Path
from statistics import mean, stdev
from typing import Any, NamedTuple

import numpy as np

from benchmarks.timing import table
from onkel.apps.cli.main import main as onkel

SHARED = Path(__file__).parents[2] / "shared"
BUDGET = ["budget=100"]
SETTINGS = {  # what Section 7.2 of the paper says, by its names
    "Perceptron": ("perceptron", []),
    "OGD": ("ogd", ["eta=0.2"]),
    "RBP": ("rbp", BUDGET),
    "Forgetron": ("forgetron", BUDGET),
    "Projectron": ("projectron", BUDGET),
    "Projectron++": ("projectron_pp", BUDGET),
    "BPA-S": ("bpa_s", BUDGET),
    "BOGD": ("bogd", [*BUDGET, "eta=0.2", "lam=1e-6"]),
    "FOGD": ("fogd", ["n_frequencies=400", "eta=0.8"]),
    "NOGD": ("nogd", [*BUDGET, "rank=20", "eta=0.2"]),
}


class Line(NamedTuple):
    """Mean and standard deviation of the mistakes in percent, ours and the paper's."""

    name: str
    ours: float
    spread: float
    paper: float
    paper_spread: float

    @property
    def off(self) -> float:
        """By how many of the paper's standard deviations ours differs."""
        return (self.ours - self.paper) / self.paper_spread


def published() -> dict[str, tuple[float, float]]:
    with open(SHARED / "spec" / "tables" / "lsokl_table5_online_binary.csv") as file:
        lines = [line for line in csv.DictReader(file) if line["dataset"] == "german"]
    return {line["algorithm"]: (float(line["value"]), float(line["std"])) for line in lines}


def percent(recipe: str, settings: list[str], order: Path, number: int, report: Path) -> float:
    """Mistakes of one run of the command."""
    options: list[Any] = [*(part for pair in [*settings, "sigma=8"] for part in ("--set", pair)), "--order", order]
    options += ["--seed", number, "--json", report, "--quiet"]
    onkel(["run", str(SHARED / "data" / "german.libsvm.xz"), "--learner", recipe, *map(str, options)])
    return 100.0 * float(json.loads(report.read_text())["mistake_rate"])


def lines() -> list[Line]:
    """Every algorithm of the table over all orders."""
    orders = np.loadtxt(SHARED / "spec" / "golden" / "german_perms.txt", dtype=int) - 1
    paper, found = published(), []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number, order in enumerate(orders):
            np.savetxt(folder / f"{number}.txt", order, fmt="%d")
        for algorithm, (recipe, settings) in SETTINGS.items():
            rates = [percent(recipe, settings, folder / f"{k}.txt", k, folder / "report") for k in range(len(orders))]
            found.append(Line(algorithm, mean(rates), stdev(rates), *paper[algorithm]))
    return found


def main(quick: bool = False) -> None:
    rows = [
        [f.name, f"{f.ours:.2f} +- {f.spread:.2f}", f"{f.paper} +- {f.paper_spread}", f"{f.off:+.2f}"] for f in lines()
    ]
    title = "german, 20 orders: mistakes in percent, beside Table 5 of Lu et al. (2016)"
    table(title, ["", "onkel run", "paper", "difference in the paper's std"], rows)
