"""Rules about shapes: the shape of a result without the result, reshapes, stated shapes."""

from __future__ import annotations

from aesara.configdefaults import config
from aesara.graph.nodes import Constant
from aesara.graph.rewriting import databases
from aesara.graph.rewriting.basic import GraphRewriter, node_rewriter
from aesara.tensor.core.constant_value import known_entries
from aesara.tensor.creation.make_vector import MakeVector
from aesara.tensor.elementwise.elemwise import Elemwise
from aesara.tensor.indexing.subtensor_basic import Subtensor
from aesara.tensor.rewriting.folding import topo_constant_folding
from aesara.tensor.rewriting.helpers import has_value, in_place_of, same_elements
from aesara.tensor.rewriting.length_facts import dimension_measured_by
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.rewriting.shape_feature import ShapeFeature
from aesara.tensor.shapes.dimshuffle import DimShuffle
from aesara.tensor.shapes.reshape import Reshape
from aesara.tensor.shapes.shape import Shape, Shape_i
from aesara.tensor.shapes.specify_shape import SpecifyShape, Unbroadcast, specify_shape
from aesara.tensor.type_other import NoneConst

rules = Rules()


class ShapeOptimizer(GraphRewriter):
    """Lets a graph keep track of shapes."""

    def add_requirements(self, fgraph):
        fgraph.attach_feature(ShapeFeature())

    def apply(self, fgraph):
        """Nothing more."""


class UnShapeOptimizer(GraphRewriter):
    """Lets a graph forget about shapes."""

    def apply(self, fgraph):
        fgraph.remove_feature(getattr(fgraph, "shape_feature", None))


# The shape of a result without the result


@rules.canonicalize("shape_unsafe")
@rules.specialize("shape_unsafe")
@node_rewriter([Shape], requirements=[ShapeFeature])
def local_shape_to_shape_i(fgraph, node):
    """A shape as a vector of lengths, each from what it depends on."""
    feature = getattr(fgraph, "shape_feature", None)
    if feature is None or not hasattr(node.inputs[0].type, "ndim"):
        return False
    return in_place_of(node.outputs[0], feature.make_vector_shape(node.inputs[0]))


@rules.canonicalize("shape_unsafe")
@rules.specialize("shape_unsafe")
@node_rewriter([Shape_i], requirements=[ShapeFeature])
def local_track_shape_i(fgraph, node):
    """The length of a dimension of a result, from what it depends on."""
    feature = getattr(fgraph, "shape_feature", None)
    (x,) = node.inputs
    if feature is None or (x.owner is None and x.type.shape[node.op.i] is None):
        return False
    length = feature.get_shape(fgraph, x, node.op.i)
    if length is node.outputs[0]:
        return False
    inner = length.owner
    if inner is not None and inner.op == node.op and inner.inputs[0] is x:
        return False
    return in_place_of(node.outputs[0], length)


@rules.useless("shape_unsafe")
@rules.canonicalize("shape_unsafe")
@rules.specialize("shape_unsafe")
@node_rewriter([Shape_i])
def local_Shape_i_ground(fgraph, node):
    """The length of a dimension of a variable that states it."""
    (x,) = node.inputs
    inner = x.owner
    if inner is None or not isinstance(inner.op, SpecifyShape):
        return False
    length = inner.inputs[1 + node.op.i]
    if not hasattr(length.type, "dtype"):
        length = Shape_i(node.op.i)(inner.inputs[0])
    return in_place_of(node.outputs[0], length)


@rules.useless("shape_unsafe")
@rules.canonicalize("shape_unsafe")
@rules.specialize("shape_unsafe")
@node_rewriter([Shape])
def local_Shape_of_SpecifyShape(fgraph, node):
    """The shape of a variable that states it."""
    inner = node.inputs[0].owner
    if inner is None or not isinstance(inner.op, SpecifyShape):
        return False
    lengths = inner.inputs[1:]
    if any(not hasattr(length.type, "dtype") for length in lengths):
        return False
    return in_place_of(node.outputs[0], MakeVector("int64")(*lengths))


# Stated shapes


