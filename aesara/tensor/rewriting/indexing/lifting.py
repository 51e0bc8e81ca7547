"""Rules that compute subtensors of results from subtensors of the operands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Variable
from aesara.graph.rewriting.basic import node_rewriter
from aesara.graph.rewriting.matching import one_of
from aesara.tensor.core.tensor_like import IndexEntry
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.allocation import Alloc, alloc
from aesara.tensor.elementwise.elemwise import Elemwise
from aesara.tensor.indexing.getitem import getitem
from aesara.tensor.indexing.index_shapes import basic_shape
from aesara.tensor.indexing.subtensor_basic import Subtensor
from aesara.tensor.joining.join_split import Join
from aesara.tensor.products.dot import Dot
from aesara.tensor.rewriting.helpers import apply_or_none, common_value, in_place_of
from aesara.tensor.rewriting.indices import (
    FULL,
    READ,
    has_slices,
    index_of,
    is_known,
    kept_axes,
    part_of,
    replacing_part,
    same_index,
    symbolic_index_of,
)
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.rewriting.rows import number
from aesara.tensor.shapes.specify_shape import SpecifyShape, Unbroadcast, unbroadcast

rules = Rules()


def _part_of_operand(x: Any, result: Any, index: Sequence[IndexEntry]) -> Variable | None:
    """Return the subtensor of an operand that broadcasts to ``result[index]``."""
    n_new = result.type.ndim - x.type.ndim
    entries = []
    for own, length, entry in zip(x.type.shape, result.type.shape[n_new:], index[n_new:]):
        if own == 1 and length != 1:
            entry = FULL if isinstance(entry, slice) else 0
        entries.append(entry)
    return part_of(x, entries)


@rules.useless("shape_unsafe")
@rules.canonicalize("shape_unsafe")
@rules.specialize("shape_unsafe")
@replacing_part((READ, (Alloc, "value", "**lengths"), ...))
def local_subtensor_of_alloc(read: Apply, value: Any, lengths: list[Any]) -> Any:
    """``alloc(x, n)[i] -> alloc(x[i], m)``"""
    x, index = read.inputs[0], symbolic_index_of(read)
    n_new = len(lengths) - value.type.ndim
    for own, length, entry in zip(value.type.shape, x.type.shape[n_new:], index[n_new:]):
        if own is None and length != 1 and entry != FULL:
            return None  # it may or may not be repeated along this dimension
    part = _part_of_operand(value, x, index)
    new_lengths = (*basic_shape(lengths, index), *lengths[len(index) :])
    return alloc(part, *new_lengths) if part is not None and new_lengths else part


@rules.canonicalize("shape_unsafe")
@rules.specialize("shape_unsafe")
@replacing_part((READ, (Join, number("axis"), "**tensors"), ...))
def local_subtensor_of_join(read: Apply, axis: Variable, tensors: list[Any]) -> Variable | None:
    """``join(x, y)[i] -> x[i]``, if the subtensor lies within x"""
    along = int(common_value(axis)) % tensors[0].type.ndim
    index, known = list(symbolic_index_of(read)), index_of(read)
    if along >= len(known) or not is_known(known[along]):
        return None
    start = 0
    for tensor in tensors:
        length = tensor.type.shape[along]
        if length is None:
            return None
        index[along] = _relative_to(start, known[along], length)
        if index[along] is not None:
            return part_of(tensor, index)
        start += length
    return None


def _relative_to(start: int, entry: Any, length: int) -> IndexEntry:
    """Return an entry of an index relative to `start`; None if it exceeds the length from there."""
    if not isinstance(entry, slice):
        return entry - start if start <= entry < start + length else None
    first, last, step = entry.start or 0, entry.stop, entry.step or 1
    is_inside = last is not None and step > 0 and start <= first < last <= start + length
    return slice(first - start, last - start, entry.step) if is_inside else None


@rules.specialize
@node_rewriter([Join], operands=[Subtensor])
def local_join_subtensors(fgraph: FunctionGraph, node: Apply) -> Any:
    """``join(x[:n], x[n:], y) -> join(x, y)``: adjacent subtensors become one"""
    axis, *tensors = node.inputs
    if common_value(axis) is None:
        return False
    along = int(common_value(axis)) % tensors[0].type.ndim
    merged = tensors[:1]
    for tensor in tensors[1:]:
        both = _merge_adjacent(merged[-1], tensor, along)
        merged[-1:] = [merged[-1], tensor] if both is None else [both]
    if len(merged) == len(tensors):
        return False
    return in_place_of(node.outputs[0], merged[0] if len(merged) == 1 else node.op(axis, *merged))


def _merge_adjacent(first: Variable, second_: Variable, axis: int) -> Variable | None:
    """Return two subtensors as one if the second begins along an axis where the first ends, else None."""
    first_read, second_read = first.owner, second_.owner
    if (
        first_read is None
        or second_read is None
        or not (isinstance(first_read.op, Subtensor) and isinstance(second_read.op, Subtensor))
    ):
        return None
    x = first_read.inputs[0]
    index, other = list(symbolic_index_of(first_read)), list(symbolic_index_of(second_read))
    position = kept_axes(first_read)[axis]
    if second_read.inputs[0] is not x or len(index) != len(other) or position >= len(index):
        return None
    known, known_other = (
        index_of(first_read, values_only=True)[position],
        index_of(second_read, values_only=True)[position],
    )
    if not isinstance(known_other, slice) or not _are_adjacent(known, known_other):
        return None
    start, stop = index[position].start, other[position].stop
    index[position] = other[position] = FULL
    if not same_index(index, other):
        return None
    index[position] = slice(start, stop)
    return apply_or_none(getitem, x, tuple(index))


def _are_adjacent(first: slice, second_: slice) -> bool:
    """Return whether a slice begins where another one ends, for any length of the dimension."""
    start, end, begin, stop = first.start, first.stop, second_.start, second_.stop
    steps_by_one = first.step in (None, 1) and second_.step in (None, 1)
    if not steps_by_one or end is None or not same_index([end], [begin]):
        return False
    if start in (None, 0) and stop is None:
        return True  # together they are everything, for any value of the bound
    in_order = [part for part in (0 if start is None else start, end, stop) if part is not None]
    return all(is_known(part) and part >= 0 for part in in_order) and in_order == sorted(in_order)


#: The largest number of elementwise clients that are searched for another subtensor.
MOST_CLIENTS = 16


def _meets_no_subtensor(fgraph: FunctionGraph, read: Apply) -> bool:
    """Return whether elementwise expressions of a subtensor have clients other than subtensors.

    Otherwise another subtensor is lifted to this node first, and both become one. Lifting each on its own would take
    quadratic time for a recurrence that reads a subtensor in each step.
    """
    pending, seen = [read], {read}
    while pending:
        clients = fgraph.clients[pending.pop().outputs[0]]
        for client, _ in clients:
            if not isinstance(client, Apply):
                return True
            if isinstance(client.op, Subtensor) or client in seen:
                continue
            is_lifted_through = (
                isinstance(client.op, Elemwise) and len(client.outputs) == 1 and not client.op.inplace_pattern
            )
            if not is_lifted_through or len(seen) == MOST_CLIENTS or len(fgraph.clients[client.outputs[0]]) != 1:
                return True
            pending.append(client)
            seen.add(client)
    return False


@rules.canonicalize("shape_unsafe")
@replacing_part(
    (READ, (one_of(Elemwise, name="f", inplace_pattern={}), "**operands"), ...),
    _meets_no_subtensor,
    single_client=True,
)
def local_subtensor_lift(read: Apply, f: Elemwise, operands: list[Variable]) -> Any:
    """``f(x, y)[i] -> f(x[i], y[i])`` for elementwise f"""
    parts = [_part_of_operand(x, read.inputs[0], symbolic_index_of(read)) for x in operands]
    return None if any(part is None for part in parts) else f(*parts)


@rules.canonicalize("shape_unsafe")
@replacing_part(
    (READ, (one_of(SpecifyShape, name="state"), "x", "**lengths"), ...), lambda read: not has_slices(read.op.idx_list)
)
def local_subtensor_SpecifyShape_lift(
    read: Apply, state: SpecifyShape, x: TensorVariable, lengths: list[Variable]
) -> Variable | None:
    """``specify_shape(x, s)[i] -> specify_shape(x[i], s[1:])``"""
    n, part = len(read.op.idx_list), part_of(x, symbolic_index_of(read))
    return part if part is None or n == x.type.ndim else state(part, *lengths[n:])


@rules.canonicalize
@replacing_part((READ, (one_of(Unbroadcast, axes="axes"), "x"), ...))
def local_subtensor_of_unbroadcast(read: Apply, axes: tuple[int, ...], x: TensorVariable) -> Variable | None:
    """``unbroadcast(x)[i] -> unbroadcast(x[i])``"""
    part, unbroadcast_axes = part_of(x, symbolic_index_of(read)), {axis % x.type.ndim for axis in axes}
    new_axes = [position for position, axis in enumerate(kept_axes(read)) if axis in unbroadcast_axes]
    return None if part is None else unbroadcast(part, *new_axes)


@rules.canonicalize
@rules.stabilize
@rules.specialize
@replacing_part((READ, (one_of(Dot, name="product"), "x", "y"), ...), single_client=True)
def local_subtensor_of_dot(read: Apply, product: Dot, x: TensorVariable, y: TensorVariable) -> Variable | None:
    """``dot(x, y)[i, j] -> dot(x[i], y[:, j])``"""
    index, n = symbolic_index_of(read), x.type.ndim - 1
    rows, columns = part_of(x, index[:n]), part_of(y, (FULL, *index[n:]))
    is_all = rows is x and columns is y
    return None if rows is None or columns is None or is_all else product(rows, columns)
