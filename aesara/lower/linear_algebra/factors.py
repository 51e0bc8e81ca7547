"""Lowering of LU factors that several results share.

The routines factor the transpose of what stands in memory, so that the transpose is what is handed over and got back.
"""

from __future__ import annotations

from collections.abc import Sequence

from aesara.ir.expr import Expr, cast, var
from aesara.ir.kernel import Declare, For, Statement
from aesara.ir.routines import lapack
from aesara.lower.arrays import Array, Index, Pointwise, Reader, Sequential, Writer
from aesara.lower.linear_algebra.matrices import Matrices, Numbers, adopt, as_row, diagonal, is_zero, only, swapped
from aesara.tensor.linear_algebra.by_factors import InverseByLU, SolveByLU
from aesara.tensor.linear_algebra.lu import LUFactor, PivotsToPermutation

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


def _regular(of: Matrices, factors: Numbers) -> Expr:
    """The order of matrices, which must not be singular."""
    order = of.require_square(factors)
    zeros = is_zero(diagonal(factors, order))
    of.require_none(zeros, of.linalg_error, "the matrix is singular: a zero stands on the diagonal of its factor.")
    return order


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
    order = _regular(of, factors)
    routine = lapack.inverse_of_lu(factors.dtype)
    made = of.call(routine, {"n": order}, {"a": swapped(factors), "pivots": _shifted(pivots, 1)})
    return [swapped(made["a"])]


@adopt(PivotsToPermutation)
def _permutation(op: PivotsToPermutation, of: Matrices) -> Sequence[Numbers]:
    (pivots,) = of.inputs
    rank = pivots.ndim - 1
    length: Expr = pivots.shape[-1]

    def outside(index: Index, readers: Sequence[Reader]) -> Expr:
        row = cast(readers[0](index), "int64")
        return (row < 0) | (length <= row)

    of.require_none(Pointwise("bool", pivots.shape, (pivots,), outside, 3), IndexError, "there is no row of a number.")
    *lead, i = (var(f"v{d}") for d in range(rank + 1))

    def body(readers: Sequence[Reader], read: Reader, write: Writer) -> Sequence[Statement]:
        here, place = (*lead, i), var("r0")
        exchange = (
            Declare("r0", cast(readers[0](here), "int64")),
            Declare("r1", read(here)),
            Declare("r2", read((*lead, place))),
            write(here, var("r2")),
            write((*lead, place), var("r1")),
        )
        fill = For(f"v{rank}", length, (write(here, i),))
        statements: tuple[Statement, ...] = (fill, For(f"v{rank}", length, exchange))
        for d in reversed(range(rank)):
            statements = (For(f"v{d}", pivots.shape[d], statements),)
        return statements

    return [Sequential("int64", pivots.shape, (pivots,), body, [True], of.guards)]
