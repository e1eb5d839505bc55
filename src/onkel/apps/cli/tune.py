"""Choose the parameters of a learner on the first rows of a stream; `onkel run --tuned FILE` then uses them."""

import argparse
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from onkel.apps.cli.display import error_text
from onkel.apps.cli.feeding import open_feed
from onkel.apps.cli.options import add_command, add_json, add_stream, count, parse_settings, value
from onkel.apps.cli.session import plain, spoken
from onkel.apps.cli.writing import check_json, write_json
from onkel.core.terminal import complain, show
from onkel.evaluation.prequential import Tally, prequential
from onkel.recipes import Learner, make_learner

EXAMPLES = """examples:
  onkel tune a9a.libsvm.xz --learner fogd --grid eta=0.01,0.1,1 --grid sigma=1,2,4,8 --json best.json
  onkel tune data.csv --learner nogd --range eta=0.001:1 --range sigma=0.1:10 --trials 40 --json best.json
  onkel run a9a.libsvm.xz --tuned best.json"""


def add_to(commands: Any) -> None:
    """Add the command and its options."""
    command = add_command(commands, "tune", "choose parameters on the first rows of a stream", __doc__, EXAMPLES)
    add_stream(command)
    add = command.add_argument
    add("--learner", required=True, metavar="NAME", help="whose parameters to choose")
    add("--set", action="append", default=[], metavar="KEY=VALUE", help="a parameter that is given; repeatable")
    add("--grid", action="append", default=[], metavar="KEY=A,B,C", help="values to try, all combinations; repeatable")
    add(
        "--range",
        action="append",
        default=[],
        metavar="KEY=LOW:HIGH",
        help="a range to search; needs optuna",
    )
    add("--trials", type=count, default=30, metavar="N", help="how many points of the ranges to try (default 30)")
    add("--rows", type=count, default=10_000, metavar="N", help="how many first rows to use (default 10,000)")
    add_json(command, "write what was found as JSON, for `onkel run --tuned`", "--to")
    command.set_defaults(run=run, order=None, permutation=None, epochs=1, test=None, evaluate="rows")


def run(options: argparse.Namespace) -> None:
    """Carry out the command: only the first rows are ever looked at."""
    check_json(options.json)
    if bool(options.grid) == bool(options.range):
        raise ValueError("Give --grid or --range: what to choose, and from where.")
    options.limit = min(options.rows, options.limit or options.rows)
    feed, given = open_feed(options), parse_settings(options.set)
    if feed.guessed:
        complain(feed.guessed)
    blocks, tried = [*feed.blocks()], list[dict[str, Any]]()

    def error_of(params: dict[str, Any]) -> float:
        learner: Learner = make_learner(options.learner, **given, **params)
        work = feed.start(learner, options)
        with spoken(feed.source):
            report = prequential(work.online, feed.paired(work, blocks), tally=Tally(work.answers))
        error = float(report["mse"] if feed.task == "regression" else report["mistake_rate"])
        tried.append({"parameters": plain(params), "error": error if np.isfinite(error) else None})
        return error

    by_grid(options.grid, error_of) if options.grid else by_optuna(options, error_of)
    best = min(tried, key=lambda trial: np.inf if trial["error"] is None else trial["error"])
    found = {"learner": options.learner, "parameters": {**plain(given), **best["parameters"]}, "error": best["error"]}
    write_json(options.json, {**found, "task": feed.task, "rows": options.limit, "tried": tried})
    if options.json != "-":
        show(sentence(found, feed.task, len(tried)))


def by_grid(grid: list[str], error_of: Callable[[dict[str, Any]], float]) -> None:
    """Try all combinations."""
    axes = {key: [value(text) for text in texts.split(",")] for key, texts in map(halves, grid)}
    for point in itertools.product(*axes.values()):
        error_of(dict(zip(axes, point, strict=True)))


def by_optuna(options: argparse.Namespace, error_of: Callable[[dict[str, Any]], float]) -> None:
    """Search ranges of positive numbers, by powers."""
    try:
        import optuna
    except ModuleNotFoundError:
        raise ValueError("--range needs the package optuna: `pip install onkel[tune]`; or give --grid.") from None
    ends = {key: [value(text) for text in texts.split(":")] for key, texts in map(halves, options.range)}
    for key, pair in ends.items():
        if len(pair) != 2 or not all(isinstance(end, int | float) for end in pair) or not 0 < pair[0] < pair[1]:
            raise ValueError(f"--range takes KEY=LOW:HIGH with 0 < LOW < HIGH; {key} has something else.")

    def objective(trial: Any) -> float:
        return error_of({key: suggested(trial, key, *pair) for key, pair in ends.items()})

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=options.seed))
    study.optimize(objective, n_trials=options.trials)


def suggested(trial: Any, key: str, low: Any, high: Any) -> Any:
    """A point of a range: a whole number where both ends are."""
    whole = isinstance(low, int) and isinstance(high, int)
    return trial.suggest_int(key, low, high, log=True) if whole else trial.suggest_float(key, low, high, log=True)


def halves(pair: str) -> tuple[str, str]:
    key, equals, texts = pair.partition("=")
    if not equals or not texts:
        raise ValueError(f"--grid takes KEY=A,B,C and --range KEY=LOW:HIGH, not {pair!r}.")
    return key.strip(), texts


def sentence(found: dict[str, Any], task: str, count: int) -> str:
    """What was found, in one line."""
    given = ", ".join(f"{key}={value}" for key, value in found["parameters"].items())
    error = "no finite error" if found["error"] is None else error_text(task, found["error"])
    return f"{found['learner']}({given}): {error}, the best of {count}"
