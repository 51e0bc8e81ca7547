"""Solutions and inverses from factors of a matrix, where several results share them."""

from __future__ import annotations

from typing import Any

import numpy as np

from aesara.graph.nodes import Apply
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.linear_algebra.core import (
    MatrixOp,
    as_right_hand_side,
    as_square,
    cast_together,
    common_size,
    matrix_type,
    nan_like,
    scipy_linalg,
)
from aesara.tensor.linear_algebra.solve import solved_type


def _require_regular(op: MatrixOp, factors: np.ndarray) -> None:
    """Refuse the factors of a singular matrix."""
    if not np.diagonal(factors).all():
        raise np.linalg.LinAlgError(f"{op}: the matrix is singular: the diagonal of its factor has a zero.")


class SolveByLU(MatrixOp):
    """The solution x of ``A x = b``, or ``A.T x = b``, given the result of `LUFactor` for A.

    Unlike for `lu_solve`, a singular matrix raises an error. Rules create this op from `Solve`, after gradients are
    taken.

    Parameters
    ----------
    transposed
        Whether the system is that of the transpose.
    check_finite
        Whether to raise a ValueError if there are infinities or NaN.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> factors, pivots = at.linalg.lu_factor([[1.0, 2.0], [4.0, 4.0]])
    >>> SolveByLU()(factors, pivots, [3.0, 8.0]).eval()
    array([1., 1.])
    """

    __props__ = ("transposed", "check_finite")

    def __init__(self, transposed: bool = False, check_finite: bool = True):
        self.transposed = transposed
        self.check_finite = check_finite

    def signature_for(self, inputs: Any) -> str:
        return "(n,n),(n),(n)->(n)" if inputs[2].type.ndim == 1 else "(n,n),(n),(n,k)->(n,k)"

    def make_node(self, factors: Any, pivots: Any, b: TensorLike) -> Apply:
        factors, b = as_square(self, factors, "factors"), as_right_hand_side(self, b)
        factors, b = cast_together(self, factors, b)
        return Apply(self, [factors, as_tensor_variable(pivots), b], [solved_type(self, factors, b)()])

    def perform(self, node, inputs, output_storage, params=None):
        factors, pivots, b = inputs
        if factors.shape[0] != b.shape[0]:
            raise ValueError(
                f"{self}: a matrix of order {factors.shape[0]} and a right-hand side of shape {b.shape} do not fit."
            )
        _require_regular(self, factors)
        result = b.copy()
        if b.size:
            result = scipy_linalg().lu_solve(
                (factors, pivots), b, trans=int(self.transposed), check_finite=self.check_finite
            )
        output_storage[0][0] = np.asarray(result, dtype=node.outputs[0].type.dtype)

    def infer_shape(self, fgraph, node, shapes):
        return [(shapes[0][1], *shapes[2][1:])]


class InverseByLU(MatrixOp):
    """The inverse of a matrix, given the result of `LUFactor`; singular matrices raise an error, NaN is propagated.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> InverseByLU()(*at.linalg.lu_factor([[2.0, 2.0], [0.0, 4.0]])).eval()
    array([[ 0.5 , -0.25],
           [ 0.  ,  0.25]])
    """

    __props__ = ()
    gufunc_signature = "(n,n),(n)->(n,n)"

    def make_node(self, factors: Any, pivots: Any) -> Apply:
        factors = as_square(self, factors, "factors")
        return Apply(self, [factors, as_tensor_variable(pivots)], [factors.type()])

    def perform(self, node, inputs, output_storage, params=None):
        factors, pivots = inputs
        if np.isnan(factors).any():
            output_storage[0][0] = nan_like(factors)
            return
        _require_regular(self, factors)
        result = factors.copy()
        if factors.size:
            (getri,) = scipy_linalg().get_lapack_funcs(("getri",), (factors,))
            result, _ = getri(factors, pivots)
        output_storage[0][0] = np.asarray(result, dtype=factors.dtype)

    def infer_shape(self, fgraph, node, shapes):
        return [shapes[0]]


class InverseByCholesky(MatrixOp):
    """The inverse of a Hermitian positive definite matrix, from its Cholesky factor.

    This takes a third of the time of solutions for the columns of the identity. Rules make it, after gradients are
    taken.

    Parameters
    ----------
    lower
        Whether the factor is the lower one.
    whole
        Whether all of the inverse is returned; else the triangle that the factor has, with zeros in the other.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> factor = at.linalg.cholesky([[4.0, 2.0], [2.0, 2.0]])
    >>> InverseByCholesky()(factor).eval()
    array([[ 0.5, -0.5],
           [-0.5,  1. ]])
    >>> InverseByCholesky(whole=False)(factor).eval()
    array([[ 0.5,  0. ],
           [-0.5,  1. ]])
    """

    __props__ = ("lower", "whole")
    gufunc_signature = "(n,n)->(n,n)"

    def __init__(self, lower: bool = True, whole: bool = True):
        self.lower = lower
        self.whole = whole

    def make_node(self, factor: Any) -> Apply:
        (factor,) = cast_together(self, as_square(self, factor, "factor"))
        size = common_size(self, *factor.type.shape)
        return Apply(self, [factor], [matrix_type(factor.type.dtype, size, size)()])

    def perform(self, node, inputs, output_storage, params=None):
        (factor,) = inputs
        if factor.shape[0] != factor.shape[1]:
            raise ValueError(f"{self}: `factor` must be a square matrix; it has shape {factor.shape}.")
        _require_regular(self, factor)
        result = triangle = np.tril(factor) if self.lower else np.triu(factor)
        if factor.size:
            (potri,) = scipy_linalg().get_lapack_funcs(("potri",), (factor,))
            triangle, _ = potri(triangle, lower=self.lower)
            result = triangle = np.tril(triangle) if self.lower else np.triu(triangle)
        if self.whole:
            result = triangle + triangle.T.conj() - np.diag(triangle.diagonal())
        output_storage[0][0] = np.ascontiguousarray(result, dtype=factor.dtype)

    def infer_shape(self, fgraph, node, shapes):
        return [shapes[0]]
