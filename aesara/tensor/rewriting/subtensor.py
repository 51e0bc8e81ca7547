"""Rules about parts of tensors, read and written."""

from __future__ import annotations

import numpy as np

from aesara.graph.nodes import Constant, Variable
from aesara.graph.rewriting.basic import node_rewriter
from aesara.tensor.allocation import Alloc, alloc
from aesara.tensor.casting import cast
from aesara.tensor.elementwise_ops import second
from aesara.tensor.elemwise import Elemwise
from aesara.tensor.indexing import basic_shape, get_constant_idx, get_idx_list
from aesara.tensor.joining import Join
from aesara.tensor.make_vector import MakeVector
from aesara.tensor.rewriting.helpers import common_value, has_value, in_place_of, same_elements
from aesara.tensor.rewriting.registration import (
    register_canonicalize,
    register_specialize,
    register_stabilize,
)
from aesara.tensor.rewriting.registration import register_useless as _register_useless
from aesara.tensor.shape import Shape, Shape_i, SpecifyShape
from aesara.tensor.subtensor_advanced import (
    AdvancedIncSubtensor,
    AdvancedIncSubtensor1,
    AdvancedSubtensor1,
)
from aesara.tensor.subtensor_basic import IncSubtensor, Subtensor

FULL = slice(None)


def register_useless(lopt, *tags, **kwargs):
    """Register a rewriter that removes what does nothing."""
    return _register_useless(lopt, *tags, **kwargs)


# Indices


def index_of(node, values_only=False):
    """The index of a `Subtensor` or `IncSubtensor` node, with integers where they are known."""
    inputs = node.inputs if isinstance(node.op, Subtensor) else node.inputs[1:]
    return get_constant_idx(node.op.idx_list, inputs, allow_partial=True, only_process_constants=values_only)


def symbolic_index_of(node):
    """The index of a `Subtensor` or `IncSubtensor` node as it stands in its inputs."""
    inputs = node.inputs if isinstance(node.op, Subtensor) else node.inputs[1:]
    return get_idx_list(inputs, node.op.idx_list)


def is_full_slice(x):
    """Whether a slice takes everything.

    Examples
    --------
    >>> is_full_slice(slice(None, None, None))
    True
    """
    if isinstance(x, slice):
        return x == FULL or (x.start in (None, 0) and x.stop is None and x.step in (None, 1))
    return False


def is_known(entry) -> bool:
    """Whether all parts of an entry of an index are known integers or None."""
    parts = (entry.start, entry.stop, entry.step) if isinstance(entry, slice) else (entry,)
    return not any(isinstance(part, Variable) for part in parts)


def same_index(first, second_) -> bool:
    """Whether two indices are the same, entry by entry."""
    if len(first) != len(second_):
        return False

    def same(a, b):
        if isinstance(a, Variable) or isinstance(b, Variable):
            return isinstance(a, Variable) and isinstance(b, Variable) and same_elements(a, b)
        return a == b

    for a, b in zip(first, second_):
        if isinstance(a, slice) != isinstance(b, slice):
            return False
        if isinstance(a, slice):
            if not (same(a.start, b.start) and same(a.stop, b.stop) and same(a.step, b.step)):
                return False
        elif not same(a, b):
            return False
    return True


def takes_everything(entry, length_known, x, axis) -> bool:
    """Whether an entry of an index takes a whole dimension as it is."""
    if not isinstance(entry, slice) or entry.step not in (None, 1) or isinstance(entry.step, Variable):
        return False
    if isinstance(entry.start, Variable) or entry.start not in (None, 0):
        return False
    stop = entry.stop
    if stop is None:
        return True
    if isinstance(stop, Variable):
        return _is_length_of(stop, x, axis)
    return length_known is not None and stop >= length_known


def _is_length_of(var, x, axis) -> bool:
    while var.owner is not None and len(var.owner.inputs) == 1 and not isinstance(var.owner.op, Shape_i):
        var = var.owner.inputs[0]
    node = var.owner
    return node is not None and isinstance(node.op, Shape_i) and node.op.i == axis and node.inputs[0] is x


# Reading


@register_useless
@register_canonicalize
@register_stabilize
@register_specialize
@node_rewriter([Subtensor])
def local_useless_slice(fgraph, node):
    """Slices that take everything are left out; if there are only such, so is the operation."""
    x = node.inputs[0]
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
    if not simplified:
        return in_place_of(node.outputs[0], x)
    return in_place_of(node.outputs[0], x[tuple(simplified)])


#: Older name of the same.
local_useless_subtensor = local_useless_slice


