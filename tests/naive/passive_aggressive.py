"""Passive-Aggressive: the smallest step that repairs the loss."""

import numpy as np

from tests.naive.common import Trace, direction, expansion, margin, stored


def suffered(task, y, f, epsilon):
    """max(0, 1 - margin); max(0, |y - f| - epsilon)."""
    return max(0.0, abs(y - f[0]) - epsilon) if task == "regression" else max(0.0, 1.0 - margin(task, y, f))


def step_size(variant, loss, energy, C):
    """tau = l / E, min(C, l / E) or l / (E + 1 / (2 C))."""
    if variant == "PA":
        return loss / energy
    return min(C, loss / energy) if variant == "PA-I" else loss / (energy + 0.5 / C)


def passive_aggressive(X, y, task, outputs, kernel, C=1.0, variant="PA-I", epsilon=0.1):
    """If l > 0 append tau * direction; E = k_tt |direction|^2, so k_tt (binary, regression) or 2 k_tt (multiclass)."""
    rows, coefficients, scores = [], [], []
    for t, x in enumerate(X):
        f = expansion(kernel, X, rows, coefficients, x, outputs)
        scores.append(f)
        loss = suffered(task, y[t], f, epsilon)
        way = direction(task, y[t], f)
        energy = kernel(x, x) * np.sum(way * way)
        if loss > 0.0 and energy > 0.0:  # without energy no step changes f
            rows.append(t)
            coefficients.append(step_size(variant, loss, energy, C) * way)
    return Trace(np.array(scores), stored(rows, coefficients, outputs))
