"""Where signs and absolute values stand in sums, products and quotients.

The canonical form has the sign in front of a product, or in its constant. What later phases bring about is put into the
form that is computed with the fewest operations. Signs are exact: none of these rules changes a result, except that the
zero that a difference of equal numbers is has no sign.
"""

from __future__ import annotations

import numpy as np

from aesara.graph.nodes import Constant, Variable
from aesara.graph.rewriting import databases
from aesara.graph.rewriting.basic import node_rewriter
from aesara.tensor.core.conversion import constant
from aesara.tensor.elementwise.ops import abs as at_abs
from aesara.tensor.elementwise.ops import add, mul, neg, square, sub, true_divide
from aesara.tensor.rewriting.helpers import as_dtype, common_value, computed_in, in_place_of, is_float
from aesara.tensor.rewriting.registration import Rules

rules = Rules()

#: The absolute value of a product of more factors is not taken apart: nested ones would take quadratic time.
MOST_FACTORS = 8


def negated_of(var: Variable, dtype: str) -> Variable | None:
    """``x`` if a variable is ``-x``, computed in a dtype; else None."""
    node = var.owner
    return node.inputs[0] if node is not None and node.op == neg and var.type.dtype == dtype else None


@rules.canonicalize
@node_rewriter([neg])
def local_neg_to_mul(fgraph, node):
    """``-(c * x)`` as ``(-c) * x``, and ``-(c * x / y)`` as ``(-c) * x / y``: the constant takes the sign.

    A sign with no constant to take it stays as it is: ``neg`` is the canonical form of a factor -1.
    """
    out = node.outputs[0]
    (x,) = node.inputs
    with_constant = _with_opposite_constant(fgraph, x, out.type.dtype)
    return in_place_of(out, with_constant) if with_constant is not None else False


@node_rewriter([neg])
def negation_as_product(fgraph, node):
    """``-x`` as ``-1 * x``, for those who ask for canonical forms alone: no rule here is written for this form."""
    out = node.outputs[0]
    if out.type.dtype == "bool":
        return False
    factor = constant(np.full((1,) * out.type.ndim, -1, out.type.dtype))
    return in_place_of(out, mul(factor, node.inputs[0]))


databases.canonicalize.spellings.append(negation_as_product)


@node_rewriter([neg], operands=[mul, square])
def negative_product_as_product(fgraph, node):
    """``-(x * y)`` as ``-1 * x * y``: one operation, in graphs that are done."""
    (x,), (out,) = node.inputs, node.outputs
    if not is_float(out) or x.type.dtype != out.type.dtype or len(fgraph.clients[x]) != 1:
        return False
    if x.owner is None or x.owner.op not in (mul, square):
        return False
    factors = x.owner.inputs if x.owner.op == mul else x.owner.inputs * 2
    return in_place_of(out, mul(constant(np.full((1,) * out.type.ndim, -1, out.type.dtype)), *factors))


rules.into(databases.spellings, negative_product_as_product, "fast_run")


@node_rewriter([add], operands=[Constant])
def negative_term_as_difference(fgraph, node):
    """``-5 + x`` as ``x - 5``, in graphs that are done."""
    (out,) = node.outputs
    if not is_float(out) or len(node.inputs) != 2:
        return False
    first, second = node.inputs
    term, x = (first, second) if isinstance(first, Constant) else (second, first)
    if not isinstance(term, Constant) or term.type.dtype != out.type.dtype or not np.all(term.data < 0):
        return False
    return in_place_of(out, sub(x, constant(-term.data)))


rules.into(databases.spellings, negative_term_as_difference, "fast_run")


def _with_opposite_constant(fgraph, var: Variable, dtype: str) -> Variable | None:
    """A product or quotient with the opposite of its constant; None if it has none, or is used elsewhere too."""
    node = var.owner
    if node is None or var.type.dtype != dtype or len(fgraph.clients[var]) != 1:
        return None
    if node.op == true_divide:
        top, bottom = node.inputs
        new_top = _opposite_of_constant(top, dtype)
        if new_top is None and top.owner is not None and top.owner.op == mul:
            new_top = _with_opposite_constant(fgraph, top, dtype)
        return None if new_top is None else true_divide(new_top, bottom)
    if node.op != mul:
        return None
    for i, factor in enumerate(node.inputs):
        opposite = _opposite_of_constant(factor, dtype)
        if opposite is not None:
            return mul(*node.inputs[:i], opposite, *node.inputs[i + 1 :])
    return None


