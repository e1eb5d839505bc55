"""Many kernels at once, weighed by their losses: Raker and AdaRaker on random features, OMKC and OMKR in the dual."""

import numpy as np

from tests.naive.common import Trace, margin, slopes


def loss_value(loss, task, y, f, epsilon, factor=1.0):
    """factor times the loss whose slopes are common.slopes; factor=2 makes "squared" (f - y)^2.

    hinge                max(0, 1 - m), m the margin
    logistic             log(1 + e^-m)
    softmax              logsumexp(f) - f_y; binary: the logistic
    squared              (f - y)^2 / 2, if |f - y| > epsilon
    absolute             |f - y|
    epsilon_insensitive  max(0, |f - y| - epsilon)
    """
    if task == "regression":
        error = abs(f[0] - y)
        values = {
            "squared": error**2 / 2.0 * (error > epsilon),
            "absolute": error,
            "epsilon_insensitive": max(0.0, error - epsilon),
        }
        return factor * values[loss]
    if loss == "softmax" and task == "multiclass":
        return factor * (np.logaddexp.reduce(f) - f[int(y)])
    m = margin(task, y, f)
    return factor * (max(0.0, 1.0 - m) if loss == "hinge" else np.logaddexp(0.0, -m))


def judge(loss, task, y, epsilon, factor):
    """Two functions of a score: the value of the loss for this label, and its slopes."""
    return (
        lambda f: loss_value(loss, task, y, f, epsilon, factor),
        lambda f: factor * slopes(loss, task, y, f, epsilon),
    )


def shares(log_weights):
    """w_p / sum w, from log w."""
    w = np.exp(log_weights - np.max(log_weights))
    return w / np.sum(w)


# ---- Raker ----


class Raker:
    """P linear learners theta_p on the features z_p, and the logarithms of their weights."""

    def __init__(self, thetas, log_weights, eta, hedge):
        self.thetas, self.log_weights, self.eta, self.hedge = thetas, log_weights, eta, hedge

    def advice(self, zs):
        """f_p = theta_p z_p, (P, outputs)."""
        return np.array([theta @ z for theta, z in zip(self.thetas, zs, strict=True)])

    def score(self, zs):
        """sum_p w_p f_p / sum_p w_p."""
        return shares(self.log_weights) @ self.advice(zs)

    def learn(self, zs, lam, value, slope):
        """log w_p -= hedge l(f_p); theta_p = (1 - eta lam) theta_p - eta g(f_p) z_p^T; both from the same f_p."""
        fs = self.advice(zs)
        self.log_weights = self.log_weights - self.hedge * np.array([value(f) for f in fs])
        self.thetas = [
            (1.0 - self.eta * lam) * theta - self.eta * np.outer(slope(f), z)
            for theta, f, z in zip(self.thetas, fs, zs, strict=True)
        ]


def zero_raker(zs, outputs, eta, hedge):
    """theta_p = 0, w_p = 1."""
    return Raker([np.zeros((outputs, len(z))) for z in zs], np.zeros(len(zs)), eta, hedge)


def raker(X, y, task, outputs, maps, eta, hedge, lam=0.0, loss="squared", epsilon=0.0, factor=1.0):
    """f = sum_p w_p f_p / sum_p w_p, f_p = theta_p z_p(x); theta_p from 0, w_p from 1   [Eqs. 14-17].

    Every round, both from the old theta:
        w_p *= exp(-hedge l(f_p, y)),    theta_p = (1 - eta lam) theta_p - eta l'(f_p, y) z_p(x)^T
    where l is factor times the loss. The paper has one eta for both and no lam. (f - y)^2 is factor=2.
    """
    scores = []
    model = zero_raker([z(X[0]) for z in maps], outputs, eta, hedge)
    for x, label in zip(X, y, strict=True):
        zs = [z(x) for z in maps]
        scores.append(model.score(zs))
        model.learn(zs, lam, *judge(loss, task, label, epsilon, factor))
    return Trace(np.array(scores), state_of(model))


def state_of(model):
    state = {"shares": shares(model.log_weights), "log_weights": model.log_weights}
    return {**state, **{f"weights of {p}": theta for p, theta in enumerate(model.thetas)}}


# ---- AdaRaker ----


def first_of_interval(levels, k, start, fresh):
    """Level k at the first round of one of its intervals; levels are those that there are, fresh a Raker of zeros."""
    if start == "cold" or not levels:
        return fresh
    if k < len(levels):
        return levels[k]
    return Raker(levels[k - 1].thetas, levels[k - 1].log_weights, fresh.eta, fresh.hedge)


