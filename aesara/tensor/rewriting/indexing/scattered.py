"""Rules about scattered tensors, which are zero except for a subtensor, such as gradients of indexed parameters.

In a sum, the values of the subtensor are added to the same subtensor of another term, so that an update writes only the
entries that were used. Two terms that write to zeros before and after a boundary, as in the gradient of ``at.roll``,
are joined. A choice whose mask is true in a subtensor is computed for the subtensor only; gradients of subtensors
contain such choices (see `aesara.graph.support`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Variable
from aesara.graph.rewriting.basic import node_rewriter
from aesara.graph.rewriting.matching import LogicVariable, one_of
from aesara.graph.rewriting.node_rewriters import RuleResult
from aesara.records import dataclass
from aesara.scalar import Add, Mul, Neg, Sub
from aesara.scalar.types import upcast
from aesara.tensor.core.tensor_like import IndexEntry
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.allocation import Alloc, alloc
from aesara.tensor.elementwise.elemwise import Elemwise
from aesara.tensor.elementwise.ops import add, and_, mul, neg, switch
from aesara.tensor.indexing.inc_subtensor import set_subtensor
from aesara.tensor.indexing.subtensor_basic import IncSubtensor
from aesara.tensor.joining.join_split import join
from aesara.tensor.rewriting.constants import broadcast_like
from aesara.tensor.rewriting.helpers import (
    apply_or_none,
    as_dtype,
    computed_in,
    has_value,
    in_place_of,
    is_elemwise,
    is_float,
    output_of,
)
from aesara.tensor.rewriting.indices import (
    FULL,
    WRITE,
    WRITERS,
    basic_lengths,
    index_of,
    is_full_slice,
    part_of,
    replacing_part,
    same_index,
    symbolic_index_of,
)
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.rewriting.rows import number
from aesara.tensor.shapes.dimshuffle import DimShuffle

rules = Rules()

# Sums with scattered terms


def _is_scattered(var: Variable) -> bool:
    """Return whether a variable is zeros with a value added to a subtensor."""
    node = var.owner
    if node is None or not isinstance(node.op, WRITERS) or node.op.inplace or not has_value(node.inputs[0], 0):
        return False
    # A slice has distinct positions, so setting is adding.
    return not node.op.set_instead_of_inc or isinstance(node.op, IncSubtensor)


def _match_scattered(fgraph, var: Variable) -> tuple[Variable, list[Variable], bool] | None:
    """Return a scattered tensor, the numbers that multiply it, and whether it is negated; None for other variables."""
    factors: list[Variable] = []
    negative = False
    while len(fgraph.clients[var]) == 1:
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
    """``x + inc(zeros[i], y) -> inc(x[i], y)``"""
    (out,) = node.outputs
    if not is_float(out) or any(x.type.dtype != out.type.dtype for x in node.inputs):
        return False
    positions = range(len(node.inputs)) if is_elemwise(node, Add) else (1,)
    scattered = {k: match for k in positions if (match := _match_scattered(fgraph, node.inputs[k])) is not None}
    if len(scattered) == len(node.inputs):
        scattered.popitem()  # the others are added to this one
    kept = [x for k, x in enumerate(node.inputs) if k not in scattered]
    added = []
    for position, (part, factors, negative) in scattered.items():
        term = node.inputs[position]
        if _is_computed_in(out.type.dtype, part, factors) and _have_shape_of(fgraph, out, term, kept):
            added.append((part.owner, _scale(part, factors, negative != is_elemwise(node, Sub))))
        else:
            kept.append(term)
    if not added:
        return False
    total: Variable | None = kept[0] if len(kept) == 1 else add(*kept)
    for writer, value in added:
        op = IncSubtensor(writer.op.idx_list) if isinstance(writer.op, IncSubtensor) else writer.op
        total = apply_or_none(op, total, value, *writer.inputs[2:])
        if total is None:
            return False
    return in_place_of(out, total)


def _is_computed_in(dtype: str, part: Any, factors: list[Variable]) -> bool:
    """Return whether a scattered tensor has a dtype to which its values and factors promote."""
    values = [part.owner.inputs[1], *factors]
    return part.type.dtype == dtype and upcast(*(x.type.dtype for x in values)) == dtype


def _scale(part: Any, factors: list[Variable], negative: bool) -> Variable:
    """Return the values of a scattered tensor times some numbers."""
    y = part.owner.inputs[1]
    value = mul(y, *[_with_dimensions(factor, y.type.ndim) for factor in factors]) if factors else y
    return neg(value) if negative else value


def _with_dimensions(x: Any, ndim: int) -> Variable:
    """Return a tensor of one element with `ndim` dimensions."""
    if x.type.ndim == ndim:
        return x
    number = x.dimshuffle() if x.type.ndim else x
    return number.dimshuffle(*["x"] * ndim) if ndim else number


def _have_shape_of(fgraph, out: Variable, term: Variable, kept: list[Variable]) -> bool:
    """Return whether a scattered term and one of the other terms are known to have the shape of the sum.

    A scattered term that is broadcast adds to more entries, and it cannot be added to other terms that are.
    """
    feature = getattr(fgraph, "shape_feature", None)
    if feature is None:
        return False

    def is_whole(x: Variable) -> bool:
        return x.type.broadcastable == out.type.broadcastable and feature.same_shape(x, out)

    return any(map(is_whole, kept)) and is_whole(term)


# Both sides of a boundary


@dataclass(frozen=True, eq=False)
class _Side:
    """A value that is written to a tensor before a boundary along one axis, or after it."""

    x: Any
    index: Any
    value: Any
    axis: int
    boundary: Any
    is_first: bool


@rules.canonicalize("shape_unsafe")
@node_rewriter([add], operands=[IncSubtensor])
def local_add_both_parts_of_zeros(fgraph: FunctionGraph, node: Apply) -> RuleResult:
    """``set(zeros[:n], x) + set(zeros[n:], y) -> join(x, y)``"""
    terms = _join_sides(fgraph, node.inputs, node.outputs[0])
    return False if terms is None else in_place_of(node.outputs[0], _sum(terms, node.outputs[0]), node.inputs)


def _sum(terms: Sequence[Any], out: Variable) -> Variable | None:
    return as_dtype(terms[0], out.type.dtype) if len(terms) == 1 else computed_in(out.type.dtype, add, list(terms))


def _join_sides(fgraph: FunctionGraph, inputs: Sequence[Any], out: Variable) -> list[Any] | None:
    """Return terms with pairs that write to both sides of a boundary joined; None without such pairs."""
    terms: list[Any] = []
    pending: list[tuple[int, _Side]] = []
    for term in inputs:
        side = _side_in_zeros(term, out)
        match = next(
            (k for k, (_, other) in enumerate(pending) if side is not None and _are_opposite_sides(side, other)), None
        )
        if side is None or match is None:
            if side is not None:
                pending.append((len(terms), side))
            terms.append(term)
        else:
            position, other = pending.pop(match)
            terms[position] = _join_pair(fgraph, side, other, out)
    return terms if len(terms) < len(inputs) else None


def _side_in_zeros(term: Any, out: Any) -> _Side | None:
    node = output_of(term, IncSubtensor)
    return _side_of(node, out) if node is not None and has_value(node.inputs[0], 0) else None


def _side_of(node: Apply, out: Any) -> _Side | None:
    """Return the side of a boundary along one axis to which a node writes; None for other nodes."""
    x, value = node.inputs[:2]
    is_like_out = x.type.dtype == out.type.dtype and x.type.broadcastable == out.type.broadcastable
    if value.type.ndim != x.type.ndim or not is_like_out:
        return None
    index = index_of(node, values_only=True)
    axes = [axis for axis, entry in enumerate(index) if not is_full_slice(entry)]
    if len(axes) != 1 or not isinstance(index[axes[0]], slice):
        return None
    (axis,) = axes
    start, stop, step = index[axis].start, index[axis].stop, index[axis].step
    if step not in (None, 1) or (start in (None, 0)) == (stop is None):
        return None
    is_first = stop is not None
    boundary = stop if is_first else start
    lengths = [pair for k, pair in enumerate(zip(value.type.shape, x.type.shape)) if k != axis]
    if boundary is None or any((n == 1) != (m == 1) for n, m in lengths):
        return None
    return _Side(x, symbolic_index_of(node), value, axis, boundary, is_first)


def _are_opposite_sides(side: _Side, other: _Side) -> bool:
    """Return whether two sides together are the whole tensor, and disjoint."""
    return side.axis == other.axis and side.is_first != other.is_first and same_index([side.boundary], [other.boundary])


def _join_pair(fgraph: FunctionGraph, side: _Side, other: _Side, out: Variable) -> Variable | None:
    sides = (side, other) if side.is_first else (other, side)
    return join(side.axis, *(_as_written(fgraph, side, out) for side in sides))


def _as_written(fgraph: FunctionGraph, side: _Side, out: Any) -> Any:
    """Return the value of a side, broadcast to the lengths of the side."""
    length, boundary, is_known = side.x.type.shape[side.axis], side.boundary, isinstance(side.boundary, int)
    entry = slice(None, boundary) if side.is_first else slice(boundary, None)
    value = side.value
    if length is None or not is_known or value.type.shape[side.axis] != len(range(length)[entry]):
        value = alloc(value, *basic_lengths(fgraph, side.x, side.index))
    return as_dtype(value, out.type.dtype)


IN_ZEROS = (one_of(IncSubtensor, node="inner"), number("zeros", 0), ...)


def _joined_with_inner(fgraph: FunctionGraph, write: Apply, inner: Apply, out: Variable) -> Any:
    side, other = _side_of(write, out), _side_of(inner, out)
    if side is None or other is None or not _are_opposite_sides(side, other):
        return None
    return _join_pair(fgraph, side, other, out)


@replacing_part((WRITE, IN_ZEROS, ...))
def local_join_other_part_of_zeros(fgraph: FunctionGraph, write: Apply, inner: Apply, out: Variable) -> Variable | None:
    """``set(set(zeros[:n], x)[n:], y) -> join(x, y)``"""
    return _joined_with_inner(fgraph, write, inner, out)


@replacing_part(
    (one_of(IncSubtensor, node="write", set_instead_of_inc=False), (one_of(add, node="sum_"), IN_ZEROS, ...), ...),
    lambda fgraph, sum_: len(fgraph.clients[sum_.outputs[0]]) == 1,
)
def local_add_other_part_of_zeros(fgraph: FunctionGraph, write: Apply, sum_: Apply, inner: Apply, out: Any) -> Any:
    """``inc((z + set(zeros[:n], x))[n:], y) -> z + join(x, y)``"""
    joined, terms = _joined_with_inner(fgraph, write, inner, out), list(sum_.inputs)
    terms[terms.index(inner.outputs[0])] = joined
    return None if joined is None else _sum(terms, out)


rules.group(
    "local_write_other_part_of_zeros",
    local_join_other_part_of_zeros,
    local_add_other_part_of_zeros,
    to=(rules.canonicalize,),
    tags=("shape_unsafe",),
)


# Choices in a subtensor


def _index_of_part(mask: Variable) -> list[Any] | None:
    """Return the index, with an entry for each axis, of the subtensor in which a mask is true, else None."""
    index: list[IndexEntry] = [FULL] * mask.type.ndim
    masks = [mask]
    while masks:
        factor = masks.pop()
        conjunction = output_of(factor, and_)
        if conjunction is not None:
            masks.extend(conjunction.inputs)
            continue
        axis, entry = _entry_of_axis(factor) or (None, None)
        if axis is None or index[axis] is not FULL:
            return None
        index[axis] = entry
    return index


def _entry_of_axis(mask: Variable) -> tuple[int, Any] | None:
    """Return the axis along which a mask varies, and the index entry of the positions where it is true, else None."""
    axis = 0
    shuffle = output_of(mask, DimShuffle)
    if shuffle is not None:
        (mask,) = shuffle.inputs
        if mask.type.ndim != 1 or 0 not in shuffle.op.new_order:
            return None
        axis = shuffle.op.new_order.index(0)
    write = output_of(mask, IncSubtensor)
    if write is None or mask.type.ndim != 1 or mask.type.dtype != "bool" or not write.op.set_instead_of_inc:
        return None
    base, value = write.inputs[:2]
    if output_of(base, Alloc) is None or not has_value(base, 0) or not has_value(value, 1):
        return None
    (entry,) = symbolic_index_of(write)
    return axis, entry


@rules.canonicalize("shape_unsafe")
@replacing_part(
    (one_of(switch), LogicVariable("mask", None, [IncSubtensor, DimShuffle, and_]), "x", number("zero", 0)),
    lambda x, out: x.type.broadcastable == out.type.broadcastable and x.type.dtype == out.type.dtype,
)
def local_choice_of_part(
    fgraph: FunctionGraph, mask: Variable, x: TensorVariable, zero: Variable, out: Variable
) -> Variable | None:
    """``switch(mask, x, 0) -> set(zeros[i], x[i])``, if the mask is true exactly in the subtensor ``[i]``"""
    index = _index_of_part(mask)
    if index is None:
        return None
    zeros = broadcast_like(zero, x, fgraph, out.type.dtype)
    whole, part = part_of(zeros, index), part_of(x, index)
    if whole is None or part is None:
        return None
    return x if part is x else set_subtensor(whole, part)
