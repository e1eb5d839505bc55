"""Stein variational gradient descent, and the Bayesian kernel machine: particles of weights and widths moved by it."""

import numpy as np

from tests.naive.common import Trace, slopes


def square_distances(T):
    """D2_sj = |T_s - T_j|^2 for the particles T (S, q)."""
    return np.sum((T[:, None] - T) ** 2, axis=-1)


def bandwidth(T):
    """h with h^2 = median(D2) / (2 log(S + 1)), the median over all S x S entries, the zero diagonal among them."""
    return np.sqrt(0.5 * np.median(square_distances(T)) / np.log(len(T) + 1.0))


def similarities(T):
    """kappa_sj = exp(-D2_sj / (2 h^2)); if h = 0 its limit: 1 where two particles coincide, 0 elsewhere."""
    D2, h = square_distances(T), bandwidth(T)
    return np.exp(-D2 / (2.0 * h**2)) if h > 0.0 else np.where(D2 == 0.0, 1.0, 0.0)


def direction(T, G):
    """phi_j = (1/S) sum_s [kappa_sj G_s + kappa_sj (T_j - T_s) / h^2], G_s the gradient of log p at T_s   [Eq. 19].

    If h = 0 nothing is pushed apart: phi = G for one particle, the mean of G for particles that all coincide.
    Eq. 6 prints the gradient at j and the derivative by T_j: the particles would attract each other.
    The paper's h = exp(-median / (2 log S)) shrinks as the particles spread, so the median rule of SVGD is used.
    """
    kappa, h, phi = similarities(T), bandwidth(T), []
    for j in range(len(T)):
        near = kappa[:, j, None]
        repulsion = near * (T[j] - T) / h**2 if h > 0.0 else 0.0
        phi.append(np.mean(near * G + repulsion, axis=0))
    return np.array(phi)


def ascend(T, phi, H, eta, decay=0.9, floor=1e-6):
    """The new T and H: T + eta phi / (floor + sqrt(H)), H = phi^2 at first (None), then decay H + (1 - decay) phi^2.

    The paper sums up squared gradients of log p instead: where one is 0, the step is eta / floor.
    """
    H = phi**2 if H is None else decay * H + (1.0 - decay) * phi**2
    return T + eta * phi / (floor + np.sqrt(H)), H


def scale_of(noise, scaled):
    return 1.0 / np.sqrt(noise.shape[1]) if scaled else 1.0


def features(x, noise, gamma, scaled=True):
    """z = [cos(a), sin(a), 1], a_k = omega_k.x, omega_k = gamma * e_k, e_k the columns of noise (d, D).

    scaled divides the cosines and sines, not the 1, by sqrt(D).
    """
    a = noise.T @ (gamma * x)
    return np.concatenate([scale_of(noise, scaled) * np.cos(a), scale_of(noise, scaled) * np.sin(a), [1.0]])


def objective_gradients(
    W, gamma, noise, X, y, task, outputs, lam, loss, prior=True, total=False, scaled=True, epsilon=0.0
):
    """dJ/dW (outputs, 2D+1) and dJ/dgamma (d,) of J = (lam/2) |W|^2 + mean_i loss(y_i, W z_i) [+ (1/2) |gamma|^2].

    total: the sum over the rows instead of their mean; prior: with the last term, of a standard normal gamma > 0.
        dJ/dW     = lam W + mean_i g_i z_i^T,    g_i = d loss / d f at f = W z_i
        dJ/dgamma = mean_i x_i * (E (-sin(a_i) * c_cos + cos(a_i) * c_sin)) [+ gamma],    [c_cos, c_sin, .] = g_i W
    with E = noise, and c divided by sqrt(D) if the features are.
    """
    D, share = noise.shape[1], 1.0 if total else 1.0 / len(X)
    by_W, by_gamma = lam * W, gamma if prior else np.zeros(len(gamma))
    for x, label in zip(X, y, strict=True):
        z = features(x, noise, gamma, scaled)
        slope = slopes(loss, task, label, W @ z, epsilon).reshape(outputs)
        a, c = noise.T @ (gamma * x), slope @ W * scale_of(noise, scaled)
        by_angle = -np.sin(a) * c[:D] + np.cos(a) * c[D : 2 * D]
        by_W = by_W + share * np.outer(slope, z)
        by_gamma = by_gamma + share * x * (noise @ by_angle)
    return by_W, by_gamma


def flatten(W, gamma, learn_widths):
    """One row per particle: its weights, then its widths if they are learned."""
    rows = W.reshape(len(W), -1)
    return np.hstack([rows, gamma]) if learn_widths else rows


def bkm(
    X,
    y,
    task,
    outputs,
    noise,
    W0,
    gamma0,
    batch,
    eta,
    lam,
    loss,
    learn_widths=True,
    prior=True,
    total=False,
    scaled=True,
    decay=0.9,
    floor=1e-6,
    epsilon=0.0,
    horizon=np.inf,
    tail=0.0,
):
    """f = mean over the particles s of W^s z^s(x), each with its own widths gamma^s   [Alg. 2; fixed widths: Alg. 1].

    After every `batch` rows, T the particles as rows (W^s, gamma^s) and G_s = -dJ/dT_s over these rows:
        phi = direction(T, G),    T = T + eta phi / (floor + sqrt(H)),    gamma = |gamma| if prior
    horizon: after t steps eta / sqrt(1 + t / horizon) in place of eta; the paper's step is constant.
    tail: answers are those of a running mean of the weights, V = V + (W - V) / (1 + tail t); the paper's of W itself.
    Rows after the last full batch are scored, not learned. learn_widths=False moves W alone, and T is W alone.
    spread (n, outputs) is the standard deviation (divisor S) of the particles' scores of each row.
    The paper returns the mean particle; with widths of their own only the particles' scores can be averaged.
    """
    W, gamma, H, scores, spread = np.array(W0, dtype=float), np.array(gamma0, dtype=float), None, [], []
    V = W
    rest = {"prior": prior, "total": total, "scaled": scaled, "epsilon": epsilon}
    for t, x in enumerate(X):
        said = [w @ features(x, noise, g, scaled) for w, g in zip(V, gamma, strict=True)]
        scores.append(np.mean(said, axis=0))
        spread.append(np.std(said, axis=0))
        if (t + 1) % batch == 0:
            now = slice(t + 1 - batch, t + 1)
            down = [
                objective_gradients(w, g, noise, X[now], y[now], task, outputs, lam, loss, **rest)
                for w, g in zip(W, gamma, strict=True)
            ]
            T = flatten(W, gamma, learn_widths)
            G = -flatten(np.array([w for w, _ in down]), np.array([g for _, g in down]), learn_widths)
            pace = eta / np.sqrt(1.0 + (t // batch) / horizon)
            T, H = ascend(T, direction(T, G), H, pace, decay, floor)
            W = T[:, : W[0].size].reshape(W.shape)
            V = V + (W - V) / (1.0 + tail * (t // batch))
            if learn_widths:
                gamma = np.abs(T[:, W[0].size :]) if prior else T[:, W[0].size :]
    return Trace(np.array(scores), {"weights": W, "steady": V, "widths": gamma, "spread": np.array(spread)})
