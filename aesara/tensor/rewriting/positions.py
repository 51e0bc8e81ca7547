"""Rules about parts of tensors that vectors of positions name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.rewriting.basic import node_rewriter
from aesara.graph.rewriting.databases import canonicalize, specialize
from aesara.scalar import Add
from aesara.tensor.core.check_and_raise import Assert, CheckAndRaise
from aesara.tensor.core.constant_value import known_integer
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.creation.allocation import alloc
from aesara.tensor.creation.ranges import ARange
from aesara.tensor.elementwise.ops import add, and_, eq, ge, lt, neg, neq, switch
from aesara.tensor.exceptions import NotScalarConstantError
from aesara.tensor.indexing.getitem import getitem
from aesara.tensor.indexing.inc_subtensor import inc_subtensor
from aesara.tensor.indexing.index_forms import as_slice, is_mask
from aesara.tensor.indexing.repeated_places import are_distinct
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
    applied,
    as_dtype,
    computed_in,
    has_shape_of,
    in_place_of,
    is_elemwise,
    same_elements,
)
from aesara.tensor.rewriting.indices import FULL, same_index, symbolic_index_of
from aesara.tensor.rewriting.length_facts import dimension_measured_by
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.shapes.reshape import reshape
from aesara.tensor.shapes.shape import shape

rules = Rules()

READERS = (AdvancedSubtensor1, AdvancedSubtensor)
WRITERS = (AdvancedIncSubtensor1, AdvancedIncSubtensor)


# Questions


def get_advsubtensor_axis(indices: Sequence[Any]) -> int | None:
    """The dimension along which an index takes positions, if it takes all others whole; None otherwise.

    Examples
    --------
    >>> get_advsubtensor_axis((slice(None), at.lvector("i")))
    1
    """
    axis = None
    for place, entry in enumerate(indices):
        if _is_full(entry):
            continue
        is_tensor = getattr(getattr(entry, "type", None), "ndim", 0) > 0
        if axis is not None or not is_tensor:
            return None
        axis = place
    return axis


def _is_full(entry: Any) -> bool:
    try:
        return as_slice(entry) == FULL
    except NotScalarConstantError:
        return False


def vector_index(node: Apply) -> tuple[int, Variable] | None:
    """The dimension that a node reads or writes at the positions of one vector of integers, and the vector."""
    index = node.inputs[1:] if isinstance(node.op, READERS) else node.inputs[2:]
    axis = get_advsubtensor_axis(index)
    if axis is None or index[axis].type.ndim != 1 or is_mask(index[axis]):
        return None
    positions, length = index[axis], node.inputs[0].type.shape[axis]
    if isinstance(positions, Constant) and length is not None and _normalized(positions, length) is None:
        return None  # an error, for when the node runs
    return axis, positions


def _normalized(positions: Variable, length: int | None) -> np.ndarray | None:
    """Constant positions counted from the front; None if they are unknown, or not known to be in range."""
    if not isinstance(positions, Constant):
        return None
    data = np.asarray(positions.data)
    if length is None or np.any(data < -length) or np.any(data >= length):
        return None
    return np.where(data < 0, data.astype("int64") + length, data.astype("int64"))


def _progression(positions: np.ndarray, length: int) -> slice | None:
    """The slice that takes some positions, counted from the front, of a dimension; None if there is none."""
    if not len(positions):
        return slice(0, 0)
    step = int(positions[1] - positions[0]) if len(positions) > 1 else 1
    if not step or np.any(np.diff(positions) != step):
        return None
    last = int(positions[-1])
    stop = None if not 0 <= last + step < length else last + (1 if step > 0 else -1)
    return slice(int(positions[0]), stop, None if step == 1 else step)


# Positions that a slice takes


@rules.canonicalize
@rules.specialize
@node_rewriter([AdvancedSubtensor1])
def local_useless_AdvancedSubtensor1(fgraph: FunctionGraph, node: Apply) -> Any:
    """All rows, in their order, are the tensor itself."""
    x, rows = node.inputs
    if isinstance(rows, Constant):
        positions = _normalized(rows, x.type.shape[0])
        is_all = positions is not None and np.array_equal(positions, np.arange(x.type.shape[0]))
    else:
        is_all = _counts_rows(rows, x)
    return in_place_of(node.outputs[0], x) if is_all else False


def _counts_rows(rows: Variable, x: Variable) -> bool:
    """Whether a vector counts the rows of a tensor."""
    node = rows.owner
    if node is None or not isinstance(node.op, ARange) or rows.type.dtype != "int64":
        return False
    start, stop, step = node.inputs
    return dimension_measured_by(stop) == (x, 0) and known_integer(start) == 0 and known_integer(step) == 1


@rules.canonicalize
@node_rewriter([*READERS, *WRITERS])
def local_positions_to_slice(fgraph: FunctionGraph, node: Apply) -> Any:
    """Constant positions at equal distances are a slice, which needs no gathering."""
    found = vector_index(node)
    if found is None or getattr(node.op, "inplace", False):
        return False
    axis, positions = found
    x, out = node.inputs[0], node.outputs[0]
    normalized = _normalized(positions, x.type.shape[axis])
    taken = None if normalized is None else _progression(normalized, x.type.shape[axis])
    if taken is None:
        return False
    part = getitem(x, (*[FULL] * axis, taken))
    if isinstance(node.op, READERS):
        return in_place_of(out, part)
    return in_place_of(out, inc_subtensor(part, node.inputs[1], set_instead_of_inc=node.op.set_instead_of_inc))


# Rows


def transform_take(a: Any, indices: Any, axis: int) -> Variable:
    """``a.take(indices, axis)`` by rows: those of a tensor with the dimension in front.

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
@node_rewriter([AdvancedSubtensor])
def local_rows_at_positions(fgraph: FunctionGraph, node: Apply) -> Any:
    """Rows at the positions of one vector in the simpler op for these.

    Other dimensions than the first stay as they are: errors name them.
    """
    found = vector_index(node)
    if found is None or found[0] != 0:
        return False
    return in_place_of(node.outputs[0], transform_take(node.inputs[0], found[1], 0))


