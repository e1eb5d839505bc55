"""Reparameterised random features: gradient descent on the weights and on the widths of the Gaussian at once."""

import numpy as np

from tests.naive.common import Trace, slopes


def descend(value, gradient, memory, eta, step):
    """The new value and memory: "constant" moves by eta gradient, "adagrad" by eta gradient / sqrt(sum of squares)."""
    if step == "constant":
        return value - eta * gradient, memory
    memory = memory + gradient**2
    return value - eta * gradient / np.sqrt(memory + 1e-30), memory


def log_widths(start, d):
    """log(start), start one width for all d inputs or one for each."""
    return np.log(np.full(d, start, dtype=float))


def rrf(
    X, y, task, outputs, noise, start, eta, eta_widths, lam=0.0, loss="hinge", epsilon=0.1, step="constant", limit=10.0
):
    """f = W z, z = [cos(a); sin(a)] / sqrt(D), a = E^T (s * x), s = exp(g), E = noise (d, D) fixed   [Eq. 5, Alg. 1].

    Every round, all gradients with the old W and g:
        W = (1 - eta lam) W - eta g_f z^T,    g_f = d loss / d f
        g = g - eta_widths s * x * (E (-sin(a) * c_cos + cos(a) * c_sin)) / sqrt(D),    [c_cos, c_sin] = g_f W
    and g is clipped to [-limit, limit]. W starts from 0, g from log(start). step="adagrad" divides every coordinate
    of both gradients (not the shrink) by the root of the sum of its squares so far.

    The specification's numbers are for features without 1 / sqrt(D). The same scores come from weights sqrt(D) times
    as large, so its W takes eta' = D eta and lam' = lam / D here (adagrad: eta' = sqrt(D) eta, lam' = lam / sqrt(D)).
    f is then the same function of g, hence so is its derivative: eta_widths stays as it is, for both steps.
    """
    d, D = noise.shape
    W, g, scores = np.zeros((outputs, 2 * D)), log_widths(start, d), []
    memory_W, memory_g = np.zeros_like(W), np.zeros_like(g)
    for t, x in enumerate(X):
        s = np.exp(g)
        a = noise.T @ (s * x)
        z = np.concatenate([np.cos(a), np.sin(a)]) / np.sqrt(D)
        f = W @ z
        scores.append(f)
        slope = slopes(loss, task, y[t], f, epsilon)
        c = slope @ W
        by_angle = (-np.sin(a) * c[:D] + np.cos(a) * c[D:]) / np.sqrt(D)
        by_log_width = s * x * (noise @ by_angle)
        W, memory_W = descend((1.0 - eta * lam) * W, np.outer(slope, z), memory_W, eta, step)
        g, memory_g = descend(g, by_log_width, memory_g, eta_widths, step)
        g = np.clip(g, -limit, limit)
    return Trace(np.array(scores), {"weights": W, "log_widths": g})
