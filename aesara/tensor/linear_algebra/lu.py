"""LU decompositions."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara.graph.nodes import Apply
from aesara.graph.op import Op
from aesara.tensor.core.check_and_raise import CheckAndRaise
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise.ops import eq, minimum
from aesara.tensor.joining.join_split import concatenate
from aesara.tensor.linear_algebra.core import (
    MatrixOp,
    adjoint,
    as_matrix,
    as_square,
    cast_together,
    check_choice,
    common_size,
    for_batches,
    is_connected,
    matrix_type,
    real_dtype,
    scipy_linalg,
    triangle,
    vector_type,
)
from aesara.tensor.linear_algebra.solve import SolveTriangular, core_of_right_hand_side
from aesara.tensor.ordering.sorting import argsort
from aesara.tensor.products.dot import dot

__all__ = ["LU", "LUFactor", "PivotsToPermutation", "lu", "lu_factor", "lu_solve"]


def _triangular(trans: str, lower: bool) -> SolveTriangular:
    """Solves with one of the factors: the lower one has ones on its diagonal."""
    return SolveTriangular(trans=trans, lower=lower, unit_diagonal=lower, check_finite=False)


def _factors_gradient(
    low: TensorVariable, up: TensorVariable, of_low: TensorVariable | None, of_up: TensorVariable | None
) -> TensorVariable:
    """Return the gradient for ``L U``, given those for the factors.

    Both factors have a square part of order k; other rows of L and other columns of U are products with the inverse of
    the square part of the other factor.
    """
    k = low.shape[1]
    low_square, up_square = low[:k], up[:, :k]
    for_low, for_up = [], []
    if of_low is not None:
        below = of_low[k:]
        for_low.append(dot(adjoint(low_square), of_low[:k]))
        for_up.append(-dot(adjoint(low[k:]), below))
    if of_up is not None:
        beside = of_up[:, k:]
        for_up.append(dot(of_up[:, :k], adjoint(up_square)))
        for_low.append(-dot(beside, adjoint(up[:, k:])))
    parts = []
    for terms, lower in ((for_low, True), (for_up, False)):
        total = terms[0] if len(terms) == 1 else terms[0] + terms[1]
        parts.append(triangle(total, lower, k=1 if lower else 0))
    middle = parts[0] + parts[1]
    from_left = _triangular("C", True)
    from_right = _triangular("N", False)

    def times_inverse_of_up(x: TensorVariable) -> TensorVariable:
        return adjoint(from_right(up_square, adjoint(x)))

    square = times_inverse_of_up(from_left(low_square, middle))
    right = from_left(low_square, of_up[:, k:]) if of_up is not None else dot(square, up[:, k:]).zeros_like()
    left = times_inverse_of_up(of_low[k:]) if of_low is not None else dot(low[k:], square).zeros_like()
    # One of the factors is empty, so there is no corner.
    corner = dot(left, right).zeros_like()
    return concatenate([concatenate([square, right], axis=1), concatenate([left, corner], axis=1)], axis=0)


class LU(MatrixOp):
    """The decomposition ``A = P L U`` by Gaussian elimination with exchanges of rows; the outputs are P, L and U.

    Parameters
    ----------
    permute_l
        Whether the outputs are ``P L`` and U.
    p_indices
        Whether P is a vector of row numbers, for which ``A = L[P] U``.
    """

    __props__ = ("permute_l", "p_indices")

    def __init__(self, permute_l: bool = False, p_indices: bool = False):
        if permute_l and p_indices:
            raise ValueError("Only one of permute_l and p_indices can be true.")
        self.permute_l = bool(permute_l)
        self.p_indices = bool(p_indices)

    def signature_for(self, inputs: Sequence[TensorVariable]) -> str:
        first = "" if self.permute_l else "(m)," if self.p_indices else "(m,m),"
        return f"(m,n)->{first}(m,k),(k,n)"

    def make_node(self, x: Any) -> Apply:
        (x,) = cast_together(self, as_matrix(self, x, "x"))
        rows, columns = x.type.shape
        dtype = x.type.dtype
        k = None if rows is None or columns is None else min(rows, columns)
        outputs = [matrix_type(dtype, rows, k)(), matrix_type(dtype, k, columns)()]
        if self.p_indices:
            outputs.insert(0, vector_type("int64", rows)())
        elif not self.permute_l:
            outputs.insert(0, matrix_type(real_dtype(dtype), rows, rows)())
        return Apply(self, [x], outputs)

    def perform(self, node, inputs, output_storage, params=None):
        (x,) = inputs
        order, low, up = _decompose(x)
        if self.permute_l:
            values = [low[order], up]
        elif self.p_indices:
            values = [order, low, up]
        else:
            values = [np.eye(len(order))[order], low, up]
        for cell, value, variable in zip(output_storage, values, node.outputs):
            cell[0] = np.asarray(value, dtype=variable.type.dtype)

    def infer_shape(self, fgraph, node, shapes):
        rows, columns = shapes[0]
        k = minimum(rows, columns)
        first = [] if self.permute_l else [(rows,)] if self.p_indices else [(rows, rows)]
        return [*first, (rows, k), (k, columns)]

    def connection_pattern(self, node):
        return [[True, True] if self.permute_l else [False, True, True]]

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[TensorVariable]:
        of_low, of_up = [g if is_connected(g) else None for g in output_grads[-2:]]
        low, up = outputs[-2:]
        if of_low is None and of_up is None:
            return [inputs[0].zeros_like()]
        if self.permute_l:
            order, low, up = LU(p_indices=True)(inputs[0])
            of_low = None if of_low is None else of_low[argsort(order)]
            return [_factors_gradient(low, up, of_low, of_up)[order]]
        gradient = _factors_gradient(low, up, of_low, of_up)
        return [gradient[outputs[0]] if self.p_indices else dot(outputs[0], gradient)]


def _decompose(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return row numbers p, and the factors, of ``x = L[p] U``."""
    k = min(x.shape)
    if x.size == 0:
        return np.arange(x.shape[0]), np.eye(x.shape[0], k, dtype=x.dtype), np.zeros((k, x.shape[1]), x.dtype)
    return scipy_linalg().lu(x, p_indices=True, check_finite=False)


