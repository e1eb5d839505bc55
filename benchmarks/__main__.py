"""``python -m benchmarks SUITE [--quick]``: all, or one of the suites below."""

import argparse

from benchmarks import (
    accuracy,
    bayesian,
    budgets,
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
    startup,
    table5,
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
    "deployment": deployment.main,
    "experts": experts.main,
    "isolation": isolation.main,
    "latency": latency.main,
    "peers": versus.main,
    "readers": readers.main,
    "scaling": scaling.main,
    "startup": startup.main,
    "guard": guard.main,
    "table5": table5.main,
    "wide": wide.main,
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("suite", choices=["all", *SUITES])
    parser.add_argument("--quick", action="store_true", help="fewer rows and repeats")
    options = parser.parse_args()
    for name, suite in SUITES.items():
        if options.suite in ("all", name):
            suite(options.quick)
