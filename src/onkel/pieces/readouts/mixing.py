"""A mixture of experts by Bayes' rule: the weight of each is the likelihood of what it has said, with fixed share.

l_h <- l_h + merit_h, then w_h = (1 - share) softmax(l)_h + share / H: no weight falls below share / H, so an expert
whose time comes late, after a drift, is not lost.
"""

from typing import Any

import numpy as np

from onkel.core.verbs import compiled
from onkel.pieces.losses import soften


@compiled
def settle(log_shares: Any, merits: Any, share: float) -> None:
    """Reward each expert by the log-likelihood of its answer; changes log_shares, writes merits."""
    n = log_shares.shape[0]
    for h in range(n):
        log_shares[h] += merits[h]
    soften(log_shares, merits)
    for h in range(n):
        log_shares[h] = np.log((1.0 - share) * merits[h] + share / n)
