"""Learners at work, in files: the snapshot of a model, the recipe it came from, and what scores and columns mean.

A file is held against a fresh model of its recipe. A small file can name a recipe whose fresh model is enormous, so
that one is first made small and then grown, one parameter after the other, as long as it is no larger than what the
file holds.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple, cast

import numpy as np

from onkel.core.checking import short
from onkel.core.points import WIDE
from onkel.core.ranges import MOST
from onkel.core.trees import nbytes
from onkel.files import snapshot
from onkel.files.snapshot import DAMAGE, SnapshotError
from onkel.files.upgrades import UPGRADES
from onkel.files.validation import fresh_model, problem_with
from onkel.model.answers import Answers, answers_from, plain_answers
from onkel.model.columns import Columns, columns_from
from onkel.model.online import Online, Setting
from onkel.pieces.bandwidth import Sample
from onkel.recipes import RECIPES, Learner, make_learner
from onkel.recipes.learner import DTYPES, TASKS

TINY = 8  # what numbers of recipes are cut down to at first
AMPLE = 1 << 16  # bytes that any model may have
BEYOND = 2**53  # nothing has such a size: larger numbers of recipes are grown no further
DEEPEST = 8  # learners inside of learners
MOST_COLUMNS = 1 << 31  # compressed rows number them by 32 bits


snapshot.UPGRADES |= UPGRADES


class Stored(NamedTuple):
    """What a file holds: a learner at work, what its scores and its columns mean, and what else was saved with it."""

    online: Online
    answers: Answers
    columns: Columns
    extra: dict[str, Any]


def save_model(
    path: Any, online: Online, answers: Answers | None = None, columns: Columns | None = None,
    extra: dict[str, Any] | None = None,
) -> None:  # fmt: skip
    """Write a learner at work; without answers, its classes are numbers, and without columns, they have no names."""
    learner, setting = cast(Learner, online.learner), online.setting
    answers = plain_answers(online.task, setting.n_outputs, online.probable) if answers is None else answers
    columns = Columns(width=setting.n_features) if columns is None else columns
    content = {
        **_described(learner),
        "task": online.task,
        "setting": setting._replace(dtype=np.dtype(setting.dtype).name)._asdict(),
        "model": online.model,
        "answers": answers.content(),
        "columns": columns.content(),
        "extra": {} if extra is None else extra,
    }
    snapshot.write(path, content)


def _described(learner: Learner) -> dict[str, Any]:
    params = learner.get_params(deep=False)
    plain = {key: _described(value) if isinstance(value, Learner) else value for key, value in params.items()}
    return {"learner": learner.name, "parameters": plain}


def _made(content: dict[str, Any], depth: int = 0) -> Learner:
    if content["learner"] not in RECIPES:
        raise SnapshotError(f"it was made by the recipe {short(content['learner'])}, which is not known here.")
    if depth == DEEPEST:
        raise SnapshotError("its header is damaged.")
    params = {key: _made(v, depth + 1) if isinstance(v, dict) else v for key, v in content["parameters"].items()}
    return make_learner(content["learner"], **params)


def load_model(path: Any) -> Stored:
    """A learner at work, and all that was saved with it."""
    content = snapshot.read(path)
    try:
        return restored(content)
    except SnapshotError as error:
        raise SnapshotError(f"{path}: {error}") from None
    except DAMAGE:
        raise SnapshotError(f"{path}: its header is damaged.") from None


def restored(content: dict[str, Any]) -> Stored:
    """The same from the content of a file; raises `SnapshotError`, or one of `DAMAGE`."""
    learner, task, setting, model = _made(content), content["task"], _setting(content["setting"]), content["model"]
    if task not in TASKS or not _usual(content["extra"]) or (setting.n_outputs > 1) != (task == "multiclass"):
        raise SnapshotError("its header is damaged.")
    if setting.missing == "mean" and not learner.plan(task).standardise:
        raise SnapshotError("its header is damaged.")
    quick = _quick(learner)
    for smaller, stream in _growing(quick, task, setting):
        if nbytes(fresh_model(model, Online(smaller, task, stream, model))) > AMPLE + 2 * nbytes(model):
            raise SnapshotError("its recipe asks for a model larger than the one it holds.")
    problem = problem_with(model, Online(quick, task, setting, model))
    if problem:
        raise SnapshotError(f"its parts do not fit together: {problem}.")
    online = Online(learner, task, setting, model)
    answers = answers_from(content["answers"], online)
    columns = columns_from(content["columns"], setting.n_features)
    if (columns.means is not None) != (columns.missing == "mean" and setting.missing == "error"):
        raise SnapshotError("its header is damaged.")
    return Stored(online, answers, columns, content["extra"])


def _usual(extra: Any) -> bool:
    """Whether what else was saved is what an estimator or a run saves; a run checks its progress when it goes on."""
    if not isinstance(extra, dict):
        return False
    fit, values = extra.get("fit", {}), extra.get("values", {})
    if not isinstance(fit, dict) or not fit.keys() <= {"epochs", "shuffle"} or not isinstance(values, dict):
        return False
    epochs, listed = fit.get("epochs", "auto"), all(isinstance(one, tuple) for one in values.values())
    passes = not isinstance(epochs, str) and 1 <= epochs <= MOST
    words = all(isinstance(value, str) for one in values.values() for value in one) if listed else False
    return words and (passes or epochs == "auto") and isinstance(fit.get("shuffle", True), int)


def _setting(given: dict[str, Any]) -> Setting:
    """What a learner knew of its stream, checked."""
    setting = Setting(**given)
    whole = all(type(number) is int for number in (setting.n_features, setting.n_outputs, setting.seed))
    words = setting.dtype in DTYPES and setting.missing in ("error", "mean")
    if not (whole and words and 0 < setting.n_features < MOST_COLUMNS and setting.n_outputs > 0):
        raise SnapshotError("its header is damaged.")
    return setting._replace(dtype=np.dtype(setting.dtype))


def _quick(learner: Learner) -> Learner:
    """A learner whose fresh models are of the same types and sizes, but are made without solving anything."""
    slow = {key: "iid" for key, value in learner.get_params().items() if value == "orthogonal"}
    return learner.__sklearn_clone__().set_params(**slow)


def _growing(learner: Learner, task: str, setting: Setting) -> Iterator[tuple[Learner, Setting]]:
    """The learner and its stream with all numbers cut down, then with one after the other doubled up to its own.

    No fresh model has more than twice the size of the one before; the last step, to the numbers themselves, is left
    out. Larger numbers come first, since some must not be below others, and columns last, since they cost most. Of very
    wide rows nothing is kept per column but in partitions.
    """
    large = [(key, int(min(value, BEYOND))) for key, value in learner.get_params().items() if _is_large(value)]
    wanted = dict(sorted(large, key=lambda one: -one[1]))
    wide = setting.n_features > WIDE and not isinstance(learner.plan(task).kernel, Sample)
    wanted |= {"n_outputs": setting.n_outputs} | ({} if wide else {"n_features": setting.n_features})
    now = {key: min(number, TINY) for key, number in wanted.items()}
    for key, number in wanted.items():
        while now[key] < number:
            stream = setting._replace(n_outputs=now["n_outputs"], n_features=now.get("n_features", setting.n_features))
            params = {name: value for name, value in now.items() if name not in stream._fields}
            yield learner.__sklearn_clone__().set_params(**params), stream
            now[key] = min(2 * now[key], number)


def _is_large(value: Any) -> bool:
    """Whether a parameter is a whole number that may be the size of something."""
    return isinstance(value, int | float) and TINY < value < np.inf and int(value) == value
