"""Removal of what does nothing, and rules about fills, allocations, casts and joins."""

from __future__ import annotations

import numpy as np

from aesara import scalar as aes
from aesara.graph.nodes import Constant
from aesara.graph.rewriting import databases
from aesara.graph.rewriting.basic import node_rewriter
from aesara.tensor.allocation import Alloc, alloc
from aesara.tensor.casting import cast
from aesara.tensor.check_and_raise import Assert, CheckAndRaise
from aesara.tensor.conversion import constant
from aesara.tensor.elementwise_ops import add, and_, eq, identity, mul, or_, second, switch, xor
from aesara.tensor.elemwise import Elemwise
from aesara.tensor.joining import Join, Split
from aesara.tensor.make_vector import MakeVector
from aesara.tensor.rewriting.folding import constant_folding, topo_constant_folding
from aesara.tensor.rewriting.helpers import (
    as_dtype,
    common_value,
    constant_in_place_of,
    has_value,
    in_place_of,
    same_elements,
)
from aesara.tensor.rewriting.registration import (
    register_canonicalize,
    register_specialize,
    register_specialize_device,
    register_stabilize,
    register_uncanonicalize,
    register_useless,
)
from aesara.tensor.scalar_conversion import ScalarFromTensor, TensorFromScalar
from aesara.tensor.shape import Shape_i

fill = second
tensor_copy = identity


# Shapes


def broadcast_like(value, template, fgraph, dtype=None):
    """`value` in the shape of `template`, allocated.

    Parameters
    ----------
    value
        What is broadcast.
    template
        A variable of `fgraph` (or made of its variables).
    fgraph
        The graph; if it keeps track of shapes, what it knows is used.
    dtype
        The dtype of the result; that of `template` by default.
    """
    value = cast(value, dtype or template.type.dtype)
    if template.type.ndim == 0:
        return value
    return alloc(value, *lengths_of(template, fgraph))


def lengths_of(var, fgraph):
    """The lengths of a tensor's dimensions, in the best form that is known."""
    static = var.type.shape
    feature = getattr(fgraph, "shape_feature", None)
    lengths = []
    for i, n in enumerate(static):
        if n is not None:
            lengths.append(constant(np.int64(n)))
        elif feature is not None:
            lengths.append(feature.get_shape(fgraph, var, i))
        else:
            lengths.append(Shape_i(i)(var))
    return lengths


def merge_broadcastables(broadcastables):
    """For each dimension, whether it is broadcastable in all of the patterns."""
    return [all(pattern) for pattern in zip(*broadcastables)]


def encompasses_broadcastable(b1, b2):
    """Whether a tensor of pattern `b2` fits where one of pattern `b1` stands.

    Examples
    --------
    >>> encompasses_broadcastable((False,), (True,)), encompasses_broadcastable((True,), (False,))
    (True, False)
    """
    if len(b1) < len(b2):
        return False
    b1 = b1[-len(b2) :] if b2 else ()
    return not any(v1 and not v2 for v1, v2 in zip(b1, b2))


# Fills


@register_useless
@register_canonicalize("shape_unsafe")
@register_specialize("shape_unsafe")
@node_rewriter([second])
def local_useless_fill(fgraph, node):
    """A fill of what has the shape already."""
    template, value = node.inputs
    out = node.outputs[0]
    if value.type.broadcastable == out.type.broadcastable:
        return in_place_of(out, value, (template,))
    return False


@register_canonicalize("shape_unsafe")
@node_rewriter([Elemwise])
def local_fill_sink(fgraph, node):
    """Elementwise operations on what is filled with, then the fill: it may not be needed."""
    if node.op == second or len(node.outputs) != 1:
        return False
    templates = []
    inputs = []
    for var in node.inputs:
        inner = var.owner
        if inner is not None and inner.op == second and inner.inputs[1].type.dtype == var.type.dtype:
            templates.append(inner.inputs[0])
            inputs.append(inner.inputs[1])
        else:
            inputs.append(var)
    if not templates:
        return False
    return in_place_of(node.outputs[0], node.op(*inputs), templates)


