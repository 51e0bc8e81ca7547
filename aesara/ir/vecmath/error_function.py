"""erf and erfc.

erf: an odd polynomial up to `SPLIT`, beyond it 1 - exp(p(|x|)) with p fitted to log(erfc).
erfc: 1 - x - x P(x**2) up to 1/2; beyond it exp(-x**2) S(t) / (|x| + c), t = (|x| - c) / (|x| + c), where the
polynomial S is fitted to the slowly varying exp(x**2) erfc(x) (x + c). The mapping is that of Shepherd and
Laframboise, Math. Comp. 36 (1981) 249.
"""

from __future__ import annotations

from collections.abc import Callable

from aesara.ir.instructions import Value

from . import coefficients
from .arithmetic import absolute, at_most, copy_sign, fma_add, format_of, polynomial, select
from .exponential import (
    LOG2_E,
    expm1_polynomial,
    ln2_parts,
    power_of_two,
    reduce_exp,
    round_to_integer,
    scale_in_two_steps,
)

SPLIT = {"float64": 1.0, "float32": 0.875}
ERFC_CENTRE = 2.5


def erf(x: Value) -> Value:
    format = format_of(x)
    magnitude = absolute(x)
    square = x * x
    inner = fma_add(x, polynomial(coefficients.ERF[format.dtype], square), x)
    limited = at_most(magnitude, 5.95 if format.bits == 64 else 3.95)
    reduced = reduce_exp(polynomial(coefficients.LOG_ERFC[format.dtype], limited))
    power = power_of_two(reduced.low_bits, format)
    outer = copy_sign(1.0 - fma_add(power, reduced.expm1_r, power), x)
    return select(magnitude < SPLIT[format.dtype], inner, outer)


def erfc(x: Value) -> Value:
    format = format_of(x)
    magnitude = at_most(absolute(x), 27.5 if format.bits == 64 else 10.5)
    inverse = 1.0 / (magnitude + ERFC_CENTRE)
    t = (magnitude - ERFC_CENTRE) * inverse
    first, first_rest, *others = coefficients.ERFC[format.dtype]
    variation = fma_add(polynomial(others, t), t, first_rest)
    # exp(-x**2), with x**2 as an exact square plus the rest.
    half_width = format.mask ^ ((1 << (format.fraction_bits // 2 + 1)) - 1)
    head = (magnitude.as_bits() & half_width).as_float()
    exact_square = -(head * head)
    rest = (magnitude - head) * (magnitude + head)
    n, low_bits = round_to_integer(exact_square, LOG2_E, offset=2 * format.bias)
    high, low = ln2_parts(format)
    r = fma_add(n, -low, fma_add(n, -high, exact_square)) - rest
    # (first + variation) exp(r), with the largest term added last.
    product = fma_add(expm1_polynomial(r), variation + first, variation) + first
    tail = scale_in_two_steps(product * inverse, low_bits)
    outer = select(x < 0.0, 2.0 - tail, tail)
    inner = fma_add(x, -polynomial(coefficients.ERFC_INNER[format.dtype], x * x), 1.0 - x)
    return select(magnitude < 0.5, inner, outer)


FORMULAS: dict[str, Callable[..., Value]] = {"erf": erf, "erfc": erfc}