def ada_raker(X, y, task, outputs, maps, eta, lam=0.0, loss="squared", epsilon=0.0, start="warm", factor=1.0):
    """f = sum_k h_k f_k / sum_k h_k over levels k = 0..floor(log2 t), each a Raker, in round t = 1, 2, ...

    Level k has the intervals [i 2^k, (i + 1) 2^k - 1], i >= 1, and eta_k = min(1/2, eta / sqrt(2^k)) as its step and
    as its Hedge rate. At the first round of an interval, before the row is scored, h_k = eta_k; after every round,
    that one too, h_k *= exp(-eta_k (l(f_k) - l(f))).

    start="cold": at the first round of an interval theta and the kernels' weights are 0 and 1 again. Where t = 2^k
    all levels start, hence f = 0.
    start="warm": a level keeps both from interval to interval. A new level starts, at t = 2^k, with a copy of what
    level k - 1 has after round t - 1; level 0 starts from 0 and 1 at t = 1.
    """
    levels, log_h, scores = [], [], []
    for t, (x, label) in enumerate(zip(X, y, strict=True), start=1):
        zs, (value, slope) = [z(x) for z in maps], judge(loss, task, label, epsilon, factor)
        for k in range(t.bit_length()):
            if t % 2**k == 0:
                rate = min(0.5, eta / np.sqrt(2.0**k))
                levels[k : k + 1] = [first_of_interval(levels, k, start, zero_raker(zs, outputs, rate, rate))]
                log_h[k : k + 1] = [np.log(rate)]
        fs = np.array([level.score(zs) for level in levels])
        f = shares(np.array(log_h)) @ fs
        scores.append(f)
        for k, level in enumerate(levels):
            log_h[k] -= level.eta * (value(fs[k]) - value(f))
            level.learn(zs, lam, value, slope)
    state = {"shares": shares(np.array(log_h)), "log_weights": np.array(log_h)}
    of_levels = {f"{entry} of level {k}": v for k, level in enumerate(levels) for entry, v in state_of(level).items()}
    return Trace(np.array(scores), {**state, **of_levels})


def spread(losses):
    """r = 2 (l - min) / (max - min) - 1, from -1 for the best to 1 for the worst; 1 for all where all are equal."""
    low, high = np.min(losses), np.max(losses)
    return np.ones(len(losses)) if high == low else 2.0 * (losses - low) / (high - low) - 1.0


def ada_raker_reference(X, y, maps, lam=0.01, beta=0.5, base=2, scale=0.1):
    """What the authors of AdaRaker ran: regression, loss (f - y)^2, features z_p that are not scaled by 1 / sqrt(D).

    Levels k = 1..K, K = floor(log_base n) + 1 for n rows, eta_k = min(scale / base, scale / sqrt(base^k)). Level k is
    active if k = 1 or t > base^(k-1); only active levels learn. All weights h_k start from 1, theta from 0, the
    kernels' weights w_kp from 1 / P, and only h_k is ever started again. Round t:
        where (t - 1) mod base^(k-1) = 0, k active:   h_k = eta_k
        f = sum_k h_k f_k / sum_k h_k over all K levels: one that is not active yet says 0, with its weight
        f_k = sum_p w_kp f_kp / sum_p w_kp,   f_kp = theta_kp z_p
    then, for the active levels, with r the losses spread over [-1, 1] (see spread):
        w_kp = w_kp beta^r_p + 1e-12, divided by their sum where that is above 1e10
        theta_kp = (1 - eta_k lam / 10) theta_kp - eta_k / 10 * 2 (f_kp - y) z_p
        h_k = h_k eta_last^r_k + 1e-10, eta_last that of the last active level
    and all K weights h are divided by their sum.
    """
    K = 1
    while base**K <= len(X):
        K += 1
    etas = np.array([min(scale / base, scale / np.sqrt(float(base) ** k)) for k in range(1, K + 1)])
    thetas = [[np.zeros(len(z(X[0]))) for z in maps] for _ in range(K)]
    w, h, scores = np.full((K, len(maps)), 1.0 / len(maps)), np.ones(K), []
    for t, (x, label) in enumerate(zip(X, y, strict=True), start=1):
        zs = [z(x) for z in maps]
        active = [k for k in range(K) if k == 0 or t > base**k]
        for k in active:
            if (t - 1) % base**k == 0:
                h[k] = etas[k]
        advice = np.array([[theta @ z for theta, z in zip(thetas[k], zs, strict=True)] for k in range(K)])
        fs = np.sum(w * advice, axis=1) / np.sum(w, axis=1)
        scores.append([h @ fs / np.sum(h)])
        for k in active:
            w[k] = w[k] * beta ** spread((advice[k] - label) ** 2) + 1e-12
            if np.sum(w[k]) > 1e10:
                w[k] = w[k] / np.sum(w[k])
            for p, z in enumerate(zs):
                step = etas[k] / 10.0
                thetas[k][p] = (1.0 - step * lam) * thetas[k][p] - step * 2.0 * (advice[k, p] - label) * z
        h[active] = h[active] * etas[active[-1]] ** spread((fs[active] - label) ** 2) + 1e-10
        h = h / np.sum(h)
    return Trace(np.array(scores), {"shares": h, "kernel_weights": w, "weights": np.array(thetas)})


# ---- experts in the dual ----


