"""The pictures of a report, with matplotlib; one function for each."""

import io
import warnings
from collections.abc import Callable, Iterator
from typing import IO, Any

import numpy as np

INK = "#010203"  # stands for the colour of the text around a picture; in a page it becomes just that
COLOURS = ("#3b82c4", "#d9772b", "#3d9a5f", "#b5527a", "#8a6fc9", "#a08a2c", "#4aa8a8", "#c2544d")
SIZE = (6.4, 3.6)
LONGEST_NAME = 18  # characters of a name in a picture
MOST_NAMES = 24  # of classes or features that are written out

Reports = dict[str, dict[str, Any]]  # by the name of the learner


def figure() -> tuple[Any, Any]:
    """An empty picture and its axes."""
    made, (axes,) = side_by_side(1)
    return made, axes


def side_by_side(count: int, size: tuple[float, float] = SIZE) -> tuple[Any, list[Any]]:
    """An empty picture with several axes."""
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise ValueError("Pictures need the package matplotlib: `pip install onkel[plots]`.") from None
    made = Figure(figsize=size, layout="constrained")
    every = [made.add_subplot(1, count, place + 1) for place in range(count)]
    for axes in every:
        axes.spines[["top", "right"]].set_visible(False)
        axes.spines[["left", "bottom"]].set_color(INK)
        axes.tick_params(colors=INK, labelsize=9)
        axes.set_axisbelow(True)
        axes.grid(visible=True, color="#808080", alpha=0.25, linewidth=0.6)
        axes.set_prop_cycle(color=COLOURS)
    return made, every


def named(axes: Any, across: str, up: str, lines: int) -> None:
    """Write what the axes are; a legend where there are several lines."""
    axes.set_xlabel(across, color=INK)
    axes.set_ylabel(up, color=INK)
    if lines > 1:
        axes.legend(
            frameon=False, labelcolor=INK, fontsize=9, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=5
        )  # above the lines, so that it hides none of them


def shortened(axis: Any) -> None:
    """Numbers as 10k or 2M."""
    axis.set_major_formatter(lambda x, _: short(x))


def short(x: float) -> str:
    """A large number in few letters.

    >>> short(25_000), short(2_500_000), short(1_024)
    ('25k', '2.5M', '1,024')
    """
    text = f"{x / 1e6:g}M" if abs(x) >= 1e6 else f"{x / 1e3:g}k" if abs(x) >= 1e3 else f"{x:g}"
    return text if abs(x) < 1e3 or len(text) < 6 else f"{x:,.0f}"


def error_name(reports: Reports) -> str:
    return "mean squared error" if any("mse" in report for report in reports.values()) else "mistake rate"


def curves(reports: Reports, key: str, up: str) -> Any:
    """A number of the learning curve against the rows."""
    made, axes = figure()
    for name, report in reports.items():
        axes.plot([p["rows"] for p in report["curve"]], [p[key] for p in report["curve"]], label=name, linewidth=1.6)
    shortened(axes.xaxis)
    axes.set_ylim(bottom=0)
    named(axes, "rows", up, len(reports))
    return made


def error_so_far(reports: Reports) -> Any:
    return curves(reports, "error", f"{error_name(reports)}, all rows so far")


def error_in_window(reports: Reports) -> Any:
    return curves(reports, "window_error", f"{error_name(reports)}, last 1,000 rows")


def throughput(reports: Reports) -> Any:
    """Rows per second between two moments."""
    made, axes = figure()
    for name, report in reports.items():
        rows, seconds = (np.array([m[key] for m in report["history"]], float) for key in ("rows", "seconds"))
        rate = np.diff(rows, prepend=0.0) / np.maximum(np.diff(seconds, prepend=0.0), 1e-9)
        axes.plot(rows, rate, label=name, linewidth=1.2)
    shortened(axes.xaxis)
    axes.set_ylim(bottom=0)
    shortened(axes.yaxis)
    named(axes, "rows", "rows per second", len(reports))
    return made


def regret(reports: Reports) -> Any:
    """Errors beyond those of the learner that was best in the end, added up."""
    if len(reports) < 2:
        return None
    made, axes = figure()
    sums = {name: np.array([p["rows"] * p["error"] for p in report["curve"]]) for name, report in reports.items()}
    best = min(sums, key=lambda name: sums[name][-1])
    for name, report in reports.items():
        axes.plot([p["rows"] for p in report["curve"]], sums[name] - sums[best], label=name, linewidth=1.6)
    shortened(axes.xaxis)
    shortened(axes.yaxis)
    named(axes, "rows", f"regret against {best}", len(reports))
    return made


