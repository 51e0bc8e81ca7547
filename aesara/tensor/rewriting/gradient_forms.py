"""Differentiate logarithms and quotients of exponentials in their `Scaled` forms.

The gradients of the expressions as written divide by a number that may have underflowed, and multiply by it again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np

from aesara.graph.nodes import Apply, Variable
from aesara.graph.pullback import gradient_form
from aesara.graph.source import gradient_mark, inherit_source
from aesara.scalar.arithmetic import Add, Mul, Reciprocal, Sub, TrueDivide
from aesara.scalar.entropy import Entr, KLDiv, RelEntr, XLogY
from aesara.scalar.exponential import Exp, Expm1, Log, Log1mexp, Log1p, Log2, Log10, Sigmoid, Softplus
from aesara.scalar.normal import Ndtr
from aesara.scalar.power import Pow, Sqr, Sqrt
from aesara.scalar.special import Erf, Erfc, Erfcx
from aesara.scalar.trigonometric import ArcSinh, ArcTanh, Cosh, Sinh, Tanh
from aesara.tensor.elementwise import ops, special
from aesara.tensor.elementwise.elemwise import Elemwise
from aesara.tensor.products.dot import Dot
from aesara.tensor.reductions.sum_prod_max import Prod, Sum
from aesara.tensor.rewriting.algebra import Product, opposite
from aesara.tensor.rewriting.erf_tails import scaled_erfc
from aesara.tensor.rewriting.helpers import (
    common_value,
    constant_like,
    exponent_value,
    has_value,
    in_place_of,
    is_float,
    output_of,
)
from aesara.tensor.rewriting.hyperbolic import quotient_of_hyperbolic_functions, with_bounded_exponentials
from aesara.tensor.rewriting.logarithms.analysis import Analysis
from aesara.tensor.rewriting.logarithms.differences import base_of_square, is_near_kept
from aesara.tensor.rewriting.logarithms.functions import hyperbolic_cosine
from aesara.tensor.rewriting.logarithms.powers import log1p_of_power, log_of_one_plus_power
from aesara.tensor.rewriting.logarithms.quotients import exponential_terms, number_of
from aesara.tensor.rewriting.logarithms.rules import log_of_complement, logarithm, smooth_log1mexp_of_exponential
from aesara.tensor.rewriting.logistic import argument_of_one_plus_exp
from aesara.tensor.rewriting.special import form_of_entropy, form_of_relative_entropy, form_of_xlogy
from aesara.tensor.rewriting.sums import smooth_difference_of_roots, smooth_sum
from aesara.tensor.rewriting.vanishing_quotients import logarithm_of_ratios, with_stable_slopes
from aesara.tensor.shapes.dimshuffle import DimShuffle


def logarithm_of_difference(node: Apply, analysis: Analysis) -> Variable | None:
    """``log(exp(x) - exp(y))``, where both or one may be 1, for differentiation."""
    x, y = (_exponent_or_one(v, analysis) for v in node.inputs)
    if x is None or y is None:
        return None
    if common_value(x) == 0:
        return ops.log1mexp(y)
    return ops.add(x, ops.log1mexp(ops.neg(x) if common_value(y) == 0 else ops.sub(y, x)))


def _exponent_or_one(var: Variable, analysis: Analysis) -> Variable | None:
    if has_value(var, 1):
        return constant_like(0, var)
    found = analysis.form_of(var)
    return found.exponent if found is not None and len(found.pieces) == 1 else None


@gradient_form.register(Elemwise)
def _(op: Elemwise, node: Apply, kept: Collection[Variable]) -> Variable | None:
    """Differentiate an expression that may leave the range on its way in its `Scaled` form."""
    form = GRADIENT_FORMS.get(type(op.scalar_op))
    if form is None or not is_float(node.outputs[0]):
        return None
    with inherit_source(gradient_mark(node)):
        new = form(node, Analysis(kept, differentiated=True))
        fitting = None if new is None else in_place_of(node.outputs[0], new, node.inputs)
    return None if fitting is None else fitting[0]


def _of_log(node: Apply, analysis: Analysis) -> Variable | None:
    (x,), (out,) = node.inputs, node.outputs
    inner = x.owner
    if inner is not None and _kind(inner) is Erfc:
        return None  # its slope has a rule with fewer rounding errors
    if inner is not None and x.type.dtype == out.type.dtype and _kind(inner) in (Mul, TrueDivide):
        new = None if x in analysis.kept else logarithm_of_ratios(x, analysis.kept)
        if new is not None:
            return new
    new = logarithm(node, analysis)
    if new is not None or inner is None or x in analysis.kept or x.type.dtype != out.type.dtype:
        return new
    if isinstance(inner.op, Prod) and inner.inputs[0].type.dtype == x.type.dtype:
        op = inner.op
        return Sum(op.axis, dtype=op.dtype, acc_dtype=op.acc_dtype)(ops.log(inner.inputs[0]))
    if inner.op == ops.add:
        return log_of_one_plus_power(x, analysis.kept)
    return logarithm_of_difference(inner, analysis) if inner.op == ops.sub else None


def _of_log1p(node: Apply, analysis: Analysis) -> Variable | None:
    (x,) = node.inputs
    if x.owner is None or not x.type.dtype == node.outputs[0].type.dtype:
        return None
    new = log_of_complement(x, analysis)
    if new is not None:
        return new
    found = analysis.form_of(x)
    if found is None:
        return log1p_of_power(x, analysis.kept, differentiated=True)
    return ops.softplus(found.exponent) if len(found.pieces) == 1 else None


def _of_quotient(node: Apply, analysis: Analysis) -> Variable | None:
    """Return the form of a product that is divided by a sum of exponentials, as a softmax is; None for others."""
    (out,) = node.outputs
    if _kind(node) is TrueDivide:
        top, bottom = node.inputs
        new = quotient_of_hyperbolic_functions(top, bottom, analysis.kept)
        if new is None:
            new = _weighted_average(node, analysis.kept)
        if new is not None:
            return new
    if _kind(node) is TrueDivide or any(_divides_at_all(v) for v in node.inputs):
        new = with_stable_slopes(out, analysis.kept)
        if new is not None:
            return new
    if not divides_by_exponentials(node):
        return _with_scaled_tails(node, analysis)
    last = node.inputs[-1]
    x = argument_of_one_plus_exp(last) if _kind(node) in (TrueDivide, Reciprocal) else None
    operands = [] if last.owner is None else last.owner.inputs
    if x is not None and _is_average(node, analysis):
        x = None
    if x is not None and not any(v in analysis.kept for v in (last, *operands)):
        logistic = ops.sigmoid(opposite(x))
        return logistic if len(node.inputs) == 1 else _over_one_plus_exp(node.inputs[0], x, logistic, analysis)
    found = Analysis(analysis.kept, differentiated=True, smooth=True).form_of(out)
    if found is None or (found.factors and not found.divisors):
        return None
    mantissa = found.mantissa(out.type.dtype)
    return ops.exp(found.exponent) if mantissa is None else ops.mul(mantissa, ops.exp(found.exponent))


def _is_average(node: Apply, analysis: Analysis) -> bool:
    """Return whether a sum of exponentials is divided by another."""
    top = node.inputs[0].owner
    return (
        len(node.inputs) == 2 and top is not None and _kind(top) is Add and analysis.form_of(node.inputs[0]) is not None
    )


def _weighted_average(node: Apply, kept: Collection[Variable]) -> Variable | None:
    """``(a*exp(x) + b*exp(y)) / (c*exp(x) + d*exp(y))``: its slope is that of one logistic function."""
    others, below = (None if v in kept else _two_terms(v) for v in node.inputs)
    if others is None or below is None:
        return None
    first, second = below
    if _is_exponent(first, others[1]) and _is_exponent(second, others[0]):
        others = others[::-1]
    if not (_is_exponent(first, others[0]) and _is_exponent(second, others[1])):
        return None
    out = node.outputs[0]
    a, b, c, d = (number_of(one) for one in (*others, first, second))
    if None in (a, b, c, d) or not (0 < c < np.inf and 0 < d < np.inf):
        return None
    a, b, c, d = map(np.float64, (a, b, c, d))
    share = ops.sigmoid(ops.add(ops.sub(second.exponent, first.exponent), constant_like(np.log(d) - np.log(c), out)))
    return ops.add(constant_like(a / c, out), ops.mul(constant_like(b / d - a / c, out), share))


def _two_terms(var: Variable) -> list[Product] | None:
    """Return the form of a sum or difference of two exponentials, one of which may be a number."""
    node = var.owner
    if node is None or _kind(node) not in (Add, Sub) or len(node.inputs) != 2:
        return None
    if _kind(node) is Sub:
        first, second = node.inputs
        number = common_value(second)
        opposite = ops.mul(-1, second) if number is None else constant_like(-number, var)
        (node,) = ops.add(first, opposite).get_parents()
    return exponential_terms(node)


def _is_exponent(one: Product, other: Product) -> bool:
    """Return whether the exponents of two terms are the same."""
    value = common_value(one.exponent)
    return one.exponent is other.exponent or (value is not None and value == common_value(other.exponent))


def _divides_at_all(var: Variable) -> bool:
    """Return whether a factor is a quotient."""
    return var.owner is not None and _kind(var.owner) in (TrueDivide, Reciprocal)


def _over_one_plus_exp(top: Variable, x: Variable, logistic: Variable, analysis: Analysis) -> Variable:
    """``top / (1 + exp(x))``, with the logistic function of ``-x``."""
    found = analysis.form_of(top)
    if found is not None and found.exponent is x:
        rest = found.mantissa(top.type.dtype)
        return ops.sigmoid(x) if rest is None else ops.mul(rest, ops.sigmoid(x))
    return logistic if has_value(top, 1) else ops.mul(top, logistic)


def _with_scaled_tails(node: Apply, analysis: Analysis) -> Variable | None:
    """``exp(x**2) * erfc(x)``, and quotients of a power and ``erfc``, by the scaled function; the same of ``ndtr``."""
    if not any(_is_tail(v) for v in node.inputs) or any(is_near_kept(v, analysis.kept) for v in node.inputs):
        return None
    (out,) = node.outputs
    product = Product.read(out)
    new = scaled_erfc(product.map(_tail_of_complement))
    scaled = [v for v in new.divisors if v.owner is not None and _kind(v.owner) is Erfcx]
    if not scaled and new == product:
        return None
    # The reciprocal has derivatives that stay in the range where the function does not.
    new.factors.extend(special.erfcx_reciprocal(made.inputs[0]) for v in scaled for made in v.get_parents())
    new.divisors = [v for v in new.divisors if v not in scaled]
    return new.build(out)


def _tail_of_complement(var: Variable) -> Variable:
    """``ndtr(-x)`` for ``1 - ndtr(x)``, and ``erfc`` for what is 1 plus or minus ``erf``."""
    node = var.owner
    if node is None or _kind(node) not in (Add, Sub) or len(node.inputs) != 2:
        return var
    one = [has_value(v, 1) for v in node.inputs]
    if one not in ([True, False], [False, True]) or (_kind(node) is Sub and not one[0]):
        return var
    inner = node.inputs[one.index(False)].owner
    if inner is None or not isinstance(inner.op, Elemwise) or inner.inputs[0].type.dtype != var.type.dtype:
        return var
    (x, *_) = inner.inputs
    if _kind(inner) is Erf:
        return special.erfc(x if _kind(node) is Sub else opposite(x))
    return special.ndtr(opposite(x)) if _kind(inner) is Ndtr and _kind(node) is Sub else var


def _is_tail(var: Variable) -> bool:
    """Return whether a factor is an error function, or a product with one."""
    node = var.owner
    if node is None:
        return False
    inner = node.inputs if _kind(node) in (Mul, TrueDivide) else [var]
    tails = [_tail_of_complement(v).owner for v in inner]
    return any(tail is not None and _kind(tail) in (Erfc, Erfcx, Ndtr) for tail in tails)


def _of_inverse(inverse_of: type) -> Callable[[Apply, Analysis], Variable | None]:
    """Return the form of a function of its inverse, both of which are defined everywhere."""

    def form(node: Apply, analysis: Analysis) -> Variable | None:
        (var,) = node.inputs
        if var.owner is None or var in analysis.kept or _kind(var.owner) is not inverse_of:
            return None
        (x,) = var.owner.inputs
        return x if x.type.dtype == node.outputs[0].type.dtype else None

    return form


def divides_by_exponentials(node: Apply, depth: int = 3, below: bool = False) -> bool:
    """Return whether a sum of exponentials is among the divisors of a product, at first sight.

    `below` says that the product itself is divided by.
    """
    for place, var in enumerate(node.inputs):
        inner = _behind_shuffles(var)
        if inner is None:
            continue
        divisor = below ^ _divides(node, place)
        kind = _kind(inner)
        if kind is Cosh and divisor:
            return True
        if kind is Add or kind in SUMS:
            if divisor and any(_has_exponential(v) for v in inner.inputs):
                return True
        elif depth and kind in PRODUCTS and divides_by_exponentials(inner, depth - 1, divisor):
            return True
    return False


def _divides(node: Apply, place: int) -> bool:
    """Return whether a node divides by its input at a place. Powers do if their exponent may be negative."""
    kind = _kind(node)
    if kind is Pow:
        exponent = exponent_value(node.inputs[1])
        return place == 0 and (exponent is None or exponent < 0)
    return kind is Reciprocal or (kind is TrueDivide and place == 1)


def _has_exponential(var: Variable) -> bool:
    """Return whether a term is an exponential, or a product with one."""
    inner = _behind_shuffles(var)
    if inner is None:
        return False
    kind = _kind(inner)
    if kind in PRODUCTS:
        return any(v.owner is not None and _kind(v.owner) is Exp for v in inner.inputs)
    return kind is Exp


def _behind_shuffles(var: Variable) -> Apply | None:
    node = var.owner
    while node is not None and isinstance(node.op, DimShuffle):
        node = node.inputs[0].owner
    return node


def _kind(node: Apply) -> type:
    """The class of an op, or of the scalar op of an elementwise one: quicker to compare than ops."""
    op = node.op
    return type(op.scalar_op) if type(op) is Elemwise else type(op)


PRODUCTS = frozenset({Mul, TrueDivide, Reciprocal, Pow, Sqr})
SUMS = frozenset({Sum, Dot})
LOGARITHMS = frozenset({Log, Log1p, Softplus})


def _of_power(node: Apply, analysis: Analysis) -> Variable | None:
    """Return the form of a power of an exponential, or of a negative power of a sum with exponentials.

    A positive power of a sum overflows with it, and then its slope is not a product with one that underflows. One above
    1 of an exponential overflows where factors of its slope do not: they may meet what is zero, or small.
    """
    base = node.inputs[0].owner
    if base is None or node.inputs[0] in analysis.kept or _kind(base) not in (Exp, Add):
        return None
    exponent = exponent_value(node.inputs[1]) if _kind(node) is Pow else 0.5
    if exponent is not None and exponent > (1 if _kind(base) is Exp else 0):
        return None
    if _kind(base) is Add and not any(_has_exponential(v) for v in base.inputs):
        return None
    found = analysis.form_of(node.outputs[0])
    return ops.exp(found.exponent) if found is not None and len(found.pieces) == 1 else None


def _of_log1mexp(node: Apply, analysis: Analysis) -> Variable | None:
    opposite = node.inputs[0].owner
    if opposite is None or opposite.op != ops.neg or node.inputs[0] in analysis.kept:
        return _of_flat(node, analysis)
    (power,) = opposite.inputs
    if power.owner is None or _kind(power.owner) is not Exp or power in analysis.kept:
        return _of_flat(node, analysis)
    (x,) = power.owner.inputs
    if x.type.dtype != node.outputs[0].type.dtype or output_of(x, ops.maximum) or output_of(x, ops.minimum):
        return None
    return smooth_log1mexp_of_exponential(x)


#: By the exponential of this, exponentials in flat functions stay in the range, so that factors do not leave it.
MARGIN = 8.0


def _of_flat(node: Apply, analysis: Analysis) -> Variable | None:
    """Return the form of a function of exponentials that is flat for large arguments of one sign."""
    return _of_bounded(node, analysis, MARGIN)


def _of_softplus(node: Apply, analysis: Analysis) -> Variable | None:
    return _of_bounded(node, analysis, 0.0)


def _of_bounded(node: Apply, analysis: Analysis, margin: float) -> Variable | None:
    (x,) = node.inputs
    bounded = with_bounded_exponentials(x, analysis.kept, margin)
    return None if bounded is x or output_of(x, ops.exp) else node.op(bounded)


def _of_sum(node: Apply, analysis: Analysis) -> Variable | None:
    return smooth_sum(node, analysis.kept) if _has_logarithm(node, 2) else None


def _has_logarithm(node: Apply, depth: int) -> bool:
    """Return whether a logarithm or softplus is among the terms of a sum of sums, at first sight."""
    for var in node.inputs:
        inner = var.owner
        if inner is None:
            continue
        kind = _kind(inner)
        if kind in LOGARITHMS or (depth > 1 and kind in (Add, Sub) and _has_logarithm(inner, depth - 1)):
            return True
    return False


def _of_difference(node: Apply, analysis: Analysis) -> Variable | None:
    """Return the form of a difference of roots, of ``1 - tanh(x)**2``, or of a sum that is smooth."""
    if any(v in analysis.kept for v in node.inputs):
        return _of_sum(node, analysis)
    one, var = node.inputs
    if has_value(one, 1):
        base = None if var.owner is None or _kind(var.owner) not in (Sqr, Pow, Mul) else base_of_square(var)
        inner = None if base is None or base in analysis.kept else output_of(base, ops.tanh)
        if inner is not None and inner.inputs[0].type.dtype == node.outputs[0].type.dtype:
            size = hyperbolic_cosine(analysis, inner, 0).exponent
            return ops.exp(ops.mul(constant_like(-2, size), size))
    if var.owner is not None and _kind(var.owner) is Sqrt:
        new = smooth_difference_of_roots(node)
        if new is not None:
            return new
    return _of_sum(node, analysis)


GRADIENT_FORMS: dict[type, Callable[[Apply, Analysis], Variable | None]] = {
    Add: _of_sum,
    Sub: _of_difference,
    Log: _of_log,
    Log2: logarithm,
    Log10: logarithm,
    Log1p: _of_log1p,
    Log1mexp: _of_log1mexp,
    Exp: _of_flat,
    Expm1: _of_flat,
    Sigmoid: _of_flat,
    Tanh: _of_flat,
    Softplus: _of_softplus,
    Pow: _of_power,
    Sqrt: _of_power,
    TrueDivide: _of_quotient,
    Mul: _of_quotient,
    Reciprocal: _of_quotient,
    ArcTanh: _of_inverse(Tanh),
    ArcSinh: _of_inverse(Sinh),
    XLogY: form_of_xlogy,
    Entr: form_of_entropy,
    RelEntr: form_of_relative_entropy,
    KLDiv: form_of_relative_entropy,
}
