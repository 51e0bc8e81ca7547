"""Rules about choices that are true in a part of a tensor: what is chosen there is computed for the part only.

Gradients of parts have such choices; see `aesara.graph.support`.
"""

from __future__ import annotations

from typing import Any

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Variable
from aesara.graph.rewriting.basic import node_rewriter
from aesara.tensor.creation.allocation import Alloc
from aesara.tensor.elementwise.ops import and_, switch
from aesara.tensor.indexing.getitem import getitem
from aesara.tensor.indexing.inc_subtensor import set_subtensor
from aesara.tensor.indexing.subtensor_basic import IncSubtensor
from aesara.tensor.rewriting.allocations import broadcast_like
from aesara.tensor.rewriting.helpers import has_value, in_place_of, output_of
from aesara.tensor.rewriting.indices import FULL, symbolic_index_of
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.shapes.dimshuffle import DimShuffle

rules = Rules()


@rules.canonicalize("shape_unsafe")
@node_rewriter([switch], operands=[IncSubtensor, DimShuffle, and_])
def local_choice_of_part(fgraph: FunctionGraph, node: Apply) -> Any:
    """``switch(is_in_part, x, 0) -> set_subtensor(zeros[part], x[part])``"""
    mask, x, zero = node.inputs
    (out,) = node.outputs
    if x.type.broadcastable != out.type.broadcastable or x.type.dtype != out.type.dtype or not has_value(zero, 0):
        return None
    index = _index_of_part(mask)
    if index is None:
        return None
    while index[-1] is FULL:
        index.pop()
    part = tuple(index)
    zeros = broadcast_like(zero, x, fgraph, out.type.dtype)
    return in_place_of(out, set_subtensor(getitem(zeros, part), getitem(x, part)))


def _index_of_part(mask: Variable) -> list[Any] | None:
    """Return the index, with an entry for each axis, of the part in which a mask is true; None if there is none."""
    ndim = mask.type.ndim
    index: list[Any] = [FULL] * ndim
    masks = [mask]
    while masks:
        one = masks.pop()
        both = output_of(one, and_)
        if both is not None:
            masks.extend(both.inputs)
            continue
        found = _entry_of_axis(one)
        if found is None:
            return None
        axis, entry = found
        if index[axis] is not FULL:
            return None
        index[axis] = entry
    return index


def _entry_of_axis(mask: Variable) -> tuple[int, Any] | None:
    """Return the axis along which a mask depends on the position, and the index of the positions where it is true."""
    axis = 0
    shuffle = output_of(mask, DimShuffle)
    if shuffle is not None:
        (mask,) = shuffle.inputs
        if mask.type.ndim != 1 or 0 not in shuffle.op.new_order:
            return None
        axis = shuffle.op.new_order.index(0)
    write = output_of(mask, IncSubtensor)
    if write is None or mask.type.ndim != 1 or mask.type.dtype != "bool" or not write.op.set_instead_of_inc:
        return None
    base, value = write.inputs[:2]
    if output_of(base, Alloc) is None or not has_value(base, 0) or not has_value(value, 1):
        return None
    (entry,) = symbolic_index_of(write)
    return axis, entry
