"""Fourier kernel learning: mini-batch gradient descent on the weights and on the widths, with phase features."""

import numpy as np

from tests.naive.common import Trace, slopes
from tests.naive.rrf import log_widths


def fkl(
    X, y, task, outputs, noise, phases, start, eta, eta_widths, lam=0.0, batch=200, loss="hinge", epsilon=0.1,
    limit=10.0
):  # fmt: skip
    """f = W z, z = sqrt(2 / D) cos(a), a = E^T (s * x) + phases, s = exp(g), E = noise (d, D) fixed.

    After every `batch` rows, with sums over these rows of gradients taken with the W and g of the batch's first row,
        W = (1 - eta lam) W - (eta / batch) sum of g_f z^T,    g_f = d loss / d f
        g = g + (eta_widths / batch) sum of s * x * (E (sin(a) * c)) sqrt(2 / D),    c = g_f W
    and g is clipped to [-limit, limit]. The gradients of an unfinished last batch wait ("pending": those of W).
    The published code leaves out sqrt(2 / D): its eta is eta' = eta D / 2 here, its lam is lam' = 2 lam / D, and
    eta_widths stays as it is (see rrf).
    """
    d, D = noise.shape
    W, g, scores = np.zeros((outputs, D)), log_widths(start, d), []
    pending_W, pending_g = np.zeros_like(W), np.zeros_like(g)
    for t, x in enumerate(X):
        s = np.exp(g)
        a = (s * x) @ noise + phases
        z = np.sqrt(2.0 / D) * np.cos(a)
        f = W @ z
        scores.append(f)
        slope = slopes(loss, task, y[t], f, epsilon)
        by_angle = -np.sqrt(2.0 / D) * np.sin(a) * (slope @ W)
        pending_W = pending_W + np.outer(slope, z)
        pending_g = pending_g + s * x * (noise @ by_angle)
        if (t + 1) % batch == 0:
            W = (1.0 - eta * lam) * W - (eta / batch) * pending_W
            g = np.clip(g - (eta_widths / batch) * pending_g, -limit, limit)
            pending_W, pending_g = np.zeros_like(W), np.zeros_like(g)
    return Trace(np.array(scores), {"weights": W, "log_widths": g, "pending": pending_W})
