"""What the papers print."""

import csv
from functools import lru_cache
from importlib import resources
from typing import NamedTuple


class Published(NamedTuple):
    """A cell of a paper's table; what it does not give is None. `rounding` is half a unit of the last printed digit."""

    value: float
    std: float | None
    time: float | None
    rounding: float


Cells = dict[tuple[str, str], Published]


@lru_cache
def published(experiment: str) -> Cells:
    """The cells of a table by (data set, algorithm), in the order of the paper.

    >>> published("lsokl-table5")["german", "OGD"]
    Published(value=29.5, std=0.5, time=0.13, rounding=0.05)
    """
    with resources.files("onkel.apps.reproduce").joinpath("published.csv").open(encoding="utf-8") as file:
        lines = [line for line in csv.DictReader(file) if line["experiment"] == experiment]
    return {(line["dataset"], line["algorithm"]): _cell(line) for line in lines}


def _cell(line: dict[str, str]) -> Published:
    std, time = (float(line[key]) if line[key] else None for key in ("std", "time"))
    return Published(float(line["value"]), std, time, 0.5 * 10.0 ** -len(line["value"].partition(".")[2]))
