"""Online gradient descent with an Isolation Kernel: one weight per cell of every partition."""

import numpy as np

from tests.naive.common import Trace, slopes


def ik_ogd(
    X, y, task, outputs, fit, t, sample, eta, lam=0.0, loss="hinge", epsilon=0.1, scale="sqrt_t", refresh=None,
    renew=None,
):  # fmt: skip
    """f = c sum_i w[i, phi_i(x)], c = 1 / sqrt(t) or 1; w[i, phi_i(x)] -= eta c g for all i, after w *= 1 - eta lam.

    fit(rows) gives phi: x -> t numbers of cells. Partitions are made anew, from all rows so far, after 1, 2, 4, ...
    and after `sample` rows; then all rows so far are learned again from w = 0. Before the first row f = 0. What is
    kept is c w: f = 1 comes often, and must not be missed by rounding.

    After every `refresh` rows the next partition i is renew(those rows, how often) and w[i, .] = 0; where the sample
    has too few rows for it, renew gives None.
    """
    square = 1.0 / t if scale == "sqrt_t" else 1.0  # c^2

    def learn(state, x, label):
        w, cells = state["w"], state["phi"](x)
        for i, other in state["renewed"].items():
            cells[i] = other(x)
        f = sum(w.get((i, cell), np.zeros(outputs)) for i, cell in enumerate(cells))
        g = slopes(loss, task, label, f, epsilon)
        for key in w:
            w[key] = (1.0 - eta * lam) * w[key]
        for i, cell in enumerate(cells):
            w[i, cell] = w.get((i, cell), np.zeros(outputs)) - eta * square * g
        state["rows"].append(x)
        if refresh is not None and len(state["rows"]) % refresh == 0:
            count = len(state["rows"]) // refresh
            made, i = renew(state["size"], np.array(state["rows"][-refresh:]), count), (count - 1) % t
            if made is not None:
                state["renewed"][i] = made
                state["w"] = {key: value for key, value in w.items() if key[0] != i}
        return f

    state, scores = None, []
    for n, (x, label) in enumerate(zip(X, y, strict=True), start=1):
        scores.append(np.zeros(outputs) if state is None else learn(state, x, label))
        if n == sample or (n < sample and n & (n - 1) == 0):
            state = {"w": {}, "phi": fit(X[:n]), "renewed": {}, "rows": [], "size": n}
            for earlier, its_label in zip(X[:n], y[:n], strict=True):
                learn(state, earlier, its_label)
    return Trace(np.array(scores), {"square_sum": sum((np.sum(value**2) for value in state["w"].values()), 0.0)})


def dual_ogd(X, y, phi, eta):
    """OGD in the dual with K(x, y) = the share of partitions in which both have the same cell, hinge, binary."""
    kept, scores = [], []
    for x, label in zip(X, y, strict=True):
        f = sum(a * np.mean(np.array(phi(x)) == np.array(phi(s))) for s, a in kept)
        scores.append(f)
        if label * f < 1.0:
            kept.append((x, eta * label))
    return np.array(scores)


def nearest_cells(points, members, metric):
    """phi_i(x) = the first nearest of the points of partition i, Euclidean (2) or city-block (1)."""

    def phi(x):
        far = np.sum((points - x) ** 2, axis=1) if metric == 2 else np.sum(np.abs(points - x), axis=1)
        return [int(np.argmin(far[own])) for own in members]

    return phi


def leaves(columns, feature, threshold, child, cell, roots):
    """phi_i(x) = the leaf of tree i: to the first child if x_j < threshold, else to the second."""

    def phi(x):
        found = []
        for node in roots:
            while child[node] != node:
                node = child[node] + (x[columns[feature[node]]] >= threshold[node])
            found.append(int(cell[node]))
        return found

    return phi
