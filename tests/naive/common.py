"""What every twin shares: the trace it returns, the expansion, the prediction rule and the slopes of the losses."""

from typing import NamedTuple

import numpy as np
from scipy.special import expit


class Trace(NamedTuple):
    """scores (n, outputs): the scores before each row was learned; state: what is left after the last row."""

    scores: np.ndarray
    state: dict


def expansion(kernel, X, rows, coefficients, x, outputs):
    """f(x) = sum_i a_i k(x, x_i) over the stored rows i, one coefficient vector a_i of length outputs each."""
    f = np.zeros(outputs)
    for i, a in zip(rows, coefficients, strict=True):
        f = f + a * kernel(x, X[i])
    return f


def stored(rows, coefficients, outputs):
    """The state of an expansion: row numbers (m,) and coefficients (m, outputs), in the order of the slots."""
    return {"rows": np.array(rows, dtype=int), "coefficients": np.array(coefficients).reshape(len(rows), outputs)}


def predict(task, f):
    """sign(f) with f = 0 -> +1; first maximum; f itself."""
    if task == "binary":
        return 1.0 if f[0] >= 0.0 else -1.0
    return float(np.argmax(f)) if task == "multiclass" else f[0]


def onehot(k, outputs):
    e = np.zeros(outputs)
    e[int(k)] = 1.0
    return e


def rival(y, f):
    """s = argmax_{r != y} f_r, the first maximum."""
    others = [r for r in range(len(f)) if r != int(y)]
    return max(others, key=lambda r: f[r])  # max keeps the first of equals


def margin(task, y, f):
    """y f; f_y - f_s."""
    return y * f[0] if task == "binary" else f[int(y)] - f[rival(y, f)]


def direction(task, y, f):
    """The way the scores should move: y; onehot(y) - onehot(s); sign(y - f)."""
    if task == "binary":
        return np.array([y])
    if task == "multiclass":
        return onehot(y, len(f)) - onehot(rival(y, f), len(f))
    return np.sign(y - f)


def slopes(loss, task, y, f, epsilon):
    """g = d loss / d f, one number per output (section 0.2 of the specification).

    hinge                max(0, 1 - m), m the margin:  -direction if m < 1
    logistic             log(1 + e^-m):                -direction / (1 + e^m)
    softmax              logsumexp(f) - f_y:           softmax(f) - onehot(y); binary: the logistic
    squared              (f - y)^2 / 2:                f - y, if |f - y| > epsilon
    absolute             |f - y|:                      sign(f - y)
    epsilon_insensitive  max(0, |f - y| - epsilon):    sign(f - y), if |f - y| > epsilon
    """
    if task == "regression":
        outside = abs(f[0] - y) > epsilon
        return {
            "squared": (f - y) * outside,
            "absolute": np.sign(f - y),
            "epsilon_insensitive": np.sign(f - y) * outside,
        }[loss]
    if loss == "softmax" and task == "multiclass":
        weights = np.exp(f - np.max(f))
        return weights / np.sum(weights) - onehot(y, len(f))
    m = margin(task, y, f)
    size = {"hinge": float(m < 1.0), "logistic": expit(-m), "softmax": expit(-m)}[loss]
    return -size * direction(task, y, f)
