"""What every feature map can do.

A map is a named tuple of the arrays it drew or fitted. Features are lifted without their common factor, which the
linear loop folds into its scores and steps.
"""

from typing import Any

from onkel.core.verbs import verb


@verb
def lift(feature_map: Any, block: Any, first: int, count: int, work: Any, features: Any) -> None:
    """features[r] = features of row first + r, without the common factor; writes work and features."""


@verb
def width(feature_map: Any) -> int:
    """Number of features."""


@verb
def work_width(feature_map: Any) -> int:
    """Numbers of work space that `lift` needs per row."""


@verb
def tile_rows(feature_map: Any) -> int:
    """How many rows to lift at a time, so that their features stay in the cache."""


@verb
def factor(feature_map: Any) -> float:
    """Common factor of all features."""


@verb
def feature_norm(feature_map: Any, features: Any) -> float:
    """|z|^2 of a lifted row, the common factor included."""


def fixed(
    feature_map: Any, block: Any, i: int, t: int, common: float, slopes: Any, weights: Any, features: Any, room: Any
) -> None:
    """How maps that do not learn are retuned: not at all."""


@verb(default=fixed)
def retune(
    feature_map: Any, block: Any, i: int, t: int, common: float, slopes: Any, weights: Any, features: Any, room: Any
) -> None:
    """Step a map that learns against the slope of the loss of row i in round t, with the weights from before.

    `common` is the factor of all weights; `room` is what `lift` left in its work space. Changes feature_map and room.
    """
