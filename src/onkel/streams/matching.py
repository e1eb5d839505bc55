"""Another table for a model that has learned one: columns are found by their names, wherever they stand.

Positions count where one of the two tables has no names; then the width must fit. Labels need not be there.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from onkel.streams.block import StreamError
from onkel.streams.columns import Category, Missing, Plan, position_of, shown

LISTED = 20  # columns that a sentence names


def plan_of_names(names: Sequence[str], missing: Missing = "error") -> Plan:
    """The plan of a model that knows the names of its columns, but has not learned them from a table."""
    return Plan(None, tuple(range(len(names))), (), tuple(names), missing, 1)


def place_of(column: Any, names: Sequence[str]) -> int | None:
    """Position of a column that need not be there."""
    try:
        return position_of(column, names)
    except StreamError:
        return None


def wanted(plan: Plan) -> tuple[int, ...]:
    """Positions of the columns that become features."""
    return (*plan.numeric, *(category.position for category in plan.categories))


def matched(plan: Plan, names: Sequence[str], named: bool, label: Any = None) -> Plan:
    """The plan for a table with these columns; `label` names its label column where the model does not know one.

    Examples
    --------
    >>> plan = Plan(2, (0, 1), (), ("a", "b", "y"), "error", 256)
    >>> matched(plan, ["y", "id", "b", "a"], named=True)[:2], matched(plan, ["x1", "x2"], named=False)[:2]
    ((0, (3, 2)), (None, (0, 1)))
    """
    by_names = plan.named and named
    known = None if plan.label is None else plan.names[plan.label]
    own = None if label in (None, known) or (known is not None and not by_names) else position_of(label, names)
    places = by_name(plan, names) if by_names else by_position(plan, len(names), own)
    return plan._replace(
        label=own if plan.label is None else places.get(plan.label, own),
        numeric=tuple(places[position] for position in plan.numeric),
        categories=tuple(category._replace(position=places[category.position]) for category in plan.categories),
        names=tuple(names),
        named=named,
    )


def by_name(plan: Plan, names: Sequence[str]) -> dict[int, int]:
    """Where the columns of a plan stand among these names; all but the label must be there."""
    at = {name: position for position, name in enumerate(names)}
    for position in wanted(plan):
        if plan.names[position] not in at:
            there = ", ".join(map(shown, names[:LISTED])) + ", ..." * (len(names) > LISTED)
            raise StreamError(f"there is no column {shown(plan.names[position])}; there are {there}.")
    return {position: at[name] for position, name in enumerate(plan.names) if name in at}


def by_position(plan: Plan, width: int, label: int | None) -> dict[int, int]:
    """Where they stand in a table of that width that has no names, or for a plan that has none."""
    known = len(plan.names)
    if width == known and (plan.label is not None or label is None):
        return {position: position for position in range(known)}
    if plan.label is not None and width == known - 1:  # the column of the label is not there
        rest = [position for position in range(known) if position != plan.label]
        return {position: place for place, position in enumerate(rest)}
    if plan.label is None and label is not None and width == known + 1:
        rest = [place for place in range(width) if place != label]
        return dict(enumerate(rest))
    without = "" if plan.label is None else f", or {known - 1} without labels"
    raise StreamError(f"{width} columns, which have no names in common with the model's {known}{without}.")


def left_out(plan: Plan, before: Plan) -> list[str]:
    """Names of the columns of a table that a model did not find in its own, which it held against this one."""
    return [name for name in plan.names if name not in before.names] if plan.named and before.named else []


def contradiction(asked: Mapping[str, Any], plan: Plan, before: Plan, missing: str) -> str:
    """What is asked for that a model has learned otherwise, in one sentence; empty where nothing is.

    `plan` is the one `before`, the model's, held against the table at hand.
    """
    names, used = plan.names, set(wanted(plan))
    if "label" in asked and not _same_label(asked["label"], plan, before):
        return _said("label", _label_of(before))
    if asked.get("columns") and {place_of(column, names) for column in asked["columns"]} != used:
        return _said("columns", ", ".join(names[position] for position in sorted(used)))
    dropped = [column for column in asked.get("drop", ()) if place_of(column, names) in used]
    if dropped:
        return _said("drop", f"column {shown(str(dropped[0]))}")
    for column, how in asked.get("categorical", {}).items():
        own = {category.position: category for category in plan.categories}.get(position_of(column, names))
        if own is None or not _agrees(own, how):
            return _said("categorical", "numbers there" if own is None else f"{column}={_how(own)}")
    if asked.get("missing") not in (None, missing):
        return _said("missing", f"--missing {missing}")
    if plan.n_hashed and asked.get("hash_columns") not in (None, plan.hash_columns):
        return _said("hash-columns", str(plan.hash_columns))
    return ""


def _same_label(asked: Any, plan: Plan, before: Plan) -> bool:
    """Whether labels in that column are those that a model has learned, as far as it knows."""
    place = place_of(asked, plan.names)
    if plan.named and before.named and before.label is not None:
        own = before.names[before.label]
        return asked == own or (place is not None and plan.names[place] == own)
    return plan.label is None or (place == plan.label and place not in wanted(plan))


def _label_of(before: Plan) -> str:
    if before.label is None:
        return "that column as a feature"
    return shown(before.names[before.label]) if before.named else "labels in another column"


def another_separator(own: str) -> str:
    """The same where another separator is asked for than a model's own."""
    return _said("separator", repr(own))


def _agrees(category: Category, how: Any) -> bool:
    if isinstance(how, str):
        return how == "auto" or (how == "hash") == (category.how == "hash")
    return category.how == "values" and set(how) == set(category.values)


def _how(category: Category) -> str:
    return "hash" if category.how == "hash" else "|".join(category.values[:LISTED])


def _said(option: str, what: str) -> str:
    return f"--{option}: the model was learned with {what}; leave it out."
