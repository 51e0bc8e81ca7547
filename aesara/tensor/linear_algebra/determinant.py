"""Determinants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara.graph.nodes import Apply
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise.ops import conj, imag
from aesara.tensor.linear_algebra.core import (
    MatrixOp,
    adjoint,
    as_square,
    cast_together,
    is_connected,
    real_dtype,
)
from aesara.tensor.linear_algebra.failures import NanOnError
from aesara.tensor.linear_algebra.inverse import matrix_inverse
from aesara.tensor.linear_algebra.svd import SVD
from aesara.tensor.products.dot import dot

__all__ = ["Cofactors", "CofactorsGrad", "Det", "SLogDet", "det", "slogdet"]


class Det(MatrixOp):
    """The determinant of a square matrix.

    Gradients are exact for singular matrices too.

    Examples
    --------
    >>> print(round(float(Det()([[1.0, 2.0], [3.0, 4.0]]).eval()), 12))
    -2.0
    """

    __props__ = ()
    gufunc_signature = "(n,n)->()"

    def make_node(self, x: Any) -> Apply:
        (x,) = cast_together(self, as_square(self, x, "x"))
        return Apply(self, [x], [tensor_type(x.type.dtype, ())()])

    def perform(self, node, inputs, output_storage, params=None):
        output_storage[0][0] = np.asarray(np.linalg.det(inputs[0]), dtype=inputs[0].dtype)

    def infer_shape(self, fgraph, node, shapes):
        return [()]

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[TensorVariable]:
        return [output_grads[0] * conj(Cofactors()(inputs[0]))]

    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[TensorVariable | None]:
        (point,) = eval_points
        return [None if point is None else (Cofactors()(inputs[0]) * point).sum()]


det = Det()


def _products_of_others(s: np.ndarray) -> np.ndarray:
    """Return for each number the product of all other numbers."""
    before = np.concatenate((np.ones(1, s.dtype), np.cumprod(s[:-1])))
    after = np.concatenate((np.cumprod(s[:0:-1])[::-1], np.ones(1, s.dtype)))
    return before * after


def _decompose(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, Any]:
    """Return the singular value decomposition, and the determinant of the product of both unitary factors; or NaN."""
    storage: list[list[Any]] = [[None], [None], [None]]
    NanOnError(SVD()).perform(None, [x], storage)
    ((u,), (s,), (vh,)) = storage
    return u, s, vh, np.linalg.det(u) * np.linalg.det(vh)


class Cofactors(MatrixOp):
    """The cofactors of a square matrix: derivatives of its determinant with respect to its elements.

    For an invertible matrix they are ``det(A) * inv(A).T``. They are computed from singular values, so singular
    matrices are supported. Like determinants, they are NaN for matrices that are not finite.

    Examples
    --------
    >>> Cofactors()([[1.0, 2.0], [3.0, 4.0]]).eval().round(12)
    array([[ 4., -3.],
           [-2.,  1.]])
    """

    __props__ = ()
    gufunc_signature = "(n,n)->(n,n)"

    def make_node(self, x: Any) -> Apply:
        (x,) = cast_together(self, as_square(self, x, "x"))
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage, params=None):
        (x,) = inputs
        if x.shape[0] != x.shape[1]:
            raise ValueError(f"{self}: the matrix must be square; it has shape {x.shape}.")
        u, s, vh, sign = _decompose(x)
        output_storage[0][0] = (sign * (u.conj() * _products_of_others(s)) @ vh.conj()).astype(x.dtype)

    def infer_shape(self, fgraph, node, shapes):
        return [shapes[0]]

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[TensorVariable]:
        # The matrix of second derivatives of the determinant is symmetric.
        return [conj(CofactorsGrad()(inputs[0], conj(output_grads[0])))]

    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[TensorVariable | None]:
        (point,) = eval_points
        return [None if point is None else CofactorsGrad()(inputs[0], point)]


class CofactorsGrad(MatrixOp):
    """The change of the cofactors of a matrix along a direction."""

    __props__ = ()
    gufunc_signature = "(n,n),(n,n)->(n,n)"

    def make_node(self, x: Any, direction: Any) -> Apply:
        x, direction = cast_together(self, as_square(self, x, "x"), as_square(self, direction, "direction"))
        return Apply(self, [x, direction], [x.type()])

    def perform(self, node, inputs, output_storage, params=None):
        x, direction = inputs
        u, s, vh, sign = _decompose(x)
        n = len(s)
        turned = u.conj().T @ direction @ vh.conj().T
        # The products of all singular values but two
        products = np.zeros((n, n), s.dtype)
        for i in range(n):
            products[i, np.arange(n) != i] = _products_of_others(np.delete(s, i))
        middle = -turned.T * products
        middle[np.arange(n), np.arange(n)] = products @ np.diagonal(turned)
        output_storage[0][0] = (sign * u.conj() @ middle @ vh.conj()).astype(x.dtype)

    def infer_shape(self, fgraph, node, shapes):
        return [shapes[0]]

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[TensorVariable]:
        """Return the exact gradient for the direction; that for the matrix assumes that it is invertible."""
        x, direction = inputs
        g = conj(output_grads[0])
        inverse = matrix_inverse(x)
        return [conj(_third_derivative(x, inverse, direction, g)), conj(CofactorsGrad()(x, g))]


def _third_derivative(
    x: TensorVariable, inverse: TensorVariable, d: TensorVariable, e: TensorVariable
) -> TensorVariable:
    """Return the third derivative of a determinant along two directions, as a matrix for the third direction."""
    p, q = dot(inverse, d), dot(inverse, e)
    trace_p, trace_q = p.trace(), q.trace()
    pq = dot(p, q)
    first = trace_p * trace_q - pq.trace()
    matrix = dot((pq + dot(q, p) - trace_p * q - trace_q * p), inverse) + first * inverse
    return det(x) * matrix.T


class SLogDet(MatrixOp):
    """The sign and the logarithm of the absolute value of the determinant of a square matrix.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> sign, logarithm = at.linalg.slogdet([[0.0, 1e200], [1e200, 0.0]])
    >>> print(sign.eval(), logarithm.eval().round(3))
    -1.0 921.034
    """

    __props__ = ()
    gufunc_signature = "(n,n)->(),()"

    def make_node(self, x: Any) -> Apply:
        (x,) = cast_together(self, as_square(self, x, "x"))
        dtype = x.type.dtype
        return Apply(self, [x], [tensor_type(dtype, ())(), tensor_type(real_dtype(dtype), ())()])

    def perform(self, node, inputs, output_storage, params=None):
        sign, logarithm = np.linalg.slogdet(inputs[0])
        output_storage[0][0] = np.asarray(sign, dtype=node.outputs[0].type.dtype)
        output_storage[1][0] = np.asarray(logarithm, dtype=node.outputs[1].type.dtype)

    def infer_shape(self, fgraph, node, shapes):
        return [(), ()]

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[TensorVariable]:
        """Return the gradient; the sign of a real determinant has none, that of a complex one depends on the phase."""
        (x,), (sign, _), (of_sign, of_logarithm) = inputs, outputs, output_grads
        is_complex = x.type.dtype.startswith("complex")
        factors = []
        if is_connected(of_logarithm):
            factors.append(of_logarithm.astype(x.type.dtype))
        if is_connected(of_sign) and is_complex:
            factors.append(imag(of_sign * conj(sign)).astype(x.type.dtype) * np.asarray(1j, dtype=x.type.dtype))
        if not factors:
            return [x.zeros_like()]
        factor = factors[0] if len(factors) == 1 else factors[0] + factors[1]
        return [factor * adjoint(matrix_inverse(x))]


def slogdet(x: TensorLike) -> list[TensorVariable]:
    """Return the sign and the log absolute value of a determinant, without overflow or underflow.

    Examples
    --------
    >>> import numpy as np
    >>> import aesara.tensor as at
    >>> float(at.linalg.slogdet(1e-3 * np.eye(200))[1].eval().round(3))
    -1381.551
    """
    return SLogDet()(x)
