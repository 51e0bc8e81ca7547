"""Forms of functions that leave the range of floats: powers, gamma and hyperbolic functions, and ``exp(x) - 1``.

Each is a sign times an exponential. Sums of them do not use these forms, since their terms may cancel.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from aesara.graph.nodes import Apply, Variable
from aesara.tensor.elementwise import ops, special
from aesara.tensor.rewriting.algebra import multiple, opposite
from aesara.tensor.rewriting.helpers import as_dtype, common_value, constant_like, exponent_value, has_value, output_of
from aesara.tensor.rewriting.hyperbolic import log_of_cosh, with_bounded_exponentials
from aesara.tensor.rewriting.logarithms.scaled import Scaled, Search, fits, logarithm_of_power

#: Powers with constant exponents up to this one have no form.
SMALL_EXPONENT = 4


def _argument(node: Apply) -> Variable:
    """Return the argument of a function in the dtype of the result."""
    return as_dtype(node.inputs[0], node.outputs[0].type.dtype)


def _odd_function(x: Variable, logarithm: Callable[[Variable], Variable]) -> Scaled:
    """Return the form of an odd function from the logarithm of its values at positive numbers."""
    return Scaled(logarithm(ops.abs(x)), [ops.sgn(x)], in_sums=False)


def _minus_log_2(x: Variable) -> Variable:
    return constant_like(-math.log(2), x)


def hyperbolic_sine(analysis: Search, node: Apply, depth: int) -> Scaled | None:
    if analysis.smooth:
        x = _argument(node)
        return Scaled(_smooth_log_of_cosh(x), [ops.tanh(x)], in_sums=False)
    return _odd_function(
        _argument(node), lambda x: ops.add(x, ops.log1mexp(ops.mul(constant_like(-2, x), x)), _minus_log_2(x))
    )


def hyperbolic_cosine(analysis: Search, node: Apply, depth: int) -> Scaled:
    x = _argument(node)
    # Sums with it as a term need no form: it is positive, so nothing cancels.
    if not analysis.differentiated:
        return Scaled(log_of_cosh(x), in_sums=False)
    # The bound applies to both terms alike, since their derivatives are one product.
    return Scaled(_smooth_log_of_cosh(with_bounded_exponentials(x, analysis.kept)), in_sums=True)


def _smooth_log_of_cosh(x: Variable) -> Variable:
    return ops.add(x, ops.softplus(ops.mul(constant_like(-2, x), x)), _minus_log_2(x))


def hyperbolic_tangent(analysis: Search, node: Apply, depth: int) -> Scaled | None:
    if analysis.smooth:
        return None  # it stays a factor

    def logarithm(x: Variable) -> Variable:
        twice = ops.mul(constant_like(-2, x), x)
        return ops.sub(ops.log1mexp(twice), ops.softplus(twice))

    return _odd_function(_argument(node), logarithm)


def opposite_of_expm1(analysis: Search, node: Apply, depth: int) -> Scaled | None:
    """``-expm1(x)`` -> ``exp(log1mexp(x))`` for negative `x`, a probability."""
    inner = output_of(node.inputs[0], ops.expm1)
    if inner is None or node.inputs[0] in analysis.kept or not fits(inner.inputs[0], node):
        return None
    return complement_of_exponential(inner.inputs[0])


def complement_of_exponential(exponent: Variable) -> Scaled | None:
    """``1 - exp(x)`` -> ``exp(log1mexp(x))`` if `x` is known to be negative, else None."""
    number, size = multiple(exponent)
    if number < 0 and is_positive(size):
        return Scaled(ops.log1mexp(exponent), probability=True, in_sums=False)
    return None


def complement_of_logistic(exponent: Variable) -> Scaled | None:
    """``1 - exp(-softplus(x))`` -> ``exp(-softplus(-x))``: an exponential that is the logistic function."""
    node = output_of(exponent, ops.neg)
    inner = None if node is None else output_of(node.inputs[0], ops.softplus)
    return None if inner is None else Scaled(ops.neg(ops.softplus(opposite(inner.inputs[0]))), probability=True)


def exponential_minus_one(analysis: Search, node: Apply, depth: int) -> Scaled | None:
    x = _argument(node)
    if analysis.smooth:
        return Scaled(ops.softplus(x), [ops.tanh(ops.mul(constant_like(0.5, x), x))], in_sums=False)
    return minus_one(x)


def minus_one(exponent: Variable) -> Scaled:
    """``exp(x) - 1`` -> ``sgn(x) * exp(max(x, 0) + log1mexp(-abs(x)))``"""
    size = ops.add(ops.maximum(exponent, constant_like(0, exponent)), ops.log1mexp(ops.neg(ops.abs(exponent))))
    return Scaled(size, [ops.sgn(exponent)], in_sums=False)


def gamma_function(analysis: Search, node: Apply, depth: int) -> Scaled | None:
    x = _argument(node)
    return _where_positive(x, special.gammaln, special.gamma)


def large_power(analysis: Search, node: Apply, depth: int) -> Scaled | None:
    """``b**n`` -> ``exp(n * log(b))`` for a base without exponentials and a large or variable exponent."""
    (base, number), (out,) = node.inputs, node.outputs
    value = exponent_value(number)
    if (value is not None and not SMALL_EXPONENT < abs(value) < np.inf) or not _fits(base, out):
        return None
    base, number = as_dtype(base, out.type.dtype), as_dtype(number, out.type.dtype)
    if value is not None and float(value) % 2 not in (1, 0):
        # It is NaN where the logarithm is.
        return Scaled(logarithm_of_power(number, ops.log(with_infinite_power(base)), analysis), in_sums=False)
    if value is not None and float(value) % 2 == 0:
        return Scaled(logarithm_of_power(number, ops.log(ops.abs(base)), analysis), in_sums=False)
    return _where_positive(
        base, lambda x: logarithm_of_power(number, ops.log(x), analysis), lambda x: ops.pow(x, number)
    )


def _fits(base: Variable, out: Variable) -> bool:
    """Return whether a base can be computed in the dtype of its power."""
    return base.type.dtype == out.type.dtype or common_value(base) is not None


def _where_positive(
    x: Variable, logarithm: Callable[[Variable], Variable], function: Callable[[Variable], Variable]
) -> Scaled | None:
    """Return the form of a function with value 1 at 1: by its logarithm for positive `x`, as it is elsewhere."""
    if is_positive(x):
        return Scaled(logarithm(x), in_sums=False)
    chosen = output_of(x, ops.switch)
    if chosen is not None and has_value(chosen.inputs[1], 1):
        return None  # the function comes from such a form
    one = constant_like(1, x)
    positive = ops.gt(x, constant_like(0, x))
    return Scaled(logarithm(ops.switch(positive, x, one)), [function(ops.switch(positive, one, x))], in_sums=False)


def with_infinite_power(base: Variable) -> Variable:
    """Return the base of a fractional power with infinity for minus infinity, which leaves the power unchanged."""
    if is_positive(base):
        return base
    infinity = constant_like(np.inf, base)
    return ops.switch(ops.eq(base, ops.neg(infinity)), infinity, base)


def is_positive(var: Variable, depth: int = 4) -> bool:
    """Return whether a variable is known to be positive, or zero by underflow only."""
    value = common_value(var)
    if value is not None:
        return bool(value > 0)
    node = var.owner
    if node is None or depth == 0:
        return False
    if node.op in POSITIVE:
        return True
    if node.op in (ops.mul, ops.true_divide, ops.sqrt, ops.pow):
        operands = node.inputs[:1] if node.op == ops.pow else node.inputs
        return all(is_positive(v, depth - 1) for v in operands)
    if node.op == ops.add:
        positive = [is_positive(v, depth - 1) for v in node.inputs]
        return any(positive) and all(known or _is_not_negative(v, depth - 1) for known, v in zip(positive, node.inputs))
    return False


def _is_not_negative(var: Variable, depth: int) -> bool:
    node = var.owner
    if node is None or depth == 0:
        return False
    if node.op in (ops.square, ops.abs):
        return True
    if node.op == ops.pow:
        number = common_value(node.inputs[1])
        # A power that is not an integer is NaN for a negative base.
        return number is not None and (float(number) % 2 == 0 or float(number) % 1 != 0)
    if node.op in (ops.mul, ops.true_divide):
        return all(is_positive(v, depth - 1) or _is_not_negative(v, depth - 1) for v in node.inputs)
    return False


POSITIVE = frozenset((ops.exp, ops.sigmoid, ops.softplus, ops.cosh, special.ndtr, special.i0))


#: Modified Bessel functions, and their exponentially scaled variants.
WITHOUT_EXPONENTIAL = {special.i0: special.i0e, special.i1: special.i1e}


def bessel_function(analysis: Search, node: Apply, depth: int) -> Scaled | None:
    x = _argument(node)
    return Scaled(ops.abs(x), [WITHOUT_EXPONENTIAL[node.op](x)], in_sums=False)