def lu(a: TensorLike, permute_l: bool = False, p_indices: bool = False) -> list[TensorVariable]:
    """Return the LU decomposition ``a = P L U`` with pivoting, like `scipy.linalg.lu`.

    Parameters
    ----------
    a
        A matrix, or a batch of them.
    permute_l
        Whether ``P L`` and U are returned.
    p_indices
        Whether P is a vector of row numbers, for which ``a = L[P] U``.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> P, L, U = at.linalg.lu([[1.0, 2.0], [4.0, 4.0]])
    >>> U.eval()
    array([[4., 4.],
           [0., 1.]])
    """
    return LU(permute_l, p_indices)(a)


class LUFactor(MatrixOp):
    """The LU decomposition of a square matrix in one matrix, without the ones of L, and the exchanged rows.

    An exactly singular matrix has a zero on the diagonal; no error is raised.
    """

    __props__ = ()
    gufunc_signature = "(n,n)->(n,n),(n)"

    def make_node(self, x: Any) -> Apply:
        (x,) = cast_together(self, as_square(self, x, "x"))
        size = common_size(self, *x.type.shape)
        return Apply(self, [x], [matrix_type(x.type.dtype, size, size)(), vector_type("int32", size)()])

    def perform(self, node, inputs, output_storage, params=None):
        (x,) = inputs
        if x.shape[0] != x.shape[1]:
            raise np.linalg.LinAlgError(f"{self}: the matrix must be square; it has shape {x.shape}.")
        if x.size == 0:
            factors, pivots = x.copy(), np.zeros(0, "int32")
        else:
            (getrf,) = scipy_linalg().get_lapack_funcs(("getrf",), (x,))
            factors, pivots, _ = getrf(x)
        output_storage[0][0] = np.asarray(factors, dtype=x.dtype)
        output_storage[1][0] = np.asarray(pivots, dtype="int32")

    def infer_shape(self, fgraph, node, shapes):
        return [shapes[0], (shapes[0][0],)]

    def connection_pattern(self, node):
        return [[True, False]]

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[TensorVariable]:
        factors, pivots = outputs
        g = output_grads[0]
        middle = [_middle(factors, g, lower) for lower in (True, False)]
        inner = _triangular("C", True)(factors, middle[0] + middle[1])
        gradient = adjoint(_triangular("N", False)(factors, adjoint(inner)))
        return [gradient[argsort(PivotsToPermutation()(pivots))]]


