"""Rules about batches: ops on each member become operations on all of them, and products with identity matrices go."""

from __future__ import annotations

import numpy as np

from aesara.graph.nodes import Constant, Variable
from aesara.graph.rewriting.basic import node_rewriter
from aesara.graph.vectorization import vectorize_node
from aesara.tensor.core.constant_value import known_integer
from aesara.tensor.creation.eye_tri import Eye
from aesara.tensor.products.dot import Dot
from aesara.tensor.rewriting.helpers import in_place_of, output_of, outputs_in_place_of
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.shapes.specify_shape import specify_shape
from aesara.tensor.vectorization.blockwise import Blockwise
from aesara.tensor.vectorization.fallback import vectorize_by_blockwise

rules = Rules()

#: Constants with more rows than this are not looked at.
LARGEST_IDENTITY = 1024


@rules.canonicalize
@node_rewriter([Blockwise])
def local_blockwise_of_rule(fgraph, node):
    """blockwise(f)(x) -> f of the whole batch, by the rule of f. A function: f decides what it becomes."""
    op = node.op
    if vectorize_node.dispatch(type(op.core_op)) is vectorize_by_blockwise:
        if any(x.type.ndim > len(dims) for x, dims in zip(node.inputs, op.inputs_signature)):
            return False
        return list(op.core_op.make_node(*node.inputs).outputs)
    core = op.core_node(node.inputs)
    result = vectorize_node(op.core_op, core, *node.inputs)
    outputs = list(getattr(result, "outputs", result))
    if any(out.owner is not None and isinstance(out.owner.op, Blockwise) for out in outputs):
        return False
    return outputs_in_place_of(node, outputs)


@rules.canonicalize
@node_rewriter([Dot], operands=[Constant, Eye])
def local_dot_of_identity(fgraph, node):
    """dot(eye(n), x) -> specify_shape(x, n), and from the right. A function: it reads constant matrices once."""
    for matrix, other, axis in ((*node.inputs, 0), (*reversed(node.inputs), -1)):
        length = _length_of_identity(matrix)
        if length is not None:
            sizes: list[Variable | None] = [None] * other.type.ndim
            sizes[axis] = length
            return in_place_of(node.outputs[0], specify_shape(other, sizes))
    return False


def _length_of_identity(matrix: Variable) -> Variable | int | None:
    """Return the size of a matrix that is known to be an identity matrix; None for others."""
    if isinstance(matrix, Constant):
        data = matrix.data
        if data.ndim != 2 or data.shape[0] != data.shape[1] or not 0 < len(data) <= LARGEST_IDENTITY:
            return None
        # Most matrices fail at their first entries.
        is_identity = data[0, 0] == 1 and not data[0, 1:].any() and np.array_equal(data, np.eye(len(data)))
        return len(data) if is_identity else None
    node = output_of(matrix, Eye)
    if node is None or known_integer(node.inputs[2]) != 0:
        return None
    rows, columns, _ = node.inputs
    known = known_integer(rows)
    is_square = rows is columns or (known is not None and known == known_integer(columns))
    return None if not is_square else rows if known is None else known


__all__ = ["LARGEST_IDENTITY", "local_blockwise_of_rule", "local_dot_of_identity"]
