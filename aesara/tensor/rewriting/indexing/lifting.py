"""Rules about parts of results: they are computed from parts of the operands."""

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
    """Return the part of an operand that goes with ``result[index]``: dimensions that are broadcast stay."""
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
    """Repeat a part of what is repeated, less often: ``alloc(x, n)[i] -> alloc(x[i], m)``."""
    x, index = read.inputs[0], symbolic_index_of(read)
    n_new = len(lengths) - value.type.ndim
    for own, length, entry in zip(value.type.shape, x.type.shape[n_new:], index[n_new:]):
        if own is None and length != 1 and entry != FULL:
            return None  # it may be repeated along this dimension, or not
    part = _part_of_operand(value, x, index)
    new_lengths = (*basic_shape(lengths, index), *lengths[len(index) :])
    return alloc(part, *new_lengths) if part is not None and new_lengths else part


@rules.canonicalize("shape_unsafe")
@rules.specialize("shape_unsafe")
@replacing_part((READ, (Join, number("axis"), "**tensors"), ...))
def local_subtensor_of_join(read: Apply, axis: Variable, tensors: list[Any]) -> Variable | None:
    """Take a part that lies within one of several joined tensors from this tensor: ``join(x, y)[i] -> x[i]``."""
    along = int(common_value(axis)) % tensors[0].type.ndim
    index, known = list(symbolic_index_of(read)), index_of(read)
    if along >= len(known) or not is_known(known[along]):
        return None
    start = 0
    for tensor in tensors:
        length = tensor.type.shape[along]
        if length is None:
            return None
        index[along] = _counted_from(start, known[along], length)
        if index[along] is not None:
            return part_of(tensor, index)
        start += length
    return None


def _counted_from(start: int, entry: Any, length: int) -> IndexEntry:
    """Return an entry of an index, counted from `start`; None if it takes something beyond the length from there."""
    if not isinstance(entry, slice):
        return entry - start if start <= entry < start + length else None
    first, last, step = entry.start or 0, entry.stop, entry.step or 1
    is_inside = last is not None and step > 0 and start <= first < last <= start + length
    return slice(first - start, last - start, entry.step) if is_inside else None


@rules.specialize
@node_rewriter([Join], operands=[Subtensor])
def local_join_subtensors(fgraph: FunctionGraph, node: Apply) -> Any:
    """Join parts that follow one another by taking them as one: ``join(x[:n], x[n:], y) -> join(x, y)``."""
    axis, *tensors = node.inputs
    if common_value(axis) is None:
        return False
    along = int(common_value(axis)) % tensors[0].type.ndim
    merged = tensors[:1]
    for tensor in tensors[1:]:
        both = _following(merged[-1], tensor, along)
        merged[-1:] = [merged[-1], tensor] if both is None else [both]
    if len(merged) == len(tensors):
        return False
    return in_place_of(node.outputs[0], merged[0] if len(merged) == 1 else node.op(axis, *merged))


def _following(first: Variable, second_: Variable, axis: int) -> Variable | None:
    """Two parts of a tensor as one, if the second begins along an axis where the first ends."""
    one, two = first.owner, second_.owner
    if one is None or two is None or not (isinstance(one.op, Subtensor) and isinstance(two.op, Subtensor)):
        return None
    x = one.inputs[0]
    index, other = list(symbolic_index_of(one)), list(symbolic_index_of(two))
    place = kept_axes(one)[axis]
    if two.inputs[0] is not x or len(index) != len(other) or place >= len(index):
        return None
    known, known_other = index_of(one, values_only=True)[place], index_of(two, values_only=True)[place]
    if not isinstance(known_other, slice) or not _runs_on(known, known_other):
        return None
    start, stop = index[place].start, other[place].stop
    index[place] = other[place] = FULL
    if not same_index(index, other):
        return None
    index[place] = slice(start, stop)
    return apply_or_none(getitem, x, tuple(index))


