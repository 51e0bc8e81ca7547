"""Lowering of Cholesky factors, of systems of equations and of inverses.

Where only a triangle is read or written, the other one is zero from the beginning: routines leave it alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aesara.graph.op import Op
from aesara.ir.expr import Expr, const
from aesara.ir.expr import op as primitive
from aesara.ir.routines import lapack
from aesara.lower.arrays import ONE, Array, Index, Pointwise, Reader
from aesara.lower.complex import ComplexArray
from aesara.lower.families import load_lowering
from aesara.lower.linear_algebra.matrices import (
    Matrices,
    Numbers,
    adopt,
    as_column,
    as_row,
    diagonal,
    each_part,
    is_nan,
    is_zero,
    lower_matrices,
    only,
    side,
    swapped,
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
def _cholesky(op: Cholesky, of: Matrices) -> Sequence[Numbers]:
    (a,) = of.inputs
    if op.on_error == "nan":
        of.failures = []
        return of.nan_where_failed([_factor(of, a, bool(op.lower))])
    of.require_finite(a)
    return [_factor(of, a, bool(op.lower))]


def _factor(of: Matrices, a: Numbers, lower: bool) -> Numbers:
    """The Cholesky factors of the matrices of `a`, with zeros in the other triangle."""
    order = of.require_square(a)
    routine = lapack.cholesky(side(lower), a.dtype)
    made = of.call(routine, {"n": order}, {"a": triangle(a, lower)}, a.shape[: len(of.lead)])
    of.require_success(made["status"], "is not positive definite: see its leading minor of order")
    factor: Numbers = made["a"]
    return factor


@adopt(CholeskySolve)
def _cholesky_solve(op: CholeskySolve, of: Matrices) -> Sequence[Numbers]:
    factor, b, columns = _system(of, op.check_finite)
    return [_as_given(b, _solve_by_factor(of, factor, columns, bool(op.lower)), factor)]


def _solve_by_factor(of: Matrices, factor: Numbers, columns: Numbers, lower: bool) -> Numbers:
    """The matrix is the product of the factor and its conjugate transpose, of which the lower one stands in front."""
    turned = "adjoint" if isinstance(factor, ComplexArray) else "transposed"
    first, second = ("plain", turned) if lower else (turned, "plain")
    half = _substitute(of, factor, columns, lower, first)
    return _substitute(of, factor, half, lower, second)


@adopt(InverseByCholesky)
def _inverse_by_cholesky(op: InverseByCholesky, of: Matrices) -> Sequence[Numbers]:
    (factor,) = of.inputs
    order = of.require_square(factor)
    given = {"a": triangle(factor, bool(op.lower))}
    made = of.call(lapack.inverse_of_cholesky(side(bool(op.lower)), factor.dtype), {"n": order}, given)
    of.require_success(made["status"], "is singular: see the diagonal of its factor at place")
    return [_symmetric(made["a"], bool(op.lower), hermitian=True) if op.whole else made["a"]]


# -- NaN in place of errors -------------------------------------------------------------------------------------


@adopt(NanOnError)
def _nan_on_error(op: NanOnError, of: Matrices) -> Sequence[Numbers]:
    load_lowering(type(op.op))
    of.failures, of.op = [], op.op
    a, *others = of.inputs
    of.require_finite(_read(op.op, a), *others)
    return of.nan_where_failed(lower_matrices(op.op, of))


def _read(op: Op, a: Numbers) -> Any:
    """What an op reads of its matrices, with zeros elsewhere."""
    if isinstance(op, Eigh):
        return triangle(a, op.UPLO == "L")
    if isinstance(op, SolveTriangular) and op.unit_diagonal:
        return _without_diagonal(triangle(a, bool(op.lower)))
    if isinstance(op, SolveTriangular) or (isinstance(op, Solve) and op.assume_a != "gen"):
        return triangle(a, bool(op.lower))
    return a


def _without_diagonal(a: Numbers) -> Numbers:
    def of_part(part: Array) -> Array:
        def body(index: Index, readers: Sequence[Reader]) -> Expr:
            return primitive("select", primitive("eq", *index[-2:]), const(0, part.dtype), readers[0](index))

        return Pointwise(part.dtype, part.shape, (part,), body, 2)

    without: Numbers = each_part(of_part, a)
    return without


# -- systems of equations ----------------------------------------------------------------------------------------


def _system(of: Matrices, check_finite: bool) -> tuple[Numbers, Numbers, Numbers]:
    """Matrices, right-hand sides, and these as columns of matrices, once they are known to fit."""
    a, b = of.inputs
    order = of.require_square(a)
    columns = b if b.ndim == a.ndim else as_column(b)
    message = "a matrix of order {0} and a right-hand side of length {1} do not fit."
    of.require_equal(order, columns.shape[-2], message)
    if check_finite:
        of.require_finite(a, b)
    return a, b, columns


def _as_given(b: Numbers, solution: Numbers, a: Numbers) -> Numbers:
    """Columns in the form of the right-hand sides."""
    return solution if b.ndim == a.ndim else only(solution, -1)


def _substitute(
    of: Matrices, a: Numbers, columns: Numbers, lower: bool, trans: str, unit: bool = False
) -> Numbers:  # fmt: skip
    """The solution of triangular systems; columns become solutions in their place."""
    routine = lapack.solve_triangular(side(lower), trans, "unit" if unit else "general", a.dtype)
    rows, count = columns.shape[-2:]
    solution: Numbers = of.call(routine, {"m": rows, "n": count}, {"a": a, "b": columns})["b"]
    return solution


@adopt(SolveTriangular)
def _solve_triangular(op: SolveTriangular, of: Matrices) -> Sequence[Numbers]:
    a, b, columns = _system(of, op.check_finite)
    if not op.unit_diagonal:
        zeros = is_zero(diagonal(a, a.shape[-1]))
        of.require_none(zeros, of.linalg_error, "the matrix is singular: a zero stands on its diagonal.")
    trans = "plain" if op.trans in (0, "N") else "adjoint" if op.trans in (2, "C") else "transposed"
    if trans == "adjoint" and not isinstance(a, ComplexArray):
        trans = "transposed"
    return [_as_given(b, _substitute(of, a, columns, bool(op.lower), trans, bool(op.unit_diagonal)), a)]


@adopt(Solve)
def _solve(op: Solve, of: Matrices) -> Sequence[Numbers]:
    a, b, columns = _system(of, op.check_finite)
    if a.shape[-1] is ONE and not isinstance(a, ComplexArray):
        return [_as_given(b, _divided(of, a, columns), a)]
    if op.assume_a == "pos":
        factor = _factor(of, a, bool(op.lower))
        return [_as_given(b, _solve_by_factor(of, factor, columns, bool(op.lower)), a)]
    whole = a if op.assume_a == "gen" else _symmetric(a, bool(op.lower), hermitian=op.assume_a == "her")
    factors = factor_lu(of, whole, "is singular: see the diagonal of its factor at place")
    rows = swapped(columns) if b.ndim == a.ndim else as_row(b)
    sizes = {"n": a.shape[-1], "k": rows.shape[-2]}
    routine = lapack.solve_lu("plain", a.dtype)
    solved = of.call(routine, sizes, {"a": factors["a"], "pivots": factors["pivots"], "b": rows})["b"]
    return [swapped(solved) if b.ndim == a.ndim else only(solved, -2)]


def _divided(of: Matrices, a: Numbers, columns: Numbers) -> Numbers:
    """The solution of single equations, whatever is said of their coefficients' signs."""
    of.require_none(is_zero(diagonal(a, ONE)), of.linalg_error, "the matrix is singular: it is zero.")
    return _substitute(of, a, columns, True, "plain")


