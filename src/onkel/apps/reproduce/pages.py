"""A result for people and for programs: cells of text, a Markdown page, and plain numbers."""

from collections.abc import Iterator
from typing import Any

from onkel.apps.reproduce.experiments import EXPERIMENTS
from onkel.apps.reproduce.figures import FIGURES
from onkel.apps.reproduce.results import FAR, TIES, UNEXPLAINED, Drawn, Line, Result
from onkel.apps.reproduce.spec import Experiment, Figure

HEADINGS = ("data set", "algorithm", "ours", "paper", "difference", "time", "paper's time", "")
KNOWN: dict[str, Experiment | Figure] = {**EXPERIMENTS, **FIGURES}
CHOICE = "on the first 5,000 rows of one more permutation"
PROTOCOLS = {
    "progressive": "One pass over random permutations, the same for all algorithms: each row is predicted, then "
    f"learned. Parameters with several values to choose from have the least error {CHOICE}.",
    "held out": "Learning in random permutations, the same for all algorithms, then predicting the test rows. "
    f"Parameters with several values to choose from come from five-fold cross-validation {CHOICE}.",
    "blocks": "Rows in a random permutation: an initial part, in the paper's proportion, is learned, then the others "
    "come in blocks of 1,000 (of a twentieth of the stream, if that is less), each predicted and then learned. "
    f"Parameters with several values to choose from come from five-fold cross-validation {CHOICE}.",
}
LEGEND = (
    "Figures are mean +- sample standard deviation. The difference is ours less the paper's in the paper's standard "
    "deviations; where the paper prints none, or 0, in ours, or in the rounding of its print if that is larger. Times "
    "are CPU time of learning over that of the first algorithm of the data set, ours and the paper's."
)


def brief(number: float) -> str:
    """Two digits, and all before the point.

    >>> brief(0.0123), brief(152.3)
    ('0.012', '152')
    """
    return f"{number:.2g}" if number < 10 else f"{number:.0f}"


def cells(result: Result, line: Line) -> list[str]:
    """A line as text, under `HEADINGS`."""
    digits = EXPERIMENTS[result.experiment].metric.digits
    ours = "-" if line.ours is None else f"{line.ours.mean:.{digits}f}"
    if line.ours is not None and line.runs > 1:
        ours += f" +- {line.ours.std:.{digits}f}"
    paper = "-" if line.paper is None else f"{line.paper.value:g}"
    if line.paper is not None and line.paper.std is not None:
        paper += f" +- {line.paper.std:g}"
    difference = "-" if line.difference is None else f"{line.difference:+.1f}"
    times = ["-" if time is None else brief(time) for time in result.relative(line)]
    return [line.dataset, line.algorithm, ours, paper, difference, *times, remark(result, line)]


def remark(result: Result, line: Line) -> str:
    """Better or worse, and why; nothing for a line that agrees."""
    if line.ours is None or line.difference is None or not line.far:
        return line.remark
    lower = EXPERIMENTS[result.experiment].metric.lower_is_better
    return f"{'better' if (line.difference < 0.0) == lower else 'worse'}: {line.remark}"


def summary(result: Result) -> str:
    """How many lines agree, in a sentence."""
    compared = [line for line in result.lines if line.difference is not None]
    far = [line for line in compared if line.far]
    unexplained = sum(line.remark.startswith(UNEXPLAINED) for line in far)
    return (
        f"{len(compared) - len(far)} of {len(compared)} figures are within {FAR:g} standard deviations of the paper's; "
        f"of the other {len(far)}, {unexplained} {'is' if unexplained == 1 else 'are'} unexplained."
    )


def extent(result: Result | Drawn) -> str:
    """How much was done, in a sentence or two."""
    text = f"{result.runs} run{'s' if result.runs != 1 else ''} (the paper: {KNOWN[result.experiment].runs})"
    text += f", at most {result.limit:,} rows of each data set." if result.limit else ", all rows."
    return f"Quick: only to see that it works, not to be compared. {text}" if result.quick else text


def not_asked_for(result: Result | Drawn) -> list[str]:
    """The other data sets of the paper."""
    asked = {*result.absent, *(data.dataset for data in result.data)}
    return [name for name in KNOWN[result.experiment].sources if name not in asked]


