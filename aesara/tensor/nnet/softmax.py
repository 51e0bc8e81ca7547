"""Softmax of matrices, with a bias for each column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from aesara import scalar as aes
from aesara.graph.nodes import Apply, Variable
from aesara.tensor.core.tensor_like import IntegerLike, OutputCells
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise.ops import add
from aesara.tensor.nnet.composed import ComposedOp, as_floats
from aesara.tensor.reductions.softmax import Softmax, SoftmaxGrad
from aesara.tensor.reductions.sum_prod_max import sum as sum_along

if TYPE_CHECKING:
    from aesara.graph.fg import FunctionGraph


__all__ = ["softmax_grad_legacy", "softmax_legacy", "softmax_with_bias"]

softmax_legacy = Softmax(axis=-1)
softmax_grad_legacy = SoftmaxGrad(axis=-1)


def add_bias(x: TensorVariable, b: TensorVariable) -> TensorVariable:
    """Add a vector to each row of a matrix."""
    return add(x, b.dimshuffle("x", 0))


def biased_static_shape(x: TensorVariable, b: TensorVariable) -> tuple[int | None, int | None]:
    """Return the static shape of `biased`; raise an error if known lengths differ."""
    rows, columns = x.type.shape
    (length,) = b.type.shape
    if columns is not None and length is not None and columns != length:
        raise ValueError(f"The bias needs an element for each column of x; got types {x.type} and {b.type}.")
    return rows, length if columns is None else columns


class SoftmaxWithBias(ComposedOp):
    """The softmax of each row of a matrix, with a vector added to the rows before.

    Inputs are the matrix and the vector.

    Examples
    --------
    >>> from aesara.tensor.nnet import softmax_with_bias
    >>> softmax_with_bias([[1000.0, 1001.0]], [1.0, 0.0]).eval()
    array([[0.5, 0.5]])
    """

    nin, nout = 2, 1

    def make_node(self, x: Any, b: Any) -> Apply:
        x, b = as_floats("x", 2, x), as_floats("b", 1, b)
        dtype = aes.upcast(x.type.dtype, b.type.dtype)
        return Apply(self, [x, b], [tensor_type(dtype, biased_static_shape(x, b))()])

    def expand(self, x: TensorVariable, b: TensorVariable) -> list[TensorVariable]:
        return [softmax_legacy(add_bias(x, b))]

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: OutputCells, params: object = None) -> None:
        x, b = inputs
        if x.shape[1] != len(b):
            raise ValueError(f"The bias needs an element for each column of x; got shapes {x.shape} and {b.shape}.")
        softmax_legacy.perform(node, [x + b], output_storage)

    def infer_shape(
        self, fgraph: FunctionGraph, node: Apply, shapes: Sequence[Sequence[TensorVariable]]
    ) -> list[Sequence[IntegerLike] | None]:
        return [shapes[0]]

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable]:
        x, b = inputs
        dx = softmax_grad_legacy(output_grads[0], outputs[0])
        return [dx.astype(x.type.dtype), sum_along(dx, axis=0).astype(b.type.dtype)]


softmax_with_bias = SoftmaxWithBias()
