"""Sums with tensors that are zero but for a part: what is in the part is added to the part of the others.

Gradients of indexed parameters are such tensors; an update by one then touches the entries that were used, and no
others.
"""

from __future__ import annotations

from typing import Any

from aesara.graph.nodes import Variable
from aesara.graph.rewriting.basic import node_rewriter
from aesara.scalar import Add, Mul, Neg, Sub
from aesara.scalar.types import upcast
from aesara.tensor.elementwise.elemwise import Elemwise
from aesara.tensor.elementwise.ops import add, mul, neg
from aesara.tensor.indexing.subtensor_advanced import AdvancedIncSubtensor, AdvancedIncSubtensor1
from aesara.tensor.indexing.subtensor_basic import IncSubtensor
from aesara.tensor.rewriting.helpers import applied, has_value, in_place_of, is_elemwise, is_float
from aesara.tensor.rewriting.registration import Rules

rules = Rules()

WRITERS = (IncSubtensor, AdvancedIncSubtensor, AdvancedIncSubtensor1)


def _is_alone(fgraph, var: Variable) -> bool:
    return len(fgraph.clients[var]) == 1


def _is_scattered(var: Variable) -> bool:
    """Whether a variable is zeros with a value added to a part."""
    node = var.owner
    if node is None or not isinstance(node.op, WRITERS) or node.op.inplace or not has_value(node.inputs[0], 0):
        return False
    # A slice names each entry once, so that writing is adding.
    return not node.op.set_instead_of_inc or isinstance(node.op, IncSubtensor)


def _scattered(fgraph, var: Variable) -> tuple[Variable, list[Variable], bool] | None:
    """A scattered tensor, the numbers that it is multiplied by, and whether it is negated; None for anything else."""
    factors: list[Variable] = []
    negative = False
    while _is_alone(fgraph, var):
        if _is_scattered(var):
            return var, factors, negative
        if is_elemwise(var.owner, Neg):
            negative = not negative
            (var,) = var.owner.inputs
        elif is_elemwise(var.owner, Mul):
            large = [x for x in var.owner.inputs if not all(x.type.broadcastable)]
            factors += [x for x in var.owner.inputs if all(x.type.broadcastable)]
            if len(large) != 1:
                return None
            (var,) = large
        else:
            return None
    return None


@rules.specialize
@node_rewriter([(Elemwise, Add), (Elemwise, Sub)], operands=[*WRITERS, (Elemwise, Neg), (Elemwise, Mul)])
def local_IncSubtensor_serialize(fgraph, node):
    """x + zeros with y added to a part -> x with y added to the part."""
    (out,) = node.outputs
    if not is_float(out) or any(x.type.dtype != out.type.dtype for x in node.inputs):
        return False
    positions = range(len(node.inputs)) if is_elemwise(node, Add) else (1,)
    scattered = {k: found for k in positions if (found := _scattered(fgraph, node.inputs[k])) is not None}
    if len(scattered) == len(node.inputs):
        scattered.popitem()  # the others are added to its parts
    kept = [x for k, x in enumerate(node.inputs) if k not in scattered]
    added = []
    for position, (part, factors, negative) in scattered.items():
        term = node.inputs[position]
        if _is_computed_in(out.type.dtype, part, factors) and _have_shape_of(fgraph, out, term, kept):
            added.append((part.owner, _scaled(part, factors, negative != is_elemwise(node, Sub))))
        else:
            kept.append(term)
    if not added:
        return False
    total: Variable | None = kept[0] if len(kept) == 1 else add(*kept)
    for writer, value in added:
        total = applied(_adding(writer.op), total, value, *writer.inputs[2:])
        if total is None:
            return False
    return in_place_of(out, total)


def _is_computed_in(dtype: str, part: Any, factors: list[Variable]) -> bool:
    """Whether a scattered tensor, what it is made of and what it is multiplied by have this dtype, or less."""
    values = [part.owner.inputs[1], *factors]
    return part.type.dtype == dtype and upcast(*(x.type.dtype for x in values)) == dtype


def _scaled(part: Any, factors: list[Variable], negative: bool) -> Variable:
    """What a scattered tensor has in its part, times some numbers."""
    y = part.owner.inputs[1]
    value = mul(y, *[_with_dimensions(factor, y.type.ndim) for factor in factors]) if factors else y
    return neg(value) if negative else value


def _with_dimensions(x: Any, ndim: int) -> Variable:
    """One number as a tensor with some dimensions, all of length one."""
    if x.type.ndim == ndim:
        return x
    number = x.dimshuffle() if x.type.ndim else x
    return number.dimshuffle(*["x"] * ndim) if ndim else number


def _adding(op):
    """The op that adds where the given one may write."""
    if isinstance(op, IncSubtensor):
        return IncSubtensor(op.idx_list)
    return op


def _have_shape_of(fgraph, out: Variable, term: Variable, kept: list[Variable]) -> bool:
    """Return whether a scattered term and one of those that it is added to are known to have the shape of the sum.

    A scattered term that is broadcast adds in more places, and to a broadcast sum of the others it cannot be added.
    """
    feature = getattr(fgraph, "shape_feature", None)
    if feature is None:
        return False

    def is_whole(x: Variable) -> bool:
        return x.type.broadcastable == out.type.broadcastable and feature.same_shape(x, out)

    return any(map(is_whole, kept)) and is_whole(term)
