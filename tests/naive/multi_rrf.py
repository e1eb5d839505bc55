"""Several RRF learners from different widths, their scores averaged or their predictions counted."""

import numpy as np

from tests.naive.common import Trace, onehot, predict
from tests.naive.rrf import rrf


def vote(task, f):
    """One member's vote as a score vector: +1 or -1 (f = 0 votes +1); onehot of the first maximum."""
    return np.array([predict(task, f)]) if task == "binary" else onehot(predict(task, f), len(f))


def multi_rrf(X, y, task, outputs, noises, starts, combine="average", **rest):
    """Member r is rrf with noises[r] and starts[r]; the scores are the means of the members' scores or votes.

    Of a vote the scores are (votes for +1 minus votes for -1) / R, or each class's share of the votes. Ties go to the
    smallest class by the first maximum, but between two labels to +1, as f = 0 does everywhere here.
    """
    if combine == "vote" and task == "regression":
        raise ValueError("a vote needs classes")
    members = [rrf(X, y, task, outputs, E, start, **rest) for E, start in zip(noises, starts, strict=True)]
    if combine == "average":
        said = [member.scores for member in members]
    else:
        said = [[vote(task, f) for f in member.scores] for member in members]
    state = {f"{entry} of {r}": value for r, member in enumerate(members) for entry, value in member.state.items()}
    return Trace(np.mean(said, axis=0), state)
