"""Random kitchen sinks: mini-batch gradient descent on random features."""

import numpy as np

from tests.naive.common import Trace, slopes


def rks(X, y, task, outputs, features, eta=0.1, lam=0.0, batch=100, loss="hinge", epsilon=0.1):
    """After every `batch` rows W = (1 - eta lam) W - (eta / batch) sum of g z^T over these rows.

    W does not move inside a batch; the gradients of an unfinished last batch wait ("pending").
    """
    W, scores = np.zeros((outputs, len(features(X[0])))), []
    pending = np.zeros_like(W)
    for t, x in enumerate(X):
        z = features(x)
        f = W @ z
        scores.append(f)
        pending = pending + np.outer(slopes(loss, task, y[t], f, epsilon), z)
        if (t + 1) % batch == 0:
            W = (1.0 - eta * lam) * W - (eta / batch) * pending
            pending = np.zeros_like(W)
    return Trace(np.array(scores), {"weights": W, "pending": pending})
