"""Vectorized nodes of ops that look something up in a tensor that is often the same for all members of a batch."""

from __future__ import annotations

from collections.abc import Sequence

from aesara.graph.nodes import Apply
from aesara.graph.vectorization import vectorize_node
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.indexing.choosing import Choose
from aesara.tensor.indexing.index_conversion import RavelMultiIndex, UnravelIndex
from aesara.tensor.ordering.searching import SearchsortedOp
from aesara.tensor.vectorization.batches import align, batches, move_dimensions
from aesara.tensor.vectorization.fallback import vectorize_by_blockwise


@vectorize_node.register(SearchsortedOp)
def _searchsorted(
    op: SearchsortedOp, node: Apply, x: TensorVariable, values: TensorVariable, *sorter: TensorVariable
) -> Apply | Sequence[TensorVariable]:
    """Values of any number of dimensions are looked up in one vector."""
    of_x, _, *of_sorter = batches(node, [x, values, *sorter])
    if of_x or any(of_sorter):
        return vectorize_by_blockwise(op, node, x, values, *sorter)
    return op.make_node(x, values, *sorter)


@vectorize_node.register(UnravelIndex)
def _unravel_index(
    op: UnravelIndex, node: Apply, indices: TensorVariable, dims: TensorVariable
) -> Apply | Sequence[TensorVariable]:
    if batches(node, [indices, dims])[1]:
        return vectorize_by_blockwise(op, node, indices, dims)
    return op.make_node(indices, dims)


@vectorize_node.register(RavelMultiIndex)
def _ravel_multi_index(op: RavelMultiIndex, node: Apply, *inputs: TensorVariable) -> Apply | Sequence[TensorVariable]:
    """Vectorize; the parts of the index are broadcast together."""
    *numbers, of_dims = batches(node, inputs)
    if of_dims:
        return vectorize_by_blockwise(op, node, *inputs)
    *parts, dims = inputs
    core = node.outputs[0].type.ndim
    return op.make_node(*[align(x, n, max(numbers), core) for x, n in zip(parts, numbers)], dims)


@vectorize_node.register(Choose)
def _choose(op: Choose, node: Apply, a: TensorVariable, choices: TensorVariable) -> Apply:
    """Vectorize; the dimension of the choices stays the first."""
    of_a, of_choices = batches(node, [a, choices])
    batch, core = max(of_a, of_choices), node.outputs[0].type.ndim
    counted = move_dimensions(choices, of_choices, 1, 0)
    # The dimensions after the first broadcast: batch dimensions, then those of the choices.
    others = align(move_dimensions(counted, 0, 1, counted.type.ndim - 1), of_choices, batch, core + 1)
    return op.make_node(align(a, of_a, batch, core), move_dimensions(others, others.type.ndim - 1, 1, 0))
