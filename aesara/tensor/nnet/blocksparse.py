"""Products of a block matrix and block vectors, for selected blocks only.

A block matrix W has the shape ``(input blocks, output blocks, input size, output size)``; block vectors are ``(batch,
blocks, size)``, with block numbers in a matrix of integers ``(batch, blocks)``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aesara import scalar as aes
from aesara.graph.disconnected_type import disconnected_type
from aesara.graph.messages import describe
from aesara.graph.nodes import Apply, Variable
from aesara.tensor.core.conversion import as_tensor_variable, constant
from aesara.tensor.core.dtypes import integer_dtypes
from aesara.tensor.core.expression_op import ExpressionOp, MayOverwriteFirst
from aesara.tensor.core.tensor_like import OutputCells, TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise.ops import conj, mul
from aesara.tensor.indexing.inc_subtensor import inc_subtensor
from aesara.tensor.reductions.sum_prod_max import sum as tensor_sum

if TYPE_CHECKING:
    from aesara.graph.fg import FunctionGraph


def _operand(name: str, x: TensorLike, ndim: int) -> TensorVariable:
    x = as_tensor_variable(x)
    if x.type.ndim != ndim:
        raise TypeError(f"{name} must be a {ndim}D tensor; got {describe(x)} with {x.type.ndim} dimensions")
    return x


def _block_numbers(name: str, x: TensorLike) -> TensorVariable:
    x = _operand(name, x, 2)
    if x.type.dtype not in integer_dtypes:
        raise TypeError(f"{name} must have an integer dtype; got {describe(x)} of type {x.type}")
    return x


class _BlockOp(MayOverwriteFirst, ExpressionOp):
    """Base class of ops that add products of blocks to a copy of their first input, or to this input in place."""

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: OutputCells, params: object = None) -> None:
        result = inputs[0] if self.inplace else np.array(inputs[0])
        with np.errstate(all="ignore"):
            self._add_to(result, *inputs[1:])
        output_storage[0][0] = result

    def _add_to(self, result: np.ndarray, *others: np.ndarray) -> None:
        raise NotImplementedError(f"{type(self).__name__}._add_to")

    def infer_shape(self, fgraph: FunctionGraph, node: Apply, shapes: Sequence[Any]) -> list[tuple]:
        return [shapes[0]]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[v.type.dtype not in integer_dtypes] for v in node.inputs]

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable]:
        gradients = super().L_op(inputs, outputs, output_grads)
        return [
            disconnected_type() if v.type.dtype in integer_dtypes else gradient
            for v, gradient in zip(inputs, gradients)
        ]


class SparseBlockGemv(_BlockOp):
    """Products of chosen blocks of a matrix with vectors in blocks, added to vectors in blocks.

    For each entry b of the batch and all i and j ::

        o[b, j] += dot(h[b, i], W[inputIdx[b, i], outputIdx[b, j]])

    Parameters
    ----------
    inplace
        Add to the memory of the first input.
    """

    def make_node(self, o: Any, W: Any, h: TensorLike, inputIdx: TensorLike, outputIdx: TensorLike) -> Apply:
        """The inputs.

        Parameters
        ----------
        o
            The tensor to add to: ``(batch, chosen output blocks, output size)``.
        W
            The matrix: ``(input blocks, output blocks, input size, output size)``.
        h
            The vectors: ``(batch, chosen input blocks, input size)``.
        inputIdx, outputIdx
            The numbers of the chosen blocks: ``(batch, chosen input blocks)`` and ``(batch, chosen output blocks)``.
        """
        o, W, h = _operand("The output o", o, 3), _operand("The weight matrix W", W, 4), _operand("The input h", h, 3)
        indices = [_block_numbers("inputIdx", inputIdx), _block_numbers("outputIdx", outputIdx)]
        dtype = aes.upcast(o.type.dtype, W.type.dtype, h.type.dtype)
        o, W, h = (v.astype(dtype) for v in (o, W, h))
        return Apply(self, [o, W, h, *indices], [o.type()])

    def _add_to(self, result: np.ndarray, *others: np.ndarray) -> None:
        W, h, of_input, of_output = others
        _require_shapes(result, h, of_input, of_output, W.shape[2], W.shape[3])
        for b in range(len(result)):
            for j in range(result.shape[1]):
                for i in range(h.shape[1]):
                    result[b, j] += np.dot(h[b, i], W[of_input[b, i], of_output[b, j]])

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable]:
        _, W, h, of_input, of_output = inputs
        (g,) = output_grads
        of_W = sparse_block_outer(W.zeros_like(), conj(h), g, of_input, of_output)
        of_h = sparse_block_gemv(h.zeros_like(), conj(W).dimshuffle(1, 0, 3, 2), g, of_output, of_input)
        return [g, of_W, of_h, disconnected_type(), disconnected_type()]

    def expression(self, *inputs: TensorVariable) -> TensorVariable:
        o, W, h, of_input, of_output = inputs
        blocks = W[of_input.dimshuffle(0, "x", 1), of_output.dimshuffle(0, 1, "x")]
        products = mul(h.dimshuffle(0, "x", 1, 2, "x"), blocks)
        return o + tensor_sum(products, axis=(2, 3), dtype=o.type.dtype)


class SparseBlockOuter(_BlockOp):
    """Outer products of vectors in blocks, added to chosen blocks of a matrix.

    For each entry b of the batch and all i and j ::

        o[xIdx[b, i], yIdx[b, j]] += alpha * outer(x[b, i], y[b, j])

    Parameters
    ----------
    inplace
        Add to the memory of the first input.
    """

    def make_node(
        self, o: Any, x: Any, y: TensorLike, xIdx: TensorLike, yIdx: TensorLike, alpha: TensorLike | None = None
    ) -> Apply:
        """The inputs.

        Parameters
        ----------
        o
            The tensor to add to: ``(x blocks, y blocks, x size, y size)``.
        x, y
            The vectors: ``(batch, chosen blocks, size)``.
        xIdx, yIdx
            The numbers of the chosen blocks: ``(batch, chosen blocks)``.
        alpha
            A factor, 1 by default.
        """
        o, x, y = _operand("The output o", o, 4), _operand("The input x", x, 3), _operand("The input y", y, 3)
        indices = [_block_numbers("xIdx", xIdx), _block_numbers("yIdx", yIdx)]
        dtype = aes.upcast(o.type.dtype, x.type.dtype, y.type.dtype)
        factor = constant(np.asarray(1, dtype=dtype)) if alpha is None else _operand("alpha", alpha, 0)
        o, x, y, factor = (v.astype(dtype) for v in (o, x, y, factor))
        return Apply(self, [o, x, y, *indices, factor], [o.type()])

    def _add_to(self, result: np.ndarray, *others: np.ndarray) -> None:
        x, y, of_x, of_y, alpha = others
        _require_shapes(y, x, of_x, of_y, result.shape[2], result.shape[3])
        for b in range(len(x)):
            for i in range(x.shape[1]):
                for j in range(y.shape[1]):
                    result[of_x[b, i], of_y[b, j]] += alpha * np.outer(x[b, i], y[b, j])

    def expression(self, *inputs: TensorVariable) -> TensorVariable:
        o, x, y, of_x, of_y, alpha = inputs
        products = x.dimshuffle(0, 1, "x", 2, "x") * y.dimshuffle(0, "x", 1, "x", 2) * alpha
        return inc_subtensor(o[of_x.dimshuffle(0, 1, "x"), of_y.dimshuffle(0, "x", 1)], products)


def _require_shapes(
    out: np.ndarray, h: np.ndarray, of_h: np.ndarray, of_out: np.ndarray, h_size: int, out_size: int
) -> None:
    """Check the shapes of block vectors, block numbers and blocks of the matrix."""
    batch = len(out)
    shapes = (out.shape[2], h.shape, of_h.shape, of_out.shape)
    if shapes != (out_size, (batch, h.shape[1], h_size), (batch, h.shape[1]), (batch, out.shape[1])):
        raise ValueError(
            f"Vectors in blocks {h.shape} and {out.shape}, numbers of blocks {of_h.shape} and {of_out.shape}, and "
            f"blocks of {h_size} times {out_size} do not fit together."
        )


sparse_block_gemv = SparseBlockGemv(False)
sparse_block_gemv_inplace = SparseBlockGemv(True)
sparse_block_outer = SparseBlockOuter(False)
sparse_block_outer_inplace = SparseBlockOuter(True)


def sparse_block_dot(
    W: TensorLike, h: TensorLike, inputIdx: TensorLike, b: TensorLike, outputIdx: TensorLike
) -> TensorVariable:
    """Multiply chosen blocks of a matrix with vectors in blocks, and add a bias.

    Parameters
    ----------
    W
        The matrix: ``(input blocks, output blocks, input size, output size)``.
    h
        The vectors: ``(batch, chosen input blocks, input size)``, or without the batch.
    inputIdx
        The numbers of the chosen input blocks: ``(batch, chosen input blocks)``, or without the batch.
    b
        The bias of all output blocks: ``(output blocks, output size)``.
    outputIdx
        The numbers of the output blocks to compute: ``(batch, chosen output blocks)``, or without the batch.

    Returns
    -------
    TensorVariable
        ``(batch, chosen output blocks, output size)``.

    Examples
    --------
    >>> import numpy as np
    >>> W = np.arange(8.0).reshape(2, 2, 1, 2)
    >>> sparse_block_dot(W, [[[1.0]]], [[1]], np.zeros((2, 2)), [[0, 1]]).eval()
    array([[[4., 5.],
            [6., 7.]]])
    """
    W, h, of_input, b, of_output = map(as_tensor_variable, (W, h, inputIdx, b, outputIdx))
    if h.type.ndim == 2:
        h = h.dimshuffle("x", 0, 1)
    if of_input.type.ndim == 1:
        of_input = of_input.dimshuffle("x", 0)
    if of_output.type.ndim == 1:
        of_output = of_output.dimshuffle("x", 0)
    return sparse_block_gemv(b[of_output], W, h, of_input, of_output)
