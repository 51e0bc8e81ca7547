"""Indices of the nonzero elements of a tensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from aesara.graph.nodes import Apply, Constant
from aesara.graph.op import Op
from aesara.graph.pullback import grad_undefined
from aesara.tensor.core.casting import cast
from aesara.tensor.core.conversion import as_tensor_variable, constant
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise.ops import neq
from aesara.tensor.joining.join_split import stack
from aesara.tensor.shapes.rearranging import flatten

__all__ = ["flatnonzero", "nonzero", "nonzero_values"]


class Nonzero(Op):
    """The positions of the entries that are not zero, a vector for each dimension.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> rows, columns = Nonzero()(at.matrix("x"))
    >>> rows.dtype
    'int64'
    """

    __props__ = ()

    def make_node(self, a: Any) -> Apply:
        a = as_tensor_variable(a)
        if a.type.ndim == 0:
            raise ValueError("Nonzero only supports non-scalar arrays.")
        count = int(np.count_nonzero(a.data)) if isinstance(a, Constant) else None
        outputs = [tensor_type("int64", (count,))() for _ in range(a.type.ndim)]
        return Apply(self, [a], outputs)

    def perform(self, node, inputs, output_storage):
        for storage, positions in zip(output_storage, np.nonzero(inputs[0])):
            storage[0] = positions.astype("int64", copy=False)

    def infer_shape(self, fgraph, node, input_shapes):
        known = node.outputs[0].type.shape[0]
        if known is not None:
            count = constant(known, dtype="int64")
        else:
            (a,) = node.inputs
            is_there = a if a.type.dtype == "bool" else neq(a, 0)
            count = cast(is_there, "int64").sum()
        return [(count,) for _ in node.outputs]

    def grad(self, inputs, output_gradients):
        return [grad_undefined(self, 0, inputs[0])]


_nonzero = Nonzero()


def nonzero(a: TensorLike, return_matrix: bool = False) -> tuple[TensorVariable, ...] | TensorVariable:
    """Return the positions of the entries of `a` that are not zero.

    Parameters
    ----------
    a
        A tensor with at least one dimension.
    return_matrix
        Whether the positions are returned as the columns of one matrix.

    Returns
    -------
    tuple of TensorVariable, or TensorVariable
        One vector of int64 for each dimension of `a`, in C order of the entries.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> len(nonzero(at.matrix("x")))
    2
    """
    positions = _nonzero(a)
    if not isinstance(positions, (list, tuple)):
        positions = [positions]
    return stack(list(positions)) if return_matrix else tuple(positions)


def flatnonzero(a: TensorLike) -> TensorVariable:
    """Return the positions of the entries of the flattened `a` that are not zero.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> flatnonzero(at.matrix("x")).ndim
    1
    """
    a = as_tensor_variable(a)
    if a.type.ndim == 0:
        raise ValueError("Nonzero only supports non-scalar arrays.")
    return nonzero(a if a.type.ndim == 1 else flatten(a))[0]


def nonzero_values(a: TensorLike) -> TensorVariable:
    """Return the entries of `a` that are not zero, in C order, as a vector.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> nonzero_values(at.matrix("x")).ndim
    1
    """
    a = as_tensor_variable(a)
    return flatten(a)[flatnonzero(a)]
