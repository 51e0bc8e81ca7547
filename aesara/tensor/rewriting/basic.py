"""Removal of what does nothing, and rules about choices, casts, joins and what sorting gives."""

from __future__ import annotations

import numpy as np

from aesara import scalar as aes
from aesara.graph.nodes import Constant
from aesara.graph.rewriting import databases
from aesara.graph.rewriting.basic import node_rewriter
from aesara.graph.rewriting.older_names import older_names
from aesara.tensor.core.casting import cast
from aesara.tensor.core.check_and_raise import Assert, CheckAndRaise, assert_op
from aesara.tensor.core.scalar_conversion import ScalarFromTensor, TensorFromScalar
from aesara.tensor.creation.allocation import alloc
from aesara.tensor.creation.make_vector import MakeVector
from aesara.tensor.elementwise.elemwise import Elemwise
from aesara.tensor.elementwise.ops import add, and_, eq, identity, mul, or_, second, switch, xor
from aesara.tensor.joining.join_split import Join, Split
from aesara.tensor.ordering.sorting import TopKOp
from aesara.tensor.rewriting import shape_feature as _shape_feature
from aesara.tensor.rewriting.allocations import (
    broadcast_like,
    encompasses_broadcastable,
    local_alloc_sink_dimshuffle,
    local_alloc_unary,
    local_elemwise_alloc,
    local_fill_sink,
    local_fill_to_alloc,
    local_merge_alloc,
    local_useless_alloc,
    local_useless_fill,
    merge_broadcastables,
)
from aesara.tensor.rewriting.empty import local_alloc_empty_to_zeros
from aesara.tensor.rewriting.folding import constant_folding, topo_constant_folding
from aesara.tensor.rewriting.helpers import (
    as_dtype,
    common_value,
    constant_in_place_of,
    fits_within,
    has_value,
    in_place_of,
    same_elements,
)
from aesara.tensor.rewriting.registration import (
    Rules,
    register_canonicalize,
    register_specialize,
    register_specialize_device,
    register_stabilize,
    register_uncanonicalize,
    register_useless,
)
from aesara.tensor.rewriting.shape_feature import import_ShapeFeature
from aesara.tensor.rewriting.views import local_view_op

rules = Rules()

fill = second
tensor_copy = identity


# Elementwise operations that do nothing

SUM_OR_PRODUCT = frozenset((add, mul))


@rules.useless
@rules.canonicalize
@rules.specialize
@node_rewriter([add, mul, and_, or_, xor, identity])
def local_useless_elemwise(fgraph, node):
    """Sums and products of one operand, copies, and logic, of bits too, that makes no difference."""
    out, inputs, op = node.outputs[0], node.inputs, node.op
    if len(inputs) == 1:
        return in_place_of(out, inputs[0]) if op in (identity, add, mul) else False
    if len(inputs) != 2 or op in SUM_OR_PRODUCT:
        return False
    a, b = inputs
    if op in (and_, or_) and a is b and a.type.dtype == out.type.dtype:
        return in_place_of(out, a)
    for number, other in ((a, b), (b, a)):
        if _has_bits(number, op == and_, out.type.dtype) and fits_within(number, other):
            return in_place_of(out, other, inputs)
    return False


def _has_bits(var, ones, dtype):
    """Whether all bits of a variable, converted to a dtype of integers or booleans, are known to be one, or zero."""
    value = common_value(var)
    if value is None:
        return False
    return bool(np.asarray(value).astype(dtype) == (~np.zeros((), dtype) if ones else 0))


@rules.useless("shape_unsafe")
@rules.canonicalize("shape_unsafe")
@rules.specialize("shape_unsafe")
@node_rewriter([and_, or_, xor])
def local_known_logic(fgraph, node):
    """Logic whose result is known, whatever one operand, or both, may be."""
    out, inputs = node.outputs[0], node.inputs
    if len(inputs) != 2:
        return False
    if node.op == xor:
        return constant_in_place_of(out, 0, inputs) if inputs[0] is inputs[1] else False
    ones = node.op == or_
    if any(_has_bits(x, ones, out.type.dtype) for x in inputs):
        return constant_in_place_of(out, ~np.zeros((), out.type.dtype) if ones else 0, inputs)
    return False


@rules.useless("local_remove_switch_const_cond", "shape_unsafe")
@rules.canonicalize("local_remove_switch_const_cond", "shape_unsafe")
@rules.specialize("shape_unsafe")
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


#: Operations on results of choices that are done with what is chosen from.
_ON_CHOICES: tuple[type, ...] = (
    aes.Add,
    aes.Sub,
    aes.Mul,
    aes.TrueDivide,
    aes.FloorDivide,
    aes.Pow,
    aes.ScalarMinimum,
    aes.ScalarMaximum,
    aes.GT,
    aes.LT,
    aes.GE,
    aes.LE,
    aes.EQ,
    aes.NEQ,
    aes.AND,
    aes.OR,
    aes.XOR,
)


@rules.canonicalize("shape_unsafe")
@node_rewriter([switch, *((Elemwise, op) for op in _ON_CHOICES)], operands=[switch])
def local_merge_switch_same_cond(fgraph, node):
    """A choice inside a choice, or an operation on choices, on the same condition."""
    return _nested_choices(node) if node.op == switch else _operation_on_choices(fgraph, node)


