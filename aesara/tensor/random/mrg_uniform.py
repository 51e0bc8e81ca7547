"""Uniform draws by the generator MRG31k3p, as ops on the states of its streams."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.op import Op
from aesara.graph.pullback import grad_undefined
from aesara.scalar.mrg31k3p import integers
from aesara.tensor.core.constant_value import infer_static_shape
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.tensor_type import TensorType
from aesara.tensor.core.vector_length import get_vector_length

__all__ = ["SCALES", "mrg_uniform", "mrg_uniform_base"]

#: how the integers become numbers between 0 and 1: bits that are taken (all if None), what is added, the factor
SCALES = {
    "float64": (None, 0, 2.0**-31),
    "float32": (None, 0, float(np.float32(4.6566126e-10))),  # just below 2**-31, so that 1 is not reached
    "float16": (0x7FFF, 1, float(np.float16(3.0458e-05))),
}


class mrg_uniform_base(Op):
    """Uniform numbers between 0 and 1 and the streams' next states, from states and a size."""

    __props__: tuple[str, ...] = ("output_type", "inplace")

    def __init__(self, output_type: TensorType, inplace: bool = False):
        self.output_type = output_type
        self.inplace = inplace
        if inplace:
            self.destroy_map = {0: [0]}

    def __str__(self) -> str:
        return f"{type(self).__name__}{{{self.output_type},{'inplace' if self.inplace else 'no_inplace'}}}"

    def grad(self, inputs, output_grads):
        why = "No gradient is defined through a random draw."
        return [grad_undefined(self, k, x, why) for k, x in enumerate(inputs)]

    def R_op(self, inputs, eval_points):
        return [None for _ in eval_points]


class mrg_uniform(mrg_uniform_base):
    """`mrg_uniform_base` as it is computed.

    Parameters
    ----------
    output_type
        The type of the numbers: float16, float32 or float64.
    inplace
        Whether the states that come in are overwritten.
    """

    @classmethod
    def new(cls, rstate: TensorLike, ndim: int | None, dtype: str, size: TensorLike) -> list[Variable]:
        """Return variables for the next states and the numbers."""
        v_size = as_tensor_variable(size)
        if ndim is None:
            ndim = get_vector_length(v_size)
        return cls(TensorType(dtype, (None,) * ndim))(rstate, v_size)

    def make_node(self, rstate: TensorLike, size: TensorLike) -> Apply:
        rstate, size = as_tensor_variable(rstate), as_tensor_variable(size)
        if rstate.type.dtype != "int32" or rstate.type.ndim != 2:
            raise TypeError(f"{self}: states are a matrix of int32, one row for each stream; got {rstate.type}.")
        if self.output_type.dtype not in SCALES:
            raise TypeError(f"{self}: numbers are float16, float32 or float64, not {self.output_type.dtype}.")
        shape: Sequence[int | None] = self.output_type.shape
        if isinstance(size, Constant) and len(size.data) == len(shape):
            shape = [int(n) for n in size.data]
        elif size.type.shape == (len(shape),):
            known = infer_static_shape(size)[1]
            shape = [n if m is None else m for n, m in zip(shape, known, strict=True)]
        return Apply(self, [rstate, size], [rstate.type(), TensorType(self.output_type.dtype, shape)()])

    def perform(self, node, inputs, output_storage, params=None):
        states, size = inputs
        ndim, dtype = node.outputs[1].type.ndim, node.outputs[1].type.dtype
        if len(size) != ndim:
            raise ValueError(f"{self}: `size` must have length {ndim}, it has length {len(size)}: {size}.")
        if (size < 0).any():
            raise ValueError(f"{self}: lengths must not be negative: {size}.")
        if states.ndim != 2 or states.shape[1] != 6:
            raise ValueError(f"{self}: states have shape (streams, 6), not {states.shape}.")
        count = int(np.prod(size, dtype=np.int64))
        if count and not len(states):
            raise ValueError(f"{self}: {count} numbers cannot be drawn from a state without streams.")
        numbers, after = integers(states, count) if count else (np.zeros(0, np.int64), states)
        taken, added, factor = SCALES[dtype]
        numbers = (numbers if taken is None else numbers & taken) + added
        if self.inplace:
            states[...] = after
        output_storage[0][0] = states if self.inplace else after.astype("int32")
        output_storage[1][0] = (numbers * factor).astype(dtype).reshape([int(n) for n in size])

    def infer_shape(self, fgraph, node, shapes):
        size = node.inputs[1]
        return [shapes[0], [size[k] for k in range(node.outputs[1].type.ndim)]]
