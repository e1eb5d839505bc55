"""From a learner at work to an ONNX file: rows, scores, labels and probabilities, and what the file says of itself."""

import json
from functools import singledispatch
from importlib.metadata import version
from typing import Any, cast

import numpy as np

from onkel.core.points import WIDE
from onkel.integrations.onnx.graph import Graph
from onkel.integrations.onnx.scoring import ScoringGraph
from onkel.learners import verbs
from onkel.model.answers import Answers, ClassAnswers, plain_answers
from onkel.model.calibration import AHEAD, RISE, Calibration
from onkel.model.columns import Columns
from onkel.model.numbers import NumberAnswers
from onkel.model.online import Online
from onkel.model.waiting import Waiting, bare
from onkel.pieces.scaler import BULK, FARTHEST, FLAT, GAP, HUGE, Scaler, Standardised
from onkel.recipes import Learner

F64 = np.float64


def to_onnx(online: Online, answers: Answers | None = None, columns: Columns | None = None) -> bytes:
    """The ONNX file of a learner at work, with what its scores and its columns mean, where that is known."""
    width, outputs = online.setting.n_features, online.setting.n_outputs
    answers = plain_answers(online.task, outputs, online.probable) if answers is None else answers
    columns = Columns(width=width) if columns is None else columns
    if width > WIDE:
        raise ValueError(f"Rows of ONNX are dense: a model of {width:,} columns, more than {WIDE:,}, is not exported.")
    model = bare(online.model)
    model = model.model if isinstance(model, Waiting) else model
    if model is None:
        raise ValueError("The model has not learned any row yet: there is nothing to export.")
    g = ScoringGraph(width, online.setting.dtype)
    rows = filled(g, columns)
    if isinstance(online.model, Standardised):
        rows = standardised(g, rows, online.model.scaler)
    found = verbs.graph_scores(model, g, g.cast(rows, g.real))
    told(answers, g, found)
    return g.packed(notes(online, answers, columns), version("onkel"))


def filled(g: Graph, columns: Columns) -> str:
    """Rows with something in place of what is missing; where rows are standardised, that is done there."""
    stand_in = columns.filled(np.full((1, g.width), np.nan), learns=False)
    known = ~np.isnan(stand_in)
    return g("Where", g("And", g("IsNaN", "rows"), known), np.nan_to_num(stand_in), "rows") if known.any() else "rows"


def notes(online: Online, answers: Answers, columns: Columns) -> dict[str, str]:
    """What the file says of itself."""
    lists = {"feature_names": columns.names, "classes": answers.classes}
    said = {"onkel_version": version("onkel"), "learner": repr(cast(Learner, online.learner)), "task": online.task}
    return said | {key: json.dumps(np.asarray(v).tolist()) for key, v in lists.items() if v is not None}


@singledispatch
def told(answers: Any, g: ScoringGraph, found: str) -> None:
    """Add what answers make of scores to the outputs of a graph."""
    raise ValueError(f"Answers of the type {type(answers).__name__} have no form in ONNX and are not exported.")


@told.register
def _(answers: NumberAnswers, g: ScoringGraph, found: str) -> None:
    g.output("prediction", g("Reshape", found, np.array([-1])), F64)


@told.register
def _(answers: ClassAnswers, g: ScoringGraph, found: str) -> None:
    """Labels, scores and probabilities, as `KernelClassifier` gives them."""
    classes, state = answers.classes, answers.calibration
    found = in_order(g, found, answers)
    outputs = 1 if answers.task == "binary" else len(classes)
    scaled = g("Mul", found, F64(np.exp(state.moves[0])))
    if outputs > 1:
        place, likely = g("ArgMax", found, axis=1, keepdims=0), g("Softmax", scaled, axis=1)
    elif len(classes) == 1:
        place = g.cast(g("Mul", g("ReduceSum", found, np.array([1]), keepdims=0), F64(0.0)), np.int64)
        likely = g("Add", g("Mul", g("ReduceSum", found, np.array([1])), F64(0.0)), F64(1.0))
    else:
        place = g.cast(g("Greater", g("Reshape", found, np.array([-1])), F64(0.0)), np.int64)
        likely = g("Concat", g.sigmoid(g("Neg", scaled)), g.sigmoid(scaled), axis=1)
    likely = put_right(g, place, likely, state, len(classes)) if len(classes) > 1 else likely
    g.output("label", g("Gather", classes, place), classes.dtype)
    g.output("scores", found, F64, outputs)
    g.output("probabilities", likely, F64, len(classes))


def in_order(g: Graph, found: str, answers: ClassAnswers) -> str:
    """Scores in the order of the classes."""
    if answers.order is None:
        return found
    if answers.task == "binary":
        return g("Neg", found) if answers.order[0] else found
    return g("Gather", found, answers.order, axis=1)


def put_right(g: ScoringGraph, place: str, likely: str, state: Calibration, count: int) -> str:
    """Probabilities with that of the answer as `calibration.put_right` makes it."""
    answer = g("Equal", g("Reshape", place, np.array([-1, 1])), np.arange(count))
    others = g("Where", answer, F64(0.0), likely)
    p, rest = (g("ReduceSum", part, np.array([1])) for part in (g("Where", answer, likely, F64(0.0)), others))
    second = g("ReduceMax", others, axes=[1])
    distance = g("Sub", g("Log", p), g("Log", g("Max", rest, F64(1e-300))))
    free = g.sigmoid(g("Add", g("Mul", distance, F64(np.exp(state.moves[1]))), F64(state.moves[2])))
    level = g("Div", second, g("Max", g("Add", rest, second), F64(1e-300)))
    later = g.cast(g("Greater", g("Reshape", place, np.array([-1, 1])), np.int64(0)), F64) if count == 2 else F64(1.0)
    ahead = g("Mul", level, g("Add", F64(1.0), g("Mul", later, F64(AHEAD))))
    q = g("Max", free, g("Add", level, g("Mul", g("Sub", p, level), F64(RISE))), ahead)
    even = g("Greater", rest, F64(0.0))
    shares = g("Where", even, g("Div", others, g("Max", rest, F64(1e-300))), F64(1.0 / (count - 1)))
    return g("Where", answer, q, g("Mul", g("Sub", F64(1.0), q), shares))


def standardised(g: Graph, rows: str, state: Scaler) -> str:
    """Rows as `scaler` places them: as compressed ones if such were learned, which leave no votes, else centred."""
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
