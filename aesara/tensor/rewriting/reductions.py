"""Rules about reductions along axes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aesara.graph.nodes import Constant, Variable
from aesara.graph.rewriting.basic import node_rewriter
from aesara.tensor.allocation import Alloc, alloc
from aesara.tensor.careduce import CAReduce
from aesara.tensor.casting import cast
from aesara.tensor.conversion import constant
from aesara.tensor.dimshuffle import DimShuffle
from aesara.tensor.elementwise_ops import eq, mul, neg, switch, true_divide
from aesara.tensor.logical_reduction import All, Any
from aesara.tensor.reduction import Max, Min, Prod, Sum
from aesara.tensor.rewriting.helpers import as_dtype, computed_in, in_place_of, is_float
from aesara.tensor.rewriting.registration import (
    register_canonicalize,
    register_specialize,
    register_uncanonicalize,
    register_useless,
)


def reduced_axes(node) -> tuple[int, ...]:
    """The axes that a reduction goes along."""
    axis = node.op.axis
    return tuple(range(node.inputs[0].type.ndim)) if axis is None else tuple(axis)


def is_number(var: Variable) -> bool:
    """Whether a tensor has one element, whatever its number of dimensions."""
    return all(var.type.broadcastable)


@register_canonicalize
@register_specialize
@node_rewriter([Sum])
def local_sum_prod_mul_by_scalar(fgraph, node):
    """A factor that is the same for all elements is multiplied with the sum.

    ``sum(c * x)`` is ``c * sum(x)``, ``sum(x / c)`` is ``sum(x) / c`` and ``sum(-x)`` is
    ``-sum(x)``.
    """
    out = node.outputs[0]
    (x,) = node.inputs
    inner = x.owner
    # Integers that are widened by the sum could wrap around at another place.
    if inner is None or x.type.dtype != out.type.dtype or out.type.dtype == "bool":
        return False
    dtype = x.type.dtype
    if inner.op == neg:
        return in_place_of(out, neg(node.op(inner.inputs[0])))
    if dtype == "float16":
        return False  # the sum of what is not scaled down yet would often be infinite
    if inner.op == mul:
        factors = [v for v in inner.inputs if is_number(v)]
        others = [v for v in inner.inputs if not is_number(v)]
        if not factors or not others:
            return False
        rest = as_dtype(others[0], dtype) if len(others) == 1 else computed_in(dtype, mul, others)
        total = node.op(rest)
        return in_place_of(out, mul(*(as_number(v, total) for v in factors), total))
    if inner.op == true_divide and is_float(x):
        top, bottom = inner.inputs
        if not is_number(bottom) or is_number(top):
            return False
        total = node.op(as_dtype(top, dtype))
        return in_place_of(out, true_divide(total, as_number(bottom, total)))
    return False


def as_number(var: Variable, like: Variable) -> Variable:
    """A tensor of one element with as many dimensions as another."""
    if var.type.ndim:
        var = var.dimshuffle()
    return var.dimshuffle(*["x"] * like.type.ndim) if like.type.ndim else var


@register_canonicalize
@node_rewriter([CAReduce])
def local_sum_prod_all_to_none(fgraph, node):
    """A reduction along all axes, named one by one, as one along all axes."""
    axis = node.op.axis
    (x,) = node.inputs
    if axis is None or len(axis) != x.type.ndim or not axis or not isinstance(node.op, REDUCTIONS):
        return False
    return in_place_of(node.outputs[0], with_axes(node.op, None)(x))


REDUCTIONS = (Sum, Prod, Max, Min, All, Any)


def with_axes(op, axes: Sequence[int] | None):
    """The same reduction along other axes."""
    if axes is not None:
        return op.clone(axis=tuple(axes))
    if isinstance(op, (Sum, Prod)):
        return type(op)(axis=None, dtype=op.dtype, acc_dtype=op.acc_dtype)
    return type(op)(axis=None)


@register_canonicalize
@node_rewriter([Sum, Prod, Max, Min, All, Any])
def local_op_of_op(fgraph, node):
    """A reduction of a reduction of the same kind as one along the axes of both."""
    out = node.outputs[0]
    (x,) = node.inputs
    inner = x.owner
    if inner is None or type(inner.op) is not type(node.op) or len(fgraph.clients[x]) > 1:
        return False
    (original,) = inner.inputs
    if isinstance(node.op, (Sum, Prod)):
        if node.op.acc_dtype != inner.op.acc_dtype or out.type.dtype != x.type.dtype:
            return False
    first = reduced_axes(inner)
    kept = [i for i in range(original.type.ndim) if i not in first]
    axes = sorted([*first, *(kept[i] for i in reduced_axes(node))])
    op = inner.op if len(axes) == len(first) else with_axes(inner.op, axes)
    return in_place_of(out, op(original))


@register_useless
@register_canonicalize
@register_specialize
@node_rewriter([Sum, Prod, Max, Min, All, Any])
def local_reduce_broadcastable(fgraph, node):
    """Axes of length one are dropped rather than reduced; none left, nothing is reduced."""
    out = node.outputs[0]
    (x,) = node.inputs
    axes = reduced_axes(node)
    single = [axis for axis in axes if x.type.shape[axis] == 1]
    if axes and not single:
        return False
    if isinstance(node.op, (All, Any)) and x.type.dtype != "bool":
        return False
    kept = [i for i in range(x.type.ndim) if i not in single]
    smaller = x.dimshuffle(*kept) if single else x
    left = [kept.index(axis) for axis in axes if axis not in single]
    if left:
        return in_place_of(out, with_axes(node.op, left)(smaller))
    return in_place_of(out, cast(smaller, out.type.dtype))


def _is_finite(number: Variable) -> bool:
    """Whether a number is known to be neither infinite nor NaN."""
    if number.owner is not None and isinstance(number.owner.op, DimShuffle):
        number = number.owner.inputs[0]
    return isinstance(number, Constant) and bool(np.isfinite(number.data).all())


@register_canonicalize
@register_specialize
@node_rewriter([Sum, Max, Min])
def local_opt_alloc(fgraph, node):
    """The sum of a repeated number is a multiple of it; its largest element is the number."""
    out = node.outputs[0]
    (x,) = node.inputs
    inner = x.owner
    if inner is None or not isinstance(inner.op, Alloc):
        return False
    value, *sizes = inner.inputs
    if not is_number(value):
        return False
    number = value.dimshuffle() if value.type.ndim else value
    axes = reduced_axes(node)
    kept = [sizes[i] for i in range(len(sizes)) if i not in axes]
    if isinstance(node.op, Sum):
        if out.type.dtype == "bool":
            return False
        # In the dtype of the sum: a narrower one might not hold the number of elements.
        dtype = node.op.acc_dtype or out.type.dtype
        lengths = [sizes[axis] for axis in axes]
        total = cast(number, dtype)
        for length in lengths:
            total = mul(total, cast(length, dtype))
        unknown = [length for axis, length in zip(axes, lengths) if x.type.shape[axis] is None]
        if unknown and is_float(number) and not _is_finite(number):
            # No times infinity is NaN, the sum of nothing is 0.
            count = unknown[0] if len(unknown) == 1 else mul(*unknown)
            total = switch(eq(count, 0), constant(0, dtype=dtype), total)
        number = cast(total, out.type.dtype)
    elif any(x.type.shape[axis] in (None, 0) for axis in axes):
        return False  # of nothing there is no largest element: the error is to be raised
    return in_place_of(out, alloc(number, *kept) if kept else number)


@register_uncanonicalize
@node_rewriter([neg])
def local_max_to_min(fgraph, node):
    """``-max(-x)`` is ``min(x)``."""
    largest = node.inputs[0].owner
    if largest is None or not isinstance(largest.op, Max) or len(fgraph.clients[node.inputs[0]]) > 1:
        return False
    inner = largest.inputs[0].owner
    if inner is None or inner.op != neg or not is_float(node.outputs[0]):
        return False
    return in_place_of(node.outputs[0], Min(largest.op.axis)(inner.inputs[0]))
