"""A report as one HTML page: pictures inside, nothing fetched, light or dark as the reader has it."""

from html import escape
from importlib import resources
from string import Template
from typing import Any

from onkel.apps.report.pictures import Reports, as_svg, pictures

COLUMNS = {
    "learner": "learner",
    "rows": "rows",
    "mistake_rate": "mistake rate",
    "mse": "MSE",
    "log_loss": "log-loss",
    "calibration_error": "calibration error",
    "coverage": "in 90 % intervals",
    "interval_width": "width of these",
    "auc_window": "AUC, last 1,000",
    "rows_per_second": "rows/s",
    "model_bytes": "model, bytes",
    "best": "best fixed linear model",
    "regret": "regret to it",
}


def page(reports: Reports, source: str) -> str:
    """The text of the page for the runs of one or more learners on one stream."""
    made = pictures(reports)
    parts = [
        f"<figure><figcaption>{escape(title)}</figcaption>{as_svg(picture)}</figure>" for title, picture in made.items()
    ]
    template = Template(resources.files("onkel.apps.report").joinpath("page.html").read_text(encoding="utf-8"))
    return template.substitute(
        title=escape(f"onkel on {source}"), table=table(reports), notes=notes(reports), pictures="\n".join(parts),
        settings=settings(reports),
    )  # fmt: skip


def row_of(name: str, report: dict[str, Any]) -> dict[str, Any]:
    """The numbers of one line of the table."""
    found = {**report, "learner": name}
    if "hindsight" in report:
        found["best"] = report["hindsight"]["best"]
        found["regret"] = report["hindsight"]["error"] - report["hindsight"]["best"]
    return found


def table(reports: Reports) -> str:
    """A table that a click on a heading sorts; columns that nobody has are left out."""
    rows = [row_of(name, report) for name, report in reports.items()]
    keys = [key for key in COLUMNS if any(row.get(key) is not None for row in rows)]
    head = "".join(f"<th><button>{escape(COLUMNS[key])}</button></th>" for key in keys)
    lines = ["".join(cell(key, row.get(key)) for key in keys) for row in rows]
    body = "\n".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table>"


def notes(reports: Reports) -> str:
    """What the best fixed linear model is, and why a learner has none."""
    said = [
        f"{name} is compared with no best fixed linear model: {report['no_hindsight']}."
        for name, report in reports.items()
        if "no_hindsight" in report
    ]
    rows = max((report["hindsight"]["rows"] for report in reports.values() if "hindsight" in report), default=0)
    if rows:
        sample = f"The best fixed linear model is fitted by least squares to {rows:,} rows drawn from the stream"
        said.insert(0, f"{sample}, in the features that the learner has at the end; the regret is that on these rows.")
    return "\n".join(f"<p>{escape(sentence)}</p>" for sentence in said)


def cell(key: str, value: Any) -> str:
    """A value, with the number to sort by.

    >>> cell("rows", 12000)
    '<td data-by="12000">12,000</td>'
    """
    if value is None:
        return "<td></td>"
    if isinstance(value, str):
        return f"<td>{escape(value)}</td>"
    shown = f"{value:,.0f}" if key in ("rows", "rows_per_second", "model_bytes") else f"{value:.5g}"
    return f'<td data-by="{value}">{shown}</td>'


def settings(reports: Reports) -> str:
    """The parameters of each learner."""
    parts = []
    for name, report in reports.items():
        given = "".join(
            f"<tr><td>{escape(key)}</td><td>{escape(str(value))}</td></tr>"
            for key, value in report["parameters"].items()
        )
        parts.append(f"<details><summary>{escape(name)}</summary><table><tbody>{given}</tbody></table></details>")
    return "\n".join(parts)
