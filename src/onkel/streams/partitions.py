"""Columns that are written in the names of folders: `year=2024/month=01/rows.parquet`, as Hive and Spark do."""

import re
from collections.abc import Iterable
from pathlib import PurePath
from typing import TypeAlias
from urllib.parse import unquote

Keys: TypeAlias = dict[str, int | str | None]

NOTHING = "__HIVE_DEFAULT_PARTITION__"  # stands for a missing value
WHOLE_NUMBER = re.compile("-?[0-9]{1,18}")


def keys_of(paths: Iterable[PurePath]) -> list[Keys]:
    """What the folders of each path say; a column holds whole numbers if all its values are some, else text.

    Examples
    --------
    >>> keys_of([PurePath("year=2024/city=Oslo/a.parquet"), PurePath("year=2025/city=S%C3%A3o%20Paulo/b.parquet")])
    [{'year': 2024, 'city': 'Oslo'}, {'year': 2025, 'city': 'São Paulo'}]
    """
    found = [_written(path) for path in paths]
    names = dict.fromkeys(name for keys in found for name in keys)
    whole = {name for name in names if all(WHOLE_NUMBER.fullmatch(keys.get(name) or "0") for keys in found)}
    return [{name: _read(keys.get(name), name in whole) for name in names} for keys in found]


def _written(path: PurePath) -> dict[str, str | None]:
    pairs = [part.split("=", 1) for part in path.parts[:-1] if "=" in part]
    return {unquote(name): None if text == NOTHING else unquote(text) for name, text in pairs}


def _read(text: str | None, whole: bool) -> int | str | None:
    return int(text) if whole and text else text