@register_specialize("shape_unsafe")
@register_stabilize("shape_unsafe")
@node_rewriter([second])
def local_fill_to_alloc(fgraph, node):
    """A fill as an allocation: the elements of what gives the shape are not needed."""
    template, value = node.inputs
    out = node.outputs[0]
    if value.type.broadcastable == out.type.broadcastable:
        return in_place_of(out, value, (template,))
    # Of a dimension that the value has, its own length is as good.
    lengths = [
        of_value if value.type.shape[i] != 1 else of_template
        for i, (of_value, of_template) in enumerate(zip(lengths_of(value, fgraph), lengths_of(template, fgraph)))
    ]
    if isinstance(value, Constant) and value.data.size == 1:
        value = constant(value.data.reshape(()))
    return in_place_of(out, alloc(cast(value, out.type.dtype), *lengths))


# Allocations


@register_useless
@register_canonicalize
@register_specialize
@node_rewriter([Alloc])
def local_useless_alloc(fgraph, node):
    """An allocation of what is known to have the shape already."""
    out = node.outputs[0]
    value, *lengths = node.inputs
    if value.type.ndim != out.type.ndim:
        return False
    for i, length in enumerate(lengths):
        if value.type.shape[i] is not None and value.type.shape[i] == out.type.shape[i]:
            continue
        node_of_length = length.owner
        if (
            value.type.shape[i] == 1
            or node_of_length is None
            or not isinstance(node_of_length.op, Shape_i)
            or node_of_length.op.i != i
            or node_of_length.inputs[0] is not value
        ):
            return False
    return in_place_of(out, value)


@register_canonicalize
@node_rewriter([Alloc])
def local_merge_alloc(fgraph, node):
    """An allocation of an allocation, where both agree on the lengths, as one."""
    out = node.outputs[0]
    inner = node.inputs[0].owner
    if inner is None or not isinstance(inner.op, Alloc):
        return False
    lengths = node.inputs[1:]
    offset = len(lengths) - (len(inner.inputs) - 1)
    for i, length in enumerate(inner.inputs[1:]):
        if node.inputs[0].type.shape[i] != 1 and not same_elements(length, lengths[offset + i]):
            return False
    return in_place_of(out, alloc(inner.inputs[0], *lengths))


@register_canonicalize("shape_unsafe")
@register_specialize("shape_unsafe")
@node_rewriter([Elemwise])
def local_elemwise_alloc(fgraph, node):
    """Elementwise operations broadcast by themselves: an operand need not be allocated."""
    if len(node.inputs) < 2 or len(node.outputs) != 1 or node.op == second:
        return False
    if not any(v.owner is not None and isinstance(v.owner.op, Alloc) for v in node.inputs):
        return False
    out = node.outputs[0]
    inputs = list(node.inputs)
    changed = False
    for i, var in enumerate(inputs):
        if var.owner is None or not isinstance(var.owner.op, Alloc):
            continue
        value = var.owner.inputs[0]
        n_new = var.type.ndim - value.type.ndim
        small = value.dimshuffle(*["x"] * n_new, *range(value.type.ndim)) if n_new else value
        others = [v for k, v in enumerate(inputs) if k != i]
        # Every dimension that the allocation lends must be there in another operand.
        if all(
            of_value != 1 or of_alloc == 1 or any(v.type.shape[axis] != 1 for v in others)
            for axis, (of_value, of_alloc) in enumerate(zip(small.type.shape, var.type.shape))
        ):
            inputs[i] = small
            changed = True
    if not changed:
        return False
    return in_place_of(out, node.op(*inputs), node.inputs)


