"""What every budget can do, and how the rules inside some of them say which point has to go."""

from typing import Any

from onkel.core.verbs import verb


@verb
def admit(budget: Any, kernel: Any, support: Any, block: Any, candidate: Any) -> bool:
    """Take the candidate into the support; changes support and budget.

    False, before anything is changed, when there is no room: the caller then makes room, or changes the model.
    """


@verb
def choose(rule: Any, kernel: Any, support: Any, candidate: Any) -> int:
    """The slot whose point has to go when the support is full; the number of points stands for the candidate."""
