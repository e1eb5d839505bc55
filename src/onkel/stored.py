"""Learners at work, in files: the snapshot of a model together with the recipe it came from.

A file is held against a fresh model of its recipe. A small file can name a recipe whose fresh model is enormous, so
that one is first made small and then grown, one parameter after the other, as long as it is no larger than what the
file holds.
"""

from collections.abc import Callable, Iterator
from typing import Any, cast

import numpy as np

from onkel import snapshot
from onkel.calibration import SETTLED, Calibration, calibration
from onkel.checks import fresh_model, problem_with
from onkel.intervals import no_errors
from onkel.learners.particles import Particles
from onkel.online import Online, Setting
from onkel.points import WIDE
from onkel.recipes import RECIPES, Learner, make_learner
from onkel.recipes.learner import DTYPES, TASKS
from onkel.snapshot import DAMAGE, SnapshotError, nbytes
from onkel.widths import Sample

TINY = 8  # what numbers of recipes are cut down to at first
AMPLE = 1 << 16  # bytes that any model may have
DEEPEST = 8  # learners inside of learners
MOST_COLUMNS = 1 << 31  # compressed rows number them by 32 bits


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


def _made(content: dict[str, Any], depth: int = 0) -> Learner:
    if content["learner"] not in RECIPES:
        raise SnapshotError(f"it was made by the recipe {content['learner']!r}, which is not known here.")
    if depth == DEEPEST:
        raise SnapshotError("its header is damaged.")
    params = {key: _made(v, depth + 1) if isinstance(v, dict) else v for key, v in content["parameters"].items()}
    return make_learner(content["learner"], **params)


def load_model(path: Any) -> tuple[Online, dict[str, Any]]:
    """A learner at work, and what was saved with it."""
    content = snapshot.read(path)
    try:
        return restored(content)
    except SnapshotError as error:
        raise SnapshotError(f"{path}: {error}") from None
    except DAMAGE:
        raise SnapshotError(f"{path}: its header is damaged.") from None


def _with_sureness(content: dict[str, Any]) -> dict[str, Any]:
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


def _with_means(content: dict[str, Any]) -> dict[str, Any]:
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


snapshot.UPGRADES[1] = _with_sureness
snapshot.UPGRADES[2] = _with_means


def load_closed(path: Any) -> tuple[Online, dict[str, Any]]:
    """The same, for a program whose rows have one width and whose classes are all known."""
    online, extra = load_model(path)
    if extra.get("open"):
        raise SnapshotError(f"{path}: it takes columns or classes in its own way: use it in Python.")
    return online, extra


def restored(content: dict[str, Any]) -> tuple[Online, dict[str, Any]]:
    """The same from the content of a file; raises `SnapshotError`, or one of `DAMAGE`."""
    learner, task, setting, model = _made(content), content["task"], _setting(content["setting"]), content["model"]
    if task not in TASKS or not isinstance(content["extra"], dict) or (setting.n_outputs > 1) != (task == "multiclass"):
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
    return Online(learner, task, setting, model), content["extra"]


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
    large = [(key, int(value)) for key, value in learner.get_params().items() if _is_large(value)]
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
    return isinstance(value, int | float) and value > TINY and float(value).is_integer()
