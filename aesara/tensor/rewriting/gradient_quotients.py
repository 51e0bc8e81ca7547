"""Forms of quotients for differentiation: softmaxes, logistic functions and tails of the normal distribution."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from aesara.graph.nodes import Apply, Variable
from aesara.scalar.arithmetic import Add, Mul, Reciprocal, Sub, TrueDivide
from aesara.scalar.exponential import Exp
from aesara.scalar.normal import Ndtr
from aesara.scalar.power import Pow, Sqr
from aesara.scalar.special import Erf, Erfc, Erfcx
from aesara.scalar.trigonometric import Cosh
from aesara.tensor.elementwise import ops, special
from aesara.tensor.elementwise.elemwise import Elemwise
from aesara.tensor.products.dot import Dot
from aesara.tensor.reductions.sum_prod_max import Sum
from aesara.tensor.rewriting.algebra import Product, opposite
from aesara.tensor.rewriting.erf_tails import scaled_erfc
from aesara.tensor.rewriting.helpers import (
    common_value,
    constant_like,
    exponent_value,
    has_value,
    op_class,
    without_shuffles,
)
from aesara.tensor.rewriting.hyperbolic import quotient_of_hyperbolic_functions
from aesara.tensor.rewriting.logarithms.analysis import Analysis
from aesara.tensor.rewriting.logarithms.differences import is_near_kept
from aesara.tensor.rewriting.logarithms.quotients import exponential_terms, number_of
from aesara.tensor.rewriting.logistic import argument_of_one_plus_exp
from aesara.tensor.rewriting.vanishing_quotients import with_stable_slopes

_PRODUCTS = frozenset({Mul, TrueDivide, Reciprocal, Pow, Sqr})
_SUMS = frozenset({Add, Sum, Dot})


def form_of_quotient(node: Apply, analysis: Analysis) -> Variable | None:
    """Return the form of a product that is divided by a sum of exponentials, such as a softmax; None for others."""
    (out,) = node.outputs
    if op_class(node) is TrueDivide:
        top, bottom = node.inputs
        new = quotient_of_hyperbolic_functions(top, bottom, analysis.kept)
        if new is None:
            new = _weighted_average(node, analysis.kept)
        if new is not None:
            return new
    if op_class(node) is TrueDivide or any(_is_quotient(v) for v in node.inputs):
        new = with_stable_slopes(out, analysis.kept)
        if new is not None:
            return new
    if not divides_by_exponentials(node):
        return _with_scaled_tails(node, analysis)
    last = node.inputs[-1]
    x = argument_of_one_plus_exp(last) if op_class(node) in (TrueDivide, Reciprocal) else None
    operands = [] if last.owner is None else last.owner.inputs
    if x is not None and _is_average(node, analysis):
        x = None
    if x is not None and not any(v in analysis.kept for v in (last, *operands)):
        logistic = ops.sigmoid(opposite(x))
        return logistic if len(node.inputs) == 1 else _over_one_plus_exp(node.inputs[0], x, logistic, analysis)
    scaled = Analysis(analysis.kept, differentiated=True, smooth=True).form_of(out)
    if scaled is None or (scaled.factors and not scaled.divisors):
        return None
    mantissa = scaled.mantissa(out.type.dtype)
    return ops.exp(scaled.exponent) if mantissa is None else ops.mul(mantissa, ops.exp(scaled.exponent))


def _is_average(node: Apply, analysis: Analysis) -> bool:
    """Return whether a sum of exponentials is divided by another."""
    top = node.inputs[0].owner
    return (
        len(node.inputs) == 2
        and top is not None
        and op_class(top) is Add
        and analysis.form_of(node.inputs[0]) is not None
    )


def _weighted_average(node: Apply, kept: Collection[Variable]) -> Variable | None:
    """``(a*exp(x) + b*exp(y)) / (c*exp(x) + d*exp(y))`` -> ``a/c + (b/d - a/c) * sigmoid(y - x + log(d/c))``"""
    numerator, denominator = (None if v in kept else _two_terms(v) for v in node.inputs)
    if numerator is None or denominator is None:
        return None
    first, second = denominator
    if _has_same_exponent(first, numerator[1]) and _has_same_exponent(second, numerator[0]):
        numerator = numerator[::-1]
    if not (_has_same_exponent(first, numerator[0]) and _has_same_exponent(second, numerator[1])):
        return None
    out = node.outputs[0]
    a, b, c, d = (number_of(term) for term in (*numerator, first, second))
    if None in (a, b, c, d) or not (0 < c < np.inf and 0 < d < np.inf):
        return None
    a, b, c, d = map(np.float64, (a, b, c, d))
    logistic = ops.sigmoid(ops.add(ops.sub(second.exponent, first.exponent), constant_like(np.log(d) - np.log(c), out)))
    return ops.add(constant_like(a / c, out), ops.mul(constant_like(b / d - a / c, out), logistic))


def _two_terms(var: Variable) -> list[Product] | None:
    """Return the terms of a sum or difference of two exponentials, one of which may be a number, else None."""
    node = var.owner
    if node is None or op_class(node) not in (Add, Sub) or len(node.inputs) != 2:
        return None
    if op_class(node) is Sub:
        first, second = node.inputs
        number = common_value(second)
        opposite = ops.mul(-1, second) if number is None else constant_like(-number, var)
        (node,) = ops.add(first, opposite).get_parents()
    return exponential_terms(node)


def _has_same_exponent(term: Product, other: Product) -> bool:
    """Return whether two terms have the same exponent."""
    value = common_value(term.exponent)
    return term.exponent is other.exponent or (value is not None and value == common_value(other.exponent))


def _is_quotient(var: Variable) -> bool:
    """Return whether a factor is a quotient."""
    return var.owner is not None and op_class(var.owner) in (TrueDivide, Reciprocal)


def _over_one_plus_exp(top: Variable, x: Variable, logistic: Variable, analysis: Analysis) -> Variable:
    """Return ``top / (1 + exp(x))``; `logistic` is ``sigmoid(-x)``."""
    form = analysis.form_of(top)
    if form is not None and form.exponent is x:
        rest = form.mantissa(top.type.dtype)
        return ops.sigmoid(x) if rest is None else ops.mul(rest, ops.sigmoid(x))
    return logistic if has_value(top, 1) else ops.mul(top, logistic)


def _with_scaled_tails(node: Apply, analysis: Analysis) -> Variable | None:
    """``exp(x**2) * erfc(x)`` -> ``erfcx(x)`` and ``c * exp(-x**2) / erfc(x)`` -> ``c / erfcx(x)``; so for `ndtr`"""
    if not any(_is_tail(v) for v in node.inputs) or any(is_near_kept(v, analysis.kept) for v in node.inputs):
        return None
    (out,) = node.outputs
    product = Product.read(out)
    new = scaled_erfc(product.map(_tail_of_complement))
    scaled = [v for v in new.divisors if v.owner is not None and op_class(v.owner) is Erfcx]
    if not scaled and new == product:
        return None
    # The derivatives of the reciprocal stay in the range where those of the function do not.
    new.factors.extend(special.erfcx_reciprocal(parent.inputs[0]) for v in scaled for parent in v.get_parents())
    new.divisors = [v for v in new.divisors if v not in scaled]
    return new.build(out)


def _tail_of_complement(var: Variable) -> Variable:
    """``1 - ndtr(x)`` -> ``ndtr(-x)``, and ``1 - erf(x)`` -> ``erfc(x)``; other variables stay as they are."""
    node = var.owner
    if node is None or op_class(node) not in (Add, Sub) or len(node.inputs) != 2:
        return var
    ones = [has_value(v, 1) for v in node.inputs]
    if ones not in ([True, False], [False, True]) or (op_class(node) is Sub and not ones[0]):
        return var
    inner = node.inputs[ones.index(False)].owner
    if inner is None or not isinstance(inner.op, Elemwise) or inner.inputs[0].type.dtype != var.type.dtype:
        return var
    (x, *_) = inner.inputs
    if op_class(inner) is Erf:
        return special.erfc(x if op_class(node) is Sub else opposite(x))
    return special.ndtr(opposite(x)) if op_class(inner) is Ndtr and op_class(node) is Sub else var


def _is_tail(var: Variable) -> bool:
    """Return whether a factor is a tail of the error function or normal distribution, or a product with one."""
    node = var.owner
    if node is None:
        return False
    inner = node.inputs if op_class(node) in (Mul, TrueDivide) else [var]
    tails = [_tail_of_complement(v).owner for v in inner]
    return any(tail is not None and op_class(tail) in (Erfc, Erfcx, Ndtr) for tail in tails)


def divides_by_exponentials(node: Apply, depth: int = 3, below: bool = False) -> bool:
    """Return whether a sum of exponentials is among the divisors of a product, by a short search.

    `below` says that the product is itself a divisor.
    """
    for position, var in enumerate(node.inputs):
        inner = without_shuffles(var).owner
        if inner is None:
            continue
        divisor = below ^ _divides(node, position)
        kind = op_class(inner)
        if kind is Cosh and divisor:
            return True
        if kind in _SUMS:
            if divisor and any(has_exponential(v) for v in inner.inputs):
                return True
        elif depth and kind in _PRODUCTS and divides_by_exponentials(inner, depth - 1, divisor):
            return True
    return False


def _divides(node: Apply, position: int) -> bool:
    """Return whether a node divides by its input at a position, as powers do whose exponent may be negative."""
    kind = op_class(node)
    if kind is Pow:
        exponent = exponent_value(node.inputs[1])
        return position == 0 and (exponent is None or exponent < 0)
    return kind is Reciprocal or (kind is TrueDivide and position == 1)


def has_exponential(var: Variable) -> bool:
    """Return whether a term is an exponential, or a product with one."""
    inner = without_shuffles(var).owner
    if inner is None:
        return False
    kind = op_class(inner)
    if kind in _PRODUCTS:
        return any(v.owner is not None and op_class(v.owner) is Exp for v in inner.inputs)
    return kind is Exp