def _nested_choices(node):
    """One choice in the place of a choice between choices."""
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


def _operation_on_choices(fgraph, node):
    """One choice between two results in the place of an operation on choices that nothing else needs."""
    choices = [var.owner for var in node.inputs]
    if len(choices) < 2 or any(choice is None or choice.op != switch for choice in choices):
        return False
    condition = choices[0].inputs[0]
    if any(choice.inputs[0] is not condition for choice in choices):
        return False
    if any(client is not node for var in node.inputs for client, _ in fgraph.clients.get(var, ())):
        return False
    sides = [
        node.op(*[as_dtype(choice.inputs[side], choice.outputs[0].type.dtype) for choice in choices]) for side in (1, 2)
    ]
    return in_place_of(node.outputs[0], switch(condition, *sides), node.inputs)


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


@rules.useless
@rules.canonicalize
@rules.specialize
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


@rules.useless
@rules.canonicalize
@rules.specialize
@node_rewriter([TensorFromScalar])
def local_tensor_scalar_tensor(fgraph, node):
    """A tensor made a scalar and a tensor again."""
    inner = node.inputs[0].owner
    if inner is not None and isinstance(inner.op, ScalarFromTensor):
        return [inner.inputs[0]]
    return False


@rules.useless
@rules.canonicalize
@rules.specialize
@node_rewriter([ScalarFromTensor])
def local_scalar_tensor_scalar(fgraph, node):
    """A scalar made a tensor and a scalar again."""
    inner = node.inputs[0].owner
    if inner is not None and isinstance(inner.op, TensorFromScalar):
        return [inner.inputs[0]]
    return False


# Checks


@rules.useless
@rules.canonicalize
@rules.specialize
@node_rewriter([CheckAndRaise])
def local_remove_useless_assert(fgraph, node):
    """Conditions that are known to hold are not checked."""
    conditions = node.op.conditions(node.inputs)
    value, *others = node.inputs
    kept = []
    for condition in conditions:
        known = common_value(condition)
        if known is None or not known:
            kept.append(condition)
    if len(kept) == len(conditions):
        return False
    if not kept:
        return [value]
    return [node.op(value, *kept, *others[len(conditions) :])]


@node_rewriter([Assert])
def local_remove_all_assert(fgraph, node):
    """All assertions are left out: only where the user asks for it by its tag."""
    return [node.inputs[0]]


for _database in (databases.canonicalize, databases.stabilize, databases.specialize):
    rules.into(_database, local_remove_all_assert, "unsafe", use_db_name_as_tag=False)


# Joins and splits


@rules.useless
@rules.canonicalize
@rules.specialize
@node_rewriter([Join])
def local_join_1(fgraph, node):
    """A join of one tensor."""
    if len(node.inputs) == 2 and isinstance(node.inputs[0], Constant):
        return in_place_of(node.outputs[0], node.inputs[1])
    return False


@rules.useless("shape_unsafe")
@rules.canonicalize("shape_unsafe")
@rules.specialize("shape_unsafe")
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


@rules.useless
@rules.canonicalize
@rules.specialize
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


@rules.useless("shape_unsafe")
@rules.canonicalize("shape_unsafe")
@rules.specialize("shape_unsafe")
@node_rewriter([Split])
def local_useless_split(fgraph, node):
    """A split into one piece."""
    if node.op.len_splits != 1:
        return False
    x, _axis, _splits = node.inputs
    return in_place_of(node.outputs[0], x)


# Sorting


@rules.useless("fast_compile")
@node_rewriter([TopKOp])
def local_useless_topk(fgraph, node):
    """Of the largest elements and their positions only what is used."""
    op = node.op
    if not (op.return_values and op.return_indices):
        return False
    used = [bool(fgraph.clients[out]) for out in node.outputs]
    if all(used) or not any(used):
        return False
    kept = TopKOp(op.axis, op.sorted, op.idx_dtype, return_values=used[0], return_indices=used[1])
    new = in_place_of(node.outputs[used.index(True)], kept(*node.inputs))
    return {node.outputs[used.index(True)]: new[0]} if new else False


#: What stood here in older versions.
_MOVED = {"ShapeFeature": "aesara.tensor.rewriting.shape.ShapeFeature"}
__getattr__ = older_names(
    {"__name__": __name__, **{new: getattr(_shape_feature, old) for old, new in _MOVED.items()}}, _MOVED
)

__all__ = [
    "alloc",
    "assert_op",
    "broadcast_like",
    "constant_folding",
    "encompasses_broadcastable",
    "eq",
    "fill",
    "import_ShapeFeature",
    "is_an_upcast",
    "local_alloc_empty_to_zeros",
    "local_alloc_sink_dimshuffle",
    "local_alloc_unary",
    "local_elemwise_alloc",
    "local_fill_sink",
    "local_fill_to_alloc",
    "local_merge_alloc",
    "local_useless_alloc",
    "local_useless_fill",
    "local_view_op",
    "merge_broadcastables",
    "register_canonicalize",
    "register_specialize",
    "register_specialize_device",
    "register_stabilize",
    "register_uncanonicalize",
    "register_useless",
    "topo_constant_folding",
]
