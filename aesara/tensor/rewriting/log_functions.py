"""Functions that leave the range of floats, in products that logarithms are taken of: their `Scaled` forms.

These are powers, the gamma function, hyperbolic functions, ``exp(x) - 1`` and differences of probabilities, which
log-densities are written with. Each is a sign times an exponential. Sums of them stay as they are: their terms may
cancel.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection

import numpy as np

from aesara.graph.nodes import Apply, Variable
from aesara.graph.rewriting.basic import rule
from aesara.tensor.elementwise.ops import abs as at_abs
from aesara.tensor.elementwise.ops import (
    add,
    cosh,
    eq,
    erf,
    erfc,
    exp,
    expm1,
    gamma,
    gammaln,
    gt,
    i0,
    i0e,
    le,
    log,
    log1mexp,
    log_ndtr,
    lt,
    maximum,
    minimum,
    mul,
    ndtr,
    neg,
    reciprocal,
    sgn,
    sigmoid,
    sinh,
    softplus,
    sqrt,
    square,
    sub,
    switch,
    tanh,
    true_divide,
)
from aesara.tensor.elementwise.ops import pow as at_pow
from aesara.tensor.rewriting.erf_tails import scaled as scaled_argument
from aesara.tensor.rewriting.helpers import (
    as_dtype,
    common_value,
    constant_like,
    has_value,
    output_of,
    real_of_same_dtype,
)
from aesara.tensor.rewriting.hyperbolic import log_of_cosh, multiple
from aesara.tensor.rewriting.log_domain import ELEMENTWISE, Analysis, Scaled, times_logarithm
from aesara.tensor.rewriting.logistic import argument_of_one_plus_exp, negated
from aesara.tensor.rewriting.logsumexp import MOST_TERMS
from aesara.tensor.rewriting.registration import Rules

rules = Rules()

#: Powers with constant exponents up to this one are computed as they are.
SMALL_EXPONENT = 4


def _argument(node: Apply) -> Variable:
    """The argument in the dtype of the result: integers wrap around, and are not the logarithm of 2."""
    return as_dtype(node.inputs[0], node.outputs[0].type.dtype)


def _of_size(x: Variable, logarithm: Callable[[Variable], Variable]) -> Scaled:
    """An odd function of `x` from the logarithm of its values at positive numbers."""
    return Scaled(logarithm(at_abs(x)), [sgn(x)], in_sums=False)


def _minus_log_2(x: Variable) -> Variable:
    return constant_like(-math.log(2), x)


def hyperbolic_sine(analysis: Analysis, node: Apply, depth: int) -> Scaled | None:
    if analysis.smooth:
        x = _argument(node)
        return Scaled(_smooth_log_of_cosh(x), [tanh(x)], in_sums=False)
    return _of_size(_argument(node), lambda x: add(x, log1mexp(mul(constant_like(-2, x), x)), _minus_log_2(x)))


def hyperbolic_cosine(analysis: Analysis, node: Apply, depth: int) -> Scaled | None:
    x = _argument(node)
    exponent = _smooth_log_of_cosh(x) if analysis.differentiated else log_of_cosh(x)
    # It is positive, so that nothing cancels; values take less time as they are written.
    return Scaled(exponent, in_sums=analysis.differentiated)


def _smooth_log_of_cosh(x: Variable) -> Variable:
    return add(x, softplus(mul(constant_like(-2, x), x)), _minus_log_2(x))


def hyperbolic_tangent(analysis: Analysis, node: Apply, depth: int) -> Scaled | None:
    if analysis.smooth:
        return None  # it is a factor as it is

    def logarithm(x: Variable) -> Variable:
        twice = mul(constant_like(-2, x), x)
        return sub(log1mexp(twice), softplus(twice))

    return _of_size(_argument(node), logarithm)


def opposite(analysis: Analysis, node: Apply, depth: int) -> Scaled | None:
    """The opposite of a form, and ``-expm1(x)`` for negative `x`, which is a probability."""
    inner = output_of(node.inputs[0], expm1)
    if inner is not None and node.inputs[0] not in analysis.kept and _same_dtype(inner.inputs[0], node.outputs[0]):
        found = _complement_of_exponential(inner.inputs[0])
        if found is not None:
            return found
    return Analysis.opposite(analysis, node, depth)


def _complement_of_exponential(exponent: Variable) -> Scaled | None:
    """``1 - exp(exponent)`` where it is plain that the exponent is negative."""
    number, size = multiple(exponent)
    if number < 0 and is_positive(size):
        return Scaled(log1mexp(exponent), probability=True, in_sums=False)
    return None


def _complement_of_logistic(exponent: Variable) -> Scaled | None:
    """``1 - exp(exponent)`` where the exponential is the logistic function."""
    node = output_of(exponent, neg)
    inner = None if node is None else output_of(node.inputs[0], softplus)
    return None if inner is None else Scaled(neg(softplus(negated(inner.inputs[0]))), probability=True)


def exponential_minus_one(analysis: Analysis, node: Apply, depth: int) -> Scaled | None:
    x = _argument(node)
    if analysis.smooth:
        return Scaled(softplus(x), [tanh(mul(constant_like(0.5, x), x))], in_sums=False)
    return minus_one(x)


def minus_one(exponent: Variable) -> Scaled:
    """``exp(exponent) - 1``."""
    size = add(maximum(exponent, constant_like(0, exponent)), log1mexp(neg(at_abs(exponent))))
    return Scaled(size, [sgn(exponent)], in_sums=False)


def gamma_function(analysis: Analysis, node: Apply, depth: int) -> Scaled | None:
    x = _argument(node)
    return _where_positive(x, gammaln, gamma)


def power(analysis: Analysis, node: Apply, depth: int) -> Scaled | None:
    """A power whose base is not made of exponentials; one that is has a form already."""
    found = Analysis.power(analysis, node, depth)
    if found is not None:
        return found
    (base, number), (out,) = node.inputs, node.outputs
    value = common_value(number)
    if (value is not None and not SMALL_EXPONENT < abs(value) < np.inf) or not _fits(base, out):
        return None
    base, number = as_dtype(base, out.type.dtype), as_dtype(number, out.type.dtype)
    return _where_positive(base, lambda x: times_logarithm(number, log(x)), lambda x: at_pow(x, number))


def _fits(base: Variable, out: Variable) -> bool:
    """Whether a base may be computed in the dtype of its power."""
    return base.type.dtype == out.type.dtype or common_value(base) is not None


def _where_positive(
    x: Variable, logarithm: Callable[[Variable], Variable], function: Callable[[Variable], Variable]
) -> Scaled | None:
    """A function from its logarithm where its argument is positive, and as it is elsewhere; it is 1 at 1."""
    if is_positive(x):
        return Scaled(logarithm(x), in_sums=False)
    chosen = output_of(x, switch)
    if chosen is not None and has_value(chosen.inputs[1], 1):
        return None  # what is left of such a form
    one = constant_like(1, x)
    positive = gt(x, constant_like(0, x))
    return Scaled(logarithm(switch(positive, x, one)), [function(switch(positive, one, x))], in_sums=False)


def is_positive(var: Variable, depth: int = 4) -> bool:
    """Whether a variable is plainly not negative, nor zero but for lack of range."""
    value = common_value(var)
    if value is not None:
        return bool(value > 0)
    node = var.owner
    if node is None or depth == 0:
        return False
    if node.op in POSITIVE:
        return True
    if node.op in (mul, true_divide, sqrt, at_pow):
        operands = node.inputs[:1] if node.op == at_pow else node.inputs
        return all(is_positive(v, depth - 1) for v in operands)
    if node.op == add:
        found = [is_positive(v, depth - 1) for v in node.inputs]
        return any(found) and all(one or _is_not_negative(v, depth - 1) for one, v in zip(found, node.inputs))
    return False


def _is_not_negative(var: Variable, depth: int) -> bool:
    node = var.owner
    if node is None or depth == 0:
        return False
    if node.op in (square, at_abs):
        return True
    if node.op == at_pow:
        number = common_value(node.inputs[1])
        return number is not None and float(number) % 2 == 0
    if node.op in (mul, true_divide):
        return all(is_positive(v, depth - 1) or _is_not_negative(v, depth - 1) for v in node.inputs)
    return False


POSITIVE = frozenset((exp, sigmoid, softplus, cosh, ndtr, i0))


def bessel_function(analysis: Analysis, node: Apply, depth: int) -> Scaled | None:
    x = _argument(node)
    return Scaled(at_abs(x), [i0e(x)], in_sums=False)


# Differences


def difference(analysis: Analysis, node: Apply, depth: int) -> Scaled | None:
    """``1 - p``, ``exp(x) - 1`` and differences of two probabilities or exponentials."""
    if any(is_near_kept(v, analysis.kept) for v in node.inputs):
        return None
    (first, second), (out,) = node.inputs, node.outputs
    if has_value(first, 1):
        found = _one_minus(second, out, analysis)
        if found is None:
            found = _rest_of_share(second, out, analysis, depth)
        if found is not None:
            return found
    found = Analysis.difference(analysis, node, depth)
    if found is not None:
        return found
    x, y = (_argument_of_logistic(v) for v in node.inputs)
    if x is not None and y is not None and x.type.dtype == y.type.dtype == out.type.dtype:
        return _difference_of_logistics(x, y)
    normals = [_error_function(v) for v in node.inputs]
    if None in normals:
        normals = [_normal(v) for v in node.inputs]
    if None not in normals and normals[0][0] == normals[1][0]:
        (scale, x), (_, y) = normals
        if x.type.dtype == y.type.dtype == out.type.dtype:
            return _difference_of_normals(x, y, scale)
    dtype = out.type.dtype
    one = [has_value(v, 1) for v in node.inputs]
    inner = [None if is_one else analysis.scaled_in(v, dtype, depth) for is_one, v in zip(one, node.inputs)]
    if any(not is_one and (form is None or len(form.pieces) > 1) for is_one, form in zip(one, inner)):
        return None
    if one == [False, True]:
        return minus_one(inner[0].exponent)
    if one == [True, False]:
        exponent = inner[1].exponent
        found = _complement_of_logistic(exponent) or _complement_of_exponential(exponent)
        if found is not None:
            return found
        found = minus_one(exponent)
        return Scaled(found.exponent, [neg(found.factors[0])], in_sums=False)
    x, y = (form.exponent for form in inner)
    return Scaled(add(maximum(x, y), log1mexp(_distance(x, y))), [sgn(sub(x, y))], in_sums=False)


def _one_minus(var: Variable, out: Variable, analysis: Analysis) -> Scaled | None:
    """1 minus the square of a hyperbolic tangent, or minus the normal distribution function."""
    base = _base_of_square(var)
    inner = None if base is None or base in analysis.kept else output_of(base, tanh)
    if inner is not None and _same_dtype(inner.inputs[0], out):
        size = hyperbolic_cosine(analysis, inner, 0).exponent
        return Scaled(mul(constant_like(-2, size), size), probability=True, in_sums=False)
    scale, x = _normal(var) or (None, None)
    return Scaled(log_ndtr(negated(x)), probability=True) if scale == 1 and _same_dtype(x, out) else None


def _rest_of_share(var: Variable, out: Variable, analysis: Analysis, depth: int) -> Scaled | None:
    """``1 - var`` for the quotient of a term, or several, and a sum that they are among: a logistic function.

    It is that of the difference of the logarithms of the others and of these.
    """
    node = output_of(var, true_divide)
    total = None if node is None else output_of(node.inputs[1], add)
    if total is None or total.outputs[0].type.dtype != out.type.dtype or var.type.dtype != out.type.dtype:
        return None
    top = node.inputs[0]
    others = _terms(total.outputs[0])
    for term in _terms(top):
        k = next((k for k, other in enumerate(others) if _is_same(term, other)), None)
        if k is None:
            return None
        del others[k]
    if not others or total.outputs[0].type.broadcastable != var.type.broadcastable:
        return None
    parts = [
        _logarithm_of_positive(v, out, analysis, depth) for v in (top, others[0] if len(others) == 1 else add(*others))
    ]
    return None if None in parts else Scaled(neg(softplus(sub(*parts))), probability=True)


def _logarithm_of_positive(var: Variable, out: Variable, analysis: Analysis, depth: int) -> Variable | None:
    """The logarithm of a form or a number that is plainly positive."""
    value = common_value(var)
    if value is not None:
        return constant_like(np.log(np.float64(value)), out) if 0 < value < np.inf else None
    found = analysis.scaled_in(var, out.type.dtype, depth) if is_positive(var) else None
    return None if found is None else found.logarithm(out.type.dtype)


def _terms(var: Variable) -> list[Variable]:
    """The terms of a sum, of those that it is made of, too, in any order; the variable itself if it is no sum."""
    found, stack = [], [var]
    while stack:
        term = stack.pop()
        inner = output_of(term, add)
        if inner is None or term.type != var.type or len(stack) > MOST_TERMS:
            found.append(term)
        else:
            stack.extend(inner.inputs)
    return found


def _is_same(one: Variable, other: Variable, depth: int = 3) -> bool:
    """Whether two variables are one, or are computed in the same few steps."""
    if one is other:
        return True
    first, second = one.owner, other.owner
    if first is None and second is None:
        value = common_value(one)
        return value is not None and value == common_value(other) and one.type == other.type
    if first is None or second is None or depth == 0 or first.op != second.op:
        return False
    return all(_is_same(a, b, depth - 1) for a, b in zip(first.inputs, second.inputs, strict=True))


def _same_dtype(x: Variable, out: Variable) -> bool:
    return x.type.dtype == out.type.dtype


def _base_of_square(var: Variable) -> Variable | None:
    node = var.owner
    if node is None:
        return None
    if node.op == mul and len(node.inputs) == 2 and node.inputs[0] is node.inputs[1]:
        return node.inputs[0]
    is_square = node.op == square or (node.op == at_pow and has_value(node.inputs[1], 2))
    return node.inputs[0] if is_square else None


def _argument_of_logistic(var: Variable) -> Variable | None:
    """``x`` for ``sigmoid(x)``, also as ``1 / (1 + exp(-x))``; else None."""
    node = var.owner
    if node is None:
        return None
    if node.op == sigmoid:
        return node.inputs[0]
    below = node.op == reciprocal or (node.op == true_divide and has_value(node.inputs[0], 1))
    x = argument_of_one_plus_exp(node.inputs[-1]) if below else None
    return None if x is None else negated(x)


def _normal(var: Variable) -> tuple[float, Variable] | None:
    """A number and ``x`` for a multiple of ``ndtr(x)``, also by error functions; else None."""
    number, var = multiple(var)
    node = var.owner
    if node is None:
        return None
    if node.op == ndtr:
        return number, node.inputs[0]
    sign = 1
    if node.op == erfc:
        (x,), sign = node.inputs, -1
    elif node.op in (add, sub) and len(node.inputs) == 2 and any(has_value(v, 1) for v in node.inputs):
        inner = output_of(node.inputs[has_value(node.inputs[0], 1)], erf)
        if inner is None or (node.op == sub and not has_value(node.inputs[0], 1)):
            return None
        (x,), sign = inner.inputs, (1 if node.op == add else -1)
    else:
        return None
    return (2 * number, scaled_argument(x, sign * math.sqrt(2))) if x.type.dtype == "float64" else None


def _error_function(var: Variable) -> tuple[float, Variable] | None:
    """A number and ``x`` for a multiple of ``erf``, as that multiple of ``ndtr(x)`` but for a constant; else None."""
    number, var = multiple(var)
    inner = output_of(var, erf)
    if inner is None or var.type.dtype != "float64" or inner.inputs[0].type.dtype != "float64":
        return None
    return 2 * number, scaled_argument(inner.inputs[0], math.sqrt(2))


def is_near_kept(var: Variable, kept: Collection[Variable], depth: int = 6) -> bool:
    """Whether a variable is, or is computed in a few steps from, one that takes a gradient of its own."""
    if var.owner is None or not kept:
        return False
    return var in kept or (depth > 0 and any(is_near_kept(v, kept, depth - 1) for v in var.owner.inputs))


def _distance(x: Variable, y: Variable) -> Variable:
    """``-abs(x - y)``, which is zero for equal infinite numbers."""
    return neg(switch(eq(x, y), constant_like(0, x), at_abs(sub(x, y))))


def _difference_of_logistics(x: Variable, y: Variable) -> Scaled:
    lower, upper = minimum(x, y), maximum(x, y)
    exponent = sub(log1mexp(_distance(x, y)), add(softplus(neg(upper)), softplus(lower)))
    return Scaled(exponent, [sgn(sub(x, y))], in_sums=False)


def _difference_of_normals(x: Variable, y: Variable, scale: float) -> Scaled:
    """From the lower tail, where probabilities are accurate; from their logarithms where they underflow."""
    above = gt(add(x, y), constant_like(0, x))
    first, second = switch(above, neg(y), x), switch(above, neg(x), y)
    facts = np.finfo(x.type.dtype)
    # Second derivatives divide by squares.
    usable = le(constant_like(np.sqrt(facts.tiny) / facts.eps, x), maximum(ndtr(first), ndtr(second)))
    logarithms = log_ndtr(first), log_ndtr(second)
    far = add(maximum(*logarithms), log1mexp(_distance(*logarithms)))
    mantissa = switch(usable, sub(ndtr(first), ndtr(second)), sgn(sub(x, y)))
    factors = [mantissa] if scale == 1 else [constant_like(scale, x), mantissa]
    return Scaled(switch(usable, constant_like(0, x), far), factors, in_sums=False)


# Exponentials of exponentials


def log1mexp_of_exponential(x: Variable) -> Variable:
    """``log(1 - exp(-exp(x)))``, which is ``x - exp(x) / 2`` where ``exp(x)`` is small."""
    limit = constant_like(np.log(np.finfo(x.type.dtype).eps), x)
    return _log1mexp_of_exponential(x, maximum(x, limit), limit)


def smooth_log1mexp_of_exponential(x: Variable) -> Variable:
    """The same for differentiation: where it is zero, nothing in it overflows."""
    facts = np.finfo(x.type.dtype)
    limit = constant_like(np.log(facts.eps), x)
    largest = constant_like(np.log(-2 * np.log(facts.tiny)), x)
    return _log1mexp_of_exponential(minimum(x, largest), minimum(maximum(x, limit), largest), limit)


def _log1mexp_of_exponential(x: Variable, inside: Variable, limit: Variable) -> Variable:
    far = sub(x, mul(constant_like(0.5, x), exp(x)))
    return switch(lt(x, limit), far, log1mexp(neg(exp(inside))))


rules.add(
    rule(
        "local_log1mexp_of_exponential",
        (log1mexp, (neg, (exp, "x"))),
        log1mexp_of_exponential,
        lambda x, out: real_of_same_dtype(x, out) and output_of(x, maximum) is None,
    ),
    to=(rules.stabilize, rules.specialize),
)
rules.add(
    rule("local_sqrt_of_exp", (sqrt, (exp, "x")), lambda x: exp(mul(constant_like(0.5, x), x)), real_of_same_dtype),
    to=(rules.stabilize, rules.specialize),
)


ELEMENTWISE.update(
    {
        sinh: hyperbolic_sine,
        cosh: hyperbolic_cosine,
        tanh: hyperbolic_tangent,
        expm1: exponential_minus_one,
        gamma: gamma_function,
        i0: bessel_function,
        at_pow: power,
        neg: opposite,
        sub: difference,
    }
)