@node_rewriter([AdvancedSubtensor])
def local_replace_AdvancedSubtensor(fgraph: FunctionGraph, node: Apply) -> Any:
    """Positions along one dimension, in any number of dimensions, in the op for rows at the positions of a vector."""
    x, *index = node.inputs
    axis = get_advsubtensor_axis(index)
    if axis is None or is_mask(index[axis]):
        return None
    return in_place_of(node.outputs[0], transform_take(x, index[axis], axis))


# Native code takes positions along any dimension.
rules.by_name(local_replace_AdvancedSubtensor, specialize)


@rules.specialize
@node_rewriter([AdvancedIncSubtensor])
def local_AdvancedIncSubtensor_to_AdvancedIncSubtensor1(fgraph: FunctionGraph, node: Apply) -> Any:
    """Writing at the positions of one vector as writing to rows.

    Other dimensions than the first stay as they are: there it would take two rearranged copies of the tensor.
    """
    op = node.op
    found = vector_index(node)
    if found is None or found[0] != 0 or (op.ignore_duplicates and not op.set_instead_of_inc):
        return False
    to_rows = AdvancedIncSubtensor1(op.inplace, op.set_instead_of_inc)
    return in_place_of(node.outputs[0], to_rows(*node.inputs[:2], found[1]))


# Reading and writing at the same positions

_check_positions = CheckAndRaise(
    IndexError, "Bad indexing or shapes in a AdvancedIncSubtensor1 that was optimized away"
)


@rules.canonicalize
@rules.specialize
@node_rewriter(list(READERS))
def local_adv_sub1_adv_inc_sub1(fgraph: FunctionGraph, node: Apply) -> Any:
    """What was just written is read back, if no later entry of it was written to the same position."""
    found = _read_where_written(node)
    if found is None:
        return False
    x, y, axis, positions = found
    (out,) = node.outputs
    n_new = out.type.ndim - y.type.ndim
    is_repeated = axis < n_new or y.type.broadcastable[axis - n_new]
    if not (is_repeated or are_distinct(positions, x.type.shape[axis])):
        return False
    lengths, in_range = _lengths_and_range(fgraph, x, axis, positions)
    value = alloc(as_dtype(y, out.type.dtype), *lengths)
    if _normalized(positions, x.type.shape[axis]) is None:
        value = _check_positions(value, in_range)
    return in_place_of(out, value)


