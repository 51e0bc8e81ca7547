"""Rules about shapes: of results, reshapes, and shapes that are specified or checked."""

from __future__ import annotations

from typing import Any

from aesara.configdefaults import config
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.rewriting import databases
from aesara.graph.rewriting.basic import GraphRewriter, rule
from aesara.graph.rewriting.matching import one_of
from aesara.tensor.core.constant_value import known_entries
from aesara.tensor.core.tensor_like import IndexEntry
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.allocation import Alloc
from aesara.tensor.creation.make_vector import MakeVector
from aesara.tensor.elementwise.elemwise import Elemwise
from aesara.tensor.indexing.getitem import getitem
from aesara.tensor.indexing.subtensor_basic import Subtensor
from aesara.tensor.rewriting.constants import topo_constant_folding
from aesara.tensor.rewriting.helpers import has_value, output_of, same_elements
from aesara.tensor.rewriting.indices import FULL, index_of, replacing_part, selects_whole_dimension, symbolic_index_of
from aesara.tensor.rewriting.length_facts import dimension_measured_by
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.rewriting.rows import replacing, row
from aesara.tensor.rewriting.shape_feature import ShapeFeature
from aesara.tensor.shapes.dimshuffle import DimShuffle
from aesara.tensor.shapes.reshape import Reshape
from aesara.tensor.shapes.shape import Shape, Shape_i
from aesara.tensor.shapes.specify_shape import SpecifyShape, Unbroadcast, specify_shape
from aesara.tensor.type_other import NoneConst

rules = Rules()


def _must_be_length_of(fgraph: FunctionGraph, length: Variable, x: Variable, axis: int) -> bool:
    """Return whether a number is the length of a dimension in all calls that raise no error."""
    if isinstance(length, Constant):
        return int(length.data) == x.type.shape[axis]
    feature, measured = getattr(fgraph, "shape_feature", None), dimension_measured_by(length)
    if feature is None or measured is None:
        return False
    return feature.same_shape(x, measured[0], axis, measured[1], with_checks=True)


@rules.canonicalize("shape_unsafe")
@rules.specialize("shape_unsafe")
@replacing_part((Reshape, "x", (MakeVector, "**lengths")), requirements=[ShapeFeature])
def local_reshape_to_checked_shape(fgraph: FunctionGraph, x: Any, lengths: list[Variable], out: Any) -> Variable | None:
    """``reshape(x, y.shape) -> x``, if `x` must have this shape."""
    if len(lengths) != x.type.ndim:
        return None
    unknown = [length for axis, length in enumerate(lengths) if not _must_be_length_of(fgraph, length, x, axis)]
    # One length may be -1, for the remaining elements.
    is_open = len(unknown) == 1 and has_value(unknown[0], -1)
    return x if not unknown or (is_open and not may_leave_length_open(out.owner.inputs[1])) else None


@rules.canonicalize("shape_unsafe")
@rules.specialize("shape_unsafe")
@replacing_part(
    (Alloc, "x", "**lengths"), lambda x, lengths: 0 < len(lengths) == x.type.ndim, requirements=[ShapeFeature]
)
def local_alloc_of_checked_lengths(
    fgraph: FunctionGraph, x: TensorVariable, lengths: list[Variable]
) -> Variable | None:
    """``alloc(x, y.shape[0]) -> x``, if `x` must have these lengths."""
    for axis, (length, known) in enumerate(zip(lengths, x.type.shape)):
        # A dimension that is longer than one is not repeated.
        if known in (None, 1) and not _must_be_length_of(fgraph, length, x, axis):
            return None
    return x


def _has_stops(idx_list: tuple[IndexEntry, ...]) -> bool:
    return any(isinstance(entry, slice) and entry.stop is not None for entry in idx_list)


