"""The words in which an experiment is described."""

import itertools
import math
from collections.abc import Callable
from typing import Any, NamedTuple


class Metric(NamedTuple):
    """What a table shows: a function of the mean error of a run, the share of mistakes or the mean squared error."""

    name: str
    lower_is_better: bool
    figure: Callable[[float], float]
    digits: int


MISTAKES = Metric("mistakes in percent", True, lambda error: 100.0 * error, 2)
SQUARED = Metric("mean squared error", True, lambda error: error, 5)
ROOT = Metric("root of the mean squared error", True, math.sqrt, 4)
PERCENT = Metric("test accuracy in percent", False, lambda error: 100.0 * (1.0 - error), 2)
ACCURACY = Metric("test accuracy", False, lambda error: 1.0 - error, 4)


class Source(NamedTuple):
    """A data set of a paper: its name in `onkel.datasets`, what the paper does with its rows, and its letters."""

    name: str
    rows: int  # that the paper learns
    letters: dict[str, Any]
    scale: str = ""  # "" leaves features as they are; "unit" is [0, 1], "signed" [-1, 1], "bytes" divides by 255
    parts: str = "train"  # of a stream; or "test", or "both", one after the other
    positive: tuple[float, ...] = ()  # labels of one class, where the paper makes two of many
    above: float | None = None  # where the paper makes two classes of a number: one is above this
    passes: int = 1
    ordered: bool = False  # rows are learned as they come, the first ones where there are too many
    stand_in: bool = False  # not the paper's: here because those are not


def source(
    name: str, rows: int, *, scale: str = "", parts: str = "train", positive: tuple[float, ...] = (),
    above: float | None = None, passes: int = 1, ordered: bool = False, stand_in: bool = False, **letters: Any,
) -> Source:  # fmt: skip
    """A data set; the letters are those that differ from the experiment's.

    >>> source("german", 1000, eta=0.2).letters
    {'eta': 0.2}
    """
    return Source(name, rows, letters, scale, parts, positive, above, passes, ordered, stand_in)


class Entry(NamedTuple):
    """How an algorithm is learned here: a recipe, or a name of `machines`, and its parameters.

    A parameter is a value, a tuple of values to choose from, or a letter of the paper that stands for either. A letter
    may also be a function of the others.
    """

    recipe: str
    given: dict[str, Any]

    def candidates(self, letters: dict[str, Any]) -> list[dict[str, Any]]:
        """All combinations of the values to choose from.

        >>> entry("nogd", budget="B", eta=(0.1, 1.0)).candidates({"B": 100})
        [{'budget': 100, 'eta': 0.1}, {'budget': 100, 'eta': 1.0}]
        """
        letters = {letter: v(letters) if callable(v) else v for letter, v in letters.items()}
        known = {key: letters.get(v, v) if isinstance(v, str) else v for key, v in self.given.items()}
        axes = [value if isinstance(value, tuple) else (value,) for value in known.values()]
        return [dict(zip(known, point, strict=True)) for point in itertools.product(*axes)]


def entry(recipe: str, **given: Any) -> Entry:
    """An algorithm of ours with the paper's parameters."""
    return Entry(recipe, given)


class Experiment(NamedTuple):
    """A table of a paper.

    An algorithm without a learner has a reason in its place. A note says why we differ, for an algorithm or for a
    (data set, algorithm); it is shown only where we do.
    """

    title: str
    paper: str  # key of papers.bib
    protocol: str  # "progressive" or "held out"
    metric: Metric
    runs: int
    letters: dict[str, Any]
    sources: dict[str, Source]
    algorithms: dict[str, Entry | str]
    notes: dict[str | tuple[str, str], str]
    remarks: tuple[str, ...] = ()
    search_is_timed: bool = False  # the paper's time holds the search for parameters
    kind: str = "table"

    def note(self, dataset: str, algorithm: str) -> str:
        """Why we differ there, or nothing."""
        return self.notes.get((dataset, algorithm)) or self.notes.get(algorithm, "")


ROWS = "rows"  # what is across where a stream is watched


class Panel(NamedTuple):
    """What a picture shows: a letter that takes several values, or the "rows" of a stream, and lines over them.

    One value, under the letter "", makes bars in place of lines. Where there is one algorithm the lines are data sets.
    """

    across: str
    values: tuple[float, ...]
    algorithms: dict[str, Entry | str]
    logarithmic: bool = False  # how values are spaced
    title: str = ""


class Claim(NamedTuple):
    """What a paper says of a figure, and how to see from our numbers whether it holds on a data set."""

    text: str
    check: Callable[[Any], tuple[bool, str]] | None = None  # of a `claims.Lines`; None: to be judged from the picture
    why: str = "unexplained"  # where it does not hold


class Figure(NamedTuple):
    """A figure of a paper; the words are those of `Experiment`."""

    title: str
    paper: str
    protocol: str  # "progressive", "held out" or "blocks"
    metric: Metric
    runs: int
    letters: dict[str, Any]
    sources: dict[str, Source]
    panels: tuple[Panel, ...]
    claims: tuple[Claim, ...]
    remarks: tuple[str, ...] = ()
    kind: str = "figure"