@register_canonicalize
@node_rewriter([Elemwise])
def local_alloc_unary(fgraph, node):
    """A function of a repeated number is the repeated function of the number."""
    if len(node.inputs) != 1 or len(node.outputs) != 1:
        return False
    inner = node.inputs[0].owner
    if inner is None or not isinstance(inner.op, Alloc):
        return False
    value, *lengths = inner.inputs
    return in_place_of(node.outputs[0], alloc(node.op(value), *lengths))


# Elementwise operations that do nothing


@register_useless
@register_canonicalize
@register_specialize
@node_rewriter([add, mul, eq, and_, or_, xor, identity])
def local_useless_elemwise(fgraph, node):
    """Sums and products of one operand, copies, and logic with a constant."""
    out = node.outputs[0]
    inputs = node.inputs
    op = node.op
    if op == identity or (op in (add, mul) and len(inputs) == 1):
        return in_place_of(out, inputs[0])
    if op in (add, mul) or len(inputs) != 2:
        return False
    a, b = inputs
    if op in (and_, or_) and a is b and a.type.dtype == out.type.dtype:
        return in_place_of(out, a)
    if op == xor and a is b:
        return constant_in_place_of(out, 0, inputs)
    if op == eq or out.type.dtype != "bool":
        return False
    for number, other in ((a, b), (b, a)):
        value = common_value(number)
        if value is None:
            continue
        if (op == and_ and value) or (op in (or_, xor) and not value):
            return in_place_of(out, other, inputs)
        if (op == and_ and not value) or (op == or_ and value):
            return constant_in_place_of(out, bool(value), inputs)
    return False


@register_useless
@register_canonicalize
@register_specialize
@node_rewriter([switch])
def local_useless_switch(fgraph, node):
    """A choice that is known, or that makes no difference."""
    out = node.outputs[0]
    condition, left, right = node.inputs
    value = common_value(condition)
    if value is not None:
        return in_place_of(out, left if value else right, node.inputs)
    if same_elements(left, right):
        return in_place_of(out, left, node.inputs)
    return False


@register_canonicalize
@node_rewriter([switch])
def local_merge_switch_same_cond(fgraph, node):
    """A choice inside a choice on the same condition."""
    out = node.outputs[0]
    condition, left, right = node.inputs
    new = [left, right]
    for position, branch in enumerate((left, right)):
        inner = branch.owner
        if inner is not None and inner.op == switch and inner.inputs[0] is condition:
            new[position] = as_dtype(inner.inputs[1 + position], branch.type.dtype)
    if new[0] is left and new[1] is right:
        return False
    return in_place_of(out, switch(condition, *new), node.inputs)


# Casts


def is_an_upcast(type1, type2):
    """Whether every value of dtype `type1` can be held by dtype `type2`.

    Examples
    --------
    >>> is_an_upcast("int8", "float32"), is_an_upcast("int64", "float64")
    (True, False)
    """
    first, second_ = np.dtype(type1), np.dtype(type2)
    if first == second_:
        return True
    # NumPy takes int64 to float64 to be safe, which it is not above 2**53.
    if first.kind in "iu" and second_.kind in "fc":
        digits = np.finfo(second_).nmant + 1
        return first.itemsize * 8 - (first.kind == "i") <= digits
    return bool(np.can_cast(first, second_, "safe"))


@register_useless
@register_canonicalize
@register_specialize
@node_rewriter([(Elemwise, aes.Cast)])
def local_cast_cast(fgraph, node):
    """A cast to the dtype that is there, or of what was cast to a wider dtype first."""
    out = node.outputs[0]
    (x,) = node.inputs
    if x.type.dtype == out.type.dtype:
        return in_place_of(out, x)
    inner = x.owner
    if inner is None or not isinstance(inner.op, Elemwise) or not isinstance(inner.op.scalar_op, aes.Cast):
        return False
    (original,) = inner.inputs
    if "complex" in original.type.dtype and "complex" not in out.type.dtype:
        return False
    if is_an_upcast(original.type.dtype, x.type.dtype):
        return in_place_of(out, cast(original, out.type.dtype))
    return False


