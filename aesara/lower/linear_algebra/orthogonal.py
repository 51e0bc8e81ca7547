"""Lowering of QR factorizations and least squares."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from aesara.ir.expr import Expr, cast, const, parts_of
from aesara.ir.expr import op as primitive
from aesara.ir.routines import orthogonal
from aesara.lower.arrays import ONE, Array, Index, Pointwise, Reader, literal
from aesara.lower.linear_algebra.matrices import (
    MatrixBatch,
    adopt,
    as_row,
    leading_block,
    part_dtype,
    squeeze,
    transpose,
    triangle,
)
from aesara.lower.padding import pad
from aesara.lower.reductions.careduce import convert, reduce_array
from aesara.tensor.linear_algebra.least_squares import Lstsq
from aesara.tensor.linear_algebra.qr import QRFull, QRPivoted

__all__: list[str] = []


@adopt(QRFull)
def _qr(op: QRFull, batch: MatrixBatch) -> Sequence[Array]:
    (a,) = batch.inputs
    rows, columns = a.shape[-2:]
    outputs = batch.call(orthogonal.qr(a.dtype), {"m": rows, "n": columns}, {"a": transpose(a)})
    return [outputs["a"], outputs["scales"]] if op._form == "raw" else _factors(batch, op._form, outputs)


@adopt(QRPivoted)
def _pivoted_qr(op: QRPivoted, batch: MatrixBatch) -> Sequence[Array]:
    (a,) = batch.inputs
    batch.require_finite(a)
    rows, columns = a.shape[-2:]
    free = literal(0, "int32", (*batch.lead, columns))
    outputs = batch.call(orthogonal.pivoted_qr(a.dtype), {"m": rows, "n": columns}, {"a": transpose(a), "order": free})

    def from_zero(index: Index, readers: Sequence[Reader]) -> Expr:
        return cast(readers[0](index), "int64") - 1

    order = Pointwise("int64", outputs["order"].shape, (outputs["order"],), from_zero, 1)
    return [*_factors(batch, op.mode, outputs), order]


def _factors(batch: MatrixBatch, mode: str, outputs: dict[str, Any]) -> list[Array]:
    """Return Q and R, or R alone, from the output of a QR routine."""
    factors = outputs["a"]
    *lead, columns, rows = factors.shape
    least = primitive("minimum", rows, columns)
    count = rows if mode == "complete" else least
    r = triangle(leading_block(transpose(factors), (*lead, least, columns)), False)
    if mode == "complete":
        r = pad(r, (), (*lead, rows, columns))
    if mode == "r":
        return [r]
    reflectors = leading_block(factors, (*lead, least, rows))
    if mode == "complete":
        reflectors = pad(reflectors, (), (*lead, rows, rows))
    sizes = {"m": rows, "n": count, "k": least}
    q = batch.call(orthogonal.orthogonal(factors.dtype), sizes, {"a": reflectors, "scales": outputs["scales"]})["a"]
    return [transpose(q), r]


@adopt(Lstsq)
def _least_squares(op: Lstsq, batch: MatrixBatch) -> Sequence[Array]:
    a, b, cutoff = batch.inputs
    rows, columns = a.shape[-2:]
    has_columns = b.ndim == a.ndim
    right = transpose(b) if has_columns else as_row(b)
    message = "a matrix of {0} rows and a right-hand side of length {1} do not fit."
    batch.require_equal(rows, right.shape[-1], message)
    count, most = right.shape[-2], primitive("maximum", rows, columns)
    width = primitive("maximum", count, ONE)
    sizes = {"m": rows, "n": columns, "k": width}
    arguments = {
        "a": transpose(a),
        "b": pad(right, (), (*right.shape[:-2], width, most)),
        "cutoff": _cutoff(cutoff, part_dtype(a)),
    }
    outputs = batch.call(orthogonal.least_squares(a.dtype), sizes, arguments)
    batch.require_success(outputs["status"], "has singular values that did not converge; the routine returned")
    solutions = leading_block(outputs["b"], (*batch.lead, count, columns))
    rank = convert(outputs["rank"], "int64")
    errors = _residuals(batch, outputs["b"], rank, count, rows, columns)
    return [transpose(solutions) if has_columns else squeeze(solutions, -2), errors, rank, outputs["values"]]


def _cutoff(cutoff: Array, dtype: str) -> Array:
    """Replace a negative cutoff with the machine precision."""
    precision = const(2.0 ** (-52 if dtype == "float64" else -23), dtype)

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        value = cast(readers[0](index), dtype)
        return primitive("select", value < const(0, dtype), precision, value)

    return Pointwise(dtype, cutoff.shape, (cutoff,), body, 2)


def _residuals(batch: MatrixBatch, b: Array, rank: Array, count: Expr, rows: Expr, columns: Expr) -> Array:
    """Return the sums of squared residuals, empty unless matrices have full rank and more rows than columns."""

    def is_empty(index: Index, readers: Sequence[Reader]) -> Expr:
        empty = primitive("ne", readers[0](index), columns) | (rows <= columns)
        return primitive("select", empty, const(1, "int64"), const(0, "int64"))

    empty = batch.context.ensure_added(Pointwise("int64", rank.shape, (rank,), is_empty, 3))
    axes = tuple(range(rank.ndim))
    largest_flag = batch.context.size_from(reduce_array(batch.context, empty, axes, "maximum"))
    if axes:
        smallest_flag = batch.context.size_from(reduce_array(batch.context, empty, axes, "minimum"))
        message = "some matrices of the batch have sums of errors and others have none: they are of different ranks."
        batch.require_equal(largest_flag, smallest_flag, message)
    columns_with_residuals = primitive("select", 0 < largest_flag, const(0), count)
    residual_rows = primitive("maximum", rows - columns, const(0))
    dtype = part_dtype(b)

    def square(index: Index, readers: Sequence[Reader]) -> Expr:
        squares = [part * part for part in parts_of(readers[0]((*index[:-1], index[-1] + columns)))]
        return functools.reduce(lambda a, b: a + b, squares)

    shape = (*b.shape[:-2], columns_with_residuals, residual_rows)
    squares = batch.context.ensure_added(Pointwise(dtype, shape, (b,), square, 3, None, batch.guards))
    return reduce_array(batch.context, squares, (len(shape) - 1,), "add")
