"""One binary learner per class."""

import numpy as np

from tests import naive
from tests.naive.common import Trace


def one_vs_rest(X, y, task, outputs, kernel, learner, **parameters):
    """Learner k sees +1 for class k and -1 for the rest; its score is column k. Two classes: the learner itself."""
    twin = getattr(naive, learner)
    if task == "binary":
        return twin(X, y, "binary", 1, kernel, **parameters)
    parts = [twin(X, np.where(y == k, 1.0, -1.0), "binary", 1, kernel, **parameters) for k in range(outputs)]
    state = {f"{entry} of {k}": value for k, part in enumerate(parts) for entry, value in part.state.items()}
    return Trace(np.hstack([part.scores for part in parts]), state)
