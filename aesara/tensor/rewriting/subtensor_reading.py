"""Rules about reading parts of tensors: simpler indices, and parts that need no reading."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.op import Op
from aesara.graph.rewriting import databases
from aesara.graph.rewriting.basic import node_rewriter
from aesara.scalar import ScalarConstant, ScalarType
from aesara.tensor.core.casting import cast
from aesara.tensor.core.conversion import constant
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
from aesara.tensor.rewriting.helpers import applied, in_place_of
from aesara.tensor.rewriting.indices import (
    FULL,
    index_of,
    is_full_slice,
    is_known,
    merge_two_slices,
    symbolic_index_of,
    takes_everything,
)
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.shapes.shape import Shape, Shape_i

rules = Rules()


@rules.canonicalize
@rules.specialize
@node_rewriter([Subtensor])
def local_useless_subtensor(fgraph: FunctionGraph, node: Apply) -> Any:
    """A part that is everything is the tensor itself."""
    x = node.inputs[0]
    if not all(isinstance(entry, slice) for entry in node.op.idx_list):
        return False
    index = index_of(node, values_only=True)
    if not all(takes_everything(entry, x.type.shape[axis], x, axis) for axis, entry in enumerate(index)):
        return False
    return in_place_of(node.outputs[0], x)


@rules.useless
@rules.canonicalize
@rules.stabilize
@rules.specialize
@node_rewriter([Subtensor])
def local_useless_slice(fgraph: FunctionGraph, node: Apply) -> Any:
    """Slices that take everything are left out, those at the end of an index without a trace."""
    x = node.inputs[0]
    if not any(isinstance(entry, slice) for entry in node.op.idx_list):
        return False
    index = list(symbolic_index_of(node))
    known = index_of(node, values_only=True)
    simplified = [
        FULL if takes_everything(k, x.type.shape[axis], x, axis) else entry
        for axis, (entry, k) in enumerate(zip(index, known))
    ]
    while simplified and simplified[-1] == FULL:
        simplified.pop()
    if len(simplified) == len(index) and all(
        is_full_slice(old) and old == FULL if new is FULL else True for old, new in zip(index, simplified)
    ):
        return False
    return in_place_of(node.outputs[0], applied(getitem, x, tuple(simplified)) if simplified else x)


@rules.canonicalize
@rules.specialize
@node_rewriter([Subtensor])
def local_subtensor_remove_broadcastable_index(fgraph: FunctionGraph, node: Apply) -> Any:
    """The first of one entry: the dimension is dropped, nothing is read."""
    x: Any = node.inputs[0]
    dropped = [axis for axis, entry in enumerate(node.op.idx_list) if not isinstance(entry, slice)]
    if not dropped or any(x.type.shape[axis] != 1 for axis in dropped):
        return False
    index = index_of(node, values_only=True)
    kept = []
    for axis, entry in enumerate(index):
        if isinstance(entry, slice):
            if not is_full_slice(entry):
                return False
            kept.append(axis)
        elif not is_known(entry) or entry not in (0, -1):
            return False
    return in_place_of(node.outputs[0], x.dimshuffle(*kept, *range(len(index), x.type.ndim)))


@rules.canonicalize
@rules.specialize
@node_rewriter([Subtensor])
def local_subtensor_merge(fgraph: FunctionGraph, node: Apply) -> Any:
    """A part of a part as a part."""
    inner = node.inputs[0].owner
    if inner is None or not isinstance(inner.op, Subtensor):
        return False
    x = inner.inputs[0]
    outer_index = list(index_of(node, values_only=True))
    symbolic_outer = list(symbolic_index_of(node))
    inner_index = list(index_of(inner, values_only=True))
    symbolic_inner = list(symbolic_index_of(inner))
    merged: list[Any] = []
    for axis, length in enumerate(x.type.shape):
        if axis >= len(inner_index):
            merged.extend(symbolic_outer)
            break
        entry = inner_index[axis]
        if not isinstance(entry, slice) or not outer_index:
            merged.append(symbolic_inner[axis])
            continue
        outer, outer_symbolic = outer_index.pop(0), symbolic_outer.pop(0)
        if is_full_slice(entry):
            merged.append(outer_symbolic)
        elif is_full_slice(outer):
            merged.append(symbolic_inner[axis])
        else:
            both = merge_two_slices(fgraph, entry, length, outer, None)
            if both is None:
                return False
            merged.append(both)
    return in_place_of(node.outputs[0], applied(getitem, x, tuple(merged)))


#: How many parts of parts become one.
LONGEST_CHAIN = 16


@node_rewriter([Subtensor], operands=[Subtensor])
def merge_parts_of_parts(fgraph: FunctionGraph, node: Apply) -> Any:
    """A part of a part as a part, also where it takes arithmetic to say which.

    This is for the end of rewriting: the arithmetic is one node, and part of the index in native code.
    """
    (out,), inner = node.outputs, node.inputs[0].owner
    if inner is None or not isinstance(inner.op, Subtensor) or len(fgraph.clients[node.inputs[0]]) != 1:
        return False
    x = inner.inputs[0]
    outer_index, merged = list(symbolic_index_of(node)), list[Any]()
    axis_of_part = 0
    for axis, entry in enumerate(symbolic_index_of(inner)):
        if isinstance(entry, slice) and outer_index:
            outer = outer_index.pop(0)
            if is_full_slice(entry) or is_full_slice(outer):
                entry = outer if is_full_slice(entry) else entry
            else:
                entry = _chained(x, axis, entry, outer, axis_of_part)
                if entry is None:
                    return False
            axis_of_part += 1
        merged.append(entry)
    merged += outer_index
    scalars = get_slice_elements(merged, lambda part: part is not None)
    # The type is that of the node, of which lengths may be known.
    return Apply(Subtensor(merged), [x, *scalars], [out.type()]).outputs


rules.into(databases.spellings, merge_parts_of_parts, "fast_run", "local_subtensor_merge")


def _chained(x: Any, axis: int, entry: slice, outer: Any, axis_of_part: int) -> Any:
    """The entry of an index that takes of a dimension what two take one after the other; None of too many."""
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


@rules.useless("shape_unsafe")
@rules.canonicalize("shape_unsafe")
@rules.specialize("shape_unsafe")
@node_rewriter([Subtensor, AdvancedSubtensor1, AdvancedSubtensor])
def local_subtensor_make_vector(fgraph: FunctionGraph, node: Apply) -> Any:
    """Entries of a vector of scalars are these scalars."""
    inner = node.inputs[0].owner
    if inner is None or not isinstance(inner.op, MakeVector):
        return False
    out, scalars = node.outputs[0], inner.inputs
    if not isinstance(node.op, Subtensor):
        return _chosen_scalars(node, inner)
    index = index_of(node)
    if len(index) != 1 or not is_known(index[0]):
        return False
    (entry,) = index
    if isinstance(entry, slice):
        return in_place_of(out, inner.op(*scalars[entry]))
    if not -len(scalars) <= entry < len(scalars):
        return False
    return in_place_of(out, cast(scalars[entry], out.type.dtype))


def _chosen_scalars(node: Apply, vector: Apply) -> Any:
    positions = node.inputs[1]
    n = len(vector.inputs)
    if len(node.inputs) != 2 or not isinstance(positions, Constant) or positions.type.ndim != 1:
        return False
    if positions.type.dtype == "bool" or not np.all((positions.data >= -n) & (positions.data < n)):
        return False
    return in_place_of(node.outputs[0], vector.op(*[vector.inputs[i] for i in positions.data.tolist()]))


@rules.canonicalize("shape_unsafe")
@rules.specialize("shape_unsafe")
@node_rewriter([Subtensor])
def local_subtensor_shape_constant(fgraph: FunctionGraph, node: Apply) -> Any:
    """An entry of a shape is the length of a dimension; it, and parts of shapes, are constants where they are known."""
    inner = node.inputs[0].owner
    if inner is None or not isinstance(inner.op, Shape) or len(node.op.idx_list) != 1:
        return False
    (entry,) = index_of(node)
    (x,) = inner.inputs
    ndim = getattr(x.type, "ndim", None)
    if ndim is None or not is_known(entry):
        return False
    if not isinstance(entry, slice):
        if not -ndim <= entry < ndim:
            return False
        entry %= ndim
    known = x.type.shape[entry]
    if isinstance(entry, slice):
        return False if None in known else in_place_of(node.outputs[0], constant(np.array(known, dtype="int64")))
    if known is not None:
        return in_place_of(node.outputs[0], constant(known, dtype="int64"))
    return in_place_of(node.outputs[0], Shape_i(entry)(x))


# Constant indices


@rules.specialize
@node_rewriter(
    [Subtensor, AdvancedSubtensor1, AdvancedSubtensor, IncSubtensor, AdvancedIncSubtensor, AdvancedIncSubtensor1]
)
def local_uint_constant_indices(fgraph: FunctionGraph, node: Apply) -> Any:
    """Constant positions that count from the front take the smallest unsigned dtype that holds them."""
    op, out = node.op, node.outputs[0]
    inputs, changed = list(node.inputs), False
    for position in _positions_of_indices(op, len(inputs)):
        smaller = _in_smallest_dtype(inputs[position])
        if smaller is not None:
            inputs[position], changed = smaller, True
    if not changed:
        return False
    if isinstance(op, Subtensor):
        op = _at_scalars_of(op, tuple(scalar.type for scalar in inputs[1:]))
    elif isinstance(op, IncSubtensor):
        index = indices_from_subtensor(inputs[2:], op.idx_list)
        op = IncSubtensor(index, op.inplace, op.set_instead_of_inc, op.destroyhandler_tolerate_aliased)
    # What the node was checked for when it was made does not depend on the dtypes.
    return Apply(op, inputs, [out.type()]).outputs


@lru_cache(maxsize=1024)
def _positions_of_indices(op: Op, n_inputs: int) -> Sequence[int]:
    """The positions of the inputs of a node that are indices by themselves: no parts of slices."""
    first = 1 if isinstance(op, (Subtensor, AdvancedSubtensor, AdvancedSubtensor1)) else 2
    if not isinstance(op, (Subtensor, IncSubtensor)):
        return range(first, n_inputs)
    # The template with the positions of the inputs in the places of their types.
    filled = indices_from_subtensor(range(first, n_inputs), op.idx_list)
    return [entry for entry in filled if not isinstance(entry, slice)]


@lru_cache(maxsize=1024)
def _at_scalars_of(op: Subtensor, types: tuple[ScalarType, ...]) -> Subtensor:
    """The op that reads at an index of scalars of other types."""
    return Subtensor(indices_from_subtensor(types, op.idx_list))


def _in_smallest_dtype(part: Variable) -> Constant | None:
    """A constant index in its smallest unsigned dtype; None if it has it, counts from the end, or is none."""
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
    """A number that is not negative, in the smallest dtype; made once, since most indices are among a few of them."""
    dtype = np.min_scalar_type(value).name
    return ScalarConstant(as_scalar_type(dtype), np.asarray(value, dtype=dtype))
