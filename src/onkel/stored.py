"""Learners at work, in files: the snapshot of a model together with the recipe it came from."""

from typing import Any, cast

import numpy as np

from onkel import snapshot
from onkel.checks import problem_with
from onkel.online import Online, Setting
from onkel.recipes import RECIPES, Learner, make_learner
from onkel.recipes.learner import DTYPES, TASKS
from onkel.snapshot import SnapshotError


def save_model(path: Any, online: Online, extra: dict[str, Any]) -> None:
    """Write a learner at work and whatever else belongs to it."""
    learner, setting = cast(Learner, online.learner), online.setting
    content = {
        **_described(learner),
        "task": online.task,
        "setting": setting._replace(dtype=np.dtype(setting.dtype).name)._asdict(),
        "model": online.model,
        "extra": extra,
    }
    snapshot.write(path, content)


def _described(learner: Learner) -> dict[str, Any]:
    params = learner.get_params(deep=False)
    plain = {key: _described(value) if isinstance(value, Learner) else value for key, value in params.items()}
    return {"learner": learner.name, "parameters": plain}


def _made(content: dict[str, Any]) -> Learner:
    if content["learner"] not in RECIPES:
        raise SnapshotError(f"it was made by the recipe {content['learner']!r}, which is not known here.")
    params = {key: _made(v) if isinstance(v, dict) else v for key, v in content["parameters"].items()}
    return make_learner(content["learner"], **params)


def load_model(path: Any) -> tuple[Online, dict[str, Any]]:
    """A learner at work, and what was saved with it."""
    content = snapshot.read(path)
    try:
        return _restored(content)
    except SnapshotError as error:
        raise SnapshotError(f"{path}: {error}") from None
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        raise SnapshotError(f"{path}: its header is damaged.") from None


def load_closed(path: Any) -> tuple[Online, dict[str, Any]]:
    """The same, for a program whose rows have one width and whose classes are all known."""
    online, extra = load_model(path)
    if extra.get("open"):
        raise SnapshotError(f"{path}: it takes columns or classes in its own way: use it in Python.")
    return online, extra


def _restored(content: dict[str, Any]) -> tuple[Online, dict[str, Any]]:
    learner, task = _made(content), content["task"]
    if task not in TASKS or content["setting"]["dtype"] not in DTYPES:
        raise SnapshotError("its header is damaged.")
    setting = Setting(**content["setting"])
    setting = setting._replace(dtype=np.dtype(setting.dtype))
    if not isinstance(content["extra"], dict) or (setting.n_outputs > 1) != (task == "multiclass"):
        raise SnapshotError("its header is damaged.")
    online = learner.start(
        setting.n_features, task, setting.n_outputs, setting.dtype, setting.seed, missing=setting.missing
    )
    problem = problem_with(content["model"], online)
    if problem:
        raise SnapshotError(f"its parts do not fit together: {problem}.")
    online.model = content["model"]
    return online, content["extra"]
