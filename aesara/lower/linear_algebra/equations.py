"""Lowering of Cholesky factorizations, linear systems and inverses.

Routines leave the triangle that they do not access unchanged, so it is set to zero before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aesara.graph.op import Op
from aesara.ir.expr import Expr, complex_number, const, imag, real
from aesara.ir.expr import op as primitive
from aesara.ir.routines import lapack
from aesara.lower.arrays import ONE, Array, Index, Pointwise, Reader
from aesara.lower.families import load_lowering
from aesara.lower.linear_algebra.matrices import (
    MatrixBatch,
    adopt,
    as_column,
    as_row,
    diagonal,
    is_nan,
    is_zero,
    lower_matrices,
    side,
    squeeze,
    transpose,
    triangle,
)
from aesara.tensor.linear_algebra.by_factors import InverseByCholesky
from aesara.tensor.linear_algebra.cholesky import Cholesky, CholeskySolve
from aesara.tensor.linear_algebra.eigen import Eigh
from aesara.tensor.linear_algebra.failures import NanOnError
from aesara.tensor.linear_algebra.inverse import MatrixInverse
from aesara.tensor.linear_algebra.solve import Solve, SolveTriangular

__all__ = ["factor_lu"]


# -- positive definite matrices ----------------------------------------------------------------------------------


@adopt(Cholesky)
def _cholesky(op: Cholesky, batch: MatrixBatch) -> Sequence[Array]:
    (a,) = batch.inputs
    if op.on_error == "nan":
        batch.failures = []
        return batch.nan_where_failed([_factor(batch, a, bool(op.lower))])
    batch.require_finite(a)
    return [_factor(batch, a, bool(op.lower))]


def _factor(batch: MatrixBatch, a: Array, lower: bool) -> Array:
    """Return Cholesky factors, with zeros in the other triangle."""
    order = batch.require_square(a)
    routine = lapack.cholesky(side(lower), a.dtype)
    outputs = batch.call(routine, {"n": order}, {"a": triangle(a, lower)}, a.shape[: len(batch.lead)])
    batch.require_success(outputs["status"], "is not positive definite: see its leading minor of order")
    factor: Array = outputs["a"]
    return factor


@adopt(CholeskySolve)
def _cholesky_solve(op: CholeskySolve, batch: MatrixBatch) -> Sequence[Array]:
    factor, b, columns = _system(batch, op.check_finite)
    return [_like_right_hand_sides(b, _solve_by_factor(batch, factor, columns, bool(op.lower)), factor)]


def _solve_by_factor(batch: MatrixBatch, factor: Array, columns: Array, lower: bool) -> Array:
    """Solve systems by Cholesky factors: two triangular systems, with the lower factor first."""
    transposed = "adjoint" if factor.is_complex else "transposed"
    first, second = ("plain", transposed) if lower else (transposed, "plain")
    half = _substitute(batch, factor, columns, lower, first)
    return _substitute(batch, factor, half, lower, second)


@adopt(InverseByCholesky)
def _inverse_by_cholesky(op: InverseByCholesky, batch: MatrixBatch) -> Sequence[Array]:
    (factor,) = batch.inputs
    order = batch.require_square(factor)
    arguments = {"a": triangle(factor, bool(op.lower))}
    outputs = batch.call(lapack.inverse_of_cholesky(side(bool(op.lower)), factor.dtype), {"n": order}, arguments)
    batch.require_success(outputs["status"], "is singular: see the diagonal of its factor at place")
    return [_symmetric(outputs["a"], bool(op.lower), hermitian=True) if op.whole else outputs["a"]]


# -- NaN in place of errors -------------------------------------------------------------------------------------


@adopt(NanOnError)
def _nan_on_error(op: NanOnError, batch: MatrixBatch) -> Sequence[Array]:
    load_lowering(type(op.op))
    batch.failures, batch.op = [], op.op
    a, *others = batch.inputs
    batch.require_finite(_entries_read(op.op, a), *others)
    return batch.nan_where_failed(lower_matrices(op.op, batch))


def _entries_read(op: Op, a: Array) -> Any:
    """Return the entries of matrices that an op reads, with zeros elsewhere."""
    if isinstance(op, Eigh):
        return triangle(a, op.UPLO == "L")
    if isinstance(op, SolveTriangular) and op.unit_diagonal:
        return _without_diagonal(triangle(a, bool(op.lower)))
    if isinstance(op, SolveTriangular) or (isinstance(op, Solve) and op.assume_a != "gen"):
        return triangle(a, bool(op.lower))
    return a


def _without_diagonal(a: Array) -> Array:
    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        return primitive("select", primitive("eq", *index[-2:]), const(0, a.dtype), readers[0](index))

    return Pointwise(a.dtype, a.shape, (a,), body, 2)


# -- systems of equations ----------------------------------------------------------------------------------------


def _system(batch: MatrixBatch, check_finite: bool) -> tuple[Array, Array, Array]:
    """Return matrices, right-hand sides, and these as matrices of columns, after checks of shapes."""
    a, b = batch.inputs
    order = batch.require_square(a)
    columns = b if b.ndim == a.ndim else as_column(b)
    message = "a matrix of order {0} and a right-hand side of length {1} do not fit."
    batch.require_equal(order, columns.shape[-2], message)
    if check_finite:
        batch.require_finite(a, b)
    return a, b, columns


def _like_right_hand_sides(b: Array, solution: Array, a: Array) -> Array:
    """Convert solutions in columns to the layout of the right-hand sides."""
    return solution if b.ndim == a.ndim else squeeze(solution, -1)


def _substitute(
    batch: MatrixBatch, a: Array, columns: Array, lower: bool, trans: str, unit: bool = False
) -> Array:  # fmt: skip
    """Solve triangular systems."""
    routine = lapack.solve_triangular(side(lower), trans, "unit" if unit else "general", a.dtype)
    rows, count = columns.shape[-2:]
    solution: Array = batch.call(routine, {"m": rows, "n": count}, {"a": a, "b": columns})["b"]
    return solution


@adopt(SolveTriangular)
def _solve_triangular(op: SolveTriangular, batch: MatrixBatch) -> Sequence[Array]:
    a, b, columns = _system(batch, op.check_finite)
    if not op.unit_diagonal:
        zeros = is_zero(diagonal(a, a.shape[-1]))
        batch.require_none(zeros, batch.linalg_error, "the matrix is singular: its diagonal has a zero.")
    trans = "plain" if op.trans in (0, "N") else "adjoint" if op.trans in (2, "C") else "transposed"
    if trans == "adjoint" and not a.is_complex:
        trans = "transposed"
    return [_like_right_hand_sides(b, _substitute(batch, a, columns, bool(op.lower), trans, bool(op.unit_diagonal)), a)]


@adopt(Solve)
def _solve(op: Solve, batch: MatrixBatch) -> Sequence[Array]:
    a, b, columns = _system(batch, op.check_finite)
    if a.shape[-1] is ONE and not a.is_complex:
        return [_like_right_hand_sides(b, _solve_order_one(batch, a, columns), a)]
    if op.assume_a == "pos":
        factor = _factor(batch, a, bool(op.lower))
        return [_like_right_hand_sides(b, _solve_by_factor(batch, factor, columns, bool(op.lower)), a)]
    whole = a if op.assume_a == "gen" else _symmetric(a, bool(op.lower), hermitian=op.assume_a == "her")
    factors = factor_lu(batch, whole, "is singular: see the diagonal of its factor at place")
    rows = transpose(columns) if b.ndim == a.ndim else as_row(b)
    sizes = {"n": a.shape[-1], "k": rows.shape[-2]}
    routine = lapack.solve_lu("plain", a.dtype)
    solved = batch.call(routine, sizes, {"a": factors["a"], "pivots": factors["pivots"], "b": rows})["b"]
    return [transpose(solved) if b.ndim == a.ndim else squeeze(solved, -2)]


def _solve_order_one(batch: MatrixBatch, a: Array, columns: Array) -> Array:
    """Solve systems of order 1, whatever structure is assumed of their matrices."""
    batch.require_none(is_zero(diagonal(a, ONE)), batch.linalg_error, "the matrix is singular: it is zero.")
    return _substitute(batch, a, columns, True, "plain")


def _symmetric(a: Array, lower: bool, hermitian: bool) -> Array:
    """Return symmetric or Hermitian matrices with the given triangles."""

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        *lead, row, column = index
        high, low = primitive("maximum", row, column), primitive("minimum", row, column)
        value = readers[0]((*lead, high, low) if lower else (*lead, low, high))
        if not (hermitian and a.is_complex):
            return value
        mirrored = primitive("select", (row < column) if lower else (column < row), -imag(value), imag(value))
        zero = const(0, mirrored.dtype)
        return complex_number(real(value), primitive("select", primitive("eq", row, column), zero, mirrored))

    return Pointwise(a.dtype, a.shape, (a,), body, 2)


def factor_lu(batch: MatrixBatch, a: Array, message: str | None) -> dict[str, Any]:
    """Return LU factors; raise an error for singular matrices if there is a `message`."""
    outputs = batch.call(lapack.lu(a.dtype), {"n": a.shape[-1]}, {"a": a}, a.shape[: len(batch.lead)])
    if message is not None:
        batch.require_success(outputs["status"], message)
    return outputs


@adopt(MatrixInverse)
def _inverse(op: MatrixInverse, batch: MatrixBatch) -> Sequence[Array]:
    (a,) = batch.inputs
    order = batch.require_square(a, batch.linalg_error)
    factors = factor_lu(batch, a, None)
    has_nan = batch.members_with(is_nan(a))
    status = _success_where(has_nan, factors["status"])
    batch.require_success(status, "is singular: see the diagonal of its factor at place")
    routine = lapack.inverse_of_lu(a.dtype)
    inverse = batch.call(routine, {"n": order}, {"a": factors["a"], "pivots": factors["pivots"]})["a"]
    return [batch.with_nan([has_nan], inverse)]


def _success_where(condition: Array, status: Array) -> Array:
    """Return the status of calls, replaced with success where a condition holds."""

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        return primitive("select", readers[1](index), const(0, status.dtype), readers[0](index))

    return Pointwise(status.dtype, status.shape, (status, condition), body, 1)
