"""What every budget can do."""

from typing import Any

from onkel.dispatch import verb


@verb
def admit(budget: Any, kernel: Any, support: Any, block: Any, candidate: Any) -> bool:
    """Take the candidate into the support; changes support and budget.

    False, before anything is changed, when there is no room: the caller then makes room, or changes the model.
    """
