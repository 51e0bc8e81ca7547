"""Vectorization of ops without a rule of their own: one application per member of the batch."""

from __future__ import annotations

from collections.abc import Sequence

from aesara.graph.messages import describe
from aesara.graph.nodes import Apply
from aesara.graph.op import Op
from aesara.graph.vectorization import vectorize_node
from aesara.tensor.core.tensor_type import TensorType
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.vectorization.batches import align, batches
from aesara.tensor.vectorization.blockwise import Blockwise, signature_of
from aesara.tensor.vectorization.gufunc_signature import parse_signature


@vectorize_node.register(Op)
def vectorize_by_blockwise(op: Op, node: Apply, *inputs: TensorVariable) -> Apply | Sequence[TensorVariable]:
    """Apply the op to each member of a batch."""
    if getattr(op, "passes_value_on", False):
        return op.make_node(*inputs)
    for variable in (*inputs, *node.outputs):
        if not isinstance(variable.type, TensorType):
            raise NotImplementedError(
                f"{op} cannot be vectorized: it has no rule for that, and {describe(variable)} of type "
                f"{variable.type} is no "
                "tensor, so that it cannot be applied to each member of a batch either."
            )
    return Blockwise(op, _signature_for(op, node)).make_node(*inputs)


def _signature_for(op: Op, node: Apply) -> str:
    """Return the signature of the op, if it has one that matches the node."""
    by_inputs = getattr(op, "signature_for", None)
    signature = getattr(op, "gufunc_signature", None) if by_inputs is None else by_inputs(node.inputs)
    if signature is not None:
        dims_in, dims_out = parse_signature(signature)
        ndims = [x.type.ndim for x in node.inputs], [x.type.ndim for x in node.outputs]
        if ndims == ([len(dims) for dims in dims_in], [len(dims) for dims in dims_out]):
            return signature
    return signature_of(node)


@vectorize_node.register(Blockwise)
def _blockwise(op: Blockwise, node: Apply, *inputs: TensorVariable) -> Apply:
    """Vectorize by additional batch dimensions."""
    numbers = batches(node, inputs)
    core_ndims = [len(core) for core in op.inputs_signature]
    own = max([x.type.ndim - core for x, core in zip(node.inputs, core_ndims)], default=0)
    return op.make_node(*[align(x, n, n, own + core) for x, n, core in zip(inputs, numbers, core_ndims)])
