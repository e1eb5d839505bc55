"""How many random Fourier frequencies a wanted precision needs, and what a number of frequencies is worth.

The kernel k(x - s) is compared with its estimate <z(x), z(s)> = mean_k cos(omega_k . (x - s)) by D independent
frequencies: the features [cos, sin] / sqrt(D) of `onkel.pieces.maps.fourier.Fourier`, drawn by `iid`, with k(0) = 1.
Every bound here reads

    P(error >= precision) <= constant max(1, reach / precision)^2 exp(-D precision^2 / scale)

and is safe rather than sharp: the error is usually a fraction of what it promises.
"""

import math
from typing import Any, NamedTuple

from scipy import special

from onkel.core.parameters import at_least, is_number, positive
from onkel.pieces.kernels import CAUCHY, GAUSSIAN, LAPLACIAN, Kernel


def frequencies_needed(
    precision: float,
    confidence: float = 0.95,
    *,
    n_rows: int | None = None,
    n_features: int | None = None,
    diameter: float | None = None,
    spread: float | None = None,
) -> int:
    """The least D whose estimates of a kernel are, with that confidence, all closer to it than `precision`.

    For one pair of rows, of any kernel                             [nguyen2017, Lemma 1]:
        P(error >= precision) <= 2 exp(-D precision^2 / 2).
    For all pairs among n_rows rows, Lemma 1 once for each of the n_rows (n_rows - 1) / 2 pairs:
        P(some error >= precision) <= n_rows (n_rows - 1) exp(-D precision^2 / 2).
    For all pairs of a set in R^n_features of that diameter         [nguyen2017, Theorem 2; lu2016, Theorem 1]:
        P(largest error >= precision)
            <= 2^7 max(1, spread diameter / precision)^2 exp(-D precision^2 / (4 (n_features + 2))),
    where spread^2 = E|omega|^2, see `spectral_spread`. D frequencies make 2 D features. The rows may not have been
    chosen by looking at the frequencies, except in the third case.

    Differs from the papers. Theorem 2 writes |sigma| for the spread, which is right if sigma holds the standard
    deviations of the frequencies, kernel exp(-sum_n sigma_n^2 u_n^2 / 2); the kernel it prints makes them variances.
    Its condition precision <= spread diameter is met by max(1, .): a wider set contains the given one; lu2016 leaves
    the condition out. lu2016 has the 2^8 of rahimi2007 where 2^7 is enough for every kernel with a finite spread.
    The proof of Theorem 2 takes the mean square of the steepest slope of the error to be at most E|omega|^2, which is
    false (for D = 1 it is larger); `_everywhere` has a proof of 2^7 without that. The features of lu2016 lack their
    1 / sqrt(D).
    The second case is ours: it is all that Theorem 1 of lu2016 uses, does not grow with the number of features, and
    holds for the Laplacian kernel too.

    Not for draw="phase" (its terms reach 2, not 1: one pair needs 4 times as many), nor proved for frequencies that
    depend on each other, as orthogonal ones do.

    >>> frequencies_needed(0.1)
    738
    >>> frequencies_needed(0.1, n_rows=1_000_000)
    6126
    >>> frequencies_needed(0.1, n_features=2, diameter=2.0, spread=1.0)
    22143

    References: nguyen2017, lu2016, rahimi2007
    """
    precision = positive("precision", precision)
    bound = _bound(n_rows, n_features, diameter, spread)
    exponent = bound.log_constant + _surprise(confidence) + 2.0 * math.log(max(1.0, bound.reach / precision))
    needed = bound.scale * exponent / precision / precision
    if math.isinf(needed):
        raise ValueError(f"precision={precision!r} needs more frequencies than can be counted.")
    return math.ceil(needed * (1.0 - 1e-12))  # rounding may not turn a whole number into the next one


def precision_of(
    n_frequencies: int,
    confidence: float = 0.95,
    *,
    n_rows: int | None = None,
    n_features: int | None = None,
    diameter: float | None = None,
    spread: float | None = None,
) -> float:
    """The precision that so many frequencies promise: `frequencies_needed` solved for it, with the same arguments.

    For pairs of rows, with failure = 1 - confidence                [nguyen2017, Lemma 1]:
        precision = sqrt(2 log(n_rows (n_rows - 1) / failure) / D).
    For all pairs of a set it solves                                [nguyen2017, Theorem 2; lu2016, Theorem 1]:
        2^7 max(1, spread diameter / precision)^2 exp(-D precision^2 / (4 (n_features + 2))) = failure.
    A kernel lies between -1 and 1, so a precision of 2 or more promises nothing.

    >>> round(precision_of(738), 4)
    0.1
    >>> round(precision_of(400, n_features=2, diameter=2.0, spread=1.0), 4)
    0.6368

    References: nguyen2017, lu2016
    """
    n_frequencies = at_least("n_frequencies", n_frequencies, 1)
    bound = _bound(n_rows, n_features, diameter, spread)
    exponent, unit = bound.log_constant + _surprise(confidence), math.sqrt(bound.scale / n_frequencies)
    precision = unit * math.sqrt(exponent)
    if precision >= bound.reach:
        return precision
    # y = (precision / unit)^2 solves y + log y = exponent + 2 log(reach / unit)
    return unit * math.sqrt(special.wrightomega(exponent + 2.0 * math.log(bound.reach / unit)))


