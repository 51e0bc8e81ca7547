"""Rules about the order of dimensions, and about elementwise operations as such."""

from __future__ import annotations

from aesara.graph.rewriting.basic import node_rewriter
from aesara.tensor.elemwise import DimShuffle, Elemwise
from aesara.tensor.make_vector import MakeVector
from aesara.tensor.rewriting.basic import local_useless_elemwise  # noqa: F401 - registered before
from aesara.tensor.rewriting.helpers import in_place_of
from aesara.tensor.rewriting.registration import register_canonicalize, register_specialize, register_useless


def is_dimshuffle_useless(new_order, input):
    """Whether a new order of dimensions changes nothing.

    Examples
    --------
    >>> is_dimshuffle_useless((0, 1), at.matrix())
    True
    """
    return len(new_order) == input.type.ndim and all(i == entry for i, entry in enumerate(new_order))


def apply_local_dimshuffle_lift(fgraph, var):
    """`var` with the rearrangement of its dimensions moved towards the inputs."""
    node = var.owner
    if node is None:
        return var
    new = local_dimshuffle_lift.transform(fgraph, node)
    return new[0] if new else var


@register_useless
@register_canonicalize
@register_specialize
@node_rewriter([DimShuffle])
def local_dimshuffle_lift(fgraph, node):
    """Rearrangements of dimensions: one instead of two, none that changes nothing, and before
    elementwise operations rather than after."""
    (x,) = node.inputs
    out = node.outputs[0]
    new_order = node.op.new_order
    if is_dimshuffle_useless(new_order, x):
        return in_place_of(out, x)
    inner = x.owner
    if inner is None:
        return False
    if isinstance(inner.op, DimShuffle):
        order = [entry if entry == "x" else inner.op.new_order[entry] for entry in new_order]
        original = inner.inputs[0]
        if is_dimshuffle_useless(order, original):
            return in_place_of(out, original)
        return in_place_of(out, original.dimshuffle(*order))
    if isinstance(inner.op, Elemwise) and len(inner.outputs) == 1 and len(fgraph.clients[x]) == 1:
        if inner.op.inplace_pattern:
            return False
        moved = [_moved(v, new_order, x) for v in inner.inputs]
        if any(v is None for v in moved):
            return False
        return in_place_of(out, inner.op(*moved))
    return False


def _moved(var, new_order, result):
    """An operand with its dimensions rearranged as those of the result; None where it cannot be."""
    dropped = [i for i in range(result.type.ndim) if i not in new_order]
    # A dimension that the result has with length one may be unknown to be so in an operand.
    if any(var.type.shape[i] != 1 for i in dropped):
        return None
    return var.dimshuffle(*new_order)


@register_canonicalize
@register_specialize
@node_rewriter([DimShuffle])
def local_useless_dimshuffle_makevector(fgraph, node):
    """A vector of one scalar whose dimension is dropped is the scalar."""
    inner = node.inputs[0].owner
    if inner is None or not isinstance(inner.op, MakeVector) or len(inner.inputs) != 1:
        return False
    if tuple(node.op.new_order) != ():
        return False
    return in_place_of(node.outputs[0], inner.inputs[0])
