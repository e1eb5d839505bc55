"""Say what a learner does (formula, pieces, parameters, what to cite), or what a model file holds."""

import argparse
import inspect
import os
import re
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from onkel.apps.cli.model_facts import facts
from onkel.apps.cli.model_facts import shown as shown_model
from onkel.apps.cli.options import add_command, add_json
from onkel.apps.cli.writing import check_json, write_json
from onkel.core.terminal import show
from onkel.files.model_file import load_model
from onkel.recipes import RECIPES
from onkel.recipes.learner import parameters

EXAMPLES = """examples:
  onkel describe rrf
  onkel describe nogd --bibtex >> references.bib
  onkel describe model.onkel                       learner, classes and columns of a saved model
  onkel describe                                   all learners, a line each"""
PACKAGES = "onkel.pieces", "onkel.learners", "onkel"  # in which a description looks for a name like losses.hinge
NAMES = re.compile(r"\b(?:[a-z_0-9]+\.)+[A-Za-z_0-9]+")


def add_to(commands: Any) -> None:
    """Add the command and its options."""
    command = add_command(commands, "describe", "what a learner does, or what a model file holds", __doc__, EXAMPLES)
    what = f"a file that --save wrote, or one of {', '.join(sorted(RECIPES))}"
    command.add_argument("learner", nargs="?", metavar="LEARNER|MODEL", help=what)
    command.add_argument("--bibtex", action="store_true", help="only what to cite")
    add_json(command, "write all of it as JSON")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Carry out the command."""
    check_json(options.json)
    if options.learner is None:
        found: Any = {name: first_line(name) for name in sorted(RECIPES)}
        text = "\n".join(f"{name:20s} {line}" for name, line in found.items())
    elif os.path.isfile(options.learner) and options.learner not in RECIPES:
        found = facts(options.learner, load_model(options.learner))
        text = shown_model(found)
    elif options.learner not in RECIPES:
        raise ValueError(f"There is no learner {options.learner!r}; there are {', '.join(sorted(RECIPES))}.")
    else:
        found = described(options.learner)
        text = "\n\n".join(found["references"]) if options.bibtex else shown(found)
    write_json(options.json, found)
    if options.json != "-":
        show(text)


def first_line(name: str) -> str:
    """What a recipe is, in one sentence."""
    return str(inspect.getdoc(RECIPES[name])).splitlines()[0]


def described(name: str) -> dict[str, Any]:
    """All that is known of a recipe.

    >>> described("rrf")["files"][0]
    'onkel/recipes/learned.py'
    """
    text, _, keys = str(inspect.getdoc(RECIPES[name])).partition("References:")
    prose = text.partition(">>>")[0].strip()
    cited = [key.strip() for key in keys.split(",") if key.strip()]
    return {
        "learner": name,
        "tasks": list(RECIPES[name]().tasks),
        "description": prose,
        "files": files(name, prose),
        "parameters": {key: repr(value) for key, value in parameters(name).items()},
        "references": [bibliography()[key] for key in cited],
    }


def files(name: str, prose: str) -> list[str]:
    """The files of the recipe and of the pieces that its description names."""
    own = inspect.unwrap(RECIPES[name]).__module__
    modules = [own, *(module for dotted in NAMES.findall(prose) if (module := home_of(dotted)))]
    found = [str(find_spec(module).origin) for module in dict.fromkeys(modules)]  # type: ignore[union-attr]
    home = Path(__file__).parents[3]
    return [Path(path).relative_to(home).as_posix() for path in found]


def home_of(dotted: str) -> str | None:
    """The module of what a description names: the longest part of its name that is one, in any of the packages."""
    while dotted:
        for package in PACKAGES:
            try:
                if find_spec(f"{package}.{dotted}") is not None:
                    return f"{package}.{dotted}"
            except ModuleNotFoundError:
                pass
        dotted = dotted.rpartition(".")[0]
    return None


def bibliography() -> dict[str, str]:
    """All that is cited anywhere, by key."""
    text = resources.files("onkel").joinpath("papers.bib").read_text(encoding="utf-8")
    entries = [entry.strip() for entry in re.split(r"^(?=@)", text, flags=re.MULTILINE) if entry.strip()]
    return {entry.partition("{")[2].partition(",")[0]: entry for entry in entries}


def shown(found: dict[str, Any]) -> str:
    """The description as a person reads it."""
    given = "\n".join(f"  {key} = {value}" for key, value in found["parameters"].items())
    parts = [
        f"{found['learner']}: {found['description']}",
        "Files:\n" + "\n".join(f"  {path}" for path in found["files"]),
        f"Parameters:\n{given}",
        "Cite:\n" + "\n".join(found["references"]),
    ]
    return "\n\n".join(parts)