def _opposite_of_constant(var: Variable, dtype: str) -> Variable | None:
    """``-c`` for a number ``c``, in a dtype and of the same rank; None for what is no number, and for 1 and -1.

    (``-(1 / x)`` is the canonical form of ``(-1) / x``.)
    """
    value = common_value(var)
    if value is None or not all(var.type.broadcastable) or abs(value) == 1:
        return None
    with np.errstate(all="ignore"):
        opposite = np.negative(np.asarray(value).astype(dtype))
    return constant(opposite.reshape((1,) * var.type.ndim))


@rules.canonicalize
@rules.specialize
@node_rewriter([sub], operands=[neg])
def local_sub_neg_to_add(fgraph, node):
    """``x - (-y)`` as ``x + y``."""
    out = node.outputs[0]
    x, subtrahend = node.inputs
    y = negated_of(subtrahend, out.type.dtype)
    return in_place_of(out, computed_in(out.type.dtype, add, [x, y])) if y is not None else False


@rules.specialize
@node_rewriter([add], operands=[neg])
def local_add_neg_to_sub(fgraph, node):
    """``x + (-y)`` and ``(-y) + x`` as ``x - y``."""
    if len(node.inputs) != 2:
        return False
    out = node.outputs[0]
    for x, term in (node.inputs, node.inputs[::-1]):
        y = negated_of(term, out.type.dtype)
        if y is not None:
            return in_place_of(out, computed_in(out.type.dtype, sub, [x, y]))
    return False


@rules.specialize
@node_rewriter([neg], operands=[true_divide])
def local_neg_div_neg(fgraph, node):
    """``-((-x) / y)`` and ``-(x / (-y))`` as ``x / y``."""
    out = node.outputs[0]
    (quotient,) = node.inputs
    inner = quotient.owner
    if inner is None or inner.op != true_divide or len(fgraph.clients[quotient]) != 1:
        return False
    top, bottom = inner.inputs
    x, y = negated_of(top, out.type.dtype), negated_of(bottom, out.type.dtype)
    if x is not None:
        return in_place_of(out, true_divide(x, bottom))
    if y is not None:
        return in_place_of(out, true_divide(top, y))
    return False


@rules.canonicalize
@node_rewriter([at_abs])
def local_abs_lift(fgraph, node):
    """``|x * y|`` as ``|x| * |y|`` and ``|x / y|`` as ``|x| / |y|``, for real numbers that are no integers.

    Thus they cancel with other factors. Integers wrap around differently on the two sides.
    """
    out = node.outputs[0]
    (x,) = node.inputs
    inner = x.owner
    if inner is None or inner.op not in (mul, true_divide) or not is_float(out) or x.type.dtype != out.type.dtype:
        return False
    if len(inner.inputs) > MOST_FACTORS:
        return False
    parts = [v if _is_absolute(v) else at_abs(as_dtype(v, out.type.dtype)) for v in inner.inputs]
    return in_place_of(out, computed_in(out.type.dtype, inner.op, parts))


def _is_absolute(var: Variable) -> bool:
    node = var.owner
    return node is not None and node.op == at_abs and is_float(var)


@rules.specialize
@node_rewriter([mul, true_divide], operands=[at_abs])
def local_abs_merge(fgraph, node):
    """``|x| * |y|`` as ``|x * y|`` and ``|x| / |y|`` as ``|x / y|``: undoes `local_abs_lift`.

    Positive constants among the factors go inside as well.
    """
    out = node.outputs[0]
    if not is_float(out):
        return False
    inside, merged = [], 0
    for var in node.inputs:
        if _is_absolute(var) and is_float(var.owner.inputs[0]):
            inside.append(var.owner.inputs[0])
            merged += 1
        elif _is_not_negative(var):
            inside.append(var)
        else:
            return False
    return in_place_of(out, at_abs(computed_in(out.type.dtype, node.op, inside))) if merged > 1 else False


def _is_not_negative(var: Variable) -> bool:
    """Whether a variable is known to be a number without a sign."""
    value = common_value(var)
    return value is not None and value.dtype.kind in "biuf" and not np.signbit(value)
