"""Print a script that completes commands and options in a shell."""

import argparse
from typing import Any

from onkel.apps.cli import fish
from onkel.apps.cli.options import add_command

EXAMPLES = """examples:
  onkel completion bash > ~/.local/share/bash-completion/completions/onkel
  onkel completion zsh > ~/.zfunc/_onkel           with fpath+=~/.zfunc before compinit
  onkel completion fish > ~/.config/fish/completions/onkel.fish"""
SHELLS = ("bash", "zsh", "tcsh", "fish")


def add_to(commands: Any) -> None:
    """Add the command and its options."""
    command = add_command(commands, "completion", "completion for a shell", __doc__, EXAMPLES)
    command.add_argument("shell", choices=SHELLS, metavar="SHELL", help=f"one of {', '.join(SHELLS)}")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Carry out the command."""
    from onkel.apps.cli.main import parser

    if options.shell == "fish":  # which shtab does not know
        print(fish.script(parser()))
        return
    try:
        import shtab
    except ModuleNotFoundError:
        raise ValueError("Completion needs the package shtab: `pip install onkel[completion]`.") from None
    print(shtab.complete(parser(), options.shell))
