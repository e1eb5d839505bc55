"""What is known of a data set: where its files are, how large they are, who uses it. The sets are in `table`."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import NamedTuple

from onkel.streams import StreamError
from onkel.streams.opening import COMPRESSIONS

PARTS = ("train", "test")


class DataError(StreamError):
    """What is wrong with a data set, in one sentence."""


class File(NamedTuple):
    """A file on a server.

    Attributes
    ----------
    address
        Where it is.
    megabytes
        About how large it is, to be shown; None where that is not known.
    size
        Its exact number of bytes; None where that is not known.
    sha256
        Its checksum; None where nobody has published one. The one of the first download is then remembered.
    """

    address: str
    megabytes: float | None = None
    size: int | None = None
    sha256: str | None = None

    @property
    def name(self) -> str:
        """Its name on the server."""
        return self.address.rsplit("/", 1)[1]

    @property
    def compression(self) -> str:
        """The ending that tells how it is compressed; empty for a plain file."""
        return next((ending for ending in COMPRESSIONS if self.name.endswith(ending)), "")


class DataSet(NamedTuple):
    """A data set.

    Attributes
    ----------
    name
        How it is called here.
    task
        "binary", "multiclass" or "regression".
    rows, test_rows
        Rows of the two parts; `test_rows` is 0 where there is no official test part.
    features
        Number of features.
    classes
        Number of classes; 0 for a regression.
    train, test
        The files; None where there is none, or none that could be read as it is.
    label
        The label column of a CSV file; None for LIBSVM text.
    papers
        Papers that use it: keys of src/onkel/papers.bib.
    scaling
        What its numbers are like and what papers make of them, as far as they say so.
    split
        How papers split it, where that is not into the two parts.
    source
        Where it comes from.
    """

    name: str
    task: str
    rows: int
    test_rows: int
    features: int
    classes: int
    train: File | None = None
    test: File | None = None
    label: int | str | None = None
    papers: tuple[str, ...] = ()
    scaling: str = ""
    split: str = ""
    source: str = ""

    @property
    def files(self) -> dict[str, File]:
        """The files that can be fetched, by part."""
        return {part: file for part, file in zip(PARTS, (self.train, self.test), strict=True) if file is not None}

    @property
    def megabytes(self) -> float | None:
        """About how much there is to fetch; None where that is not known."""
        sizes = [file.megabytes for file in self.files.values()]
        known = [size for size in sizes if size is not None]
        return sum(known) if known and len(known) == len(sizes) else None


def local_name(data_set: DataSet, part: str) -> str:
    """What a fetched file is called here.

    Examples
    --------
    >>> from onkel.datasets.table import SETS
    >>> local_name(SETS["ijcnn1"], "test"), local_name(SETS["casp"], "train")
    ('ijcnn1.t.libsvm.bz2', 'casp.csv')
    """
    return f"{_stem(data_set, part)}{'.libsvm' if data_set.label is None else '.csv'}{data_set.files[part].compression}"


def possible_names(data_set: DataSet, part: str) -> list[str]:
    """What the file of a part may be called in a folder that somebody else has filled.

    Examples
    --------
    >>> from onkel.datasets.table import SETS
    >>> names = possible_names(SETS["german"], "train")
    >>> names[0], names[3], names[-1]
    ('german.libsvm', 'german.libsvm.xz', 'german.numer')
    """
    kinds = [".libsvm"] if data_set.label is None else [".libsvm", ".csv"]
    endings = ("", *COMPRESSIONS)
    names = [f"{_stem(data_set, part)}{kind}{ending}" for kind in kinds for ending in endings]
    return names + [file.name for here, file in data_set.files.items() if here == part]


def _stem(data_set: DataSet, part: str) -> str:
    return data_set.name if part == "train" else f"{data_set.name}.t"


def known(name: str, names: Iterable[str]) -> str:
    """The name, if it is one of a data set.

    Examples
    --------
    >>> known("a9", ["a9a", "w7a"])
    Traceback (most recent call last):
    onkel.datasets.registry.DataError: There is no data set 'a9'; did you mean a9a? `onkel data list` names them all.
    """
    every = list(names)
    if name in every:
        return name
    close = get_close_matches(name, every, n=1)
    meant = f"; did you mean {close[0]}?" if close else "."
    raise DataError(f"There is no data set {name!r}{meant} `onkel data list` names them all.")
