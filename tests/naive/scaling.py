"""Online standardisation: each row by the statistics of the rows before it, one feature at a time (steps 1 and 6)."""

import math
from dataclasses import dataclass, field

import numpy as np

WINSOR = 3.0  # standard deviations
Y_WINSOR = 20.0
WINSOR_AFTER = 10  # values: the first ones are taken as they come
GUARD = 10.0  # ratio of standard deviations; 100 for variances
LINEAR, CLIP = 2.0, 20.0  # the squash is the identity up to LINEAR and never leaves +-CLIP
FIRST_WINDOW = 16
CONSTANT = 1e-12  # sd <= CONSTANT |mean|: nothing but rounding
INFINITE = 1e100
GAP = 4.0  # standard deviations
FAR, FAR_MANY, FAR_ENOUGH = 1000.0, 32, 8  # standard deviations; values


@dataclass
class Moments:
    """Centred: number, mean and sum of squared deviations of the values. Not centred: mean = 0, m2 their squares."""

    count: int = 0
    mean: float = 0.0
    m2: float = 0.0


@dataclass
class Feature:
    """The winsorised statistics that standardise, and the unclipped ones of the current window that guard them."""

    main: Moments = field(default_factory=Moments)
    window: Moments = field(default_factory=Moments)
    length: int = FIRST_WINDOW
    common: float = 0.0  # candidate for the value that most rows share
    votes: int = 0
    hits: int = 0
    far: float = 0.0  # +1 for each value beyond 1000 sd, -1/4 for the others, at least 0


def finite(x):
    """+-inf counts as +-1e100."""
    return math.copysign(INFINITE, x) if math.isinf(x) else x


def squash(v):
    """v for |v| <= 2, sign(v) min(2 + ln(|v| - 1), 20) beyond."""
    if abs(v) <= LINEAR:
        return v
    return math.copysign(min(LINEAR + math.log(abs(v) - 1.0), CLIP), v)


def add(moments, x, centred):
    """Welford; not centred: m2 += x^2. Changes moments."""
    moments.count += 1
    if not centred:
        moments.m2 += x * x
        return
    old = x - moments.mean
    moments.mean += old / moments.count
    moments.m2 += old * (x - moments.mean)


def standing(feature, x, centred):
    """xs = sq((x - mean) / sd), sd = sqrt(m2 / count) of the earlier values; not centred: mean = 0, sd the rms.

    0 for NaN and for a constant feature. Before there is an sd: 0 (fewer than 2 values); not centred: sign(x).
    """
    if math.isnan(x):
        return 0.0
    x, seen = finite(x), feature.main
    if not centred and seen.count == 0:
        return float(np.sign(x))
    if centred and seen.count < 2:
        return 0.0
    sd = math.sqrt(seen.m2 / seen.count)
    if sd <= CONSTANT * abs(seen.mean):
        return 0.0
    return squash(set_apart(feature, x, sd) if centred else (x - seen.mean) / sd)


def set_apart(feature, x, sd):
    """z = (x - mean) / sd; where a share p > 1/2 of the values is m, z + gap sign(x - m), again of mean 0, variance 1.

    gap = 4 (2 p - 1). With a share q = 1 - p of other values, all on the side of the mean, the shift has the mean
    q gap sign(mean - m), the variance gap^2 q p, and the covariance gap p |mean - m| / sd with z.
    """
    seen = feature.main
    z, p = (x - seen.mean) / sd, feature.hits / seen.count
    if p <= 0.5:
        return z
    gap, q, m = GAP * (2.0 * p - 1.0), 1.0 - p, feature.common
    side = 1.0 if seen.mean > m else -1.0
    shift = gap * (float(np.sign(x - m)) - q * side)
    return (z + shift) / math.sqrt(1.0 + gap * gap * q * p + 2.0 * gap * p * abs(seen.mean - m) / sd)


def winsorised(seen, x):
    """x clipped to mean +- 3 sd of the values before it, once it is at least the 11th and m2 > 0."""
    if seen.count + 1 <= WINSOR_AFTER or seen.m2 <= 0.0:
        return x
    reach = WINSOR * math.sqrt(seen.m2 / seen.count)
    return min(max(x, seen.mean - reach), seen.mean + reach)