@rules.canonicalize("shape_unsafe")
@rules.specialize("shape_unsafe")
@replacing_part((one_of(Subtensor, node="read", idx_list=_has_stops), "x", ...), requirements=[ShapeFeature])
def local_slice_to_checked_length(fgraph: FunctionGraph, read: Apply, x: Variable) -> Variable | None:
    """``x[:n] -> x``, if n is a length that `x` must have."""
    index, old = list(symbolic_index_of(read)), symbolic_index_of(read)
    for axis, known in enumerate(index_of(read, values_only=True)):
        if not isinstance(known, slice) or not isinstance(known.stop, Variable):
            continue
        from_start = selects_whole_dimension(slice(known.start, None, known.step), None, x, axis)
        if from_start and _must_be_length_of(fgraph, known.stop, x, axis):
            index[axis] = FULL
    return None if tuple(index) == old else getitem(x, tuple(index))


class ShapeOptimizer(GraphRewriter):
    """Attaches a `ShapeFeature` to a graph."""

    def add_requirements(self, fgraph):
        fgraph.attach_feature(ShapeFeature())

    def apply(self, fgraph):
        """Leave the graph as it is: `add_requirements` attaches the feature."""


class UnShapeOptimizer(GraphRewriter):
    """Removes the `ShapeFeature` of a graph."""

    def apply(self, fgraph):
        fgraph.remove_feature(getattr(fgraph, "shape_feature", None))


# Shapes of results


local_shape_to_shape_i = row(
    "local_shape_to_shape_i",
    (Shape, "x"),
    lambda x, fgraph: fgraph.shape_feature.make_vector_shape(x),
    lambda x, fgraph: hasattr(fgraph, "shape_feature") and hasattr(x.type, "ndim"),
    each=None,
    why="shape(f(x)) -> [n, m], with lengths computed from the inputs of f",
    requirements=[ShapeFeature],
)
rules.add(local_shape_to_shape_i, to=(rules.specialize, rules.canonicalize), tags=("shape_unsafe",))


@rules.canonicalize("shape_unsafe")
@rules.specialize("shape_unsafe")
@replacing(
    (one_of(Shape_i, name="f"), "x"),
    lambda fgraph: hasattr(fgraph, "shape_feature"),
    each=None,
    requirements=[ShapeFeature],
)
def local_track_shape_i(f, x, fgraph):
    """shape(f(x))[i] -> n, computed from the inputs of f."""
    if x.owner is None and x.type.shape[f.i] is None:
        return None
    length = fgraph.shape_feature.get_shape(fgraph, x, f.i)
    node = output_of(length, f)
    return None if node is not None and node.inputs[0] is x else length


def _is_specified(length):
    """Return whether an input of `SpecifyShape` is a length rather than None."""
    return hasattr(length.type, "dtype")


local_Shape_i_ground = row(
    "local_Shape_i_ground",
    (one_of(Shape_i, i="i"), (SpecifyShape, "x", "**lengths")),
    lambda i, x, lengths: lengths[i] if _is_specified(lengths[i]) else Shape_i(i)(x),
    each=None,
    why="shape(specify_shape(x, lengths))[i] -> lengths[i], or shape(x)[i] if that is not specified",
)
local_Shape_of_SpecifyShape = rule(
    "local_Shape_of_SpecifyShape",
    (Shape, (SpecifyShape, "x", "**lengths")),
    (MakeVector("int64"), "**lengths"),
    lambda lengths: all(map(_is_specified, lengths)),
    why="shape(specify_shape(x, lengths)) -> lengths, if all are specified",
)
rules.add(
    local_Shape_i_ground,
    local_Shape_of_SpecifyShape,
    to=(rules.specialize, rules.canonicalize, rules.useless),
    tags=("shape_unsafe",),
)


# Specified shapes

SPECIFIED_TWICE = (SpecifyShape, (SpecifyShape, "x", "**inner"), "**outer")


def _with_last_lengths(x, inner, outer):
    """Return a tensor with the last specification of each length."""
    last = [new if _is_specified(new) else old for old, new in zip(inner, outer)]
    return specify_shape(x, [length if _is_specified(length) else None for length in last])


