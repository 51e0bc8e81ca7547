"""Rules about reductions along axes."""

from __future__ import annotations

import typing
from collections.abc import Sequence

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Variable
from aesara.graph.rewriting.basic import node_rewriter
from aesara.tensor.core.casting import cast
from aesara.tensor.elementwise.ops import mul, neg, true_divide
from aesara.tensor.reductions.all_any import All, Any
from aesara.tensor.reductions.careduce import CAReduce
from aesara.tensor.reductions.sum_prod_max import Max, Min, Prod, Sum
from aesara.tensor.rewriting.helpers import as_dtype, computed_in, in_place_of, is_float
from aesara.tensor.rewriting.registration import Rules

rules = Rules()


def reduced_axes(node) -> tuple[int, ...]:
    """The axes that a reduction goes along."""
    axis = node.op.axis
    return tuple(range(node.inputs[0].type.ndim)) if axis is None else tuple(axis)


def is_number(var: Variable) -> bool:
    """Whether a tensor has one element, whatever its number of dimensions."""
    return all(var.type.broadcastable)


@rules.canonicalize
@rules.specialize
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


def as_number(var: typing.Any, like: Variable) -> Variable:
    """A tensor of one element with as many dimensions as another."""
    if var.type.ndim:
        var = var.dimshuffle()
    return var.dimshuffle(*["x"] * like.type.ndim) if like.type.ndim else var


@rules.canonicalize
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


@rules.canonicalize
@node_rewriter([Sum, Prod, Max, Min, All, Any], operands=[CAReduce])
def local_op_of_op(fgraph, node):
    """A reduction of a reduction of the same kind as one along the axes of both."""
    out = node.outputs[0]
    (x,) = node.inputs
    inner = x.owner
    if inner is None or type(inner.op) is not type(node.op) or len(fgraph.clients[x]) > 1:
        return False
    (original,) = inner.inputs
    if isinstance(node.op, (Sum, Prod)):
        if node.op.acc_dtype != inner.op.acc_dtype or out.type.dtype != x.type.dtype or out.type.dtype == "bool":
            return False  # of a sum that is converted to Booleans more is lost than what wraps around
    first = reduced_axes(inner)
    kept = [i for i in range(original.type.ndim) if i not in first]
    axes = sorted([*first, *(kept[i] for i in reduced_axes(node))])
    op = inner.op if len(axes) == len(first) else with_axes(inner.op, axes)
    return in_place_of(out, op(original))


@rules.useless("local_useless_reduce", "local_cut_useless_reduce")
@rules.canonicalize("local_useless_reduce", "local_cut_useless_reduce")
@rules.specialize("local_useless_reduce", "local_cut_useless_reduce")
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


@rules.uncanonicalize
@node_rewriter([neg])
def local_max_to_min(fgraph, node):
    """``-max(-x)`` is ``min(x)``."""
    return _opposite_of_extremum(fgraph, node, Max, Min)


@rules.uncanonicalize
@node_rewriter([neg])
def local_min_to_max(fgraph, node):
    """``-min(-x)`` is ``max(x)``."""
    return _opposite_of_extremum(fgraph, node, Min, Max)


def _opposite_of_extremum(
    fgraph: FunctionGraph, node: Apply, of: type[Max | Min], other: type[Max | Min]
) -> list[Variable] | None:
    """The other extremum, instead of the opposite of an extremum of opposites."""
    extremum = node.inputs[0].owner
    if extremum is None or not isinstance(extremum.op, of) or len(fgraph.clients[node.inputs[0]]) > 1:
        return None
    inner = extremum.inputs[0].owner
    if inner is None or inner.op != neg or not is_float(node.outputs[0]):
        return None
    return in_place_of(node.outputs[0], other(extremum.op.axis)(inner.inputs[0]))