def regret_bound(n_rows: int, precision: float, *, norm: float, eta: float, lipschitz: float = 1.0) -> float:
    """How much more gradient descent on random features may lose in n_rows rounds than a kernel expansion f does.

    For f = sum_i alpha_i k(x_i, .) over the rows, norm = sum_i |alpha_i|, a convex loss whose slope in the score is
    at most `lipschitz`, and w <- w - eta gradient from w = 0       [lu2016, Theorem 1]:
        sum_t loss_t(w_t) - sum_t loss_t(f)
            <= (1 + precision) norm^2 / (2 eta) + eta lipschitz^2 n_rows / 2 + precision lipschitz n_rows norm
    whenever all pairs of rows are estimated better than `precision`: with the confidence that was asked of
    ``frequencies_needed(precision, confidence, n_rows=n_rows)``. The last term is what the features cost: no
    score of f changes by more than precision norm.

    Differs from the paper: nothing in the formula, but its features lack the 1 / sqrt(D) without which it is wrong,
    since the gradient is at most `lipschitz` long only if |z(x)| = 1. (Then 1 + precision could be 1.) Remark 1 prints
    |f|_1 where eta = precision = 1 / sqrt(n_rows) gives |f|_1^2 in the first term.

    >>> round(regret_bound(10_000, 0.01, norm=5.0, eta=0.05), 1)
    1002.5

    References: lu2016
    """
    n_rows, precision = at_least("n_rows", n_rows, 1), positive("precision", precision)
    norm, eta, slope = positive("norm", norm), positive("eta", eta), positive("lipschitz", lipschitz)
    return (1.0 + precision) * norm**2 / (2.0 * eta) + eta * slope**2 * n_rows / 2.0 + precision * slope * n_rows * norm


def spectral_spread(kernel: Kernel, n_features: int) -> float:
    """sqrt(E|omega|^2), how far the frequencies of a kernel spread: sqrt(2 gamma d)   [lu2016, Remark 2].

    Gaussian: the d coordinates are normal of variance 2 gamma. Cauchy: they are Laplace of scale sqrt(gamma), which
    has the variance 2 gamma too. Laplacian: they are Cauchy, without a variance. A Gaussian kernel with a width per
    feature, exp(-sum_n sigma_n^2 u_n^2 / 2), has the spread |sigma|.

    >>> from onkel.pieces.kernels import gaussian
    >>> spectral_spread(gaussian(sigma=0.5), 4)
    4.0

    References: lu2016
    """
    if kernel.code == LAPLACIAN:
        raise ValueError(
            "The frequencies of a Laplacian kernel have an infinite spread: bound pairs by n_rows instead."
        )
    if kernel.code not in (GAUSSIAN, CAUCHY):
        raise ValueError("Only a Gaussian or Cauchy kernel has a spectral spread.")
    return math.sqrt(2.0 * positive("gamma", kernel.gamma) * at_least("n_features", n_features, 1))


class _Bound(NamedTuple):
    """P(error >= precision) <= exp(log_constant) max(1, reach / precision)^2 exp(-D precision^2 / scale)."""

    log_constant: float
    reach: float
    scale: float


def _bound(n_rows: int | None, n_features: Any, diameter: Any, spread: Any) -> _Bound:
    given = [value is not None for value in (n_features, diameter, spread)]
    if not any(given):
        return _among_rows(2 if n_rows is None else at_least("n_rows", n_rows, 2))
    if not all(given):
        raise ValueError("n_features, diameter and spread bound all pairs of a set together: give all three or none.")
    if n_rows is not None:
        raise ValueError("Give n_rows, or n_features, diameter and spread, not both.")
    reach = positive("diameter", diameter) * positive("spread", spread)
    return _everywhere(at_least("n_features", n_features, 1), reach)


def _among_rows(n_rows: int) -> _Bound:
    """Hoeffding for a mean of D terms in [-1, 1], 2 exp(-D precision^2 / 2), once for every pair."""
    return _Bound(math.log(n_rows * (n_rows - 1.0)), 0.0, 2.0)


def _everywhere(n_features: int, reach: float) -> _Bound:
    """2^7 max(1, reach / precision)^2 exp(-D precision^2 / (4 (d + 2))), reach = spread diameter.

    Proof. Write e for the precision and q < 1 for this probability; let reach >= e, else widen the set. Differences of
    two points lie in a ball of radius `diameter`, which (1 + 2 diameter / r)^d balls of radius r = e / (2 a spread)
    cover. The error at u is below e if it is below e / 2 at the centre next to u and its slope is below a spread.
    - Centres: by Hoeffding, one fails with probability 2 (1 + 4 a reach / e)^d exp(-D e^2 / 8) at most, and
      exp(-D e^2 / 8) = (q / (2^7 (reach / e)^2))^((d + 2) / 2).
    - Slope: it is at most mean_k |omega_k| + E|omega| everywhere, and E|omega| <= spread, so by Markov it reaches
      a spread with probability 1 / (a - 1)^2 at most.
    With a = 1 + 1.5 / sqrt(q) the first is at most (q / 2^6) ((6 + 5 sqrt(q)) / sqrt(2^7))^d < q / 2^6, the second is
    q / 1.5^2: together less than q.
    """
    return _Bound(math.log(2.0**7), reach, 4.0 * (n_features + 2))


def _surprise(confidence: Any) -> float:
    """log(1 / failure) of a checked confidence 1 - failure."""
    if not (is_number(confidence) and 0.0 < confidence < 1.0):
        raise ValueError(f"confidence must lie between 0 and 1, not {confidence!r}.")
    return -math.log1p(-float(confidence))