def as_json(result: Result) -> dict[str, Any]:
    """All numbers by name."""
    experiment = EXPERIMENTS[result.experiment]
    return {
        "experiment": result.experiment, "title": experiment.title, "paper": experiment.paper,
        "metric": experiment.metric.name, "lower_is_better": experiment.metric.lower_is_better,
        "protocol": experiment.protocol, "runs": result.runs, "paper_runs": experiment.runs, "limit": result.limit,
        "quick": result.quick, "data": [data._asdict() for data in result.data], "absent": result.absent,
        "not_asked_for": not_asked_for(result),
        "ties": TIES, "lines": [plain(result, line) for line in result.lines],
    }  # fmt: skip


def plain(result: Result, line: Line) -> dict[str, Any]:
    """A line as numbers and text."""
    ours, theirs = result.relative(line)
    return {
        "dataset": line.dataset, "algorithm": line.algorithm, "learner": line.learner, "runs": line.runs,
        "rows": line.rows, "parameters": {key: simple(value) for key, value in line.parameters.items()},
        "ours": line.ours and line.ours._asdict(), "paper": line.paper and line.paper._asdict(),
        "difference": line.difference, "seconds": line.seconds, "relative_time": ours,
        "paper_relative_time": theirs, "far": line.far, "remark": remark(result, line),
    }  # fmt: skip


def simple(value: Any) -> Any:
    """Numbers and short text as they are, anything else by how many there are of it."""
    return value if isinstance(value, int | float | str) else f"{len(value)} kernels"


def page(result: Result) -> str:
    """A Markdown page."""
    return "\n".join(_lines(result)).rstrip().replace("\n\n\n", "\n\n") + "\n"


def _lines(result: Result) -> Iterator[str]:
    experiment = EXPERIMENTS[result.experiment]
    yield from (f"# {result.experiment}: {experiment.title}", "")
    yield from (f"Paper: `{experiment.paper}` (`src/onkel/papers.bib`). Figures: {experiment.metric.name}.", "")
    yield from (f"{PROTOCOLS[experiment.protocol]} {' '.join(experiment.remarks)}".rstrip(), "")
    yield from (f"{extent(result)} {summary(result)}", "", LEGEND, "")
    yield from (f"Made by `{command(result)}`.", "")
    if result.data:
        yield "## Figures"
        yield from markdown_table([*HEADINGS[:-1], "remark"], [cells(result, line) for line in result.lines])
        yield "## Data and parameters"
        counts = [[d.dataset, d.name, f"{d.rows:,}", f"{d.paper_rows:,}", d.test or "-"] for d in result.data]
        yield from markdown_table(["data set", "name here", "rows learned", "the paper's", "test part"], counts)
        yield from markdown_table(["data set", "algorithm", "learner"], [*map(_learner, result.lines)])
    if result.absent:
        yield from ("## Not here", "", *(f"- {name}: {how}" for name, how in result.absent.items()), "")
    if left := not_asked_for(result):
        yield f"Not asked for: {', '.join(left)}."


def _learner(line: Line) -> list[str]:
    shown = {key: simple(value) for key, value in line.parameters.items()}
    given = ", ".join(f"{key}={f'{value:g}' if isinstance(value, float) else value}" for key, value in shown.items())
    return [line.dataset, line.algorithm, f"`{line.learner}({given})`" if line.learner else "-"]


def command(result: Result | Drawn) -> str:
    """The command that makes the page."""
    options = [f"--datasets {','.join(data.dataset for data in result.data)}"] if result.data else []
    options += [f"--runs {result.runs}"]
    options += ["--quick"] if result.quick else [f"--limit {result.limit}"] if result.limit else []
    return " ".join(["onkel reproduce", result.experiment, *options])


def markdown_table(headings: list[str], rows: list[list[str]]) -> Iterator[str]:
    """A table and an empty line before and after it."""
    yield from ("", f"| {' | '.join(headings)} |", "|---" * len(headings) + "|")
    yield from (f"| {' | '.join(row)} |" for row in rows)
    yield ""