def _read_where_written(node: Apply) -> tuple[Variable, Variable, int, Variable] | None:
    """A tensor, what was written to it, and the dimension and positions at which a node reads that; None otherwise."""
    inner = node.inputs[0].owner
    if inner is None or not isinstance(inner.op, WRITERS) or not inner.op.set_instead_of_inc:
        return None
    place, written = vector_index(node), vector_index(inner)
    if place is None or written is None or place[0] != written[0] or not same_elements(place[1], written[1]):
        return None
    x, y = inner.inputs[:2]
    return x, y, *place


def _lengths_and_range(
    fgraph: FunctionGraph, x: Variable, axis: int, positions: Variable
) -> tuple[list[Variable], Variable]:
    """The shape of what is taken of a tensor at positions, and whether they all lie within it."""
    feature = getattr(fgraph, "shape_feature", None)
    lengths = [shape(x)[k] for k in range(x.type.ndim)] if feature is None else list(feature.shape_of[x])
    lengths[axis], bound = shape(positions)[0], lengths[axis]
    return lengths, all_of(and_(lt(positions, bound), ge(positions, neg(bound))))


_assert_written_once = Assert("Rows to be read where they were written are out of range, repeated, or written twice.")


@node_rewriter(list(READERS))
def local_rows_written_once(fgraph: FunctionGraph, node: Apply) -> Any:
    """What was just written is read back; it is asserted that nothing was repeated, nor written over."""
    found = _read_where_written(node)
    if found is None:
        return False
    x, y, axis, positions = found
    (out,) = node.outputs
    if not has_shape_of(y, out):
        return False
    lengths, in_range = _lengths_and_range(fgraph, x, axis, positions)
    conditions = [in_range, *(eq(shape(y)[k], length) for k, length in enumerate(lengths))]
    if not are_distinct(positions, x.type.shape[axis]):
        in_order = sort(switch(lt(positions, 0), add(positions, shape(x)[axis]), positions))
        conditions.append(all_of(neq(in_order[1:], in_order[:-1])))
    return in_place_of(out, _assert_written_once(as_dtype(y, out.type.dtype), *conditions))


rules.by_name(local_rows_written_once, canonicalize, specialize)


@rules.canonicalize("shape_unsafe")
@rules.specialize("shape_unsafe")
@node_rewriter([AdvancedIncSubtensor1, AdvancedIncSubtensor, IncSubtensor], operands=[add])
def local_set_to_inc_subtensor(fgraph: FunctionGraph, node: Apply) -> Any:
    """Writing what was there and something more is adding, where no position is written to twice."""
    op, (x, y) = node.op, node.inputs[:2]
    if not op.set_instead_of_inc or op.inplace or not is_elemwise(y.owner, Add) or y.type.dtype != x.type.dtype:
        return False
    if isinstance(op, WRITERS):
        found = vector_index(node)
        if found is None or not are_distinct(found[1], x.type.shape[found[0]]):
            return False
    terms = y.owner.inputs
    position = next((k for k, term in enumerate(terms) if _is_read_from(term, node)), None)
    if position is None:
        return False
    rest = [term for k, term in enumerate(terms) if k != position]
    value = computed_in(x.type.dtype, add, rest) if len(rest) > 1 else rest[0]
    if isinstance(op, IncSubtensor):
        adding = IncSubtensor(op.idx_list, destroyhandler_tolerate_aliased=op.destroyhandler_tolerate_aliased)
    else:
        adding = type(op)()
    return in_place_of(node.outputs[0], applied(adding, x, value, *node.inputs[2:]))


def _is_read_from(term: Variable, writer: Apply) -> bool:
    """Whether a variable is what a node writes over."""
    reader = term.owner
    if reader is None or reader.inputs[:1] != writer.inputs[:1] or term.type.dtype != writer.inputs[0].type.dtype:
        return False
    if isinstance(writer.op, IncSubtensor):
        return isinstance(reader.op, Subtensor) and same_index(symbolic_index_of(reader), symbolic_index_of(writer))
    if not isinstance(reader.op, READERS):
        return False
    read, written = vector_index(reader), vector_index(writer)
    return read is not None and written is not None and read[0] == written[0] and same_elements(read[1], written[1])
