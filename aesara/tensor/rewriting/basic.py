"""Removal of operations without effect, and rules about choices, casts, joins, batches and sorting."""

from __future__ import annotations

import numpy as np

from aesara import scalar as aes
from aesara.graph.nodes import Constant, Variable
from aesara.graph.rewriting import databases
from aesara.graph.rewriting.basic import node_rewriter
from aesara.graph.rewriting.matching import one_of
from aesara.graph.rewriting.older_names import older_names
from aesara.graph.rewriting.pattern import rule
from aesara.graph.vectorization import vectorize_node
from aesara.graph.view import ViewOp
from aesara.tensor.core.casting import cast
from aesara.tensor.core.check_and_raise import Assert, CheckAndRaise, assert_op
from aesara.tensor.core.constant_value import known_integer
from aesara.tensor.core.scalar_conversion import ScalarFromTensor, TensorFromScalar
from aesara.tensor.creation.allocation import alloc
from aesara.tensor.creation.eye_tri import Eye
from aesara.tensor.creation.make_vector import MakeVector
from aesara.tensor.derivatives.gradient_operators import (
    ConsiderConstant,
    DisconnectedGrad,
    GradClip,
    GradScale,
    UndefinedGrad,
    ZeroGrad,
)
from aesara.tensor.elementwise.elemwise import Elemwise
from aesara.tensor.elementwise.ops import add, and_, eq, identity, mul, or_, second, switch, xor
from aesara.tensor.joining.join_split import Join, Split
from aesara.tensor.ordering.sorting import TopKOp
from aesara.tensor.products.dot import Dot
from aesara.tensor.rewriting import shape_feature as _shape_feature
from aesara.tensor.rewriting.constants import (
    broadcast_like,
    constant_folding,
    encompasses_broadcastable,
    local_alloc_empty_to_zeros,
    local_alloc_sink_dimshuffle,
    local_alloc_unary,
    local_elemwise_alloc,
    local_fill_sink,
    local_fill_to_alloc,
    local_merge_alloc,
    local_useless_alloc,
    local_useless_fill,
    merge_broadcastables,
    topo_constant_folding,
)
from aesara.tensor.rewriting.helpers import (
    as_dtype,
    common_value,
    constant_like,
    fits_within,
    in_place_of,
    is_elemwise,
    output_of,
    outputs_in_place_of,
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
from aesara.tensor.rewriting.rows import number, replacing, row
from aesara.tensor.rewriting.shape_feature import import_ShapeFeature
from aesara.tensor.shapes.specify_shape import specify_shape
from aesara.tensor.vectorization.blockwise import Blockwise
from aesara.tensor.vectorization.fallback import vectorize_by_blockwise

rules = Rules()

_IDENTITIES = (ViewOp, ConsiderConstant, DisconnectedGrad, GradClip, GradScale, UndefinedGrad, ZeroGrad)

local_view_op = rule(
    "local_view_op",
    (one_of(*_IDENTITIES, name="f"), "x"),
    "x",
    lambda f: type(f) in _IDENTITIES,  # not subclasses, which users may define with other behaviour
    why="zero_grad(x) -> x: the gradients have been taken",
)
rules.canonicalize(local_view_op)
rules.useless(local_view_op, "fast_compile")


EVERYWHERE = (rules.specialize, rules.canonicalize, rules.useless)

fill = second
tensor_copy = identity


# Elementwise operations without effect


def _has_bits(var, ones, dtype):
    """Return whether all bits of a variable in an integer or boolean dtype are known to be `ones`."""
    value = common_value(var)
    return value is not None and bool(np.asarray(value).astype(dtype) == (~np.zeros((), dtype) if ones else 0))


local_useless_elemwise = rules.group(
    "local_useless_elemwise",
    row("local_useless_copy", (one_of(add, mul, identity), "x"), "x", each=None, why="add(x) -> x, identity(x) -> x"),
    row(
        "local_useless_logic_of_same",
        (one_of(and_, or_), "x", "x"),
        "x",
        lambda x, out: x.type.dtype == out.type.dtype,
        each=None,
        why="x & x -> x, x | x -> x",
    ),
    row(
        "local_useless_logic",
        (one_of(and_, or_, xor, name="f"), number("bits"), "x"),
        "x",
        lambda f, bits, x, out: _has_bits(bits, f == and_, out.type.dtype) and fits_within(bits, x),
        each=None,
        why="x & True -> x, x | False -> x, xor(x, False) -> x, and so for the bits of integers",
    ),
    to=EVERYWHERE,
)
local_known_logic = rules.group(
    "local_known_logic",
    row(
        "local_logic_with_known_bits",
        (one_of(and_, or_, name="f"), number("bits"), "x"),
        lambda f, bits, out: constant_like(common_value(bits), out),
        lambda f, bits, out: _has_bits(bits, f == or_, out.type.dtype),
        each=None,
        why="x & False -> False, x | True -> True, and so for the bits of integers",
    ),
    row("local_xor_of_same", (xor, "x", "x"), lambda out: constant_like(0, out), each=None, why="xor(x, x) -> 0"),
    to=EVERYWHERE,
    tags=("shape_unsafe",),
)
USELESS_SWITCH = (
    row(
        "local_switch_on_known",
        (switch, number("condition"), "x", "y"),
        lambda condition, x, y: x if common_value(condition) else y,
        each=None,
        why="switch(True, x, y) -> x, switch(False, x, y) -> y",
    ),
    row("local_switch_of_same", (switch, "condition", "x", "x"), "x", each=None, why="switch(c, x, x) -> x"),
)
rules.add(*USELESS_SWITCH, to=(rules.specialize,), tags=("local_useless_switch", "shape_unsafe"))
local_useless_switch = rules.group(
    "local_useless_switch",
    *USELESS_SWITCH,
    to=(rules.canonicalize, rules.useless),
    tags=("local_remove_switch_const_cond", "shape_unsafe"),
)


#: Operations on choices that are moved into the branches.
_ARITHMETIC = (aes.Add, aes.Sub, aes.Mul, aes.TrueDivide, aes.FloorDivide, aes.Pow)
_COMPARISONS = (aes.ScalarMinimum, aes.ScalarMaximum, aes.GT, aes.LT, aes.GE, aes.LE, aes.EQ, aes.NEQ)
_ON_CHOICES = [(Elemwise, op) for op in (*_ARITHMETIC, *_COMPARISONS, aes.AND, aes.OR, aes.XOR)]


@rules.canonicalize("shape_unsafe")
@node_rewriter([switch, *_ON_CHOICES], operands=[switch])
def local_merge_switch_same_cond(fgraph, node):
    """switch(c, x, y) + switch(c, z, w) -> switch(c, x + z, y + w); switch(c, switch(c, x, y), z) -> switch(c, x, z).

    A function, for operations of any number of operands.
    """
    return _nested_choices(node) if node.op == switch else _operation_on_choices(fgraph, node)


def _nested_choices(node):
    """``switch(c, switch(c, x, y), z) -> switch(c, x, z)``"""
    condition, *branches = node.inputs
    new = list(branches)
    for side, branch in enumerate(branches):
        inner = output_of(branch, switch)
        if inner is not None and inner.inputs[0] is condition:
            new[side] = as_dtype(inner.inputs[1 + side], branch.type.dtype)
    return False if new == branches else in_place_of(node.outputs[0], switch(condition, *new), node.inputs)


def _operation_on_choices(fgraph, node):
    """``switch(c, x, y) + switch(c, z, w) -> switch(c, x + z, y + w)`` for choices without other clients"""
    choices = [output_of(var, switch) for var in node.inputs]
    if len(choices) < 2 or None in choices or len({choice.inputs[0] for choice in choices}) > 1:
        return False
    if any(client is not node for var in node.inputs for client, _ in fgraph.clients.get(var, ())):
        return False
    sides = [
        node.op(*[as_dtype(choice.inputs[side], choice.outputs[0].type.dtype) for choice in choices]) for side in (1, 2)
    ]
    return in_place_of(node.outputs[0], switch(choices[0].inputs[0], *sides), node.inputs)


# Casts


def is_an_upcast(type1, type2):
    """Return whether every value of dtype `type1` can be held by dtype `type2`.

    Examples
    --------
    >>> is_an_upcast("int8", "float32"), is_an_upcast("int64", "float64")
    (True, False)
    """
    first, second_ = np.dtype(type1), np.dtype(type2)
    if first == second_:
        return True
    # NumPy considers int64 to float64 safe, which it is not above 2**53.
    if first.kind in "iu" and second_.kind in "fc":
        digits = np.finfo(second_).nmant + 1
        return first.itemsize * 8 - (first.kind == "i") <= digits
    return bool(np.can_cast(first, second_, "safe"))


@rules.useless
@rules.canonicalize
@rules.specialize
@node_rewriter([(Elemwise, aes.Cast)])
def local_cast_cast(fgraph, node):
    """cast(x) -> x if `x` has the dtype, and cast(cast(x)) -> cast(x) if the first is exact.

    A function: it visits every cast, and both conditions are about dtypes only.
    """
    out = node.outputs[0]
    (x,) = node.inputs
    if x.type.dtype == out.type.dtype:
        return in_place_of(out, x)
    if not is_elemwise(x.owner, aes.Cast):
        return False
    (original,) = x.owner.inputs
    is_refused = "complex" in original.type.dtype and "complex" not in out.type.dtype
    if is_refused or not is_an_upcast(original.type.dtype, x.type.dtype):
        return False
    return in_place_of(out, cast(original, out.type.dtype))


local_tensor_scalar_tensor = rule(
    "local_tensor_scalar_tensor",
    (TensorFromScalar, (ScalarFromTensor, "x")),
    "x",
    why="tensor_from_scalar(scalar_from_tensor(x)) -> x",
)
local_scalar_tensor_scalar = rule(
    "local_scalar_tensor_scalar",
    (ScalarFromTensor, (TensorFromScalar, "x")),
    "x",
    why="scalar_from_tensor(tensor_from_scalar(x)) -> x",
)
rules.add(local_tensor_scalar_tensor, local_scalar_tensor_scalar, to=EVERYWHERE)


# Checks


@rules.useless
@rules.canonicalize
@rules.specialize
@node_rewriter([CheckAndRaise])
def local_remove_useless_assert(fgraph, node):
    """assert(x, True, c) -> assert(x, c). A function, since the op selects the inputs that are conditions."""
    conditions = node.op.conditions(node.inputs)
    value, *others = node.inputs
    kept = [condition for condition in conditions if not common_value(condition)]
    if len(kept) == len(conditions):
        return False
    return [node.op(value, *kept, *others[len(conditions) :])] if kept else [value]


local_remove_all_assert = rule(
    "local_remove_all_assert",
    (Assert, "x", ...),
    "x",
    why="assert(x, c) -> x, only if the mode includes its tag",
)
for _database in (databases.canonicalize, databases.stabilize, databases.specialize):
    rules.into(_database, local_remove_all_assert, "unsafe", use_db_name_as_tag=False)


# Joins and splits


local_join_1 = rule(
    "local_join_1", (Join, "axis", "x"), "x", lambda axis: isinstance(axis, Constant), why="join(0, x) -> x"
)
rules.add(local_join_1, to=EVERYWHERE)


@rules.useless("shape_unsafe")
@rules.canonicalize("shape_unsafe")
@rules.specialize("shape_unsafe")
@replacing((one_of(Join, name="join"), number("axis"), "**tensors"), each=None)
def local_join_empty(join, axis, tensors):
    """join(0, x, []) -> x, for constant tensors without elements."""
    kept = [v for v in tensors if v.type.shape[int(common_value(axis))] != 0]
    if not kept or len(kept) == len(tensors):
        return None
    return kept[0] if len(kept) == 1 else join(axis, *kept)


@rules.useless
@rules.canonicalize
@rules.specialize
@replacing((one_of(Join, name="join"), number("axis", 0), "**tensors"), lambda out: out.type.ndim == 1, each=None)
def local_join_make_vector(join, axis, tensors):
    """join(0, [x], [y, z]) -> [x, y, z], for vectors made of scalars."""
    merged = []
    for var in tensors:
        last = merged[-1].owner if merged else None
        this = var.owner
        if last is not None and this is not None and isinstance(last.op, MakeVector) and last.op == this.op:
            merged[-1] = this.op(*last.inputs, *this.inputs)
        else:
            merged.append(var)
    if len(merged) == len(tensors):
        return None
    return merged[0] if len(merged) == 1 else join(axis, *merged)


local_useless_split = rule(
    "local_useless_split", (one_of(Split, len_splits=1), "x", "axis", "sizes"), "x", why="split(x, axis, [n]) -> x"
)
rules.add(local_useless_split, to=EVERYWHERE, tags=("shape_unsafe",))


# Sorting


@rules.useless("fast_compile")
@node_rewriter([TopKOp])
def local_useless_topk(fgraph, node):
    """topk_and_argtopk(x, k)[0] -> topk(x, k) if the other output is unused. A function: the op has two outputs."""
    op = node.op
    if not (op.return_values and op.return_indices):
        return False
    used = [bool(fgraph.clients[out]) for out in node.outputs]
    if all(used) or not any(used):
        return False
    kept = TopKOp(op.axis, op.sorted, op.idx_dtype, return_values=used[0], return_indices=used[1])
    new = in_place_of(node.outputs[used.index(True)], kept(*node.inputs))
    return {node.outputs[used.index(True)]: new[0]} if new else False


#: Names that this module had in older versions.
_MOVED = {"ShapeFeature": "aesara.tensor.rewriting.shape.ShapeFeature"}
__getattr__ = older_names(
    {"__name__": __name__, **{new: getattr(_shape_feature, old) for old, new in _MOVED.items()}}, _MOVED
)


#: Constants with more rows are not compared with the identity.
LARGEST_IDENTITY = 1024


@rules.canonicalize
@node_rewriter([Blockwise])
def local_blockwise_of_rule(fgraph, node):
    """blockwise(f)(x) -> f of the whole batch, by the rule that vectorizes f. A function, since that rule decides."""
    op = node.op
    if vectorize_node.dispatch(type(op.core_op)) is vectorize_by_blockwise:
        if any(x.type.ndim > len(dims) for x, dims in zip(node.inputs, op.inputs_signature)):
            return False
        return list(op.core_op.make_node(*node.inputs).outputs)
    core = op.core_node(node.inputs)
    result = vectorize_node(op.core_op, core, *node.inputs)
    outputs = list(getattr(result, "outputs", result))
    if any(out.owner is not None and isinstance(out.owner.op, Blockwise) for out in outputs):
        return False
    return outputs_in_place_of(node, outputs)


@rules.canonicalize
@node_rewriter([Dot], operands=[Constant, Eye])
def local_dot_of_identity(fgraph, node):
    """dot(eye(n), x) -> specify_shape(x, n), and from the right. A function: it reads constant matrices once."""
    for matrix, other, axis in ((*node.inputs, 0), (*reversed(node.inputs), -1)):
        length = _length_of_identity(matrix)
        if length is not None:
            sizes: list[Variable | None] = [None] * other.type.ndim
            sizes[axis] = length
            return in_place_of(node.outputs[0], specify_shape(other, sizes))
    return False


def _length_of_identity(matrix: Variable) -> Variable | int | None:
    """Return the order of a matrix that is known to be an identity matrix; None for others."""
    if isinstance(matrix, Constant):
        data = matrix.data
        if data.ndim != 2 or data.shape[0] != data.shape[1] or not 0 < len(data) <= LARGEST_IDENTITY:
            return None
        # The first row suffices to exclude most matrices.
        is_identity = data[0, 0] == 1 and not data[0, 1:].any() and np.array_equal(data, np.eye(len(data)))
        return len(data) if is_identity else None
    node = output_of(matrix, Eye)
    if node is None or known_integer(node.inputs[2]) != 0:
        return None
    rows, columns, _ = node.inputs
    known = known_integer(rows)
    is_square = rows is columns or (known is not None and known == known_integer(columns))
    return None if not is_square else rows if known is None else known


__all__ = [
    "LARGEST_IDENTITY",
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
    "local_blockwise_of_rule",
    "local_dot_of_identity",
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