local_merge_consecutive_specify_shape = rules.group(
    "local_merge_consecutive_specify_shape",
    rule(
        "local_shape_stated_twice",
        SPECIFIED_TWICE,
        _with_last_lengths,
        lambda inner, outer: all(
            same_elements(old, new) for old, new in zip(inner, outer) if _is_specified(old) and _is_specified(new)
        ),
        why="specify_shape(specify_shape(x, n), m) -> specify_shape(x, (n, m)), if they do not contradict each other",
    ),
    rule(
        "local_shape_of_type_stated",
        (SpecifyShape, "x", "**lengths"),
        "x",
        lambda x, lengths: all(
            isinstance(length, Constant) and int(length.data) == known
            for length, known in zip(lengths, x.type.shape)
            if _is_specified(length)
        ),
        why="specify_shape(x, lengths) -> x, if its type has these lengths",
    ),
    to=(rules.canonicalize, rules.useless),
)
rules.by_name(
    rule(
        "local_last_stated_shape",
        SPECIFIED_TWICE,
        _with_last_lengths,
        why="specify_shape(specify_shape(x, n), m) -> specify_shape(x, m), without the check of the first",
    ),
    databases.canonicalize,
    tags=("shape_unsafe",),
)


# Reshapes


def _keeps_shape(x, shape, out):
    """Return whether a reshape leaves the shape of a tensor unchanged."""
    if x.type.ndim != out.type.ndim:
        return False
    if None not in x.type.shape and x.type.shape == out.type.shape:
        return True
    return (x.type.ndim == 1 and has_value(shape, -1)) or _is_shape_of(shape, x)


def _is_shape_of(shape, x):
    """Return whether a vector is the shape of a variable, entry by entry."""
    node = shape.owner
    if node is None:
        return False
    if isinstance(node.op, Shape):
        return node.inputs[0] is x
    if not isinstance(node.op, MakeVector) or len(node.inputs) != x.type.ndim:
        return False
    return all(
        dimension_measured_by(entry) == (x, axis) or (isinstance(entry, Constant) and int(entry.data) == known)
        for axis, (entry, known) in enumerate(zip(node.inputs, x.type.shape))
    )


local_useless_reshape = rule(
    "local_useless_reshape", (Reshape, "x", "shape"), "x", _keeps_shape, why="reshape(x, shape(x)) -> x"
)
rules.add(local_useless_reshape, to=(rules.specialize, rules.stabilize, rules.canonicalize, rules.useless))


def may_leave_length_open(shape):
    """Return whether a length of a new shape may be -1 while another one is 0, which is an error."""
    entries = known_entries(shape)
    if entries is None:
        return True
    vector = output_of(shape, MakeVector)
    lengths = [None] * len(entries) if vector is None else vector.inputs
    may_be_open = [n == -1 or (n is None and not _is_length(entry)) for n, entry in zip(entries, lengths)]
    may_be_zero = [n in (None, 0) for n in entries]
    return any(is_open and any(may_be_zero[:k] + may_be_zero[k + 1 :]) for k, is_open in enumerate(may_be_open))


def _is_length(entry):
    """Return whether a scalar is the length of a dimension, and so not -1."""
    if entry is None or dimension_measured_by(entry) is not None:
        return entry is not None
    part = output_of(entry, Subtensor)
    return part is not None and output_of(part.inputs[0], Shape) is not None


def local_reshape_chain(op):
    """Return the rule ``op(op(x, n), m) -> op(x, m)`` for an op that reshapes."""
    return rule("reshape_chain", (one_of(op, name="f"), (op, "x", "inner"), "shape"), ("f", "x", "shape"))


rules.add(
    rule(
        "local_reshape_of_reshape",
        (one_of(Reshape, name="f"), (Reshape, "x", "inner"), "shape"),
        ("f", "x", "shape"),
        lambda inner: not may_leave_length_open(inner),
        why="reshape(reshape(x, n), m) -> reshape(x, m), unless the first may fail because of lengths -1 and 0",
    ),
    to=(rules.specialize, rules.canonicalize),
    tags=("local_reshape_chain", "shape_unsafe"),
)


