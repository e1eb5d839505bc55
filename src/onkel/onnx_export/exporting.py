"""From a learner at work to an ONNX file: rows, scores, labels and probabilities, and what the file says of itself."""

import json
from importlib.metadata import version
from typing import Any, cast

import numpy as np

from onkel.calibration import RISE, Calibration, calibration
from onkel.online import Online, Waiting, bare
from onkel.onnx_export.graph import Graph
from onkel.onnx_export.scoring import scores, sigmoid
from onkel.points import WIDE
from onkel.recipes import Learner
from onkel.scaling import BULK, FARTHEST, FLAT, GAP, HUGE, Scaler, Standardised
from onkel.streams.means import Means

F64 = np.float64


def to_onnx(online: Online, extra: dict[str, Any]) -> bytes:
    """The ONNX file of a learner at work, with what is saved beside it: classes, calibration, names, means."""
    width = online.setting.n_features
    if width > WIDE:
        raise ValueError(f"Rows of ONNX are dense: a model of {width:,} columns, more than {WIDE:,}, is not exported.")
    if extra.get("open"):
        raise ValueError("A model that takes columns, classes or missing numbers in its own way is not exported.")
    model = bare(online.model)
    model = model.model if isinstance(model, Waiting) else model
    if model is None:
        raise ValueError("The model has not learned any row yet: there is nothing to export.")
    g, rows = Graph(width, online.setting.dtype), "rows"
    if extra.get("means") is not None:
        means = Means.of(extra["means"]).fill(np.full((1, width), np.nan))
        rows = g("Where", g("IsNaN", rows), means, rows)
    if isinstance(online.model, Standardised):
        rows = standardised(g, rows, online.model.scaler)
    found = scores(model, g, g.cast(rows, g.real))
    if online.task == "regression":
        g.output("prediction", g("Reshape", found, np.array([-1])), F64)
    else:
        decided(g, found, online, extra)
    return g.packed(notes(online, extra), version("onkel"))


def notes(online: Online, extra: dict[str, Any]) -> dict[str, str]:
    """What the file says of itself."""
    lists = {key: extra[key] for key in ("feature_names", "classes") if extra.get(key) is not None}
    told = {"onkel_version": version("onkel"), "learner": repr(cast(Learner, online.learner)), "task": online.task}
    return told | {key: json.dumps(np.asarray(value).tolist()) for key, value in lists.items()}


def decided(g: Graph, found: str, online: Online, extra: dict[str, Any]) -> None:
    """Labels, scores and probabilities, as `KernelClassifier` gives them; labels without names are numbers."""
    outputs, classes, state = online.setting.n_outputs, extra.get("classes"), extra.get("calibration")
    classes = np.arange(max(2, outputs)) if classes is None else np.asarray(classes)
    state = state if isinstance(state, Calibration) else calibration(online.probable)
    scaled = g("Mul", found, F64(np.exp(state.moves[0])))
    if outputs > 1:
        place, likely = g("ArgMax", found, axis=1, keepdims=0), g("Softmax", scaled, axis=1)
    else:
        place = g.cast(g("Greater", g("Reshape", found, np.array([-1])), F64(0.0)), np.int64)
        likely = g("Concat", sigmoid(g, g("Neg", scaled)), sigmoid(g, scaled), axis=1)
    likely = put_right(g, place, likely, state, max(2, outputs))
    if len(classes) == 1:
        place, likely = g("Mul", place, np.int64(0)), g("ReduceSum", likely, np.array([1]))
    g.output("label", g("Gather", classes, place), classes.dtype)
    g.output("scores", found, F64, outputs)
    g.output("probabilities", likely, F64, len(classes))


def put_right(g: Graph, place: str, likely: str, state: Calibration, count: int) -> str:
    """Probabilities with that of the answer as `calibration.put_right` makes it."""
    answer = g("Equal", g("Reshape", place, np.array([-1, 1])), np.arange(count))
    others = g("Where", answer, F64(0.0), likely)
    p, rest = (g("ReduceSum", part, np.array([1])) for part in (g("Where", answer, likely, F64(0.0)), others))
    second = g("ReduceMax", others, axes=[1])
    distance = g("Sub", g("Log", p), g("Log", g("Max", rest, F64(1e-300))))
    free = sigmoid(g, g("Add", g("Mul", distance, F64(np.exp(state.moves[1]))), F64(state.moves[2])))
    level = g("Div", second, g("Max", g("Add", rest, second), F64(1e-300)))
    q = g("Max", free, g("Add", level, g("Mul", g("Sub", p, level), F64(RISE))))
    even = g("Greater", rest, F64(0.0))
    shares = g("Where", even, g("Div", others, g("Max", rest, F64(1e-300))), F64(1.0 / (count - 1)))
    return g("Where", answer, q, g("Mul", g("Sub", F64(1.0), q), shares))


def standardised(g: Graph, rows: str, state: Scaler) -> str:
    """Rows as `scaling` places them: as compressed ones if such were learned, which leave no votes, else centred."""
    x = g("Where", g("IsNaN", rows), rows, g("Clip", rows, F64(-HUGE), F64(HUGE)))
    v = divided(g, x, state) if state.count.any() and not state.hits.any() else centred(g, x, state)
    size = g("Abs", v)
    tail = g("Log", g("Sub", g("Max", size, F64(BULK)), F64(1.0)))
    far = g("Mul", g("Sign", v), g("Min", g("Add", tail, F64(BULK)), F64(FARTHEST)))
    squashed = g("Where", g("LessOrEqual", size, F64(BULK)), v, far)
    return g("Where", g("IsNaN", v), F64(0.0), squashed)


def centred(g: Graph, x: str, state: Scaler) -> str:
    """(x - mean) / sd, the number of most rows set apart from the others; 0 in constant columns."""
    count = np.maximum(state.count, 1.0)
    sd = np.sqrt(state.moment / count)
    varied = (state.count >= 2.0) & (sd > FLAT * np.abs(state.mean))
    sd = np.where(varied, sd, 1.0)
    lead = np.maximum(2.0 * state.hits / count - 1.0, 0.0)
    others, gap, offset = 0.5 * (1.0 - lead), GAP * lead, (state.mean - state.common) / sd
    middle = np.where(offset > 0.0, others, -others)
    root = np.sqrt(1.0 + gap * (1.0 - others) * (2.0 * np.abs(offset) + gap * others))
    v = g("Div", g("Sub", x, state.mean), sd)
    side = g("Sub", g("Sign", g("Sub", x, state.common)), middle)
    return g("Where", varied, g("Div", g("Add", v, g("Mul", side, gap)), root), F64(0.0))


def divided(g: Graph, x: str, state: Scaler) -> str:
    """x / root mean square of the numbers stored; the sign of x in columns without any, 0 where all were 0."""
    rms = np.sqrt(state.moment / np.maximum(state.count, 1.0))
    v = g("Where", rms > 0.0, g("Div", x, np.where(rms > 0.0, rms, 1.0)), F64(0.0))
    return g("Where", state.count == 0.0, g("Sign", x), v)