@rules.useless
@rules.canonicalize
@node_rewriter([SpecifyShape])
def local_merge_consecutive_specify_shape(fgraph, node):
    """Two statements about a shape as one, and none that the type makes already."""
    x, *lengths = node.inputs
    if _states_nothing_new(x, lengths):
        return in_place_of(node.outputs[0], x)
    return _with_last_statements(node, may_differ=False)


@node_rewriter([SpecifyShape])
def local_last_stated_shape(fgraph, node):
    """Of two statements about a length, the last one is enough."""
    return _with_last_statements(node, may_differ=True)


rules.by_name(local_last_stated_shape, databases.canonicalize, tags=("shape_unsafe",))


def _with_last_statements(node, may_differ):
    x, *lengths = node.inputs
    inner = x.owner
    if inner is None or not isinstance(inner.op, SpecifyShape):
        return False
    original, *inner_lengths = inner.inputs
    merged = []
    for outer, known in zip(lengths, inner_lengths):
        if not hasattr(outer.type, "dtype"):
            merged.append(known)
        elif may_differ or not hasattr(known.type, "dtype") or same_elements(outer, known):
            merged.append(outer)
        else:
            return False
    stated = [None if not hasattr(n.type, "dtype") else n for n in merged]
    return in_place_of(node.outputs[0], specify_shape(original, stated))


def _states_nothing_new(x, lengths):
    for known, stated in zip(x.type.shape, lengths):
        if not hasattr(stated.type, "dtype"):
            continue
        if known is None or not isinstance(stated, Constant) or int(stated.data) != known:
            return False
    return True


# Reshapes


@rules.useless
@rules.canonicalize
@rules.stabilize
@rules.specialize
@node_rewriter([Reshape])
def local_useless_reshape(fgraph, node):
    """A reshape to the shape that is there, and of what was reshaped before."""
    x, shape = node.inputs
    out = node.outputs[0]
    if x.type.ndim == 1 and out.type.ndim == 1 and (has_value(shape, -1) or x.type.shape == out.type.shape != (None,)):
        return in_place_of(out, x)
    if x.type.ndim == out.type.ndim and None not in x.type.shape and x.type.shape == out.type.shape:
        return in_place_of(out, x)
    if x.type.ndim == out.type.ndim and _is_shape_of(shape, x):
        return in_place_of(out, x)
    return False


def _is_shape_of(shape, x):
    """Whether a vector is the shape of a variable, entry by entry."""
    node = shape.owner
    if node is None:
        return False
    if isinstance(node.op, Shape):
        return node.inputs[0] is x
    if not isinstance(node.op, MakeVector) or len(node.inputs) != x.type.ndim:
        return False
    for axis, entry in enumerate(node.inputs):
        known = int(entry.data) if isinstance(entry, Constant) else None
        if dimension_measured_by(entry) != (x, axis) and (known is None or known != x.type.shape[axis]):
            return False
    return True


@rules.canonicalize("local_reshape_chain", "shape_unsafe")
@rules.specialize("local_reshape_chain", "shape_unsafe")
@node_rewriter([Reshape])
def local_reshape_of_reshape(fgraph, node):
    """Two reshapes as one, unless the first may fail because -1 stands beside lengths that multiply to 0."""
    x, shape = node.inputs
    inner = x.owner
    if inner is None or not isinstance(inner.op, Reshape) or may_leave_length_open(inner.inputs[1]):
        return False
    return in_place_of(node.outputs[0], node.op(inner.inputs[0], shape))


def may_leave_length_open(shape):
    """Return whether a length of a new shape may be -1 while the others multiply to 0, which is an error."""
    entries = known_entries(shape)
    if entries is None:
        return True
    zero = [k for k, length in enumerate(entries) if length in (None, 0)]
    is_made = shape.owner is not None and isinstance(shape.owner.op, MakeVector)
    given = shape.owner.inputs if is_made else [None] * len(entries)
    for k, length in enumerate(entries):
        may_be_open = length == -1 or (length is None and not _is_length(given[k]))
        if may_be_open and any(other != k for other in zero):
            return True
    return False


def _is_length(entry):
    """Return whether a scalar is the length of a dimension, and so not -1."""
    if entry is None or dimension_measured_by(entry) is not None:
        return entry is not None
    node = entry.owner
    if node is None or not isinstance(node.op, Subtensor) or node.inputs[0].owner is None:
        return False
    return isinstance(node.inputs[0].owner.op, Shape)


