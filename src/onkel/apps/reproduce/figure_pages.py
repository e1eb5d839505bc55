"""A figure made anew, for people and for programs: tables, claims, a Markdown page with pictures, plain numbers."""

from collections.abc import Iterator
from typing import Any

from onkel.apps.reproduce.claims import Lines
from onkel.apps.reproduce.drawing import Picture, pictures
from onkel.apps.reproduce.figures import FIGURES
from onkel.apps.reproduce.pages import PROTOCOLS, brief, command, extent, markdown_table, not_asked_for, simple
from onkel.apps.reproduce.results import TIES, Drawn, Point, Series
from onkel.apps.reproduce.spec import ROWS, Claim, Metric

FOLDER = "pictures"  # beside the page
SHOWN = 8  # points of a line along the rows that are in a table
LEGEND = (
    "The paper's figure has no printed numbers, so ours cannot be compared with them one by one; what its text says of "
    "the figure is under Claims. Figures are mean +- sample standard deviation, times CPU seconds of learning."
)
UNJUDGED = "to be judged from the picture"


def shown(line: Series) -> list[Point]:
    """The points for a table: all, or some along the rows."""
    if line.across != ROWS or len(line.points) <= SHOWN:
        return line.points
    return [line.points[(k + 1) * len(line.points) // SHOWN - 1] for k in range(SHOWN)]


def cells(picture: Picture, metric: Metric, runs: int) -> list[list[str]]:
    """A picture as text, what is across downwards; the first row is that of the names."""
    lines = picture.lines.values()
    rows = [[picture.panel.across or "", *picture.lines]]
    for points in zip(*(shown(line) for line in lines), strict=True):
        across = f"{points[0].x:,g}" if picture.panel.across else ""
        across = f"{points[0].x:,}" if picture.panel.across == ROWS else across
        rows.append([across, *(_cell(point, metric, runs) for point in points)])
    return rows


def _cell(point: Point, metric: Metric, runs: int) -> str:
    std = f" +- {point.ours.std:.{metric.digits}f}" if runs > 1 else ""
    return f"{point.ours.mean:.{metric.digits}f}{std}, {brief(point.seconds)} s"


def findings(result: Drawn) -> list[tuple[Claim, str, bool | None, str]]:
    """Each claim on each data set: whether it holds, and by which numbers; None where it is not judged."""
    figure, found = FIGURES[result.experiment], list[tuple[Claim, str, bool | None, str]]()
    for claim in figure.claims:
        for data in result.data:
            own = {(line.across, line.algorithm): line for line in result.lines if line.dataset == data.dataset}
            holds, said = (None, UNJUDGED) if claim.check is None else claim.check(Lines(figure.metric, own))
            found.append((claim, data.dataset, holds, said))
    return found


def verdict(claim: Claim, holds: bool | None) -> str:
    """A finding in few words, with the reason where a claim does not hold."""
    return "-" if holds is None else "holds" if holds else f"does not hold: {claim.why}"


def as_json(result: Drawn) -> dict[str, Any]:
    """All numbers by name."""
    figure = FIGURES[result.experiment]
    return {
        "experiment": result.experiment, "title": figure.title, "paper": figure.paper, "metric": figure.metric.name,
        "lower_is_better": figure.metric.lower_is_better, "protocol": figure.protocol, "runs": result.runs,
        "paper_runs": figure.runs, "limit": result.limit, "quick": result.quick,
        "data": [data._asdict() for data in result.data], "absent": result.absent,
        "not_asked_for": not_asked_for(result), "ties": TIES, "lines": [_plain(line) for line in result.lines],
        "claims": [
            {"claim": claim.text, "dataset": dataset, "holds": holds, "numbers": said, "verdict": verdict(claim, holds)}
            for claim, dataset, holds, said in findings(result)
        ],
    }  # fmt: skip


def _plain(line: Series) -> dict[str, Any]:
    points = [
        {
            "x": point.x, "ours": point.ours._asdict(), "seconds": point.seconds,
            "parameters": {key: simple(value) for key, value in point.parameters.items()},
        }
        for point in line.points
    ]  # fmt: skip
    return {**line._asdict(), "points": points}


def page(result: Drawn) -> str:
    """A Markdown page."""
    return "\n".join(_lines(result)).rstrip().replace("\n\n\n", "\n\n") + "\n"


def _lines(result: Drawn) -> Iterator[str]:
    figure = FIGURES[result.experiment]
    yield from (f"# {result.experiment}: {figure.title}", "")
    yield from (f"Paper: `{figure.paper}` (`src/onkel/papers.bib`). Figures: {figure.metric.name}.", "")
    yield from (f"{PROTOCOLS[figure.protocol]} {' '.join(figure.remarks)}".rstrip(), "")
    yield from (extent(result), "", LEGEND, "", f"Made by `{command(result)}`.", "")
    if result.data:
        yield "## Claims"
        found = [[claim.text, data, verdict(claim, holds), said] for claim, data, holds, said in findings(result)]
        yield from markdown_table(["the paper, in our words", "data set", "here", "by our numbers"], found)
    for picture in pictures(result):
        yield from (f"## {picture.title}", "", f"![{picture.title}]({FOLDER}/{picture.name}.svg)", "")
        names, *rows = cells(picture, figure.metric, result.runs)
        yield from markdown_table(names, rows)
    yield from _parameters(result)
    reasons = dict.fromkeys((line.across, line.algorithm, line.note) for line in result.lines if line.note)
    if reasons:
        yield from ("## Not reproduced", "", *(f"- {a} over {across}: {why}." for across, a, why in reasons), "")
    if result.absent:
        yield from ("## Not here", "", *(f"- {name}: {how}" for name, how in result.absent.items()), "")
    if left := not_asked_for(result):
        yield f"Not asked for: {', '.join(left)}."


def _parameters(result: Drawn) -> Iterator[str]:
    if not result.data:
        return
    yield "## Data and parameters"
    rows = [
        [d.dataset, d.name, f"{d.rows:,}", f"{d.paper_rows:,}" if d.paper_rows else "not in the figure", d.test or "-"]
        for d in result.data
    ]
    yield from markdown_table(["data set", "name here", "rows learned", "the paper's", "test part"], rows)
    learners = [
        [line.dataset, line.across or "-", line.algorithm, _learner(line)] for line in result.lines if line.points
    ]
    yield from markdown_table(["data set", "across", "algorithm", "learner"], learners)


def _learner(line: Series) -> str:
    """The recipe with its parameters; of one that differs along the line all values."""
    given = {}
    for key in line.points[0].parameters:
        values = dict.fromkeys(simple(point.parameters[key]) for point in line.points)
        given[key] = " / ".join(f"{value:.6g}" if isinstance(value, float) else str(value) for value in values)
    return f"`{line.learner}({', '.join(f'{key}={value}' for key, value in given.items())})`"
