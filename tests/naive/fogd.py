"""Fourier online gradient descent: linear OGD on random features."""

import numpy as np

from tests.naive.common import Trace, slopes


def fogd(X, y, task, outputs, features, eta=0.2, lam=0.0, loss="hinge", epsilon=0.1):
    """f = W z(x); every round W = (1 - eta lam) W - eta g z^T, W (outputs, features), from zero."""
    W, scores = np.zeros((outputs, len(features(X[0])))), []
    for t, x in enumerate(X):
        z = features(x)
        f = W @ z
        scores.append(f)
        g = slopes(loss, task, y[t], f, epsilon)
        W = (1.0 - eta * lam) * W - eta * np.outer(g, z)
    return Trace(np.array(scores), {"weights": W})
