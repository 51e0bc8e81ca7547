"""Reductions of joined, divided, squared or reduced tensors in fewer steps, and transposed products.

See `reductions` for rules about reductions as such.
"""

from __future__ import annotations

from typing import Any

from aesara.graph.nodes import Variable
from aesara.graph.rewriting import databases
from aesara.graph.rewriting.basic import node_rewriter
from aesara.tensor.creation.make_vector import MakeVector
from aesara.tensor.elementwise.ops import add, maximum, minimum, mul, square, true_divide
from aesara.tensor.elementwise.ops import pow as at_pow
from aesara.tensor.joining.join_split import Join
from aesara.tensor.products.dot import Dot, dot
from aesara.tensor.reductions.sum_prod_max import Max, Min, Prod, Sum
from aesara.tensor.rewriting.helpers import as_dtype, common_value, in_place_of, is_float
from aesara.tensor.rewriting.reductions import (
    as_number,
    is_number,
    local_reduce_broadcastable,
    reduced_axes,
    with_axes,
)
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.shapes.dimshuffle import DimShuffle
from aesara.tensor.shapes.shape import Shape_i

rules = Rules()

#: A reduction without axes is left out by the rule that leaves out axes of length one.
local_useless_reduce = local_reduce_broadcastable

#: More tensors than these are not reduced one with another.
MOST_JOINED = 32

PAIRWISE = {Sum: add, Prod: mul, Max: maximum, Min: minimum}


@rules.canonicalize
@rules.uncanonicalize
@node_rewriter([Sum, Prod, Max, Min], operands=[MakeVector, Join])
def local_reduce_join(fgraph, node):
    """The sum of tensors stacked along the axis of the sum is their elementwise sum, and so for other reductions.

    A sum of a vector that is made of numbers is the sum of the numbers.
    """
    out = node.outputs[0]
    (x,) = node.inputs
    inner = x.owner
    axes = reduced_axes(node)
    if inner is None or len(axes) != 1:
        return False
    if isinstance(inner.op, MakeVector):
        parts = inner.inputs
    elif isinstance(inner.op, Join):
        axis, *joined = inner.inputs
        if common_value(axis) not in (axes[0], axes[0] - x.type.ndim):
            return False
        # Lengths that only a join checks must not be broadcast instead.
        if any(v.type.shape[axes[0]] != 1 or v.type.broadcastable != joined[0].type.broadcastable for v in joined):
            return False
        kept = [i for i in range(x.type.ndim) if i != axes[0]]
        parts = [_with_dimensions(v, kept) for v in joined]
    else:
        return False
    if not 2 <= len(parts) <= MOST_JOINED or any(v.type.dtype == "bool" for v in parts):
        return False
    dtype = getattr(node.op, "acc_dtype", None) or out.type.dtype
    # An element is first given the dtype of the stack, which may be unable to hold it.
    parts = [as_dtype(as_dtype(v, x.type.dtype), dtype) for v in parts]
    return in_place_of(out, _pairwise(PAIRWISE[type(node.op)], parts))


def _with_dimensions(var: Any, kept: list[int]) -> Variable:
    """A variable with only some of its dimensions; the others have length one."""
    order: list = kept
    if var.owner is not None and isinstance(var.owner.op, DimShuffle):
        order = [var.owner.op.new_order[i] for i in kept]
        (var,) = var.owner.inputs
    return var if order == list(range(var.type.ndim)) else var.dimshuffle(*order)


def _pairwise(op, parts: list[Variable]) -> Variable:
    """An associative operation on several variables."""
    if op in (add, mul):
        return op(*parts)
    result = parts[0]
    for var in parts[1:]:
        result = op(result, var)
    return result


@rules.canonicalize
@rules.specialize
@node_rewriter([Sum], operands=[true_divide])
def local_sum_prod_div_dimshuffle(fgraph, node):
    """``sum(x / y, axis)`` as ``sum(x, axis) / y`` where `y` is the same all along the axis.

    With several axes, those along which `y` is the same are summed first. Where there is nothing to sum, `y` is assumed
    not to be zero, and the sum of `x` to be finite where that of the quotients is.
    """
    found = _with_same_divisor(fgraph, node)
    if found is None or is_number(found[1]):
        return False
    return in_place_of(node.outputs[0], _divided_after(node, *found))


