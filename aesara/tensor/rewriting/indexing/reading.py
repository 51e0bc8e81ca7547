"""Rules about reading subtensors: simpler indices, and subtensors that are known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.op import Op
from aesara.graph.rewriting import databases
from aesara.graph.rewriting.basic import node_rewriter
from aesara.graph.rewriting.matching import one_of
from aesara.graph.rewriting.node_rewriters import RuleResult
from aesara.scalar import ScalarConstant, ScalarType
from aesara.tensor.core.conversion import constant
from aesara.tensor.core.tensor_like import IndexEntry
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.make_vector import MakeVector
from aesara.tensor.indexing.chained_index import ChainedIndex
from aesara.tensor.indexing.getitem import getitem
from aesara.tensor.indexing.index_forms import as_scalar_type, get_slice_elements, indices_from_subtensor
from aesara.tensor.indexing.subtensor_advanced import (
    AdvancedIncSubtensor,
    AdvancedIncSubtensor1,
    AdvancedSubtensor,
    AdvancedSubtensor1,
)
from aesara.tensor.indexing.subtensor_basic import IncSubtensor, Subtensor
from aesara.tensor.rewriting.helpers import apply_or_none
from aesara.tensor.rewriting.indices import (
    FULL,
    READ,
    has_integers,
    has_slices,
    index_of,
    is_full_slice,
    is_known,
    kept_axes,
    merge_two_slices,
    part_of,
    replacing_part,
    symbolic_index_of,
    whole_dimensions,
)
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.shapes.shape import Shape, Shape_i

rules = Rules()


# Subtensors that are everything


@rules.canonicalize
@rules.specialize
@replacing_part((READ, "x", ...), lambda read: not has_integers(read.op.idx_list))
def local_useless_subtensor(read: Apply, x: Variable) -> Variable | None:
    """``x[:n] -> x``, if that is everything"""
    return x if all(whole_dimensions(read)) else None


@rules.useless
@rules.canonicalize
@rules.stabilize
@rules.specialize
@replacing_part((one_of(Subtensor, node="read", idx_list=has_slices), "x", ...))
def local_useless_slice(read: Apply, x: Variable) -> Variable | None:
    """``x[:n, i, 0:] -> x[:, i]``, if the slices select everything"""
    index = list(symbolic_index_of(read))
    simplified = [FULL if whole else entry for entry, whole in zip(index, whole_dimensions(read))]
    return None if simplified == index and simplified[-1] != FULL else part_of(x, simplified)


@rules.canonicalize
@rules.specialize
@replacing_part((one_of(Subtensor, node="read", idx_list=has_integers), "x", ...))
def local_subtensor_remove_broadcastable_index(read: Apply, x: TensorVariable) -> Variable | None:
    """``x[:, 0] -> x.dimshuffle(0)``, if the last dimension has length one"""
    if any(length != 1 for entry, length in zip(read.op.idx_list, x.type.shape) if not isinstance(entry, slice)):
        return None
    index = index_of(read, values_only=True)
    is_all = all(is_full_slice(entry) if isinstance(entry, slice) else entry in (0, -1) for entry in index)
    return x.dimshuffle(*kept_axes(read)) if is_all else None


# Subtensors of subtensors


def _composed_index(read: Apply, inner: Apply, merge: Callable[..., IndexEntry]) -> list[Any] | None:
    """Return the composition of the indices of two nodes, the first of which reads the result of the second, else None.

    If neither selects a whole dimension, its entry is ``merge(axis, inner_axis, entries, known_entries)``, where
    `inner_axis` is the axis in the result of the second, and the entries are those of the second and the first.
    """
    index, known = list(symbolic_index_of(inner)), index_of(inner, values_only=True)
    outer = zip(kept_axes(inner), symbolic_index_of(read), index_of(read, values_only=True))
    for inner_axis, (axis, entry, known_entry) in enumerate(outer):
        if axis >= len(index):
            index.append(entry)
        elif is_full_slice(known[axis]):
            index[axis] = entry
        elif not is_full_slice(known_entry):
            index[axis] = merge(axis, inner_axis, (index[axis], entry), (known[axis], known_entry))
            if index[axis] is None:
                return None
    return index


@rules.canonicalize
@rules.specialize
@replacing_part((READ, (one_of(Subtensor, node="inner"), "x", ...), ...))
def local_subtensor_merge(read: Apply, inner: Apply, x: Any) -> Any:
    """``x[2:][:4] -> x[2:6]``"""
    lengths = x.type.shape
    index = _composed_index(
        read,
        inner,
        lambda axis, inner_axis, entries, known: merge_two_slices(None, known[0], lengths[axis], known[1], None),
    )
    return None if index is None else apply_or_none(getitem, x, tuple(index))


#: The largest number of successive subtensors that become one.
LONGEST_CHAIN = 16


@replacing_part((READ, (one_of(Subtensor, node="inner"), "x", ...), ...), single_client=True)
def merge_parts_of_parts(read: Apply, inner: Apply, x: Variable, out: Variable) -> Any:
    """``x[i:][:j] -> x[i:k]``, with arithmetic for the bounds.

    This is for the end of rewriting: the arithmetic is one node, and part of the index in native code.
    """
    index = _composed_index(read, inner, lambda axis, inner_axis, entries, known: _chain(x, axis, entries, inner_axis))
    if index is None:
        return None
    scalars = get_slice_elements(index, lambda part: part is not None)
    # The type is kept, since it may have known lengths.
    return Apply(Subtensor(index), [x, *scalars], [out.type()]).outputs[0]


rules.into(databases.spellings, merge_parts_of_parts, "fast_run", "local_subtensor_merge")


def _chain(x: Any, axis: int, both: tuple[slice, Any], axis_of_part: int) -> Any:
    """Return the index entry that composes two entries of one dimension; None if the chain would be too long."""
    entry, outer = both
    parts = get_slice_elements([entry], lambda part: part is not None)
    earlier = parts[0].owner
    if earlier is not None and isinstance(earlier.op, ChainedIndex) and parts == earlier.outputs:
        entries, scalars = earlier.op.entries, earlier.inputs[1:]
    else:
        entries, scalars = (entry,), parts
    if len(entries) == LONGEST_CHAIN:
        return None
    more = get_slice_elements([outer], lambda part: part is not None)
    chain = ChainedIndex((*entries, outer), axis, axis_of_part)(x, *scalars, *more, return_list=True)
    return slice(*chain) if isinstance(outer, slice) else chain[0]


# Subtensors of vectors of scalars, and of shapes

OF_SCALARS = (one_of(MakeVector, name="vector"), "**scalars")


@replacing_part((READ, OF_SCALARS, ...))
def local_entries_of_make_vector(read: Apply, vector: MakeVector, scalars: list[Variable]) -> Any:
    """``make_vector(x, y)[1] -> y``"""
    index = index_of(read)
    if len(index) != 1 or not is_known(index[0]):
        return None
    (entry,) = index
    if isinstance(entry, slice):
        return vector(*scalars[entry])
    return scalars[entry] if -len(scalars) <= entry < len(scalars) else None


@replacing_part((one_of(AdvancedSubtensor1, AdvancedSubtensor), OF_SCALARS, "positions"))
def local_positions_of_make_vector(
    vector: MakeVector, scalars: list[Variable], positions: TensorVariable
) -> Variable | None:
    """``make_vector(x, y)[[1, 0]] -> make_vector(y, x)``"""
    if not isinstance(positions, Constant) or getattr(positions.type, "ndim", 0) != 1 or positions.type.dtype == "bool":
        return None
    entries = positions.data.tolist()
    is_in_range = all(-len(scalars) <= entry < len(scalars) for entry in entries)
    return vector(*[scalars[entry] for entry in entries]) if is_in_range else None


local_subtensor_make_vector = rules.group(
    "local_subtensor_make_vector",
    local_entries_of_make_vector,
    local_positions_of_make_vector,
    to=(rules.specialize, rules.canonicalize, rules.useless),
    tags=("shape_unsafe",),
)


@rules.canonicalize("shape_unsafe")
@rules.specialize("shape_unsafe")
@replacing_part((one_of(Subtensor, node="read", idx_list=lambda index: len(index) == 1), (Shape, "x"), ...))
def local_subtensor_shape_constant(read: Apply, x: Any) -> Any:
    """``shape(x)[1] -> Shape_i{1}(x)``, or a constant if the length is known"""
    (entry,), ndim = index_of(read), getattr(x.type, "ndim", None)
    if ndim is None or not is_known(entry) or not (isinstance(entry, slice) or -ndim <= entry < ndim):
        return None
    known = x.type.shape[entry]
    if isinstance(entry, slice):
        return None if None in known else constant(np.array(known, dtype="int64"))
    return Shape_i(entry % ndim)(x) if known is None else constant(known, dtype="int64")


# Constant indices


@rules.specialize
@node_rewriter(
    [Subtensor, AdvancedSubtensor1, AdvancedSubtensor, IncSubtensor, AdvancedIncSubtensor, AdvancedIncSubtensor1]
)
def local_uint_constant_indices(fgraph: FunctionGraph, node: Apply) -> RuleResult:
    """``x[int64(1)] -> x[uint8(1)]``: constant indices get the smallest unsigned dtype"""
    op, out = node.op, node.outputs[0]
    inputs, changed = list(node.inputs), False
    for position in _positions_of_indices(op, len(inputs)):
        smaller = _in_smallest_dtype(inputs[position])
        if smaller is not None:
            inputs[position], changed = smaller, True
    if not changed:
        return False
    if isinstance(op, (Subtensor, IncSubtensor)):
        first = 1 if isinstance(op, Subtensor) else 2
        op = _at_scalars_of(op, tuple(scalar.type for scalar in inputs[first:]))
    # `make_node` need not check the inputs again: the dtypes do not matter.
    return Apply(op, inputs, [out.type()]).outputs


@lru_cache(maxsize=1024)
def _positions_of_indices(op: Op, n_inputs: int) -> Sequence[int]:
    """Return the positions of the inputs of a node that are entries of the index, not bounds or steps of slices."""
    first = 1 if isinstance(op, (Subtensor, AdvancedSubtensor, AdvancedSubtensor1)) else 2
    if not isinstance(op, (Subtensor, IncSubtensor)):
        return range(first, n_inputs)
    # The template of the index, filled with positions of inputs.
    filled = indices_from_subtensor(range(first, n_inputs), op.idx_list)
    return [entry for entry in filled if not isinstance(entry, slice)]


@lru_cache(maxsize=1024)
def _at_scalars_of(op: Any, types: tuple[ScalarType, ...]) -> Op:
    """Return the op for an index with scalars of the given types."""
    index = indices_from_subtensor(types, op.idx_list)
    if isinstance(op, Subtensor):
        return Subtensor(index)
    return IncSubtensor(index, op.inplace, op.set_instead_of_inc, op.destroyhandler_tolerate_aliased)


def _in_smallest_dtype(part: Variable) -> Constant | None:
    """Return a nonnegative constant index in its smallest unsigned dtype; None for others, or if it has that dtype."""
    if isinstance(part, ScalarConstant):
        value = int(part.data)
        smaller = smallest_constant(value) if value >= 0 else part
        return None if smaller.type == part.type else smaller
    if not isinstance(part, Constant) or getattr(part.type, "dtype", "bool") == "bool":
        return None
    data = part.data
    if np.min(data, initial=0) < 0:
        return None
    dtype = np.min_scalar_type(np.max(data, initial=0)).name
    return None if part.type.dtype == dtype else constant(data.astype(dtype))


@lru_cache(maxsize=1024)
def smallest_constant(value: int) -> ScalarConstant:
    """Return a nonnegative scalar constant in the smallest dtype; cached, since most indices are among a few."""
    dtype = np.min_scalar_type(value).name
    return ScalarConstant(as_scalar_type(dtype), np.asarray(value, dtype=dtype))
