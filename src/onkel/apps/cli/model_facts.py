"""What a model file holds, for people and programs."""

from contextlib import suppress
from typing import Any, cast

import numpy as np

from onkel.apps.cli.session import plain
from onkel.core.trees import nbytes
from onkel.files.model_file import Stored
from onkel.model.columns import Columns
from onkel.model.relevance import relevance
from onkel.recipes import Learner

MOST = 12  # classes or columns that a line names


def facts(path: str, work: Stored) -> dict[str, Any]:
    """All that a person may want to know of a saved model, by name."""
    online, answers, columns = work.online, work.answers, work.columns
    learner = cast(Learner, online.learner)
    found: dict[str, Any] = {
        "model": path, "learner": learner.name, "parameters": plain(learner.get_params()), "task": online.task,
        "rows_learned": online.rows_learned, "features": columns.width, "dtype": np.dtype(online.setting.dtype).name,
        "seed": online.setting.seed, "model_bytes": nbytes(online.model), "missing": columns.missing,
        "takes_new_columns": columns.grows, "takes_new_classes": answers.grows,
    }  # fmt: skip
    found |= {} if answers.classes is None else {"classes": answers.classes.tolist()}
    found |= {} if columns.names is None else {"feature_names": columns.names}
    found |= table_facts(columns)
    with suppress(ValueError):
        widths = relevance(online.model)
        if columns.names is not None and len(widths) == len(columns.names):
            found["relevance"] = dict(zip(columns.names, widths.tolist(), strict=True))
    return found | ({"checkpoint": True} if "progress" in work.extra else {})


def table_facts(columns: Columns) -> dict[str, Any]:
    """How a table is read, where the model has learned one."""
    table = columns.table
    if table is None:
        return {}
    label = None if table.label is None else table.names[table.label]
    categories = {c.name: "hash" if c.how == "hash" else list(c.values) for c in table.categories}
    return {"label": label, "categorical": categories, **({"separator": table.separator} if table.separator else {})}


def shown(found: dict[str, Any]) -> str:
    """The same as a person reads it: a line each."""
    given = ", ".join(f"{key}={value}" for key, value in found["parameters"].items() if value is not None)
    lines = {
        "model": found["model"] + (" (a checkpoint)" if "checkpoint" in found else ""),
        "learner": f"{found['learner']}({given})",
        "task": found["task"],
        "classes": listed(found["classes"], found["takes_new_classes"]) if "classes" in found else None,
        "rows learned": f"{found['rows_learned']:,}",
        "columns": columns_line(found),
        "label": found.get("label"),
        "categories": listed([f"{name} ({how(values)})" for name, values in found.get("categorical", {}).items()]),
        "missing": found["missing"],
        "type and size": f"{found['dtype']}, {found['model_bytes'] / 1024:,.0f} KiB",
        "widest": widest(found.get("relevance", {})),
    }
    width = max(map(len, lines))
    return "\n".join(f"{name:{width}s}  {text}" for name, text in lines.items() if text)


def columns_line(found: dict[str, Any]) -> str:
    """How many columns there are, and their names."""
    grows = found["takes_new_columns"]
    if "feature_names" not in found:
        return f"{found['features']:,}, without names{', and new ones' if grows else ''}"
    return f"{found['features']:,}: {listed(found['feature_names'], grows)}"


def listed(parts: list[Any], more: bool = False) -> str:
    """The first of some names."""
    named = ", ".join(map(str, parts[:MOST])) + (f", ... ({len(parts):,} in all)" if len(parts) > MOST else "")
    return f"{named}, and new ones" if more else named


def how(values: Any) -> str:
    """How a column of text becomes numbers."""
    return "hashed" if values == "hash" else f"{len(values)} values"


def widest(widths: dict[str, float]) -> str:
    """The columns with the largest learned widths."""
    best = sorted(widths.items(), key=lambda pair: -pair[1])[:MOST]
    return ", ".join(f"{name} {width:.3g}" for name, width in best)
