"""Online gradient descent in the space of the kernel."""

import numpy as np

from tests.naive.common import Trace, expansion, slopes, stored


def ogd(X, y, task, outputs, kernel, eta=0.2, lam=0.0, loss="hinge", epsilon=0.1):
    """f_{t+1} = (1 - eta lam) f_t - eta g_t k(x_t, .), g_t the slopes of the loss at f_t(x_t).

    The shrink happens every round; a row with zero slopes is not stored.
    """
    rows, coefficients, scores = [], [], []
    for t, x in enumerate(X):
        f = expansion(kernel, X, rows, coefficients, x, outputs)
        scores.append(f)
        g = slopes(loss, task, y[t], f, epsilon)
        coefficients = [(1.0 - eta * lam) * a for a in coefficients]
        if np.any(g != 0.0):
            rows.append(t)
            coefficients.append(-eta * g)
    return Trace(np.array(scores), stored(rows, coefficients, outputs))
