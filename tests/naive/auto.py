"""The learner without tuning: a learned map, three Adagrad heads and exact least squares under one mixture."""

import numpy as np
from scipy.special import expit, softmax

from tests.naive.common import Trace, onehot
from tests.naive.scaling import Targets, deviation, scale_target

SCALE = 1.4  # c of step 2
ETA_W, ETA_V, ETA_B, ETA_G, ETA_O = 0.7, 0.3, 0.1, 0.1, 1.0
WIDTHS = (-8.0, 4.0)  # log-widths stay in here
SKIP = 0.01
SHARE = 0.001
FORGET, LAMBDA = 0.9995, 0.1
WORST = 100.0  # largest squared error that counts
TINY = 1e-30


class Map:
    """E (d, D) and g (d,) with their accumulators; R_j C_k / S stands for the d x D accumulator of E."""

    def __init__(self, noise):
        self.E, self.g = np.array(noise, dtype=float), np.zeros(len(noise))
        self.Gg = np.full(len(noise), 1e-8)
        self.R, self.C, self.S = np.full(len(noise), TINY), np.full(noise.shape[1], TINY), TINY


def features(layer, xs, il):
    """u_j = c il exp(g_j) xs_j, phi = E^T u, z = [cos phi; sin phi]   [step 2]."""
    u = SCALE * il * np.exp(layer.g) * xs
    phi = layer.E.T @ u
    return u, np.concatenate([np.cos(phi), np.sin(phi)])


def phase_slopes(w, z):
    """d (w.z) / d phi_k = w_{D+k} z_k - w_k z_{D+k}   [step 7]."""
    D = len(z) // 2
    return w[D:] * z[:D] - w[:D] * z[D:]


def learn_map(layer, q, u, xs, il):
    """One factored Adagrad step on E, one Adagrad step on g; q = dL/dphi   [step 10]. Changes layer."""
    Q, U = q @ q, u @ u
    if Q == 0.0:
        return
    layer.S += U * Q
    layer.C += q * q * U
    layer.R += u * u * Q
    for j in np.flatnonzero(xs):
        b = u[j] * (layer.E[j] @ q)
        layer.E[j] -= ETA_O * il * np.sqrt(layer.S) * (u[j] / np.sqrt(layer.R[j])) * (q / np.sqrt(layer.C))
        layer.Gg[j] += b * b
        layer.g[j] = np.clip(layer.g[j] - ETA_G * b / np.sqrt(layer.Gg[j]), *WIDTHS)


class Heads:
    """W (heads, outputs, 2D), V (heads, outputs, d), B (heads, outputs) from 0, accumulators from 1."""

    def __init__(self, rates, outputs, d, D):
        self.rates, H = rates, len(rates)
        self.W, self.V, self.B = np.zeros((H, outputs, 2 * D)), np.zeros((H, outputs, d)), np.zeros((H, outputs))
        self.GW, self.GV, self.GB = np.ones_like(self.W), np.ones_like(self.V), np.ones_like(self.B)


def head_scores(heads, z, xs):
    """f_hc = W_hc.z + V_hc.xs + B_hc   [step 3]."""
    return heads.W @ z + heads.V @ xs + heads.B


def stepping(heads, delta):
    """The pairs (h, c) that this row moves: |delta_hc| > skip."""
    return [(h, c) for h, c in np.ndindex(heads.B.shape) if abs(delta[h, c]) > SKIP]


def learn_head(heads, h, c, delta, row, kappa):
    """Adagrad on W_hc with the factor against overshooting, plain Adagrad on V_hc and B_hc   [step 9]."""
    z, xs, il = row
    rho = heads.rates[h]
    heads.GW[h, c] += (delta * z) ** 2
    r = z / np.sqrt(heads.GW[h, c])
    eta = ETA_W * rho / np.sqrt(len(z))
    s = kappa * eta * (z @ r)
    factor = 1.0 if s < 1e-6 else -np.expm1(-s) / s
    heads.W[h, c] -= eta * delta * factor * r
    heads.GV[h, c] += (delta * xs) ** 2
    heads.V[h, c] -= ETA_V * rho * il * delta * xs / np.sqrt(heads.GV[h, c])
    heads.GB[h, c] += delta**2
    heads.B[h, c] -= ETA_B * rho * delta / np.sqrt(heads.GB[h, c])