def weights(reports: Reports) -> Any:
    """Weights of experts over time, of the first learner that has some."""
    for name, report in reports.items():
        moments = [moment for moment in report["history"] if moment["weights"]]
        if moments:
            made, axes = figure()
            count = max(len(moment["weights"]) for moment in moments)
            for k in range(count):
                own = [moment["weights"][k] if k < len(moment["weights"]) else np.nan for moment in moments]
                axes.plot([moment["rows"] for moment in moments], own, label=f"expert {k + 1}", linewidth=1.4)
            shortened(axes.xaxis)
            axes.set_ylim(0, 1)
            named(axes, "rows", f"weight in {name}", count)
            return made
    return None


def widths(reports: Reports) -> Any:
    """Learned widths per feature, the largest first, of the first learner that has some."""
    for name, report in reports.items():
        if report.get("relevance"):
            values = np.array(report["relevance"])
            order = np.argsort(values)[::-1][:MOST_NAMES]
            made, axes = figure()
            axes.bar(range(len(order)), values[order], color=COLOURS[0])
            names = report.get("feature_names") or []
            labels = [str(names[j])[:LONGEST_NAME] if j < len(names) else str(j + 1) for j in order]
            turned = {"rotation": 60, "ha": "right"} if names else {}
            axes.set_xticks(range(len(order)), labels, fontsize=8, **turned)
            more = f" (the {len(order)} largest of {len(values)})" if len(values) > len(order) else ""
            named(axes, f"feature{more}", f"learned width in {name}", 1)
            return made
    return None


def confusion(reports: Reports) -> Any:
    """How often each class was taken for each, in shares of its rows, by the first learner."""
    name, report = next(iter(reports.items()))
    if "confusion" not in report:
        return None
    counts = np.array(report["confusion"], float)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    classes = report.get("classes") or range(len(counts))
    labels = [label if isinstance(label, str) else f"{label:g}" for label in classes]
    made, axes = figure()
    axes.grid(visible=False)
    axes.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    if len(counts) <= MOST_NAMES:
        axes.set_xticks(range(len(counts)), labels, fontsize=8)
        axes.set_yticks(range(len(counts)), labels, fontsize=8)
    if len(counts) <= 10:
        for i, j in np.ndindex(*counts.shape):
            colour = "white" if shares[i, j] > 0.5 else "#202020"
            axes.text(j, i, f"{100 * shares[i, j]:.0f} %", ha="center", va="center", fontsize=9, color=colour)
    named(axes, f"predicted by {name}", "class", 1)
    return made


def reliability(reports: Reports) -> Any:
    """How often answers were right against how often they claimed to be; larger points stand for more rows."""
    if not any(report.get("reliability") for report in reports.values()):
        return None
    made, axes = figure()
    axes.plot([0, 1], [0, 1], color=INK, linewidth=0.8, linestyle=(0, (4, 4)))
    for name, report in reports.items():
        bins = report["reliability"]
        share = np.array([one["rows"] for one in bins]) / max(report["rows"], 1)
        across, up = ([one[key] for one in bins] for key in ("claimed", "right"))
        (line,) = axes.plot(across, up, label=name, linewidth=1.2)
        axes.scatter(across, up, s=8 + 160 * share, color=line.get_color(), zorder=3, clip_on=False)
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    named(axes, "probability of the answer", "share of right answers", len(reports))
    return made


PICTURES: dict[str, Callable[[Reports], Any]] = {
    "Error so far": error_so_far,
    "Error in a window": error_in_window,
    "Regret": regret,
    "Throughput": throughput,
    "Weights of experts": weights,
    "Learned widths": widths,
    "Confusion": confusion,
    "Reliability": reliability,
}


def pictures(reports: Reports) -> dict[str, Any]:
    """All pictures that make sense for these reports, by title."""
    made = {title: draw(reports) for title, draw in PICTURES.items()}
    return {title: picture for title, picture in made.items() if picture is not None}


def _drawn(picture: Any, file: IO[Any], **how: Any) -> None:
    """Write a picture; letters that no font has are said by nobody, since the sentence would hold them."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"(?s)Glyph .* missing")
        picture.savefig(file, **how)


def as_svg(picture: Any, ink: str = "currentColor", paper: str = "none") -> str:
    """A picture as text, without what differs from run to run; unless told otherwise in the colours around it."""
    import matplotlib

    with matplotlib.rc_context({"svg.hashsalt": "onkel", "svg.fonttype": "none", "font.family": "sans-serif"}):
        file = io.StringIO()
        for axes in picture.axes:
            axes.set_facecolor("none")
        _drawn(picture, file, format="svg", facecolor=paper, metadata={"Date": None, "Creator": None})
    text = file.getvalue()
    return text[text.index("<svg") :].replace(INK, ink)


def files(made: dict[str, Any]) -> Iterator[tuple[str, bytes]]:
    """All pictures as names and contents of files, as PNG and as SVG."""
    for title, picture in made.items():
        name, png = title.lower().replace(" ", "-"), io.BytesIO()
        _drawn(picture, png, format="png", dpi=160, facecolor="white")
        yield f"{name}.png", png.getvalue()
        yield f"{name}.svg", as_svg(picture, "#202020", "white").encode()