def _middle(factors: TensorVariable, g: TensorVariable, lower: bool) -> TensorVariable:
    if lower:
        low = triangle(factors, True, k=1)
        whole = adjoint(low)
        of_low = triangle(g, True, k=1)
        return triangle(of_low + dot(whole, of_low), True, k=1)
    return triangle(dot(triangle(g, False), adjoint(triangle(factors, False))), False)


class PivotsToPermutation(Op):
    """The permutation that results from successive exchanges of row i and row ``pivots[i]``.

    Examples
    --------
    >>> PivotsToPermutation()([1, 2, 2]).eval()
    array([1, 2, 0])
    """

    __props__ = ()
    gufunc_signature = "(n)->(n)"

    def make_node(self, pivots: Any) -> Apply:
        pivots = as_tensor_variable(pivots)
        if pivots.type.ndim != 1 or pivots.type.dtype[0] not in "iu":
            raise TypeError(f"{self} needs a vector of integers; got {pivots.type}.")
        return Apply(self, [pivots], [vector_type("int64", pivots.type.shape[0])()])

    def perform(self, node, inputs, output_storage, params=None):
        order = np.arange(len(inputs[0]))
        if not np.isin(inputs[0], order).all():
            raise IndexError(f"{self}: pivots must be row numbers from 0 to {len(order) - 1}.")
        for i, j in enumerate(inputs[0]):
            order[i], order[j] = order[j], order[i]
        output_storage[0][0] = order

    def infer_shape(self, fgraph, node, shapes):
        return shapes

    def connection_pattern(self, node):
        return [[False]]


def lu_factor(a: TensorLike) -> list[TensorVariable]:
    """The LU decomposition of a square matrix, for `lu_solve`.

    Returns
    -------
    list of Variable
        A matrix with U, and L without its ones, and a vector: row i was exchanged with row ``pivots[i]``.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> factors, pivots = at.linalg.lu_factor([[1.0, 2.0], [4.0, 4.0]])
    >>> at.linalg.lu_solve((factors, pivots), [3.0, 8.0]).eval()
    array([1., 1.])
    """
    return LUFactor()(a)


def lu_solve(lu_and_piv: tuple[Any, Any], b: TensorLike, trans: int = 0, b_ndim: int | None = None) -> TensorVariable:
    """The solution x of ``a x = b``, from what `lu_factor` returns for `a`.

    Parameters
    ----------
    lu_and_piv
        The decomposition, or a batch of them.
    b
        The right-hand side: a vector, or a matrix with one in each column.
    trans
        1 to solve with the transpose of `a`, 2 with its conjugate transpose.
    b_ndim
        With batches: whether one member of `b` is a vector (1) or a matrix (2). By default `b` is a vector if it has
        one dimension, else matrices.
    """
    factors, pivots = [as_tensor_variable(x) for x in lu_and_piv]
    b = as_tensor_variable(b)
    check_choice("trans", trans, (0, 1, 2))
    core_dims = core_of_right_hand_side(b, b_ndim)
    solution = functools.partial(_solution_by_lu, trans)
    return for_batches("lu_solve", solution, f"(n,n),(n),{core_dims}->{core_dims}", factors, pivots, b)


def _solution_by_lu(trans: int, factors: TensorVariable, pivots: TensorVariable, b: TensorVariable) -> TensorVariable:
    fits = CheckAndRaise(ValueError, "lu_solve: the matrix and the right-hand side have different numbers of rows.")
    b = fits(b, eq(b.shape[0], factors.shape[0]))
    order = PivotsToPermutation()(pivots)
    if trans == 0:
        return _triangular("N", False)(factors, _triangular("N", True)(factors, b[order]))
    letter = "T" if trans == 1 else "C"
    inner = _triangular(letter, True)(factors, _triangular(letter, False)(factors, b))
    return inner[argsort(order)]
