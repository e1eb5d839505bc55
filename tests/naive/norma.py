"""NORMA: OGD with shrinking coefficients and a margin (classification) or a tube (regression) that adapts."""

import numpy as np

from tests.naive.common import Trace, direction, expansion, margin, stored


def is_error(task, y, f, threshold):
    """s_t: y f <= rho; f_y - f_s <= rho; |y - f| > epsilon."""
    if task == "regression":
        return bool(abs(y - f[0]) > threshold)
    return bool(margin(task, y, f) <= threshold)


def adapt(task, threshold, error, eta, nu, published):
    """Regression: epsilon += eta (s_t - nu), clipped at 0 unless published (errors widen the tube).

    Classification: the loss max(0, rho - y f) - nu rho has the slope s_t - nu in rho, so its descent is
    rho += eta (nu - s_t); the printed rule, rho += eta (s_t - nu), climbs.
    """
    if task == "regression":
        moved = threshold + eta * (error - nu)
        return moved if published else max(0.0, moved)
    return threshold + eta * (error - nu) if published else threshold + eta * (nu - error)


def norma(X, y, task, outputs, kernel, eta=0.03, lam=0.03, nu=0.4, start=0.1, bias=False, published=False):
    """Every round a *= 1 - eta lam; on an error append eta direction (and b += eta direction); the threshold adapts."""
    rows, coefficients, scores, path = [], [], [], []
    b, threshold = np.zeros(outputs), start
    for t, x in enumerate(X):
        f = expansion(kernel, X, rows, coefficients, x, outputs) + b
        scores.append(f)
        error = is_error(task, y[t], f, threshold)
        coefficients = [(1.0 - eta * lam) * a for a in coefficients]
        if error:
            step = eta * direction(task, y[t], f)
            rows.append(t)
            coefficients.append(step)
            b = b + step if bias else b
        threshold = adapt(task, threshold, error, eta, nu, published)
        path.append(threshold)
    state = {"bias": b, "threshold": threshold, "path": np.array(path)}
    return Trace(np.array(scores), {**stored(rows, coefficients, outputs), **state})
