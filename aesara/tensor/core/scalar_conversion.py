"""The two ops between scalar expressions and tensors without dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aesara import scalar as aes
from aesara.configdefaults import config
from aesara.graph.messages import describe
from aesara.graph.nodes import Apply, Variable
from aesara.graph.op import Op
from aesara.tensor.core.dtypes import discrete_dtypes
from aesara.tensor.core.tensor_like import OutputCells
from aesara.tensor.core.tensor_type import TensorType, tensor_type
from aesara.tensor.core.variable import TensorVariable

if TYPE_CHECKING:
    from aesara.graph.fg import FunctionGraph


__all__ = ["scalar_from_tensor", "tensor_from_scalar"]


class TensorFromScalar(Op):
    """A tensor without dimensions that holds the value of a scalar.

    Examples
    --------
    >>> import aesara.scalar as aes
    >>> from aesara.tensor.core.scalar_conversion import tensor_from_scalar
    >>> tensor_from_scalar(aes.float64("x")).type
    TensorType(float64, ())
    """

    __props__ = ()

    def make_node(self, s: Variable) -> Apply:
        if not isinstance(s, Variable) or not isinstance(s.type, aes.ScalarType):
            raise TypeError(f"TensorFromScalar expected a scalar variable; got {describe(s)}.")
        return Apply(self, [s], [tensor_type(s.type.dtype, ())()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: OutputCells, params: object = None) -> None:
        output_storage[0][0] = np.asarray(inputs[0], dtype=node.outputs[0].type.dtype)

    def infer_shape(
        self, fgraph: FunctionGraph, node: Apply, in_shapes: Sequence[Sequence[TensorVariable]]
    ) -> list[tuple]:
        return [()]

    def grad(self, inputs: Sequence[TensorVariable], output_gradients: Sequence[TensorVariable]) -> list[Variable]:
        if inputs[0].type.dtype in discrete_dtypes:
            return [inputs[0].zeros_like(dtype=config.floatX)]
        return [scalar_from_tensor(output_gradients[0])]

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[Variable | None]) -> list[Variable | None]:
        return [None if point is None else self(point) for point in eval_points]


class ScalarFromTensor(Op):
    """The scalar that is the value of a tensor without dimensions."""

    __props__ = ()

    def make_node(self, t: Variable) -> Apply:
        if not isinstance(t, Variable) or not isinstance(t.type, TensorType) or t.type.ndim != 0:
            raise TypeError(f"ScalarFromTensor expected a tensor variable without dimensions; got {describe(t)}.")
        return Apply(self, [t], [aes.get_scalar_type(dtype=t.type.dtype).make_variable()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: OutputCells, params: object = None) -> None:
        output_storage[0][0] = np.asarray(inputs[0])[()]

    def infer_shape(
        self, fgraph: FunctionGraph, node: Apply, in_shapes: Sequence[Sequence[TensorVariable]]
    ) -> list[tuple]:
        return [()]

    def grad(self, inputs: Sequence[TensorVariable], output_gradients: Sequence[TensorVariable]) -> list[Variable]:
        if inputs[0].type.dtype in discrete_dtypes:
            return [inputs[0].zeros_like(dtype=config.floatX)]
        return [tensor_from_scalar(output_gradients[0])]

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[Variable | None]) -> list[Variable | None]:
        return [None if point is None else self(point) for point in eval_points]


tensor_from_scalar = TensorFromScalar()
scalar_from_tensor = ScalarFromTensor()

aes.register_as_scalar(TensorType, scalar_from_tensor)