@register_useless
@register_canonicalize
@node_rewriter([TensorFromScalar])
def local_tensor_scalar_tensor(fgraph, node):
    """A tensor made a scalar and a tensor again."""
    inner = node.inputs[0].owner
    if inner is not None and isinstance(inner.op, ScalarFromTensor):
        return [inner.inputs[0]]
    return False


@register_useless
@register_canonicalize
@node_rewriter([ScalarFromTensor])
def local_scalar_tensor_scalar(fgraph, node):
    """A scalar made a tensor and a scalar again."""
    inner = node.inputs[0].owner
    if inner is not None and isinstance(inner.op, TensorFromScalar):
        return [inner.inputs[0]]
    return False


# Checks


@register_useless
@register_canonicalize
@register_specialize
@node_rewriter([CheckAndRaise])
def local_remove_useless_assert(fgraph, node):
    """Conditions that are known to hold are not checked."""
    value, *conditions = node.inputs
    kept = []
    for condition in conditions:
        known = common_value(condition)
        if known is None or not known:
            kept.append(condition)
    if len(kept) == len(conditions):
        return False
    if not kept:
        return [value]
    return [node.op(value, *kept)]


@node_rewriter([Assert])
def local_remove_all_assert(fgraph, node):
    """All assertions are left out: only where the user asks for it by its tag."""
    return [node.inputs[0]]


databases.canonicalize.register("local_remove_all_assert", local_remove_all_assert, "unsafe", use_db_name_as_tag=False)


# Joins and splits


@register_useless
@register_canonicalize
@register_specialize
@node_rewriter([Join])
def local_join_1(fgraph, node):
    """A join of one tensor."""
    if len(node.inputs) == 2 and isinstance(node.inputs[0], Constant):
        return in_place_of(node.outputs[0], node.inputs[1])
    return False


@register_canonicalize
@node_rewriter([Join])
def local_join_empty(fgraph, node):
    """Constant tensors without elements are left out of a join."""
    axis = common_value(node.inputs[0])
    if axis is None:
        return False
    tensors = node.inputs[1:]
    out = node.outputs[0]
    kept = [v for v in tensors if v.type.shape[int(axis)] != 0]
    if len(kept) == len(tensors) or not kept:
        return False
    if len(kept) == 1:
        return in_place_of(out, kept[0])
    return in_place_of(out, node.op(node.inputs[0], *kept))


@register_canonicalize
@register_specialize
@node_rewriter([Join])
def local_join_make_vector(fgraph, node):
    """Vectors of scalars that stand side by side in a join, as one."""
    if node.outputs[0].type.ndim != 1 or not has_value(node.inputs[0], 0):
        return False
    merged = []
    for var in node.inputs[1:]:
        last = merged[-1].owner if merged else None
        this = var.owner
        if (
            last is not None
            and this is not None
            and isinstance(last.op, MakeVector)
            and isinstance(this.op, MakeVector)
            and last.op == this.op
        ):
            merged[-1] = this.op(*last.inputs, *this.inputs)
        else:
            merged.append(var)
    if len(merged) == len(node.inputs) - 1:
        return False
    out = node.outputs[0]
    return in_place_of(out, merged[0] if len(merged) == 1 else node.op(node.inputs[0], *merged))


@register_useless
@register_canonicalize
@node_rewriter([Split])
def local_useless_split(fgraph, node):
    """A split into one piece."""
    if node.op.len_splits != 1:
        return False
    x, _axis, _splits = node.inputs
    return in_place_of(node.outputs[0], x)


#: Older name: copies are removed together with other operations that do nothing.
local_view_op = local_useless_elemwise


__all__ = [
    "broadcast_like",
    "constant_folding",
    "encompasses_broadcastable",
    "fill",
    "is_an_upcast",
    "merge_broadcastables",
    "register_canonicalize",
    "register_specialize",
    "register_specialize_device",
    "register_stabilize",
    "register_uncanonicalize",
    "register_useless",
    "topo_constant_folding",
]