def merge_two_slices(fgraph, slice1, len1, slice2, len2):
    """One entry of an index for two, the second applied to what the first gives.

    Parameters
    ----------
    slice1, slice2
        The entries: a slice, and a slice or an integer, of known integers.
    len1, len2
        The lengths before and after the first; used if they are known integers.

    Returns
    -------
    A slice or an integer, or None where one cannot be told.

    Examples
    --------
    >>> merge_two_slices(None, slice(2, None), None, slice(1, 5, 2), None)
    slice(3, 7, 2)
    """
    length = len1 if isinstance(len1, (int, np.integer)) else None
    if is_full_slice(slice1):
        return slice2
    if not (is_known(slice1) and is_known(slice2)):
        return slice1 if is_full_slice(slice2) else None
    if is_full_slice(slice2):
        return slice1
    if length is not None:
        return _merged_in_length(slice1, slice2, int(length))
    start, stop, step = slice1.start or 0, slice1.stop, slice1.step or 1
    if start < 0 or step < 0 or (stop is not None and stop < 0):
        return None
    if not isinstance(slice2, slice):
        position = start + slice2 * step
        inside = slice2 >= 0 and (stop is None or position < stop)
        return position if inside else None
    start2, stop2, step2 = slice2.start or 0, slice2.stop, slice2.step or 1
    if start2 < 0 or step2 < 0 or (stop2 is not None and stop2 < 0):
        return None
    last = stop
    if stop2 is not None:
        last = start + stop2 * step if stop is None else min(stop, start + stop2 * step)
    return slice(start + start2 * step, last, step * step2)


def _merged_in_length(first, second_, length):
    chosen = range(length)[first]
    if not isinstance(second_, slice):
        return chosen[second_] if -len(chosen) <= second_ < len(chosen) else None
    chosen = chosen[second_]
    if not len(chosen):
        return slice(0, 0, None)
    stop = chosen[-1] + (1 if chosen.step > 0 else -1)
    return slice(chosen[0], None if stop < 0 else stop, chosen.step)


@register_canonicalize
@register_specialize
@node_rewriter([Subtensor])
def local_subtensor_merge(fgraph, node):
    """A part of a part as a part."""
    inner = node.inputs[0].owner
    if inner is None or not isinstance(inner.op, Subtensor):
        return False
    x = inner.inputs[0]
    outer_index = list(index_of(node, values_only=True))
    symbolic_outer = list(symbolic_index_of(node))
    inner_index = list(index_of(inner, values_only=True))
    symbolic_inner = list(symbolic_index_of(inner))
    merged = []
    for axis, length in enumerate(x.type.shape):
        if axis >= len(inner_index):
            merged.extend(symbolic_outer)
            break
        entry = inner_index[axis]
        if not isinstance(entry, slice):
            merged.append(symbolic_inner[axis])
            continue
        if not outer_index:
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
    return in_place_of(node.outputs[0], x[tuple(merged)])


@register_canonicalize
@register_specialize
@node_rewriter([Subtensor])
def local_subtensor_make_vector(fgraph, node):
    """Entries of a vector of scalars are these scalars."""
    inner = node.inputs[0].owner
    if inner is None or not isinstance(inner.op, MakeVector) or len(node.op.idx_list) != 1:
        return False
    (entry,) = index_of(node)
    if not is_known(entry):
        return False
    out = node.outputs[0]
    if isinstance(entry, slice):
        return in_place_of(out, inner.op(*inner.inputs[entry]))
    if not -len(inner.inputs) <= entry < len(inner.inputs):
        return False
    return in_place_of(out, cast(inner.inputs[entry], out.type.dtype))


@register_canonicalize("shape_unsafe")
@register_specialize("shape_unsafe")
@node_rewriter([Subtensor])
def local_subtensor_of_alloc(fgraph, node):
    """A part of a repeated number is the number, repeated less often."""
    inner = node.inputs[0].owner
    if inner is None or not isinstance(inner.op, Alloc):
        return False
    value, *lengths = inner.inputs
    if not all(value.type.broadcastable):
        return False
    index = symbolic_index_of(node)
    new_lengths = (*basic_shape(lengths, index), *lengths[len(index) :])
    number = value.dimshuffle() if value.type.ndim else value
    return in_place_of(node.outputs[0], alloc(number, *new_lengths) if new_lengths else number)


@register_canonicalize
@register_specialize
@node_rewriter([Subtensor])
def local_subtensor_shape_constant(fgraph, node):
    """An entry of a shape is the length of a dimension."""
    inner = node.inputs[0].owner
    if inner is None or not isinstance(inner.op, Shape) or len(node.op.idx_list) != 1:
        return False
    (entry,) = index_of(node)
    if isinstance(entry, slice) or not is_known(entry):
        return False
    (x,) = inner.inputs
    ndim = getattr(x.type, "ndim", None)
    if ndim is None or not -ndim <= entry < ndim:
        return False
    return in_place_of(node.outputs[0], Shape_i(entry % ndim)(x))


@register_canonicalize
@register_specialize
@node_rewriter([Subtensor])
def local_subtensor_of_join(fgraph, node):
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
            return in_place_of(node.outputs[0], tensor[tuple(index)])
        start = end
    return False


