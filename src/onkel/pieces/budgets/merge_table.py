"""The best place of a merged point, as a table: for each share m and similarity kappa the best of all h.

h maximises m kappa^((1 - h)^2) + (1 - m) kappa^(h^2). Its derivative vanishes where
logit(h) + logit(1 - m) = (1 - 2 h) log(kappa). For m <= 1/2 the global maximum lies in [0, 1/2], and it is the only
root there with a change from rise to fall, so bisection finds it; kappa < e^-2, where a second, lower maximum beyond
1/2 can catch other searches, is no exception.
"""

from functools import lru_cache
from typing import Any

import numpy as np

SHARES, KAPPAS = 201, 401
HALVINGS = 45


@lru_cache
def merge_table(dtype: Any) -> Any:
    """h by share (201 from 0 to 1/2) and kappa (401 from 0 to 1).

    >>> merge_table("float64")[200, 400].item()
    0.5
    """
    m = np.linspace(0.0, 0.5, SHARES)[1:, None]
    kappa = np.linspace(0.0, 1.0, KAPPAS)[None, 1:]
    low, high = np.zeros((SHARES - 1, KAPPAS - 1)), np.full((SHARES - 1, KAPPAS - 1), 0.5)
    for _ in range(HALVINGS):
        h = 0.5 * (low + high)
        rising = np.log(h / (1.0 - h)) + np.log((1.0 - m) / m) < (1.0 - 2.0 * h) * np.log(kappa)
        low, high = np.where(rising, h, low), np.where(rising, high, h)
    table = np.zeros((SHARES, KAPPAS))  # no share: h = 0; kappa = 0: the heavier point stays where it is
    table[1:, 1:] = 0.5 * (low + high)
    table[:, -1] = np.linspace(0.0, 0.5, SHARES)  # equal points: their weighted mean
    return table.astype(dtype)
