"""The pictures of a figure made anew: our figures to the left, CPU time to the right."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from onkel.apps.report.pictures import COLOURS, INK, as_svg, named, short, shortened, side_by_side
from onkel.apps.reproduce.figures import FIGURES
from onkel.apps.reproduce.results import Drawn, Series
from onkel.apps.reproduce.spec import ROWS, Panel

SIZE = (9.0, 3.8)
WIDE = 30.0  # times from shortest to longest from which on they are drawn by their logarithms


class Picture(NamedTuple):
    """Lines that belong together: of the algorithms on a data set, or of the data sets of the only algorithm."""

    name: str  # of a file, without its ending
    title: str
    panel: Panel
    lines: dict[str, Series]


def pictures(result: Drawn) -> Iterator[Picture]:
    """All pictures of a figure that have a line."""
    figure = FIGURES[result.experiment]
    for panel in figure.panels:
        own = [line for line in result.lines if line.across == panel.across and line.points]
        several = len(panel.algorithms) > 1
        for dataset in dict.fromkeys(line.dataset if several else "" for line in own):
            chosen = [line for line in own if line.dataset == dataset or not several]
            lines = {line.algorithm if several else line.dataset: line for line in chosen}
            across = [panel.across or "models"] if len(figure.panels) > 1 else []
            name = "-".join([result.experiment, *across, *([dataset] if dataset else [])])
            about = [panel.title, dataset or next(iter(panel.algorithms))]
            yield Picture(plain(name), ", ".join(part for part in about if part), panel, lines)


def plain(name: str) -> str:
    """A name of letters, digits, points, dashes and underscores.

    >>> plain("raker-figure1-Tom's hardware")
    'raker-figure1-Tom-s-hardware'
    """
    return "".join(letter if letter.isalnum() or letter in "._-" else "-" for letter in name)


def draw(picture: Picture, up: str) -> str:
    """A picture as SVG."""
    made, (left, right) = side_by_side(2, SIZE)
    for place, (label, line) in enumerate(picture.lines.items()):
        x = [point.x for point in line.points]
        means, stds = ([getattr(point.ours, key) for point in line.points] for key in ("mean", "std"))
        if len(x) == 1:
            bars = {"color": COLOURS[place % len(COLOURS)], "capsize": 3, "ecolor": INK}
            left.bar(label, means[0], yerr=stds[0] or None, **bars)
            right.bar(label, line.points[0].seconds, **bars)
            continue
        along = picture.panel.across == ROWS  # many points close to each other, so without marks
        small = {"markersize": 3.5, "linewidth": 1.4, "marker": "" if along else "o"}
        spread = stds if any(stds) and not along else None
        left.errorbar(x, means, yerr=spread, label=label, capsize=2, elinewidth=0.8, **small)
        right.plot(x, [point.seconds for point in line.points], **small)
    spaced(left, right, picture)
    named(left, picture.panel.across, up, 1)
    named(right, picture.panel.across, "CPU seconds", 1)
    if len(picture.lines) > 1 and picture.panel.across:
        made.legend(frameon=False, labelcolor=INK, fontsize=9, loc="outside upper left", ncols=8)
    return as_svg(made, "#202020", "white")


def spaced(left: Any, right: Any, picture: Picture) -> None:
    """Scales and marks of the axes."""
    points = [point for line in picture.lines.values() for point in line.points]
    seconds = [point.seconds for point in points]
    if max(seconds) > WIDE * min(seconds) > 0.0:
        right.set_yscale("log")
    else:
        right.set_ylim(bottom=0)
    if not picture.panel.across:
        figures = [point.ours.mean for point in points]
        room = max(max(figures) - min(figures), 1e-3 * abs(max(figures)))
        left.set_ylim(min(figures) - room, max(figures) + room)  # bars that hardly differ are cut at their feet
        return
    for axes in (left, right):
        if picture.panel.logarithmic:
            axes.set_xscale("log")
            axes.set_xticks(picture.panel.values, [short(x) for x in picture.panel.values], fontsize=8)
            axes.minorticks_off()
        else:
            shortened(axes.xaxis)
