"""Our figures beside the paper's, as numbers."""

from typing import Any, NamedTuple

from onkel.apps.reproduce.published import Published
from onkel.evaluation.prequential import Spread

FAR = 2.0  # standard deviations that need a reason
UNEXPLAINED = "unexplained"
TIES = "second class"  # what a score of exactly 0 counts for, in all papers


class Line(NamedTuple):
    """One algorithm on one data set."""

    dataset: str
    algorithm: str
    learner: str
    parameters: dict[str, Any]
    runs: int
    rows: int  # learned
    ours: Spread | None  # None: not learned here, for the reason in `note`
    paper: Published | None
    seconds: float
    note: str

    @property
    def difference(self) -> float | None:
        """Ours less the paper's in the paper's standard deviations.

        Where the paper prints none, or 0, the unit is our standard deviation, or the rounding of the print if that is
        larger.

        >>> Line("", "", "", {}, 2, 9, Spread(3.0, 1.0), Published(2.0, 0.5, None, 0.05), 1.0, "").difference
        2.0
        >>> Line("", "", "", {}, 2, 9, Spread(3.0, 0.25), Published(2.0, None, None, 0.05), 1.0, "").difference
        4.0
        """
        if self.ours is None or self.paper is None:
            return None
        unit = self.paper.std or max(self.ours.std, self.paper.rounding)
        return (self.ours.mean - self.paper.value) / unit

    @property
    def far(self) -> bool:
        """Whether the difference needs a reason."""
        return self.difference is not None and abs(self.difference) > FAR

    @property
    def remark(self) -> str:
        """Why there is no figure of ours, or why it differs, or that nobody knows."""
        if self.ours is None:
            return self.note
        return (self.note or UNEXPLAINED) if self.far else ""


class Data(NamedTuple):
    """What was learned of a data set, and what the paper has."""

    dataset: str
    name: str
    rows: int
    paper_rows: int
    test: str  # where the test rows come from; empty where there are none


class Result(NamedTuple):
    """A table made anew."""

    experiment: str
    data: list[Data]
    lines: list[Line]
    absent: dict[str, str]  # data set: how to get it
    runs: int
    limit: int | None
    quick: bool

    def relative(self, line: Line) -> tuple[float | None, float | None]:
        """Our time and the paper's, each over that of the first algorithm of the data set for which both are known."""
        timed = [one for one in self.lines if one.dataset == line.dataset and one.ours and one.paper and one.paper.time]
        if not timed or line.ours is None:
            return None, None
        first = timed[0]
        assert first.paper is not None
        theirs = line.paper.time if line.paper else None
        return line.seconds / max(first.seconds, 1e-9), theirs and theirs / (first.paper.time or 1.0)


class Point(NamedTuple):
    """A place on a line: what is across, our figure there, and CPU seconds."""

    x: float
    ours: Spread
    seconds: float
    parameters: dict[str, Any]


class Series(NamedTuple):
    """A line of a picture."""

    dataset: str
    across: str
    algorithm: str
    learner: str
    points: list[Point]  # none: not learned here, for the reason in `note`
    note: str = ""

    def at(self, x: float) -> Point:
        """The point at a value; of a line along the rows the last one up to there."""
        return max((point for point in self.points if point.x <= x), key=lambda point: point.x, default=self.points[0])


class Drawn(NamedTuple):
    """A figure made anew."""

    experiment: str
    data: list[Data]
    lines: list[Series]
    absent: dict[str, str]
    runs: int
    limit: int | None
    quick: bool
