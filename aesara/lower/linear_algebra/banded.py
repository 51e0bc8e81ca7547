"""Lowering of linear systems with banded matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aesara.ir.expr import Expr, const
from aesara.ir.expr import op as primitive
from aesara.ir.routines import lapack
from aesara.lower.arrays import Array, Index, Pointwise, Reader
from aesara.lower.linear_algebra.matrices import MatrixBatch, adopt, as_row, squeeze, transpose
from aesara.tensor.linear_algebra.banded import SolveBanded, SolveHermitianBanded

__all__: list[str] = []


def _right_hand_sides(batch: MatrixBatch) -> Any:
    """Return the right-hand sides as rows, after a check of their length."""
    bands, b = batch.inputs
    rows = transpose(b) if b.ndim == bands.ndim else as_row(b)
    message = "diagonals of length {0} and a right-hand side of length {1} do not fit."
    batch.require_equal(bands.shape[-1], rows.shape[-1], message)
    return rows


def _like_right_hand_sides(batch: MatrixBatch, rows: Array) -> Any:
    """Convert solutions in rows to the layout of the right-hand sides."""
    bands, b = batch.inputs
    return transpose(rows) if b.ndim == bands.ndim else squeeze(rows, -2)


@adopt(SolveBanded)
def _solve_banded(op: SolveBanded, batch: MatrixBatch) -> Sequence[Array]:
    bands = batch.inputs[0]
    rows, height = _right_hand_sides(batch), const(op.lower + op.upper + 1)
    message = "`ab` must have {1} rows, one for each diagonal; it has {0}."
    batch.require_equal(bands.shape[-2], height, message)
    sizes = {"n": bands.shape[-1], "k": rows.shape[-2], "l": const(op.lower), "u": const(op.upper)}
    arguments = {"bands": _with_fill_in(bands, op.lower, height), "b": rows}
    outputs = batch.call(lapack.solve_banded(bands.dtype), sizes, arguments)
    batch.require_success(outputs["status"], "is singular: see the diagonal of its factor at place")
    return [_like_right_hand_sides(batch, outputs["b"])]


def _with_fill_in(bands: Array, padding: int, height: Expr) -> Array:
    """Transpose bands, with `padding` zeros in front of each row for fill-in."""
    *lead, _, columns = bands.shape

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        *before, column, position = index
        row = primitive("maximum", position - padding, const(0))
        inside = const(padding) <= position
        return primitive("select", inside, readers[0]((*before, row, column)), const(0, bands.dtype))

    return Pointwise(bands.dtype, (*lead, columns, height + padding), (bands,), body, 3)


@adopt(SolveHermitianBanded)
def _solve_definite_banded(op: SolveHermitianBanded, batch: MatrixBatch) -> Sequence[Array]:
    bands, rows = batch.inputs[0], _right_hand_sides(batch)
    sizes = {"n": bands.shape[-1], "k": rows.shape[-2], "d": bands.shape[-2]}
    routine = lapack.solve_definite_banded("lower" if op.lower else "upper", bands.dtype)
    outputs = batch.call(routine, sizes, {"bands": transpose(bands), "b": rows})
    batch.require_success(outputs["status"], "is not positive definite: see its leading minor of order")
    return [_like_right_hand_sides(batch, outputs["b"])]
