"""Powers with constant exponents, and products of equal factors."""

from __future__ import annotations

import numpy as np

from aesara.graph.nodes import Variable
from aesara.graph.rewriting.basic import node_rewriter
from aesara.tensor.core.casting import cast
from aesara.tensor.elementwise.ops import abs as at_abs
from aesara.tensor.elementwise.ops import mul, reciprocal, sqrt, square, true_divide
from aesara.tensor.elementwise.ops import pow as at_pow
from aesara.tensor.rewriting.helpers import (
    common_value,
    constant_in_place_of,
    constant_like,
    fits_within,
    has_value,
    in_place_of,
    is_complex,
    is_float,
)
from aesara.tensor.rewriting.registration import Rules

rules = Rules()

#: The largest integer exponent that is computed with multiplications.
LARGEST_UNROLLED = 8


@rules.canonicalize
@node_rewriter([at_pow])
def local_pow_canonicalize(fgraph, node):
    """``x ** 0`` is 1, ``x ** 1`` is ``x`` and ``x ** -1`` a quotient, which takes part in the form of products."""
    base, exponent = node.inputs
    value = common_value(exponent)
    if value is None or not fits_within(exponent, base):
        return False
    if value == 0:
        return constant_in_place_of(node.outputs[0], 1, node.inputs)
    if value == 1:
        return in_place_of(node.outputs[0], base, node.inputs)
    if value == -1 and is_float(base) and base.type.dtype == node.outputs[0].type.dtype:
        return in_place_of(node.outputs[0], true_divide(constant_like(1, base), base), node.inputs)
    return False


def reciprocal_root(x: Variable) -> Variable:
    """``x ** -0.5``. Unlike this power the reciprocal of the square root of -0 is negative."""
    root = reciprocal(sqrt(x))
    return root if is_complex(x) else at_abs(root)


#: Powers of floats, by their exponents, as functions that are faster.
FORMS = {0.5: sqrt, -0.5: reciprocal_root, -1: reciprocal, -2: lambda x: reciprocal(square(x))}


@rules.specialize
@node_rewriter([at_pow])
def local_pow_specialize(fgraph, node):
    """Squares, square roots, reciprocals instead of powers."""
    out = node.outputs[0]
    base, exponent = node.inputs
    value = common_value(exponent)
    if value is None or out.type.dtype == "bool" or not fits_within(exponent, base):
        return False
    if base.type.dtype != out.type.dtype:
        base = cast(base, out.type.dtype)
    if value == 2:
        return in_place_of(out, square(base), node.inputs)
    if not (is_float(out) or is_complex(out)):
        return False
    number = value.item()
    if number not in FORMS or (number == -2 and out.type.dtype == "float16"):
        return False  # in float16 a square is often infinite where its reciprocal is not zero
    return in_place_of(out, FORMS[number](base), node.inputs)


@rules.specialize_device
@node_rewriter([at_pow])
def local_pow_specialize_device(fgraph, node):
    """Small integer powers as multiplications."""
    out = node.outputs[0]
    base, exponent = node.inputs
    value = common_value(exponent)
    if value is None or is_complex(exponent) or out.type.dtype == "bool" or not fits_within(exponent, base):
        return False
    number = float(value)
    if not number.is_integer() or not 2 < abs(number) <= LARGEST_UNROLLED:
        return False
    if number < 0 and (not is_float(out) or out.type.dtype == "float16"):
        return False
    if base.type.dtype != out.type.dtype:
        base = cast(base, out.type.dtype)
    power = integer_power(base, int(abs(number)))
    return in_place_of(out, reciprocal(power) if number < 0 else power, node.inputs)


def integer_power(base: Variable, exponent: int) -> Variable:
    """``base ** exponent`` by squaring, for a positive exponent."""
    result = None
    factor = base
    while exponent > 1:
        if exponent & 1:
            result = factor if result is None else mul(result, factor)
        exponent >>= 1
        factor = square(factor)
    return factor if result is None else mul(result, factor)


@rules.specialize
@node_rewriter([mul])
def local_mul_to_sqr(fgraph, node):
    """``x * x`` is a square."""
    if len(node.inputs) == 2 and node.inputs[0] is node.inputs[1]:
        return in_place_of(node.outputs[0], square(node.inputs[0]), node.inputs)
    return False


@rules.specialize
@node_rewriter([true_divide])
def local_div_to_reciprocal(fgraph, node):
    """``1 / x`` is a reciprocal."""
    out = node.outputs[0]
    top, bottom = node.inputs
    if bottom.type.dtype == out.type.dtype and has_value(top, 1):
        return in_place_of(out, reciprocal(bottom), node.inputs)
    return False


@rules.canonicalize
@node_rewriter([reciprocal])
def local_reciprocal_canon(fgraph, node):
    """``reciprocal(x)`` as a quotient, which takes part in the canonical form of products."""
    out = node.outputs[0]
    (x,) = node.inputs
    if x.type.dtype != out.type.dtype:
        x = cast(x, out.type.dtype)
    return in_place_of(out, true_divide(np.asarray(1, dtype=out.type.dtype), x))
