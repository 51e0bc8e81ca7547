"""Matrix-vector and outer products in the forms of BLAS: scaled and added to a tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aesara.graph.messages import describe
from aesara.graph.nodes import Apply
from aesara.tensor.core.expression_op import MayOverwriteFirst
from aesara.tensor.core.tensor_like import OutputCells, TensorLike
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise.ops import add, mul
from aesara.tensor.products.dot import Dot, outer
from aesara.tensor.products.gemm import (
    BlasOp,
    is_zero,
    plus_scaled,
    product_shape,
    same_dtype,
    times,
    times_unless_zero,
)

if TYPE_CHECKING:
    from aesara.graph.fg import FunctionGraph


__all__ = ["Gemv", "Ger", "gemv", "gemv_inplace", "gemv_no_inplace", "ger", "ger_destructive"]

_dot = Dot()


class Gemv(MayOverwriteFirst, BlasOp):
    """``beta * y + alpha * dot(A, x)`` for vectors x and y, a matrix A and scalars alpha and beta of the same dtype.

    The order of the inputs is y, alpha, A, x, beta. If `beta` is the constant zero, only the shape of `y` is used, so
    NaN in `y` are ignored; if it is a variable with the value zero, they are not.

    Parameters
    ----------
    inplace
        Whether the result may be put into the memory of y.
    """

    def make_node(self, y: Any, alpha: Any, A: TensorLike, x: TensorLike, beta: TensorLike) -> Apply:
        (y, A, x), (alpha, beta) = same_dtype("gemv", (y, A, x), (alpha, beta))
        for name, t, ndim in (("A", A, 2), ("x", x, 1), ("y", y, 1)):
            if t.type.ndim != ndim:
                kind = "matrix" if ndim == 2 else "vector"
                raise TypeError(f"gemv requires a {kind} for {name}; got {describe(t)} of type {t.type}.")
        shape = product_shape(y, _dot(A, x).type.shape)
        return Apply(self, [y, alpha, A, x, beta], [tensor_type(y.type.dtype, shape)()])

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]], params: object = None
    ) -> None:
        y, alpha, A, x, beta = inputs
        broadcasts = node.inputs[0].type.shape[0] == 1 or node.inputs[2].type.shape[0] == 1
        if A.shape[1] != x.shape[0] or (A.shape[0] != y.shape[0] and not broadcasts):
            raise ValueError(f"gemv: the shapes of y {y.shape}, A {A.shape} and x {x.shape} do not match.")
        with np.errstate(all="ignore"):
            product = np.dot(A, x)
        beta = None if is_zero(node.inputs[4]) else beta
        output_storage[0][0] = plus_scaled(y, alpha, product, beta, self.inplace)

    def infer_shape(
        self, fgraph: FunctionGraph, node: Apply, shapes: Sequence[Sequence[TensorVariable]]
    ) -> list[tuple]:
        return [(shapes[2][0] if node.inputs[0].type.shape[0] == 1 else shapes[0][0],)]

    def expression(self, *inputs: TensorVariable) -> TensorVariable:
        y, alpha, A, x, beta = inputs
        return add(mul(beta, y), mul(alpha, _dot(A, x)))

    def definition(self, *inputs: TensorVariable) -> TensorVariable:
        y, alpha, A, x, beta = inputs
        return add(times_unless_zero(beta, y), times(alpha, _dot(A, x)))


gemv_inplace = Gemv(inplace=True)
gemv_no_inplace = Gemv(inplace=False)
#: For users. Rewrites make it work in place where this is possible.
gemv = gemv_no_inplace


class Ger(MayOverwriteFirst, BlasOp):
    """``A + alpha * outer(x, y)`` for a matrix A, vectors x and y and a number alpha, all of one dtype.

    Inputs are in the order A, alpha, x, y.

    Parameters
    ----------
    destructive
        Whether the result may be put into the memory of A.
    """

    __props__ = ("destructive",)

    def __init__(self, destructive: bool):
        super().__init__(destructive)
        self.destructive = self.inplace

    def __str__(self) -> str:
        return f"{type(self).__name__}{{{'destructive' if self.destructive else 'non-destructive'}}}"

    def make_node(self, A: Any, alpha: Any, x: TensorLike, y: TensorLike) -> Apply:
        (A, x, y), (alpha,) = same_dtype("ger", (A, x, y), (alpha,))
        for name, t, ndim in (("A", A, 2), ("x", x, 1), ("y", y, 1)):
            if t.type.ndim != ndim:
                kind = "matrix" if ndim == 2 else "vector"
                raise TypeError(f"ger requires a {kind} for {name}; got {describe(t)} of type {t.type}.")
        if A.type.dtype[:5] != "float" and A.type.dtype[:7] != "complex":
            raise TypeError(
                f"ger requires floating-point or complex dtypes; got {describe(A)} of dtype {A.type.dtype}."
            )
        shape = product_shape(A, (x.type.shape[0], y.type.shape[0]))
        return Apply(self, [A, alpha, x, y], [tensor_type(A.type.dtype, shape)()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: OutputCells, params: object = None) -> None:
        A, alpha, x, y = inputs
        for axis, vector in ((0, x), (1, y)):
            may_broadcast = 1 in (node.inputs[0].type.shape[axis], node.inputs[2 + axis].type.shape[0])
            if A.shape[axis] != vector.shape[0] and not may_broadcast:
                raise ValueError(f"ger: the shapes of A {A.shape}, x {x.shape} and y {y.shape} do not match.")
        with np.errstate(all="ignore"):
            product = np.multiply.outer(x * alpha, y)
        output_storage[0][0] = plus_scaled(A, np.ones((), A.dtype), product, np.ones((), A.dtype), self.destructive)

    def infer_shape(
        self, fgraph: FunctionGraph, node: Apply, shapes: Sequence[Sequence[TensorVariable]]
    ) -> list[tuple]:
        of_A, _, of_x, of_y = shapes
        lengths = (of_x[0], of_y[0])
        return [tuple([v if n == 1 else s for n, s, v in zip(node.inputs[0].type.shape, of_A, lengths)])]

    def expression(self, *inputs: TensorVariable) -> TensorVariable:
        A, alpha, x, y = inputs
        return add(A, mul(alpha, outer(x, y)))

    def definition(self, *inputs: TensorVariable) -> TensorVariable:
        A, alpha, x, y = inputs
        return add(A, mul(times(alpha, x.dimshuffle(0, "x")), y.dimshuffle("x", 0)))


ger = Ger(destructive=False)
ger_destructive = Ger(destructive=True)
