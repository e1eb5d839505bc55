"""What a person sees: a progress line while it learns, a table at the end."""

import sys
from time import perf_counter
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from onkel.core.terminal import printable
from onkel.evaluation.prequential import Tally

SHOWN = {
    "mistakes": "mistakes",
    "mistake_rate": "mistake rate",
    "log_loss": "log-loss",
    "calibration_error": "calibration error",
    "auc_window": "AUC, last 1,000 rows",
    "mse": "MSE",
    "rmse": "RMSE",
    "mae": "MAE",
    "coverage": "in 90 % intervals",
    "interval_width": "width of these",
}


class Display:
    """A progress line on standard error, only where that is a terminal."""

    def __init__(self, rows: int | None, quiet: bool, title: str = "") -> None:
        self.rows, self.start, self.title = rows, perf_counter(), title and f"{printable(title)}: "
        self.console = Console(stderr=True)
        shown = self.console.is_terminal and not quiet
        self.live = Live(console=self.console, refresh_per_second=8, transient=True) if shown else None

    def __enter__(self) -> "Display":
        if self.live is not None:
            self.live.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        if self.live is not None:
            self.live.__exit__(*error)

    def update(self, tally: Tally) -> None:
        """Show where the stream is."""
        if self.live is not None:
            self.live.update(Text(self.title + progress_line(tally, self.rows, perf_counter() - self.start)))

    @staticmethod
    def table(report: dict[str, Any], classes: Any) -> None:
        """The report as a short table on standard output."""
        table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
        for name, value in summary(report, classes):
            table.add_row(name, Text(printable(value)))
        Console(file=sys.stdout, highlight=False).print(table)


def progress_line(tally: Tally, rows: int | None, seconds: float) -> str:
    """Rows, rows per second, error so far, error in the last window."""
    of = f" of {rows:,}" if rows else ""
    task = tally.answers.task
    name = "MSE" if task == "regression" else "error"
    rate = tally.rows / max(seconds, 1e-9)
    recent, so_far = error_text(task, tally.window_error), error_text(task, tally.error)
    return f"{tally.rows:,}{of} rows  {rate:,.0f} rows/s  {name} {so_far}  last {tally.window:,}: {recent}"


def error_text(task: str, error: float) -> str:
    """A mistake rate in percent, or a number."""
    return f"{error:.6g}" if task == "regression" else f"{100 * error:.2f} %"


def summary(report: dict[str, Any], classes: Any) -> list[tuple[str, str]]:
    """Names and values of the table."""
    changed = ", ".join(f"{k}={v}" for k, v in report["parameters"].items() if v is not None)
    kind = report["task"] if classes is None else f"{report['task']}, {len(classes)} classes"
    lines = [("learner", report["learner"]), ("parameters", changed), ("task", kind), ("rows", f"{report['rows']:,}")]
    if "task_guessed" in report:
        lines.insert(3, ("a guess", report["task_guessed"]))
    for key, name in SHOWN.items():
        if report.get(key) is not None:
            lines.append((name, shown(key, report[key])))
    lines.append(("rows per second", f"{report['rows_per_second']:,.0f}"))
    lines.append(("model", f"{report['model_bytes'] / 1024:,.0f} KiB"))
    test = report.get("test", {})
    lines += [(f"test {name}", shown(key, test[key])) for key, name in SHOWN.items() if test.get(key) is not None]
    return lines


def shown(key: str, value: Any) -> str:
    """A value as it appears in the table."""
    if key == "mistakes":
        return f"{value:,}"
    return f"{100 * value:.2f} %" if key in ("mistake_rate", "coverage") else f"{value:.5g}"
