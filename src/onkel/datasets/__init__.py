"""The papers' data sets by name: what is known of them, where they are on this machine, and how to get them here."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from onkel.datasets import folders
from onkel.datasets.folders import Files, cache_folder, find_in, given_folder
from onkel.datasets.registry import DataError, DataSet, File, known, local_name
from onkel.datasets.table import SETS
from onkel.streams import Format, Stream, open_stream

__all__ = [
    "DataError", "DataSet", "File", "Files", "Parts", "Place",
    "fetch", "find", "how_to_get", "info", "load", "names", "place",
]  # fmt: skip


class Parts(NamedTuple):
    """Rows to learn, and rows to test on where there are some."""

    train: Stream
    test: Stream | None


class Place(NamedTuple):
    """A part of a data set on this machine, and how it is read."""

    path: Path
    format: Format
    label: int | str
    n_features: int


def names() -> list[str]:
    """The names of all data sets.

    Examples
    --------
    >>> names()[:3]
    ['a9a', 'w7a', 'w8a']
    """
    return list(SETS)


def info(name: str) -> DataSet:
    """What is known of a data set.

    Examples
    --------
    >>> info("ijcnn1").rows, info("ijcnn1").papers
    (49990, ('lu2016', 'nguyen2017', 'nguyen2018', 'ting2021'))
    """
    return SETS[known(name, SETS)]


def find(name: str) -> Files | None:
    """The files of a data set on this machine, or None.

    The folder that ``ONKEL_DATA`` names is looked at first, then the cache. Files may be called name.libsvm and
    name.t.libsvm, plain or compressed, or as they are on their server.
    """
    return folders.find(info(name))


def place(name: str) -> Place | None:
    """Where the rows to learn of a data set are, or with ".t" after its name those to test on; None for other names.

    Raises
    ------
    DataError
        If it is a data set that is not here; the message says how to get it.
    """
    data_set = SETS.get(name.removesuffix(".t"))
    if data_set is None:
        return None
    files, part = folders.find(data_set), "test" if name.endswith(".t") else "train"
    path = None if files is None else getattr(files, part)
    if path is None and part == "test" and not data_set.test_rows:
        raise DataError(f"{data_set.name} has no test part.")
    if path is None:
        raise DataError(f"{name} is not here yet{how_to_get(data_set)}")
    text = data_set.label is None or ".libsvm" in path.name
    label = -1 if data_set.label is None else data_set.label
    return Place(path, "libsvm" if text else "csv", label, data_set.features)


def how_to_get(data_set: DataSet) -> str:
    """The end of a sentence that says that a data set is not here.

    Examples
    --------
    >>> how_to_get(info("a9a"))
    ': `onkel data fetch a9a` gets it (3.5 MB).'
    """
    if not data_set.files:
        name, source = data_set.name, data_set.source
        return f": it has to be got by hand, as {name}.libsvm in the folder that ONKEL_DATA names (source: {source})."
    size = "" if data_set.megabytes is None else f" ({data_set.megabytes:.1f} MB)"
    return f": `onkel data fetch {data_set.name}` gets it{size}."


def load(name: str, block_rows: int = 4096) -> Parts:
    """Open a data set that is on this machine.

    Parameters
    ----------
    name
        One of `names`.
    block_rows
        Rows per block.

    Returns
    -------
    Parts
        The stream to learn, and the one to test on, or None.
    """
    files = find(name)
    train = _opened(name, block_rows)
    return Parts(train, None if files is None or files.test is None else _opened(f"{name}.t", block_rows))


def _opened(name: str, block_rows: int) -> Stream:
    found = place(name)
    if found is None:
        raise DataError(f"There is no data set {name!r}.")
    path, format, label, n_features = found
    return open_stream(path, block_rows=block_rows, n_features=n_features, label=label, format=format)


def fetch(
    name: str, to: Path | str | None = None, watch: Callable[[str, int, int | None], None] | None = None
) -> Files:
    """Get the files of a data set here, unless they are.

    Parameters
    ----------
    name
        One of `names`.
    to
        Folder to put them into; by default the cache, unless the folder of ``ONKEL_DATA`` has them.
    watch
        Called again and again with the name of a file, its bytes that are here, and those in all or None.

    Returns
    -------
    Files
        Where they are.
    """
    from onkel.datasets.fetching import download  # not before: HTTP takes longer to import than all the rest here

    data_set = info(name)
    given = given_folder()
    there = None if given is None or to is not None else find_in(given, data_set)
    if there is not None and (there.test is not None or data_set.test is None):
        return there
    if not data_set.files:
        raise DataError(f"{name} cannot be fetched{how_to_get(data_set)}")
    folder = cache_folder() if to is None else Path(to)
    for part, file in data_set.files.items():
        path = folder / local_name(data_set, part)
        download(file, path, None if watch is None else partial(watch, path.name))
    here = find_in(folder, data_set)
    assert here is not None
    return here
