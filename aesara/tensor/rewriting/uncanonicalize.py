"""Forms that are faster than the canonical ones, taken at the end."""

from __future__ import annotations

from aesara.graph.rewriting.basic import node_rewriter
from aesara.tensor.creation.allocation import Alloc, alloc
from aesara.tensor.elementwise.ops import neg
from aesara.tensor.indexing.subtensor_basic import Subtensor
from aesara.tensor.reductions.argmax import MaxAndArgmax
from aesara.tensor.reductions.sum_prod_max import Max
from aesara.tensor.rewriting.helpers import in_place_of
from aesara.tensor.rewriting.indices import FULL, index_of, is_known, symbolic_index_of
from aesara.tensor.rewriting.reductions import local_max_to_min
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.rewriting.shape import local_useless_dimshuffle_in_reshape
from aesara.tensor.rewriting.subtensor_reading import smallest_constant
from aesara.tensor.shapes.dimshuffle import DimShuffle
from aesara.tensor.shapes.reshape import Reshape

rules = Rules()


@rules.uncanonicalize
@node_rewriter([MaxAndArgmax])
def local_max_and_argmax(fgraph, node):
    """Only the largest elements, where only they are used."""
    if fgraph.clients[node.outputs[1]]:
        return False
    (x,) = node.inputs[:1]
    axis = node.op.axis
    new = in_place_of(node.outputs[0], Max(axis)(x))
    return [new[0], None] if new else False


@rules.uncanonicalize
@node_rewriter([DimShuffle], operands=[Alloc])
def local_dimshuffle_alloc(fgraph, node):
    """Dimensions of length one are put in front by the allocation itself."""
    inner = node.inputs[0].owner
    new_order = node.op.new_order
    if inner is None or not isinstance(inner.op, Alloc):
        return False
    n_new = len(new_order) - node.inputs[0].type.ndim
    if n_new <= 0 or tuple(new_order) != ("x",) * n_new + tuple(range(node.inputs[0].type.ndim)):
        return False
    value, *lengths = inner.inputs
    return in_place_of(node.outputs[0], alloc(value, *([1] * n_new), *lengths))


@rules.uncanonicalize
@node_rewriter([Alloc])
def local_alloc_dimshuffle(fgraph, node):
    """Dimensions of length one in front need not be added to what is allocated anyway."""
    value, *lengths = node.inputs
    inner = value.owner
    if inner is None or not isinstance(inner.op, DimShuffle):
        return False
    (original,) = inner.inputs
    n_new = value.type.ndim - original.type.ndim
    if n_new <= 0 or tuple(inner.op.new_order) != ("x",) * n_new + tuple(range(original.type.ndim)):
        return False
    return in_place_of(node.outputs[0], alloc(original, *lengths))


@rules.uncanonicalize
@node_rewriter([DimShuffle], operands=[Subtensor])
def local_dimshuffle_subtensor(fgraph, node):
    """Dimensions that a part has with length one and that are dropped are indexed by their only position."""
    part = node.inputs[0]
    inner = part.owner
    order = list(node.op.new_order)
    if inner is None or not isinstance(inner.op, Subtensor) or "x" in order or order != sorted(order):
        return False
    if len(fgraph.clients[part]) != 1 or len(order) == part.type.ndim:
        return False
    x = inner.inputs[0]
    index, known = list(symbolic_index_of(inner)), index_of(inner, values_only=True)
    missing = [FULL] * (x.type.ndim - len(index))
    index, known = index + missing, known + missing
    axes = [axis for axis, entry in enumerate(index) if isinstance(entry, slice)]
    for dim in set(range(part.type.ndim)) - set(order):
        axis = axes[dim]
        length = x.type.shape[axis]
        if length is None or not is_known(known[axis]):
            return False
        index[axis] = smallest_constant(range(length)[known[axis]][0])
    return in_place_of(node.outputs[0], x[tuple(index)])


@rules.uncanonicalize
@node_rewriter([Reshape])
def local_reshape_dimshuffle(fgraph, node):
    """Dimensions of length one under a reshape that have come up since the canonical forms."""
    return local_useless_dimshuffle_in_reshape.transform(fgraph, node)


__all__ = [
    "local_alloc_dimshuffle",
    "local_dimshuffle_alloc",
    "local_dimshuffle_subtensor",
    "local_max_and_argmax",
    "local_max_to_min",
    "local_reshape_dimshuffle",
    "neg",
]