class Exact:
    """Recursive least squares on nr of the D frequencies and, where there is room, the inputs and 1   [step 3]."""

    def __init__(self, d, D):
        nm = min(int(np.clip(np.floor(np.sqrt(d * D)), 32, 256)), 2 * D)
        self.linear = d + 1 <= nm
        self.nr = min((nm - (d + 1) * self.linear) // 2, D)
        m = 2 * self.nr + (d + 1) * self.linear
        self.A, self.w = np.eye(m) / LAMBDA, np.zeros(m)


def exact_inputs(exact, z, xs, il):
    """zn = [z_1..z_nr, z_{D+1}..z_{D+nr}] / sqrt(nr), then [il xs; 1] if included   [step 3]."""
    D, nr = len(z) // 2, exact.nr
    zn = np.concatenate([z[:nr], z[D : D + nr]]) / np.sqrt(nr)
    return np.concatenate([zn, il * xs, [1.0]]) if exact.linear else zn


def exact_phase_slopes(exact, z):
    """d (w.zn) / d phi_k for k <= nr, 0 for the other frequencies   [step 7]."""
    D, nr = len(z) // 2, exact.nr
    slopes = np.zeros(D)
    slopes[:nr] = phase_slopes(exact.w[: 2 * nr], np.concatenate([z[:nr], z[D : D + nr]])) / np.sqrt(nr)
    return slopes


def learn_exact(exact, delta, zn):
    """v = A zn, w -= delta v / den, A = (A - v v^T / den) / forget, diagonal at most 1 / lambda   [step 8]."""
    v = exact.A @ zn
    den = FORGET + zn @ v
    exact.w = exact.w - delta * v / den
    A = (exact.A - np.outer(v, v) / den) / FORGET
    scale = np.array([np.sqrt(1.0 / (LAMBDA * a)) if a > 1.0 / LAMBDA else 1.0 for a in np.diag(A)])
    exact.A = A * np.outer(scale, scale)


def shares(log_shares):
    """pi_h = exp(l_h) / sum   [step 4]."""
    return np.exp(log_shares) / np.sum(np.exp(log_shares))


def reweigh(log_shares):
    """Fixed share: l_h = log((1 - share) w_h / sum w + share / H), the largest 0   [step 5]."""
    w = np.exp(np.maximum(log_shares - np.max(log_shares), -50.0))
    mixed = np.log((1.0 - SHARE) * w / np.sum(w) + SHARE / len(w))
    return mixed - np.max(mixed)


def predicted(task, pi, f, targets):
    """The reported scores: log-odds; log-probabilities; the prediction, in the range of the targets   [step 4]."""
    if task == "regression":
        return np.clip(targets.seen.mean + deviation(targets) * (pi @ f), targets.low, targets.high)
    if task == "binary":
        return np.log(np.maximum(pi @ expit(f), TINY)) - np.log(np.maximum(pi @ expit(-f), TINY))
    return np.log(np.maximum(pi @ softmax(f, axis=1), TINY))


def suffer(task, pi, f, y, targets):
    """delta (heads, outputs) and the log-likelihood of each head   [step 5]. Changes targets."""
    if task == "binary":
        return expit(f) - (y > 0), np.log(np.maximum(expit(y * f[:, 0]), 1e-6))
    if task == "multiclass":
        p = softmax(f, axis=1)
        return p - onehot(y, f.shape[1]), np.log(np.maximum(p[:, int(y)], 1e-6))
    ys = scale_target(targets, y)
    delta = f - ys
    likelihood = -np.minimum(delta[:, 0] ** 2, WORST) / (2.0 * max(targets.mse, 1e-6))
    error = min((pi @ f[:, 0] - ys) ** 2, WORST)
    targets.mse += (error - targets.mse) * max(0.001, 1.0 / (targets.seen.count + 1))
    return delta, likelihood


def auto(X, y, task, outputs, noise, rates=(0.25, 1.0, 4.0)):
    """Steps 2 to 10 for every row; X standardised already, noise (d, D) the starting frequencies, no NaN in y.

    Differs from the text: no gate pi > 0.001 in step 7; head 4 sees the inputs wherever they fit into its size,
    d + 1 <= nm, whatever the layout of the rows.
    """
    (d, D), H = noise.shape, len(rates)
    layer, heads, targets = Map(noise), Heads(rates, outputs, d, D), Targets()
    exact = Exact(d, D) if task == "regression" else None
    log_shares, scores = np.zeros(H + (exact is not None)), []
    energy, live = 0.0, 0  # sum of |xs|^2 over the `live` earlier rows with |xs| > 0
    for xs, label in zip(X, y, strict=True):
        size = xs @ xs
        il = 1.0 / np.sqrt(energy / live if live else max(size, 1.0))
        u, z = features(layer, xs, il)
        f, pi = head_scores(heads, z, xs), shares(log_shares)
        if exact is not None:
            zn = exact_inputs(exact, z, xs, il)
            f = np.vstack([f, [[exact.w @ zn]]])
        scores.append(predicted(task, pi, f, targets))
        delta, likelihood = suffer(task, pi, f, label, targets)
        log_shares = reweigh(log_shares + likelihood)
        energy, live = energy + size, live + (size > 0.0)
        moves = stepping(heads, delta)
        q = sum((pi[h] * delta[h, c] * phase_slopes(heads.W[h, c], z) for h, c in moves), np.zeros(D))
        if exact is not None:
            q += pi[H] * delta[H, 0] * exact_phase_slopes(exact, z)
            learn_exact(exact, delta[H, 0], zn)
        for h, c in moves:
            learn_head(heads, h, c, delta[h, c], (z, xs, il), 1.0 if task == "regression" else 0.25)
        learn_map(layer, q, u, xs, il)  # q = 0, so nothing, if no head moved
    state = {"noise": layer.E, "log_widths": layer.g, "weights": heads.W, "linear": heads.V, "bias": heads.B}
    state |= {"log_shares": log_shares} | ({} if exact is None else {"exact": exact.w})
    return Trace(np.array(scores), state)
