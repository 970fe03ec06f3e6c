"""Internal. Elementary functions by the algorithms of fdlibm, which Java uses as well, for bitwise equal results.

Results of NumPy and C libraries differ in the last digit between processors: NumPy has different code for AVX-512, the GNU library for FMA.
The functions here consist of additions, multiplications and divisions only, whose rounding IEEE 754 defines.

Source: fdlibm 5.3 (netlib.org/fdlibm: ``s_expm1.c``, ``e_exp.c``, ``e_sinh.c``, ``e_cosh.c``, ``s_tanh.c``, ``s_cbrt.c``). Arguments and
results are arrays of float64, of one shape.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

__all__ = ["cbrt", "cosh", "expm1", "sinh", "tanh"]

_LN2 = math.log(2)
# ln(2) as a sum, whose first part has zeros at its end, so that its product with a small integer is exact.
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_PER_LN2 = 1.44269504088896338700
# The sign no longer matters: exp(x) plus or minus exp(-x) is exp(x).
_ONE_SIDED = 22.0
# Above it exp(x) overflows.
_EXP_MAX = 7.09782712893383973096e02


def _exp(x: Any) -> Any:
    """Return exp(x) for x >= 0, which may differ by one digit from other libraries."""
    x = np.minimum(x, 2000.0)
    k = np.where(x < 0.5 * _LN2, 0, np.where(x < 1.5 * _LN2, 1, (x * _PER_LN2 + 0.5).astype(np.int64)))
    high, low = x - k * _LN2_HIGH, k * _LN2_LOW
    r = high - low
    t = r * r
    p = (6.61375632143793436117e-05, -1.65339022054652515390e-06, 4.13813679705723846039e-08)
    c = r - t * (1.66666666666666019037e-01 + t * (-2.77777777770155933842e-03 + t * (p[0] + t * (p[1] + t * p[2]))))
    return np.where(k == 0, 1 - ((r * c) / (c - 2) - r), np.ldexp(1 - ((low - (r * c) / (2 - c)) - high), k))


def expm1(x: Any) -> Any:
    """Return exp(x) - 1, also precise for small x."""
    size = np.abs(x)
    # Beyond these the result is -1 and infinite, and the number of steps stays small.
    x = np.clip(x, -60.0, 2000.0)
    steps = np.where(size < 1.5 * _LN2, np.copysign(1.0, x), np.trunc(_PER_LN2 * x + np.copysign(0.5, x)))
    k = np.where(np.isnan(x) | (size <= 0.5 * _LN2), 0, steps).astype(np.int64)
    high, low = x - k * _LN2_HIGH, k * _LN2_LOW
    r = high - low
    c = (high - r) - low
    half = 0.5 * r
    square = r * half
    q = (-3.33333333333331316428e-02, 1.58730158725481460165e-03, -7.93650757867487942473e-05)
    q4, q5 = 4.00821782732936239552e-06, -2.01099218182624371326e-07
    r1 = 1 + square * (q[0] + square * (q[1] + square * (q[2] + square * (q4 + square * q5))))
    t = 3 - r1 * half
    e = square * ((r1 - t) / (6 - r * t))
    near = r - (r * e - square)
    e = (r * (e - c) - c) - square
    cases = [size < 2**-54, k == 0, k == -1, k == 1, (k <= -2) | (k > 56), k < 20]
    one_up = np.where(r < -0.25, -2 * (e - (r + 0.5)), 1 + 2 * (r - e))
    power = np.ldexp(1.0, -np.maximum(k, -1000))
    found = [x, near, 0.5 * (r - e) - 0.5, one_up, np.ldexp(1 - (e - r), k) - 1, np.ldexp((1 - power) - (e - r), k)]
    return np.select(cases, found, default=np.ldexp((r - (e + power)) + 1, k))


def _half_exp(size: Any) -> Any:
    """Return exp(size) / 2, also where exp(size) itself overflows."""
    root = _exp(0.5 * size)
    return np.where(size <= _EXP_MAX, 0.5 * _exp(size), (0.5 * root) * root)


def sinh(x: Any) -> Any:
    """Return the hyperbolic sine."""
    size = np.abs(x)
    t = expm1(size)
    small = np.where(size < 1, 2 * t - t * t / (t + 1), t + t / (t + 1))
    return np.where(size < 2**-28, x, np.copysign(np.where(size < _ONE_SIDED, 0.5 * small, _half_exp(size)), x))


def cosh(x: Any) -> Any:
    """Return the hyperbolic cosine."""
    size = np.abs(x)
    t, e = expm1(size), _exp(np.minimum(size, _ONE_SIDED))
    small = np.where(size < 0.5 * _LN2, 1 + t * t / (2 * (1 + t)), 0.5 * e + 0.5 / e)
    return np.where(size < _ONE_SIDED, small, _half_exp(size))


def tanh(x: Any) -> Any:
    """Return the hyperbolic tangent."""
    size = np.abs(x)
    up, down = expm1(2 * size), expm1(-2 * size)
    large = np.where(size >= 1, 1 - 2 / (up + 2), -down / (down + 2))
    return np.where(size < 2**-55, x, np.copysign(np.where(size >= _ONE_SIDED, 1.0, large), x))


def cbrt(x: Any) -> Any:
    """Return the cube root."""
    size = np.abs(x)
    subnormal = size < 2.0**-1022
    scaled = np.where(subnormal, size * 2.0**54, size)
    # A third of the exponent, in the upper half of the bits, is a cube root to five bits.
    first = np.where(subnormal, 696219795, 715094163) + (scaled.view(np.int64) >> 32) // 3
    t = (first << 32).view(np.float64)
    s = 19 / 35 + (t * t / size) * t
    t = t * (5 / 14 + (45 / 28) / (s + 99 / 70 + (-864 / 1225) / s))
    # To twenty bits and rounded up, so that its square is exact.
    t = (((t.view(np.int64) >> 32) + 1) << 32).view(np.float64)
    r = size / (t * t)
    t = t + t * ((r - t) / (t + t + r))
    return np.where(np.isfinite(x) & (x != 0), np.copysign(t, x), x)
