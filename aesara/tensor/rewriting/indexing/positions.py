"""Rules about subtensors that are indexed by vectors of positions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.rewriting.basic import node_rewriter
from aesara.graph.rewriting.databases import canonicalize, specialize
from aesara.graph.rewriting.matching import one_of
from aesara.graph.rewriting.node_rewriters import RuleResult
from aesara.tensor.core.check_and_raise import Assert, CheckAndRaise
from aesara.tensor.core.constant_value import known_integer
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.tensor_like import IndexEntry
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.allocation import alloc
from aesara.tensor.creation.ranges import ARange
from aesara.tensor.elementwise.ops import add, and_, eq, ge, lt, neg, neq, switch
from aesara.tensor.exceptions import NotScalarConstantError
from aesara.tensor.indexing.distinct_positions import are_distinct
from aesara.tensor.indexing.getitem import getitem
from aesara.tensor.indexing.inc_subtensor import inc_subtensor
from aesara.tensor.indexing.index_forms import as_slice, is_mask
from aesara.tensor.indexing.subtensor_advanced import (
    AdvancedIncSubtensor,
    AdvancedIncSubtensor1,
    AdvancedSubtensor,
    AdvancedSubtensor1,
    advanced_subtensor1,
)
from aesara.tensor.indexing.subtensor_basic import IncSubtensor, Subtensor
from aesara.tensor.joining.join_split import concatenate
from aesara.tensor.ordering.sorting import sort
from aesara.tensor.reductions.all_any import all as all_of
from aesara.tensor.rewriting.helpers import (
    apply_or_none,
    as_dtype,
    computed_in,
    has_shape_of,
    in_place_of,
    output_of,
    same_elements,
)
from aesara.tensor.rewriting.indices import FULL, adding, replacing_part, same_index, symbolic_index_of
from aesara.tensor.rewriting.length_facts import dimension_measured_by
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.shapes.reshape import reshape
from aesara.tensor.shapes.shape import shape

rules = Rules()

READERS = (AdvancedSubtensor1, AdvancedSubtensor)
WRITERS = (AdvancedIncSubtensor1, AdvancedIncSubtensor)


# Predicates and forms of indices


def get_advsubtensor_axis(indices: Sequence[IndexEntry]) -> int | None:
    """Return the only dimension that an index does not select whole, if its entry there is a tensor; else None.

    Examples
    --------
    >>> get_advsubtensor_axis((slice(None), at.lvector("i")))
    1
    """
    axis = None
    for position, entry in enumerate(indices):
        if _is_full(entry):
            continue
        is_tensor = getattr(getattr(entry, "type", None), "ndim", 0) > 0
        if axis is not None or not is_tensor:
            return None
        axis = position
    return axis


def _is_full(entry: IndexEntry) -> bool:
    try:
        return as_slice(entry) == FULL
    except NotScalarConstantError:
        return False


def vector_index(node: Apply) -> Any:
    """Return the dimension that a node indexes with one vector of integers, and the vector; None for other indices."""
    index = node.inputs[1:] if isinstance(node.op, READERS) else node.inputs[2:]
    axis = get_advsubtensor_axis(index)
    if axis is None or index[axis].type.ndim != 1 or is_mask(index[axis]):
        return None
    positions, length = index[axis], node.inputs[0].type.shape[axis]
    if isinstance(positions, Constant) and length is not None and _normalize(positions, length) is None:
        return None  # out of range: the call raises the error
    return axis, positions


def _normalize(positions: Variable, length: int | None) -> np.ndarray | None:
    """Return constant positions as nonnegative ones; None if they are unknown, or not known to be in range."""
    if not isinstance(positions, Constant):
        return None
    data = np.asarray(positions.data)
    if length is None or np.any(data < -length) or np.any(data >= length):
        return None
    return np.where(data < 0, data.astype("int64") + length, data.astype("int64"))


def _progression(positions: np.ndarray, length: int) -> slice | None:
    """Return the slice of a dimension that selects some nonnegative positions; None if there is none."""
    if not len(positions):
        return slice(0, 0)
    step = int(positions[1] - positions[0]) if len(positions) > 1 else 1
    if not step or np.any(np.diff(positions) != step):
        return None
    last = int(positions[-1])
    stop = None if not 0 <= last + step < length else last + (1 if step > 0 else -1)
    return slice(int(positions[0]), stop, None if step == 1 else step)


# Positions that a slice selects


@rules.canonicalize
@rules.specialize
@replacing_part((AdvancedSubtensor1, "x", "rows"))
def local_useless_AdvancedSubtensor1(x: Any, rows: Variable) -> Any:
    """``x[arange(n)] -> x``, if n is the number of rows"""
    if isinstance(rows, Constant):
        positions = _normalize(rows, x.type.shape[0])
        return x if positions is not None and np.array_equal(positions, np.arange(x.type.shape[0])) else None
    node = output_of(rows, ARange)
    if node is None or rows.type.dtype != "int64" or dimension_measured_by(node.inputs[1]) != (x, 0):
        return None
    return x if known_integer(node.inputs[0]) == 0 and known_integer(node.inputs[2]) == 1 else None


@rules.canonicalize
@replacing_part((one_of(*READERS, *WRITERS, name="op", node="access"), "x", ...))
def local_positions_to_slice(op: Any, access: Apply, x: Any) -> Any:
    """``x[[1, 3]] -> x[1:4:2]``, for reading and writing at constant equidistant positions"""
    indexed = vector_index(access)
    if indexed is None or getattr(op, "inplace", False):
        return None
    axis, positions = indexed
    normalized = _normalize(positions, x.type.shape[axis])
    entry = None if normalized is None else _progression(normalized, x.type.shape[axis])
    if entry is None:
        return None
    part = getitem(x, (*[FULL] * axis, entry))
    is_read = isinstance(op, READERS)
    return part if is_read else inc_subtensor(part, access.inputs[1], set_instead_of_inc=op.set_instead_of_inc)


# Rows


def transform_take(a: Variable, indices: Any, axis: int) -> Variable:
    """Return ``a.take(indices, axis)`` as rows of a tensor with this dimension first.

    Parameters
    ----------
    a
        The tensor.
    indices
        Integers.
    axis
        The dimension that they index.

    Examples
    --------
    >>> transform_take(at.matrix("a"), at.lvector("i"), 0).owner.op
    AdvancedSubtensor1
    """
    a, indices = as_tensor_variable(a), as_tensor_variable(indices)
    if indices.type.ndim == 1:
        if axis == 0:
            return advanced_subtensor1(a, indices)
        order = [axis, *(k for k in range(a.type.ndim) if k != axis)]
        back = [order.index(k) for k in range(a.type.ndim)]
        return advanced_subtensor1(a.dimshuffle(order), indices).dimshuffle(back)
    rows = transform_take(a, indices.flatten(), axis)
    sizes = [shape(a)[:axis], shape(indices), shape(a)[axis + 1 :]]
    return reshape(rows, concatenate(sizes), ndim=a.type.ndim + indices.type.ndim - 1)


@rules.specialize
@replacing_part((one_of(AdvancedSubtensor, node="read"), "x", ...))
def local_rows_at_positions(read: Apply, x: Variable) -> Any:
    """``AdvancedSubtensor(x, vector) -> AdvancedSubtensor1(x, vector)``

    This is for the first dimension only, since errors name the dimension.
    """
    axis, positions = vector_index(read) or (None, None)
    return transform_take(x, positions, 0) if axis == 0 else None


@node_rewriter([AdvancedSubtensor])
def local_replace_AdvancedSubtensor(fgraph: FunctionGraph, node: Apply) -> RuleResult:
    """``x[:, i] -> x.T[i].T``, by the op that reads rows.

    Programs call this rule directly, and expect None if it does not apply.
    """
    x, *index = node.inputs
    axis = get_advsubtensor_axis(index)
    if axis is None or is_mask(index[axis]):
        return None
    return in_place_of(node.outputs[0], transform_take(x, index[axis], axis))


# Not by default, since native code reads positions along any dimension.
rules.by_name(local_replace_AdvancedSubtensor, specialize)


@rules.specialize
@replacing_part(
    (one_of(AdvancedIncSubtensor, name="op", node="write"), "x", "y", ...),
    lambda op: op.set_instead_of_inc or not op.ignore_duplicates,
)
def local_AdvancedIncSubtensor_to_AdvancedIncSubtensor1(op: Any, write: Apply, x: Variable, y: Variable) -> Any:
    """``AdvancedIncSubtensor(x, y, vector) -> AdvancedIncSubtensor1(x, y, vector)``

    This is for the first dimension only: others would need two transposed copies of the tensor.
    """
    axis, rows = vector_index(write) or (None, None)
    return AdvancedIncSubtensor1(op.inplace, op.set_instead_of_inc)(x, y, rows) if axis == 0 else None


# Reading and writing at the same positions

_check_positions = CheckAndRaise(
    IndexError, "Bad indexing or shapes in a AdvancedIncSubtensor1 that was optimized away"
)


def _at_same_positions(node: Apply, other: Apply) -> bool:
    """Return whether two nodes read or write at the positions of the same vector along the same dimension."""
    first, second = vector_index(node), vector_index(other)
    return bool(first and second and first[0] == second[0] and same_elements(first[1], second[1]))


def _lengths_and_range(fgraph: FunctionGraph, read: Apply, x: Any) -> tuple[list[Variable], Variable]:
    """Return the shape of the entries at some positions, and a condition that all positions are in range."""
    axis, positions = vector_index(read)
    feature = getattr(fgraph, "shape_feature", None)
    lengths = [shape(x)[k] for k in range(x.type.ndim)] if feature is None else list(feature.shape_of[x])
    lengths[axis], bound = shape(positions)[0], lengths[axis]
    return lengths, all_of(and_(lt(positions, bound), ge(positions, neg(bound))))


READ_WHERE_WRITTEN = (
    one_of(*READERS, node="read"),
    (one_of(*WRITERS, node="write", set_instead_of_inc=True), "x", "y", ...),
    ...,
)


@rules.canonicalize
@rules.specialize
@replacing_part(READ_WHERE_WRITTEN, lambda read, write: _at_same_positions(read, write))
def local_adv_sub1_adv_inc_sub1(fgraph: FunctionGraph, read: Apply, x: Any, y: Any, out: Any) -> Any:
    """``set(x[i], y)[i] -> y`` for distinct positions, or values that do not depend on the position"""
    axis, positions = vector_index(read)
    value_axis = axis - (out.type.ndim - y.type.ndim)
    if value_axis >= 0 and not y.type.broadcastable[value_axis] and not are_distinct(positions, x.type.shape[axis]):
        return None
    lengths, in_range = _lengths_and_range(fgraph, read, x)
    value = alloc(as_dtype(y, out.type.dtype), *lengths)
    return value if _normalize(positions, x.type.shape[axis]) is not None else _check_positions(value, in_range)


_assert_written_once = Assert("Rows to be read where they were written are out of range, repeated, or written twice.")


@replacing_part(
    READ_WHERE_WRITTEN, lambda read, write, y, out: has_shape_of(y, out) and _at_same_positions(read, write)
)
def local_rows_written_once(fgraph: FunctionGraph, read: Apply, x: Any, y: Any, out: Any) -> Any:
    """``set(x[i], y)[i] -> y``, with a run-time check that positions are distinct and y is not broadcast"""
    axis, positions = vector_index(read)
    lengths, in_range = _lengths_and_range(fgraph, read, x)
    conditions = [in_range, *(eq(shape(y)[k], length) for k, length in enumerate(lengths))]
    if not are_distinct(positions, x.type.shape[axis]):
        in_order = sort(switch(lt(positions, 0), add(positions, shape(x)[axis]), positions))
        conditions.append(all_of(neq(in_order[1:], in_order[:-1])))
    return _assert_written_once(as_dtype(y, out.type.dtype), *conditions)


rules.by_name(local_rows_written_once, canonicalize, specialize)


def _is_overwritten_once(write: Apply, x: Any, old: Variable) -> bool:
    """Return whether a variable is the subtensor that a node overwrites, at distinct positions."""
    reader = old.owner
    same_dtype = old.type.dtype == write.inputs[1].type.dtype == x.type.dtype
    if reader is None or reader.inputs[:1] != [x] or not same_dtype:
        return False
    if isinstance(write.op, IncSubtensor):
        return isinstance(reader.op, Subtensor) and same_index(symbolic_index_of(reader), symbolic_index_of(write))
    if not isinstance(reader.op, READERS) or not _at_same_positions(reader, write):
        return False
    axis, positions = vector_index(write)
    return are_distinct(positions, x.type.shape[axis])


@rules.canonicalize("shape_unsafe")
@rules.specialize("shape_unsafe")
@replacing_part(
    (
        one_of(*WRITERS, IncSubtensor, node="write", set_instead_of_inc=True, inplace=False),
        "x",
        (add, "old", "**others"),
        ...,
    ),
    _is_overwritten_once,
)
def local_set_to_inc_subtensor(write: Apply, x: TensorVariable, others: list[Variable]) -> Variable | None:
    """``set(x[i], x[i] + y) -> inc(x[i], y)``"""
    op = adding(write.op) if isinstance(write.op, IncSubtensor) else type(write.op)()
    value = computed_in(x.type.dtype, add, others) if len(others) > 1 else others[0]
    return apply_or_none(op, x, value, *write.inputs[2:])