def _with_same_divisor(fgraph, node) -> tuple[Any, Any, list[int]] | None:
    """What a reduction divides, by what, and the axes along which only the former changes; None if there are none."""
    out = node.outputs[0]
    (quotient,) = node.inputs
    inner = quotient.owner
    if inner is None or inner.op != true_divide or len(fgraph.clients[quotient]) != 1 or not is_float(out):
        return None
    dtype = out.type.dtype
    # In float16 the result for what is not divided yet would often be infinite.
    if quotient.type.dtype != dtype or dtype == "float16":
        return None
    top, bottom = inner.inputs
    first = [i for i in reduced_axes(node) if bottom.type.shape[i] == 1 and top.type.shape[i] != 1]
    return (as_dtype(top, dtype), bottom, first) if first else None


def _divided_after(node, top: Any, divisor: Any, first: list[int]) -> Variable:
    """A reduction along some axes, divided; then reduced along the others."""
    total = with_axes(node.op, first)(top)
    kept = [i for i in range(top.type.ndim) if i not in first]
    new = true_divide(total, _with_dimensions(divisor, kept))
    left = [kept.index(i) for i in reduced_axes(node) if i not in first]
    return with_axes(node.op, left)(new) if left else new


@node_rewriter([Prod], operands=[true_divide])
def local_prod_div_dimshuffle(fgraph, node):
    """``prod(x / y, axis)`` as ``prod(x, axis) / y**n`` where `y` is the same for all `n` elements along the axis.

    Both are assumed to be in the range of numbers where the product of the quotients is.
    """
    found = _with_same_divisor(fgraph, node)
    if found is None:
        return False
    top, bottom, first = found
    # An exponent that is rounded would give another power.
    lengths = [Shape_i(i)(top) for i in first]
    count = as_dtype(lengths[0] if len(lengths) == 1 else mul(*lengths), "float64")
    power = as_dtype(at_pow(as_dtype(bottom, "float64"), as_number(count, bottom)), top.type.dtype)
    return in_place_of(node.outputs[0], _divided_after(node, top, power, first))


rules.by_name(local_prod_div_dimshuffle, databases.canonicalize)


@rules.canonicalize
@rules.specialize
@node_rewriter([Sum], operands=[square])
def local_sumsqr2dot(fgraph, node):
    """The sum of squares of products of all rows of one matrix with all rows of another, as a matrix product.

    ``sqr(w.dimshuffle("x", 0, 1) * g.dimshuffle(0, "x", 1)).sum(axis=(1, 2))`` is
    ``dot(sqr(g), sqr(w).sum(axis=0))``: it needs no tensor of three dimensions.
    """
    out = node.outputs[0]
    (squares,) = node.inputs
    if reduced_axes(node) != (1, 2) or squares.type.ndim != 3 or squares.owner is None or not is_float(out):
        return False
    if squares.owner.op != square or len(fgraph.clients[squares]) != 1:
        return False
    product = squares.owner.inputs[0]
    if product.owner is None or product.owner.op != mul or len(product.owner.inputs) != 2:
        return False
    if len(fgraph.clients[product]) != 1:
        return False
    for w, g in (product.owner.inputs, product.owner.inputs[::-1]):
        if any(v.type.dtype != out.type.dtype for v in (w, g)):
            return False
        if not (_has_order(w, ("x", 0, 1)) and _has_order(g, (0, "x", 1))):
            continue
        rows, columns = g.owner.inputs[0], w.owner.inputs[0]
        if rows.type.broadcastable[1] != columns.type.broadcastable[1]:
            return False  # the inner dimension would have to be repeated
        return in_place_of(out, dot(square(rows), with_axes(node.op, [0])(square(columns))))
    return False


def _has_order(var: Variable, order: tuple) -> bool:
    node = var.owner
    return node is not None and isinstance(node.op, DimShuffle) and tuple(node.op.new_order) == order


@rules.canonicalize
@node_rewriter([DimShuffle], operands=[Dot])
def local_lift_transpose_through_dot(fgraph, node):
    """``dot(x, y).T`` as ``dot(y.T, x.T)``, for matrices."""
    (product,) = node.inputs
    inner = product.owner
    if inner is None or not isinstance(inner.op, Dot) or tuple(node.op.new_order) != (1, 0):
        return False
    x, y = inner.inputs
    if x.type.ndim != 2 or y.type.ndim != 2 or len(fgraph.clients[product]) != 1:
        return False
    return in_place_of(node.outputs[0], inner.op(y.T, x.T))
