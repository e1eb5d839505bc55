"""The options that say which columns of a table are read, and as what."""

import argparse
from collections.abc import Mapping, Sequence
from typing import Any, cast

from onkel.streams.columns import HASH_COLUMNS, ColumnChoice


def add_options(add: Any) -> None:
    """Add the options."""
    add("--label", default=None, metavar="COLUMN", help="label column of a table, name or position (default: last)")
    add("--columns", action="append", type=_names, metavar="A,B,...", help="columns of the features (default: all)")
    add("--drop", action="append", type=_names, metavar="A,B,...", help="columns that are left out")
    how = "columns of text; HOW is onehot (the default up to 64 values), hash, or the values themselves: red|green|blue"
    add("--categorical", action="append", type=_names, metavar="A[=HOW],...", help=how)
    add("--hash-columns", type=int, metavar="N", help=f"features that hashed columns share (default {HASH_COLUMNS})")
    missing = "what empty cells, NA and ? are: an error, zero, or the mean of the rows before (default error)"
    add("--missing", choices=["error", "zero", "mean"], help=missing)
    add(
        "--separator",
        metavar="C",
        help="between the cells of CSV: one character, or 'tab' (default: by the first line)",
    )
    add("--on-error", default="stop", choices=["stop", "skip"], help="what to do at a line that cannot be read")


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def choice_of(options: argparse.Namespace, values: Mapping[str, Sequence[str]]) -> ColumnChoice:
    """What the options ask for; one-hot columns whose values are known already have exactly these.

    >>> options = argparse.Namespace(label="y", columns=None, drop=[["id", "3"]], categorical=[["city=onehot", "name"]],
    ...                              missing=None, hash_columns=None, separator=None)
    >>> choice_of(options, {})
    {'label': 'y', 'drop': ['id', '3'], 'categorical': {'city': 'onehot', 'name': 'auto'}}
    """
    default = "auto" if options.hash_columns is None else "hash"
    categorical = dict(_how(text, values, default) for text in _joined(options.categorical))
    asked = {
        "label": options.label,
        "columns": _joined(options.columns),
        "drop": _joined(options.drop),
        "categorical": categorical,
        "missing": options.missing,
        "hash_columns": options.hash_columns,
        "separator": {"tab": "\t", "\\t": "\t"}.get(options.separator, options.separator),
    }
    # Only what was asked for: LIBSVM text refuses the words for tables.
    return cast(ColumnChoice, {key: value for key, value in asked.items() if value not in (None, [], {})})


def _how(text: str, values: Mapping[str, Sequence[str]], default: str) -> tuple[str, str | Sequence[str]]:
    column, _, how = text.partition("=")
    if "|" in how:
        return column, [value.strip() for value in how.split("|") if value.strip()]
    if how == "onehot" and values:
        if column not in values:
            raise ValueError(f"The model knows no values of column {column!r}: --categorical must be as it was.")
        return column, values[column]
    return column, how or default


def _joined(parts: list[list[str]] | None) -> list[str]:
    return [name for part in parts or [] for name in part]
