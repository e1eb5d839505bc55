"""Completion for the fish shell, from the parser of the command line."""

import argparse
from collections.abc import Iterator

SEEN = "__fish_seen_subcommand_from"


def script(parser: argparse.ArgumentParser) -> str:
    """What fish sources: commands, options with their help, and values where there are few."""
    return "\n".join(_lines(parser, parser.prog, ()))


def _lines(parser: argparse.ArgumentParser, program: str, path: tuple[str, ...]) -> Iterator[str]:
    at = "; and ".join(f"{SEEN} {name}" for name in path) or "__fish_use_subcommand"
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            helps = {choice.dest: choice.help for choice in action._choices_actions}
            for name, command in action.choices.items():
                yield _line(program, f"{at}; and not {SEEN} {' '.join(action.choices)}", f"-f -a {name}", helps[name])
                yield from _lines(command, program, (*path, name))
        elif action.option_strings:
            names = [f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in action.option_strings]
            yield _line(program, at, " ".join([*names, *_values(action)]), action.help)
        elif action.choices:
            yield _line(program, at, " ".join(["-f", *_values(action)[1:]]), action.help)


def _values(action: argparse.Action) -> list[str]:
    if action.choices:
        return ["-x", f"-a {_quoted(' '.join(map(str, action.choices)))}"]
    return [] if action.nargs == 0 else ["-r"]


def _line(program: str, condition: str, what: str, text: str | None) -> str:
    told = f" -d {_quoted(text.replace('%%', '%'))}" if text else ""
    return f"complete -c {program} -n {_quoted(condition)} {what}{told}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
