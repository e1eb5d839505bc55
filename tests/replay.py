"""Random removals by given numbers, as in the runs of the authors' code: number u drops the floor(u B)-th oldest point.

A rule like any other, registered from outside the package: the budgets that take it are the package's own.
"""

from typing import Any, NamedTuple

import numpy as np

from onkel.pieces.budgets.verbs import choose


class Replayed(NamedTuple):
    numbers: Any
    used: Any  # (1,): how many of them


@choose.of(Replayed)
def _(rule: Any, kernel: Any, support: Any, candidate: Any) -> int:
    n, slot = support.count[0], 0
    rank = int(rule.numbers[rule.used[0]] * n)
    rule.used[0] += 1
    for j in range(n):
        older = 0
        for i in range(n):
            older += 1 if support.born[i] < support.born[j] else 0
        slot = j if older == rank else slot
    return slot


def replay(online: Any, numbers: Any) -> Any:
    """The same learner at work, with random removals by these numbers."""
    rule = Replayed(np.asarray(numbers, np.float64), np.zeros(1, np.int64))
    online.model = online.model._replace(budget=online.model.budget._replace(rule=rule))
    return online
