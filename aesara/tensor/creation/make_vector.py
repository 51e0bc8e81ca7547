"""Vectors of symbolic scalars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import aesara.scalar as aes
from aesara.graph.messages import describe
from aesara.graph.nodes import Apply, Constant
from aesara.graph.op import Op
from aesara.tensor.core.casting import cast
from aesara.tensor.core.conversion import as_tensor_variable, constant
from aesara.tensor.core.dtypes import discrete_dtypes
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.core.variable import TensorVariable


class MakeVector(Op):
    """The vector whose entries are the inputs, which are scalars.

    Parameters
    ----------
    dtype
        The dtype of the vector when there are no inputs, and the one that all
        inputs are converted to otherwise.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> MakeVector("int64")(at.lscalar("n"), 2).type.shape
    (2,)
    """

    __props__ = ("dtype",)

    def __init__(self, dtype: str = "int64"):
        self.dtype = np.dtype(dtype).name

    def make_node(self, *inputs: Any) -> Apply:
        scalars = [as_tensor_variable(entry) for entry in inputs]
        for scalar in scalars:
            if scalar.type.ndim != 0:
                raise ValueError(
                    f"The entries of a vector must be scalars, got {describe(scalar)} with "
                    f"{scalar.type.ndim} dimensions. Use `stack` for those."
                )
        dtypes = {scalar.type.dtype for scalar in scalars}
        if dtypes - {self.dtype}:
            common = aes.upcast(self.dtype, *dtypes)
            if common != self.dtype:
                raise TypeError(f"Expected inputs to be upcastable to {self.dtype}; got {sorted(dtypes)}.")
            scalars = [_converted_entry(scalar, self.dtype) for scalar in scalars]
        output = tensor_type(self.dtype, (len(scalars),))()
        return Apply(self, scalars, [output])

    def perform(self, node, inputs, output_storage):
        vector = np.empty(len(inputs), dtype=self.dtype)
        for position, value in enumerate(inputs):
            vector[position] = value
        output_storage[0][0] = vector

    def infer_shape(self, fgraph, node, input_shapes):
        return [(constant(len(input_shapes), dtype="int64"),)]

    def grad(self, inputs, output_gradients):
        if self.dtype in discrete_dtypes:
            return [entry.zeros_like(dtype="floatX") for entry in inputs]
        (g_vector,) = output_gradients
        return [g_vector[position] for position in range(len(inputs))]

    def R_op(self, inputs, eval_points):
        if all(point is None for point in eval_points):
            return [None]
        zero = constant(np.zeros((), self.dtype))
        return self(*[zero if point is None else point for point in eval_points], return_list=True)


def _converted_entry(scalar: TensorVariable, dtype: str) -> TensorVariable:
    if isinstance(scalar, Constant):
        # Convert the constant at once instead of adding a cast.
        return constant(np.asarray(scalar.data, dtype=dtype))
    return cast(scalar, dtype)


make_vector = MakeVector()


def vector_of(scalars: Sequence[TensorVariable]) -> TensorVariable:
    """Return a vector of `scalars`, in the dtype that they have in common.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> vector_of([at.lscalar("n"), at.dscalar("x")]).dtype
    'float64'
    """
    scalars = [as_tensor_variable(scalar) for scalar in scalars]
    dtype = aes.upcast(*(scalar.type.dtype for scalar in scalars))
    return MakeVector(dtype)(*scalars)
