"""Rules about parts of results: they are computed from parts of the operands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Variable
from aesara.graph.rewriting.basic import node_rewriter
from aesara.tensor.creation.allocation import Alloc, alloc
from aesara.tensor.elementwise.elemwise import Elemwise
from aesara.tensor.indexing.getitem import getitem
from aesara.tensor.indexing.index_shapes import basic_shape
from aesara.tensor.indexing.subtensor_basic import Subtensor
from aesara.tensor.joining.join_split import Join
from aesara.tensor.products.dot import Dot
from aesara.tensor.rewriting.helpers import applied, common_value, in_place_of, same_elements
from aesara.tensor.rewriting.indices import FULL, index_of, is_known, same_index, symbolic_index_of
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.shapes.specify_shape import SpecifyShape, Unbroadcast, unbroadcast

rules = Rules()


@rules.useless("shape_unsafe")
@rules.canonicalize("shape_unsafe")
@rules.specialize("shape_unsafe")
@node_rewriter([Subtensor])
def local_subtensor_of_alloc(fgraph: FunctionGraph, node: Apply) -> Any:
    """A part of what is repeated is a part of it, repeated less often."""
    inner = node.inputs[0].owner
    if inner is None or not isinstance(inner.op, Alloc):
        return False
    (value, *lengths), (out,) = inner.inputs, node.outputs
    index = symbolic_index_of(node)
    n_new = len(lengths) - value.type.ndim
    entries: list[Any] = []
    for axis, (length, entry) in enumerate(zip(value.type.shape, index[n_new:]), start=n_new):
        if length is None and node.inputs[0].type.shape[axis] != 1 and entry != FULL:
            # It may be repeated along this dimension, or not.
            return False
        repeated = length == 1 and node.inputs[0].type.shape[axis] != 1
        entries.append((FULL if isinstance(entry, slice) else 0) if repeated else entry)
    part = applied(getitem, value, tuple(entries)) if any(entry != FULL for entry in entries) else value
    if part is None:
        return False
    new_lengths = (*basic_shape(lengths, index), *lengths[len(index) :])
    return in_place_of(out, alloc(part, *new_lengths) if new_lengths else part)


@rules.canonicalize("shape_unsafe")
@rules.specialize("shape_unsafe")
@node_rewriter([Subtensor])
def local_subtensor_of_join(fgraph: FunctionGraph, node: Apply) -> Any:
    """A part that lies within one of several joined tensors is a part of this tensor."""
    inner = node.inputs[0].owner
    if inner is None or not isinstance(inner.op, Join):
        return False
    axis = common_value(inner.inputs[0])
    if axis is None:
        return False
    axis = int(axis) % node.inputs[0].type.ndim
    index = list(symbolic_index_of(node))
    known = index_of(node)
    if axis >= len(known) or not is_known(known[axis]):
        return False
    entry = known[axis]
    start = 0
    for tensor in inner.inputs[1:]:
        length = tensor.type.shape[axis]
        if length is None:
            return False
        end = start + length
        if isinstance(entry, slice):
            first, last, step = entry.start or 0, entry.stop, entry.step or 1
            inside = last is not None and step > 0 and start <= first < last <= end
            moved = slice(first - start, last - start, entry.step) if inside else None
        else:
            moved = entry - start if start <= entry < end else None
        if moved is not None:
            index[axis] = moved
            return in_place_of(node.outputs[0], applied(getitem, tensor, tuple(index)))
        start = end
    return False


@rules.specialize
@node_rewriter([Join])
def local_join_subtensors(fgraph: FunctionGraph, node: Apply) -> Any:
    """Parts of a tensor that follow one another, joined, are one part of it."""
    axis = common_value(node.inputs[0])
    if axis is None:
        return False
    out, axis = node.outputs[0], int(axis) % node.outputs[0].type.ndim
    merged = [node.inputs[1]]
    for tensor in node.inputs[2:]:
        both = _following(merged[-1], tensor, axis)
        if both is None:
            merged.append(tensor)
        else:
            merged[-1] = both
    if len(merged) == len(node.inputs) - 1:
        return False
    return in_place_of(out, merged[0] if len(merged) == 1 else node.op(node.inputs[0], *merged))


def _following(first: Variable, second_: Variable, axis: int) -> Variable | None:
    """Two parts of a tensor as one, if the second begins along an axis where the first ends."""
    one, two = first.owner, second_.owner
    if one is None or two is None or not (isinstance(one.op, Subtensor) and isinstance(two.op, Subtensor)):
        return None
    x = one.inputs[0]
    if two.inputs[0] is not x:
        return None
    index, other = list(symbolic_index_of(one)), list(symbolic_index_of(two))
    # Integers in front take dimensions away.
    places = [k for k, entry in enumerate(index) if isinstance(entry, slice)]
    if len(places) <= axis or len(index) != len(other):
        return None
    place = places[axis]
    known, known_other = index_of(one, values_only=True)[place], index_of(two, values_only=True)[place]
    if not isinstance(known_other, slice) or not _runs_on(known, known_other):
        return None
    start, stop = index[place].start, other[place].stop
    index[place] = other[place] = FULL
    if not same_index(index, other):
        return None
    index[place] = slice(start, stop)
    return applied(getitem, x, tuple(index))


def _runs_on(first: slice, second_: slice) -> bool:
    """Whether a slice begins where another one ends, whatever the length."""
    if any(entry.step is not None and not (is_known(entry) and entry.step == 1) for entry in (first, second_)):
        return False
    start, end, begin, stop = first.start, first.stop, second_.start, second_.stop
    if end is None or begin is None:
        return False
    same = same_elements(end, begin) if isinstance(end, Variable) and isinstance(begin, Variable) else end is begin
    if not (same or (is_known(end) and is_known(begin) and end == begin)):
        return False
    if (start is None or (is_known(start) and start == 0)) and stop is None:
        # All of the tensor: so it is wherever the cut lies.
        return True
    in_order = [part for part in (0 if start is None else start, end, stop) if part is not None]
    return all(is_known(part) and part >= 0 for part in in_order) and in_order == sorted(in_order)


#: How many elementwise operations above a part are searched for another part.
LOOKED_UP = 16


@rules.canonicalize("shape_unsafe")
@node_rewriter([Subtensor])
def local_subtensor_lift(fgraph: FunctionGraph, node: Apply) -> Any:
    """A part of an elementwise result is the result for parts of the operands."""
    x = node.inputs[0]
    inner = x.owner
    if inner is None or not isinstance(inner.op, Elemwise) or len(inner.outputs) != 1:
        return False
    if len(fgraph.clients[x]) != 1 or inner.op.inplace_pattern or _is_met_from_above(fgraph, node):
        return False
    index = symbolic_index_of(node)
    operands = [_part_of_operand(v, x, index) for v in inner.inputs]
    if any(operand is None for operand in operands):
        return False
    return in_place_of(node.outputs[0], inner.op(*operands))


def _is_met_from_above(fgraph: FunctionGraph, node: Apply) -> bool:
    """Whether parts are taken of this part, or of all that is made of it elementwise.

    That one comes down to this node first, and both become one. If each went down on its own, a recurrence that takes
    a part in every step would take time that grows with the square of their number.
    """
    waiting, seen = [node], {node}
    while waiting:
        clients = fgraph.clients[waiting.pop().outputs[0]]
        for client, _ in clients:
            if not isinstance(client, Apply):
                return False
            if isinstance(client.op, Subtensor) or client in seen:
                continue
            comes_down = isinstance(client.op, Elemwise) and len(client.outputs) == 1 and not client.op.inplace_pattern
            if not comes_down or len(seen) == LOOKED_UP or len(fgraph.clients[client.outputs[0]]) != 1:
                return False
            waiting.append(client)
            seen.add(client)
    return True


def _part_of_operand(var: Variable, result: Variable, index: Sequence[Any]) -> Variable | None:
    """The part of an operand that goes with a part of the result: broadcast dimensions stay. None if it has none."""
    if not var.type.ndim:
        return var
    entries = []
    for axis, entry in enumerate(index):
        if var.type.shape[axis] == 1 and result.type.shape[axis] != 1:
            entry = FULL if isinstance(entry, slice) else 0
        entries.append(entry)
    while entries and entries[-1] == FULL:
        entries.pop()
    return applied(getitem, var, tuple(entries)) if entries else var


@rules.canonicalize("shape_unsafe")
@node_rewriter([Subtensor])
def local_subtensor_SpecifyShape_lift(fgraph: FunctionGraph, node: Apply) -> Any:
    """An element, or a row, of what has a stated shape is one of what the shape is stated of."""
    inner = node.inputs[0].owner
    if inner is None or not isinstance(inner.op, SpecifyShape):
        return False
    index = index_of(node)
    if any(isinstance(entry, slice) for entry in index):
        return False
    x, *lengths = inner.inputs
    part = applied(getitem, x, tuple(symbolic_index_of(node)))
    if part is not None and len(index) < x.type.ndim:
        part = inner.op(part, *lengths[len(index) :])
    return in_place_of(node.outputs[0], part)


@rules.canonicalize
@node_rewriter([Subtensor])
def local_subtensor_of_unbroadcast(fgraph: FunctionGraph, node: Apply) -> Any:
    """A part of what is stated not to be broadcast is a part of which it is stated."""
    inner = node.inputs[0].owner
    if inner is None or not isinstance(inner.op, Unbroadcast):
        return False
    index = symbolic_index_of(node)
    (x,) = inner.inputs
    stated = {axis % x.type.ndim for axis in inner.op.axes}
    kept = [axis for axis in range(x.type.ndim) if axis >= len(index) or isinstance(index[axis], slice)]
    axes = [place for place, axis in enumerate(kept) if axis in stated]
    part = applied(getitem, x, index)
    return False if part is None else in_place_of(node.outputs[0], unbroadcast(part, *axes))


@rules.canonicalize
@rules.stabilize
@rules.specialize
@node_rewriter([Subtensor])
def local_subtensor_of_dot(fgraph: FunctionGraph, node: Apply) -> Any:
    """Some rows and columns of a product are the product of some rows and some columns."""
    product = node.inputs[0]
    inner = product.owner
    if inner is None or not isinstance(inner.op, Dot) or len(fgraph.clients[product]) != 1:
        return False
    left: Variable | None
    right: Variable | None
    left, right = inner.inputs
    index = symbolic_index_of(node)
    of_left, of_right = index[: left.type.ndim - 1], index[left.type.ndim - 1 :]
    if any(entry != FULL for entry in of_left):
        left = applied(getitem, left, of_left)
    if any(entry != FULL for entry in of_right):
        right = applied(getitem, right, (FULL, *of_right))
    if left is None or right is None or (left is inner.inputs[0] and right is inner.inputs[1]):
        return False
    return in_place_of(node.outputs[0], inner.op(left, right))