@rules.canonicalize
@replacing((Reshape, "x", "shape"), each=None)
def local_reshape_to_dimshuffle(x, shape, out):
    """reshape(x, (1, n, 1)) -> x.dimshuffle("x", 0, "x")"""
    kept = [axis for axis, n in enumerate(x.type.shape) if n != 1]
    positions = [position for position, n in enumerate(out.type.shape) if n != 1]
    if len(kept) != len(positions):
        return None
    for axis, position in zip(kept, positions):
        if x.type.shape[axis] is None or x.type.shape[axis] != out.type.shape[position]:
            if not _specifies_length(shape, position, x, axis, is_alone=len(kept) == 1):
                return None
    order = dict(zip(positions, kept))
    return x.dimshuffle(*[order.get(position, "x") for position in range(out.type.ndim)])


def _specifies_length(shape, position, x, axis, is_alone):
    """Return whether an entry of a shape is the length of an axis, or -1 for the only axis longer than one."""
    if isinstance(shape, Constant):
        return is_alone and bool(shape.data[position] == -1)
    vector = output_of(shape, MakeVector)
    if vector is None:
        return False
    length = vector.inputs[position]
    return dimension_measured_by(length) == (x, axis) or (is_alone and has_value(length, -1))


local_reshape_lift = rule(
    "local_reshape_lift",
    (one_of(Reshape, name="f"), (one_of(Elemwise, name="g"), "x"), "shape"),
    ("g", ("f", "x", "shape")),
    single_client=True,
    why="reshape(g(x), shape) -> g(reshape(x, shape)), for elementwise g",
)
rules.add(local_reshape_lift, to=(rules.stabilize, rules.canonicalize))


def _keeps_order(order, x):
    """Return whether a `DimShuffle` keeps the order of the dimensions that are longer than one."""
    long = [axis for axis in order if axis != "x" and x.type.shape[axis] != 1]
    return long == sorted(long)


local_useless_dimshuffle_in_reshape = rule(
    "local_useless_dimshuffle_in_reshape",
    (one_of(Reshape, name="f"), (one_of(DimShuffle, new_order="order"), "x"), "shape"),
    ("f", "x", "shape"),
    _keeps_order,
    why="reshape(dimshuffle(x), shape) -> reshape(x, shape), if it only moves dimensions of length one",
)
rules.add(local_useless_dimshuffle_in_reshape, to=(rules.specialize, rules.canonicalize))


# Dimensions that must not be broadcast

local_useless_unbroadcast = rule(
    "local_useless_unbroadcast",
    (one_of(Unbroadcast, axes="axes"), "x"),
    "x",
    lambda axes, x: all(x.type.shape[axis] != 1 for axis in axes),
    why="unbroadcast(x, axes) -> x, if no length of these axes is known to be one",
)
rules.add(local_useless_unbroadcast, to=(rules.specialize, rules.canonicalize, rules.useless))
local_unbroadcast_lift = rules.group(
    "local_unbroadcast_lift",
    rule(
        "local_unbroadcast_before_function",
        (one_of(Unbroadcast, name="f"), (one_of(Elemwise, name="g"), "x")),
        ("g", ("f", "x")),
        single_client=True,
        why="unbroadcast(g(x)) -> g(unbroadcast(x)), for elementwise g",
    ),
    rule(
        "local_unbroadcast_twice",
        (one_of(Unbroadcast, axes="outer"), (one_of(Unbroadcast, axes="inner"), "x")),
        lambda outer, inner, x: Unbroadcast(*(axis % x.type.ndim for axis in (*outer, *inner)))(x),
        single_client=True,
        why="unbroadcast(unbroadcast(x, a), b) -> unbroadcast(x, a + b)",
    ),
    to=(rules.specialize, rules.canonicalize),
)


__all__ = [
    "NoneConst",
    "ShapeFeature",
    "ShapeOptimizer",
    "UnShapeOptimizer",
    "config",
    "local_Shape_i_ground",
    "local_Shape_of_SpecifyShape",
    "local_merge_consecutive_specify_shape",
    "local_reshape_chain",
    "local_reshape_lift",
    "local_reshape_to_dimshuffle",
    "local_shape_to_shape_i",
    "local_track_shape_i",
    "local_unbroadcast_lift",
    "local_useless_dimshuffle_in_reshape",
    "local_useless_reshape",
    "local_useless_unbroadcast",
    "topo_constant_folding",
]
