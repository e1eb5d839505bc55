"""Kernel Perceptron."""

import numpy as np

from tests.naive.common import Trace, direction, expansion, predict, stored


def perceptron(X, y, task, outputs, kernel, eta=1.0, epsilon=0.1):
    """On a mistake append (x_t, eta y_t); multiclass eta (onehot(y) - onehot(s)).

    Regression: iff |y - f| > epsilon append (x_t, eta sign(y - f)).
    """
    rows, coefficients, scores = [], [], []
    for t, x in enumerate(X):
        f = expansion(kernel, X, rows, coefficients, x, outputs)
        scores.append(f)
        wrong = abs(y[t] - f[0]) > epsilon if task == "regression" else predict(task, f) != y[t]
        if wrong:
            rows.append(t)
            coefficients.append(eta * direction(task, y[t], f))
    return Trace(np.array(scores), stored(rows, coefficients, outputs))