def guard(feature):
    """A full window replaces statistics of more than 100 times its variance. Changes feature.

    The next window is 16 long after a replacement, else twice as long as this one.
    """
    main, window = feature.main, feature.window
    if window.count < feature.length:
        return
    variance = window.m2 / window.count
    if variance > 0.0 and main.m2 / main.count > GUARD * GUARD * variance:
        feature.main, feature.length = window, FIRST_WINDOW
        feature.votes, feature.hits = min(feature.votes, window.count), min(feature.hits, window.count)
    else:
        feature.length *= 2
    feature.window = Moments()


def vote(feature, x):
    """Majority vote of Boyer and Moore; hits = values equal to the candidate since it is one. Changes feature."""
    if x == feature.common:
        feature.votes += 1
        feature.hits += 1
    elif feature.votes == 0:
        feature.common, feature.votes, feature.hits = x, 1, 1
    else:
        feature.votes -= 1


def count_far(feature, x):
    """Count values that are far beyond all that was seen. Changes feature."""
    seen = feature.main
    ready = seen.count + 1 > WINSOR_AFTER and seen.m2 > 0.0
    if ready and abs(x - seen.mean) > FAR * math.sqrt(seen.m2 / seen.count):
        feature.far += 1.0
    else:
        feature.far = max(feature.far - 0.25, 0.0)


def begin_anew(feature):
    """The far values of the window are the new statistics: the others are nothing beside them. Changes feature."""
    window, n = feature.window, math.floor(min(feature.far, feature.window.count))
    total = window.mean * window.count
    squares = window.m2 + window.mean * window.mean * window.count
    feature.main = Moments(n, total / n, max(squares - total / n * total, 0.0))
    feature.votes = feature.hits = 0
    feature.far, feature.length, feature.window = 0.0, FIRST_WINDOW, Moments()


def observe(feature, x, centred):
    """Main statistics, then the window, then the guard [A1]; NaN changes nothing. Changes feature."""
    if math.isnan(x):
        return
    x = finite(x)
    count_far(feature, x)
    add(feature.main, winsorised(feature.main, x), centred)
    vote(feature, x)
    add(feature.window, x, centred)
    if feature.far >= FAR_MANY and feature.window.count >= FAR_ENOUGH:
        begin_anew(feature)
    else:
        guard(feature)


def standardised(X, layout):
    """(n, d): row i is xs by the statistics of the rows before i.

    "dense": every entry counts and is centred; "csr": only the entries x_ij != 0 are touched, without centring.
    """
    centred = {"dense": True, "csr": False}[layout]
    features = [Feature() for _ in range(X.shape[1])]
    xs = np.zeros(X.shape)
    for i, row in enumerate(X.tolist()):
        for j, x in enumerate(row):
            if centred or x != 0.0:
                xs[i, j] = standing(features[j], x, centred)
                observe(features[j], x, centred)
    return xs


@dataclass
class Targets:
    """Mean, deviation and range of the (clipped) targets so far, and the running squared error of the mixture."""

    seen: Moments = field(default_factory=Moments)
    low: float = 0.0
    high: float = 0.0
    mse: float = 1.0


def deviation(targets):
    """sy; 1 until it is positive."""
    return math.sqrt(targets.seen.m2 / targets.seen.count) if targets.seen.m2 > 0.0 else 1.0


def scale_target(targets, y):
    """Clip y by the old my, sy; add it; ys = (y - my) / sy by the new ones   [step 5, A2]. Changes targets."""
    y, seen = finite(float(y)), targets.seen
    if seen.count > WINSOR_AFTER and seen.m2 > 0.0:
        reach = Y_WINSOR * deviation(targets)
        y = min(max(y, seen.mean - reach), seen.mean + reach)
    first = seen.count == 0
    targets.low, targets.high = (y, y) if first else (min(targets.low, y), max(targets.high, y))
    add(seen, y, centred=True)
    return (y - seen.mean) / deviation(targets)
