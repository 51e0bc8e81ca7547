"""Lowering of linear algebra to routines of LAPACK and BLAS, of one matrix or of batches.

Where only a triangle is read or written, the other one is zero from the beginning: routines leave it alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from aesara.graph.op import Op
from aesara.ir.expr import Expr, cast, const
from aesara.ir.expr import op as primitive
from aesara.ir.routines import lapack
from aesara.lower.arrays import Array, Index, Pointwise, Reader
from aesara.lower.context import Unsupported
from aesara.lower.linear_algebra.matrices import (
    Matrices,
    adopt,
    as_column,
    as_row,
    diagonal,
    lower_matrices,
    only,
    swapped,
    triangle,
)
from aesara.lower.reductions.careduce import reduce_array
from aesara.tensor.linear_algebra.cholesky import Cholesky, CholeskySolve
from aesara.tensor.linear_algebra.determinant import Det, SLogDet
from aesara.tensor.linear_algebra.eigen import Eigh, Eigvalsh
from aesara.tensor.linear_algebra.failures import NanOnError
from aesara.tensor.linear_algebra.inverse import MatrixInverse
from aesara.tensor.linear_algebra.qr import QRFull
from aesara.tensor.linear_algebra.solve import Solve, SolveTriangular
from aesara.tensor.linear_algebra.svd import SVD

__all__: list[str] = []


def _side(lower: bool) -> str:
    return "lower" if lower else "upper"


# -- positive definite matrices ----------------------------------------------------------------------------------


@adopt(Cholesky)
def _cholesky(op: Cholesky, of: Matrices) -> Sequence[Array]:
    (a,) = of.inputs
    if op.on_error == "nan":
        of.failures = []
        return of.nan_where_failed([_factor(of, a, bool(op.lower))["a"]])
    of.require_finite(a)
    return [_factor(of, a, bool(op.lower))["a"]]


def _factor(of: Matrices, a: Array, lower: bool) -> dict[str, Array]:
    """The Cholesky factors of the matrices of `a`, with zeros in the other triangle."""
    order = of.require_square(a)
    routine = lapack.cholesky(_side(lower), a.dtype)
    made = of.call(routine, {"n": order}, {"a": triangle(a, lower)}, a.shape[: len(of.lead)])
    of.require_success(made["status"], "is not positive definite: see its leading minor of order")
    return made


@adopt(CholeskySolve)
def _cholesky_solve(op: CholeskySolve, of: Matrices) -> Sequence[Array]:
    factor, b, columns = _system(of, op.check_finite)
    return [_as_given(b, _solve_by_factor(of, factor, columns, bool(op.lower)), factor)]


def _solve_by_factor(of: Matrices, factor: Array, columns: Array, lower: bool) -> Array:
    half = _substitute(of, factor, columns, lower, turned=not lower)
    return _substitute(of, factor, half, lower, turned=lower)


# -- NaN in place of errors -------------------------------------------------------------------------------------


@adopt(NanOnError)
def _nan_on_error(op: NanOnError, of: Matrices) -> Sequence[Array]:
    of.failures, of.op = [], op.op
    a, *others = of.inputs
    of.require_finite(_read(op.op, a), *others)
    return of.nan_where_failed(lower_matrices(op.op, of))


def _read(op: Op, a: Array) -> Array:
    """What an op reads of its matrices, with zeros elsewhere."""
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


def _system(of: Matrices, check_finite: bool) -> tuple[Array, Array, Array]:
    """Matrices, right-hand sides, and these as columns of matrices, once they are known to fit."""
    a, b = of.inputs
    order = of.require_square(a)
    columns = b if b.ndim == a.ndim else as_column(b)
    message = "a matrix of order {0} and a right-hand side of length {1} do not fit."
    of.require_equal(order, columns.shape[-2], message)
    if check_finite:
        of.require_finite(a, b)
    return a, b, columns


def _as_given(b: Array, solution: Array, a: Array) -> Array:
    """Columns in the form of the right-hand sides."""
    return solution if b.ndim == a.ndim else only(solution, -1)


def _substitute(
    of: Matrices, a: Array, columns: Array, lower: bool, turned: bool = False, unit: bool = False
) -> Array:  # fmt: skip
    """The solution of triangular systems; columns become solutions in their place."""
    routine = lapack.solve_triangular(
        _side(lower), "transposed" if turned else "plain", "unit" if unit else "general", a.dtype
    )
    rows, count = columns.shape[-2:]
    return of.call(routine, {"m": rows, "n": count}, {"a": a, "b": columns})["b"]


@adopt(SolveTriangular)
def _solve_triangular(op: SolveTriangular, of: Matrices) -> Sequence[Array]:
    a, b, columns = _system(of, op.check_finite)
    if not op.unit_diagonal:
        zeros = Pointwise(
            "bool", a.shape[:-1], (diagonal(a, a.shape[-1]),),
            lambda index, readers: primitive("eq", readers[0](index), const(0, a.dtype)), 1,
        )  # fmt: skip
        of.require_none(zeros, of.linalg_error, "the matrix is singular: a zero stands on its diagonal.")
    turned = op.trans not in (0, "N")
    return [_as_given(b, _substitute(of, a, columns, bool(op.lower), turned, bool(op.unit_diagonal)), a)]


@adopt(Solve)
def _solve(op: Solve, of: Matrices) -> Sequence[Array]:
    a, b, columns = _system(of, op.check_finite)
    if op.assume_a == "pos":
        factor = _factor(of, a, bool(op.lower))["a"]
        return [_as_given(b, _solve_by_factor(of, factor, columns, bool(op.lower)), a)]
    whole = a if op.assume_a == "gen" else _symmetric(a, bool(op.lower))
    factors = _factor_lu(of, whole, "is singular: see the diagonal of its factor at place")
    rows = swapped(columns) if b.ndim == a.ndim else as_row(b)
    sizes = {"n": a.shape[-1], "k": rows.shape[-2]}
    routine = lapack.solve_lu("plain", a.dtype)
    solved = of.call(routine, sizes, {"a": factors["a"], "pivots": factors["pivots"], "b": rows})["b"]
    return [swapped(solved) if b.ndim == a.ndim else only(solved, -2)]


def _symmetric(a: Array, lower: bool) -> Array:
    """Symmetric matrices of which one triangle is given."""

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        *lead, row, column = index
        high, low = primitive("maximum", row, column), primitive("minimum", row, column)
        return readers[0]((*lead, high, low) if lower else (*lead, low, high))

    return Pointwise(a.dtype, a.shape, (a,), body, 2)


def _factor_lu(of: Matrices, a: Array, message: str | None) -> dict[str, Array]:
    """The LU factors of matrices; singular ones raise an error with this message, if there is one."""
    made = of.call(lapack.lu(a.dtype), {"n": a.shape[-1]}, {"a": a}, a.shape[: len(of.lead)])
    if message is not None:
        of.require_success(made["status"], message)
    return made


@adopt(MatrixInverse)
def _inverse(op: MatrixInverse, of: Matrices) -> Sequence[Array]:
    (a,) = of.inputs
    order = of.require_square(a, of.linalg_error)
    factors = _factor_lu(of, a, "is singular: see the diagonal of its factor at place")
    routine = lapack.inverse_of_lu(a.dtype)
    return [of.call(routine, {"n": order}, {"a": factors["a"], "pivots": factors["pivots"]})["a"]]


# -- determinants ------------------------------------------------------------------------------------------------


def _signed_diagonal(of: Matrices) -> tuple[Array, Array]:
    """The diagonal of the factors of matrices, and its signs together with those of swaps of rows."""
    (a,) = of.inputs
    order = of.require_square(a, of.linalg_error)
    factors = _factor_lu(of, a, None)
    values = diagonal(factors["a"], order)
    dtype = a.dtype
    zero, one = const(0, dtype), const(1, dtype)

    def sign(index: Index, readers: Sequence[Reader]) -> Expr:
        """As NumPy has it, the sign of NaN is 1."""
        value = readers[0](index)
        swapped = primitive("ne", cast(readers[1](index), "int64"), index[-1] + 1)
        turned = swapped ^ (value < zero)
        unit = primitive("select", turned, -one, one)
        return primitive("select", primitive("eq", value, zero), zero, unit)

    return values, Pointwise(dtype, values.shape, (values, factors["pivots"]), sign, 6)


def _reduced(of: Matrices, array: Array, kind: str) -> Array:
    array = of.context.added(array)
    return reduce_array(of.context, array, (array.ndim - 1,), kind)


def _sign(of: Matrices, signs: Array) -> Array:
    """The product of signs; it is no negative zero."""
    product, zero = _reduced(of, signs, "mul"), const(0, signs.dtype)
    return Pointwise(
        product.dtype, product.shape, (product,), lambda index, readers: readers[0](index) + zero
    )


def _sum_of_logarithms(of: Matrices, values: Array) -> Array:
    logarithms = Pointwise(
        values.dtype, values.shape, (values,),
        lambda index, readers: primitive("log", primitive("abs", readers[0](index))), 20,
    )  # fmt: skip
    return _reduced(of, logarithms, "add")


@adopt(SLogDet)
def _slogdet(op: SLogDet, of: Matrices) -> Sequence[Array]:
    values, signs = _signed_diagonal(of)
    return [_sign(of, signs), _sum_of_logarithms(of, values)]


@adopt(Det)
def _det(op: Det, of: Matrices) -> Sequence[Array]:
    """A product; where that overflows or underflows on the way, it is computed through logarithms."""
    values, signs = _signed_diagonal(of)
    dtype = values.dtype
    magnitudes = Pointwise(dtype, values.shape, (values,), lambda index, readers: primitive("abs", readers[0](index)))
    product, logarithm, sign = (
        _reduced(of, magnitudes, "mul"), _sum_of_logarithms(of, values), _sign(of, signs)
    )  # fmt: skip

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        magnitude = readers[0](index)
        lost = primitive("isinf", magnitude) | primitive("eq", magnitude, const(0, dtype))
        magnitude = primitive("select", lost, primitive("exp", readers[1](index)), magnitude)
        return magnitude * readers[2](index)

    return [Pointwise(dtype, product.shape, (product, logarithm, sign), body, 25)]


# -- orthogonal factors and spectra ------------------------------------------------------------------------------


@adopt(QRFull)
def _qr(op: QRFull, of: Matrices) -> Sequence[Array]:
    if op._form not in ("reduced", "r"):
        raise Unsupported(f"QR factorizations of the form {op._form!r}")
    (a,) = of.inputs
    rows, columns = a.shape[-2:]
    least = primitive("minimum", rows, columns)
    made = of.call(lapack.qr(a.dtype), {"m": rows, "n": columns}, {"a": swapped(a)})
    factors = made["a"]
    shape = (*factors.shape[:-2], least, columns)
    upper = Pointwise(
        a.dtype, shape, (factors,), lambda index, readers: readers[0]((*index[:-2], index[-1], index[-2])), 1
    )
    r = triangle(upper, False)
    if op._form == "r":
        return [r]
    leading = Pointwise(
        a.dtype, (*factors.shape[:-2], least, rows), (factors,), lambda index, readers: readers[0](index), 0
    )
    routine = lapack.orthogonal(a.dtype)
    q = of.call(routine, {"m": rows, "k": least}, {"a": leading, "scales": made["scales"]})["a"]
    return [swapped(q), r]


@adopt(Eigh)
def _eigh(op: Eigh, of: Matrices) -> Sequence[Array]:
    values, vectors = _spectrum(of, op.UPLO == "L", "vectors")
    return [values, swapped(vectors)]


@adopt(Eigvalsh)
def _eigvalsh(op: Eigvalsh, of: Matrices) -> Sequence[Array]:
    if len(of.inputs) > 1:
        raise Unsupported("generalized eigenvalues")
    of.require_finite(*of.inputs)
    return [_spectrum(of, bool(op.lower), "values")[0]]


def _spectrum(of: Matrices, lower: bool, job: str) -> tuple[Array, Array]:
    (a,) = of.inputs
    order = of.require_square(a, of.linalg_error)
    made = of.call(lapack.eigh(job, _side(lower), a.dtype), {"n": order}, {"a": a})
    of.require_success(made["status"], "has eigenvalues that did not converge; the routine returned")
    return made["values"], made["a"]


def _identities(of: Matrices, order: Expr, dtype: str) -> Array:
    """An identity matrix for each member of the batch."""
    one, zero = const(1, dtype), const(0, dtype)
    return Pointwise(
        dtype, (*of.lead, order, order), (),
        lambda index, readers: primitive("select", primitive("eq", index[-2], index[-1]), one, zero),
    )  # fmt: skip


@adopt(SVD)
def _svd(op: SVD, of: Matrices) -> Sequence[Array]:
    (a,) = of.inputs
    rows, columns = a.shape[-2:]
    job = "values" if not op.compute_uv else "full" if op.full_matrices else "reduced"
    vectors = {"left": rows, "right": columns} if job == "full" else {}
    starts = {name: _identities(of, order, a.dtype) for name, order in vectors.items()}
    made = of.call(lapack.svd(job, a.dtype), {"m": rows, "n": columns}, {"a": a, **starts})
    of.require_success(made["status"], "has singular values that did not converge; the routine returned")
    return [made["values"]] if job == "values" else [made["left"], made["values"], made["right"]]
