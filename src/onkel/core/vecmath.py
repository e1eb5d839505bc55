"""Vectorised sine, cosine and power of two, for float32 and float64.

PyPI's Numba has no vector library, so ``np.sin`` in a loop is a call per number. These polynomials vectorise: 5 + 6 and
9 + 9 coefficients for sine and cosine, 7 and 12 for the power of two. `tools/fit_polynomials.py` fits and prints them.

Phases are in half turns: sin and cos of pi u. Adding 1.5 * 2^23 (2^52) rounds |u| to the nearest integer k in the low
bits of the sum; h = |u| - k is exact, and both results change sign with the lowest bit of k, the sine also with u.
Limits and signs are taken from and given to the bits, as whole numbers: the units for that are idle otherwise.

A power 2^x is p 2^k, with k the integer nearest to x: k is added to the exponent in the bits of p. Where the result is
subnormal, p 2^(k + 1074) counts its steps of 2^-1074; adding 2^52 rounds that to a whole number in the low bits, which
are those of the result. So no arithmetic is done on subnormal numbers, which takes many times as long on most machines.
"""

from typing import Any

import numpy as np

from onkel.core.verbs import compiled, verb

F32, F64, I32, I64 = np.float32, np.float64, np.int32, np.int64
TURN_32 = F32(1.5 * 2.0**23)
TURN_64 = F64(1.5 * 2.0**52)
WHOLE = F64(2.0**52)  # numbers from here on have no fraction
WHOLE_BITS = WHOLE.view(I64)
TO_STEPS = I64((1023 + 1074) * 2**52 - 2**64)  # where exponents stand; added to k there it gives 2^(k + 1074)


@verb
def sincospi(u: Any) -> Any:
    """(sin(pi u), cos(pi u)); (0, 1) where u is so large that it has no fraction. Never NaN."""


@verb
def exp2(x: Any) -> Any:
    """2**x, at most 2**126 or 2**1022; 0 for NaN. Float32: 0 for x < -126. Float64: through the subnormal numbers."""


@verb
def decay(x: Any) -> Any:
    """2**x for x <= 0, else 1: like `exp2` otherwise, and a little faster than with a limit of its own."""


@sincospi.of(np.float32)
def _(u: Any) -> Any:
    bits, last = F32(u).view(I32), F32(4194304.0).view(I32)
    size = I32(bits & I32(2**31 - 1))
    sign = bits ^ size
    size = size if size < last else last  # beyond, no digit of the fraction is left; NaN ends here too
    v = I32(size).view(F32)
    t = v + TURN_32
    h = v - (t - TURN_32)
    odd = F32(t).view(I32) << I32(31)
    y = h * h
    p = F32(0.07765591227601387)
    p = p * y + F32(-0.5982904112834275)
    p = p * y + F32(2.550077386528912)
    p = p * y + F32(-5.167710076668315)
    p = p * y + F32(3.1415926400772034)
    sine = h * p
    p = F32(-0.024395932097550446)
    p = p * y + F32(0.2349370685950865)
    p = p * y + F32(-1.3352119493905503)
    p = p * y + F32(4.058709154763134)
    p = p * y + F32(-4.934802136928946)
    p = p * y + F32(0.999999999779154)
    return I32(F32(sine).view(I32) ^ odd ^ sign).view(F32), I32(F32(p).view(I32) ^ odd).view(F32)


@exp2.of(np.float32)
def _(x: Any) -> Any:
    return power_32(x, F32(126.0))


@decay.of(np.float32)
def _(x: Any) -> Any:
    return power_32(x, F32(0.0))


@compiled
def power_32(x: Any, most: Any) -> Any:
    normal = x >= F32(-126.0)  # and no NaN
    x = x if x < most else most
    t = x + TURN_32
    f = x - (t - TURN_32)
    p = F32(0.0001546144469856913)
    p = p * f + F32(0.0013400428177615838)
    p = p * f + F32(0.009618056678524637)
    p = p * f + F32(0.05550327226670302)
    p = p * f + F32(0.24022650922288757)
    p = p * f + F32(0.6931472067028326)
    p = p * f + F32(1.0)
    power = I32(F32(p).view(I32) + (F32(t).view(I32) << I32(23)))
    return I32(power if normal else I32(0)).view(F32)


@sincospi.of(np.float64)
def _(u: Any) -> Any:
    bits, last = F64(u).view(I64), F64(2251799813685248.0).view(I64)
    size = I64(bits & I64(2**63 - 1))
    sign = bits ^ size
    size = size if size < last else last  # beyond, no digit of the fraction is left; NaN ends here too
    v = I64(size).view(F64)
    t = v + TURN_64
    h = v - (t - TURN_64)
    odd = F64(t).view(I64) << I64(63)
    y = h * h
    p = F64(7.697826768224191e-07)
    p = p * y + F64(-2.1903497074626018e-05)
    p = p * y + F64(0.0004662998161898394)
    p = p * y + F64(-0.007370430505916944)
    p = p * y + F64(0.0821458865731029)
    p = p * y + F64(-0.5992645293189447)
    p = p * y + F64(2.5501640398773007)
    p = p * y + F64(-5.167712780049969)
    p = p * y + F64(3.141592653589793)
    sine = h * p
    p = F64(4.149564353942586e-06)
    p = p * y + F64(-0.00010456655338748738)
    p = p * y + F64(0.0019295562724817132)
    p = p * y + F64(-0.025806888737002202)
    p = p * y + F64(0.23533063012953284)
    p = p * y + F64(-1.335262768843447)
    p = p * y + F64(4.058712126416497)
    p = p * y + F64(-4.934802200544676)
    p = p * y + F64(1.0)
    return I64(F64(sine).view(I64) ^ odd ^ sign).view(F64), I64(F64(p).view(I64) ^ odd).view(F64)


@exp2.of(np.float64)
def _(x: Any) -> Any:
    return power_64(x, F64(1022.0))


@decay.of(np.float64)
def _(x: Any) -> Any:
    return power_64(x, F64(0.0))


@compiled
def power_64(x: Any, most: Any) -> Any:
    normal, there = x >= F64(-1022.0), x >= F64(-1076.0)  # and no NaN
    x = x if x < most else most
    t = x + TURN_64
    f = x - (t - TURN_64)
    p = F64(4.4558179083360645e-10)
    p = p * f + F64(7.074194297288521e-09)
    p = p * f + F64(1.0178057087733941e-07)
    p = p * f + F64(1.3215432535912375e-06)
    p = p * f + F64(1.5252733841556773e-05)
    p = p * f + F64(0.00015403530463724353)
    p = p * f + F64(0.001333355814640647)
    p = p * f + F64(0.009618129107587256)
    p = p * f + F64(0.055504108664821625)
    p = p * f + F64(0.24022650695910158)
    p = p * f + F64(0.6931471805599453)
    p = p * f + F64(1.0)
    k = F64(t).view(I64) << I64(52)
    steps = F64(p * I64(k + TO_STEPS).view(F64) + WHOLE).view(I64) - WHOLE_BITS
    steps = steps if there else I64(0)
    return I64(I64(F64(p).view(I64) + k) if normal else steps).view(F64)
