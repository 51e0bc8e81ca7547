"""Rules about shapes that must be right, since the graph would raise an error otherwise."""

from __future__ import annotations

from typing import Any

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.rewriting.basic import node_rewriter
from aesara.tensor.creation.allocation import Alloc
from aesara.tensor.creation.make_vector import MakeVector
from aesara.tensor.indexing.getitem import getitem
from aesara.tensor.indexing.subtensor_basic import Subtensor
from aesara.tensor.rewriting.helpers import has_value, in_place_of
from aesara.tensor.rewriting.indices import FULL, index_of, symbolic_index_of, takes_everything
from aesara.tensor.rewriting.length_facts import dimension_measured_by
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.rewriting.shape import may_leave_length_open
from aesara.tensor.rewriting.shape_feature import ShapeFeature
from aesara.tensor.shapes.reshape import Reshape

rules = Rules()


@rules.canonicalize("shape_unsafe")
@rules.specialize("shape_unsafe")
@node_rewriter([Reshape], requirements=[ShapeFeature])
def local_reshape_to_checked_shape(fgraph: FunctionGraph, node: Apply) -> Any:
    """A reshape to the shape of another tensor, to which the tensor is known to be equal in shape."""
    x, shape = node.inputs
    inner = shape.owner
    if inner is None or not isinstance(inner.op, MakeVector) or len(inner.inputs) != x.type.ndim:
        return False
    lengths = enumerate(inner.inputs)
    # One length may be left to be found out.
    wrong = [length for axis, length in lengths if not _must_be_length_of(fgraph, length, x, axis)]
    if len(wrong) > 1 or not all(has_value(length, -1) for length in wrong):
        return False
    if wrong and may_leave_length_open(shape):
        return False
    return in_place_of(node.outputs[0], x)


@rules.canonicalize("shape_unsafe")
@rules.specialize("shape_unsafe")
@node_rewriter([Alloc], requirements=[ShapeFeature])
def local_alloc_of_checked_lengths(fgraph: FunctionGraph, node: Apply) -> Any:
    """An allocation of a tensor that is known to be as long as what the lengths are taken from."""
    value, *lengths = node.inputs
    if not lengths or len(lengths) != value.type.ndim:
        return False
    for axis, (length, known) in enumerate(zip(lengths, value.type.shape)):
        # What is longer than one is not repeated.
        if known in (None, 1) and not _must_be_length_of(fgraph, length, value, axis):
            return False
    return in_place_of(node.outputs[0], value)


@rules.canonicalize("shape_unsafe")
@rules.specialize("shape_unsafe")
@node_rewriter([Subtensor], requirements=[ShapeFeature])
def local_slice_to_checked_length(fgraph: FunctionGraph, node: Apply) -> Any:
    """A slice up to the length of another tensor, which is known to be as long as the tensor, takes everything."""
    if not any(isinstance(e, slice) and e.stop is not None for e in node.op.idx_list):
        return False
    x = node.inputs[0]
    index = list(symbolic_index_of(node))
    changed = False
    for axis, known in enumerate(index_of(node, values_only=True)):
        if not isinstance(known, slice) or not isinstance(known.stop, Variable):
            continue
        if not takes_everything(slice(known.start, None, known.step), None, x, axis):
            continue
        if _must_be_length_of(fgraph, known.stop, x, axis):
            index[axis], changed = FULL, True
    return in_place_of(node.outputs[0], getitem(x, tuple(index))) if changed else False


def _must_be_length_of(fgraph: FunctionGraph, length: Variable, x: Variable, axis: int) -> bool:
    """Whether a number is the length of a dimension of a tensor, if there is no error."""
    if isinstance(length, Constant):
        return int(length.data) == x.type.shape[axis]
    feature, measured = getattr(fgraph, "shape_feature", None), dimension_measured_by(length)
    if feature is None or measured is None:
        return False
    return feature.same_shape(x, measured[0], axis, measured[1], with_checks=True)
