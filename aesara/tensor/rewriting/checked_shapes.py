"""Rules about shapes that must be right, since the graph would raise an error otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Variable
from aesara.graph.rewriting.basic import node_rewriter
from aesara.tensor.allocation import Alloc
from aesara.tensor.make_vector import MakeVector
from aesara.tensor.rewriting.helpers import in_place_of
from aesara.tensor.rewriting.indices import FULL, index_of, symbolic_index_of, takes_everything
from aesara.tensor.rewriting.length_facts import dimension_measured_by
from aesara.tensor.rewriting.registration import register_canonicalize, register_specialize
from aesara.tensor.rewriting.shape_feature import ShapeFeature
from aesara.tensor.shape import Reshape
from aesara.tensor.subtensor_basic import Subtensor


@register_canonicalize("shape_unsafe")
@register_specialize("shape_unsafe")
@node_rewriter([Reshape], requirements=[ShapeFeature])
def local_reshape_to_checked_shape(fgraph: FunctionGraph, node: Apply) -> Any:
    """A reshape to the shape of another tensor, to which the tensor is known to be equal in shape."""
    x, shape = node.inputs
    inner = shape.owner
    if inner is None or not isinstance(inner.op, MakeVector) or not _must_have_lengths(fgraph, x, inner.inputs):
        return False
    return in_place_of(node.outputs[0], x)


@register_canonicalize("shape_unsafe")
@register_specialize("shape_unsafe")
@node_rewriter([Alloc], requirements=[ShapeFeature])
def local_alloc_of_checked_lengths(fgraph: FunctionGraph, node: Apply) -> Any:
    """An allocation of a tensor that is known to be as long as what the lengths are taken from."""
    value, *lengths = node.inputs
    if not lengths or not _must_have_lengths(fgraph, value, lengths):
        return False
    return in_place_of(node.outputs[0], value)


@register_canonicalize("shape_unsafe")
@register_specialize("shape_unsafe")
@node_rewriter([Subtensor], requirements=[ShapeFeature])
def local_slice_to_checked_length(fgraph: FunctionGraph, node: Apply) -> Any:
    """A slice up to the length of another tensor, which is known to be as long as the tensor, takes everything."""
    feature = getattr(fgraph, "shape_feature", None)
    if feature is None or not any(isinstance(e, slice) and e.stop is not None for e in node.op.idx_list):
        return False
    x = node.inputs[0]
    index = list(symbolic_index_of(node))
    changed = False
    for axis, known in enumerate(index_of(node, values_only=True)):
        if not isinstance(known, slice) or not isinstance(known.stop, Variable):
            continue
        if not takes_everything(slice(known.start, None, known.step), None, x, axis):
            continue
        measured = dimension_measured_by(known.stop)
        if measured is not None and feature.same_shape(x, measured[0], axis, measured[1], with_checks=True):
            index[axis], changed = FULL, True
    return in_place_of(node.outputs[0], x[tuple(index)]) if changed else False


def _must_have_lengths(fgraph: FunctionGraph, x: Variable, lengths: Sequence[Variable]) -> bool:
    """Whether a tensor has these lengths, which are those of dimensions of tensors, if there is no error."""
    feature = getattr(fgraph, "shape_feature", None)
    if feature is None or len(lengths) != x.type.ndim:
        return False
    measured = [dimension_measured_by(length) for length in lengths]
    return None not in measured and all(
        feature.same_shape(x, y, axis, other_axis, with_checks=True) for axis, (y, other_axis) in enumerate(measured)
    )
