"""Checked parameters: one set of validators for all that a user gives by name."""

from math import isfinite
from numbers import Real
from typing import Any


def positive(name: str, value: Any, integer: bool = False) -> Any:
    """A checked parameter: a positive number, and a whole one if asked."""
    if not (is_number(value) and value > 0 and (not integer or float(value).is_integer())):
        raise ValueError(f"{name} must be a positive {'whole ' if integer else ''}number, not {value!r}.")
    return int(value) if integer else float(value)


def is_number(value: Any) -> bool:
    """Whether a parameter is a finite number."""
    return isinstance(value, Real) and not isinstance(value, bool) and isfinite(value)


def at_least_zero(name: str, value: Any) -> float:
    """A checked parameter: a number of at least 0."""
    if not (is_number(value) and value >= 0):
        raise ValueError(f"{name} must be at least 0, not {value!r}.")
    return float(value)


def one_of(name: str, value: Any, known: tuple[str, ...]) -> str:
    """A checked parameter: one of some words."""
    if value not in known:
        raise ValueError(f"{name} must be one of {', '.join(known)}, not {value!r}.")
    return str(value)


def at_least(name: str, value: Any, least: int) -> int:
    """A checked parameter: a whole number that is not too small."""
    if not (is_number(value) and value >= least and float(value).is_integer()):
        raise ValueError(f"{name} must be a whole number of at least {least}, not {value!r}.")
    return int(value)
