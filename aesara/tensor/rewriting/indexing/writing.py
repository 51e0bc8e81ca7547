"""Rules about writing to subtensors, and about reading written values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Variable
from aesara.graph.rewriting.basic import node_rewriter
from aesara.graph.rewriting.matching import one_of
from aesara.tensor.core.check_and_raise import CheckAndRaise
from aesara.tensor.core.tensor_like import IndexEntry
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.allocation import Alloc, AllocEmpty, alloc
from aesara.tensor.elementwise.ops import add, and_, eq, or_
from aesara.tensor.indexing.getitem import getitem
from aesara.tensor.indexing.index_shapes import indexed_result_shape
from aesara.tensor.indexing.subtensor_basic import IncSubtensor
from aesara.tensor.rewriting.constants import broadcast_like
from aesara.tensor.rewriting.helpers import (
    apply_or_none,
    as_dtype,
    common_value,
    computed_in,
    has_value,
    in_place_of,
    output_of,
    same_elements,
)
from aesara.tensor.rewriting.indices import (
    BACKWARDS,
    FULL,
    READ,
    SET,
    WRITE,
    WRITERS,
    adding,
    basic_lengths,
    index_of,
    is_known,
    replacing_part,
    same_index,
    selects_whole_dimension,
    symbolic_index_of,
)
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.rewriting.rows import number
from aesara.tensor.rewriting.shape_feature import ShapeFeature
from aesara.tensor.shapes.dimshuffle import DimShuffle

rules = Rules()

# Reading written values


@rules.canonicalize("shape_unsafe")
@rules.specialize("shape_unsafe")
@replacing_part(
    (READ, (SET, "x", "y", ...), ...),
    lambda read, write: same_index(symbolic_index_of(read), symbolic_index_of(write)),
)
def local_subtensor_inc_subtensor(fgraph: FunctionGraph, read: Apply, x: Variable, y: Variable, out: Any) -> Any:
    """``set(x[i], y)[i] -> y``"""
    y = as_dtype(y, out.type.dtype)
    is_whole = _have_same_shape(fgraph, y, out, with_checks=True)
    return y if is_whole else alloc(y, *basic_lengths(fgraph, x, symbolic_index_of(read)))


@rules.canonicalize("shape_unsafe")
@rules.specialize("shape_unsafe")
@replacing_part((READ, (WRITE, "x", ...), ...))
def local_subtensor_beside_written(read: Apply) -> Any:
    """``set(x[0], y)[1] -> x[1]``, if the subtensors are disjoint"""
    x, index = read.inputs[0], index_of(read, values_only=True)
    for _ in range(MOST_WRITERS):
        writer = output_of(x, IncSubtensor)
        if writer is None or not _is_disjoint(index, writer):
            return None if x is read.inputs[0] else apply_or_none(getitem, x, symbolic_index_of(read))
        x = writer.inputs[0]
    return None


#: The largest number of writes to disjoint subtensors that are skipped, for each read of a long chain.
MOST_WRITERS = 16


def _is_disjoint(read: Sequence[Any], writer: Apply) -> bool:
    """Return whether a subtensor is disjoint from that which a node writes to, and the node cannot raise an error."""
    x, y = writer.inputs[:2]
    if not all(y.type.broadcastable):
        return False
    written = index_of(writer, values_only=True)
    if not any(map(_are_disjoint, read, written, x.type.shape)):
        return False
    return all(map(_cannot_fail, written, x.type.shape))


def _cannot_fail(entry: Any, length: int | None) -> bool:
    """Return whether an entry of an index is in range for any length of the dimension that the type allows."""
    if isinstance(entry, slice):
        return is_known(entry.step)
    return is_known(entry) and length is not None and -length <= entry < length


def _are_disjoint(first: TensorVariable, second_: IndexEntry, length: int | None) -> bool:
    """Return whether two entries of an index are disjoint."""
    if not (is_known(first) and is_known(second_)):
        return False
    if length is not None:
        first_positions, second_positions = (_positions(entry, length) for entry in (first, second_))
        return len(first_positions) + len(second_positions) <= LARGEST_COMPARED and set(first_positions).isdisjoint(
            second_positions
        )
    first_bounds, second_bounds = _interval(first), _interval(second_)
    if first_bounds is None or second_bounds is None:
        return False
    return first_bounds[1] <= second_bounds[0] or second_bounds[1] <= first_bounds[0]


#: The largest total number of positions of two entries that are compared one by one.
LARGEST_COMPARED = 1000


def _positions(entry: Any, length: int) -> range:
    return range(length)[entry] if isinstance(entry, slice) else range(entry % length, entry % length + 1)


def _interval(entry: Any) -> tuple[float, float] | None:
    """Return bounds of the positions of an entry that hold for any length of the dimension, else None."""
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
@replacing_part((WRITE, "x", "y", ...), lambda write, x: write.op.set_instead_of_inc or has_value(x, 0))
def local_useless_inc_subtensor(fgraph: FunctionGraph, write: Apply, x: Any, y: Any) -> Variable | None:
    """``set(x[:], y) -> y``, ``set(x[::-1], y) -> y[::-1]`` and ``inc(zeros[:], y) -> y``"""
    index = index_of(write)
    reversed_axes = [entry == BACKWARDS for entry in index]
    for axis, (entry, is_reversed) in enumerate(zip(index, reversed_axes)):
        if not is_reversed and not selects_whole_dimension(entry, x.type.shape[axis], x, axis):
            return None
    y = as_dtype(y, x.type.dtype)
    if _have_same_shape(fgraph, y, x, with_checks=True):
        return (
            getitem(y, tuple(BACKWARDS if is_reversed else FULL for is_reversed in reversed_axes))
            if any(reversed_axes)
            else y
        )
    # If it may or may not be repeated, the graph stays as it is.
    return broadcast_like(y, x, fgraph) if not any(reversed_axes) and _is_known_to_be_repeated(y, x) else None


def _is_known_to_be_repeated(y: Variable, x: Variable) -> bool:
    """Return whether, by its type, `y` is broadcast when it is written to all of `x`."""
    n_new = x.type.ndim - y.type.ndim
    return n_new > 0 or any(own == 1 != target for own, target in zip(y.type.shape, x.type.shape[max(n_new, 0) :]))


@rules.canonicalize("local_incsubtensor_of_allocs", "shape_unsafe")
@rules.stabilize("local_incsubtensor_of_allocs", "shape_unsafe")
@replacing_part((one_of(*WRITERS, set_instead_of_inc=False), "x", number("y", 0), ...))
def local_incsubtensor_of_zeros(x: Variable) -> Variable | None:
    """``inc(x[i], 0) -> x``"""
    return x


@rules.canonicalize
@rules.specialize
@replacing_part((one_of(IncSubtensor, node="write", set_instead_of_inc=False), number("zeros", 0), "y", ...))
def local_incsubtensor_of_zeros_to_setsubtensor(write: Apply, zeros: Variable, y: Variable) -> Variable | None:
    """``inc(zeros[i], y) -> set(zeros[i], y)``"""
    return apply_or_none(adding(write.op, set_instead_of_inc=True), zeros, y, *write.inputs[2:])


@rules.canonicalize("local_setsubtensor_of_allocs", "shape_unsafe")
@rules.stabilize("local_setsubtensor_of_allocs", "shape_unsafe")
@replacing_part((SET, number("x"), number("y"), ...))
def local_setsubtensor_of_constants(x: Variable, y: Variable) -> Any:
    """``set(x[i], 2) -> x``, if all elements of x are 2"""
    old, new = common_value(x), common_value(y)
    # Compared by their bits: 0 and -0 differ, NaN is equal to itself.
    return x if new.astype(old.dtype).tobytes() == old.tobytes() else None


def _without_leading_ones(var: Variable) -> Variable:
    """Return a variable without leading dimensions that a `DimShuffle` has added, which broadcasting adds again."""
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
    """``set(x[i], alloc(y, n)) -> set(x[i], y)``, with a run-time check of the shape"""
    x, y, *index = node.inputs
    y = _without_leading_ones(y)
    inner = y.owner
    feature = getattr(fgraph, "shape_feature", None)
    if inner is None or not isinstance(inner.op, Alloc) or feature is None:
        return False
    if x.owner is not None and isinstance(x.owner.op, AllocEmpty):
        # A loop reads the initial values of its buffer from this write.
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
    for axis, (length, own, part_length) in enumerate(zip(lengths, own_lengths, part_lengths)):
        is_same = length is part_length or same_elements(length, feature.unpack(part_length, y))
        is_repeated = own is None or has_value(own, 1)
        if is_same or (is_repeated and y.type.shape[axis] == 1):
            continue
        is_one = eq(length, 1) if is_repeated else and_(eq(length, 1), eq(own, 1))
        checks.append(or_(eq(length, part_length), is_one))
    if checks:
        value = _check_shape(value, *checks)
    return in_place_of(node.outputs[0], apply_or_none(node.op, x, value, *index))


# Writing twice

WRITTEN = (one_of(*WRITERS, node="first", inplace=False), "x", "y", ...)


def _is_at_same_index(fgraph: FunctionGraph, write: Apply, first: Apply, y: TensorVariable, z: TensorVariable) -> bool:
    """Return whether two nodes write to the same subtensor, and removing the first loses no error."""
    if type(first.op) is not type(write.op):
        return False
    if isinstance(write.op, IncSubtensor):
        same = same_index(symbolic_index_of(write), symbolic_index_of(first))
    else:
        index, other = write.inputs[2:], first.inputs[2:]
        same = len(index) == len(other) and all(map(same_elements, index, other))
    return same and (all(y.type.broadcastable) or _have_same_shape(fgraph, y, z))


@replacing_part(
    (one_of(*WRITERS, node="write", inplace=False, set_instead_of_inc=True), WRITTEN, "z", ...), _is_at_same_index
)
def local_write_over_same_place(write: Apply, x: Variable, z: Variable) -> Variable | None:
    """``set(set(x[i], y)[i], z) -> set(x[i], z)``"""
    return apply_or_none(write.op, x, z, *write.inputs[2:])


@replacing_part(
    (one_of(*WRITERS, node="write", inplace=False, set_instead_of_inc=False), WRITTEN, "z", ...),
    _is_at_same_index,
    single_client=True,
)
def local_add_to_same_place(write: Apply, first: Apply, x: TensorVariable, y: Variable, z: Variable) -> Variable | None:
    """``inc(set(x[i], y)[i], z) -> set(x[i], y + z)``"""
    if first.op.set_instead_of_inc:
        is_once = isinstance(write.op, IncSubtensor)  # a slice names each position once
    else:
        is_once = first.op == write.op and (x.type.dtype[:5] not in ("float", "compl") or has_value(x, 0))
    return apply_or_none(first.op, x, computed_in(x.type.dtype, add, [y, z]), *write.inputs[2:]) if is_once else None


local_writes_to_same_place = rules.group(
    "local_writes_to_same_place",
    local_write_over_same_place,
    local_add_to_same_place,
    to=(rules.canonicalize, rules.specialize),
    tags=("shape_unsafe",),
)


def _have_same_shape(fgraph: FunctionGraph, first: Variable, second_: Variable, with_checks: bool = False) -> bool:
    """Return whether two tensors are known to have the same shape; with checks, in calls that raise no error."""
    feature = getattr(fgraph, "shape_feature", None)
    if feature is None:
        return None not in first.type.shape and first.type.shape == second_.type.shape
    return feature.same_shape(first, second_, with_checks=with_checks)
