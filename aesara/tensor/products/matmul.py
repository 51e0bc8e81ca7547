"""The matrix product that broadcasts over leading dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aesara import scalar as aes
from aesara.configdefaults import config
from aesara.graph.nodes import Apply
from aesara.graph.op import Op
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.tensor_like import OutputCells, TensorLike
from aesara.tensor.core.tensor_type import StaticShape, tensor_type
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise.ops import add, conj
from aesara.tensor.products.dot import dense_dot, gradient_of, is_discrete_product
from aesara.tensor.shapes.dimshuffle import dimshuffle
from aesara.tensor.shapes.length_one import declare_length_one

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from aesara.graph.fg import FunctionGraph


__all__ = ["matmul"]


class MatMul(Op):
    """The product of matrices, broadcast over all dimensions but the last two; see `numpy.matmul`.

    Parameters
    ----------
    dtype
        The dtype of the product; by default the one both inputs promote to.
    """

    __props__ = ("dtype",)

    def __init__(self, dtype: DTypeLike | None = None):
        self.dtype = None if dtype is None else np.dtype(dtype).name

    def make_node(self, a: Any, b: Any) -> Apply:
        a, b = as_tensor_variable(a), as_tensor_variable(b)
        if a.type.ndim == 0 or b.type.ndim == 0:
            raise ValueError("inputs to `matmul` cannot be scalar.")
        dtype = self.dtype or aes.upcast(a.type.dtype, b.type.dtype)
        return Apply(self, [a, b], [tensor_type(dtype, _static_shape(a, b))()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: OutputCells, params: object = None) -> None:
        dtype = node.outputs[0].type.numpy_dtype
        x, y = [np.asarray(value).astype(dtype, copy=False) for value in inputs]
        require_batches_to_fit(node, x.shape, y.shape)
        with np.errstate(all="ignore"):
            output_storage[0][0] = np.asarray(np.matmul(x, y))

    def infer_shape(
        self, fgraph: FunctionGraph, node: Apply, shapes: Sequence[Sequence[TensorVariable]]
    ) -> list[tuple]:
        (a, b), (a_shape, b_shape) = node.inputs, shapes
        result = []
        for axis in range(-max(a.type.ndim, b.type.ndim), -2):
            if -axis > a.type.ndim:
                result.append(b_shape[axis])
            elif -axis > b.type.ndim or a.type.shape[axis] != 1:
                result.append(a_shape[axis])
            else:
                result.append(b_shape[axis])
        if a.type.ndim > 1:
            result.append(a_shape[-2])
        if b.type.ndim > 1:
            result.append(b_shape[-1])
        return [tuple(result)]

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[TensorVariable]:
        if is_discrete_product(inputs):
            return [t.zeros_like(dtype=config.floatX) for t in inputs]
        a, b = map(conj, inputs)
        gz = as_tensor_variable(output_grads[0])
        a2 = a if a.type.ndim > 1 else dimshuffle(a, ("x", 0))
        b2 = b if b.type.ndim > 1 else dimshuffle(b, (0, "x"))
        if b.type.ndim == 1:
            gz = dimshuffle(gz, (*range(gz.type.ndim), "x"))
        if a.type.ndim == 1:
            last = gz.type.ndim - 1
            gz = dimshuffle(gz, (*range(last), "x", last))
        a_grad = _summed_to(a2, matmul(gz, _transpose_matrices(b2)))
        b_grad = _summed_to(b2, matmul(_transpose_matrices(a2), gz))
        if a.type.ndim == 1:
            a_grad = a_grad.sum(axis=0)
        if b.type.ndim == 1:
            b_grad = b_grad.sum(axis=1)
        return [gradient_of(t, gradient) for t, gradient in zip(inputs, (a_grad, b_grad))]

    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[TensorVariable | None]:
        (a, b), (a_tangent, b_tangent) = inputs, eval_points
        terms = []
        if a_tangent is not None:
            terms.append(self(a_tangent, b))
        if b_tangent is not None:
            terms.append(self(a, b_tangent))
        return [None if not terms else terms[0] if len(terms) == 1 else add(*terms)]


def require_batches_to_fit(node: Apply, x: tuple[int, ...], y: tuple[int, ...]) -> None:
    """Raise an error for leading dimensions of different lengths, unless one is statically 1."""
    for axis in range(-min(len(x), len(y)), -2):
        a, b = node.inputs
        if x[axis] != y[axis] and 1 not in (a.type.shape[axis], b.type.shape[axis]):
            operands = [(a, len(x) + axis, x[axis]), (b, len(y) + axis, y[axis])]
            raise ValueError(
                f"matmul: shapes {x} and {y} differ in dimension {axis}. A dimension is broadcast only where its "
                f"static length is 1: use specify_broadcastable to say so.{declare_length_one(operands)}"
            )


def _static_shape(a: TensorVariable, b: TensorVariable) -> StaticShape:
    """Return the static shape of a product; raise an error if the shapes are known not to match."""
    a_shape, b_shape = a.type.shape, b.type.shape
    inner_a, inner_b = a_shape[-1], b_shape[-2] if len(b_shape) > 1 else b_shape[-1]
    if inner_a is not None and inner_b is not None and inner_a != inner_b:
        raise ValueError(
            "number of columns of input 1 must be equal to the number of rows of input 2: "
            f"the inputs of matmul have types {a.type} and {b.type}."
        )
    a_batch, b_batch = a_shape[:-2], b_shape[:-2]
    ndim = max(len(a_batch), len(b_batch))
    batch: list[int | None] = []
    padded = [(1,) * (ndim - len(side)) + side for side in (a_batch, b_batch)]
    for of_a, of_b in zip(*padded):
        if of_a is not None and of_b is not None and of_a != of_b and 1 not in (of_a, of_b):
            raise ValueError(
                f"matmul cannot broadcast the leading dimensions of types {a.type} and {b.type}: {of_a} != {of_b}."
            )
        if of_a == 1:
            batch.append(of_b)
        elif of_b == 1 or of_b is None:
            batch.append(of_a)
        else:
            batch.append(of_b)
    rows = a_shape[-2:-1]
    columns = b_shape[-1:] if len(b_shape) > 1 else ()
    return (*batch, *rows, *columns)


def _transpose_matrices(x: TensorVariable) -> TensorVariable:
    """Transpose each matrix of a batch."""
    ndim = x.type.ndim
    return dimshuffle(x, (*range(ndim - 2), ndim - 1, ndim - 2))


def _summed_to(x: TensorVariable, gradient: TensorVariable) -> TensorVariable:
    """Sum a gradient over the leading dimensions along which `x` was broadcast."""
    extra = gradient.type.ndim - x.type.ndim
    if extra > 0:
        gradient = gradient.sum(axis=tuple(range(extra)))
    axes = [axis for axis in range(x.type.ndim - 2) if x.type.shape[axis] == 1 and gradient.type.shape[axis] != 1]
    return gradient.sum(axis=axes, keepdims=True) if axes else gradient


def matmul(x1: TensorLike, x2: TensorLike, dtype: DTypeLike | None = None) -> TensorVariable:
    """Return the matrix product of two tensors, broadcast over all dimensions but the last two.

    Parameters
    ----------
    x1, x2
        The tensors, with at least one dimension each. A vector counts as one
        row on the left and as one column on the right.
    dtype
        The dtype of the product; by default the one both promote to.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.matmul(at.tensor3(), at.matrix()).type
    TensorType(float64, (None, None, None))
    """
    return MatMul(dtype)(x1, x2)


def matrix_product(x: TensorLike, y: TensorLike) -> TensorVariable:
    """Return ``x @ y``: the product of matrices and vectors, or of each matrix of a batch."""
    x, y = as_tensor_variable(x), as_tensor_variable(y)
    if x.type.ndim > 2 or y.type.ndim > 2:
        return matmul(x, y)
    return dense_dot(x, y)
