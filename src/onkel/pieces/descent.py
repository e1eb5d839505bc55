"""How every loop of gradient descent begins with a row: its loss, the weighted slopes, and the pace of the step."""

from typing import Any

from onkel.core.verbs import compiled
from onkel.pieces.losses import suffered
from onkel.pieces.steps import pace


@compiled
def descent(model: Any, t: int, target: float, importance: float, scores: Any, slopes: Any, size: float) -> Any:
    """Write the slopes of row t, whose features have the squared length `size`; (factor of all weights, gain)."""
    loss = suffered(model.loss, target, importance, scores, slopes)
    return pace(model.step, t, loss, slopes, size)
