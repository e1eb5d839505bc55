"""How much each feature counts for a model that learns the widths of its kernel."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from onkel.learners import verbs
from onkel.model.waiting import bare


def relevance(model: Any) -> NDArray[np.float64]:
    """The learned width per feature: the spread of its frequencies, so that 0 means that it does not matter.

    Widths are those of the rows that the model sees: of standardised ones they can be compared with each other.
    """
    found: NDArray[np.float64] = verbs.relevance(bare(model))
    return found
