"""Further functions on tensors, under the documented path.

What stands behind them is found by theme: `broadcasting`, `cumulative`, `diagonals`,
`index_conversion`, `repeating`, `searching`; here are vectors of equal steps, windows
and memory layout.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from aesara.graph.disconnected_type import disconnected_type
from aesara.graph.nodes import Apply, Variable
from aesara.graph.op import Op
from aesara.graph.pullback import grad_undefined
from aesara.scalar import int64 as int_t
from aesara.tensor.broadcasting import (
    BroadcastTo,
    broadcast_arrays,
    broadcast_shape,
    broadcast_shape_iter,
    broadcast_to,
    broadcast_to_,
)
from aesara.tensor.constant_value import constant_of_output, follow_input, known_integer
from aesara.tensor.conversion import as_tensor_variable
from aesara.tensor.cumulative import CumOp, CumprodOp, CumsumOp, cumprod, cumsum, diff
from aesara.tensor.diagonals import (
    FillDiagonal,
    FillDiagonalOffset,
    fill_diagonal,
    fill_diagonal_,
    fill_diagonal_offset,
    fill_diagonal_offset_,
)
from aesara.tensor.dtypes import integer_dtypes
from aesara.tensor.elementwise_ops import abs as at_abs
from aesara.tensor.elementwise_ops import ge, lt, maximum, minimum
from aesara.tensor.equal_steps import geomspace, linspace, logspace
from aesara.tensor.index_conversion import (
    RavelMultiIndex,
    UnravelIndex,
    ravel_multi_index,
    unravel_index,
)
from aesara.tensor.repeating import Repeat, compress, repeat, squeeze, to_one_hot
from aesara.tensor.searching import SearchsortedOp, Unique, bincount, searchsorted, unique
from aesara.tensor.subtensor_advanced import advanced_inc_subtensor1
from aesara.tensor.tensor_type import tensor_type
from aesara.tensor.type import dvector

__all__ = [
    "Bartlett",
    "BroadcastTo",
    "CpuContiguous",
    "CumOp",
    "CumprodOp",
    "CumsumOp",
    "FillDiagonal",
    "FillDiagonalOffset",
    "RavelMultiIndex",
    "Repeat",
    "SearchsortedOp",
    "Unique",
    "UnravelIndex",
    "advanced_inc_subtensor1",
    "at_abs",
    "bartlett",
    "bartlett_",
    "bincount",
    "broadcast_arrays",
    "broadcast_shape",
    "broadcast_shape_iter",
    "broadcast_to",
    "broadcast_to_",
    "compress",
    "cpu_contiguous",
    "cumprod",
    "cumsum",
    "diff",
    "disconnected_type",
    "dvector",
    "fill_diagonal",
    "fill_diagonal_",
    "fill_diagonal_offset",
    "fill_diagonal_offset_",
    "ge",
    "geomspace",
    "int_t",
    "linspace",
    "logspace",
    "lt",
    "maximum",
    "minimum",
    "ravel_multi_index",
    "repeat",
    "searchsorted",
    "squeeze",
    "to_one_hot",
    "unique",
    "unravel_index",
]


class CpuContiguous(Op):
    """A tensor with its entries in C order in memory; itself if they are already.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> CpuContiguous()(at.matrix("x").T).ndim
    2
    """

    __props__ = ()
    view_map = {0: [0]}
    check_input = False

    def make_node(self, x: Any) -> Apply:
        x = as_tensor_variable(x)
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = np.require(inputs[0], requirements="C")

    def infer_shape(self, fgraph, node, input_shapes):
        return input_shapes

    def grad(self, inputs, output_gradients):
        return [cpu_contiguous(output_gradients[0])]

    def R_op(self, inputs, eval_points):
        return [None if point is None else self(point) for point in eval_points]


cpu_contiguous = CpuContiguous()
constant_of_output.register(CpuContiguous)(follow_input(0))


class Bartlett(Op):
    """A triangular window; see `bartlett`.

    Examples
    --------
    >>> Bartlett()(5).type.shape
    (5,)
    """

    __props__ = ()

    def make_node(self, M: Any) -> Apply:
        M = as_tensor_variable(M)
        if M.type.ndim != 0:
            raise TypeError(f"{type(self).__name__} only works on scalars; got {M.type}.")
        if M.type.dtype not in integer_dtypes:
            raise TypeError(f"{type(self).__name__} only works on integers; got {M.type}.")
        known = known_integer(M)
        length = None if known is None else max(known, 0)
        return Apply(self, [M], [tensor_type("float64", (length,))()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = np.bartlett(int(inputs[0]))

    def infer_shape(self, fgraph, node, input_shapes):
        return [(maximum(node.inputs[0].astype("int64"), 0),)]

    def grad(self, inputs, output_gradients):
        return [grad_undefined(self, 0, inputs[0], "The length is not continuous.")]


bartlett_ = Bartlett()


def bartlett(M: Any) -> Variable:
    """Return the Bartlett window: a triangle from 0 up to 1 and down to 0.

    Parameters
    ----------
    M
        The number of points; the result is empty if it is not positive.

    Examples
    --------
    >>> bartlett(5).type.shape
    (5,)
    """
    return bartlett_(M)