@register_canonicalize("shape_unsafe")
@node_rewriter([Subtensor])
def local_subtensor_lift(fgraph, node):
    """A part of an elementwise result is the result for parts of the operands."""
    x = node.inputs[0]
    inner = x.owner
    if inner is None or not isinstance(inner.op, Elemwise) or len(inner.outputs) != 1:
        return False
    if len(fgraph.clients[x]) != 1 or inner.op.inplace_pattern:
        return False
    index = symbolic_index_of(node)
    operands = [_part_of_operand(v, x, index) for v in inner.inputs]
    return in_place_of(node.outputs[0], inner.op(*operands))


def _part_of_operand(var, result, index):
    """The part of an operand that goes with a part of the result: broadcast dimensions stay."""
    if not var.type.ndim:
        return var
    entries = []
    for axis, entry in enumerate(index):
        if var.type.shape[axis] == 1 and result.type.shape[axis] != 1:
            entry = FULL if isinstance(entry, slice) else 0
        entries.append(entry)
    while entries and entries[-1] == FULL:
        entries.pop()
    return var[tuple(entries)] if entries else var


@register_canonicalize
@node_rewriter([Subtensor])
def local_subtensor_SpecifyShape_lift(fgraph, node):
    """An element of what has a stated shape is an element of what the shape is stated of."""
    inner = node.inputs[0].owner
    if inner is None or not isinstance(inner.op, SpecifyShape):
        return False
    index = index_of(node)
    if any(isinstance(entry, slice) for entry in index) or len(index) != node.inputs[0].type.ndim:
        return False
    return in_place_of(node.outputs[0], inner.inputs[0][tuple(symbolic_index_of(node))])


# Writing


@register_canonicalize
@register_specialize
@node_rewriter([Subtensor])
def local_subtensor_inc_subtensor(fgraph, node):
    """What was just written is read back."""
    inner = node.inputs[0].owner
    if inner is None or not isinstance(inner.op, IncSubtensor) or not inner.op.set_instead_of_inc:
        return False
    x, y = inner.inputs[:2]
    out = node.outputs[0]
    if not same_index(symbolic_index_of(node), symbolic_index_of(inner)):
        return False
    y = cast(y, out.type.dtype)
    if y.type.ndim == out.type.ndim and y.type.broadcastable == out.type.broadcastable:
        return in_place_of(out, y)
    lengths = basic_lengths(fgraph, x, symbolic_index_of(node))
    return in_place_of(out, alloc(y, *lengths) if lengths else y)


def basic_lengths(fgraph, x, index):
    """The lengths of a part of a tensor."""
    feature = getattr(fgraph, "shape_feature", None)
    if feature is not None:
        sizes = feature.shape_of[x]
    else:
        sizes = [x.shape[i] for i in range(x.type.ndim)]
    return (*basic_shape(sizes, index), *sizes[len(index) :])


@register_canonicalize
@register_specialize
@node_rewriter([IncSubtensor])
def local_useless_inc_subtensor(fgraph, node):
    """Writing everything is what is written; adding it to zeros as well."""
    x, y = node.inputs[:2]
    out = node.outputs[0]
    index = index_of(node)
    if not all(takes_everything(e, x.type.shape[axis], x, axis) for axis, e in enumerate(index)):
        return False
    if not (node.op.set_instead_of_inc or has_value(x, 0)):
        return False
    y = cast(y, out.type.dtype)
    if y.type.ndim == out.type.ndim and y.type.broadcastable == out.type.broadcastable:
        return in_place_of(out, y)
    return in_place_of(out, second(x, y))


@register_canonicalize
@register_stabilize
@register_specialize
@node_rewriter([IncSubtensor, AdvancedIncSubtensor, AdvancedIncSubtensor1])
def local_incsubtensor_of_zeros(fgraph, node):
    """Adding zeros changes nothing."""
    x, y = node.inputs[:2]
    if not node.op.set_instead_of_inc and has_value(y, 0):
        return in_place_of(node.outputs[0], x)
    return False


@register_canonicalize
@register_specialize
@node_rewriter([IncSubtensor])
def local_incsubtensor_of_zeros_to_setsubtensor(fgraph, node):
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
    return in_place_of(node.outputs[0], op(*node.inputs))


@register_canonicalize
@register_specialize
@node_rewriter([IncSubtensor])
def local_setsubtensor_of_constants(fgraph, node):
    """Writing a number where there is only this number changes nothing."""
    if not node.op.set_instead_of_inc:
        return False
    x, y = node.inputs[:2]
    old, new = common_value(x), common_value(y)
    if old is None or new is None or not old == new or np.signbit(old) != np.signbit(new):
        return False
    return in_place_of(node.outputs[0], x)


@register_canonicalize
@register_specialize
@node_rewriter([AdvancedSubtensor1])
def local_useless_AdvancedSubtensor1(fgraph, node):
    """All rows, in their order, are the tensor itself."""
    x, rows = node.inputs
    length = x.type.shape[0]
    if length is None or not isinstance(rows, Constant) or rows.data.shape != (length,):
        return False
    if not np.array_equal(rows.data, np.arange(length)):
        return False
    return in_place_of(node.outputs[0], x)


__all__ = [name for name in dir() if name.startswith("local_")] + [
    "is_full_slice",
    "merge_two_slices",
    "register_useless",
]
