"""Lowering of systems of equations with banded matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aesara.ir.expr import Expr, const
from aesara.ir.expr import op as primitive
from aesara.ir.routines import lapack
from aesara.lower.arrays import Array, Index, Pointwise, Reader
from aesara.lower.linear_algebra.matrices import Matrices, Numbers, adopt, as_row, each_part, only, swapped
from aesara.tensor.linear_algebra.banded import SolveBanded, SolveHermitianBanded

__all__: list[str] = []


def _right_hand_sides(of: Matrices) -> Any:
    """The right-hand sides as rows, once they are known to fit."""
    bands, b = of.inputs
    rows = swapped(b) if b.ndim == bands.ndim else as_row(b)
    message = "diagonals of length {0} and a right-hand side of length {1} do not fit."
    of.require_equal(bands.shape[-1], rows.shape[-1], message)
    return rows


def _as_given(of: Matrices, rows: Numbers) -> Any:
    """Rows in the form of the right-hand sides."""
    bands, b = of.inputs
    return swapped(rows) if b.ndim == bands.ndim else only(rows, -2)


@adopt(SolveBanded)
def _solve_banded(op: SolveBanded, of: Matrices) -> Sequence[Numbers]:
    bands = of.inputs[0]
    rows, height = _right_hand_sides(of), const(op.lower + op.upper + 1)
    message = "`ab` must have {1} rows, one for each diagonal; it has {0}."
    of.require_equal(bands.shape[-2], height, message)
    sizes = {"n": bands.shape[-1], "k": rows.shape[-2], "l": const(op.lower), "u": const(op.upper)}
    given = {"bands": _with_room(bands, op.lower, height), "b": rows}
    made = of.call(lapack.solve_banded(bands.dtype), sizes, given)
    of.require_success(made["status"], "is singular: see the diagonal of its factor at place")
    return [_as_given(of, made["b"])]


def _with_room(bands: Numbers, room: int, height: Expr) -> Numbers:
    """The columns of the matrices as rows, with zeros in front."""
    *lead, _, columns = bands.shape

    def of_part(part: Array) -> Array:
        def body(index: Index, readers: Sequence[Reader]) -> Expr:
            *before, column, place = index
            row = primitive("maximum", place - room, const(0))
            inside = const(room) <= place
            return primitive("select", inside, readers[0]((*before, row, column)), const(0, part.dtype))

        return Pointwise(part.dtype, (*lead, columns, height + room), (part,), body, 3)

    made: Numbers = each_part(of_part, bands)
    return made


@adopt(SolveHermitianBanded)
def _solve_definite_banded(op: SolveHermitianBanded, of: Matrices) -> Sequence[Numbers]:
    bands, rows = of.inputs[0], _right_hand_sides(of)
    sizes = {"n": bands.shape[-1], "k": rows.shape[-2], "d": bands.shape[-2]}
    routine = lapack.solve_definite_banded("lower" if op.lower else "upper", bands.dtype)
    made = of.call(routine, sizes, {"bands": swapped(bands), "b": rows})
    of.require_success(made["status"], "is not positive definite: see its leading minor of order")
    return [_as_given(of, made["b"])]
