"""Nystroem online gradient descent: OGD until the budget is full, then linear OGD on Nystroem features."""

import numpy as np

from tests.naive.common import Trace, expansion, slopes, stored
from tests.naive.maps import nystroem_matrix


def nogd(X, y, task, outputs, kernel, budget=100, rank=20, eta=0.2, lam=0.0, loss="hinge", epsilon=0.1, cut=1e-8):
    """Phase 1: kernel OGD until |S| = budget. Phase 2: f = W M k_S(x), W = (1 - eta lam) W - eta g z^T.

    The switch is the first round with a non-zero slope after S is full. Its score and slope are still those of the
    expansion; W = A^T pinv(M) with the coefficients after that round's shrink, then W takes that round's step.
    """
    rows, coefficients, scores = [], [], []
    W = M = eigenvalues = None
    keep = 1.0 - eta * lam
    for t, x in enumerate(X):
        z = None if W is None else M @ np.array([kernel(x, X[i]) for i in rows])
        f = expansion(kernel, X, rows, coefficients, x, outputs) if W is None else W @ z
        scores.append(f)
        g = slopes(loss, task, y[t], f, epsilon)
        if W is not None:
            W = keep * W - eta * np.outer(g, z)
            continue
        coefficients = [keep * a for a in coefficients]
        if np.any(g != 0.0) and len(rows) < budget:
            rows.append(t)
            coefficients.append(-eta * g)
        elif np.any(g != 0.0):
            M, eigenvalues = nystroem_matrix(X[rows], kernel, rank, cut)
            W = np.array(coefficients).T @ np.linalg.pinv(M)
            W = W - eta * np.outer(g, M @ np.array([kernel(x, X[i]) for i in rows]))
    state = {"weights": W, "map": M, "eigenvalues": eigenvalues}
    state["square_norm"] = None if W is None else np.sum(W * W)  # free of the eigenvectors' signs
    return Trace(np.array(scores), {**stored(rows, coefficients, outputs), **state})
