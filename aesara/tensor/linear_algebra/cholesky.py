"""Cholesky factors of positive definite matrices, and systems of equations solved by them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara.graph.nodes import Apply
from aesara.tensor.core.expression_op import ExpressionOp
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.eye_tri import eye
from aesara.tensor.linear_algebra.core import (
    MatrixOp,
    adjoint,
    as_square,
    cast_together,
    check_choice,
    column,
    common_size,
    matrix_type,
    nan_like,
    of_triangle,
    real_dtype,
    scipy_linalg,
    triangle,
)
from aesara.tensor.linear_algebra.solve import (
    SolveBase,
    SolveTriangular,
    with_right_hand_side,
)
from aesara.tensor.products.dot import dot

__all__ = ["CholeskySolve", "Cholesky", "cho_solve", "cholesky"]


class Cholesky(MatrixOp):
    """The Cholesky factor of a Hermitian positive definite matrix.

    Only the triangle of the matrix that corresponds to the factor is read; gradients are zero in the other.

    Parameters
    ----------
    lower
        Whether the result is L of ``A = L L^H``; else it is U of ``A = U^H U``.
    on_error
        For a matrix that is not positive definite: ``"raise"`` a `numpy.linalg.LinAlgError`, or return ``"nan"``.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> Cholesky()(at.as_tensor([[4.0, 2.0], [2.0, 5.0]])).eval()
    array([[2., 0.],
           [1., 2.]])
    """

    __props__ = ("lower", "destructive", "on_error")
    gufunc_signature = "(n,n)->(n,n)"

    def __init__(self, lower: bool = True, on_error: str = "raise"):
        self.lower = lower
        self.destructive = False
        self.on_error = check_choice("on_error", on_error, ("raise", "nan"))

    def make_node(self, x: Any) -> Apply:
        x = as_square(self, x, "x")
        (x,) = cast_together(self, x)
        size = common_size(self, *x.type.shape)
        return Apply(self, [x], [matrix_type(x.type.dtype, size, size)()])

    def perform(self, node, inputs, output_storage, params=None):
        (x,) = inputs
        try:
            result = scipy_linalg().cholesky(x, lower=bool(self.lower), check_finite=self.on_error == "raise")
        except np.linalg.LinAlgError as error:
            if self.on_error == "raise":
                # SciPy's own message depends on its version, and may name the routine only.
                raise np.linalg.LinAlgError(f"The matrix is not positive definite: {error}") from error
            result = nan_like(x)
        if self.on_error == "nan" and not np.isfinite(result).all():
            result = nan_like(x)
        output_storage[0][0] = np.asarray(result, dtype=x.dtype)

    def infer_shape(self, fgraph, node, shapes):
        return [shapes[0]]

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[TensorVariable]:
        return [CholeskyPullback(bool(self.lower))(outputs[0], output_grads[0])]


cholesky = Cholesky()


class CholeskyPullback(ExpressionOp):
    """The gradient of a Cholesky factorization: for one triangle of the matrix, given the factor and the gradient for
    it.

    Only the triangles of both inputs are read. Rules match gradients that are sums of gradients of log determinants and
    quadratic forms, which need only the inverse of the matrix, without further products or solutions of its order.

    Parameters
    ----------
    lower
        Whether the factor is the lower one.

    Examples
    --------
    >>> CholeskyPullback()([[2.0, 0.0], [0.0, 2.0]], [[1.0, 0.0], [1.0, 1.0]]).eval()
    array([[0.25, 0.  ],
           [0.5 , 0.25]])
    """

    __props__ = ("lower",)

    def __init__(self, lower: bool = True):
        self.lower = lower

    def make_node(self, factor: Any, gradient: Any) -> Apply:
        factor, gradient = as_square(self, factor, "factor"), as_square(self, gradient, "gradient")
        factor, gradient = cast_together(self, factor, gradient)
        size = common_size(self, *factor.type.shape, *gradient.type.shape)
        return Apply(self, [factor, gradient], [matrix_type(factor.type.dtype, size, size)()])

    def expression(self, *inputs: TensorVariable) -> TensorVariable:
        factor, gradient = inputs
        return self.of_triangular(triangle(factor, self.lower), gradient)

    def of_triangular(self, factor: TensorVariable, gradient: TensorVariable) -> TensorVariable:
        """Return the expression for a factor with zeros in the other triangle.

        Murray (2016), "Differentiation of the Cholesky decomposition", with conjugates.
        """
        if not self.lower:
            factor, gradient = adjoint(factor), adjoint(gradient)
        inner = dot(adjoint(factor), gradient)
        halves = 1 - 0.5 * eye(inner.shape[0], dtype=real_dtype(inner.type.dtype))
        inner = triangle(inner, True) * halves.astype(real_dtype(inner.type.dtype))
        # Factors that are NaN by `on_error` give gradients that are NaN.
        back = SolveTriangular(trans="C", lower=True, check_finite=False)
        middle = inner + adjoint(inner)
        whole = 0.5 * back(factor, adjoint(back(factor, adjoint(middle))))
        return of_triangle(whole, self.lower)

    def perform(self, node, inputs, output_storage, params=None):
        factor, gradient = inputs
        if factor.shape != gradient.shape or factor.shape[0] != factor.shape[1]:
            raise ValueError(f"{self}: matrices of shapes {factor.shape} and {gradient.shape} do not fit.")
        if factor.size == 0:
            output_storage[0][0] = gradient.copy()
            return
        if not self.lower:
            factor, gradient = factor.T.conj(), gradient.T.conj()
        factor = np.tril(factor)
        inner = np.tril(factor.T.conj() @ np.tril(gradient))
        middle = inner + inner.T.conj() - np.diag(inner.diagonal()).real
        half = _solved_back(factor, middle)
        whole = _solved_back(factor, half.T.conj())
        both = np.tril(whole + whole.T.conj()) / 2
        both = both - np.diag(both.diagonal()) / 2
        output_storage[0][0] = np.asarray(both if self.lower else both.T.conj(), node.outputs[0].type.dtype)

    def infer_shape(self, fgraph, node, shapes):
        return [shapes[0]]


def _solved_back(factor: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Solve with the conjugate transpose of a lower triangular matrix."""
    if not np.isfinite(factor).all():
        return nan_like(b)
    solution: np.ndarray = scipy_linalg().solve_triangular(factor, b, trans="C", lower=True, check_finite=False)
    return solution