def _runs_on(first: slice, second_: slice) -> bool:
    """Return whether a slice begins where another one ends, whatever the length."""
    start, end, begin, stop = first.start, first.stop, second_.start, second_.stop
    steps_by_one = first.step in (None, 1) and second_.step in (None, 1)
    if not steps_by_one or end is None or not same_index([end], [begin]):
        return False
    if start in (None, 0) and stop is None:
        return True  # all of the tensor: so it is wherever the cut lies
    in_order = [part for part in (0 if start is None else start, end, stop) if part is not None]
    return all(is_known(part) and part >= 0 for part in in_order) and in_order == sorted(in_order)


#: How many elementwise operations above a part are searched for another part.
LOOKED_UP = 16


def _is_not_met_from_above(fgraph: FunctionGraph, read: Apply) -> bool:
    """Return whether something else than parts is made of a part, or of all that is made of it elementwise.

    Another part comes down to this node first, and both become one. If each went down on its own, a recurrence that
    takes a part in every step would take time that grows with the square of their number.
    """
    waiting, seen = [read], {read}
    while waiting:
        clients = fgraph.clients[waiting.pop().outputs[0]]
        for client, _ in clients:
            if not isinstance(client, Apply):
                return True
            if isinstance(client.op, Subtensor) or client in seen:
                continue
            comes_down = isinstance(client.op, Elemwise) and len(client.outputs) == 1 and not client.op.inplace_pattern
            if not comes_down or len(seen) == LOOKED_UP or len(fgraph.clients[client.outputs[0]]) != 1:
                return True
            waiting.append(client)
            seen.add(client)
    return False


@rules.canonicalize("shape_unsafe")
@replacing_part(
    (READ, (one_of(Elemwise, name="f", inplace_pattern={}), "**operands"), ...),
    _is_not_met_from_above,
    single_client=True,
)
def local_subtensor_lift(read: Apply, f: Elemwise, operands: list[Variable]) -> Any:
    """Compute a part of an elementwise result of parts of the operands: ``f(x, y)[i] -> f(x[i], y[i])``."""
    parts = [_part_of_operand(x, read.inputs[0], symbolic_index_of(read)) for x in operands]
    return None if any(part is None for part in parts) else f(*parts)


@rules.canonicalize("shape_unsafe")
@replacing_part(
    (READ, (one_of(SpecifyShape, name="state"), "x", "**lengths"), ...), lambda read: not has_slices(read.op.idx_list)
)
def local_subtensor_SpecifyShape_lift(
    read: Apply, state: SpecifyShape, x: TensorVariable, lengths: list[Variable]
) -> Variable | None:
    """Take an element, or a row, before the shape is stated: ``specify_shape(x, n)[i] -> specify_shape(x[i], m)``."""
    n, part = len(read.op.idx_list), part_of(x, symbolic_index_of(read))
    return part if part is None or n == x.type.ndim else state(part, *lengths[n:])


@rules.canonicalize
@replacing_part((READ, (one_of(Unbroadcast, axes="axes"), "x"), ...))
def local_subtensor_of_unbroadcast(read: Apply, axes: tuple[int, ...], x: TensorVariable) -> Variable | None:
    """Take a part before it is stated not to be broadcast: ``unbroadcast(x)[i] -> unbroadcast(x[i])``."""
    part, stated = part_of(x, symbolic_index_of(read)), {axis % x.type.ndim for axis in axes}
    new_axes = [place for place, axis in enumerate(kept_axes(read)) if axis in stated]
    return None if part is None else unbroadcast(part, *new_axes)


@rules.canonicalize
@rules.stabilize
@rules.specialize
@replacing_part((READ, (one_of(Dot, name="product"), "x", "y"), ...), single_client=True)
def local_subtensor_of_dot(read: Apply, product: Dot, x: TensorVariable, y: TensorVariable) -> Variable | None:
    """Multiply only rows and columns that are wanted: ``dot(x, y)[i, j] -> dot(x[i], y[:, j])``."""
    index, n = symbolic_index_of(read), x.type.ndim - 1
    rows, columns = part_of(x, index[:n]), part_of(y, (FULL, *index[n:]))
    is_all = rows is x and columns is y
    return None if rows is None or columns is None or is_all else product(rows, columns)
