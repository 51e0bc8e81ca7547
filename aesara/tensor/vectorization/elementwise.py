"""Vectorized nodes of ops that act on each element, or pass their input on."""

from __future__ import annotations

from collections.abc import Sequence

from aesara.graph.nodes import Apply
from aesara.graph.vectorization import vectorize_node
from aesara.graph.view import ViewOp
from aesara.scalar.op import ScalarOp
from aesara.tensor.core.check_and_raise import CheckAndRaise
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.scalar_conversion import ScalarFromTensor, TensorFromScalar
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise.elemwise import Elemwise, elemwise_of
from aesara.tensor.shapes.cpu_contiguous import CpuContiguous


@vectorize_node.register(Elemwise)
def _elemwise(op: Elemwise, node: Apply, *inputs: TensorVariable) -> Apply:
    """Vectorize; all inputs have the same number of core dimensions, so that ordinary broadcasting applies."""
    plain = elemwise_of(op.scalar_op) if op.inplace_pattern else op
    return plain.make_node(*inputs)


@vectorize_node.register(ScalarOp)
def _scalar_op(op: ScalarOp, node: Apply, *inputs: TensorVariable) -> Apply:
    """Vectorize: a batch of scalars is a tensor."""
    return elemwise_of(op).make_node(*[as_tensor_variable(x) for x in inputs])


@vectorize_node.register(ScalarFromTensor)
@vectorize_node.register(TensorFromScalar)
def _conversion(op: ScalarFromTensor | TensorFromScalar, node: Apply, x: TensorVariable) -> Sequence[TensorVariable]:
    return [x]


@vectorize_node.register(ViewOp)
@vectorize_node.register(CpuContiguous)
def _identity(op: ViewOp | CpuContiguous, node: Apply, x: TensorVariable) -> Apply:
    return op.make_node(x)


@vectorize_node.register(CheckAndRaise)
def _check(op: CheckAndRaise, node: Apply, *inputs: TensorVariable) -> Apply:
    """Vectorize; a condition must hold for all entries, and thus for all members of a batch."""
    return op.make_node(*inputs)
