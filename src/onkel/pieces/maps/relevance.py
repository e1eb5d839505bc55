"""How much each column counts for a map whose widths are learned."""

from functools import singledispatch
from typing import Any

UNKNOWN = "Only learners that learn the widths of their kernel know the relevance of features."


@singledispatch
def spread(feature_map: Any) -> Any:
    """Root mean square of the frequencies of each column, in units of their noise."""
    raise ValueError(UNKNOWN)