def local_reshape_chain(op):
    """A node rewriter that makes one application of two of a reshaping op."""

    @node_rewriter([op])
    def reshape_chain(fgraph, node):
        inner = node.inputs[0].owner
        if inner is None or not isinstance(inner.op, op):
            return False
        return in_place_of(node.outputs[0], node.op(inner.inputs[0], node.inputs[1]))

    return reshape_chain


@rules.canonicalize
@node_rewriter([Reshape])
def local_reshape_to_dimshuffle(fgraph, node):
    """A reshape that only adds or drops dimensions of length one, as a `DimShuffle`."""
    x, shape = node.inputs
    out = node.outputs[0]
    kept = [axis for axis, n in enumerate(x.type.shape) if n != 1]
    places = [place for place, n in enumerate(out.type.shape) if n != 1]
    if len(kept) != len(places):
        return False
    for axis, place in zip(kept, places):
        if x.type.shape[axis] is None or x.type.shape[axis] != out.type.shape[place]:
            if not _asks_for_length(shape, place, x, axis, is_alone=len(kept) == 1):
                return False
    order = dict(zip(places, kept))
    return in_place_of(out, x.dimshuffle(*[order.get(place, "x") for place in range(out.type.ndim)]))


def _asks_for_length(shape, place, x, axis, is_alone):
    """Whether a vector of lengths has at a place the length of a dimension, or, of what is alone, leaves it open."""
    if isinstance(shape, Constant):
        return is_alone and bool(shape.data[place] == -1)
    if shape.owner is None or not isinstance(shape.owner.op, MakeVector):
        return False
    length = shape.owner.inputs[place]
    return dimension_measured_by(length) == (x, axis) or (is_alone and has_value(length, -1))


@rules.canonicalize
@rules.stabilize
@node_rewriter([Reshape])
def local_reshape_lift(fgraph, node):
    """A reshape before a function of one operand rather than after."""
    x, shape = node.inputs
    inner = x.owner
    if inner is None or not isinstance(inner.op, Elemwise) or len(inner.inputs) != 1:
        return False
    if len(inner.outputs) != 1 or len(fgraph.clients[x]) != 1:
        return False
    return in_place_of(node.outputs[0], inner.op(node.op(inner.inputs[0], shape)))


@rules.canonicalize
@rules.specialize
@node_rewriter([Reshape])
def local_useless_dimshuffle_in_reshape(fgraph, node):
    """What is reshaped need not have dimensions of length one added or dropped before."""
    x, shape = node.inputs
    inner = x.owner
    if inner is None or not isinstance(inner.op, DimShuffle):
        return False
    (original,) = inner.inputs
    order = [entry for entry in inner.op.new_order if entry != "x"]
    long = [i for i in order if original.type.shape[i] != 1]
    if long != sorted(long):
        return False
    return in_place_of(node.outputs[0], node.op(original, shape))


# Dimensions that are not to be broadcast


@rules.useless
@rules.canonicalize
@rules.specialize
@node_rewriter([Unbroadcast])
def local_useless_unbroadcast(fgraph, node):
    """A statement that a dimension is not to be broadcast, where it is known not to be."""
    (x,) = node.inputs
    if all(x.type.shape[axis] != 1 for axis in node.op.axes):
        return in_place_of(node.outputs[0], x)
    return False


@rules.canonicalize
@rules.specialize
@node_rewriter([Unbroadcast])
def local_unbroadcast_lift(fgraph, node):
    """A statement that a dimension is not to be broadcast before a function of one operand, and two as one."""
    (x,) = node.inputs
    inner = x.owner
    if inner is None or len(fgraph.clients[x]) != 1:
        return False
    if isinstance(inner.op, Unbroadcast):
        axes = {axis % x.type.ndim for axis in (*node.op.axes, *inner.op.axes)}
        return in_place_of(node.outputs[0], Unbroadcast(*axes)(*inner.inputs))
    if isinstance(inner.op, Elemwise) and len(inner.inputs) == len(inner.outputs) == 1:
        return in_place_of(node.outputs[0], inner.op(node.op(*inner.inputs)))
    return False


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
