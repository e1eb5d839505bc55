"""Which tricks are used: all, unless the environment, an import or a trial says otherwise.

`ONKEL_PLAIN=1` leaves out all of them, `ONKEL_PLAIN=borrowing,row_call` some. What takes their place is in
`onkel.core`, and knows nothing but what Numba documents. Results are the same, but for rounding where the compiler sees
other functions as one (`pipeline`).
"""

import os
from functools import lru_cache
from importlib import import_module
from typing import Any

import numba

from onkel.core.cache import reason, say_once

ALL = "pipeline", "borrowing", "code_files", "row_call"  # modules of this package
_asked = os.environ.get("ONKEL_PLAIN", "").replace(" ", "")
_plain: set[str] = set(ALL) if _asked in {"1", "all"} else set(ALL) & set(_asked.split(","))
ASKED_PLAIN = "-".join(sorted(_plain))  # what is left out on purpose, in words that name a folder


def used(name: str) -> bool:
    """Whether a trick is used."""
    return name not in _plain


@lru_cache
def _imported(name: str) -> Any:
    try:
        return import_module(f"onkel.core.numba_internals.{name}")
    except Exception as error:  # whatever a module of Numba's does when it is not as it was
        give_up(error, (name,))
        return None


def trick(name: str) -> Any:
    """The module of a trick, or None: it is left out, or needs what is not there."""
    return _imported(name) if used(name) else None


def give_up(error: Exception, names: tuple[str, ...]) -> None:
    """Use these tricks no more, and say so, once."""
    _plain.update(names)
    why = f"{type(error).__name__}: {reason(error)}"
    say_once(
        "plain", f"Numba {numba.__version__} is not as expected ({why}): its plain ways are used, which are slower."
    )
