"""Random features of a spectral mixture: its weights, means and widths are learned together with the linear model."""

import numpy as np

from tests.naive.common import Trace, slopes
from tests.naive.rrf import descend, log_widths

ROUNDING = 1e-6


def mixture_weights(logits):
    """softmax(logits)."""
    weights = np.exp(logits - np.max(logits))
    return weights / np.sum(weights)


def pieces(x, noises, g, means, logits):
    """For every component q the columns r_q cos(a_q) and the columns r_q sin(a_q), r_q = sqrt(w_q / D_q).

    a_q holds the angle (mu_q + s_q * e)^T x of every column e of noises[q].
    """
    cosines, sines, w = [], [], mixture_weights(logits)
    for q, E in enumerate(noises):
        a = (means[q][:, None] + np.exp(g[q])[:, None] * E).T @ x
        r = np.sqrt(w[q] / E.shape[1])
        cosines.append(r * np.cos(a))
        sines.append(r * np.sin(a))
    return cosines, sines


def gradients(x, noises, g, means, logits, c):
    """d loss / d (g, means, logits), given c = d loss / d z.

    Of the angles of component q:  h = -r_q sin(a_q) * c_cos + r_q cos(a_q) * c_sin, and so
        d mu_q = x sum(h),    d g_q = s_q * x * (E_q h).
    z_q grows as sqrt(w_q), so d w_q = c_q.z_q / (2 w_q), and through the softmax
        d logit_q = w_q (d w_q - sum_p w_p d w_p) = c_q.z_q / 2 - w_q sum_p c_p.z_p / 2.
    """
    by_g, by_mean, half = np.zeros_like(g), np.zeros_like(means), np.zeros_like(logits)
    cosines, sines = pieces(x, noises, g, means, logits)
    cuts = np.cumsum([E.shape[1] for E in noises] * 2)[:-1]
    c = np.split(c, cuts)
    for q, E in enumerate(noises):
        c_cos, c_sin = c[q], c[len(noises) + q]
        h = -sines[q] * c_cos + cosines[q] * c_sin
        by_g[q] = np.exp(g[q]) * x * (E @ h)
        by_mean[q] = x * np.sum(h)
        half[q] = (c_cos @ cosines[q] + c_sin @ sines[q]) / 2.0
    common = mixture_weights(logits) * np.sum(half)
    rounding = ROUNDING * (np.abs(half) + np.abs(common))  # where all components pull alike, nothing else is left
    return by_g, by_mean, np.where(np.abs(half - common) > rounding, half - common, 0.0)


def spectral_mixture(
    X, y, task, outputs, noises, means, starts, logits, eta, eta_widths, lam=0.0, loss="hinge", epsilon=0.1,
    step="constant", limit=10.0
):  # fmt: skip
    """f = W z, z = [r_0 cos(a_0), r_1 cos(a_1), ..., r_0 sin(a_0), r_1 sin(a_1), ...] (see pieces).

    s_q = exp(g_q), g_q from log(starts[q]); w = softmax(logits); noises[q] (d, D_q), fixed; W starts from 0. As in rrf,
    W moves with eta and is shrunk; g, mu and the logits move with eta_widths, all by gradients taken with the old
    values, and g (alone) is clipped to [-limit, limit].
    """
    g = np.array([log_widths(start, X.shape[1]) for start in starts])
    learned, scores = [g, np.array(means, dtype=float), np.array(logits, dtype=float)], []
    W = np.zeros((outputs, 2 * sum(E.shape[1] for E in noises)))
    memory_W, memories = np.zeros_like(W), [np.zeros_like(value) for value in learned]
    for t, x in enumerate(X):
        cosines, sines = pieces(x, noises, *learned)
        z = np.concatenate(cosines + sines)
        f = W @ z
        scores.append(f)
        slope = slopes(loss, task, y[t], f, epsilon)
        moves = gradients(x, noises, *learned, slope @ W)
        W, memory_W = descend((1.0 - eta * lam) * W, np.outer(slope, z), memory_W, eta, step)
        for i, move in enumerate(moves):
            learned[i], memories[i] = descend(learned[i], move, memories[i], eta_widths, step)
        learned[0] = np.clip(learned[0], -limit, limit)
    state = dict(zip(["log_widths", "means", "logits"], learned, strict=True))
    return Trace(np.array(scores), {"weights": W, **state})
