"""The cube root, without a division.

|x| = 2**(3 n) t with t = 2**r m, r one of -1, 0 and 1 and m in [sqrt(1/2), sqrt(2)). A polynomial and a factor for r
give z near t**(-1/3). From w = t z**2 and e = 1 - w z the cube root is w (1 - e)**(-2/3), of which few terms are
needed. As e is computed from w as it was rounded, two thirds of that rounding go away with it.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from aesara.ir.instructions import Value

from . import coefficients
from .arithmetic import absolute, copy_sign, fma_add, format_of, horner, polynomial, select
from .exponential import power_of_two, round_to_integer
from .logarithm import normalise, split_exponent

#: the terms of (1 - e)**(-2/3) - 1, divided by e, that count
_SERIES = {"float64": (2 / 3, 5 / 9, 40 / 81), "float32": (2 / 3, 5 / 9)}
_ROOT = 2 ** (-1 / 3)


def cube_root(x: Value) -> Value:
    format = format_of(x)
    size = absolute(x)
    split = split_exponent(*normalise(size))
    n, low_bits = round_to_integer(split.exponent, 1 / 3)
    r = fma_add(n, -3.0, split.exponent)
    # the parabolas through 1/2, 1, 2 and through 2**(1/3), 1, 2**(-1/3)
    t = split.mantissa * horner((1.0, 0.75, 0.25), r)
    factor = horner((1.0, (_ROOT - 1 / _ROOT) / 2, (_ROOT + 1 / _ROOT) / 2 - 1), r)
    z = polynomial(coefficients.CUBE_ROOT[format.dtype], split.mantissa) * factor
    w = t * z * z
    e = fma_add(-w, z, 1.0)
    root = fma_add(w, e * horner(_SERIES[format.dtype], e), w) * power_of_two(low_bits, format)
    result = copy_sign(root, x)
    return select((size < math.inf) & (size > 0.0), result, x)


FORMULAS: dict[str, Callable[..., Value]] = {"cbrt": cube_root}
