"""Rules that replace canonical forms by faster ones, at the end of rewriting."""

from __future__ import annotations

from aesara.graph.rewriting.basic import node_rewriter, rule
from aesara.graph.rewriting.matching import one_of
from aesara.tensor.creation.allocation import Alloc, alloc
from aesara.tensor.elementwise.ops import neg
from aesara.tensor.indexing.subtensor_basic import Subtensor
from aesara.tensor.reductions.argmax import MaxAndArgmax
from aesara.tensor.reductions.sum_prod_max import Max
from aesara.tensor.rewriting.helpers import in_place_of
from aesara.tensor.rewriting.indexing.reading import smallest_constant
from aesara.tensor.rewriting.indices import FULL, index_of, is_known, symbolic_index_of
from aesara.tensor.rewriting.reductions import local_max_to_min
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.rewriting.rows import replacing
from aesara.tensor.rewriting.shape import local_useless_dimshuffle_in_reshape
from aesara.tensor.shapes.dimshuffle import DimShuffle

rules = Rules()


@rules.uncanonicalize
@node_rewriter([MaxAndArgmax])
def local_max_and_argmax(fgraph, node):
    """max_and_argmax(x)[0] -> max(x), where the positions are not used. A function: the op has two outputs."""
    if fgraph.clients[node.outputs[1]]:
        return False
    new = in_place_of(node.outputs[0], Max(node.op.axis)(node.inputs[0]))
    return [new[0], None] if new else False


local_dimshuffle_alloc = rule(
    "local_dimshuffle_alloc",
    (one_of(DimShuffle, is_left_expand_dims=True, augment="new"), (Alloc, "x", "**n")),
    lambda new, x, n: alloc(x, *[1] * len(new), *n),
    why='alloc(x, n).dimshuffle("x", 0) -> alloc(x, 1, n)',
)
local_alloc_dimshuffle = rule(
    "local_alloc_dimshuffle",
    (Alloc, (one_of(DimShuffle, is_left_expand_dims=True), "x"), "**n"),
    (alloc, "x", "**n"),
    why='alloc(x.dimshuffle("x", 0), n, m) -> alloc(x, n, m)',
)
rules.add(local_dimshuffle_alloc, local_alloc_dimshuffle, to=(rules.uncanonicalize,))


@rules.uncanonicalize
@replacing(
    (
        one_of(DimShuffle, augment=[], shuffle=lambda kept: kept == sorted(kept), drop="dropped"),
        (one_of(Subtensor, node="read"), "x", ...),
    ),
    lambda dropped: len(dropped) > 0,
    each=None,
    single_client=True,
)
def local_dimshuffle_subtensor(dropped, read, x):
    """x[i : i + 1].dimshuffle() -> x[i]: a dropped dimension is indexed by its only position."""
    index, known = list(symbolic_index_of(read)), index_of(read, values_only=True)
    missing = [FULL] * (x.type.ndim - len(index))
    index, known = index + missing, known + missing
    axes = [axis for axis, entry in enumerate(index) if isinstance(entry, slice)]
    for axis in (axes[dim] for dim in dropped):
        length = x.type.shape[axis]
        if length is None or not is_known(known[axis]):
            return None
        index[axis] = smallest_constant(range(length)[known[axis]][0])
    return x[tuple(index)]


#: The canonical rule once more: later rules may have added dimensions of length one before a reshape.
local_reshape_dimshuffle = rule(
    "local_reshape_dimshuffle",
    local_useless_dimshuffle_in_reshape.source_pattern,
    local_useless_dimshuffle_in_reshape.replacement,
    local_useless_dimshuffle_in_reshape.condition,
    why=local_useless_dimshuffle_in_reshape.why,
)
rules.uncanonicalize(local_reshape_dimshuffle)

__all__ = [
    "local_alloc_dimshuffle",
    "local_dimshuffle_alloc",
    "local_dimshuffle_subtensor",
    "local_max_and_argmax",
    "local_max_to_min",
    "local_reshape_dimshuffle",
    "neg",
]
