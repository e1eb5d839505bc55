"""``python -m benchmarks SUITE [--quick]``: all, or one of the suites below."""

import argparse

from benchmarks import (
    accuracy,
    bayesian,
    budgets,
    cores,
    experts,
    fogd,
    guard,
    isolation,
    kernels,
    latency,
    learned,
    readers,
    scaling,
    soak,
    startup,
    table5,
    uncertainty,
    versus,
    wide,
)

SUITES = {
    "accuracy": accuracy.main,
    "kernels": kernels.main,
    "fogd": fogd.main,
    "learned": learned.main,
    "bayesian": bayesian.main,
    "budgets": budgets.main,
    "experts": experts.main,
    "isolation": isolation.main,
    "latency": latency.main,
    "cores": cores.main,
    "peers": versus.main,
    "readers": readers.main,
    "scaling": scaling.main,
    "soak": soak.main,
    "startup": startup.main,
    "guard": guard.main,
    "table5": table5.main,
    "uncertainty": uncertainty.main,
    "wide": wide.main,
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("suite", choices=["all", *SUITES])
    parser.add_argument("--quick", action="store_true", help="fewer rows and repeats")
    parser.add_argument("--minutes", type=float, help="of soak (default 30, quick 2)")
    options = parser.parse_args()
    for name, suite in SUITES.items():
        if options.suite in ("all", name):
            suite(options.quick, **({"minutes": options.minutes} if name == "soak" and options.minutes else {}))
