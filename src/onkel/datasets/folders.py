"""Where data sets are on this machine."""

import os
import sys
from pathlib import Path
from typing import NamedTuple

from onkel.datasets.registry import PARTS, DataSet, possible_names


class Files(NamedTuple):
    """The files of a data set on this machine; `test` is None where there is none."""

    train: Path
    test: Path | None


def given_folder() -> Path | None:
    """The folder that ``ONKEL_DATA`` names; it is looked at first, and nothing is written to it unless asked for."""
    given = os.environ.get("ONKEL_DATA")
    return Path(given) if given else None


def cache_folder() -> Path:
    """Where files are fetched to: the platform's folder for caches.

    ``XDG_CACHE_HOME`` where it is set, ``LOCALAPPDATA`` on Windows, ``~/Library/Caches`` on macOS, else ``~/.cache``.
    """
    base = os.environ.get("XDG_CACHE_HOME")
    if not base and sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA")
    if not base:
        base = str(Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache"))
    return Path(base) / "onkel" / "data"


def find(data_set: DataSet) -> Files | None:
    """The files of a data set: of ``ONKEL_DATA``, else of the cache; None where neither has rows to learn.

    A folder that has the test part too comes before one that lacks it.
    """
    folders = [folder for folder in (given_folder(), cache_folder()) if folder is not None]
    found = [files for folder in folders if (files := find_in(folder, data_set)) is not None]
    whole = [files for files in found if files.test is not None or data_set.test is None]
    return next(iter(whole + found), None)


def find_in(folder: Path, data_set: DataSet) -> Files | None:
    """The files of a data set in a folder; None if there are no rows to learn."""
    train, test = (_first(folder, possible_names(data_set, part)) for part in PARTS)
    return None if train is None else Files(train, test)


def _first(folder: Path, names: list[str]) -> Path | None:
    return next((folder / name for name in names if (folder / name).is_file()), None)
