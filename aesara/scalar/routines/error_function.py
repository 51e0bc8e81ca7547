"""Quotients of repeated integrals of the complementary error function, which its derivatives are made of."""

from __future__ import annotations

import math

from aesara.scalar.native import Special
from aesara.scalar.routine import Known, SciPyFunction, floor, routine, sqrt

__all__ = ["erfc_ratio"]

_erfcx = Known(SciPyFunction("erfcx"), Special("erfcx"))

_SQRT_PI = math.sqrt(math.pi)
#: The forward recurrence is accurate up to this argument; above it, the continued fraction converges quickly.
_MIDDLE = 2.0
_LARGEST_ORDER = 1000.0


@routine
def erfc_ratio(n: float, x: float) -> float:
    """Return the repeated integral of erfc of order n over that of order n - 1, for integers n >= 1.

    The integral of order 0 is erfc; DLMF 7.18.7 relates three orders.
    """
    if not 1.0 <= n <= _LARGEST_ORDER or n != floor(n):
        return math.nan
    if x > _MIDDLE:
        order = n + floor(14.0 + 250.0 / (x * x))
        ratio = 1.0 / (x + sqrt(x * x + 2.0 * order))
        while order > n:
            ratio = 0.5 / (x + order * ratio)
            order -= 1.0
        return ratio
    ratio = 1.0 / (_SQRT_PI * _erfcx(x)) - x
    order = 1.0
    while order < n:
        order += 1.0
        ratio = (0.5 / ratio - x) / order
    return ratio