class CholeskySolve(SolveBase):
    """The solution of ``A x = b``, from the Cholesky factor of A.

    Parameters
    ----------
    lower
        Whether the factor is the lower one.
    check_finite
        Whether to raise a ValueError if there are infinities or NaN.
    """

    def __init__(self, lower: bool = True, check_finite: bool = True):
        super().__init__(lower=lower, check_finite=check_finite)

    def solution(self, A: np.ndarray, b: np.ndarray) -> np.ndarray:
        return scipy_linalg().cho_solve((A, bool(self.lower)), b, check_finite=self.check_finite)

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[TensorVariable]:
        factor, _ = inputs
        of_b = CholeskySolve(self.lower, False)(factor, output_grads[0])
        of_matrix = -dot(column(of_b), adjoint(column(outputs[0])))
        both = of_matrix + adjoint(of_matrix)
        # of the factor only its triangle is read
        triangular = triangle(factor, bool(self.lower))
        of_factor = dot(both, triangular) if self.lower else dot(triangular, both)
        return [triangle(of_factor, bool(self.lower)), of_b]


def cho_solve(
    c_and_lower: tuple[Any, bool], b: TensorLike, check_finite: bool = True, b_ndim: int | None = None
) -> TensorVariable:
    """The solution of ``A x = b``, from the Cholesky factor of A.

    Parameters
    ----------
    c_and_lower
        The factor, and whether it is the lower one.
    b
        The right-hand side: a vector, or a matrix with one in each column.
    check_finite
        Whether to raise a ValueError if there are infinities or NaN.
    b_ndim
        With batches: whether one member of `b` is a vector (1) or a matrix (2). By default `b` is a vector if it has
        one dimension, else matrices.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> L = at.linalg.cholesky([[4.0, 2.0], [2.0, 5.0]])
    >>> at.linalg.cho_solve((L, True), [6.0, 7.0]).eval()
    array([1., 1.])
    """
    factor, lower = c_and_lower
    return with_right_hand_side(CholeskySolve(lower, check_finite), factor, b, b_ndim)
