"""Lowering of LU factors that several results share.

The routines factor the transpose of what stands in memory, so that the transpose is what is handed over and got back.
"""

from __future__ import annotations

from collections.abc import Sequence

from aesara.ir.expr import Expr, cast, const, var
from aesara.ir.expr import op as primitive
from aesara.ir.kernel import Declare, For, Statement
from aesara.ir.routines import lapack
from aesara.lower.arrays import ONE, Array, Index, Pointwise, Reader, Sequential, Writer, loops_over
from aesara.lower.complex import ComplexArray
from aesara.lower.linear_algebra.matrices import (
    Matrices,
    Numbers,
    adopt,
    as_row,
    diagonal,
    each_part,
    is_nan,
    is_zero,
    only,
    parts_of,
    swapped,
    taken,
    triangle,
)
from aesara.tensor.linear_algebra.by_factors import InverseByLU, SolveByLU
from aesara.tensor.linear_algebra.lu import LU, LUFactor, PivotsToPermutation

__all__: list[str] = []


def _shifted(pivots: Array, by: int) -> Array:
    """Numbers of rows, counted from another one on."""

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        return cast(cast(readers[0](index), "int64") + by, "int32")

    return Pointwise("int32", pivots.shape, (pivots,), body, 1)


@adopt(LUFactor)
def _lu_factor(op: LUFactor, of: Matrices) -> Sequence[Numbers]:
    (a,) = of.inputs
    order = of.require_square(a, of.linalg_error)
    made = of.call(lapack.lu(a.dtype), {"n": order}, {"a": swapped(a)})
    return [swapped(made["a"]), _shifted(made["pivots"], -1)]


def _regular(of: Matrices, factors: Numbers, beside: Array | None = None) -> Expr:
    """The order of matrices, none of which must be singular but those of some members beside."""
    order = of.require_square(factors)
    zeros = is_zero(diagonal(factors, order))
    if beside is not None:
        zeros = _elsewhere(zeros, beside)
    of.require_none(zeros, of.linalg_error, "the matrix is singular: a zero stands on the diagonal of its factor.")
    return order


def _elsewhere(found: Array, members: Array) -> Array:
    """Truth values, false in some members."""

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        return readers[0](index) & ~readers[1](index[: members.ndim])

    return Pointwise("bool", found.shape, (found, members), body, 1, [False, True])


@adopt(SolveByLU)
def _solve_by_lu(op: SolveByLU, of: Matrices) -> Sequence[Numbers]:
    factors, pivots, b = of.inputs
    columns = b.ndim == factors.ndim
    if op.check_finite:
        of.require_finite(factors, b)
    order = _regular(of, factors)
    rows = swapped(b) if columns else as_row(b)
    message = "a matrix of order {0} and a right-hand side of length {1} do not fit."
    of.require_equal(order, rows.shape[-1], message)
    routine = lapack.solve_lu("plain" if op.transposed else "transposed", factors.dtype)
    sizes = {"n": order, "k": rows.shape[-2]}
    given = {"a": swapped(factors), "pivots": _shifted(pivots, 1), "b": rows}
    solved = of.call(routine, sizes, given)["b"]
    return [swapped(solved) if columns else only(solved, -2)]


@adopt(InverseByLU)
def _inverse_by_lu(op: InverseByLU, of: Matrices) -> Sequence[Numbers]:
    factors, pivots = of.inputs
    lost = of.members_with(is_nan(factors))
    order = _regular(of, factors, lost)
    routine = lapack.inverse_of_lu(factors.dtype)
    made = of.call(routine, {"n": order}, {"a": swapped(factors), "pivots": _shifted(pivots, 1)})
    return [of.with_nan([lost], swapped(made["a"]))]


@adopt(PivotsToPermutation)
def _permutation(op: PivotsToPermutation, of: Matrices) -> Sequence[Numbers]:
    (pivots,) = of.inputs
    length: Expr = pivots.shape[-1]

    def outside(index: Index, readers: Sequence[Reader]) -> Expr:
        row = cast(readers[0](index), "int64")
        return (row < 0) | (length <= row)

    of.require_none(Pointwise("bool", pivots.shape, (pivots,), outside, 3), IndexError, "there is no row of a number.")
    return [_exchanged(of, pivots, length, backwards=False)]


def _exchanged(of: Matrices, pivots: Array, length: Expr, backwards: bool) -> Array:
    """The numbers of so many rows after exchanges with the row for each pivot, or what comes back from there."""
    rank, count = pivots.ndim - 1, pivots.shape[-1]
    *lead, i = (var(f"v{d}") for d in range(rank + 1))
    turn = count - ONE - i if backwards else i

    def body(readers: Sequence[Reader], read: Reader, write: Writer) -> Sequence[Statement]:
        here, place = (*lead, turn), var("r0")
        exchange = (
            Declare("r0", cast(readers[0](here), "int64")),
            Declare("r1", read(here)),
            Declare("r2", read((*lead, place))),
            write(here, var("r2")),
            write((*lead, place), var("r1")),
        )
        fill = For(f"v{rank}", length, (write((*lead, i), i),))
        return loops_over(range(rank), pivots.shape, (fill, For(f"v{rank}", count, exchange)))

    return Sequential("int64", (*pivots.shape[:-1], length), (pivots,), body, of.guards)


@adopt(LU)
def _lu(op: LU, of: Matrices) -> Sequence[Numbers]:
    (a,) = of.inputs
    rows, columns = a.shape[-2:]
    least = primitive("minimum", rows, columns)
    made = of.call(lapack.lu_of_columns(a.dtype), {"m": rows, "n": columns}, {"a": swapped(a)})
    factors, pivots = swapped(made["a"]), _shifted(made["pivots"], -1)
    upper = triangle(taken(factors, (*of.lead, least, columns)), False)
    lower = _with_units(taken(factors, (*of.lead, rows, least)))
    if not (op.permute_l or op.p_indices):
        order = of.context.add(_exchanged(of, pivots, rows, backwards=False))

        def has_one(index: Index, readers: Sequence[Reader]) -> Expr:
            found = primitive("eq", readers[0]((*index[:-2], index[-1])), index[-2])
            return primitive("select", found, const(1, real), const(0, real))

        real = parts_of(a)[0].dtype
        return [Pointwise(real, (*of.lead, rows, rows), (order,), has_one, 2, [True]), lower, upper]
    order = of.context.add(_exchanged(of, pivots, rows, backwards=True))
    if op.p_indices:
        return [order, lower, upper]

    def moved(part: Array) -> Array:
        def body(index: Index, readers: Sequence[Reader]) -> Expr:
            *lead, row, column = index
            return readers[0]((*lead, readers[1]((*lead, row)), column))

        return Pointwise(part.dtype, part.shape, (part, order), body, 2, [False, True])

    return [each_part(moved, lower), upper]


def _with_units(array: Numbers) -> Numbers:
    """Lower triangles with ones on the diagonal."""

    def of_part(part: Array, unit: int) -> Array:
        def body(index: Index, readers: Sequence[Reader]) -> Expr:
            row, column = index[-2:]
            beside = primitive("select", column < row, readers[0](index), const(0, part.dtype))
            return primitive("select", primitive("eq", row, column), const(unit, part.dtype), beside)

        return Pointwise(part.dtype, part.shape, (part,), body, 2)

    if isinstance(array, ComplexArray):
        return ComplexArray(of_part(array.real, 1), of_part(array.imag, 0))
    return of_part(array, 1)
