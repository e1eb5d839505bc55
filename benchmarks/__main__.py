"""``python -m benchmarks SUITE ... [--quick] [--page FILE]``: all, or some of the suites below."""

import argparse
import os
import platform
from pathlib import Path
from typing import Any

from benchmarks import (
    accuracy,
    bayesian,
    budgets,
    cores,
    deployment,
    experts,
    fogd,
    guard,
    isolation,
    kernels,
    latency,
    learned,
    readers,
    scaling,
    shocks,
    soak,
    startup,
    table5,
    tricks,
    uncertainty,
    versus,
    wide,
)
from benchmarks.timing import PRINTED, as_markdown

SUITES: dict[str, Any] = {
    "accuracy": accuracy.main,
    "kernels": kernels.main,
    "fogd": fogd.main,
    "learned": learned.main,
    "bayesian": bayesian.main,
    "budgets": budgets.main,
    "deployment": deployment.main,
    "experts": experts.main,
    "isolation": isolation.main,
    "latency": latency.main,
    "cores": cores.main,
    "peers": versus.main,
    "readers": readers.main,
    "scaling": scaling.main,
    "shocks": shocks.main,
    "soak": soak.main,
    "startup": startup.main,
    "guard": guard.main,
    "table5": table5.main,
    "tricks": tricks.main,
    "uncertainty": uncertainty.main,
    "wide": wide.main,
}

ABOUT = """# Performance

Times are CPU time on one core, contestants take turns, medians count; a limit is measured in the same minutes as what
is held against it. Machines differ and are never quite idle: ratios count, digits are noise.

"""


def as_page(parts: dict[str, str], command: str) -> str:
    """What the suites printed, as a page."""
    return (
        ABOUT
        + f"Written by `{command}` on {processor()}.\n"
        + "".join(f"\n## `python -m benchmarks {name}`\n\n{text}" for name, text in parts.items())
    )


def processor() -> str:
    """The name that the system has for the processor, and how many there are."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return f"{os.cpu_count()} x {names[0] if names else platform.machine()}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "suites", nargs="+", choices=["all", *SUITES], metavar="SUITE", help=f"all, {', '.join(SUITES)}"
    )
    parser.add_argument("--quick", action="store_true", help="fewer rows and repeats")
    parser.add_argument("--minutes", type=float, help="of soak (default 30, quick 2)")
    parser.add_argument("--page", type=Path, help="write the tables there as Markdown, too")
    options, parts = parser.parse_args(), dict[str, str]()
    for name in SUITES if "all" in options.suites else options.suites:
        before = len(PRINTED)
        SUITES[name](options.quick, **({"minutes": options.minutes} if name == "soak" and options.minutes else {}))
        parts[name] = "\n".join(as_markdown(*one) for one in PRINTED[before:])
        if options.page:
            command = " ".join(["python -m benchmarks", *options.suites, *(["--quick"] if options.quick else [])])
            options.page.write_text(as_page(parts, command), encoding="utf-8")


if __name__ == "__main__":
    main()
