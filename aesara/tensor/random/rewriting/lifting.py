"""Sizes, rearranged dimensions and indices of draws, moved to the parameters.

These rules are for programs that look for distributions in graphs, and are in no mode: the draws that they leave are
of the same distribution, but others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aesara.configdefaults import config
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Variable
from aesara.graph.op import compute_test_value
from aesara.graph.rewriting.basic import node_rewriter
from aesara.graph.rewriting.node_rewriters import RuleResult
from aesara.tensor.core.constant_value import infer_static_shape
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.core.vector_length import get_vector_length
from aesara.tensor.indexing.index_forms import as_index_variable, get_idx_list
from aesara.tensor.indexing.index_shapes import indexed_result_shape
from aesara.tensor.indexing.subtensor_advanced import AdvancedSubtensor, AdvancedSubtensor1
from aesara.tensor.indexing.subtensor_basic import Subtensor
from aesara.tensor.random.parameters import SizeLike, explicit_expand_dims, sizes_of_shape
from aesara.tensor.random.random_variable import RandomVariable
from aesara.tensor.shapes.broadcasting import broadcast_to
from aesara.tensor.shapes.dimshuffle import DimShuffle
from aesara.tensor.shapes.shape import Shape, Shape_i, shape_tuple

__all__ = [
    "is_rv_used_in_graph",
    "local_dimshuffle_rv_lift",
    "local_rv_size_lift",
    "local_subtensor_rv_lift",
]


def is_rv_used_in_graph(base_rv: Variable, node: Apply, fgraph: FunctionGraph) -> bool:
    """Tell whether something else than `node` reads a draw; what asks for its shape does not count."""

    def is_another(client: Any, position: int) -> bool:
        if client == "output":
            client = fgraph.outputs[position].owner
        return client is not node and not isinstance(getattr(client, "op", None), Shape | Shape_i)

    return any(is_another(client, position) for client, position in fgraph.clients.get(base_rv, ()))


def _numbers_drawn_for(node: Apply, fgraph: FunctionGraph) -> Apply | None:
    """The node that draws the numbers whose first input `node` reads, if nobody else reads them; else None."""
    drawn = node.inputs[0]
    source = drawn.owner
    if source is None or not isinstance(source.op, RandomVariable) or source.op.ndim_supp > 0:
        return None
    if drawn is not source.outputs[1] or is_rv_used_in_graph(drawn, node, fgraph):
        return None
    return source


def _draws(op: RandomVariable, rng: Variable, size: SizeLike, dtype: Variable, params: Sequence[Variable]) -> Apply:
    node = op.make_node(rng, size, dtype, *params)
    if config.compute_test_value != "off":
        compute_test_value(node)
    return node


@node_rewriter([RandomVariable])
def local_rv_size_lift(fgraph: FunctionGraph, node: Apply) -> RuleResult:
    """Parameters are broadcast to what ``size`` says, which goes: ``normal(0, 1, size=(1, 2))``."""
    rng, size, dtype, *params = node.inputs
    op: RandomVariable = node.op
    if get_vector_length(size) == 0:
        return False
    sizes = sizes_of_shape(size)
    full = [
        broadcast_to(param, (*sizes, *shape_tuple(param)[param.type.ndim - ndim :]))
        for param, ndim in zip(params, op.ndims_params)
    ]
    return _draws(op, rng, None, dtype, full).outputs


@node_rewriter([DimShuffle])
def local_dimshuffle_rv_lift(fgraph: FunctionGraph, node: Apply) -> RuleResult:
    """Dimensions are rearranged before drawing: ``normal(mu, sigma).T`` is ``normal(mu.T, sigma.T)``."""
    source = _numbers_drawn_for(node, fgraph)
    if source is None:
        return False
    rng, size, dtype, *params = source.inputs
    op: RandomVariable = source.op
    order = node.op.new_order
    sizes = sizes_of_shape(size)
    n_batch = source.outputs[1].type.ndim
    moved = []
    param: Any
    for param, ndim in zip(explicit_expand_dims(params, op.ndims_params, len(sizes)), op.ndims_params):
        if param.type.ndim - ndim != n_batch:
            return False  # the parameters are not what the shape of the draws comes from
        core = range(n_batch, n_batch + ndim)
        if any(param.type.shape[axis] != 1 for axis in node.op.drop):
            return False
        moved.append(param.dimshuffle([*order, *core]))
    new_size = [1 if entry == "x" else sizes[entry] for entry in order] if sizes else None
    if sizes and not new_size:
        new_size = None
    new = _draws(op, rng, new_size, dtype, moved)
    return _in_place_of(fgraph, node, source, new)


@node_rewriter([Subtensor, AdvancedSubtensor1, AdvancedSubtensor])
def local_subtensor_rv_lift(fgraph: FunctionGraph, node: Apply) -> RuleResult:
    """Only what is read is drawn: ``normal(mu, sigma)[0]`` is ``normal(mu[0], sigma[0])``."""
    source = _numbers_drawn_for(node, fgraph)
    if source is None:
        return False
    rng, size, dtype, *params = source.inputs
    op: RandomVariable = source.op
    if isinstance(node.op, Subtensor):
        index = tuple(get_idx_list(node.inputs, node.op.idx_list))
    else:
        index = tuple(as_index_variable(entry) for entry in node.inputs[1:])
    batch = infer_static_shape(op._infer_shape(size, params))[0]
    chosen = []
    param: Any
    for param, ndim in zip(params, op.ndims_params):
        if param.type.ndim > ndim:
            core = shape_tuple(param)[param.type.ndim - ndim :]
            full: TensorVariable = broadcast_to(param, (*batch, *core))
            param = full[index]
        chosen.append(param)
    decided = any(param.type.ndim > ndim for param, ndim in zip(params, op.ndims_params))
    new_size = None if decided else indexed_result_shape(batch, index)
    new = _draws(op, rng, new_size or None, dtype, chosen)
    return _in_place_of(fgraph, node, source, new)


def _in_place_of(fgraph: FunctionGraph, node: Apply, source: Apply, new: Apply) -> RuleResult:
    """The draws of `new` for what `node` has made of those of `source`, and its next state for theirs if it is read."""
    next_rng, drawn = new.outputs
    (out,) = node.outputs
    if drawn.type.ndim != out.type.ndim:
        return False
    before = source.outputs[1].name
    if before:
        drawn.name = f"{before}_lifted"
    return {source.outputs[0]: next_rng, out: drawn} if fgraph.clients.get(source.outputs[0]) else [drawn]
