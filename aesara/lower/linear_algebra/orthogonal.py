"""Lowering of orthogonal factors and of least squares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aesara.ir.expr import Expr, cast, const
from aesara.ir.expr import op as primitive
from aesara.ir.routines import orthogonal
from aesara.lower.arrays import ONE, Array, Index, Pointwise, Reader, literal
from aesara.lower.linear_algebra.matrices import (
    Matrices,
    Numbers,
    adopt,
    as_row,
    only,
    padded,
    parts_of,
    swapped,
    taken,
    triangle,
)
from aesara.lower.reductions.careduce import converted, reduce_array
from aesara.tensor.linear_algebra.least_squares import Lstsq
from aesara.tensor.linear_algebra.qr import QRFull, QRPivoted

__all__: list[str] = []


@adopt(QRFull)
def _qr(op: QRFull, of: Matrices) -> Sequence[Numbers]:
    (a,) = of.inputs
    rows, columns = a.shape[-2:]
    made = of.call(orthogonal.qr(a.dtype), {"m": rows, "n": columns}, {"a": swapped(a)})
    return [made["a"], made["scales"]] if op._form == "raw" else _factors(of, op._form, made)


@adopt(QRPivoted)
def _pivoted_qr(op: QRPivoted, of: Matrices) -> Sequence[Numbers]:
    (a,) = of.inputs
    of.require_finite(a)
    rows, columns = a.shape[-2:]
    free = literal(0, "int32", (*of.lead, columns))
    made = of.call(orthogonal.pivoted_qr(a.dtype), {"m": rows, "n": columns}, {"a": swapped(a), "order": free})

    def from_zero(index: Index, readers: Sequence[Reader]) -> Expr:
        return cast(readers[0](index), "int64") - 1

    order = Pointwise("int64", made["order"].shape, (made["order"],), from_zero, 1)
    return [*_factors(of, op.mode, made), order]


def _factors(of: Matrices, form: str, made: dict[str, Any]) -> list[Numbers]:
    """Q and R, or R alone, from what a routine has left of a matrix."""
    factors = made["a"]
    *lead, columns, rows = factors.shape
    least = primitive("minimum", rows, columns)
    count = rows if form == "complete" else least
    r = triangle(taken(swapped(factors), (*lead, least, columns)), False)
    if form == "complete":
        r = padded(r, (*lead, rows, columns))
    if form == "r":
        return [r]
    reflectors = taken(factors, (*lead, least, rows))
    if form == "complete":
        reflectors = padded(reflectors, (*lead, rows, rows))
    sizes = {"m": rows, "n": count, "k": least}
    q = of.call(orthogonal.orthogonal(factors.dtype), sizes, {"a": reflectors, "scales": made["scales"]})["a"]
    return [swapped(q), r]


@adopt(Lstsq)
def _least_squares(op: Lstsq, of: Matrices) -> Sequence[Numbers]:
    a, b, cutoff = of.inputs
    rows, columns = a.shape[-2:]
    has_columns = b.ndim == a.ndim
    right = swapped(b) if has_columns else as_row(b)
    message = "a matrix of {0} rows and a right-hand side of length {1} do not fit."
    of.require_equal(rows, right.shape[-1], message)
    count, most = right.shape[-2], primitive("maximum", rows, columns)
    one_or_more = primitive("maximum", count, ONE)
    sizes = {"m": rows, "n": columns, "k": one_or_more}
    given = {
        "a": swapped(a),
        "b": padded(right, (*right.shape[:-2], one_or_more, most)),
        "cutoff": _cutoff(cutoff, parts_of(a)[0].dtype),
    }
    made = of.call(orthogonal.least_squares(a.dtype), sizes, given)
    of.require_success(made["status"], "has singular values that did not converge; the routine returned")
    solutions = taken(made["b"], (*of.lead, count, columns))
    rank = converted(made["rank"], "int64")
    errors = _squares_of_errors(of, made["b"], rank, count, rows, columns)
    return [swapped(solutions) if has_columns else only(solutions, -2), errors, rank, made["values"]]


def _cutoff(given: Array, dtype: str) -> Array:
    """A negative number stands for the precision."""
    precision = const(2.0 ** (-52 if dtype == "float64" else -23), dtype)

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        value = cast(readers[0](index), dtype)
        return primitive("select", value < const(0, dtype), precision, value)

    return Pointwise(dtype, given.shape, (given,), body, 2)


def _squares_of_errors(of: Matrices, b: Numbers, rank: Array, count: Expr, rows: Expr, columns: Expr) -> Array:
    """The sums of squares behind the solutions; there are none if a matrix has no more rows than its rank."""

    def is_lacking(index: Index, readers: Sequence[Reader]) -> Expr:
        found = primitive("ne", readers[0](index), columns) | (rows <= columns)
        return primitive("select", found, const(1, "int64"), const(0, "int64"))

    lacking = of.context.added(Pointwise("int64", rank.shape, (rank,), is_lacking, 3))
    every = tuple(range(rank.ndim))
    lost = of.context.size_from(reduce_array(of.context, lacking, every, "maximum"))
    if every:
        least = of.context.size_from(reduce_array(of.context, lacking, every, "minimum"))
        message = "some matrices of the batch have sums of errors and others have none: they are of different ranks."
        of.require_equal(lost, least, message)
    present = primitive("select", 0 < lost, const(0), count)
    behind = primitive("maximum", rows - columns, const(0))
    dtype = parts_of(b)[0].dtype

    def square(index: Index, readers: Sequence[Reader]) -> Expr:
        parts = [read((*index[:-1], index[-1] + columns)) for read in readers]
        squares = [part * part for part in parts]
        return squares[0] if len(squares) == 1 else squares[0] + squares[1]

    shape = (*b.shape[:-2], present, behind)
    squares = of.context.added(Pointwise(dtype, shape, parts_of(b), square, 3, None, of.guards))
    return reduce_array(of.context, squares, (len(shape) - 1,), "add")
