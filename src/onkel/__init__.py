"""onkel: online kernel learning from unlimited streams, row by row, in constant memory."""

import re
from importlib import import_module
from importlib.metadata import version
from typing import Any

_LISTED = re.compile(r"^from (\S+) import (\w+) as \2$", re.MULTILINE)


def _names(file: str) -> dict[str, str]:
    """Where the public names live that one of our files lists: each name is written once, for us and type checkers."""
    source = __spec__.loader.get_data(__file__.removesuffix("__init__.py") + file).decode()
    return {name: home for home, name in _LISTED.findall(source)}


_HOMES = _names("__init__.pyi") | dict.fromkeys(_names("recipes/__init__.py"), "onkel.recipes")
__all__ = [*sorted(_HOMES), "__version__"]


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is asked for: ``import onkel`` alone costs almost nothing."""
    if name == "__version__":
        return version("onkel")
    if name not in _HOMES:
        raise AttributeError(f"module 'onkel' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
