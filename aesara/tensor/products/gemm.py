"""Matrix products in the forms of BLAS: scaled and added to a matrix.

Each is the same as an expression of elementary operations, which gradients, batches and native code are made from. In
Python it needs fewer passes over memory, and none for a result of its own if it may overwrite what it adds to.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aesara.graph.messages import describe
from aesara.graph.nodes import Apply, Constant
from aesara.graph.traversal import view_roots
from aesara.graph.utils import InconsistencyError
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.expression_op import ExpressionOp, MayOverwriteFirst
from aesara.tensor.core.tensor_like import OutputCells, TensorLike
from aesara.tensor.core.tensor_type import StaticShape, tensor_type
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise.ops import add, mul, neg
from aesara.tensor.products.dot import Dot

if TYPE_CHECKING:
    from aesara.graph.fg import FunctionGraph


__all__ = ["Dot22", "Dot22Scalar", "Gemm", "GemmRelated", "gemm", "gemm_inplace", "gemm_no_inplace"]

_dot = Dot()


class BlasOp(ExpressionOp):
    """An operation that one call of BLAS does."""


class GemmRelated(BlasOp):
    """Base of ops that compute a product of two matrices."""


def same_dtype(
    name: str, tensors: Sequence[TensorLike], scalars: Sequence[Any]
) -> tuple[list[TensorVariable], list[TensorVariable]]:
    """Tensors of one dtype, and factors without dimensions, in this dtype too; numbers are converted to it."""
    variables = [as_tensor_variable(t) for t in tensors]
    dtype = variables[0].type.dtype
    factors = []
    for value in scalars:
        factor = as_tensor_variable(value)
        if factor.type.ndim:
            raise TypeError(f"{name} requires scalar factors; got {describe(factor)} of type {factor.type}.")
        if isinstance(factor, Constant) and factor.type.dtype != dtype and np.can_cast(factor.type.dtype, dtype):
            factor = as_tensor_variable(np.asarray(factor.data, dtype=dtype))
        factors.append(factor)
    dtypes = [v.type.dtype for v in (*variables, *factors)]
    if any(of_one != dtype for of_one in dtypes):
        raise TypeError(f"{name} requires matching dtypes; got {', '.join(dtypes)}.")
    return variables, factors


def _require_matrices(name: str, tensors: Sequence[TensorVariable]) -> None:
    for t in tensors:
        if t.type.ndim != 2:
            raise TypeError(f"{name} only works for matrices; got {describe(t)} with {t.type.ndim} dimensions.")
        if t.type.dtype[:5] != "float" and t.type.dtype[:7] != "complex":
            raise TypeError(
                f"{name} requires floating-point or complex dtypes; got {describe(t)} of dtype {t.type.dtype}."
            )


def product_shape(z: TensorVariable, product: StaticShape) -> StaticShape:
    """Return the static shape of the sum of a tensor and a product."""
    return tuple(
        [
            of_product if of_z == 1 or (of_z is None and of_product != 1) else of_z
            for of_z, of_product in zip(z.type.shape, product)
        ]
    )


def _is_sign(factor: TensorVariable) -> bool:
    """Return whether a factor is known to be one or minus one."""
    return isinstance(factor, Constant) and bool(factor.data == 1 or factor.data == -1)


def times(factor: TensorVariable, z: TensorVariable) -> TensorVariable:
    """``factor * z``, without a factor that is one or minus one."""
    if isinstance(factor, Constant) and _is_sign(factor):
        return z if factor.data == 1 else neg(z)
    return mul(factor, z)


def is_zero(factor: TensorLike) -> bool:
    """Return whether a factor is known to be zero, in which case the scaled operand is not read."""
    return isinstance(factor, Constant) and bool(factor.data == 0)


def times_unless_zero(factor: TensorVariable, z: TensorVariable) -> TensorVariable:
    """Return ``factor * z``, or zero if the factor is known to be zero."""
    return z.zeros_like() if is_zero(factor) else times(factor, z)


def plus_scaled(
    z: np.ndarray, alpha: np.ndarray, product: np.ndarray, beta: np.ndarray | None, overwrite: bool
) -> np.ndarray:
    """Compute ``beta * z + alpha * product`` in the memory of the product or of `z`, which is not read if `beta` is
    None.
    """
    with np.errstate(all="ignore"):
        if alpha != 1:
            product *= alpha
        if beta is None:
            if overwrite and z.shape == product.shape:
                np.copyto(z, product)
                return z
            return product if product.shape == z.shape else product + np.zeros_like(z)
        if overwrite and z.shape == product.shape:
            if beta != 1:
                z *= beta
            z += product
            return z
        scaled = z if beta == 1 else z * beta
        if scaled.shape != product.shape:
            return product + scaled
        product += scaled
        return product


class Gemm(MayOverwriteFirst, GemmRelated):
    """``beta * z + alpha * dot(x, y)`` for matrices x, y and z and scalars alpha and beta of the same dtype.

    The order of the inputs is z, alpha, x, y, beta. If `beta` is the constant zero, only the shape of `z` is used, so
    NaN in `z` are ignored; if it is a variable with the value zero, they are not.

    Parameters
    ----------
    inplace
        Whether the result may be put into the memory of z.

    Attributes
    ----------
    E_rank, E_scalar, E_z_uniq, E_mixed, E_float
        What errors about arguments begin with.
    """

    E_rank = "gemm only works for matrices"
    E_scalar = "gemm requires scalar factors"
    E_z_uniq = "gemm: z is to be overwritten"
    E_mixed = "gemm requires matching dtypes"
    E_float = "gemm requires floating-point or complex dtypes"

    def make_node(self, *inputs: Any) -> Apply:
        if len(inputs) != 5:
            raise TypeError(f"{self} takes z, alpha, x, y and beta; got {len(inputs)} arguments.")
        z, alpha, x, y, beta = inputs
        (z, x, y), (alpha, beta) = same_dtype("gemm", (z, x, y), (alpha, beta))
        _require_matrices("gemm", (z, x, y))
        if self.inplace:
            roots = set(view_roots(z))
            for other in (x, y):
                if roots.intersection(view_roots(other)):
                    raise InconsistencyError(f"{self.E_z_uniq}, which is {z}, and {other} may be the same memory.")
        shape = product_shape(z, (x.type.shape[0], y.type.shape[1]))
        return Apply(self, [z, alpha, x, y, beta], [tensor_type(z.type.dtype, shape)()])

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]], params: object = None
    ) -> None:
        z, alpha, x, y, beta = inputs
        with np.errstate(all="ignore"):
            product = np.dot(x, y)
        _check_sum("gemm", node, z, product)
        beta = None if is_zero(node.inputs[4]) else beta
        output_storage[0][0] = plus_scaled(z, alpha, product, beta, self.inplace)

    def infer_shape(
        self, fgraph: FunctionGraph, node: Apply, shapes: Sequence[Sequence[TensorVariable]]
    ) -> list[tuple]:
        of_z, _, of_x, of_y, _ = shapes
        product = (of_x[0], of_y[1])
        return [tuple([p if n == 1 else s for n, s, p in zip(node.inputs[0].type.shape, of_z, product)])]

    def expression(self, *inputs: TensorVariable) -> TensorVariable:
        z, alpha, x, y, beta = inputs
        return add(mul(beta, z), mul(alpha, _dot(x, y)))

    def definition(self, *inputs: TensorVariable) -> TensorVariable:
        z, alpha, x, y, beta = inputs
        product = _dot(x, y) if _is_sign(alpha) else Dot22Scalar()(x, y, alpha)
        return add(times_unless_zero(beta, z), times(alpha, product) if _is_sign(alpha) else product)


def _check_sum(name: str, node: Apply, z: np.ndarray, product: np.ndarray) -> None:
    """Check that only dimensions with static length 1 are broadcast."""
    x, y = node.inputs[2], node.inputs[3]
    known = (x.type.shape[0], y.type.shape[1])
    for axis, (of_z, of_product) in enumerate(zip(z.shape, product.shape)):
        if of_z != of_product and node.inputs[0].type.shape[axis] != 1 and known[axis] != 1:
            raise ValueError(f"{name}: cannot add the product of shape {product.shape} to z of shape {z.shape}.")


gemm_inplace = Gemm(inplace=True)
gemm_no_inplace = Gemm(inplace=False)
#: For users. Rewrites make it work in place where this is possible.
gemm = gemm_no_inplace


class Dot22(GemmRelated):
    """The product of two matrices of one floating-point or complex dtype."""

    __props__ = ()

    def make_node(self, x: Any, y: Any) -> Apply:
        (x, y), _ = same_dtype("Dot22", (x, y), ())
        _require_matrices("Dot22", (x, y))
        return Apply(self, [x, y], [_dot(x, y).type()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: OutputCells, params: object = None) -> None:
        with np.errstate(all="ignore"):
            output_storage[0][0] = np.dot(*inputs)

    def infer_shape(
        self, fgraph: FunctionGraph, node: Apply, shapes: Sequence[Sequence[TensorVariable]]
    ) -> list[tuple]:
        return [(shapes[0][0], shapes[1][1])]

    def expression(self, *inputs: TensorVariable) -> TensorVariable:
        return _dot(*inputs)


class Dot22Scalar(GemmRelated):
    """``a * dot(x, y)`` for matrices x and y and a number a, all of one floating-point or complex dtype."""

    __props__ = ()

    def make_node(self, x: Any, y: Any, a: TensorLike) -> Apply:
        (x, y), (a,) = same_dtype("Dot22Scalar", (x, y), (a,))
        _require_matrices("Dot22Scalar", (x, y))
        return Apply(self, [x, y, a], [_dot(x, y).type()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: OutputCells, params: object = None) -> None:
        x, y, a = inputs
        with np.errstate(all="ignore"):
            product = np.dot(x, y)
            product *= a
        output_storage[0][0] = product

    def infer_shape(
        self, fgraph: FunctionGraph, node: Apply, shapes: Sequence[Sequence[TensorVariable]]
    ) -> list[tuple]:
        return [(shapes[0][0], shapes[1][1])]

    def expression(self, *inputs: TensorVariable) -> TensorVariable:
        x, y, a = inputs
        return mul(a, _dot(x, y))

    def definition(self, *inputs: TensorVariable) -> TensorVariable:
        x, y, a = inputs
        return times(a, _dot(x, y))
