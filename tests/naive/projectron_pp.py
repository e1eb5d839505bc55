"""Projectron++: the Projectron that also learns, by projection only, from correct rows inside the margin."""

import numpy as np

from tests.naive.budgets import crowded, projection, spread
from tests.naive.common import Trace, direction, expansion, margin, predict, stored


def margin_step(loss, P, delta2, budget):
    """tau = min(l / P, 1) if tau (2 l - tau P - 2 U delta) >= 0, else 0; U = sqrt((B + 1) / ln(B + 1)) / 4."""
    U = np.sqrt((budget + 1.0) / np.log(budget + 1.0)) / 4.0
    tau = loss / P if loss < P else 1.0  # P may be so small that the quotient overflows
    return tau if tau * (2.0 * loss - tau * P - 2.0 * U * np.sqrt(delta2)) >= 0.0 else 0.0


def projectron_pp(X, y, task, outputs, kernel, budget, threshold=0.0, guard=1e-6):
    """On a mistake as the projectron with eta = 1.

    Correct with 0 < l = 1 - m and P = k_t.d > 0: a_i += tau d_i e.
    """
    rows, coefficients, scores = [], [], []
    for t, x in enumerate(X):
        f = expansion(kernel, X, rows, coefficients, x, outputs)
        scores.append(f)
        e = direction(task, y[t], f)
        loss = 1.0 - margin(task, y[t], f)
        d, delta2 = projection(kernel, X[rows], x)
        P = sum(share * kernel(X[i], x) for share, i in zip(d, rows, strict=True))
        if predict(task, f) == y[t]:
            if loss > 0.0 and P > 0.0:
                coefficients = spread(coefficients, d, margin_step(loss, P, delta2, budget) * e)
        elif delta2 <= threshold or len(rows) >= budget or crowded(kernel, X[rows], x, guard):
            coefficients = spread(coefficients, d, e)
        else:
            rows.append(t)
            coefficients.append(e)
    return Trace(np.array(scores), stored(rows, coefficients, outputs))
