"""Fit the polynomials of `onkel.core.vecmath` and print them as Python source: ``python tools/fit_polynomials.py``.

Chebyshev fits in 50 digits, within a few percent of the minimax error. Needs mpmath.
"""

from mpmath import chebyfit, cos, log, mp, mpf, pi, sin, sqrt

mp.dps = 50

HALF_TURN = [mpf(0), mpf(1) / 4]  # h^2 for |h| <= 1/2
UNIT = [-mpf(1) / 2, mpf(1) / 2]


def sine(y):
    """sin(pi h) / h as a function of y = h^2."""
    return sin(pi * sqrt(y)) / sqrt(y) if y > mpf(10) ** -30 else pi - pi**3 * y / 6


def cosine(y):
    return cos(pi * sqrt(y))


FITS = {
    "SIN_32": (sine, HALF_TURN, 5),
    "COS_32": (cosine, HALF_TURN, 6),
    "EXP2_32": (lambda t: mpf(2) ** t, UNIT, 7),
    "SIN_64": (sine, HALF_TURN, 9),
    "COS_64": (cosine, HALF_TURN, 9),
    "EXP2_64": (lambda t: mpf(2) ** t, UNIT, 12),
}

if __name__ == "__main__":
    for name, (function, interval, count) in FITS.items():
        coefficients, error = chebyfit(function, interval, count, error=True)
        print(f"# {name}: error {float(error):.2g}, log2 {float(log(error, 2)):.1f}; highest power first")
        print(f"{name} = (")
        for coefficient in coefficients:
            print(f"    {float(coefficient)!r},")
        print(")")
