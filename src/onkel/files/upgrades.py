"""Model files of older versions: what makes the content of one version that of the next."""

from collections.abc import Callable
from typing import Any

import numpy as np

from onkel.learners.mixed import Mixed
from onkel.learners.particles import Particles
from onkel.model.calibration import SETTLED, Calibration, calibration
from onkel.model.intervals import Errors, no_errors
from onkel.pieces.scaler import Scaler

Content = dict[str, Any]


def with_sureness(content: Content) -> Content:
    """Version 2: probabilities have two more numbers, and regressions the errors that intervals are made from."""
    extra = content.get("extra")
    if not isinstance(extra, dict):
        return content
    known = extra.get("calibration")
    if isinstance(known, Calibration) and np.shape(known.moves) == np.shape(known.energy) == (1,):
        slope, energy = float(known.moves[0]), float(known.energy[0])
        wider = calibration(probable=energy >= SETTLED)
        wider.moves[0], wider.energy[0] = slope, energy
        extra = {**extra, "calibration": wider}
    errors = {"errors": no_errors()} if content.get("task") == "regression" else {}
    return {**content, "extra": extra | errors}


def with_running_mean(content: Content) -> Content:
    """Version 3: particles answer by a mean of their weights, before by the last ones; steps were of other lengths."""
    rates = list[float]()

    def newer(tree: Any) -> Any:
        if isinstance(tree, Particles):
            rates.append(tree.rate)
            return tree._replace(steady=np.array(tree.weights))
        of_particles = isinstance(tree, dict) and "n_particles" in tree
        return {**tree, "eta": rates[0], "tail": 0.0} if of_particles else tree

    model = _mapped(content["model"], newer)
    return {**_mapped({**content, "model": None}, newer), "model": model}


def _mapped(tree: Any, change: Callable[[Any], Any]) -> Any:
    """What `change` makes of a tree, of all whose parts it was asked before."""
    if isinstance(tree, dict):
        return change({key: _mapped(part, change) for key, part in tree.items()})
    if hasattr(tree, "_fields"):
        return change(type(tree)(*(_mapped(part, change) for part in tree)))
    return tuple(_mapped(part, change) for part in tree) if isinstance(tree, tuple) else tree


def with_answers_and_columns(content: Content) -> Content:
    """Version 4: what scores and columns mean has two places of its own; before, it was spread over `extra`."""
    extra, setting = content["extra"], content["setting"]
    opened = extra.get("open", {})
    kept = {key: extra[key] for key in ("epochs", "values") if extra.get(key)}
    if "progress" in extra:
        kept["progress"] = _progress(extra["progress"])
    answers = _answers(content["task"], setting["n_outputs"], extra, opened)
    return {**content, "answers": answers, "columns": _columns(extra, opened), "extra": kept}


def with_counts_of_shocks(content: Content) -> Content:
    """Version 5: statistics count numbers of another scale, and `auto` the weights of its rows."""

    def newer(tree: Any) -> Any:
        if isinstance(tree, Scaler) and tree.away is None:
            return tree._replace(away=np.zeros(np.shape(tree.count)))
        if isinstance(tree, Mixed) and tree.weighed is None:
            return tree._replace(weighed=np.repeat(np.float64(np.ravel(tree.clock)[:1]), 2))
        return tree

    return {**content, "model": _mapped(content["model"], newer)}


def _answers(task: str, n_outputs: int, extra: Content, opened: Content) -> Content:
    if task == "regression":
        errors = extra.get("errors")
        return {"errors": errors if isinstance(errors, Errors) else no_errors()}
    classes = extra.get("classes")
    classes = np.arange(max(2, n_outputs)) if classes is None else classes
    return {
        "classes": classes, "grows": opened.get("classes") == "grow", "order": opened.get("order"),
        "class_weight": opened.get("class_weight"), "counts": opened.get("counts", np.zeros(max(2, len(classes)))),
        "calibration": extra.get("calibration", calibration()),
    }  # fmt: skip


def _columns(extra: Content, opened: Content) -> Content:
    names, means = extra.get("feature_names"), opened.get("means", extra.get("means"))
    missing = opened.get("missing", "error" if means is None else "mean")
    return {
        "names": names, "grows": opened.get("features") == "grow", "missing": missing, "means": means, "table": None,
    }  # fmt: skip


def _progress(progress: Any) -> Any:
    """A checkpoint's errors: how sure answers are belongs to the answers now."""
    if not isinstance(progress, dict):
        return progress
    tally = progress["tally"]
    metrics = tuple({key: part for key, part in one.items() if key != "state"} for one in tally["metrics"])
    return {**progress, "tally": {**tally, "metrics": metrics}}


UPGRADES = {1: with_sureness, 2: with_running_mean, 3: with_answers_and_columns, 4: with_counts_of_shocks}
