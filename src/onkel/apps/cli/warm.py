"""Compile learners ahead of their first use, so that no stream has to wait; what is there already is not made anew."""

import argparse
from time import perf_counter
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from onkel.apps.cli.options import add_command, add_json
from onkel.apps.cli.writing import check_json, write_json
from onkel.core.terminal import show
from onkel.core.verbs import cache_folder
from onkel.recipes import RECIPES, make_learner
from onkel.recipes.learner import DTYPES, TASKS

EXAMPLES = """examples:
  onkel warm                                       auto, for all tasks, dense and sparse rows
  onkel warm fogd nogd --task binary --dtype float64"""
LAYOUTS: dict[str, Any] = {"dense": np.asarray, "sparse": csr_matrix}


def add_to(commands: Any) -> None:
    """Add the command and its options."""
    command = add_command(commands, "warm", "compile learners ahead of their first use", __doc__, EXAMPLES)
    command.add_argument("learners", nargs="*", metavar="LEARNER", help="names of learners (default auto)")
    command.add_argument("--task", choices=TASKS, help="for this task alone")
    command.add_argument("--layout", choices=[*LAYOUTS], help="for rows of this layout alone")
    command.add_argument("--dtype", default="float32", choices=DTYPES, help="type of the model's numbers")
    add_json(command, "write what was compiled, and how long it took, as JSON")
    command.add_argument("--quiet", action="store_true", help="say nothing")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Carry out the command: a line for each learner, task and layout."""
    check_json(options.json)
    quiet, compiled = options.quiet or options.json == "-", list[dict[str, Any]]()
    names = options.learners or ["auto"]
    for name in names:
        if name not in RECIPES:
            raise ValueError(f"There is no learner {name!r}; there are {', '.join(sorted(RECIPES))}.")
    for name in names:
        learner = make_learner(name)
        for task in [task for task in learner.tasks if options.task in (None, task)]:
            online = learner.start(4, task, 3 if task == "multiclass" else 1, options.dtype)
            for layout in [options.layout] if options.layout else LAYOUTS:
                start = perf_counter()
                online.prepare(LAYOUTS[layout](np.zeros((1, 4))))
                seconds = perf_counter() - start
                compiled.append({"learner": name, "task": task, "layout": layout, "seconds": seconds})
                if not quiet:
                    print(f"{name:20s} {task:12s} {layout:8s} {seconds:6.1f} s")
    folder = cache_folder()
    write_json(options.json, {"compiled": compiled, "cache": None if folder is None else str(folder)})
    if not quiet and folder is not None:
        show(f"kept in {folder}")