def _symmetric(a: Numbers, lower: bool, hermitian: bool) -> Numbers:
    """Symmetric or Hermitian matrices of which one triangle is given."""

    def mirrored(part: Array, turned: bool) -> Array:
        """The other triangle has the opposite numbers if it is turned, and the diagonal zeros."""

        def body(index: Index, readers: Sequence[Reader]) -> Expr:
            *lead, row, column = index
            high, low = primitive("maximum", row, column), primitive("minimum", row, column)
            value = readers[0]((*lead, high, low) if lower else (*lead, low, high))
            if not turned:
                return value
            value = primitive("select", (row < column) if lower else (column < row), -value, value)
            return primitive("select", primitive("eq", row, column), const(0, part.dtype), value)

        return Pointwise(part.dtype, part.shape, (part,), body, 2)

    if not isinstance(a, ComplexArray):
        return mirrored(a, False)
    return ComplexArray(mirrored(a.real, False), mirrored(a.imag, hermitian))


def factor_lu(of: Matrices, a: Numbers, message: str | None) -> dict[str, Any]:
    """The LU factors of matrices; singular ones raise an error with this message, if there is one."""
    made = of.call(lapack.lu(a.dtype), {"n": a.shape[-1]}, {"a": a}, a.shape[: len(of.lead)])
    if message is not None:
        of.require_success(made["status"], message)
    return made


@adopt(MatrixInverse)
def _inverse(op: MatrixInverse, of: Matrices) -> Sequence[Numbers]:
    (a,) = of.inputs
    order = of.require_square(a, of.linalg_error)
    factors = factor_lu(of, a, None)
    lost = of.members_with(is_nan(a))
    of.require_success(_unless(lost, factors["status"]), "is singular: see the diagonal of its factor at place")
    routine = lapack.inverse_of_lu(a.dtype)
    inverse = of.call(routine, {"n": order}, {"a": factors["a"], "pivots": factors["pivots"]})["a"]
    return [of.with_nan([lost], inverse)]


def _unless(condition: Array, status: Array) -> Array:
    """The status of calls, and success where a condition holds."""

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        return primitive("select", readers[1](index), const(0, status.dtype), readers[0](index))

    return Pointwise(status.dtype, status.shape, (status, condition), body, 1)
