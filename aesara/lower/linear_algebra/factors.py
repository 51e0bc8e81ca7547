"""Lowering of LU factorizations whose factors are results.

The routines are column-major, so that they take and return transposes.
"""

from __future__ import annotations

from collections.abc import Sequence

from aesara.ir.expr import Expr, cast, const, var
from aesara.ir.expr import op as primitive
from aesara.ir.kernel import Declare, For, Statement
from aesara.ir.routines import lapack
from aesara.lower.arrays import ONE, Array, Index, Pointwise, Reader, Sequential, Writer, loops_over
from aesara.lower.linear_algebra.matrices import (
    MatrixBatch,
    adopt,
    as_row,
    diagonal,
    is_nan,
    is_zero,
    leading_block,
    part_dtype,
    squeeze,
    transpose,
    triangle,
)
from aesara.tensor.linear_algebra.by_factors import InverseByLU, SolveByLU
from aesara.tensor.linear_algebra.lu import LU, LUFactor, PivotsToPermutation

__all__: list[str] = []


def _shift(pivots: Array, by: int) -> Array:
    """Add an offset to row numbers."""

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        return cast(cast(readers[0](index), "int64") + by, "int32")

    return Pointwise("int32", pivots.shape, (pivots,), body, 1)


@adopt(LUFactor)
def _lu_factor(op: LUFactor, batch: MatrixBatch) -> Sequence[Array]:
    (a,) = batch.inputs
    order = batch.require_square(a, batch.linalg_error)
    outputs = batch.call(lapack.lu(a.dtype), {"n": order}, {"a": transpose(a)})
    return [transpose(outputs["a"]), _shift(outputs["pivots"], -1)]


def _require_regular(batch: MatrixBatch, factors: Array, exempt: Array | None = None) -> Expr:
    """Check that factors are regular, except for members in `exempt`; return their order."""
    order = batch.require_square(factors)
    zeros = is_zero(diagonal(factors, order))
    if exempt is not None:
        zeros = _except_members(zeros, exempt)
    message = "the matrix is singular: the diagonal of its factor has a zero."
    batch.require_none(zeros, batch.linalg_error, message)
    return order


def _except_members(flags: Array, members: Array) -> Array:
    """Set truth values to false for some members."""

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        return readers[0](index) & ~readers[1](index[: members.ndim])

    return Pointwise("bool", flags.shape, (flags, members), body, 1, [False, True])


@adopt(SolveByLU)
def _solve_by_lu(op: SolveByLU, batch: MatrixBatch) -> Sequence[Array]:
    factors, pivots, b = batch.inputs
    columns = b.ndim == factors.ndim
    if op.check_finite:
        batch.require_finite(factors, b)
    order = _require_regular(batch, factors)
    rows = transpose(b) if columns else as_row(b)
    message = "a matrix of order {0} and a right-hand side of length {1} do not fit."
    batch.require_equal(order, rows.shape[-1], message)
    routine = lapack.solve_lu("plain" if op.transposed else "transposed", factors.dtype)
    sizes = {"n": order, "k": rows.shape[-2]}
    arguments = {"a": transpose(factors), "pivots": _shift(pivots, 1), "b": rows}
    solved = batch.call(routine, sizes, arguments)["b"]
    return [transpose(solved) if columns else squeeze(solved, -2)]


@adopt(InverseByLU)
def _inverse_by_lu(op: InverseByLU, batch: MatrixBatch) -> Sequence[Array]:
    factors, pivots = batch.inputs
    lost = batch.members_with(is_nan(factors))
    order = _require_regular(batch, factors, lost)
    routine = lapack.inverse_of_lu(factors.dtype)
    outputs = batch.call(routine, {"n": order}, {"a": transpose(factors), "pivots": _shift(pivots, 1)})
    return [batch.with_nan([lost], transpose(outputs["a"]))]


@adopt(PivotsToPermutation)
def _permutation(op: PivotsToPermutation, batch: MatrixBatch) -> Sequence[Array]:
    (pivots,) = batch.inputs
    length: Expr = pivots.shape[-1]

    def outside(index: Index, readers: Sequence[Reader]) -> Expr:
        row = cast(readers[0](index), "int64")
        return (row < 0) | (length <= row)

    is_outside = Pointwise("bool", pivots.shape, (pivots,), outside, 3)
    batch.require_none(is_outside, IndexError, "pivots must be row numbers.")
    return [_permutation_of_swaps(batch, pivots, length, backwards=False)]


def _permutation_of_swaps(batch: MatrixBatch, pivots: Array, length: Expr, backwards: bool) -> Array:
    """Return the permutation of rows for a sequence of row swaps, or its inverse (`backwards`)."""
    rank, count = pivots.ndim - 1, pivots.shape[-1]
    *lead, i = (var(f"v{d}") for d in range(rank + 1))
    k = count - ONE - i if backwards else i

    def body(readers: Sequence[Reader], read: Reader, write: Writer) -> Sequence[Statement]:
        source, target = (*lead, k), var("r0")
        swap = (
            Declare("r0", cast(readers[0](source), "int64")),
            Declare("r1", read(source)),
            Declare("r2", read((*lead, target))),
            write(source, var("r2")),
            write((*lead, target), var("r1")),
        )
        fill = For(f"v{rank}", length, (write((*lead, i), i),))
        return loops_over(range(rank), pivots.shape, (fill, For(f"v{rank}", count, swap)), independent=True)

    return Sequential("int64", (*pivots.shape[:-1], length), (pivots,), body, batch.guards)


@adopt(LU)
def _lu(op: LU, batch: MatrixBatch) -> Sequence[Array]:
    (a,) = batch.inputs
    rows, columns = a.shape[-2:]
    least = primitive("minimum", rows, columns)
    outputs = batch.call(lapack.lu_of_columns(a.dtype), {"m": rows, "n": columns}, {"a": transpose(a)})
    factors, pivots = transpose(outputs["a"]), _shift(outputs["pivots"], -1)
    upper = triangle(leading_block(factors, (*batch.lead, least, columns)), False)
    lower = _with_units(leading_block(factors, (*batch.lead, rows, least)))
    if not (op.permute_l or op.p_indices):
        order = batch.context.add(_permutation_of_swaps(batch, pivots, rows, backwards=False))

        def has_one(index: Index, readers: Sequence[Reader]) -> Expr:
            is_one = primitive("eq", readers[0]((*index[:-2], index[-1])), index[-2])
            return primitive("select", is_one, const(1, real), const(0, real))

        real = part_dtype(a)
        return [Pointwise(real, (*batch.lead, rows, rows), (order,), has_one, 2, [True]), lower, upper]
    order = batch.context.add(_permutation_of_swaps(batch, pivots, rows, backwards=True))
    if op.p_indices:
        return [order, lower, upper]

    def element(index: Index, readers: Sequence[Reader]) -> Expr:
        *lead, row, column = index
        return readers[0]((*lead, readers[1]((*lead, row)), column))

    return [Pointwise(lower.dtype, lower.shape, (lower, order), element, 2, [False, True]), upper]


def _with_units(array: Array) -> Array:
    """Return lower triangles with ones on the diagonal."""

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        row, column = index[-2:]
        below = primitive("select", column < row, readers[0](index), const(0, array.dtype))
        return primitive("select", primitive("eq", row, column), const(1, array.dtype), below)

    return Pointwise(array.dtype, array.shape, (array,), body, 2)