class KernelPerceptron:
    """f = sum_i y_i k(x_i, x) over the rows at which y f <= 0 was seen: f = 0 counts as a mistake for both labels."""

    def __init__(self, kernel):
        self.kernel, self.points, self.labels = kernel, [], []

    def score(self, x):
        return float(sum(a * self.kernel(x, s) for a, s in zip(self.labels, self.points, strict=True)))

    def learn(self, x, label):
        if label * self.score(x) <= 0.0:
            self.points.append(x)
            self.labels.append(label)


def omkc(X, y, task, outputs, experts, beta, update="all", combine="all", least=0.001, uniforms=None):
    """f = sum_p w_p sgn(f_p), sgn(0) = +1, w_p from 1 / P; labels -1 and +1; experts are factories.

    After the label: w_p *= beta where y f_p <= 0 (so f_p = 0 is always punished, though it votes +1), and w is
    divided by its sum. Every expert is given the row; whether it learns from it is its own rule.

    combine="some": only experts chosen with probability (1 - least) w_p / max w + least vote, with their w_p as it
    is; where none is chosen all vote. update="some": only experts chosen so are given the row. All are weighed in
    any case. Each choice takes one of the uniforms per expert, in their order, every round; expert p is chosen if its
    number is below the probability, with the w of before the round. Those of the vote are taken first.
    """
    members, left = [make() for make in experts], iter(uniforms if uniforms is not None else [])
    w, scores = np.full(len(members), 1.0 / len(members)), []

    def choose(how):
        if how == "all":
            return [True] * len(members)
        return [next(left) < (1.0 - least) * share / np.max(w) + least for share in w]

    for x, label in zip(X, y, strict=True):
        fs = [member.score(x) for member in members]
        voting, learning = choose(combine), choose(update)
        if not any(voting):
            voting = [True] * len(members)
        scores.append(
            [sum(share * (1.0 if f >= 0.0 else -1.0) for share, f, v in zip(w, fs, voting, strict=True) if v)]
        )
        w = np.array([share * beta if label * f <= 0.0 else share for share, f in zip(w, fs, strict=True)])
        w = w / np.sum(w)
        for member, chosen in zip(members, learning, strict=True):
            if chosen:
                member.learn(x, label)
    return Trace(np.array(scores), {"shares": w, "experts": members})


def omkr(
    X, y, task, outputs, kernels, eta, lam, beta=0.5, combine="gradient", eta_weights=None, factor=2.0, epsilon=0.0
):
    """Regression with l = factor (f - y)^2 / 2: f_p = (1 - eta lam) f_p - eta l'(f_p) k_p(x_t, .), w_p from 1 / P.

    combine="hedge":     f = sum_p w_p f_p / sum_p w_p,   w_p *= beta^l(f_p), never divided by their sum
    combine="gradient":  f = sum_p w_p f_p,               w_p -= eta_weights l'(f) f_p, eta_weights = eta / 2 if None
    All from the f_p before the round. Every row is stored.
    """
    eta_weights = eta / 2.0 if eta_weights is None else eta_weights
    coefficients, scores = [[] for _ in kernels], []
    log_w, w = np.full(len(kernels), -np.log(len(kernels))), np.full(len(kernels), 1.0 / len(kernels))
    for t, x in enumerate(X):
        fs = np.array(
            [
                sum(a * kernel(x, s) for a, s in zip(own, X[:t], strict=True))
                for own, kernel in zip(coefficients, kernels, strict=True)
            ]
        )
        f = shares(log_w) @ fs if combine == "hedge" else w @ fs
        scores.append([f])
        if combine == "hedge":
            log_w = log_w + np.log(beta) * factor * (fs - y[t]) ** 2 / 2.0
            w = np.exp(log_w)
        else:
            w = w - eta_weights * factor * (f - y[t]) * fs
        for own, f_p in zip(coefficients, fs, strict=True):
            own[:] = [(1.0 - eta * lam) * a for a in own] + [-eta * factor * (f_p - y[t]) * (abs(f_p - y[t]) > epsilon)]
    return Trace(np.array(scores), {"shares": w, "coefficients": np.array(coefficients)})


def omkl(X, y, task, outputs, kernels, eta, hedge, lam=0.0, loss="squared", epsilon=0.0, factor=1.0):
    """Raker with exact kernels: f_p = (1 - eta lam) f_p - eta l'(f_p) k_p(x_t, .), w_p *= exp(-hedge l(f_p))."""
    kept, log_w, scores = [[] for _ in kernels], np.zeros(len(kernels)), []
    for x, label in zip(X, y, strict=True):
        value, slope = judge(loss, task, label, epsilon, factor)
        fs = np.array(
            [
                sum((a * kernel(x, s) for s, a in own), np.zeros(outputs))
                for own, kernel in zip(kept, kernels, strict=True)
            ]
        )
        scores.append(shares(log_w) @ fs)
        log_w = log_w - hedge * np.array([value(f) for f in fs])
        for own, f in zip(kept, fs, strict=True):
            own[:] = [(s, (1.0 - eta * lam) * a) for s, a in own] + [(x, -eta * slope(f))]
    return Trace(np.array(scores), {"shares": shares(log_w)})
