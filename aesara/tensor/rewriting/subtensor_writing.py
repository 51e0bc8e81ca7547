"""Rules about writing to parts of tensors, and about reading what was written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.rewriting.basic import node_rewriter
from aesara.tensor.core.check_and_raise import CheckAndRaise
from aesara.tensor.creation.allocation import Alloc, AllocEmpty, alloc
from aesara.tensor.elementwise.ops import add, and_, eq, or_
from aesara.tensor.indexing.getitem import getitem
from aesara.tensor.indexing.index_shapes import indexed_result_shape
from aesara.tensor.indexing.subtensor_advanced import AdvancedIncSubtensor, AdvancedIncSubtensor1
from aesara.tensor.indexing.subtensor_basic import IncSubtensor, Subtensor
from aesara.tensor.rewriting.allocations import broadcast_like
from aesara.tensor.rewriting.helpers import (
    NUMBERS,
    applied,
    as_dtype,
    common_value,
    computed_in,
    has_value,
    in_place_of,
    same_elements,
)
from aesara.tensor.rewriting.indices import (
    BACKWARDS,
    FULL,
    basic_lengths,
    index_of,
    is_known,
    same_index,
    symbolic_index_of,
    takes_everything,
)
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.rewriting.shape_feature import ShapeFeature
from aesara.tensor.shapes.dimshuffle import DimShuffle

rules = Rules()

WRITERS = (IncSubtensor, AdvancedIncSubtensor, AdvancedIncSubtensor1)


# Reading what was written


@rules.canonicalize("shape_unsafe")
@rules.specialize("shape_unsafe")
@node_rewriter([Subtensor])
def local_subtensor_inc_subtensor(fgraph: FunctionGraph, node: Apply) -> Any:
    """What was just written is read back."""
    inner = node.inputs[0].owner
    if inner is None or not isinstance(inner.op, IncSubtensor) or not inner.op.set_instead_of_inc:
        return False
    x, y = inner.inputs[:2]
    out = node.outputs[0]
    index = symbolic_index_of(node)
    if not same_index(index, symbolic_index_of(inner)):
        return False
    y = as_dtype(y, out.type.dtype)
    if not _is_of_same_shape(fgraph, y, out, with_checks=True):
        y = alloc(y, *basic_lengths(fgraph, x, index))
    return in_place_of(out, y)


@rules.canonicalize("shape_unsafe")
@rules.specialize("shape_unsafe")
@node_rewriter([Subtensor])
def local_subtensor_beside_written(fgraph: FunctionGraph, node: Apply) -> Any:
    """A part that lies beside the part that was written to is read from what was there before."""
    x = node.inputs[0]
    if x.owner is None or not isinstance(x.owner.op, IncSubtensor):
        return False
    read = index_of(node, values_only=True)
    for _ in range(LOOKED_THROUGH):
        if x.owner is None or not isinstance(x.owner.op, IncSubtensor) or not _is_beside(read, x.owner):
            break
        x = x.owner.inputs[0]
    else:
        return False
    if x is node.inputs[0]:
        return False
    return in_place_of(node.outputs[0], applied(getitem, x, tuple(symbolic_index_of(node))))


#: How many operations that write beside a part are looked through at most: each part of a long chain looks.
LOOKED_THROUGH = 16


def _is_beside(read: Sequence[Any], writer: Apply) -> bool:
    """Whether a part has nothing in common with that which a node writes to, and the node cannot fail."""
    x, y = writer.inputs[:2]
    if not all(y.type.broadcastable):
        return False
    written = index_of(writer, values_only=True)
    if not any(map(_are_apart, read, written, x.type.shape)):
        return False
    return all(map(_cannot_fail, written, x.type.shape))


def _cannot_fail(entry: Any, length: int | None) -> bool:
    """Whether an entry of an index lies within a dimension, whatever its length."""
    if isinstance(entry, slice):
        return is_known(entry.step)
    return is_known(entry) and length is not None and -length <= entry < length


def _are_apart(first: Any, second_: Any, length: int | None) -> bool:
    """Whether two entries of an index have no position in common."""
    if not (is_known(first) and is_known(second_)):
        return False
    if length is not None:
        one, two = (_positions(entry, length) for entry in (first, second_))
        return len(one) + len(two) <= LARGEST_COMPARED and set(one).isdisjoint(two)
    of_first, of_second = _interval(first), _interval(second_)
    if of_first is None or of_second is None:
        return False
    return of_first[1] <= of_second[0] or of_second[1] <= of_first[0]


#: Parts with more positions than this together are not compared position by position.
LARGEST_COMPARED = 1000


def _positions(entry: Any, length: int) -> range:
    return range(length)[entry] if isinstance(entry, slice) else range(entry % length, entry % length + 1)


def _interval(entry: Any) -> tuple[float, float] | None:
    """What an entry takes at most of a dimension of unknown length, as positions from the front; None if unknown."""
    if not isinstance(entry, slice):
        return (entry, entry + 1) if entry >= 0 else None
    start, stop = entry.start or 0, entry.stop
    if (entry.step not in (None, 1) and entry.step < 0) or start < 0:
        return None
    return (start, np.inf) if stop is None or stop < 0 else (start, max(start, stop))


# Writing


@rules.useless("shape_unsafe")
@rules.canonicalize("shape_unsafe")
@rules.specialize("shape_unsafe")
@node_rewriter([IncSubtensor])
def local_useless_inc_subtensor(fgraph: FunctionGraph, node: Apply) -> Any:
    """Writing everything, in whatever direction, is what is written; adding it to zeros as well."""
    x, y = node.inputs[:2]
    if not (node.op.set_instead_of_inc or has_value(x, 0)):
        return False
    index = index_of(node)
    turned = [entry == BACKWARDS for entry in index]
    for axis, (entry, is_turned) in enumerate(zip(index, turned)):
        if not is_turned and not takes_everything(entry, x.type.shape[axis], x, axis):
            return False
    y = as_dtype(y, x.type.dtype)
    if _is_of_same_shape(fgraph, y, x, with_checks=True):
        if any(turned):
            y = getitem(y, tuple(BACKWARDS if is_turned else FULL for is_turned in turned))
    elif not any(turned) and _is_known_to_be_repeated(y, x):
        y = broadcast_like(y, x, fgraph)
    else:
        # It may be repeated or not: as it stands, the graph says what is written.
        return False
    return in_place_of(node.outputs[0], y)


def _is_known_to_be_repeated(y: Variable, x: Variable) -> bool:
    """Whether, by its type, what is written to all of a tensor has fewer elements than it."""
    n_new = x.type.ndim - y.type.ndim
    return n_new > 0 or any(one == 1 != other for one, other in zip(y.type.shape, x.type.shape[max(n_new, 0) :]))


@rules.canonicalize("local_incsubtensor_of_allocs", "shape_unsafe")
@rules.stabilize("local_incsubtensor_of_allocs", "shape_unsafe")
@node_rewriter(list(WRITERS), operands=NUMBERS)
def local_incsubtensor_of_zeros(fgraph: FunctionGraph, node: Apply) -> Any:
    """Adding zeros changes nothing."""
    x, y = node.inputs[:2]
    if not node.op.set_instead_of_inc and has_value(y, 0):
        return in_place_of(node.outputs[0], x)
    return False


@rules.canonicalize
@rules.specialize
@node_rewriter([IncSubtensor], operands=NUMBERS)
def local_incsubtensor_of_zeros_to_setsubtensor(fgraph: FunctionGraph, node: Apply) -> Any:
    """Adding to zeros is writing."""
    x = node.inputs[0]
    if node.op.set_instead_of_inc or not has_value(x, 0):
        return False
    op = IncSubtensor(
        node.op.idx_list,
        node.op.inplace,
        set_instead_of_inc=True,
        destroyhandler_tolerate_aliased=node.op.destroyhandler_tolerate_aliased,
    )
    return _writing(node, op, *node.inputs[:2])


@rules.canonicalize("local_setsubtensor_of_allocs", "shape_unsafe")
@rules.stabilize("local_setsubtensor_of_allocs", "shape_unsafe")
@node_rewriter([IncSubtensor], operands=NUMBERS)
def local_setsubtensor_of_constants(fgraph: FunctionGraph, node: Apply) -> Any:
    """Writing a number where there is only this number changes nothing."""
    if not node.op.set_instead_of_inc:
        return False
    x, y = node.inputs[:2]
    old, new = common_value(x), common_value(y)
    # Bit by bit: 0 and -0 are different, NaN is the same.
    if old is None or new is None or new.astype(old.dtype).tobytes() != old.tobytes():
        return False
    return in_place_of(node.outputs[0], x)


def _without_leading_ones(var: Variable) -> Variable:
    """`var` without dimensions of length one that were put in front: to what broadcasts, they say nothing."""
    node = var.owner
    if node is None or not isinstance(node.op, DimShuffle):
        return var
    (inner,) = node.inputs
    n_new = var.type.ndim - inner.type.ndim
    return inner if tuple(node.op.new_order) == ("x",) * n_new + tuple(range(inner.type.ndim)) else var


_check_shape = CheckAndRaise(ValueError, "`x[i]` and `y` do not have the same shape.")


@rules.useless
@rules.canonicalize
@rules.stabilize
@rules.specialize
@node_rewriter(list(WRITERS), requirements=[ShapeFeature], operands=[Alloc, DimShuffle])
def local_useless_inc_subtensor_alloc(fgraph: FunctionGraph, node: Apply) -> Any:
    """What is written is broadcast anyway: it need not be repeated before, but its shape is checked."""
    x, y, *index = node.inputs
    y = _without_leading_ones(y)
    inner = y.owner
    feature = getattr(fgraph, "shape_feature", None)
    if inner is None or not isinstance(inner.op, Alloc) or feature is None:
        return False
    if x.owner is not None and isinstance(x.owner.op, AllocEmpty):
        # A loop takes what is written to its empty buffer for its first values.
        return False
    if any(getattr(part.type, "dtype", None) == "bool" for part in index):
        return False
    if isinstance(node.op, IncSubtensor):
        part_lengths = basic_lengths(fgraph, x, symbolic_index_of(node))
    else:
        part_lengths = tuple(indexed_result_shape(feature.shape_of[x], index))
    value, *lengths = inner.inputs
    if len(part_lengths) < len(lengths):
        return False
    part_lengths = part_lengths[len(part_lengths) - len(lengths) :]
    own_lengths = [None] * (len(lengths) - value.type.ndim) + list(feature.shape_of[value])
    checks = []
    for axis, (length, own, of_part) in enumerate(zip(lengths, own_lengths, part_lengths)):
        is_same = length is of_part or same_elements(length, feature.unpack(of_part, y))
        is_repeated = own is None or _is_one(own)
        if is_same or (is_repeated and y.type.shape[axis] == 1):
            continue
        is_one = eq(length, 1) if is_repeated else and_(eq(length, 1), eq(own, 1))
        checks.append(or_(eq(length, of_part), is_one))
    if checks:
        value = _check_shape(value, *checks)
    return _writing(node, node.op, x, value)


def _writing(node: Apply, op: Any, x: Variable, value: Variable) -> Any:
    """An operation with the index of a node, in its place; None if the node is to fail."""
    return in_place_of(node.outputs[0], applied(op, x, value, *node.inputs[2:]))


def _is_one(length: Variable) -> bool:
    return isinstance(length, Constant) and int(length.data) == 1


# Writing twice


@rules.canonicalize("shape_unsafe")
@rules.specialize("shape_unsafe")
@node_rewriter(list(WRITERS), operands=list(WRITERS))
def local_writes_to_same_place(fgraph: FunctionGraph, node: Apply) -> Any:
    """What is overwritten need not be written, and what is added to a part twice is added once."""
    part, y, *index = node.inputs
    inner, op = part.owner, node.op
    if inner is None or type(inner.op) is not type(op) or op.inplace or inner.op.inplace:
        return False
    x, earlier, *inner_index = inner.inputs
    if isinstance(op, IncSubtensor):
        if not same_index(symbolic_index_of(node), symbolic_index_of(inner)):
            return False
    elif len(index) != len(inner_index) or not all(map(same_elements, index, inner_index)):
        return False
    if not (all(earlier.type.broadcastable) or _is_of_same_shape(fgraph, earlier, y)):
        # An error of the first must not be lost.
        return False
    if op.set_instead_of_inc:
        return _writing(node, op, x, y)
    if len(fgraph.clients[part]) != 1 or not _adds_up(inner, op):
        return False
    return _writing(node, inner.op, x, computed_in(x.type.dtype, add, [earlier, y]))


def _adds_up(inner: Apply, op: Any) -> bool:
    """Whether what an op adds can be added to the value of a node before, without rounding in another way."""
    if inner.op.set_instead_of_inc:
        # A slice names each position once.
        return isinstance(op, IncSubtensor)
    return inner.op == op and (not _is_inexact(inner.inputs[0]) or has_value(inner.inputs[0], 0))


def _is_inexact(var: Variable) -> bool:
    """Whether a variable is a tensor of floating point or complex numbers."""
    return var.type.dtype[:5] in ("float", "compl")


def _is_of_same_shape(fgraph: FunctionGraph, first: Variable, second_: Variable, with_checks: bool = False) -> bool:
    """Whether two tensors are known to have the same shape; with checks: if the graph raises no error."""
    feature = getattr(fgraph, "shape_feature", None)
    if feature is None:
        return None not in first.type.shape and first.type.shape == second_.type.shape
    return feature.same_shape(first, second_, with_checks=with_checks)
