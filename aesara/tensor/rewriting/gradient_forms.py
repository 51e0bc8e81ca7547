"""Forms in which logarithms and functions of exponentials are differentiated.

The gradient of the expression as written divides by a number that may underflow, and multiplies by it again. The
gradient of its `Scaled` form does not. `gradient_quotients` has the forms of quotients.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from aesara.graph.nodes import Apply, Variable
from aesara.graph.pullback import gradient_form
from aesara.graph.source import gradient_mark, inherit_source
from aesara.scalar.arithmetic import Add, Mul, Reciprocal, Sub, TrueDivide
from aesara.scalar.entropy import Entr, KLDiv, RelEntr, XLogY
from aesara.scalar.exponential import Exp, Expm1, Log, Log1mexp, Log1p, Log2, Log10, Sigmoid, Softplus
from aesara.scalar.power import Pow, Sqr, Sqrt
from aesara.scalar.special import Erfc
from aesara.scalar.trigonometric import ArcSinh, ArcTanh, Sinh, Tanh
from aesara.tensor.elementwise import ops
from aesara.tensor.elementwise.elemwise import Elemwise
from aesara.tensor.reductions.sum_prod_max import Prod, Sum
from aesara.tensor.rewriting.gradient_quotients import form_of_quotient, has_exponential
from aesara.tensor.rewriting.helpers import (
    common_value,
    constant_like,
    exponent_value,
    has_value,
    in_place_of,
    is_float,
    op_class,
    output_of,
)
from aesara.tensor.rewriting.hyperbolic import with_bounded_exponentials
from aesara.tensor.rewriting.logarithms.analysis import Analysis
from aesara.tensor.rewriting.logarithms.differences import base_of_square
from aesara.tensor.rewriting.logarithms.functions import hyperbolic_cosine
from aesara.tensor.rewriting.logarithms.powers import log1p_of_power, log_of_one_plus_power
from aesara.tensor.rewriting.logarithms.rules import log_of_complement, logarithm, smooth_log1mexp_of_exponential
from aesara.tensor.rewriting.special import form_of_entropy, form_of_relative_entropy, form_of_xlogy
from aesara.tensor.rewriting.sums import smooth_difference_of_roots, smooth_sum
from aesara.tensor.rewriting.vanishing_quotients import logarithm_of_ratios


def logarithm_of_difference(node: Apply, analysis: Analysis) -> Variable | None:
    """Return the form of ``log(exp(x) - exp(y))``, where one of the exponentials may be 1, else None."""
    x, y = (_exponent_or_one(v, analysis) for v in node.inputs)
    if x is None or y is None:
        return None
    if common_value(x) == 0:
        return ops.log1mexp(y)
    return ops.add(x, ops.log1mexp(ops.neg(x) if common_value(y) == 0 else ops.sub(y, x)))


def _exponent_or_one(var: Variable, analysis: Analysis) -> Variable | None:
    if has_value(var, 1):
        return constant_like(0, var)
    form = analysis.form_of(var)
    return form.exponent if form is not None and form.is_exponential else None


@gradient_form.register(Elemwise)
def _(op: Elemwise, node: Apply, kept: Collection[Variable]) -> Variable | None:
    """Return the form of an elementwise expression in the table `GRADIENT_FORMS`."""
    form = GRADIENT_FORMS.get(type(op.scalar_op))
    if form is None or not is_float(node.outputs[0]):
        return None
    with inherit_source(gradient_mark(node)):
        new = form(node, Analysis(kept, differentiated=True))
        fitting = None if new is None else in_place_of(node.outputs[0], new, node.inputs)
    return None if fitting is None else fitting[0]


def _form_of_log(node: Apply, analysis: Analysis) -> Variable | None:
    (x,), (out,) = node.inputs, node.outputs
    inner = x.owner
    if inner is not None and op_class(inner) is Erfc:
        return None  # its derivative has a rule with smaller rounding errors
    if inner is not None and x.type.dtype == out.type.dtype and op_class(inner) in (Mul, TrueDivide):
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


def _form_of_log1p(node: Apply, analysis: Analysis) -> Variable | None:
    (x,) = node.inputs
    if x.owner is None or not x.type.dtype == node.outputs[0].type.dtype:
        return None
    new = log_of_complement(x, analysis)
    if new is not None:
        return new
    form = analysis.form_of(x)
    if form is None:
        return log1p_of_power(x, analysis.kept, differentiated=True)
    return ops.softplus(form.exponent) if form.is_exponential else None


def _form_of_inverse(inverse_of: type) -> Callable[[Apply, Analysis], Variable | None]:
    """Return the function that replaces ``f(g(x))`` with `x`, for inverse functions that are defined everywhere."""

    def form(node: Apply, analysis: Analysis) -> Variable | None:
        (var,) = node.inputs
        if var.owner is None or var in analysis.kept or op_class(var.owner) is not inverse_of:
            return None
        (x,) = var.owner.inputs
        return x if x.type.dtype == node.outputs[0].type.dtype else None

    return form


LOGARITHMS = frozenset({Log, Log1p, Softplus})


def _form_of_power(node: Apply, analysis: Analysis) -> Variable | None:
    """Return the form of a power up to 1 of an exponential, or of a negative power of a sum with exponentials.

    Other powers have none. A positive power of a sum overflows with the sum, so no factor of its derivative underflows.
    A power above 1 of an exponential overflows where the factors of its derivative do not, and these may be multiplied
    by small numbers.
    """
    base = node.inputs[0].owner
    if base is None or node.inputs[0] in analysis.kept or op_class(base) not in (Exp, Add):
        return None
    exponent = exponent_value(node.inputs[1]) if op_class(node) is Pow else 0.5
    if exponent is not None and exponent > (1 if op_class(base) is Exp else 0):
        return None
    if op_class(base) is Add and not any(has_exponential(v) for v in base.inputs):
        return None
    form = analysis.form_of(node.outputs[0])
    return ops.exp(form.exponent) if form is not None and form.is_exponential else None


def _form_of_log1mexp(node: Apply, analysis: Analysis) -> Variable | None:
    opposite = node.inputs[0].owner
    if opposite is None or opposite.op != ops.neg or node.inputs[0] in analysis.kept:
        return _form_of_flat(node, analysis)
    (power,) = opposite.inputs
    if power.owner is None or op_class(power.owner) is not Exp or power in analysis.kept:
        return _form_of_flat(node, analysis)
    (x,) = power.owner.inputs
    if x.type.dtype != node.outputs[0].type.dtype or output_of(x, ops.maximum) or output_of(x, ops.minimum):
        return None
    return smooth_log1mexp_of_exponential(x)


#: Exponentials in flat functions are bounded by the largest number over the exponential of this margin, so that their
#: products with other factors stay in the range.
MARGIN = 8.0


def _form_of_flat(node: Apply, analysis: Analysis) -> Variable | None:
    """Return the form of a function of exponentials that is constant in the limit of large arguments of one sign."""
    return _form_of_bounded(node, analysis, MARGIN)


def _form_of_softplus(node: Apply, analysis: Analysis) -> Variable | None:
    return _form_of_bounded(node, analysis, 0.0)


def _form_of_bounded(node: Apply, analysis: Analysis, margin: float) -> Variable | None:
    (x,) = node.inputs
    bounded = with_bounded_exponentials(x, analysis.kept, margin)
    return None if bounded is x or output_of(x, ops.exp) else node.op(bounded)


def _form_of_sum(node: Apply, analysis: Analysis) -> Variable | None:
    return smooth_sum(node, analysis.kept) if _has_logarithm(node, 2) else None


def _has_logarithm(node: Apply, depth: int) -> bool:
    """Return whether a logarithm or softplus is among the terms of nested sums."""
    for var in node.inputs:
        inner = var.owner
        if inner is None:
            continue
        kind = op_class(inner)
        if kind in LOGARITHMS or (depth > 1 and kind in (Add, Sub) and _has_logarithm(inner, depth - 1)):
            return True
    return False


def _form_of_difference(node: Apply, analysis: Analysis) -> Variable | None:
    """Return the form of a difference of roots, of ``1 - tanh(x)**2``, or of a smooth sum."""
    if any(v in analysis.kept for v in node.inputs):
        return _form_of_sum(node, analysis)
    one, var = node.inputs
    if has_value(one, 1):
        base = None if var.owner is None or op_class(var.owner) not in (Sqr, Pow, Mul) else base_of_square(var)
        inner = None if base is None or base in analysis.kept else output_of(base, ops.tanh)
        if inner is not None and inner.inputs[0].type.dtype == node.outputs[0].type.dtype:
            size = hyperbolic_cosine(analysis, inner, 0).exponent
            return ops.exp(ops.mul(constant_like(-2, size), size))
    if var.owner is not None and op_class(var.owner) is Sqrt:
        new = smooth_difference_of_roots(node)
        if new is not None:
            return new
    return _form_of_sum(node, analysis)


#: For each class of scalar ops, the function that returns the form of a node, or None to differentiate it as written.
GRADIENT_FORMS: dict[type, Callable[[Apply, Analysis], Variable | None]] = {
    Add: _form_of_sum,
    Sub: _form_of_difference,
    Log: _form_of_log,
    Log2: logarithm,
    Log10: logarithm,
    Log1p: _form_of_log1p,
    Log1mexp: _form_of_log1mexp,
    Exp: _form_of_flat,
    Expm1: _form_of_flat,
    Sigmoid: _form_of_flat,
    Tanh: _form_of_flat,
    Softplus: _form_of_softplus,
    Pow: _form_of_power,
    Sqrt: _form_of_power,
    TrueDivide: form_of_quotient,
    Mul: form_of_quotient,
    Reciprocal: form_of_quotient,
    ArcTanh: _form_of_inverse(Tanh),
    ArcSinh: _form_of_inverse(Sinh),
    XLogY: form_of_xlogy,
    Entr: form_of_entropy,
    RelEntr: form_of_relative_entropy,
    KLDiv: form_of_relative_entropy,
}
