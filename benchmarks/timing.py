"""Timing on noisy machines: CPU time on one core, contestants interleaved, medians."""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "ONKEL_THREADS"):
    os.environ.setdefault(_name, "1")  # before NumPy is imported anywhere

from collections.abc import Callable  # noqa: E402
from statistics import median  # noqa: E402
from time import process_time  # noqa: E402


def interleaved(contestants: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Median CPU seconds of each contestant."""
    return {name: median(values) for name, values in rounds(contestants, repeats).items()}


def rounds(contestants: dict[str, Callable[[], object]], repeats: int) -> dict[str, list[float]]:
    """CPU seconds of each contestant; every round runs each of them once."""
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for run in contestants.values():
        run()  # compiled code, caches, branch predictors
    for _ in range(repeats):
        for name, run in contestants.items():
            start = process_time()
            run()
            times[name].append(process_time() - start)
    return times


PRINTED: list[tuple[str, list[str], list[list[str]]]] = []  # the tables so far


def table(title: str, header: list[str], lines: list[list[str]]) -> None:
    """Print aligned columns."""
    PRINTED.append((title, header, lines))
    widths = [max(len(line[k]) for line in [header, *lines]) for k in range(len(header))]
    print(f"\n{title}")
    for line in [header, *lines]:
        cells = [
            cell.ljust(w) if k == 0 else cell.rjust(w) for k, (cell, w) in enumerate(zip(line, widths, strict=True))
        ]
        print("  ".join(cells))


def as_markdown(title: str, header: list[str], lines: list[list[str]]) -> str:
    """A table that was printed, for a page."""
    rows = [header, ["---"] + ["---:"] * (len(header) - 1), *lines]
    return f"{title}\n\n" + "".join("| " + " | ".join(row) + " |\n" for row in rows)
