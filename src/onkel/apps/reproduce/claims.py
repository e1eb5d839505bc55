"""What papers say of their figures, as questions to our lines: does it hold on a data set, and by which numbers."""

from collections.abc import Callable
from math import inf
from typing import NamedTuple

from onkel.apps.reproduce.results import Point, Series
from onkel.apps.reproduce.spec import Metric


class Lines(NamedTuple):
    """All lines of a data set, by what is across and algorithm."""

    metric: Metric
    series: dict[tuple[str, str], Series]

    def ends(self, across: str, algorithm: str) -> tuple[Point, Point]:
        """The first and the last point of a line."""
        points = self.series[across, algorithm].points
        return points[0], points[-1]

    def loss(self, across: str, algorithm: str, x: float = inf) -> float:
        """How bad the figure is at a place, the last one unless told: less is better, whatever the metric."""
        mean = self.series[across, algorithm].at(x).ours.mean
        return mean if self.metric.lower_is_better else -mean

    def shown(self, loss: float) -> str:
        return f"{abs(loss):.{self.metric.digits}f}"


Check = Callable[[Lines], tuple[bool, str]]


def improves(across: str, *algorithms: str) -> Check:
    """Each is better at the end of the axis than at its beginning."""

    def check(lines: Lines) -> tuple[bool, str]:
        ends = {name: lines.ends(across, name) for name in algorithms}
        moves = {name: (lines.loss(across, name, a.x), lines.loss(across, name, b.x)) for name, (a, b) in ends.items()}
        said = [f"{name} {lines.shown(before)} to {lines.shown(after)}" for name, (before, after) in moves.items()]
        return all(after < before for before, after in moves.values()), ", ".join(said)

    return check


def levels_off(across: str, algorithm: str, beyond: float, share: float = 0.25) -> Check:
    """From some value on the figure moves by at most a share of what was gained before, or two standard deviations."""

    def check(lines: Lines) -> tuple[bool, str]:
        first, last = lines.ends(across, algorithm)
        middle = lines.series[across, algorithm].at(beyond)
        start, there, end = (lines.loss(across, algorithm, point.x) for point in (first, middle, last))
        said = " then ".join(lines.shown(one) for one in (start, there, end))
        return abs(there - end) <= max(share * (start - there), 2.0 * middle.ours.std, 2.0 * last.ours.std), said

    return check


def steady(across: str, algorithm: str, within: float) -> Check:
    """All figures of a line are within so much of each other."""

    def check(lines: Lines) -> tuple[bool, str]:
        found = [point.ours.mean for point in lines.series[across, algorithm].points]
        return max(found) - min(found) <= within, f"from {lines.shown(min(found))} to {lines.shown(max(found))}"

    return check


def beat(across: str, ones: tuple[str, ...], others: tuple[str, ...], x: float = inf, y: float | None = None) -> Check:
    """Each of the ones at x is better than each of the others at y, which is x unless given."""
    return _compared(across, (ones, x, max), (others, x if y is None else y, min))


def lead(across: str, ones: tuple[str, ...], others: tuple[str, ...], x: float = inf) -> Check:
    """The best of the ones is better than the best of the others."""
    return _compared(across, (ones, x, min), (others, x, min))


Side = tuple[tuple[str, ...], float, Callable[..., str]]


def _compared(across: str, left: Side, right: Side) -> Check:
    def check(lines: Lines) -> tuple[bool, str]:
        sides = []
        for names, x, pick in (left, right):
            losses = {name: lines.loss(across, name, x) for name in names}
            name = pick(losses, key=losses.__getitem__)
            sides.append((losses[name], f"{name} {lines.shown(losses[name])}"))
        (one, said), (other, also_said) = sides
        return one < other, f"{said}, {also_said}"

    return check


def takes(across: str, algorithm: str, least: float = 0.0, most: float = inf) -> Check:
    """The time at the end of the axis over that at its beginning is between two numbers."""

    def check(lines: Lines) -> tuple[bool, str]:
        first, last = lines.ends(across, algorithm)
        ratio = last.seconds / max(first.seconds, 1e-9)
        return least <= ratio <= most, f"{algorithm} takes {_times(ratio)} as long at {last.x:g} as at {first.x:g}"

    return check


def faster(across: str, one: str, other: str, times: float = 1.0) -> Check:
    """At the end of the axis one takes at most a share of the other's time."""

    def check(lines: Lines) -> tuple[bool, str]:
        ratio = _ratio(lines, across, one, other, 1)
        return ratio >= times, f"{other} takes {_times(ratio)} as long as {one}"

    return check


def widens(across: str, one: str, other: str) -> Check:
    """The other's time over the one's grows along the axis."""

    def check(lines: Lines) -> tuple[bool, str]:
        first, last = (_ratio(lines, across, one, other, end) for end in (0, 1))
        return last > first, f"{other} takes {_times(first)} as long as {one} at first, {_times(last)} in the end"

    return check


def _times(ratio: float) -> str:
    return f"{ratio:.2g} times" if ratio < 100.0 else f"{ratio:.0f} times"


def _ratio(lines: Lines, across: str, one: str, other: str, end: int) -> float:
    return lines.ends(across, other)[end].seconds / max(lines.ends(across, one)[end].seconds, 1e-9)
