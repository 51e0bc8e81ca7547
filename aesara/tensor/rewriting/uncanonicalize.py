"""Forms that are faster than the canonical ones, taken at the end."""

from __future__ import annotations

from aesara.graph.rewriting.basic import node_rewriter
from aesara.tensor.allocation import Alloc, alloc
from aesara.tensor.argmax import MaxAndArgmax
from aesara.tensor.dimshuffle import DimShuffle
from aesara.tensor.reduction import Max
from aesara.tensor.rewriting.helpers import in_place_of
from aesara.tensor.rewriting.reductions import local_max_to_min
from aesara.tensor.rewriting.registration import register_uncanonicalize


@register_uncanonicalize
@node_rewriter([MaxAndArgmax])
def local_max_and_argmax(fgraph, node):
    """Only the largest elements, where only they are used."""
    if fgraph.clients[node.outputs[1]]:
        return False
    (x,) = node.inputs[:1]
    axis = node.op.axis
    new = in_place_of(node.outputs[0], Max(axis)(x))
    return [new[0], None] if new else False


@register_uncanonicalize
@node_rewriter([DimShuffle])
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


__all__ = ["local_dimshuffle_alloc", "local_max_and_argmax", "local_max_to_min"]
